"""Has a crontab a column for the user? By its name, by what was asked, or by the look of its lines. Pure."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from scheduler.importers.cron_lines import Comment, Entry, Line

_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}\$?(?:[:/][a-z0-9_-]+)?")
# Accounts that packages and systems bring along: in the sixth place, they are a user and no program.
_KNOWN = frozenset(
    {"root", "daemon", "www-data", "nobody", "operator", "postgres", "mysql", "git", "munin", "nginx", "apache", "news"}
    | {"ubuntu", "admin", "ec2-user", "vagrant", "debian", "centos", "mail", "smmsp", "amavis", "logcheck", "bin"}
)
_PROGRAMS = frozenset(
    {
        "cd",
        "test",
        "echo",
        "sh",
        "bash",
        "zsh",
        "perl",
        "php",
        "ruby",
        "node",
        "find",
        "rm",
        "cp",
        "mv",
        "rsync",
        "curl",
    }
    | {"wget", "sleep", "flock", "nice", "ionice", "timeout", "env", "sudo", "docker", "systemctl", "certbot", "tar"}
    | {"python", "python3", "touch", "date", "exec", "source", "export", "make", "git", "mysqldump", "pg_dump", "psql"}
    | {"run-parts", "logrotate", "newsyslog", "periodic", "command", "true", "nohup", "chronic", "service", "apt-get"}
)
_COMMAND = re.compile(r"[\[($]|/\S*\bs?bin/|[/.]\S+\.(?:sh|py|pl|php|rb)$")
_HEADING = re.compile(r"\b(?:user|who|username)\b.*\bcommand\b", re.IGNORECASE)


def named_as_system(name: str) -> bool:
    """Whether a file of this name has a user column by its place: /etc/crontab, or anything in cron.d."""
    path = PurePath(name)
    in_etc = path.name.startswith("crontab") and path.parent.name == "etc"
    return in_etc or path.parent.name == "cron.d" or path.name.endswith(".cron.d")


def looks_like_system(lines: Sequence[Line]) -> tuple[bool, bool]:
    """Whether the sixth words are users, and whether that is in doubt, so that it should be said.

    All of them must be possible account names that are no well-known programs; and a heading, a well-known account, or
    a command behind each must speak for it.
    """
    entries = [line for line in lines if isinstance(line, Entry) and line.rest]
    pairs = [(user, after.rest.partition(" ")[0]) for user, after in (entry.after_user() for entry in entries)]
    if not pairs or not all(_ACCOUNT.fullmatch(user) and user not in _PROGRAMS and behind for user, behind in pairs):
        return False, False
    heading = any(isinstance(line, Comment) and _HEADING.search(line.text) for line in lines)
    known = any(user in _KNOWN for user, _ in pairs)
    return heading or known or all(_is_command(behind) for _, behind in pairs), True


def _is_command(word: str) -> bool:
    return word in _PROGRAMS or bool(_COMMAND.match(word))


def account_wrong(word: str) -> bool:
    """Whether a word can't be the user column."""
    return not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?(?:[:/][A-Za-z0-9_:/-]+)?", word)
