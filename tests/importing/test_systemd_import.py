"""Timers and their services as jobs and findings. F11."""

import re
import shutil
import subprocess
from datetime import UTC, datetime, time, timedelta

import pytest
from importing.conftest import Load, codes, errors, options, said, sample

from scheduler.importers.calendar_texts import CalendarTextError, read_calendar_text
from scheduler.importers.imported import Imported, Source
from scheduler.importers.systemd import read_systemd
from scheduler.importers.time_spans import go_duration, systemd_span
from scheduler.jobs import Schedule
from scheduler.timelaw import jitter_bound, next_slot, slots_between

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


def timer(*lines: str, service: str = "", **given: object) -> Imported:
    sources = [Source("x.timer", "[Timer]\n" + "\n".join(lines) + "\n")]
    sources += [Source("x.service", f"[Service]\n{service}")] if service else []
    return read_systemd(sources, options(**given))


def times(text: str) -> list[str]:
    """The times of a day that a calendar text names."""
    schedule = _schedule(text)
    return [
        slot.strftime("%H:%M")
        for slot in slots_between(schedule, NEW_YEAR - timedelta(seconds=1), NEW_YEAR + timedelta(days=1, seconds=-1))
    ]


def _schedule(text: str) -> Schedule:
    found = read_calendar_text(text)
    return Schedule(
        timezone=found.zone or "UTC",
        cron=found.cron,
        dialect="quartz" if found.dialect == "quartz" else "crontab",
        dst="skip",
    )


def test_f11_a_comma_between_two_times_binds_to_the_minute(load: Load) -> None:
    imported = read_systemd([sample("apt-like.timer")], options())
    job = load(imported)["apt-like"]
    assert job.schedule is not None
    day = slots_between(job.schedule, NEW_YEAR - timedelta(seconds=1), NEW_YEAR + timedelta(hours=23))
    assert [slot.strftime("%H:%M") for slot in day] == ["06:00", "06:18"]
    assert "the comma binds to the minute" in said(imported, "comma_binds")[0]
    assert "did you mean 6,18:00?" in said(imported, "comma_binds")[0]
    assert times("*-*-* 6,18:00") == ["06:00", "18:00"]


def test_f11_delay_and_accuracy_are_the_lateness_that_is_allowed(load: Load) -> None:
    job = load(read_systemd([sample("apt-like.timer")], options()))["apt-like"]
    assert job.schedule is not None and job.on_time.start_within is not None
    assert (jitter_bound(job.schedule) + job.on_time.start_within).total_seconds() == 46800
    assert job.catch_up == "latest"
    assert job.schedule.dst == "skip"


def test_a_service_beside_the_timer_is_the_command(load: Load) -> None:
    imported = read_systemd([sample("backup.timer"), sample("backup.service")], options())
    job = load(imported)["backup"]
    assert job.run is not None and job.schedule is not None
    assert job.run.argv == ("/usr/local/bin/backup", "--target", "/mnt/nas one")
    assert (job.run.cwd, job.run.timeout, dict(job.run.env)) == ("/srv/ledger", timedelta(hours=2), {"LEVEL": "full"})
    assert len(job.schedule.also) == 1 and job.schedule.jitter == timedelta(minutes=5)
    assert (job.overlap, job.catch_up) == ("forbid", "none")
    assert "open sesame" not in f"{imported.jobs}{imported.findings}" and errors(imported) == ["secret"]
    told = " ".join(said(imported, "not_carried"))
    assert all(word in told for word in ("OnBootSec=10min", "WakeSystem=true", "User=backup", "After=network-online"))


def test_a_timer_without_its_service_is_a_watched_job(load: Load) -> None:
    imported = timer("OnCalendar=daily", "Unit=other.service", zone="UTC")
    assert load(imported)["x"].run is None and imported.jobs[0]["labels"] == {"unit": "other.service"}
    assert "other.service was not given" in said(imported, "no_service")[0]


@pytest.mark.parametrize(
    ("delay", "jitter", "within"), [("59min", "59m", None), ("1h", None, "61m"), ("61min", None, "62m")]
)
def test_a_delay_as_long_as_the_gap_is_allowed_as_lateness_instead(
    load: Load, delay: str, jitter: str | None, within: str | None
) -> None:
    imported = timer("OnCalendar=hourly", f"RandomizedDelaySec={delay}", service="ExecStart=/bin/a\n", zone="UTC")
    load(imported)
    assert imported.jobs[0]["schedule"].get("jitter") == jitter
    assert imported.jobs[0].get("on_time", {}).get("start_within") == within


@pytest.mark.parametrize(("accuracy", "within"), [("1us", None), ("1min", None), ("61s", "61s"), ("1h", "1h")])
def test_accuracy_above_the_default_minute_is_the_limit(accuracy: str, within: str | None) -> None:
    imported = timer("OnCalendar=daily", f"AccuracySec={accuracy}")
    assert imported.jobs[0].get("on_time", {}).get("start_within") == within


def test_an_interval_from_the_last_start_has_no_known_anchor(load: Load) -> None:
    imported = timer("OnBootSec=15min", "OnUnitActiveSec=1d", zone="UTC")
    schedule = load(imported)["x"].schedule
    assert schedule is not None and schedule.every == timedelta(days=1)
    assert {"anchor", "not_carried"} <= set(codes(imported))


def test_a_start_with_the_host_has_no_slots(load: Load) -> None:
    imported = timer("OnBootSec=15min", "RandomizedDelaySec=1min", zone="UTC")
    schedule = load(imported)["x"].schedule
    assert schedule is not None and next_slot(schedule, NEW_YEAR) is None
    assert "reboot" in codes(imported)


def test_an_interval_from_the_end_of_a_run_is_an_error() -> None:
    imported = timer("OnUnitInactiveSec=1h")
    assert errors(imported) == ["monotonic"] and imported.jobs == ()


def test_an_empty_value_takes_back_what_was_said_before() -> None:
    imported = timer("OnCalendar=daily", "OnCalendar=", "OnCalendar=hourly", zone="UTC")
    assert imported.jobs[0]["schedule"]["cron"] == "0 * * * *"


def test_a_bad_calendar_line_leaves_the_good_one() -> None:
    imported = timer("OnCalendar=Sun..Mon 6:00", "OnCalendar=7:00", zone="UTC")
    assert errors(imported) == ["bad_schedule"] and imported.findings[0].where == "x.timer:2"
    assert imported.jobs[0]["schedule"]["cron"] == "0 7 * * *"


def test_one_instant_in_its_zone_is_a_fixed_slot(load: Load) -> None:
    imported = timer("OnCalendar=2026-12-24 18:00 Europe/Berlin")
    schedule = load(imported)["x"].schedule
    assert schedule is not None and schedule.at == (datetime(2026, 12, 24, 17, tzinfo=UTC),)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("*-*-* 06:00:30", "seconds"),
        ("6:00,18:30", "seconds"),
        ("2026..2028-01-01", "year"),
        ("Mon *-*-10..12", "day_and_weekday"),
        ("Mon *-*~3", "day_and_weekday"),
        ("Fri *-*-13", "day_and_weekday"),
        ("*-*-* 6:00 Mars/Olympus", "unknown_zone"),
        ("Sun..Mon", "bad_schedule"),
        ("*/2:00", "bad_schedule"),
        ("25:00", "bad_schedule"),
        ("*-*-0", "bad_schedule"),
        ("Mon.. 6:00", "bad_schedule"),
        ("nonsense", "bad_schedule"),
        ("@1700000000", "bad_schedule"),
        ("", "bad_schedule"),
    ],
)
def test_what_has_no_exact_cron_text_is_an_error_with_its_code(text: str, code: str) -> None:
    with pytest.raises(CalendarTextError) as caught:
        read_calendar_text(text)
    assert caught.value.code == code


SECOND_OPINIONS = (
    "minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "semiannually", "yearly",
    "Mon..Fri *-*-* 02:30:00", "Sat,Sun 4:00", "Mon,Wed..Fri 3:00", "*:0/15", "0/6:30", "1..9/4:05,35",
    "*-*-1/2", "*-*-01,15 12:00", "*-*-31", "12-31", "*-2-29 0:0", "*-1/3-01", "Mon *-*-1..7", "Tue,Thu *-*-8..14 6:00",
    "Mon *-*-1,15 9:00", "Sun *-*-2..5 9:00", "Mon *-05~07/1", "Sat,Sun *-*~7/1", "*-*~1", "*-*~3", "*-*~10/3",
    "*-*~1..3", "*-02~1", "6:00,18:00", "*-*-* 00:00:00 UTC", "Sun 2:30 UTC", "Sat *-*-1..7,15..21 5:05",
)  # fmt: skip
"""Every form of a calendar text that is carried over. Those that are not are listed above, each with its reason."""


def _systemds_own(text: str, count: int) -> list[datetime]:
    command = ["systemd-analyze", "calendar", f"--iterations={count}", "--base-time=2025-12-31 23:30:00 UTC", text]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"TZ": "UTC", "PATH": "/usr/bin:/bin"}
    )
    found = re.findall(
        r"(?:Next elapse|Iter(?:\.|ation) #\d+): \w{3} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", done.stdout
    )
    slots = [datetime.fromisoformat(one).replace(tzinfo=UTC) for one in found]
    return [slot for slot in slots if slot >= NEW_YEAR]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
@pytest.mark.parametrize("text", SECOND_OPINIONS)
def test_a_calendar_text_names_the_slots_that_systemd_itself_names(text: str) -> None:
    theirs = _systemds_own(text, 60)
    assert len(theirs) > 30
    assert slots_between(_schedule(text), NEW_YEAR - timedelta(seconds=1), theirs[-1]) == theirs


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_a_repetition_that_does_not_divide_the_hour_agrees_with_systemd_but_for_midnight() -> None:
    # After 23:56 systemd 252 goes on at 00:07, though its manual starts `0/7` at 0 in every hour. Its other hours do.
    theirs = _systemds_own("*:0/7", 300)
    ours = slots_between(_schedule("*:0/7"), NEW_YEAR - timedelta(seconds=1), theirs[-1])
    assert set(theirs) <= set(ours)
    assert {slot.time() for slot in set(ours) - set(theirs)} <= {time(0)}


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("90", timedelta(seconds=90)),
        ("1h 30min", timedelta(minutes=90)),
        ("12h", timedelta(hours=12)),
        ("5.5s", timedelta(seconds=5.5)),
        ("1w 2d", timedelta(days=9)),
        ("1us", timedelta(microseconds=1)),
        ("infinity", None),
        ("", None),
        ("5 parsecs", None),
    ],
)
def test_spans_are_read_as_systemd_writes_them(text: str, span: timedelta | None) -> None:
    assert systemd_span(text) == span


@pytest.mark.parametrize(
    ("text", "span"),
    [("1h30m", timedelta(minutes=90)), ("500ms", timedelta(milliseconds=500)), ("0s", None), ("1d", None), ("", None)],
)
def test_durations_are_read_as_go_writes_them(text: str, span: timedelta | None) -> None:
    assert go_duration(text) == span


@pytest.mark.parametrize(
    ("service", "run"),
    [
        ("ExecStart=/bin/a 'b c' 100%%\n", {"command": ["/bin/a", "b c", "100%"]}),
        (
            "ExecStart=-/bin/a\nExecStart=/bin/b ; c\n",
            {"command": "{ /bin/a || true; } && /bin/b ';' c", "shell": True},
        ),
        ("ExecStart=/bin/a\nExecStart=-/bin/b $X\n", {"command": "/bin/a && /bin/b $X", "shell": True}),
    ],
)
def test_command_lines_keep_their_words(service: str, run: dict[str, object]) -> None:
    found = timer("OnCalendar=daily", service=f"Type=oneshot\n{service}").jobs[0]["run"]
    assert found == {**run, "timeout": "1d"}


def test_a_specifier_that_only_systemd_knows_is_an_error() -> None:
    imported = timer("OnCalendar=daily", service="ExecStart=/bin/a %i\n")
    assert errors(imported) == ["specifier"] and "run" not in imported.jobs[0]
