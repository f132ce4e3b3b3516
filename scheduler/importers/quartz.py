"""Quartz and Spring schedules to watched jobs: property lines, XML, annotations, and bare expressions. Pure.

XML and Java are matched as text, never parsed: no entity is read and nothing is included. Quartz counts weekdays from
Sunday = 1; Spring counts like a crontab, so its numbers are written as names.
"""

import re
from collections.abc import Iterator, Sequence

from scheduler.cron import NeverError, ScheduleError, parse_cron
from scheduler.importers.aws import read_aws
from scheduler.importers.cron_schedules import ZONE
from scheduler.importers.imported import Document, Gathering, Imported, Options, Source
from scheduler.importers.marked_texts import Found, marked
from scheduler.importers.springs import SpringError, spring_schedule
from scheduler.zones import check_zone

DIALECTS = ("quartz", "spring", "aws")
_LINE = re.compile(r"(?P<name>[A-Za-z][\w.$/-]*)\s*[=:]\s*(?P<text>.*)")
_TAIL = re.compile(r"[._-](?:cron(?:[-_.]?expression)?|schedule|trigger)$", re.IGNORECASE)
_CRONLIKE = re.compile(r"[0-9*?][0-9*?,/-]*\s+\S+\s+\S+\s+\S+.*|@[a-z]+|\$\{.*\}.*|#\{.*\}.*")


def read_quartz(sources: Sequence[Source], options: Options) -> Imported:
    """Every schedule of one or more files. Nothing in them raises."""
    if options.dialect == "aws":
        return read_aws(sources, options)
    gathering = Gathering()
    for source in sources:
        found = marked(source, gathering)
        made = [_job(source, one, options, gathering) for one in found or _lines(source, gathering)]
        if any(job is not None and "timezone" not in job["schedule"] for job in made):
            said = f"schedules without a zone are in the program's own, and there is no --tz; {ZONE}"
            gathering.say("missing_zone", source.name, said)
    return gathering.result("there is no cron expression in it", sources[0].name)


def _lines(source: Source, gathering: Gathering) -> Iterator[Found]:
    """`name = expression` lines and bare expressions; other settings are counted and named, without their values."""
    others: list[str] = []
    for number, raw in enumerate(source.text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith(("#", "!", "//", ";", "---")):
            continue
        match = _LINE.fullmatch(line)
        text = (match["text"] if match else line).strip().strip("\"'").strip()
        if match and not _CRONLIKE.fullmatch(text):
            others.append(match["name"])
        else:
            yield Found(number, _TAIL.sub("", match["name"]) if match else "", text)
    if others:
        named = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        gathering.say("other_kind", source.name, f"settings that are no schedules are left alone: {named}")


def _job(source: Source, found: Found, options: Options, gathering: Gathering) -> Document | None:
    where = f"{source.name}:{found.line}"
    text = " ".join(found.text.split())
    if "${" in text or "#{" in text:
        said = f"{text!r} stands for a value in another file; put the expression in its place and import it again"
        gathering.say("placeholder", where, said)
        return None
    spring = found.spring or options.dialect == "spring"
    if spring and text == "-":
        said = f"{found.name or 'a task'}: the schedule is switched off with -; no job is written"
        gathering.say("not_carried", where, said)
        return None
    try:
        schedule = spring_schedule(text) if spring else _quartz(text)
        zone = check_zone(found.zone) if found.zone else options.zone
    except SpringError as error:
        gathering.say(error.code, where, str(error))
    except ScheduleError as error:
        code = "never_fires" if isinstance(error, NeverError) else "bad_schedule"
        gathering.say(code, where, _hinted(str(error), text, spring=spring))
    except ValueError as error:
        gathering.say("unknown_zone", where, f"{found.zone!r} {error}")
    else:
        timed = schedule | ({"timezone": zone} if zone else {})
        return gathering.add({"id": gathering.new_id(found.name or "quartz"), "schedule": timed})
    return None


def _quartz(text: str) -> Document:
    unwrapped = _without_wrapping(text)
    parse_cron(unwrapped, "quartz")
    return {"cron": unwrapped, "dialect": "quartz"}


_HIGHEST = (("0", "59"), ("0", "59"), ("0", "23"), None, ("1", "12"), None)


def _without_wrapping(text: str) -> str:
    """`22-2` as two ranges, outside the day fields: Quartz runs on over a field's end, others do not."""
    fields = text.split()
    for place, ends in enumerate(_HIGHEST[: len(fields)]):
        if ends:
            fields[place] = ",".join(_unwrapped(term, *ends) for term in fields[place].split(","))
    return " ".join(fields)


def _unwrapped(term: str, low: str, high: str) -> str:
    match = re.fullmatch(r"(\d{1,2})-(\d{1,2})", term)
    if match is None or int(match[1]) <= int(match[2]):
        return term
    return f"{match[1]}-{high},{low}-{match[2]}"


def _hinted(said: str, text: str, *, spring: bool) -> str:
    if re.search(r"\b(?:rate|cron|at)\(", text):
        return f"{said}; an AWS file: --dialect aws"
    count = len(text.split())
    if spring:
        return said
    if count == 5:
        return f"{said}; a crontab has five fields: `tepat import crontab`"
    if "must be `?`" in said:
        return f"{said}; a Spring file: --dialect spring; the year last: --dialect aws"
    return said
