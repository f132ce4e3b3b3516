"""Tests in front of a command: on how many starts does the work happen?"""

import pytest

from scheduler.cron import parse_cron
from scheduler.importers.guards import Count, count, guard_of, plain_form


def counted(command: str, cron: str, year: int = 2026) -> Count | None:
    guard = guard_of(command)
    assert guard is not None
    return count(guard, parse_cron(cron), year)


@pytest.mark.parametrize(
    ("command", "cron", "working", "plain"),
    [
        ("[ $(date +%d) -le 7 ] && x", "0 9 * * 1", 12, "0 9 * * 1#1"),
        ("[ $(date +%d) -le 8 ] && x", "0 9 * * 1", 13, None),
        ("[ $(date +%d) -le 6 ] && x", "0 9 * * 1", 10, None),
        ("[ `date +%e` -lt 8 ] && x", "0 9 * * MON", 12, "0 9 * * MON#1"),
        ('test "$(date +%u)" = 1 && x', "0 9 * * *", 52, None),
        ('[ "$(date +%a)" = "Mon" ] && x', "0 9 * * *", 52, None),
        ("[ 8 -gt $(date '+%d') ] && x", "0 9 * * 1", 12, "0 9 * * 1#1"),
        ("[ $(date +%d) -gt 7 ] || x", "0 9 * * 1", 12, "0 9 * * 1#1"),
        ("[ $(date +%d) -le 7 ] || exit 0; x", "0 9 * * 1", 12, "0 9 * * 1#1"),
        ("if [ $(date +%d) -le 7 ]; then x; fi", "0 9 * * 1", 12, "0 9 * * 1#1"),
        ("[ $(date -d tomorrow +%d) = 01 ] && x", "0 23 * * *", 12, "0 23 L * *"),
        ("[ $(date +%d -d '+1 day') -eq 1 ] && x", "0 23 * * *", 12, "0 23 L * *"),
        ("[ $(date -v+1d +%d) -eq 1 ] && x", "0 23 * * *", 12, "0 23 L * *"),
        ("[ $(date -d '7 days' +%d) -le 7 ] && x", "0 23 * * 5", 12, "0 23 * * 5L"),
        ("[ $(( $(date +%-V) % 2 )) -eq 0 ] && x", "0 9 * * 1", 26, None),
        ("[ $(expr $(date +%d) % 2) -eq 1 ] && x", "0 9 * * *", 186, None),
        ("[ $(date +%d) -ge 8 ] && [ $(date +%d) -le 14 ] && x", "0 9 * * 2", 12, "0 9 * * 2#2"),
        ("[ -x /bin/x ] && [ $(date +%d) -le 7 ] && x", "0 9 * * 1", 12, "0 9 * * 1#1"),
        ("[ $(date +%Y) -eq 2025 ] && x", "0 9 * * *", 0, None),
    ],
)
def test_a_guard_of_the_date_is_counted_and_put_plainly_where_a_cron_text_says_the_same(
    command: str, cron: str, working: int, plain: str | None
) -> None:
    found = counted(command, cron)
    assert found is not None and found.working == working
    guard = guard_of(command)
    assert guard is not None and plain_form(guard, parse_cron(cron), 2026) == plain


@pytest.mark.parametrize(
    "command",
    [
        "[ -x /bin/x ] && x",
        "test -x /usr/sbin/anacron || x",
        "[ $(hostname) = one ] && x",
        "[ $(date +%d) -le 7 -a -x /bin/x ] && x",
        "[ $(date -u +%d) -le 7 ] && x",
        "[ $(date +%d) -le $N ] && x",
        "[ -x /bin/x ] || [ $(date +%d) -le 7 ] && x",
    ],
)
def test_a_guard_of_anything_else_is_named_without_numbers(command: str) -> None:
    assert counted(command, "0 9 * * 1") is None


@pytest.mark.parametrize("command", ["x", "x && [ $(date +%d) -le 7 ]", "echo '[ $(date +%d) -le 7 ] && x'", ""])
def test_a_command_without_a_test_in_front_has_no_guard(command: str) -> None:
    assert guard_of(command) is None


@pytest.mark.parametrize(
    ("command", "fails"),
    [
        ("[ $(date +%d) -le 7 ] && x", True),
        ("[ $(date +%d) -gt 7 ] || x", False),
        ("[ $(date +%d) -le 7 ] || exit 0; x", False),
        ("if [ $(date +%d) -le 7 ]; then x; fi", False),
    ],
)
def test_a_start_that_does_nothing_ends_as_failed_only_behind_a_plain_and(command: str, fails: bool) -> None:
    guard = guard_of(command)
    assert guard is not None and guard.skips_fail == fails


def test_starts_without_number_are_not_counted() -> None:
    assert counted("[ $(date +%d) -le 7 ] && x", "* * * * *") is None
