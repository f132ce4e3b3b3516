"""Schedules in job files: every kind and every key, and for each wrong one the words that its author reads."""

from datetime import UTC, date, datetime, timedelta

import pytest
from definitions.reading import Write, fault_of, faults_of, job_of, problem_of, problems_of, schedule_of

from scheduler.cron_spread import spread
from scheduler.definitions import load_folder
from scheduler.jobs import Repeat, Schedule
from scheduler.schedule_models import MAX_SCHEDULES
from scheduler.timelaw import next_slot

FIVE = "five fields: minute hour day month weekday"
SIX = "six fields: second minute hour day month weekday, and maybe a year"
MONTH_DAY = "write one like 15, last day, last business day, 3rd business day, 2nd tuesday or last friday"
WEEKDAY = "use monday, tuesday, wednesday, thursday, friday, saturday, sunday"
TIME = 'write it in quotes, from "00:00" to "23:59"'
INTERVAL = "is not a calendar interval of up to 999 units; write it like day, 2 weeks, month, 3 months or year"


@pytest.mark.parametrize(
    ("macro", "fields"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_macros_become_five_fields(write: Write, macro: str, fields: str) -> None:
    assert schedule_of(write, f'{{cron: "{macro}"}}').cron == fields


@pytest.mark.parametrize(
    ("cron", "said"),
    [
        ("61 * * * *", "is not a cron expression: '61' is not a minute; use 0-59, lists, ranges and steps"),
        ("5-2 * * * *", "is not a cron expression: '5-2' runs backwards in the minute field; write two ranges"),
        ("* * * *", f"is not a cron expression; write {FIVE}"),
        ("CRON_TZ=Asia/Tokyo 5 9 * * *", "holds a time zone; write the zone as `timezone` beside `cron`"),
        ("TZ=Europe/Berlin 0 2 * * *", "holds a time zone; write the zone as `timezone` beside `cron`"),
        ("0 0 30 2 *", "can never fire; write a day that one of its months has"),
        ("0 0 31 4,6,9,11 *", "can never fire; write a day that one of its months has"),
        (
            "0 0 12 ? * MON-FRI",
            (
                f"is not a cron expression; write {FIVE},"
                " or add `dialect: quartz` (seconds first) or `dialect: aws` (year last)"
            ),
        ),
        (
            "@reeboot",
            (
                f"is not a known macro; write {FIVE}, or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly,"
                " @annually, @reboot"
            ),
        ),
        ("H(9 3 * * *", "is not a cron expression: 'H(9' is not understood; write H, H/15, H(0-29) or H(0-29)/10"),
        ("H(50-70) 3 * * *", "is not a cron expression: 'H(50-70)' leaves the minute field; use 0-59"),
    ],
)
def test_a_cron_text_that_names_no_slots_is_refused_with_a_remedy(write: Write, cron: str, said: str) -> None:
    assert fault_of(write, f'schedule: {{cron: "{cron}"}}') == f"schedule.cron: '{cron}' {said}"


def test_an_empty_cron_text_is_refused_with_a_remedy(write: Write) -> None:
    assert fault_of(write, 'schedule: {cron: ""}') == f"schedule.cron: is not a cron expression; write {FIVE}"


@pytest.mark.parametrize(("first", "tens", "length"), [("", 64, 199), ("1,1,", 63, 200)])
def test_a_cron_text_may_have_two_hundred_characters(write: Write, first: str, tens: int, length: int) -> None:
    text = f"{first}{','.join(['10'] * tens)} * * * *"
    assert len(text) == length
    assert schedule_of(write, f'{{cron: "{text}"}}').cron == text


def test_a_cron_text_of_one_character_more_is_refused(write: Write) -> None:
    text = f"1,{','.join(['10'] * 64)} * * * *"
    assert len(text) == 201
    problem = problem_of(write, f'schedule: {{cron: "{text}"}}')
    assert (problem.message, problem.remedy) == (
        "is longer than 200 characters",
        "split it into several schedules",
    )


def test_a_day_that_comes_once_in_four_years_is_no_never(write: Write) -> None:
    assert schedule_of(write, '{cron: "0 0 29 2 *"}').cron == "0 0 29 2 *"


def test_blanks_inside_a_cron_text_make_no_new_version(write: Write) -> None:
    assert schedule_of(write, '{cron: "  0   2 * *  * "}') == schedule_of(write, '{cron: "0 2 * * *"}')


def test_a_job_at_the_hosts_start_has_no_slots_whether_it_is_run_here_or_watched(write: Write) -> None:
    folder = write("""
        defaults: {timezone: UTC}
        jobs:
          - {id: run, schedule: {cron: "@reboot"}, run: {command: [df]}}
          - {id: watched, schedule: {cron: "@Reboot"}}
        """)
    for job in load_folder(folder).jobs:
        assert job.schedule == Schedule(timezone="UTC", cron="@reboot")
        assert next_slot(job.schedule, datetime(2026, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize("key", ["jitter: 3s", "dst: skip", "business_day_starts: '06:00'", "holidays: skip"])
def test_a_start_with_the_host_takes_no_key_about_slots(write: Write, key: str) -> None:
    name = key.partition(":")[0]
    expected = f"schedule: has `{name}` with @reboot, which names no slots; remove `{name}`"
    assert fault_of(write, f'schedule: {{cron: "@reboot", {key}}}') == expected


def test_a_start_with_the_host_may_say_what_holds_anyway(write: Write) -> None:
    expected = Schedule(timezone="UTC", cron="@reboot")
    assert schedule_of(write, '{cron: "@reboot", jitter: 0s, dst: once, dialect: crontab}') == expected


def test_h_is_spread_by_the_id_of_the_job_and_stays_in_its_definition(write: Write) -> None:
    folder = write("""
        defaults: {timezone: UTC}
        jobs:
          - {id: a, schedule: {cron: "H H(1-4) * * *"}}
          - {id: b, schedule: [{every: 1h}, {cron: "H H(1-4) * * *"}]}
        """)
    first, second = load_folder(folder).jobs
    assert first.schedule is not None
    assert second.schedule is not None
    assert first.schedule.cron == spread("H H(1-4) * * *", "a")
    assert second.schedule.also[0].cron == spread("H H(1-4) * * *", "b")
    assert first.schedule.cron != second.schedule.also[0].cron
    assert "H" not in first.schedule.cron


@pytest.mark.parametrize(("dialect", "text"), [("quartz", "0 0 12 ? * MON-FRI"), ("aws", "0/2 * ? * MON-FRI *")])
def test_a_dialect_is_read_only_where_it_is_named(write: Write, dialect: str, text: str) -> None:
    schedule = schedule_of(write, f'{{cron: "{text}", dialect: {dialect}}}')
    assert (schedule.cron, schedule.dialect) == (text, dialect)


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (
            '{cron: "0 0 12 * * 2", dialect: quartz}',
            (
                "schedule.cron: '0 0 12 * * 2' is not a cron expression: exactly one of day '*' and weekday '2' must be"
                f" `?` here; write {SIX}"
            ),
        ),
        ('{cron: "@daily", dialect: quartz}', f"schedule.cron: '@daily' is not a cron expression; write {SIX}"),
        ('{cron: "@reboot", dialect: quartz}', f"schedule.cron: '@reboot' is not a cron expression; write {SIX}"),
        (
            '{cron: "not looked at", dialect: vixie}',
            "schedule.dialect: 'vixie' is not one of the words known here; use 'crontab', 'quartz' or 'aws'",
        ),
        ("{every: 1m, dialect: aws}", "schedule: has a dialect without `cron`; remove the dialect"),
    ],
)
def test_a_dialect_that_does_not_fit_is_refused(write: Write, schedule: str, said: str) -> None:
    assert fault_of(write, f"schedule: {schedule}") == said


@pytest.mark.parametrize("policy", ["once", "skip", "literal"])
def test_a_policy_for_clock_changes_is_one_of_three_words(write: Write, policy: str) -> None:
    assert schedule_of(write, f'{{cron: "@daily", dst: {policy}}}').dst == policy


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (
            '{cron: "@daily", dst: never}',
            "schedule.dst: 'never' is not one of the words known here; use 'once', 'skip' or 'literal'",
        ),
        ("{every: 1h, dst: skip}", "schedule: has `dst` with `every`, which no clock change moves; remove `dst`"),
        (
            "{at: 2026-01-01T00:00:00Z, dst: literal}",
            "schedule: has `dst` with `at`, which no clock change moves; remove `dst`",
        ),
    ],
)
def test_a_policy_that_has_no_meaning_is_refused(write: Write, schedule: str, said: str) -> None:
    assert fault_of(write, f"schedule: {schedule}") == said


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("{}", "schedule: has none of cron, every, at, repeat; write exactly one"),
        ('{cron: "@daily", every: 1h}', "schedule: has cron and every of cron, every, at, repeat; write exactly one"),
        ("{every: 0s}", "schedule.every: '0s' is below the shortest interval; write 100ms or more"),
        ("{every: 30}", "schedule.every: '30' has no unit; write it with one: 30s, 30m, 30h"),
        (
            "{every: soon}",
            "schedule.every: 'soon' is not a duration; write a number and a unit: 500ms, 30s, 5m, 2h, 1d, 1w",
        ),
        (
            "{every: 2 weeks}",
            (
                "schedule.every: '2 weeks' is a calendar interval; write repeat: {every: 2 weeks, on: ..., time:"
                ' "06:00"}'
            ),
        ),
        (
            "{every: 9999999999999999999999d}",
            "schedule.every: '9999999999999999999999d' is longer than 3660d; write a shorter duration",
        ),
        (
            '{cron: "@daily", anchor: 2026-01-01T00:00:00Z}',
            "schedule: has an anchor without `every`; remove the anchor",
        ),
        (
            "{at: 2026-01-01T00:00:00}",
            (
                "schedule.at[0]: '2026-01-01T00:00:00' is not an instant with an offset; write it like"
                " 2026-03-29T00:30:00Z"
            ),
        ),
        ("{at: []}", "schedule.at: is empty; write at least one"),
        (
            "{every: 1m, timezone: Asia/Jakata}",
            (
                "schedule.timezone: 'Asia/Jakata' is not a time zone; did you mean Asia/Jakarta or Asia/Kolkata or"
                " Asia/Qatar?"
            ),
        ),
        (
            "{every: 1m, timezone: No}",
            "schedule.timezone: 'No' is read as false, not as text; quote the value: \"No\"",
        ),
        ("soon", "schedule: 'soon' is not a mapping; write keys and values: {key: value}"),
        ('"@daily"', "schedule: '@daily' is a text, not a mapping; write it as {cron: \"@daily\"}"),
        ('"* * * * *"', "schedule: '* * * * *' is a text, not a mapping; write it as {cron: \"* * * * *\"}"),
        ("5", "schedule: '5' is not a mapping; write keys and values: {key: value}"),
        ("{every: 1m, clandar: id}", "schedule.clandar: is not a known key; did you mean `calendar`?"),
    ],
)
def test_a_wrong_schedule_is_refused(write: Write, schedule: str, said: str) -> None:
    assert fault_of(write, f"schedule: {schedule}") == said


@pytest.mark.parametrize("text", ["@daily", "* * * * *", "*/5 * * * *"])
def test_a_cron_text_that_yaml_can_not_read_is_answered_with_quote_it(write: Write, text: str) -> None:
    (problem,) = problems_of(write(f"jobs:\n  - id: a\n    schedule: {text}\n"))
    assert (problem.line, problem.remedy) == (3, 'quote the value: "..."')


@pytest.mark.parametrize("key", ["cron: '@daily'", "calendar: id", "holidays: skip", "timezone: UTC", "dst: skip"])
def test_a_key_of_a_schedule_beside_it_is_sent_inside(write: Write, key: str) -> None:
    name = key.partition(":")[0]
    assert fault_of(write, key) == f"{name}: is a key of a schedule; write it inside `schedule`"


def test_a_schedule_without_a_zone_anywhere_is_refused(write: Write) -> None:
    (problem,) = problems_of(write("jobs:\n  - id: a\n    schedule: {every: 1m}\n"))
    assert (problem.line, problem.message) == (3, "has no time zone")


def test_a_list_of_schedules_is_one_schedule_and_its_further_ones(write: Write) -> None:
    schedule = schedule_of(write, '[{cron: "0 9 * * 1-5", timezone: Asia/Jakarta}, {every: 1h}, {cron: "@reboot"}]')
    assert schedule == Schedule(
        timezone="Asia/Jakarta",
        cron="0 9 * * 1-5",
        also=(Schedule(timezone="UTC", every=timedelta(hours=1)), Schedule(timezone="UTC", cron="@reboot")),
    )


def test_a_list_of_one_schedule_is_that_schedule(write: Write) -> None:
    assert schedule_of(write, "[{every: 1h}]") == schedule_of(write, "{every: 1h}")


@pytest.mark.parametrize("count", [MAX_SCHEDULES - 1, MAX_SCHEDULES])
def test_a_job_may_have_twenty_schedules(write: Write, count: int) -> None:
    assert len(schedule_of(write, f"[{', '.join(['{every: 1h}'] * count)}]").also) == count - 1


@pytest.mark.parametrize(
    ("schedules", "said"),
    [
        ("[]", "schedule: is empty; write at least one"),
        (f"[{', '.join(['{every: 1h}'] * (MAX_SCHEDULES + 1))}]", "schedule: is too long; the limit is 20"),
        ("[{every: 1h}, 3]", "schedule[1]: '3' is not a mapping; write keys and values: {key: value}"),
        ("[{every: 1h}, {every: 3}]", "schedule[1].every: '3' has no unit; write it with one: 3s, 3m, 3h"),
        ("[{every: 1h}, {evry: 3h}]", "schedule[1].evry: is not a known key; did you mean `every`?"),
        (
            '[{every: 1h}, {cron: "@daily", holidays: skip}]',
            "schedule[1]: has `holidays` without a calendar; add `calendar` with the name of one",
        ),
    ],
)
def test_a_fault_in_a_list_of_schedules_is_named_by_its_place(write: Write, schedules: str, said: str) -> None:
    found = faults_of(write(f"defaults: {{timezone: UTC}}\njobs:\n  - id: a\n    schedule: {schedules}\n"))
    assert found[0] == f"4: jobs[0].{said}"


def test_every_schedule_of_a_list_needs_a_zone(write: Write) -> None:
    folder = write("""\
        jobs:
          - id: a
            schedule:
              - {every: 1m, timezone: UTC}
              - {every: 1m}
        """)
    assert faults_of(folder) == [
        "5: jobs[0].schedule[1]: has no time zone; add `timezone: Asia/Jakarta`, or set it in `defaults`"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{every: day, time: '18:00'}", Repeat(count=1, unit="day", times=(64_800,), starting=date(1970, 1, 1))),
        (
            "{every: 2 weeks, on: Friday, time: '00:00', starting: 2026-01-02}",
            Repeat(count=2, unit="week", times=(0,), starting=date(2026, 1, 2), on=("friday",)),
        ),
        (
            "{every: month, on: [15, last business day, 15], time: ['23:59', '06:00', '06:00']}",
            Repeat(
                count=1, unit="month", times=(21_600, 86_340), starting=date(1970, 1, 1), on=("15", "last business day")
            ),
        ),
        (
            "{every: year, time: '06:00', starting: '2026-02-28'}",
            Repeat(count=1, unit="year", times=(21_600,), starting=date(2026, 2, 28)),
        ),
    ],
)
def test_a_calendar_interval_is_read_whole(write: Write, text: str, expected: Repeat) -> None:
    assert schedule_of(write, f"{{repeat: {text}}}").repeat == expected


@pytest.mark.parametrize(
    "word",
    [
        *("1", "31", "last day", "first business day", "1st business day", "20th business day", "last business day"),
        *("1st monday", "2nd tuesday", "3rd wednesday", "4th thursday", "5th friday", "last sunday", "first saturday"),
    ],
)
def test_every_word_for_a_day_of_a_month_is_one_that_the_time_law_reads(write: Write, word: str) -> None:
    schedule = schedule_of(write, f"{{repeat: {{every: month, on: {word}, time: '06:00'}}}}")
    assert schedule.repeat is not None
    assert schedule.repeat.on == (word,)
    assert next_slot(schedule, datetime(2026, 1, 1, tzinfo=UTC)) is not None


@pytest.mark.parametrize(
    ("repeat", "said"),
    [
        ("daily", "repeat: 'daily' is not a mapping; write keys and values: {key: value}"),
        ("{every: day}", "repeat.time: is required; add `time`"),
        ("{time: '06:00'}", "repeat.every: is required; add `every`"),
        ("{every: moon, time: '06:00'}", f"repeat.every: 'moon' {INTERVAL}"),
        ("{every: 0 days, time: '06:00'}", f"repeat.every: '0 days' {INTERVAL}"),
        ("{every: 1000 days, time: '06:00'}", f"repeat.every: '1000 days' {INTERVAL}"),
        ("{every: 2, time: '06:00'}", f"repeat.every: '2' {INTERVAL}"),
        ("{every: day, time: []}", "repeat.time: is empty; write at least one"),
        ("{every: day, time: 1800}", f"repeat.time[0]: '1800' is a number, not a time of day; {TIME}"),
        ("{every: day, time: yes}", f"repeat.time[0]: 'yes' is not a time of day; {TIME}"),
        ("{every: day, time: ['06:00', '25:00']}", f"repeat.time[1]: '25:00' is not a time of day; {TIME}"),
        ("{every: day, time: '6:00'}", "repeat.time[0]: '6:00' is not a time of day; write \"06:00\""),
        (
            "{every: day, time: '24:00'}",
            "repeat.time[0]: '24:00' is not a time of day; write \"00:00\", which is midnight",
        ),
        (
            "{every: day, on: friday, time: '06:00'}",
            "repeat.on[0]: 'friday' has no meaning for an interval of days; remove `on`",
        ),
        (
            "{every: week, on: [friday, fri], time: '06:00'}",
            "repeat.on[1]: 'fri' is not a weekday; did you mean `friday`?",
        ),
        ("{every: week, on: 5, time: '06:00'}", f"repeat.on[0]: '5' is not a weekday; {WEEKDAY}"),
        ("{every: week, on: yes, time: '06:00'}", f"repeat.on[0]: 'yes' is not a day; {WEEKDAY}"),
        ("{every: month, on: 32, time: '06:00'}", f"repeat.on[0]: '32' is not one day of a month; {MONTH_DAY}"),
        ("{every: month, on: friday, time: '06:00'}", f"repeat.on[0]: 'friday' is not one day of a month; {MONTH_DAY}"),
        (
            "{every: month, on: lst friday, time: '06:00'}",
            "repeat.on[0]: 'lst friday' is not one day of a month; did you mean `last friday`?",
        ),
        (
            "{every: month, on: 21st business day, time: '06:00'}",
            "repeat.on[0]: '21st business day' is not one day of a month; did you mean `1st business day`?",
        ),
        (
            "{every: month, on: 6th friday, time: '06:00'}",
            "repeat.on[0]: '6th friday' is not one day of a month; did you mean `5th friday`?",
        ),
        ("{every: month, time: '06:00'}", "repeat: does not say on which day of the month; add `on`"),
        (
            "{every: 2 weeks, on: friday, time: '06:00'}",
            "repeat: counts weeks from nowhere; add the date to count from: starting: 2026-01-02",
        ),
        (
            "{every: year, on: 15, time: '06:00'}",
            "repeat: does not say in which month; add a date in it: starting: 2026-01-02",
        ),
        (
            "{every: day, time: '06:00', starting: 20260102}",
            "repeat.starting: '20260102' is a number, not a date; write it like 2026-12-26",
        ),
        (
            "{every: day, time: '06:00', until: x}",
            "repeat.until: is not a known key; use one of every, on, time, starting",
        ),
    ],
)
def test_a_wrong_calendar_interval_is_refused(write: Write, repeat: str, said: str) -> None:
    assert fault_of(write, f"schedule: {{repeat: {repeat}}}") == f"schedule.{said}"


def test_a_time_that_yaml_reads_to_base_sixty_is_answered_once(write: Write) -> None:
    said = "schedule.repeat.time: '18:00' is a number to base 60 in YAML; quote the time: \"18:00\""
    assert fault_of(write, "schedule: {repeat: {every: day, time: 18:00}}") == said


@pytest.mark.parametrize(
    ("schedule", "bound"),
    [
        ("{every: 1m, jitter: 59999ms}", timedelta(milliseconds=59_999)),
        ('{cron: "*/5 * * * *", jitter: 299999ms}', timedelta(milliseconds=299_999)),
        ('{cron: "0 0 29 2 *", jitter: 365d}', timedelta(days=365)),
        ('{cron: "* * * * *", jitter: 59999ms}', timedelta(milliseconds=59_999)),
        ('{cron: "*/2 * * * * ?", dialect: quartz, jitter: 1999ms}', timedelta(milliseconds=1_999)),
    ],
)
def test_jitter_just_below_the_interval_is_fine(write: Write, schedule: str, bound: timedelta) -> None:
    schedule_read = job_of(write, f"schedule: {schedule}\n    run: {{command: [df]}}").schedule
    assert schedule_read is not None
    assert schedule_read.jitter == bound


@pytest.mark.parametrize(
    ("schedule", "place", "jitter", "gap"),
    [
        ("{every: 1m, jitter: 1m}", "", "1m", "1m"),
        ("{every: 1m, jitter: 60001ms}", "", "60001ms", "1m"),
        ('{cron: "*/5 * * * *", jitter: 5m}', "", "5m", "5m"),
        ('{cron: "*/5 * * * *", jitter: 300001ms}', "", "300001ms", "5m"),
        ('{cron: "*/7 * * * *", jitter: 4m}', "", "4m", "4m"),
        # In Berlin 02:30 does not exist on 2026-03-29 and becomes 03:00, half an hour behind 01:30.
        ('{cron: "30 1,2 * * *", timezone: Europe/Berlin, jitter: 59m}', "", "59m", "30m"),
        ('{repeat: {every: day, time: ["06:00", "06:10"]}, jitter: 10m}', "", "10m", "10m"),
        ('[{every: 1h}, {cron: "@hourly", jitter: 2h}]', "[1]", "2h", "1h"),
        ('{cron: "* * * * *", jitter: 1m}', "", "1m", "1m"),
        ('{cron: "*/2 * * * * ?", dialect: quartz, jitter: 2s}', "", "2s", "2s"),
    ],
)
def test_jitter_that_reaches_the_next_slot_is_refused_for_a_job_that_runs_here(
    write: Write, schedule: str, place: str, jitter: str, gap: str
) -> None:
    said = f"'{jitter}' is not below the smallest gap between slots, {gap}; write a jitter below {gap}"
    expected = f"schedule{place}.jitter: {said}"
    assert fault_of(write, f"schedule: {schedule}\n    run: {{command: [df]}}") == expected


def test_the_slots_of_further_schedules_do_not_narrow_a_jitter(write: Write) -> None:
    schedule = '[{cron: "0 2 * * *", jitter: 1h}, {cron: "30 2 * * *"}]'
    job = job_of(write, f"schedule: {schedule}\n    run: {{command: [df]}}")
    assert job.schedule is not None
    assert job.schedule.jitter == timedelta(hours=1)


def test_jitter_of_a_watched_cron_may_be_any(write: Write) -> None:
    assert schedule_of(write, '{cron: "0 6,18 * * *", jitter: 12h}').jitter == timedelta(hours=12)
