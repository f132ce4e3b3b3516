"""The time fields of a crontab line: read, or refused with the column of the token that is wrong. Pure."""

import re
from dataclasses import dataclass, field

from scheduler.cron import MACROS, Cron, NeverError, ScheduleError, parse_cron
from scheduler.importers.cron_lines import FIELDS, Entry
from scheduler.importers.cron_notes import both_days, robfig, uneven_steps, wrong_field
from scheduler.importers.imported import Document
from scheduler.jobs import REBOOT

ZONE = "give --tz, or add `defaults: {timezone: Asia/Jakarta}` to the job file"
_SIXTH = re.compile(
    r"[0-9*?][0-9*?,/#LW-]*|(?:SUN|MON|TUE|WED|THU|FRI|SAT)(?:[-,](?:SUN|MON|TUE|WED|THU|FRI|SAT))*", re.IGNORECASE
)
_SECONDS_FIRST = "if seconds come first, it is Quartz or Spring: `tepat import quartz`"
_FREEBSD = {"@every_minute": "* * * * *"}


@dataclass(frozen=True, slots=True)
class Timing:
    """When a line is due: the `schedule` of its job, or (code, column, message) of what is wrong with it."""

    schedule: Document = field(default_factory=dict)
    cron: Cron | None = None
    notes: tuple[tuple[str, str], ...] = ()
    wrong: tuple[str, int, str] | None = None


def looks_like_field(word: str) -> bool:
    """Whether a word could be a sixth time field: numbers and signs, or weekdays."""
    return bool(_SIXTH.fullmatch(word))


def read_timing(entry: Entry, *, dagu: bool, year: int) -> Timing:
    """The schedule of a line without its zone. `year` is the year that notes count in."""
    text, column = entry.cron, entry.words[0][1]
    if text.startswith("@"):
        return _macro(text, column)
    notes: list[tuple[str, str]] = []
    if text.startswith("-"):
        text = text[1:]
        notes.append(("log_off", "the leading - kept the start out of cron's log; every run of a job is recorded"))
    text = robfig(text) if dagu else text
    wrong = _misfit(entry, text)
    if wrong is not None:
        return Timing(wrong=wrong)
    try:
        cron = parse_cron(text)
    except NeverError as error:
        return Timing(wrong=("never_fires", column, str(error)))
    except ScheduleError as error:
        return Timing(wrong=("bad_schedule", column, str(error)))
    notes += [("uneven_step", said) for said in uneven_steps(text)]
    either = both_days(cron, year)
    notes += [("both_day_fields", either)] if either else []
    return Timing({"cron": text}, cron, tuple(notes))


def _misfit(entry: Entry, text: str) -> tuple[str, int, str] | None:
    """Too few fields, too many, or the first that can't be read."""
    if len(entry.words) < len(FIELDS):
        said = f"{text!r} is not a job line: {len(entry.words)} of five fields: minute hour day month weekday"
        return "bad_schedule", entry.words[0][1], said
    sixth = entry.rest.split(maxsplit=1)[0] if entry.rest else ""
    six = looks_like_field(sixth)
    found = wrong_field(text.split())
    if found is not None:
        place, said = found
        return "bad_schedule", entry.words[place][1], f"{said}; {_SECONDS_FIRST}" if six and place else said
    if six:
        said = (
            f"{sixth!r} is a sixth time field, and a crontab has five: minute hour day month weekday; {_SECONDS_FIRST}"
        )
        return "six_fields", entry.column, said
    return None


def _macro(text: str, column: int) -> Timing:
    word = text.lower()
    if word == REBOOT:
        said = "@reboot starts with the host and has no slots: it is left out of on-time, and is not missed"
        return Timing({"cron": REBOOT}, None, (("reboot", said),))
    fields = _FREEBSD.get(word, MACROS.get(word))
    if fields is None:
        known = ", ".join((*MACROS, REBOOT))
        return Timing(
            wrong=("bad_schedule", column, f"{text!r} is not a macro known here; write five fields, or one of {known}")
        )
    return Timing({"cron": text if word in MACROS else fields}, parse_cron(fields))
