"""Shell texts whose exit code says nothing, beside texts that only look like it."""

from dataclasses import replace

import pytest
from linting.asking import QUIET, codes, message

from scheduler.jobs import Command
from scheduler.linting.commands import command_notes


def told(*argv: str, shell: bool = False) -> list[str]:
    return [note.message for note in command_notes(Command(argv=argv, shell=shell))]


@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ("backup || true", "|| true"),
        ("backup ||true", "|| true"),
        ("backup || /bin/true", "|| /bin/true"),
        ("backup || :", "|| :"),
        ("backup || exit  0", "|| exit 0"),
        ("backup || echo 'it failed; look'", "|| echo"),
        ("backup; true", "; true"),
        ("backup ; true ;", "; true"),
        ("backup\ntrue\n", "; true"),
        ("backup; echo done", "; echo"),
        ("[ -f x ] && rm x; exit 0", "; exit 0"),
        ("backup || true # never mind", "|| true"),
        ("set -e; backup || true", "|| true"),
        ("backup &", "&"),
        ("cat <<< text || true", "|| true"),
    ],
)
def test_an_ending_that_always_succeeds_is_told(script: str, ending: str) -> None:
    (says,) = told(script, shell=True)
    assert says.startswith(f"ends with `{ending}`: the run succeeds whatever went wrong before")


@pytest.mark.parametrize(
    "script",
    [
        "true",
        "echo hello",
        "echo a; echo b",
        "day=monday; echo it is $day",
        "backup && echo done",
        "backup; verify",
        "backup || exit 1",
        "backup || { echo failed; exit 1; }",
        "backup 2>&1",
        "backup &> log",
        "backup >& log",
        "a & b; wait",
        "echo 'backup || true'",
        'echo "backup || true"',
        "backup # || true",
        r"echo backup \|\| true",
        "set -e; backup; echo done",
        "set -euo pipefail\nbackup\necho done",
        "set -o errexit; backup; echo done",
        "if backup; then true; else exit 1; fi",
        "case x in a) b || true;; esac; true",
        "cat <<EOF || true\ntext\nEOF",
        'curl "http://host/?a=1&b=2"',
        "",
    ],
)
def test_a_text_whose_exit_code_counts_is_fine(script: str) -> None:
    assert told(script, shell=True) == []


@pytest.mark.parametrize(
    "script",
    ["backup | gzip > b.gz", "backup 2>&1 | tee log", "backup |& tee log", "cat list | while read x; do y $x; done"],
)
def test_a_pipe_loses_the_exit_codes_before_its_last_command(script: str) -> None:
    (says,) = told(script, shell=True)
    assert says.startswith("has a pipe, and a pipe's exit code is that of its last command alone")


@pytest.mark.parametrize(
    "script",
    [
        "set -o pipefail; backup | gzip",
        "echo text | mail root",
        "printf '%s' x | sha256sum",
        "backup >| b.gz",
        "a || b",
        "grep -E '^Mem(Total|Available)' /proc/meminfo",
        'x="$(date "+%F | %T")" && use "$x"',
        "x=$(a | b) && use $x",
        "use `a | b`",
        r"use a\|b",
    ],
)
def test_what_is_no_pipe_or_loses_nothing_is_fine(script: str) -> None:
    assert told(script, shell=True) == []


@pytest.mark.parametrize(
    ("argv", "count"),
    [
        (("bash", "-c", "a | b"), 1),
        (("/bin/sh", "-c", "a || true"), 1),
        (("timeout", "5", "sh", "-lc", "a || true"), 1),
        (("bash", "-c", "a | b || true"), 2),
        (("bash", "-o", "pipefail", "-c", "a | b"), 0),
        (("bash", "-euo", "pipefail", "-c", "a | b; echo done"), 0),
        (("bash", "-ec", "a; echo done"), 0),
        (("bash", "script.sh", "||", "true"), 0),
        (("bash", "-c"), 0),
        (("python3", "-c", "a | b"), 0),
        (("run", "a || true"), 0),
    ],
)
def test_a_shell_called_by_name_is_looked_into(argv: tuple[str, ...], count: int) -> None:
    assert len(told(*argv)) == count


def test_a_job_is_told_and_its_command_is_not_repeated() -> None:
    job = replace(QUIET, run=Command(argv=("curl -H 'Token: s3cret' host || true",), shell=True))
    assert codes(job) == ["exit_code_hidden"]
    assert "s3cret" not in message(job)


@pytest.mark.parametrize("script", ["'", '"', "(", "$(", "`", "\\", "a ' b | c", "))) | b", "${", "#", "\n\n;;\n"])
def test_text_that_no_shell_would_read_is_looked_at_without_a_fault(script: str) -> None:
    assert isinstance(told(script, shell=True), list)
