"""Why did a job run, or not run, at an instant? The named reason, and the sentences a colleague would say. Pure.

What a definition says is worked out here; what became of a slot is handed in by whoever knows (`Heard`). An instant
that is no slot itself but lies within the limit of one is taken for that slot, and the first sentence says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from scheduler.explaining.no_slot import Against, Objection, named, objection
from scheduler.explaining.runs import Found, RunFacts, SlotFacts, run_told, told
from scheduler.explaining.slot import SlotCode, definition_told, excuse_told, opening
from scheduler.explaining.versions import Meant, OutOfRangeError, Version, around, check_range, meant
from scheduler.explaining.words import dated, moment, placed, schedule_words
from scheduler.jobs import Job, Schedule
from scheduler.timelaw import Excuse, parts, skipped_by

__all__ = [
    "Code",
    "Explanation",
    "Heard",
    "OutOfRangeError",
    "RunFacts",
    "SlotFacts",
    "Version",
    "check_range",
    "explain",
    "explain_run",
    "meant",
]

Code = (
    Against
    | Excuse
    | Found
    | SlotCode
    | Literal["to_come", "not_seen", "version", "before_valid_from", "removed", "no_schedule"]
)
MAX_PARTS = 5
"""So many schedules of one job are explained one by one."""
_EXCUSED = {"disabled": "", "holiday": ", skipped as a holiday", "window": ", outside its window"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What those know who watch: the time it is, the slot's verdict and run where there are any.

    Slots up to `since` came before anybody watched; None when nobody watches yet.
    """

    now: datetime
    since: datetime | None = None
    verdict: SlotFacts | None = None
    run: RunFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The answer about `at`. `slot` is the slot that was meant, or None; `owed`: a run was owed for it."""

    at: datetime
    slot: datetime | None
    owed: bool
    code: Code
    sentences: tuple[str, ...]


def explain(versions: Sequence[Version], at: datetime, heard: Heard | None = None) -> Explanation:
    """Explains `at` by every version of one job, ascending, at least one. `heard` None: only the definition speaks.

    Raises OutOfRangeError.
    """
    found = meant(versions, check_range(at))
    if found is not None:
        return _slot(found, at, heard)
    code, sentences = _no_slot(versions, at)
    says = (*sentences, *_extra_run(heard), *_neighbours(versions, at))
    return Explanation(at=at, slot=None, owed=False, code=code, sentences=says)


def explain_run(job: str, versions: Sequence[Version], at: datetime, run: RunFacts) -> Explanation:
    """Explains a run that belongs to no slot; `at` is when it was first heard of, `versions` may be empty."""
    first = f"The run {run.id} belongs to no slot: somebody or something asked for it, or it is an extra run of {job}."
    code, sentences = run_told(versions[-1].job if versions else Job(id=job), run)
    return Explanation(at=at, slot=None, owed=False, code=code, sentences=(first, *sentences))


def _slot(found: Meant, at: datetime, heard: Heard | None) -> Explanation:
    job, slot = found.job, found.slot
    first, excuse = opening(job, slot, at), skipped_by(job, slot)
    if excuse is not None:
        says = (first, excuse_told(job, slot, excuse), *_extra_run(heard))
        return Explanation(at=at, slot=slot, owed=False, code=excuse, sentences=says)
    code: Code
    code, notes = definition_told(job, slot, at)
    if heard is not None:
        code, facts = _became(job, slot, heard, code)
        notes += facts
    return Explanation(at=at, slot=slot, owed=True, code=code, sentences=(first, *notes))


def _became(job: Job, slot: datetime, heard: Heard, code: Code) -> tuple[Code, list[str]]:
    found = told(job, slot, heard.verdict, heard.run)
    # Before its slot, a run can only wait: what is told then is the definition's to tell.
    if found is not None and (slot <= heard.now or heard.run is not None):
        return found
    if slot > heard.now:
        return ("to_come" if code == "slot" else code), ["It is still to come."]
    if heard.since is None or slot <= heard.since:
        began = "" if heard.since is None else f", at {moment(heard.since)}"
        return "not_seen", [f"Nobody knows what became of it: it came before the ledger began to watch{began}."]
    return "pending", ["It has only just come due, and is not judged yet."]


def _extra_run(heard: Heard | None) -> list[str]:
    if heard is None or heard.run is None or heard.run.outcome is None:
        return []
    return [f"All the same there was a run, {heard.run.id}, which is {heard.run.outcome}: an extra run."]


def _no_slot(versions: Sequence[Version], at: datetime) -> tuple[Code, list[str]]:
    version = next((one for one in versions if one.holds(at)), None)
    if version is None:
        return _undefined(versions, at)
    job = version.job
    if job.schedule is None:
        says = "it runs when somebody or something asks for it, so it owes no run at any instant"
        return "no_schedule", [f"{job.id} has no schedule: {says}."]
    code, sentences = _against(job, job.schedule, at)
    if not job.enabled:
        sentences.append("Besides, the job is disabled (`enabled: false`).")
    other = _other(versions, version, at)
    if other is not None:
        return "version", [*sentences, other]
    return code, sentences


def _undefined(versions: Sequence[Version], at: datetime) -> tuple[Code, list[str]]:
    job = versions[0].job
    when = placed(job.schedule.timezone, at) if job.schedule is not None else moment(at)
    later = [one.valid_from for one in versions if one.valid_from is not None and one.valid_from > at]
    earlier = [one.valid_until for one in versions if one.valid_until is not None and one.valid_until <= at]
    if earlier:
        again = f" and is defined again from {moment(min(later))} on" if later else ""
        return "removed", [f"At {when}, {job.id} was not defined: it was removed at {moment(max(earlier))}{again}."]
    since = moment(min(later))
    says = f"{job.id} is valid from {since} on, and {when} lies before that: no slot of that time is owed."
    return "before_valid_from", [says]


def _against(job: Job, schedule: Schedule, at: datetime) -> tuple[Code, list[str]]:
    first = f"{placed(schedule.timezone, at)} is no slot of {job.id}."
    alone = [replace(part, also=()) for part in parts(schedule)]
    found = [(part, objection(part, at)) for part in alone]
    if len(found) == 1:
        return found[0][1].code, [first, *found[0][1].sentences]
    sentences = [_of_part(part, against) for part, against in found[:MAX_PARTS]]
    if len(found) > MAX_PARTS:
        sentences.append(f"Its {len(found) - MAX_PARTS} further schedules do not name it either.")
    return found[0][1].code, [f"{first[:-1]}, by none of its {len(found)} schedules.", *sentences]


def _of_part(part: Schedule, against: Objection) -> str:
    return f"By `{schedule_words(part)}` ({part.timezone}): {' '.join(against.sentences)}"


def _other(versions: Sequence[Version], holding: Version, at: datetime) -> str | None:
    """A version that would have named the instant, had it been valid then; the one that follows comes first."""
    place = versions.index(holding)
    for other in (*versions[place + 1 :], *reversed(versions[:place])):
        if other.job.schedule is not None and named(other.job.schedule, at):
            return _would_name(holding, other)
    return None


def _would_name(holding: Version, other: Version) -> str:
    assert other.job.schedule is not None
    words = "; ".join(f"`{schedule_words(part)}`" for part in parts(other.job.schedule))
    if holding.valid_until is not None and other.valid_from is not None and other.valid_from >= holding.valid_until:
        when = f"is valid only from {moment(other.valid_from)} on"
    else:
        assert other.valid_until is not None
        when = f"was valid only until {moment(other.valid_until)}"
    return f"Another version, {words}, would name it, but {when}: a change neither invents slots nor loses any."


def _neighbours(versions: Sequence[Version], at: datetime) -> list[str]:
    before, after = around(versions, at)
    if before is None and after is None:
        return []
    if before is None or after is None:
        only = before or after
        assert only is not None
        which = "The last slot was" if after is None else "The first slot is"
        return [f"{which} {_told(only)}; there is none {'after' if after is None else 'before'} it."]
    return [f"The slot before is {_told(before)}; the next is {_told(after)}."]


def _told(one: Meant) -> str:
    assert one.job.schedule is not None
    excuse = skipped_by(one.job, one.slot)
    return f"{dated(one.job.schedule.timezone, one.slot)}{'' if excuse is None else _EXCUSED[excuse]}"
