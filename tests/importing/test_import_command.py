"""`tepat import` as a user meets it, and what docs/import.md says of it."""

import io
import json
import re
from pathlib import Path

import pytest
from importing.conftest import SAMPLES, YEAR

from control import cli
from control.commands.import_ import KINDS
from scheduler.definitions import load_folder
from scheduler.importers.checking import loadable
from scheduler.importers.codes import CODES
from scheduler.importers.imported import Imported, Options, Source

DOCS = Path(__file__).parents[2] / "docs" / "import.md"
FILES = {
    "crontab": [
        "etc/crontab", "etc/cron.d/raid-check", "etc/cron.d/gateway", "freebsd.crontab", "zones.crontab",
        "user.crontab", "broken.crontab", "dagu.crontab",
    ],
    "kubernetes": ["cronjobs.yaml", "list.yaml", "chart.yaml"],
    "systemd": ["apt-like.timer", "backup.timer", "backup.service"],
    "quartz": ["quartz.properties", "quartz_jobs.xml", "spring.xml", "ReportTasks.java", "serverless.yml", "rules.tf"],
}  # fmt: skip
DIALECTS = {"dagu.crontab": "dagu", "serverless.yml": "aws", "rules.tf": "aws"}
CASES = [(kind, name) for kind, names in FILES.items() for name in names if name != "backup.service"]


def arguments(kind: str, name: str) -> list[str]:
    dialect = ["--dialect", DIALECTS[name]] if name in DIALECTS else []
    beside = [str(SAMPLES / "backup.service")] if name == "backup.timer" else []
    return ["import", kind, str(SAMPLES / name), *beside, *dialect]


def test_every_sample_is_among_those_that_are_imported() -> None:
    there = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()}
    assert there == {name for names in FILES.values() for name in names}


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_what_is_printed_loads_as_a_job_file(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = cli.main(arguments(kind, name))
    printed = capsys.readouterr()
    (tmp_path / "jobs.yaml").write_text(printed.out, encoding="utf-8")
    (tmp_path / "defaults.yaml").write_text("defaults: {timezone: UTC}\n")
    jobs = load_folder(tmp_path).jobs
    assert jobs
    assert code == int("error: " in printed.err)
    assert printed.err.splitlines()[-1].startswith(f"jobs: {len(jobs)}, errors: ")


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_json_holds_the_same_jobs_and_findings(kind: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main([*arguments(kind, name), "--json"])
    whole = json.loads(capsys.readouterr().out)
    assert set(whole) == {"jobs", "findings"}
    assert all(set(finding) == {"level", "code", "where", "message"} for finding in whole["findings"])
    assert code == int(any(finding["level"] == "error" for finding in whole["findings"]))


def test_standard_input_is_read_for_a_dash(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"0 1 * * * a\n")))
    assert cli.main(["import", "crontab", "-", "--tz", "Asia/Jakarta"]) == 0
    printed = capsys.readouterr()
    assert "timezone: Asia/Jakarta" in printed.out and "warning: -: " in printed.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["crontab", "no-such-file"], "no-such-file can't be read"),
        (["crontab", "."], ". can't be read"),
        (["crontab", "FILE", "--tz", "Asia/Jakata"], "did you mean Asia/Jakarta"),
        (["crontab", "FILE", "--dialect", "aws"], "no dialect of crontab; use one of crontab, dagu"),
        (["systemd", "FILE", "--dialect", "aws"], "systemd has none"),
        (["crontab", "-", "-"], "stands twice"),
        (["crontab", "BINARY"], "not UTF-8 at byte 0"),
        (["crontab", "NUL"], "NUL character"),
        (["crontab", "LARGE"], "split the file"),
    ],
)
def test_what_cannot_be_read_is_2(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = {"FILE": b"0 1 * * * a\n", "BINARY": b"\xff\xfe", "NUL": b"a\0b", "LARGE": b"#" * (1024 * 1024 + 1)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    given = [str(tmp_path / option) if option in contents else option for option in options]
    assert cli.main(["import", *given]) == 2
    assert says in capsys.readouterr().err


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"0 1 * * * a\n" + b"#######\n" * (128 * 1024 - 2) + b"##\n#")
    assert file.stat().st_size == 1024 * 1024
    assert cli.main(["import", "crontab", str(file), "--json"]) == 0


def test_foreign_text_moves_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "crontab"
    file.write_text("0 1 * * * a\x1b[2J\n61\x1b[2J * * * * b\n#0 1 * * * c\x1b[2J\n")
    assert cli.main(["import", "crontab", str(file)]) == 1
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err


def test_a_job_that_no_job_file_could_hold_is_left_out_and_named() -> None:
    good, bad = {"id": "a", "schedule": {"cron": "0 1 * * *"}}, {"id": "b", "schedule": {"every": "1x"}}
    checked = loadable(Imported((good, bad), ()), "f")
    assert checked.jobs == (good,)
    assert [(finding.code, finding.level) for finding in checked.findings] == [("refused", "error")]
    assert checked.findings[0].message.startswith("b: schedule")


def test_every_kind_of_file_and_every_code_stands_in_the_docs() -> None:
    text = DOCS.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z0-9_]+)` \| (error|warning) \|", text, re.MULTILINE))
    assert rows == {code: level for code, (level, _) in CODES.items()}
    assert all(f"tepat import {kind}" in text for kind in KINDS)


def test_every_code_is_said_somewhere_with_its_own_level() -> None:
    seen: dict[str, set[str]] = {}
    for kind, name, text, dialect in [*_samples(), *_further()]:
        found = KINDS[kind][0]([Source(name, text)], Options(year=YEAR, dialect=dialect))
        for finding in loadable(found, name).findings:
            seen.setdefault(finding.code, set()).add(finding.level)
    assert seen == {code: {level} for code, (level, _) in CODES.items()}


def _samples() -> list[tuple[str, str, str, str | None]]:
    return [
        (kind, name, (SAMPLES / name).read_text(), DIALECTS.get(name))
        for kind, names in FILES.items()
        for name in names
    ]


def _further() -> list[tuple[str, str, str, str | None]]:
    """What no sample says: rare, or only wrong on purpose."""
    timer = "[Timer]\nOnCalendar=*-*-* 6:00:30\nOnCalendar=2026..2027-01-01\nOnCalendar=Mon *-*-13\n"
    both = "[Timer]\nOnCalendar=daily\n[Service]\nExecStart=/bin/a $X\nExecStart=/bin/b %i\n"
    return [
        ("crontab", "c", "0 3 2 * * * six\n-*/9 * * * * quiet\nA=$B\n0 1 * * * x", None),
        ("crontab", "wide", f"0 1 * * * {'x' * 10_000}\n", None),
        ("crontab", "long", f"{','.join(['10-50'] * 40)} * * * * x\n", None),
        ("systemd", "x.timer", timer, None),
        ("systemd", "y.timer", both, None),
        ("systemd", "z.timer", both.replace("%i", "c"), None),
        ("quartz", "empty", "", None),
    ]
