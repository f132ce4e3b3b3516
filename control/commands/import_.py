"""`tepat import`: job files from other schedulers' files. Jobs go to standard output, findings to standard error."""

import json
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from control.commands import UsageError
from scheduler.clock import now
from scheduler.files import MAX_FILE_BYTES, printable
from scheduler.findings import Finding
from scheduler.importers.checking import loadable
from scheduler.importers.crontab import DIALECTS as CRONTAB_DIALECTS
from scheduler.importers.crontab import read_crontab
from scheduler.importers.imported import Imported, Options, Source
from scheduler.importers.kubernetes import read_kubernetes
from scheduler.importers.quartz import DIALECTS as QUARTZ_DIALECTS
from scheduler.importers.quartz import read_quartz
from scheduler.importers.systemd import read_systemd
from scheduler.importers.writing import to_yaml
from scheduler.zones import check_zone

Reader = Callable[[Sequence[Source], Options], Imported]

KINDS: dict[str, tuple[Reader, tuple[str, ...]]] = {
    "crontab": (read_crontab, CRONTAB_DIALECTS),
    "kubernetes": (read_kubernetes, ()),
    "systemd": (read_systemd, ()),
    "quartz": (read_quartz, QUARTZ_DIALECTS),
}
SLOTH = "sloth"  # objectives, not jobs
_DIALECTS = sorted({dialect for _, dialects in KINDS.values() for dialect in dialects})


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat import`."""
    parser.add_argument("kind", choices=[*KINDS, SLOTH], help="what wrote the file")
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="the file, or - for standard input; a timer and its service"
    )
    parser.add_argument(
        "--tz", metavar="ZONE", help="the IANA time zone of what has none of its own, such as Asia/Jakarta"
    )
    parser.add_argument(
        "--system",
        action=BooleanOptionalAction,
        help="crontab lines have a user column (default: by the file's name and look)",
    )
    parser.add_argument("--dialect", choices=_DIALECTS, help="crontab: dagu; quartz: spring, aws")
    parser.add_argument(
        "--json", action="store_true", help='{"jobs": [...], "findings": [{"level", "code", "where", "message"}]}'
    )


def run(arguments: Namespace) -> int:
    """Print the job file and the findings; 1 when something could not be imported, 2 for what can't be read."""
    sources = [_source(name) for name in _once(arguments.files)]
    if arguments.kind == SLOTH:
        return _objectives(sources, arguments)
    options = _options(arguments)
    imported = loadable(KINDS[arguments.kind][0](sources, options), sources[0].name)
    if arguments.json:
        findings = [asdict(finding) for finding in imported.findings]
        print(json.dumps({"jobs": list(imported.jobs), "findings": findings}, indent=2))
    else:
        _print(imported)
    return 1 if any(finding.level == "error" for finding in imported.findings) else 0


def _objectives(sources: Sequence[Source], arguments: Namespace) -> int:
    from slo.sloth import read_sloth

    given = [f"--{name}" for name in ("tz", "system", "dialect") if getattr(arguments, name) is not None]
    if given:
        raise UsageError(
            f"{' and '.join(given)} mean nothing for {SLOTH}, whose files hold no schedule; leave them out"
        )
    found = read_sloth(sources)
    if arguments.json:
        findings = [asdict(finding) for finding in found.findings]
        print(json.dumps({"slos": found.slos, "findings": findings}, indent=2))
    else:
        if found.slos:
            print(to_yaml("slos", found.slos), end="")
        _say(found.findings, f"slos: {len(found.slos)}")
    return 1 if any(finding.level == "error" for finding in found.findings) else 0


def _print(imported: Imported) -> None:
    if imported.jobs:
        print(to_yaml("jobs", imported.jobs), end="")
    _say(imported.findings, f"jobs: {len(imported.jobs)}")


def _say(findings: Sequence[Finding], made: str) -> None:
    for finding in findings:
        text = f"{finding.level}: {finding.where}: {finding.message} [{finding.code}]"
        print(printable(text), file=sys.stderr)
    errors = sum(finding.level == "error" for finding in findings)
    print(f"{made}, errors: {errors}, warnings: {len(findings) - errors}", file=sys.stderr)


def _options(arguments: Namespace) -> Options:
    dialects = KINDS[arguments.kind][1]
    if arguments.dialect is not None and arguments.dialect not in dialects:
        use = f"use one of {', '.join(dialects)}" if dialects else f"{arguments.kind} has none"
        raise UsageError(f"--dialect {arguments.dialect} is no dialect of {arguments.kind}; {use}")
    if arguments.tz is not None:
        try:
            check_zone(arguments.tz)
        except ValueError as error:
            raise UsageError(f"--tz: {arguments.tz!r} {error}") from None
    return Options(year=now().year, zone=arguments.tz, system=arguments.system, dialect=arguments.dialect)


def _once(names: list[str]) -> list[str]:
    if names.count("-") > 1:
        raise UsageError("- stands twice, and standard input can be read once; give a file's name")
    return names


def _source(name: str) -> Source:
    try:
        raw = sys.stdin.buffer.read(MAX_FILE_BYTES + 1) if name == "-" else _bytes(Path(name))
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror}; check the name and its permissions") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 at byte {error.start}; save the file as UTF-8") from None
    if len(raw) > MAX_FILE_BYTES:
        raise UsageError(f"{name} has more than {MAX_FILE_BYTES} bytes; split the file")
    if "\0" in text:
        raise UsageError(f"{name} holds a NUL character, so it is no text; check the name")
    return Source(name, text)


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)
