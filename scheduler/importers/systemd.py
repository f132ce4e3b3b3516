"""systemd timers, and the services they start, to jobs. Pure.

A timer alone becomes a watched job; with its service beside it, the job runs the service's command. What a timer says
about lateness (RandomizedDelaySec, AccuracySec) becomes jitter and a limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from scheduler.cron import ScheduleError, parse_cron
from scheduler.fitting import narrow_gap
from scheduler.importers.calendar_texts import CalendarText, CalendarTextError, read_calendar_text
from scheduler.importers.cron_notes import uneven_steps
from scheduler.importers.cron_schedules import ZONE
from scheduler.importers.imported import Document, Gathering, Imported, Options, Source
from scheduler.importers.services import read_service
from scheduler.importers.time_spans import systemd_span
from scheduler.importers.units import Unit, Value, read_unit, true
from scheduler.instants import format_duration, format_instant, parse_duration
from scheduler.jobs import REBOOT, Dialect, Schedule

_DEFAULT_ACCURACY = timedelta(minutes=1)
_AT_BOOT = ("OnBootSec", "OnStartupSec", "OnActiveSec")
_RELATIVE = (*_AT_BOOT, "OnUnitActiveSec", "OnUnitInactiveSec")
_CARRIED = frozenset({"OnCalendar", "RandomizedDelaySec", "AccuracySec", "Persistent", "Unit", *_RELATIVE})
_NO_MEANING = frozenset({"Install"})


def read_systemd(sources: Sequence[Source], options: Options) -> Imported:
    """Every timer of the files, with its service where that is among them. Nothing in them raises."""
    gathering = Gathering()
    units = [read_unit(source.name, source.text) for source in sources]
    services = {f"{unit.stem}.service": unit for unit in units if "Service" in unit.sections}
    timers = [unit for unit in units if "Timer" in unit.sections]
    if len(timers) == 1 and len(services) == 1 and "-" in (timers[0].name, *services):
        services = {_service_name(timers[0]): next(iter(services.values()))}
    for unit in timers:
        _Timer(unit, services.get(_service_name(unit)), options, gathering).read()
    return gathering.result("there is no [Timer] section in it; give the .timer file", sources[0].name)


def _service_name(timer: Unit) -> str:
    return timer.last("Timer", "Unit") or f"{timer.stem}.service"


@dataclass(slots=True)
class _Timer:
    """One timer while its keys are taken."""

    unit: Unit
    service: Unit | None
    options: Options
    gathering: Gathering
    schedules: list[Document] = field(default_factory=list)
    without_zone: bool = False

    def say(self, code: str, value: Value | None, message: str) -> None:
        where = f"{self.unit.name}:{value.line}" if value else self.unit.name
        self.gathering.say(code, where, message)

    def read(self) -> None:
        jitter = self._span("RandomizedDelaySec")
        for value in self.unit.all("Timer", "OnCalendar"):
            self._calendar(value)
        self._relative()
        if not self.schedules:
            return
        job_id = self.gathering.new_id(self.unit.stem.strip("-") or "timer")
        started = _service_name(self.unit)
        run = read_service(self.service, self.gathering) if self.service else None
        if self.service is None:
            self.say(
                "no_service", None, f"{started} was not given, so the job is only watched; give it as another FILE"
            )
        if self.without_zone:
            self.say(
                "missing_zone", None, f"OnCalendar without a zone is in the host's own, and there is no --tz; {ZONE}"
            )
        self._left_behind()
        delay = self._jitter(jitter, own=run is not None) if jitter else timedelta(0)
        self.gathering.add(
            {
                "id": job_id,
                "description": self.unit.last("Unit", "Description") or self._described(),
                "labels": {"unit": started} if started != f"{job_id}.service" else {},
                "schedule": self.schedules[0] if len(self.schedules) == 1 else self.schedules,
                "on_time": self._on_time(delay),
                "run": run,
                "overlap": "forbid",
                "catch_up": "latest" if true(self.unit.last("Timer", "Persistent")) else "none",
            }
        )

    def _described(self) -> str:
        return self.service.last("Unit", "Description") if self.service else ""

    def _calendar(self, value: Value) -> None:
        try:
            found = read_calendar_text(value.text)
            schedule = self._schedule(found)
        except CalendarTextError as error:
            self.say(error.code, value, f"OnCalendar={value.text}: {error}")
            return
        for code, said in found.notes:
            self.say(code, value, f"OnCalendar={value.text}: {said}")
        if found.cron and found.dialect == "crontab":
            for said in uneven_steps(found.cron):
                self.say("uneven_step", value, f"OnCalendar={value.text}: {said}")
        if schedule not in self.schedules:
            self.schedules.append(schedule)

    def _schedule(self, found: CalendarText) -> Document:
        zone = found.zone or self.options.zone
        if found.at is not None:
            return self._fixed(found.at, zone)
        assert found.cron is not None
        try:
            parse_cron(found.cron, "quartz" if found.dialect == "quartz" else "crontab")
        except ScheduleError as error:
            code = "never_fires" if "can never fire" in str(error) else "bad_schedule"
            raise CalendarTextError(str(error), code) from None
        self.without_zone |= zone is None
        dialect = {} if found.dialect == "crontab" else {"dialect": found.dialect}
        timezone = {"timezone": zone} if zone else {}
        return {"cron": found.cron, **dialect, **timezone, "dst": "skip"}

    def _fixed(self, at: str, zone: str | None) -> Document:
        if zone is None:
            raise CalendarTextError("a single instant needs a zone to be written as one; give --tz", "year")
        try:
            local = datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(zone))
        except ValueError as error:
            raise CalendarTextError(f"{at} is no date: {error}") from None
        if local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None):
            raise CalendarTextError(f"{at} does not exist in {zone}: clocks go forward over it", "never_fires")
        return {"at": [format_instant(local)], "timezone": zone}

    def _relative(self) -> None:
        """Timers counted from a start: an interval where one is named, a start with the host where only that is."""
        active, inactive = self.unit.all("Timer", "OnUnitActiveSec"), self.unit.all("Timer", "OnUnitInactiveSec")
        for value in inactive:
            said = f"OnUnitInactiveSec={value.text} counts from the end of the last run, which no schedule can"
            self.say("monotonic", value, said)
        for value in active:
            self._every(value)
        at_boot = [(key, value) for key in _AT_BOOT for value in self.unit.all("Timer", key)]
        for key, value in at_boot:
            self._boot(key, value, alone=not (active or inactive or self.unit.all("Timer", "OnCalendar")))

    def _every(self, value: Value) -> None:
        span = systemd_span(value.text)
        if not span:
            self.say(
                "monotonic",
                value,
                f"OnUnitActiveSec={value.text} is not a time span above zero; write it like 1h 30min",
            )
            return
        timezone = {"timezone": self.options.zone} if self.options.zone else {}
        self.without_zone |= self.options.zone is None
        self.schedules.append({"every": format_duration(span), **timezone})
        said = (
            f"OnUnitActiveSec={value.text} counts from the unit's last start, not from the wall clock;"
            f" set `schedule.anchor` to an instant of a start"
        )
        self.say("anchor", value, said)

    def _boot(self, key: str, value: Value, *, alone: bool) -> None:
        if alone and not any(schedule.get("cron") == REBOOT for schedule in self.schedules):
            timezone = {"timezone": self.options.zone} if self.options.zone else {}
            self.without_zone |= self.options.zone is None
            self.schedules.append({"cron": REBOOT, **timezone})
            said = (
                f"{key}={value.text}: a start after the host's or systemd's; it has no slots and is left out of on-time"
            )
            self.say("reboot", value, said)
        else:
            self.say(
                "not_carried",
                value,
                f"{key}={value.text}: an extra start after the host's or systemd's, which has no slot",
            )

    def _span(self, key: str) -> timedelta | None:
        values = self.unit.all("Timer", key)
        if not values:
            return None
        span = systemd_span(values[-1].text)
        if span is None:
            self.say("not_carried", values[-1], f"{key}={values[-1].text} is not a time span; write it like 1h 30min")
        return span

    def _jitter(self, jitter: timedelta, *, own: bool) -> timedelta:
        """Writes the jitter where a job file may hold it; answers what has to be allowed as lateness instead."""
        fits = True
        for schedule in self.schedules:
            fits &= schedule.get("cron") != REBOOT and not _too_wide(schedule, jitter, own=own)
        if fits:
            for schedule in self.schedules:
                schedule["jitter"] = format_duration(jitter)
            return timedelta(0)
        said = f"RandomizedDelaySec={format_duration(jitter)} is not below the gap between slots, as jitter must be"
        self.say(
            "not_carried", self.unit.all("Timer", "RandomizedDelaySec")[-1], f"{said}; allowed as lateness instead"
        )
        return jitter

    def _on_time(self, delay: timedelta) -> Document:
        # The limit counts from slot plus jitter, so AccuracySec is all that is left to allow.
        accuracy = self._span("AccuracySec")
        limit = max(_DEFAULT_ACCURACY, accuracy or timedelta(0)) + delay
        return {"start_within": format_duration(limit)} if limit > _DEFAULT_ACCURACY else {}

    def _left_behind(self) -> None:
        for section, keys in self.unit.sections.items():
            if section in _NO_MEANING:
                continue
            carried = _CARRIED if section == "Timer" else {"Description"} if section == "Unit" else frozenset()
            for key, values in keys.items():
                if key not in carried and values:
                    self.say(
                        "not_carried", values[-1], f"{key}={values[-1].text} of [{section}] has no key in a job file"
                    )


def _too_wide(schedule: Document, jitter: timedelta, *, own: bool) -> bool:
    if "every" in schedule:
        return jitter >= parse_duration(schedule["every"])
    if not own or "cron" not in schedule:
        return False
    zone = schedule.get("timezone", "UTC")
    dialect: Dialect = "quartz" if schedule.get("dialect") == "quartz" else "crontab"
    return (
        narrow_gap(Schedule(timezone=zone, cron=schedule["cron"], dialect=dialect, dst="skip", jitter=jitter))
        is not None
    )
