"""A shell command seen from outside: its parts, its program, its secrets."""

import subprocess

import pytest

from scheduler.importers.cron_lines import split_percent
from scheduler.importers.masking import looks_secret, masked, without_secrets
from scheduler.importers.shell_text import clauses, discards_output, program_of, sleeps_at_random


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("a && b || c; d", [("a", "&&"), ("b", "||"), ("c", ";"), ("d", "")]),
        ("a 2>&1 | b &", [("a 2>&1", "|"), ("b", "&")]),
        ("a &> /x", [("a &> /x", "")]),
        ("echo 'a; b' \"c && d\" `e | f`", [("echo 'a; b' \"c && d\" `e | f`", "")]),
        ("(a; b) && { c; d; }", [("(a; b)", "&&"), ("{ c; d; }", "")]),
        ("[ $(date | cut -c1) = 1 ] && a", [("[ $(date | cut -c1) = 1 ]", "&&"), ("a", "")]),
        ("a \\; b", [("a \\; b", "")]),
        ("a 'unclosed; b", [("a 'unclosed; b", "")]),
        ("", []),
    ],
)
def test_a_command_is_parted_where_the_shell_would(command: str, parts: list[tuple[str, str]]) -> None:
    assert [(clause.text, clause.join) for clause in clauses(command)] == parts


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/local/bin/backup --all", "backup"),
        ("cd /srv/app && /usr/bin/python3 -u manage.py clear", "manage"),
        ("[ -x /usr/share/x ] && [ $(date +%d) -le 7 ] && /usr/share/raid/check --all", "check"),
        ("test -x /usr/sbin/anacron || ( cd / && run-parts --report /etc/cron.daily )", "run-parts"),
        ("PATH=/x LANG=C /opt/a/report.sh", "report"),
        ("nice -n 19 ionice -c 3 /opt/dump.sh", "dump"),
        ("flock -n /tmp/x.lock /opt/rates.py", "rates"),
        ("flock -n /tmp/x.lock -c '/opt/rates.py --all'", "rates"),
        ("timeout -k 5 10m sudo -u www-data php -f /var/www/cron.php", "cron"),
        ("sleep $((RANDOM % 60)); curl -s x", "curl"),
        ("bash -c 'cd /x && ./sync.sh'", "sync"),
        ("python -m app.jobs", "app.jobs"),
        (". /etc/profile; rake jobs", "rake"),
        ("$MIRROR/bin/update --all", "update"),
        ("sh", "sh"),
        ("true", ""),
        ("", ""),
    ],
)
def test_a_command_is_named_after_the_program_that_does_the_work(command: str, name: str) -> None:
    assert program_of(command) == name


@pytest.mark.parametrize(
    ("command", "command_run", "given"),
    [
        ("date +\\%F", "date +%F", None),
        ("date +%F", "date +", "F"),
        ("a%b%c", "a", "b\nc"),
        ("a\\%b%c\\%d%e", "a%b", "c%d\ne"),
        ("a\\\\%b", "a\\\\", "b"),
        ("a\\b", "a\\b", None),
        ("a%", "a", ""),
        ("a\\", "a\\", None),
    ],
)
def test_a_percent_sign_is_what_cron_makes_of_it(command: str, command_run: str, given: str | None) -> None:
    assert split_percent(command)[:2] == (command_run, given)


@pytest.mark.parametrize(
    ("command", "discards"),
    [
        ("a > /dev/null 2>&1", True),
        ("a >/dev/null", True),
        ("a &>/dev/null", True),
        ("a 1>> /dev/null", True),
        ("a 2>/dev/null", False),
        ("a >> /var/log/a", False),
        ("echo '> /dev/null'", False),
        ("which a > /dev/null && a", False),
    ],
)
def test_output_is_discarded_only_when_the_last_programs_goes_nowhere(command: str, discards: bool) -> None:
    assert discards_output(command) == discards


@pytest.mark.parametrize(
    ("command", "random"), [("sleep $((RANDOM % 9)); a", True), ("sleep `shuf -i 1-9`", True), ("sleep 9; a", False)]
)
def test_a_random_delay_is_told_from_a_fixed_one(command: str, random: bool) -> None:
    assert sleeps_at_random(command) == random


SECRETS = [
    "x --password=hunter22",
    "x --password hunter22",
    "x --api-key 'hunter22'",
    'curl -H "Authorization: Bearer hunter22"',
    "curl -u me:hunter22 https://h.example",
    "curl https://me:hunter22@h.example/x",
    "curl 'https://h.example/x?a=1&token=hunter22'",
    "mysqldump -ume -phunter22 db",
    "sshpass -p hunter22 ssh h",
    "PGPASSWORD=hunter22 psql",
    "SECRET_KEY='hunter22' x",
    'x \'{"apiToken": "hunter22"}\'',
]


@pytest.mark.parametrize("command", SECRETS)
def test_a_secret_is_masked_and_taken_from_a_variable_that_must_be_set(command: str) -> None:
    assert "hunter22" not in masked(command) and "***" in masked(command)
    safe, names = without_secrets(command, "NAMELESS")
    assert "hunter22" not in safe and len(names) == 1
    assert safe.startswith(f': "${{{names[0]}:?}}"; ')


@pytest.mark.parametrize("command", SECRETS)
def test_with_the_variable_set_a_command_has_the_words_it_had_before(command: str) -> None:
    safe, names = without_secrets(command, "NAMELESS")
    # The words as the shell passes them on; a variable in front of a command is shown by env instead.
    assert _words(safe, names) == _words(command, names)


def _words(command: str, names: list[str]) -> str:
    show = 'show() { printf "[%s]" "$@"; env | grep -E "^(PGPASSWORD|SECRET_KEY)="; }; '
    calls = "; ".join(f'{name}() {{ show {name} "$@"; }}' for name in ("x", "curl", "mysqldump", "sshpass", "psql"))
    env = {"PATH": "/usr/bin:/bin", "NAMELESS": "hunter22"} | dict.fromkeys(names, "hunter22")
    done = subprocess.run(
        ["/bin/bash", "-c", f"{show}{calls}; {command}"], capture_output=True, text=True, check=False, env=env
    )
    return done.stdout.partition("PGPASSWORD")[0].partition("SECRET_KEY")[0]


@pytest.mark.parametrize(
    "command",
    [
        "sort --key=2 x",
        "x --password-file /run/x",
        "x --key /etc/x.pem",
        "x --token $TOKEN",
        'x --token "$(cat /run/x)"',
        "ssh -i ~/.ssh/id_rsa h",
        "curl https://h.example/x?page=2",
        "mysqldump -u me -p db",
        "monkey --keyboard us",
        "tar -pcf x y",
    ],
)
def test_what_is_no_secret_stays_as_it_is(command: str) -> None:
    assert masked(command) == command and without_secrets(command) == (command, [])


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("DB_PASSWORD", "x", True),
        ("PGPASSWORD", "x", True),
        ("apiKey", "abcdef", True),
        ("AWS_SECRET_ACCESS_KEY", "abcdef", True),
        ("DATABASE_URL", "postgres://me:x@h/db", True),
        ("DATABASE_URL", "postgres://h/db", False),
        ("TOKEN_FILE", "/run/x", False),
        ("SSH_KEY", "/home/x/.ssh/id", False),
        ("KEYBOARD", "us", False),
        ("PATH", "/usr/bin", False),
        ("TOKEN", "", False),
        ("TOKEN", "$OTHER", False),
    ],
)
def test_a_variable_is_a_secret_by_its_name_or_by_its_address(name: str, value: str, secret: bool) -> None:
    assert looks_secret(name, value) == secret
