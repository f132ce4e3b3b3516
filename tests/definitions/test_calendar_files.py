"""Calendars in files: what a name holds, how names join over files, and what is refused with which words."""

from datetime import date, timedelta

import pytest
from definitions.reading import Write, fault_of, faults_of, schedule_of

from scheduler.definitions import digest, load_folder
from scheduler.jobs import Calendar
from scheduler.schedule_models import MAX_CALENDARS, MAX_DATES

DATE = "write it like 2026-12-26"
WEEKDAY = "use monday, tuesday, wednesday, thursday, friday, saturday, sunday"

ID = Calendar(name="id", country="ID", add=(date(2026, 12, 26),), remove=(date(2026, 6, 1),))
NYSE = Calendar(name="nyse", market="NYSE")


def test_every_key_of_a_calendar_is_read(write: Write) -> None:
    folder = write("""
        calendars:
          id: {country: ID, add: [2026-12-26], remove: [2026-06-01]}
          nyse: {market: NYSE}
          own: {dates: ["2026-05-04", 2026-05-01, 2026-05-04], weekend: [saturday, Friday]}
          ny: {country: US, subdivision: NY}
          both: {union: [id, nyse]}
        """)
    assert load_folder(folder).calendars == {
        "id": ID,
        "nyse": NYSE,
        "own": Calendar(name="own", dates=(date(2026, 5, 1), date(2026, 5, 4)), weekend=(4, 5)),
        "ny": Calendar(name="ny", country="US", subdivision="NY"),
        "both": Calendar(name="both", union=(ID, NYSE)),
    }


def test_one_value_may_stand_where_a_calendar_takes_a_list(write: Write) -> None:
    folder = write("calendars: {a: {dates: 2026-05-04, weekend: friday}, b: {union: a, add: 2026-05-05}}\n")
    first = Calendar(name="a", dates=(date(2026, 5, 4),), weekend=(4,))
    assert load_folder(folder).calendars == {
        "a": first,
        "b": Calendar(name="b", add=(date(2026, 5, 5),), union=(first,)),
    }


def test_a_calendar_without_a_weekend_is_no_calendar_without_a_word_about_it(write: Write) -> None:
    calendars = load_folder(write("calendars: {a: {weekend: []}, b: {dates: 2026-05-04}}\n")).calendars
    assert (calendars["a"].weekend, calendars["b"].weekend) == ((), None)


def test_a_job_holds_its_calendar_by_value_from_whatever_file_it_stands_in(write: Write) -> None:
    write("calendars: {both: {union: [nyse, id, nyse]}, nyse: {market: NYSE}}\n", "a.yaml")
    write("jobs: [{id: a, schedule: {cron: '@daily', timezone: UTC, calendar: both, holidays: skip}}]\n", "b.yaml")
    folder = write("calendars: {id: {country: ID, add: 2026-12-26, remove: 2026-06-01}}\n", "c.yaml")
    (job,) = load_folder(folder).jobs
    assert job.schedule is not None
    assert job.schedule.calendar == Calendar(name="both", union=(NYSE, ID))


def test_a_changed_calendar_makes_a_new_version_of_the_jobs_that_use_it_and_of_no_others(write: Write) -> None:
    def digests(holiday: str) -> list[str]:
        folder = write(f"""
            defaults: {{timezone: UTC}}
            calendars: {{far: {{dates: {holiday}}}, near: {{union: far}}}}
            jobs:
              - {{id: a, schedule: {{cron: "@daily", calendar: near, holidays: skip}}}}
              - {{id: b, schedule: {{cron: "@daily"}}}}
            """)
        return [digest(job) for job in load_folder(folder).jobs]

    before, after = digests("2026-05-04"), digests("2026-05-05")
    assert before[0] != after[0]
    assert before[1] == after[1]


@pytest.mark.parametrize("policy", ["skip", "next_business_day", "previous_business_day"])
def test_holidays_are_met_in_one_of_three_ways(write: Write, policy: str) -> None:
    write("calendars: {id: {country: ID}}\n", "c.yaml")
    schedule = schedule_of(write, f'{{cron: "@daily", calendar: id, holidays: {policy}, business_day_starts: "06:00"}}')
    assert (schedule.holidays, schedule.business_day_starts) == (policy, 6 * 3600)


def test_a_business_day_interval_is_use_enough_for_a_calendar(write: Write) -> None:
    write("calendars: {id: {country: ID}}\n", "c.yaml")
    repeat = "repeat: {every: month, on: [1, last business day], time: '18:00'}"
    assert schedule_of(write, f"{{{repeat}, calendar: id}}").calendar == Calendar(name="id", country="ID")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('cron: "@daily", holidays: skip', "has `holidays` without a calendar; add `calendar` with the name of one"),
        (
            'cron: "@daily", calendar: id',
            "has a calendar that nothing uses; add `holidays: skip`, or remove the calendar",
        ),
        (
            "repeat: {every: month, on: 2nd friday, time: '06:00'}, calendar: id",
            "has a calendar that nothing uses; add `holidays: skip`, or remove the calendar",
        ),
        (
            "cron: '@daily', business_day_starts: '06:00'",
            "has `business_day_starts` without `holidays`; add `holidays: skip`, or remove it",
        ),
        (
            "every: 1h, calendar: id, holidays: next_business_day",
            "has `holidays: next_business_day` for slots that can't move; write `holidays: skip`",
        ),
        (
            "at: 2026-05-04T00:00:00Z, calendar: id, holidays: previous_business_day",
            "has `holidays: previous_business_day` for slots that can't move; write `holidays: skip`",
        ),
    ],
)
def test_keys_about_holidays_that_change_nothing_are_refused(write: Write, keys: str, said: str) -> None:
    write("calendars: {id: {country: ID}}\n", "c.yaml")
    assert fault_of(write, f"schedule: {{{keys}}}") == f"schedule: {said}"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            "calendar: id, holidays: jump",
            (
                "holidays: 'jump' is not one of the words known here; use 'skip', 'next_business_day' or"
                " 'previous_business_day'"
            ),
        ),
        ("calendar: No, holidays: skip", "calendar: 'No' is read as false, not as text; quote the value: \"No\""),
        (
            "calendar: a b, holidays: skip",
            "calendar: 'a b' is not an id; use up to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit",
        ),
        (
            "calendar: id, holidays: skip, business_day_starts: 6",
            'business_day_starts: \'6\' is a number, not a time of day; write it in quotes, from "00:00" to "23:59"',
        ),
        (
            "calendar: id, holidays: skip, business_day_starts: '24:00'",
            "business_day_starts: '24:00' is not a time of day; write \"00:00\", which is midnight",
        ),
    ],
)
def test_a_wrong_value_about_holidays_is_refused(write: Write, keys: str, said: str) -> None:
    write("calendars: {id: {country: ID}}\n", "c.yaml")
    assert fault_of(write, f"schedule: {{cron: '@daily', {keys}}}") == f"schedule.{said}"


@pytest.mark.parametrize(
    ("calendars", "remedy"),
    [
        ("{}", "define it under `calendars:`"),
        ("{indonesia: {country: ID}}", "did you mean `indonesia`?"),
        ("{us: {country: US}, de: {country: DE}}", "use one of de, us, or define it under `calendars:`"),
    ],
)
def test_a_calendar_that_nobody_defines_is_answered_with_the_nearest_names(
    write: Write, calendars: str, remedy: str
) -> None:
    write(f"calendars: {calendars}\n", "c.yaml")
    said = fault_of(write, "schedule: {cron: '@daily', calendar: indonesi, holidays: skip}")
    assert said == f"schedule.calendar: 'indonesi' is not a calendar of this folder; {remedy}"


def test_a_wrong_calendar_is_told_once_and_not_again_by_each_job(write: Write) -> None:
    folder = write("""\
        defaults: {timezone: UTC}
        calendars: {x: {market: NYSEX}, y: {union: x}}
        jobs:
          - {id: a, schedule: {cron: "@daily", calendar: x, holidays: skip}}
          - {id: b, schedule: {cron: "@daily", calendar: y, holidays: skip}}
        """)
    (said,) = faults_of(folder)
    assert said.startswith("2: calendars.x.market: 'NYSEX' is not a known market; did you mean NYSE")


@pytest.mark.parametrize(
    ("calendar", "said"),
    [
        ("", "a: is not a mapping; write keys and values: {key: value}"),
        ("{}", "a: names no days; write country, market, dates, weekend or union"),
        ("{remove: 2026-05-04}", "a: names no days; write country, market, dates, weekend or union"),
        ("{contry: ID}", "a.contry: is not a known key; did you mean `country`?"),
        # Norway, which YAML takes for a refusal.
        ("{country: NO}", "a.country: 'NO' is read as false, not as text; quote the value: \"NO\""),
        ("{country: id}", "a.country: 'id' is not a known country; did you mean ID"),
        ("{country: Q}", "a.country: 'Q' is not a known country; "),
        ("{market: NYSEX}", "a.market: 'NYSEX' is not a known market; did you mean NYSE"),
        ("{country: US, subdivision: ZZ}", "a.subdivision: 'ZZ' is not a subdivision of US; it has: AK, AL"),
        ("{country: IT, subdivision: 01}", "a.subdivision: '01' is read as a number, not as text; quote the value:"),
        ("{subdivision: NY}", "a: has a subdivision without its country; add `country`"),
        ("{dates: 20260504}", f"a.dates[0]: '20260504' is a number, not a date; {DATE}"),
        ("{dates: [yes]}", f"a.dates[0]: 'yes' is not a date; {DATE}"),
        ("{add: [soon]}", f"a.add[0]: 'soon' is not a date; {DATE}"),
        ("{dates: ['20260504']}", f"a.dates[0]: '20260504' is not a date; {DATE}"),
        ("{dates: [2026-02-29]}", "a.dates[0]: '2026-02-29' is a date that does not exist; write a day that its month"),
        (
            "{remove: [2026-05-04T00:00:00Z]}",
            "a.remove[0]: '2026-05-04T00:00:00Z' is more than a date; write the date alone: 2026-05-04",
        ),
        ("{dates: [1969-12-31]}", "a.dates[0]: '1969-12-31' is out of range; write a date from 1970-01-01 to 2199-12"),
        ("{dates: [2200-01-01]}", "a.dates[0]: '2200-01-01' is out of range; write a date from 1970-01-01 to 2199-12"),
        ("{dates: 2026-05-04, remove: 2026-05-04}", "a: both adds and removes 2026-05-04; keep one of them"),
        ("{add: 2026-05-04, remove: 2026-05-04}", "a: both adds and removes 2026-05-04; keep one of them"),
        ("{weekend: [fri]}", "a.weekend[0]: 'fri' is not a weekday; did you mean `friday`?"),
        ("{weekend: [6]}", f"a.weekend[0]: '6' is not a weekday; {WEEKDAY}"),
        (
            "{weekend: [monday, tuesday, wednesday, thursday, friday, saturday, sunday]}",
            "a.weekend: is too long; the limit is 6",
        ),
        ("{union: a}", "a.union[0]: 'a' leads back to itself: a -> a; remove it"),
        ("{union: [b]}", "a.union[0]: 'b' is not a calendar of this folder; define it under `calendars:`"),
        ("{union: [3]}", "a.union[0]: '3' is read as a number, not as text; quote the value: \"3\""),
    ],
)
def test_a_wrong_calendar_is_refused(write: Write, calendar: str, said: str) -> None:
    found = faults_of(write(f"calendars:\n  a: {calendar}\n"))
    assert len(found) == 1
    assert found[0].startswith(f"2: calendars.{said}")


@pytest.mark.parametrize("day", ["1970-01-01", "2199-12-31"])
def test_the_first_and_the_last_date_are_fine(write: Write, day: str) -> None:
    calendars = load_folder(write(f"calendars: {{a: {{dates: {day}}}}}\n")).calendars
    assert calendars["a"].dates == (date.fromisoformat(day),)


def test_a_union_that_leads_back_to_itself_names_the_way(write: Write) -> None:
    folder = write("""\
        calendars:
          a: {union: [b]}
          b: {union: [ok, c]}
          c: {union: [b]}
          ok: {country: ID}
        """)
    assert faults_of(folder) == ["4: calendars.c.union[0]: 'b' leads back to itself: b -> c -> b; remove it"]


def test_a_name_that_stands_twice_in_a_folder_names_both_places(write: Write) -> None:
    write("calendars:\n  x: {country: ID}\n  a: {country: ID}\n", "a.yaml")
    folder = write("calendars:\n  a: {country: US}\n", "b.yaml")
    assert faults_of(folder) == [
        f"2: calendars.a: 'a' stands twice: also at {folder / 'a.yaml'}:3; give one of them another name"
    ]


def test_calendars_bear_names_like_jobs(write: Write) -> None:
    said = "is not an id; use up to 100 of A-Z a-z 0-9 . _ - and begin with a letter or digit"
    assert faults_of(write("calendars:\n  a b: {country: ID}\n")) == [f"2: calendars.a b: 'a b' {said}"]


@pytest.mark.parametrize("value", ["[]", "id", "3"])
def test_calendars_that_are_no_mapping_are_refused(write: Write, value: str) -> None:
    expected = "1: calendars: is not a mapping; write each with its name: {id: {country: ID}}"
    assert faults_of(write(f"calendars: {value}\n")) == [expected]


def test_a_folder_without_calendars_under_the_key_is_fine(write: Write) -> None:
    assert load_folder(write("calendars:\n")).calendars == {}


def listed(count: int, first: int = 0) -> str:
    return ", ".join((date(2000, 1, 1) + timedelta(days=first + number)).isoformat() for number in range(count))


@pytest.mark.parametrize("count", [MAX_DATES - 1, MAX_DATES])
def test_a_calendar_may_hold_three_thousand_six_hundred_and_sixty_dates(write: Write, count: int) -> None:
    calendar = load_folder(write(f"calendars: {{a: {{dates: [{listed(count)}]}}}}\n")).calendars["a"]
    assert len(calendar.dates) == count


@pytest.mark.parametrize(
    ("calendars", "said"),
    [
        (f"{{a: {{dates: [{listed(MAX_DATES + 1)}]}}}}", "a.dates: is too long; the limit is 3660"),
        (
            f"{{a: {{dates: [{listed(MAX_DATES)}], add: 2026-05-04}}}}",
            "a: holds more than 3660 dates; remove some",
        ),
        (
            f"{{a: {{dates: [{listed(MAX_DATES)}]}}, b: {{union: a, add: 2026-05-04}}}}",
            "b.union: holds 3661 dates, counted wherever they are joined; the limit is 3660",
        ),
    ],
)
def test_a_calendar_of_more_dates_is_refused(write: Write, calendars: str, said: str) -> None:
    assert faults_of(write(f"calendars: {calendars}\n"))[0].startswith(f"1: calendars.{said}")


@pytest.mark.parametrize("count", [MAX_CALENDARS - 1, MAX_CALENDARS])
def test_a_folder_may_have_a_hundred_calendars(write: Write, count: int) -> None:
    assert len(load_folder(write(named(count))).calendars) == count


def test_a_folder_of_more_calendars_is_refused_once(write: Write) -> None:
    write(named(MAX_CALENDARS), "a.yaml")
    folder = write("calendars: {x: {country: ID}, y: {country: ID}}\n", "b.yaml")
    said = "'x' is one calendar too many: a folder may hold 100; join or remove some"
    assert faults_of(folder) == [f"1: calendars.x: {said}"]


def test_unions_that_double_at_each_step_are_stopped_before_a_definition_swells(write: Write) -> None:
    steps = [f"c{number}: {{union: [c{number - 1}, d{number - 1}]}}" for number in range(1, 40)]
    twins = [f"d{number}: {{union: [c{number - 1}, d{number - 1}]}}" for number in range(1, 40)]
    lines = ["c0: {country: ID}", "d0: {country: US}", *steps, *twins]
    found = faults_of(write("calendars:\n" + "".join(f"  {line}\n" for line in lines)))
    assert found == [
        f"{line}: calendars.{name}.union: holds 127 calendars, counted wherever they are joined; the limit is 100;"
        " join fewer"
        for line, name in ((9, "c6"), (48, "d6"))
    ]


def named(count: int) -> str:
    return "calendars:\n" + "".join(f"  c{number}: {{country: ID}}\n" for number in range(count))
