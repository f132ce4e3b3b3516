from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import words

NOW = datetime(2026, 3, 29, 5, 31, 7, tzinfo=UTC)
JAKARTA = ZoneInfo("Asia/Jakarta")


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_what_is_not_known_reads_no_data_and_never_zero(value: float | None) -> None:
    assert words.percent(value) == "no data"
    assert words.seconds(value) == "no data"
    assert words.in_percent(value) is None


def test_a_count_that_is_not_known_reads_no_data_and_zero_reads_zero() -> None:
    assert (words.count(None), words.count(0), words.count(1234567)) == ("no data", "0", "1\u202f234\u202f567")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "100.00 %"),
        (0.99999, "99.99 %"),
        (0.9953, "99.53 %"),
        (0.29, "29.00 %"),
        (0.0, "0.00 %"),
        (-0.174, "-17.40 %"),
    ],
)
def test_a_share_is_rounded_down_so_that_one_miss_never_looks_like_none(share: float, text: str) -> None:
    assert words.percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 ms"),
        (0.9994, "999 ms"),
        (1, "1.0 s"),
        (59.94, "59.9 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (5280, "1 h 28 min"),
        (86400 * 2 + 3 * 3600, "2 d 3 h"),
        (-90, "-1 min 30 s"),
    ],
)
def test_a_length_of_time_has_the_unit_a_person_would_use(value: float, text: str) -> None:
    assert words.seconds(value) == text


def test_a_clock_shows_the_date_only_when_it_is_another_day_in_the_zone_shown() -> None:
    assert words.clock(NOW, JAKARTA, NOW) == "12:31:07"
    assert words.clock(NOW - timedelta(hours=13), JAKARTA, NOW) == "2026-03-28 23:31:07"
    assert words.clock(None, JAKARTA, NOW) == "no data"


def test_a_zone_is_written_with_the_offset_of_that_instant() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    change = datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert words.zone_name(berlin, change - timedelta(microseconds=1)) == "Europe/Berlin (UTC+01:00)"
    assert words.zone_name(berlin, change) == "Europe/Berlin (UTC+02:00)"
    assert words.zone_name(ZoneInfo("Asia/Kolkata"), change) == "Asia/Kolkata (UTC+05:30)"


def test_a_slot_at_this_very_instant_is_due() -> None:
    tick = timedelta(seconds=1)
    assert [words.until(NOW + step, NOW) for step in (-tick, tick * 0, tick)] == ["due", "due", "in 1.0 s"]


def test_every_verdict_has_a_word_a_sign_a_shape_and_a_colour_of_its_own() -> None:
    assert set(words.VERDICTS) == {"pending", "on_time", "late", "missed", "skipped", "unknown"}
    for part in range(4):
        assert len({look[part] for look in words.VERDICTS.values()}) == 6


def test_a_state_that_is_not_known_keeps_its_own_name() -> None:
    assert str(words.look("postponed")) == "? postponed"
    assert words.outcome("vanished") == "? vanished"
    assert words.outcome(None) == "no data"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("plain", "`plain`"),
        ("a `b` c", "`` a `b` c ``"),
        ("```", "```` ``` ````"),
        ("`", "`` ` ``"),
        ("<script>alert(1)</script>", "`<script>alert(1)</script>`"),
        ("one\n\n# two\x00\u202ethree", "`one # two three`"),
        ("", "`no data`"),
        (":material/home:", "`:\u200bmaterial/home:`"),
    ],
)
def test_foreign_text_becomes_a_code_span_that_it_cannot_leave(text: str, span: str) -> None:
    assert words.verbatim(text) == span


def test_foreign_text_is_cut_to_a_line_that_fits() -> None:
    assert len(words.plain("x" * 160)) == 160
    assert words.plain("x" * 161) == "x" * 159 + "…"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (None, ""),
        ("boom\nbang", "boom bang"),
        ({"kind": "timeout", "message": "took 40 m"}, "timeout: took 40 m"),
        ({"kind": "permanent", "message": "no", "exit_code": 0}, "permanent: no (exit 0)"),
        ({"kind": "lost"}, "lost"),
    ],
)
def test_an_error_is_one_line(value: object, line: str) -> None:
    assert words.error(value) == line
