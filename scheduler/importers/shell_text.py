"""A shell command looked at from outside: its clauses, its program, where its output goes. Pure.

Only quotes, brackets and joining signs are understood. Nothing is expanded and nothing is run; a command that is too
intricate is one clause.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 10
"""How many brackets, wrappers and shells inside each other are looked into for a program's name."""

_JOINS = ("&&", "||", "|&", ";", "|", "&", "\n")
_CLOSES = {"(": ")", "{": "}"}
_SAYS_NOTHING = re.compile(r"(?:&>>?|>&|(?<![0-9])1?>>?)\s*/dev/null\b")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")
_RANDOM = re.compile(r"\bsleep\b[^;&|]*(?:RANDOM|\bshuf\b|\bjot\b|\brand\b)")
_DELAY = re.compile(r"(?:/usr)?(?:/bin/)?(?:sleep|cd|exit|true|:|source|\.|export|umask|set)(?=\s|$)")
_WRAPPERS = frozenset(
    {"nice", "ionice", "flock", "timeout", "sudo", "env", "chronic", "cronic", "exec", "nohup", "setsid", "time"}
    | {"chrt", "lockf", "runuser", "su", "systemd-cat", "command", "eval", "busybox", "setlock", "chpst"}
)
_INTERPRETERS = re.compile(r"(?:ba|da|z|k)?sh|python[0-9.]*|perl|php[0-9.]*|ruby|node|java|Rscript")
# Options of a wrapper that take the word after them, and words of its own before the command.
_VALUED = frozenset({"-n", "-c", "-p", "-u", "-g", "-s", "-k", "-w", "-t", "-E", "--user"})
_OWN_WORDS = {"flock": 1, "timeout": 1, "lockf": 1, "setlock": 1, "chrt": 1}


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a command and the sign that joins it to the part after it; the last one is joined by nothing."""

    text: str
    join: str


def clauses(command: str) -> list[Clause]:
    """The outermost parts of a command. `2>&1` and `&>` are no joining signs, and quotes and brackets hide theirs."""
    found: list[Clause] = []
    start = 0
    for at, sign in _joins(command):
        found.append(Clause(command[start:at].strip(), sign))
        start = at + len(sign)
    found.append(Clause(command[start:].strip(), ""))
    return [clause for clause in found if clause.text]


def _joins(command: str) -> Iterator[tuple[int, str]]:
    quote, depth, at = "", [], 0
    while at < len(command):
        char = command[at]
        if char == "\\" and quote != "'":
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char == "(" or (char == "{" and command[at + 1 : at + 2].isspace()):
            depth.append(_CLOSES[char])
        elif depth and char == depth[-1]:
            depth.pop()
        elif not depth and not _redirects(command, at):
            sign = next((sign for sign in _JOINS if command.startswith(sign, at)), "")
            if sign:
                yield at, sign
                at += len(sign)
                continue
        at += 1


def _redirects(command: str, at: int) -> bool:
    return command[at] in "&|" and (command[at - 1 : at] in (">", "<") or command[at : at + 2] == "&>")


def discards_output(command: str) -> bool:
    """Whether standard output goes to /dev/null."""
    return any(_SAYS_NOTHING.search(_without_quotes(clause.text)) for clause in clauses(command)[-1:])


def sleeps_at_random(command: str) -> bool:
    """Whether it begins its work after a random delay."""
    return bool(_RANDOM.search(command))


def _without_quotes(text: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", text)


def program_of(command: str) -> str:
    """The name of the program that does the work, without folder and ending: `/opt/x/report.py --all` is `report`.

    Tests, folders and delays in front, variables, and wrappers such as `nice` are passed over. Empty for none.
    """
    return _program(command, MAX_DEPTH)


def _program(command: str, depth: int) -> str:
    for clause in clauses(command) if depth else []:
        text = clause.text.lstrip("! \t")
        if text[:1] in ("(", "{"):
            return _program(text[1:].rstrip(")} \t;"), depth - 1)
        if not _is_test(text) and not _DELAY.match(text):
            name = _name_in(text.split(), depth)
            if name:
                return name
    return ""


def _is_test(text: str) -> bool:
    return bool(re.match(r"\[|test\s|if\s|/usr/bin/test\s", text))


def _name_in(words: list[str], depth: int) -> str:
    while words and _ASSIGNMENT.fullmatch(words[0]):
        words = words[1:]
    if not words:
        return ""
    name = words[0].strip("\"'`$(){}").rpartition("/")[2]
    if name in _WRAPPERS and depth:
        return _name_in(_after_wrapper(name, words[1:]), depth - 1) or name
    if _INTERPRETERS.fullmatch(name):
        return _script_in(words[1:], depth) or name
    return _stem(name)


def _after_wrapper(name: str, words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        skip = 2 if words[0] in _VALUED and name != "flock" else 1
        words = words[skip:]
    words = words[_OWN_WORDS.get(name, 0) :]
    if name == "flock" and words and words[0] in ("-c", "--command"):
        words = words[1:]
    return [words[0].lstrip("\"'"), *words[1:]] if words else []


def _script_in(words: list[str], depth: int) -> str:
    for index, word in enumerate(words):
        if word in ("-c", "-lc", "-e", "-r"):
            return _program(" ".join(words[index + 1 :]).strip("\"'"), max(0, depth - 1))
        if word in ("-m", "-jar"):
            return _stem(words[index + 1].rpartition("/")[2]) if index + 1 < len(words) else ""
        if not word.startswith("-"):
            return _stem(word.strip("\"'").rpartition("/")[2])
    return ""


def _stem(name: str) -> str:
    name = name.strip("\"'`;()")
    return re.sub(r"\.(?:sh|py|pl|php|rb|js|jar|bash|R)$", "", name)
