"""What a file may say about time: schedules, calendar intervals, business calendars, batch windows. Pure.

Answers: is this part of the right form, and do its keys fit together? What needs other files (names of calendars, the
default zone) is looked up elsewhere.
"""

import difflib
import re
from collections.abc import Collection
from datetime import timedelta
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from scheduler.cron_texts import read_cron
from scheduler.file_values import (
    LONG_FORM,
    SHORT_FORM,
    Day,
    Duration,
    FileModel,
    Identifier,
    Instant,
    Interval,
    Short,
    TimeOfDay,
    WrongValueError,
    Zone,
    as_list,
)
from scheduler.jobs import REBOOT, Dialect, Dst, HolidayPolicy, Unit
from scheduler.repeats import MONTH_WORDS, WEEKDAYS

MAX_SCHEDULES = 20
MAX_DATES = 3660
MAX_CALENDARS = 100
MAX_COUNT = 999
MAX_INSTANTS = 1000
MAX_DAYS = 31
MAX_TIMES = 100

_EVERY = re.compile(r"(?:([1-9][0-9]{0,2}) )?(day|week|month|year)s?")
_EVERY_REMEDY = "write it like day, 2 weeks, month, 3 months or year"
_UNITS: dict[str, Unit] = {"day": "day", "week": "week", "month": "month", "year": "year"}
_MONTH_REMEDY = "write one like 15, last day, last business day, 3rd business day, 2nd tuesday or last friday"
_WEEK_REMEDY = f"use {', '.join(WEEKDAYS)}"


def _near(word: str, known: Collection[str], otherwise: str) -> str:
    found = difflib.get_close_matches(word, known, n=1)
    return f"did you mean `{found[0]}`?" if found else otherwise


def _every(value: Any) -> tuple[int, Unit]:
    match = _EVERY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise WrongValueError(f"is not a calendar interval of up to {MAX_COUNT} units; {_EVERY_REMEDY}")
    return int(match[1] or 1), _UNITS[match[2]]


def _on_word(value: Any, info: ValidationInfo) -> str:
    unit = info.data.get("every", (1, None))[1]
    # A day of the month is a number to YAML, every other day is a word.
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise WrongValueError(f"is not a day; {_WEEK_REMEDY if unit == 'week' else _MONTH_REMEDY}")
    word = " ".join(value.lower().split())
    if unit == "day":
        raise WrongValueError("has no meaning for an interval of days; remove `on`")
    if unit == "week" and word not in WEEKDAYS:
        raise WrongValueError(f"is not a weekday; {_near(word, WEEKDAYS, _WEEK_REMEDY)}")
    if unit in ("month", "year") and word not in MONTH_WORDS:
        plain = word.isdigit() or word in WEEKDAYS
        raise WrongValueError(f"is not one day of a month; {_near('' if plain else word, MONTH_WORDS, _MONTH_REMEDY)}")
    return word


def _weekday(value: Any) -> int:
    word = value.lower() if isinstance(value, str) else ""
    if word not in WEEKDAYS:
        raise WrongValueError(f"is not a weekday; {_near(word, WEEKDAYS, _WEEK_REMEDY)}")
    return WEEKDAYS.index(word)


def _form(value: Any) -> str:
    return LONG_FORM if isinstance(value, list) else SHORT_FORM


_EVERY_SCHEMA = Annotated[str, Field(pattern=f"^{_EVERY.pattern}$", examples=["2 weeks", "month"])]
_ON_SCHEMA = Annotated[str | int, Field(examples=["friday", 15, "last business day"])]
_WEEKDAY_SCHEMA = Annotated[str, Field(pattern=f"^({'|'.join(WEEKDAYS)})$")]

Every = Annotated[tuple[int, Unit], PlainValidator(_every, json_schema_input_type=_EVERY_SCHEMA)]
OnWord = Annotated[str, PlainValidator(_on_word, json_schema_input_type=_ON_SCHEMA)]
Weekday = Annotated[int, PlainValidator(_weekday, json_schema_input_type=_WEEKDAY_SCHEMA)]
OnDays = Annotated[
    list[OnWord],
    BeforeValidator(as_list, json_schema_input_type=OnWord | list[OnWord]),
    Field(min_length=1, max_length=MAX_DAYS),
]
Times = Annotated[
    list[TimeOfDay],
    BeforeValidator(as_list, json_schema_input_type=TimeOfDay | list[TimeOfDay]),
    Field(min_length=1, max_length=MAX_TIMES),
]
Instants = Annotated[
    list[Instant],
    BeforeValidator(as_list, json_schema_input_type=Instant | list[Instant]),
    Field(min_length=1, max_length=MAX_INSTANTS),
]
Dates = Annotated[
    list[Day],
    BeforeValidator(as_list, json_schema_input_type=Day | list[Day]),
    Field(default_factory=list, max_length=MAX_DATES),
]
Weekend = Annotated[
    list[Weekday], BeforeValidator(as_list, json_schema_input_type=Weekday | list[Weekday]), Field(max_length=6)
]
Names = Annotated[
    list[Identifier],
    BeforeValidator(as_list, json_schema_input_type=Identifier | list[Identifier]),
    Field(default_factory=list, max_length=MAX_CALENDARS),
]


class RepeatModel(FileModel):
    """A calendar interval: every so many days, weeks, months or years, at times of the day."""

    every: Every
    on: OnDays | None = None
    time: Times
    starting: Day | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        count, unit = self.every
        if self.starting is not None:
            return self
        if count > 1:
            raise WrongValueError(f"counts {unit}s from nowhere; add the date to count from: starting: 2026-01-02")
        if unit == "year":
            raise WrongValueError("does not say in which month; add a date in it: starting: 2026-01-02")
        if unit != "day" and self.on is None:
            raise WrongValueError(f"does not say on which day of the {unit}; add `on`")
        return self


class ScheduleModel(FileModel):
    """When a job is due: exactly one of `cron`, `every`, `at` and `repeat`."""

    # Before `cron`, whose meaning it decides.
    dialect: Dialect = "crontab"
    cron: str | None = None
    every: Interval | None = None
    anchor: Instant | None = None
    at: Instants | None = None
    repeat: RepeatModel | None = None
    timezone: Zone | None = None
    dst: Dst = "once"
    calendar: Identifier | None = None
    holidays: HolidayPolicy | None = None
    business_day_starts: TimeOfDay | None = None
    jitter: Duration = timedelta(0)

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        if isinstance(value, str) and (value.startswith("@") or len(value.split()) >= 5):
            raise WrongValueError(f'is a text, not a mapping; write it as {{cron: "{value[:40]}"}}')
        return value

    @field_validator("every", mode="before")
    @classmethod
    def _seconds(cls, value: Any) -> Any:
        if isinstance(value, str) and _EVERY.fullmatch(value):
            raise WrongValueError(f'is a calendar interval; write repeat: {{every: {value}, on: ..., time: "06:00"}}')
        return value

    @field_validator("cron")
    @classmethod
    def _cron(cls, value: str | None, info: ValidationInfo) -> str | None:
        # Without a dialect that can be read nobody knows what the text means.
        if value is None or "dialect" not in info.data:
            return value
        return read_cron(value, info.data["dialect"], (info.context or {}).get("job", ""))

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = ("cron", "every", "at", "repeat")
        given = [name for name in kinds if getattr(self, name) is not None]
        if len(given) != 1:
            raise WrongValueError(f"has {' and '.join(given) or 'none'} of {', '.join(kinds)}; write exactly one")
        if self.anchor is not None and self.every is None:
            raise WrongValueError("has an anchor without `every`; remove the anchor")
        if self.dialect != "crontab" and self.cron is None:
            raise WrongValueError("has a dialect without `cron`; remove the dialect")
        if self.dst != "once" and self.repeat is None and self.cron is None:
            raise WrongValueError(f"has `dst` with `{given[0]}`, which no clock change moves; remove `dst`")
        return self

    @model_validator(mode="after")
    def _no_slots(self) -> Self:
        useless = ("dst", "jitter", "calendar", "holidays", "business_day_starts")
        given = [name for name in useless if getattr(self, name) != ScheduleModel.model_fields[name].default]
        if self.cron == REBOOT and given:
            raise WrongValueError(f"has `{given[0]}` with {REBOOT}, which names no slots; remove `{given[0]}`")
        return self

    @model_validator(mode="after")
    def _days(self) -> Self:
        """A calendar that nothing asks is a holiday that its author believes to hold."""
        if self.holidays is not None and self.calendar is None:
            raise WrongValueError("has `holidays` without a calendar; add `calendar` with the name of one")
        if self.business_day_starts is not None and self.holidays is None:
            raise WrongValueError("has `business_day_starts` without `holidays`; add `holidays: skip`, or remove it")
        if self.calendar is not None and self.holidays is None and not self._asks_business_days():
            raise WrongValueError("has a calendar that nothing uses; add `holidays: skip`, or remove the calendar")
        if self.holidays not in (None, "skip") and self.cron is None and self.repeat is None:
            raise WrongValueError(f"has `holidays: {self.holidays}` for slots that can't move; write `holidays: skip`")
        return self

    def _asks_business_days(self) -> bool:
        return self.repeat is not None and any("business day" in word for word in self.repeat.on or ())


Schedules = Annotated[
    Annotated[ScheduleModel, Tag(SHORT_FORM)]
    | Annotated[list[ScheduleModel], Field(min_length=1, max_length=MAX_SCHEDULES), Tag(LONG_FORM)],
    Discriminator(_form),
]
"""One schedule, or a list of them."""


class WindowModel(FileModel):
    """The times of day between which a job may start, in its zone; also over midnight."""

    start: Annotated[TimeOfDay, Field(alias="from")]
    end: Annotated[TimeOfDay, Field(alias="to")]

    @model_validator(mode="after")
    def _open(self) -> Self:
        if self.start == self.end:
            raise WrongValueError("ends when it begins; write two different times, or remove the window")
        return self


class CalendarModel(FileModel):
    """Which dates are holidays, and which weekdays are the weekend."""

    country: Short | None = None
    subdivision: Short | None = None
    market: Short | None = None
    dates: Dates
    add: Dates
    remove: Dates
    weekend: Weekend | None = None
    union: Names

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if self.subdivision is not None and self.country is None:
            raise WrongValueError("has a subdivision without its country; add `country`")
        sources = (self.country, self.market, self.weekend)
        if all(source is None for source in sources) and not (self.dates or self.add or self.union):
            raise WrongValueError("names no days; write country, market, dates, weekend or union")
        both = sorted({*self.dates, *self.add} & {*self.remove})
        if both:
            raise WrongValueError(f"both adds and removes {both[0]}; keep one of them")
        if len(self.dates) + len(self.add) + len(self.remove) > MAX_DATES:
            raise WrongValueError(f"holds more than {MAX_DATES} dates; remove some")
        return self
