"""What bounds a job's runs, as files say it: batch window, catch-up, start deadline, overlap, kept history."""

from datetime import timedelta

import pytest
from definitions.reading import Write, fault_of, job_of

from scheduler.jobs import History, Window

TIME = 'write it in quotes, from "00:00" to "23:59"'
DAILY = 'schedule: {cron: "@daily"}\n    '


def window_fault(write: Write, window: str) -> str:
    """What is said about a window on the line below a schedule."""
    return fault_of(write, f"window: {window}\n    schedule: {{every: 1m}}")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ('{from: "22:00", to: "05:00"}', 79_200, 18_000),
        ('{from: "00:00", to: "23:59"}', 0, 86_340),
        ('{from: "23:59", to: "00:00"}', 86_340, 0),
        # YAML takes a time with a leading zero for text.
        ("{from: 05:30, to: 06:00}", 19_800, 21_600),
    ],
)
def test_a_window_is_seconds_since_midnight_in_the_defaults_zone(write: Write, text: str, start: int, end: int) -> None:
    assert job_of(write, f"{DAILY}window: {text}").window == Window(start=start, end=end, timezone="UTC")


@pytest.mark.parametrize(
    "schedule",
    [
        '{cron: "@daily", timezone: Asia/Jakarta}',
        '[{cron: "@daily", timezone: Asia/Jakarta}, {every: 1h, timezone: Europe/Berlin}]',
        '[{cron: "@reboot", timezone: Asia/Jakarta}, {every: 1h}]',
    ],
)
def test_a_window_is_in_the_zone_of_the_first_schedule(write: Write, schedule: str) -> None:
    window = job_of(write, f'schedule: {schedule}\n    window: {{from: "22:00", to: "05:00"}}').window
    assert window is not None
    assert window.timezone == "Asia/Jakarta"


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ("22:00-05:00", "window: '22:00-05:00' is not a mapping; write keys and values: {key: value}"),
        ('{from: "22:00"}', "window.to: is required; add `to`"),
        ('{from: "22:00", to: "05:00", of: x}', "window.of: is not a known key; use one of from, to"),
        ('{from: "22:00", to: "05:00", start: x}', "window.start: is not a known key; use one of from, to"),
        ('{from: "22:00", to: "24:00"}', "window.to: '24:00' is not a time of day; write \"00:00\", which is midnight"),
        ('{from: "9:00", to: "10:00"}', "window.from: '9:00' is not a time of day; write \"09:00\""),
        ('{from: "22:00:00", to: "05:00"}', f"window.from: '22:00:00' is not a time of day; {TIME}"),
        ('{from: "22:60", to: "05:00"}', f"window.from: '22:60' is not a time of day; {TIME}"),
        ('{from: 22, to: "05:00"}', f"window.from: '22' is a number, not a time of day; {TIME}"),
        ('{from: 22.30, to: "05:00"}', f"window.from: '22.30' is a number, not a time of day; {TIME}"),
        ('{from: on, to: "05:00"}', f"window.from: 'on' is not a time of day; {TIME}"),
        (
            '{from: 22:00, to: "05:00"}',
            "window.from: '22:00' is a number to base 60 in YAML; quote the time: \"22:00\"",
        ),
        (
            '{from: "22:00", to: "22:00"}',
            "window: ends when it begins; write two different times, or remove the window",
        ),
    ],
)
def test_a_wrong_window_is_refused(write: Write, window: str, said: str) -> None:
    assert window_fault(write, window) == said


@pytest.mark.parametrize("schedule", ["", '\n    schedule: {cron: "@reboot"}'])
def test_a_window_without_slots_to_hold_is_refused(write: Write, schedule: str) -> None:
    assert fault_of(write, f'window: {{from: "22:00", to: "05:00"}}{schedule}') == (
        "window: has no slots to hold, because the job has no schedule that names any;"
        " add a schedule, or remove the window"
    )


@pytest.mark.parametrize(
    ("text", "mode", "limit", "deadline"),
    [
        ("none", "none", 100, None),
        ("latest", "latest", 100, None),
        ("all", "all", 100, None),
        ("{mode: all}", "all", 100, None),
        ("{mode: all, limit: 1}", "all", 1, None),
        ("{mode: all, limit: 10000, deadline: 6h}", "all", 10_000, timedelta(hours=6)),
        ("{mode: latest, deadline: 6h}", "latest", 100, timedelta(hours=6)),
    ],
)
def test_catch_up_is_a_word_or_a_mode_with_bounds(
    write: Write, text: str, mode: str, limit: int, deadline: timedelta | None
) -> None:
    job = job_of(write, f"catch_up: {text}")
    assert (job.catch_up, job.catch_up_limit, job.catch_up_deadline) == (mode, limit, deadline)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lots", "catch_up: 'lots' is not one of the words known here; use 'none', 'latest' or 'all'"),
        ("3", "catch_up: '3' is not one of the words known here; use 'none', 'latest' or 'all'"),
        ("{mode: lots}", "catch_up.mode: 'lots' is not one of the words known here; use 'none', 'latest' or 'all'"),
        ("{limit: 20}", "catch_up.mode: is required; add `mode`"),
        (
            "{mode: all, limit: 0}",
            "catch_up.limit: '0' is below 1; write 1 or more, or `catch_up: none` to make nothing up",
        ),
        ("{mode: all, limit: 10001}", "catch_up.limit: '10001' is above 10000; write a lower limit"),
        ("{mode: all, limit: yes}", "catch_up.limit: 'yes' should be a valid integer; write another value"),
        ("{mode: all, deadline: 0s}", "catch_up.deadline: '0s' must be above zero; write a longer duration"),
        ("{mode: all, deadline: 3}", "catch_up.deadline: '3' has no unit; write it with one: 3s, 3m, 3h"),
        ("{mode: all, limt: 3}", "catch_up.limt: is not a known key; did you mean `limit`?"),
        (
            "{mode: latest, limit: 3}",
            "catch_up: has a limit with `mode: latest`; write `mode: all`, or remove the limit",
        ),
        (
            "{mode: none, deadline: 3h}",
            "catch_up: has a deadline with `mode: none`; write another mode, or remove the deadline",
        ),
    ],
)
def test_a_wrong_catch_up_is_refused(write: Write, text: str, said: str) -> None:
    assert fault_of(write, f"catch_up: {text}") == said


def test_a_zero_is_never_taken_for_missing(write: Write) -> None:
    assert "limit: '0' is below 1" in fault_of(write, "catch_up: {mode: latest, limit: 0}")
    assert job_of(write, "history: {succeeded: 0, failed: 0}").history == History(succeeded=0, failed=0)


@pytest.mark.parametrize(
    ("text", "start", "run"),
    [
        ("{start: 200s, run: 2h}", timedelta(seconds=200), timedelta(hours=2)),
        ("{start: 200s}", timedelta(seconds=200), None),
        ("{run: 2h}", None, timedelta(hours=2)),
    ],
)
def test_a_deadline_is_for_the_start_or_for_the_end_or_both(
    write: Write, text: str, start: timedelta | None, run: timedelta | None
) -> None:
    job = job_of(write, f"deadline: {text}")
    assert (job.start_deadline, job.run_deadline) == (start, run)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "deadline: is empty; write start, run or both"),
        ("{start: 0s}", "deadline.start: '0s' must be above zero; write a longer duration"),
        ("{start: 200}", "deadline.start: '200' has no unit; write it with one: 200s, 200m, 200h"),
        ("{strt: 1m}", "deadline.strt: is not a known key; did you mean `start`?"),
        ("5m", "deadline: '5m' is not a mapping; write keys and values: {key: value}"),
    ],
)
def test_a_wrong_deadline_is_refused(write: Write, text: str, said: str) -> None:
    assert fault_of(write, f"deadline: {text}") == said


@pytest.mark.parametrize("overlap", ["forbid", "allow", "replace", "queue"])
def test_overlap_is_one_of_four_words(write: Write, overlap: str) -> None:
    assert job_of(write, f"overlap: {overlap}").overlap == overlap


def test_another_word_for_overlap_is_refused_with_the_four(write: Write) -> None:
    said = "overlap: 'maybe' is not one of the words known here; use 'forbid', 'allow', 'replace' or 'queue'"
    assert fault_of(write, "overlap: maybe") == said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{succeeded: 3, failed: 1}", History(succeeded=3, failed=1)),
        ("{succeeded: 0}", History(succeeded=0)),
        ("{failed: 1000000}", History(failed=1_000_000)),
    ],
)
def test_history_keeps_what_it_does_not_name(write: Write, text: str, expected: History) -> None:
    assert job_of(write, f"history: {text}").history == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "history: is empty; write succeeded, failed or both"),
        ("3", "history: '3' is not a mapping; write keys and values: {key: value}"),
        (
            "{succeeded: -1}",
            "history.succeeded: '-1' should be greater than or equal to 0; write another value",
        ),
        (
            "{failed: 1000001}",
            "history.failed: '1000001' should be less than or equal to 1000000; write another value",
        ),
        ("{failed: 1.5}", "history.failed: '1.5' should be a valid integer; write another value"),
        ("{kept: 3}", "history.kept: is not a known key; use one of succeeded, failed"),
    ],
)
def test_a_wrong_history_is_refused(write: Write, text: str, said: str) -> None:
    assert fault_of(write, f"history: {text}") == said
