"""What a command in a crontab does to its own measurement: guards, hidden exit codes, thrown away output. Pure."""

from collections.abc import Iterator

from scheduler.cron import Cron
from scheduler.importers.guards import Guard, count, guard_of, plain_form
from scheduler.importers.masking import masked
from scheduler.importers.shell_text import discards_output, sleeps_at_random
from scheduler.jobs import Command
from scheduler.linting.commands import command_notes


def line_notes(command: str, cron: Cron | None, year: int) -> Iterator[tuple[str, str]]:
    """(code, message) for each, of a command as the shell gets it."""
    guard = guard_of(command)
    if guard is not None:
        yield "guard", _guard_said(guard, cron, year)
    if sleeps_at_random(command):
        yield (
            "random_delay",
            "the command sleeps for a random time, which reads as work; take it out and set `schedule.jitter`",
        )
    text = Command(argv=(command,), shell=True)  # noqa: S604 - a value to look at; nothing runs it
    for note in command_notes(text):
        yield note.code, f"the command {masked(note.message)}"
    if discards_output(command):
        yield "output_discarded", "the output goes to /dev/null; without that, its last 4 KiB are kept with the run"


def _guard_said(guard: Guard, cron: Cron | None, year: int) -> str:
    found = count(guard, cron, year) if cron else None
    text = masked(guard.text)[:120]
    ends = " and end with an exit code that counts as failed" if guard.skips_fail else ""
    if found is None or cron is None:
        alone = " and ends with an exit code that counts as failed" if guard.skips_fail else ""
        said = f"a start that it stops does no work{alone}; duration p50 may not be the work's"
        return f"guard in the command ({text}): {said}"
    idle = found.starts - found.working
    said = (
        f"guard in the command ({text}): {idle} of {found.starts} starts of {year} are very short{ends},"
        f" {found.working} do work; duration p50 is not the work's"
    )
    plain = plain_form(guard, cron, year)
    return f"{said}. `{plain}` without the guard starts exactly when there is work" if plain else said
