"""The `calendars:` of a folder to calendars by value. Answers: which are there, what do they hold, and what is wrong?

Several files may define calendars; a union names others of the same folder, in any file and any order.
"""

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from scheduler.calendars import CalendarError, check_calendar
from scheduler.events import JOB_ID
from scheduler.files import Document, KeyPath, Problem
from scheduler.jobs import Calendar
from scheduler.problems import check
from scheduler.schedule_models import MAX_CALENDARS, MAX_DATES, CalendarModel

NamedCalendars = Mapping[str, Calendar | None]
"""Each name that a folder defines; None stands for a calendar with problems, which are told once and elsewhere."""


@dataclass(frozen=True, slots=True)
class _Written:
    """Where a calendar stands, and its form; None when that is wrong."""

    document: Document
    path: KeyPath
    model: CalendarModel | None


def read_calendars(documents: list[Document]) -> tuple[NamedCalendars, list[Problem]]:
    """Every calendar of documents whose values are mappings, and what is wrong with them."""
    problems: list[Problem] = []
    written: dict[str, _Written] = {}
    for document, name in _named(documents):
        path: KeyPath = ("calendars", name)
        if name in written:
            first = written[name]
            message = f"stands twice: also at {first.document.file}:{first.document.line(first.path)}"
            problems.append(document.problem(path, message, "give one of them another name", value=name))
        elif len(written) == MAX_CALENDARS:
            message = f"is one calendar too many: a folder may hold {MAX_CALENDARS}"
            problems.append(document.problem(path, message, "join or remove some", value=name))
            break
        else:
            model, wrong = _read(document, path, name)
            problems += wrong
            written[name] = _Written(document, path, model)
    joining = _Joining(written)
    for name in written:
        joining.calendar(name, ())
    return joining.found, problems + joining.problems


def unknown_calendar(document: Document, path: KeyPath, name: str, known: Collection[str]) -> Problem:
    """The problem of a name that no file of the folder defines."""
    near = difflib.get_close_matches(name, known, n=3)
    remedy = "define it under `calendars:`"
    if near:
        remedy = f"did you mean {' or '.join(f'`{match}`' for match in near)}?"
    elif known:
        listed = sorted(known)
        remedy = f"use one of {', '.join(listed[:10])}{', ...' if len(listed) > 10 else ''}, or {remedy}"
    return document.problem(path, "is not a calendar of this folder", remedy, value=name)


def _named(documents: list[Document]) -> Iterator[tuple[Document, str]]:
    for document in documents:
        part = document.value.get("calendars")
        for name in part if isinstance(part, dict) else ():
            yield document, name


def _read(document: Document, path: KeyPath, name: str) -> tuple[CalendarModel | None, list[Problem]]:
    model, problems = check(CalendarModel, document, path)
    if not JOB_ID.fullmatch(name):
        message, remedy = "is not an id", "use up to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit"
        problems.append(document.problem(path, message, remedy, value=name))
    if model is not None:
        problems += _unknown_to_the_library(document, path, model)
    return (None if problems else model), problems


def _unknown_to_the_library(document: Document, path: KeyPath, model: CalendarModel) -> Iterator[Problem]:
    """The library is asked one name at a time, so that each fault stands at its own key."""
    named = Calendar(country=model.country, subdivision=model.subdivision, market=model.market)
    country = Calendar(country=model.country)
    steps = [("market", Calendar(market=model.market)), ("country", country)]
    if not _fault(country):
        steps.append(("subdivision", replace(named, market=None)))
    for key, calendar in steps:
        said = _fault(calendar)
        if said:
            value = str(getattr(model, key))
            message, _, remedy = said.removeprefix(repr(value)).strip().partition("; ")
            yield document.problem((*path, key), message, remedy, value=value)


def _fault(calendar: Calendar) -> str:
    try:
        check_calendar(calendar)
    except CalendarError as error:
        return str(error)
    return ""


class _Joining:
    """Follows unions to calendars by value. Each is worked out once; a union that leads back to itself is refused."""

    def __init__(self, written: Mapping[str, _Written]) -> None:
        self.found: dict[str, Calendar | None] = {}
        self.problems: list[Problem] = []
        self._written = written
        self._sizes: dict[str, tuple[int, int]] = {}

    def calendar(self, name: str, trail: tuple[str, ...]) -> Calendar | None:
        if name not in self.found:
            self.found[name] = self._joined(name, trail)
        return self.found[name]

    def _joined(self, name: str, trail: tuple[str, ...]) -> Calendar | None:
        here = self._written[name]
        if here.model is None:
            return None
        members = [
            self._member(other, here, (*here.path, "union", index), (*trail, name))
            for index, other in enumerate(here.model.union)
        ]
        whole = [member for member in members if member is not None]
        if len(whole) < len(members) or not self._fits(name, here.model):
            return None
        # By name, because comparing calendars by value would walk all that they join.
        return _calendar(name, here.model, tuple({member.name: member for member in whole}.values()))

    def _member(self, name: str, here: _Written, path: KeyPath, trail: tuple[str, ...]) -> Calendar | None:
        if name not in self._written:
            self.problems.append(unknown_calendar(here.document, path, name, self._written.keys() - {trail[-1]}))
            return None
        if name in trail:
            way = " -> ".join((*trail[trail.index(name) :], name))
            message = f"leads back to itself: {way}"
            self.problems.append(here.document.problem(path, message, "remove it", value=name))
            return None
        return self.calendar(name, trail)

    def _fits(self, name: str, model: CalendarModel) -> bool:
        """Whether the calendar, written out with all that it joins, stays within what a job's definition may hold."""
        sizes = [self._sizes[other] for other in dict.fromkeys(model.union)]
        calendars = 1 + sum(size[0] for size in sizes)
        dates = len(model.dates) + len(model.add) + len(model.remove) + sum(size[1] for size in sizes)
        self._sizes[name] = (calendars, dates)
        for number, limit, what in ((calendars, MAX_CALENDARS, "calendars"), (dates, MAX_DATES, "dates")):
            if number > limit:
                here = self._written[name]
                message = f"holds {number} {what}, counted wherever they are joined; the limit is {limit}"
                self.problems.append(here.document.problem((*here.path, "union"), message, "join fewer", value=""))
                return False
        return True


def _calendar(name: str, model: CalendarModel, union: tuple[Calendar, ...]) -> Calendar:
    return Calendar(
        name=name,
        country=model.country,
        subdivision=model.subdivision,
        market=model.market,
        dates=tuple(sorted(set(model.dates))),
        add=tuple(sorted(set(model.add))),
        remove=tuple(sorted(set(model.remove))),
        weekend=None if model.weekend is None else tuple(sorted(set(model.weekend))),
        union=union,
    )
