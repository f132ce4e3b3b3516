"""What became of a slot: one test per reason, with the instants that go with it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from explaining.asking import ask, at, cron, job, minutes, said

from scheduler.explaining.why import Explanation, Heard, RunFacts, SlotFacts, Version, explain_run
from scheduler.explaining.words import length

SLOT = "2026-05-05T02:00:00Z"
TWO, NOW = at(SLOT), at("2026-05-06T00:00:00Z")
LIMIT = TWO + minutes(1)
RUN = RunFacts(id="billing@2026-05-05T02:00:00Z", outcome="succeeded")


def verdict(kind: Any, reason: str, **keys: Any) -> SlotFacts:
    return SlotFacts(kind=kind, reason=reason, limit=LIMIT, **keys)


def heard(found: SlotFacts | None, run: RunFacts | None = None, **keys: Any) -> Explanation:
    return ask(cron("0 2 * * *"), SLOT, Heard(now=NOW, verdict=found, run=run), **keys)


def skipped(reason: str, **keys: Any) -> Explanation:
    run = RunFacts(id=RUN.id, outcome=None, skip_reason=reason, skipped_at=TWO + minutes(4))
    return heard(verdict("skipped", reason), run, **keys)


def test_a_slot_on_time_tells_start_limit_and_how_its_run_ended() -> None:
    began = TWO + timedelta(milliseconds=412)
    ended = replace(RUN, started_at=began, ended_at=began + minutes(12), attempts=1)
    found = heard(verdict("on_time", "started within the limit", started_at=began, run=RUN.id), ended)
    assert (found.owed, found.code) == (True, "succeeded")
    assert found.sentences[1:] == (
        f"It was on time: it began at {SLOT}, 0.4s after the slot, and the limit was 2026-05-05T02:01:00Z.",
        "The run billing@2026-05-05T02:00:00Z succeeded at 2026-05-05T02:12:00Z, 12m after it began.",
    )


def test_a_late_slot_stays_late_though_its_run_succeeded() -> None:
    began = TWO + minutes(5)
    ended = replace(RUN, started_at=began, ended_at=began + minutes(2))
    found = heard(verdict("late", "started after the limit", started_at=began, run=RUN.id), ended)
    assert found.code == "late"
    assert "It was late: the limit was 2026-05-05T02:01:00Z, and it began at 2026-05-05T02:05:00Z, 5m after" in said(
        found
    )


def test_a_slot_late_by_its_end_says_so() -> None:
    found = heard(verdict("late", "not succeeded by the limit", started_at=TWO, run=RUN.id))
    assert "it began at 2026-05-05T02:00:00Z but had not succeeded by its limit" in said(found)


def test_a_missed_slot_tells_the_limit_that_passed_in_silence() -> None:
    found = heard(verdict("missed", "no start by the limit"))
    assert found.code == "missed"
    assert found.sentences[1] == "It was missed: nothing had begun by the limit, 2026-05-05T02:01:00Z."


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("none", "`catch_up: none` makes up for nothing"),
        ("latest", "`catch_up: latest` runs only the newest such slot"),
        ("all", "`catch_up: all` runs only the newest 100 such slots"),
    ],
)
def test_a_slot_that_catch_up_passed_over_is_missed_for_that_reason(mode: str, words: str) -> None:
    run = RunFacts(id=RUN.id, outcome=None, skip_reason="catch_up", skipped_at=TWO + minutes(120))
    found = heard(verdict("missed", "no start by the limit"), run, catch_up=mode)
    assert found.code == "catch_up"
    assert words in said(found) and "recorded at 2026-05-05T04:00:00Z" in said(found)


@pytest.mark.parametrize(
    ("reason", "keys", "words"),
    [
        (
            "overlap",
            {},
            "An earlier run of the job was still on when it fell due, and `overlap: forbid` skips it",
        ),
        ("overlap", {"overlap": "replace"}, "A newer slot replaced it before it had begun"),
        ("deadline", {"start_deadline": timedelta(seconds=200)}, "`deadline.start` is 200s"),
        ("buffer_full", {"overlap": "queue"}, "as many runs as may wait were waiting already"),
        ("upstream", {}, "a job that it waits for had failed or came too late"),
    ],
)
def test_a_skipped_slot_tells_the_policy_that_skipped_it_and_when(
    reason: str, keys: dict[str, Any], words: str
) -> None:
    found = skipped(reason, **keys)
    assert (found.owed, found.code) == (True, reason)
    assert words in said(found)
    assert "This was recorded at 2026-05-05T02:04:00Z. This counts as bad for punctuality." in said(found)


def test_an_unknown_slot_says_that_silence_proves_nothing() -> None:
    found = heard(verdict("unknown", "the observer was blind"))
    assert found.code == "unknown"
    assert "the observer was blind, so silence until the limit (2026-05-05T02:01:00Z) proves nothing" in said(found)


def test_a_pending_slot_with_a_queued_run_tells_what_it_waits_for() -> None:
    queued = replace(RUN, outcome="queued", queued_at=TWO - minutes(1), waits="It waits for a worker.")
    found = heard(verdict("pending", "not started, within the limit"), queued)
    assert found.code == "queued"
    assert found.sentences[-2:] == (
        "The run billing@2026-05-05T02:00:00Z waits in the queue since 2026-05-05T01:59:00Z.", "It waits for a worker.",
    )  # fmt: skip


def test_a_dead_letter_tells_its_error_and_that_a_person_must_decide() -> None:
    began = TWO + timedelta(seconds=1)
    dead = replace(
        RUN, outcome="dead_lettered", started_at=began, ended_at=began + minutes(9), attempts=3, error="boom"
    )
    found = heard(verdict("on_time", "started within the limit", started_at=began, run=RUN.id), dead)
    assert found.code == "dead_lettered"
    assert "failed for good at 2026-05-05T02:09:01Z, 9m after it began, with 3 attempts." in said(found)
    assert "Its last word was: boom. It waits as a dead letter for a person" in said(found)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [("running", "is running since"), ("failed", "failed for good at"), ("cancelled", "was cancelled at")],
)
def test_other_states_of_a_run_give_their_name_as_the_reason(outcome: Any, words: str) -> None:
    run = replace(RUN, outcome=outcome, started_at=TWO, ended_at=TWO + minutes(1))
    found = heard(verdict("on_time", "started within the limit", started_at=TWO, run=RUN.id), run)
    assert found.code == outcome
    assert words in said(found)


@pytest.mark.parametrize(("attempts", "words"), [(1, "2026-05-05T02:00:00Z."), (2, "02:00:00Z, attempt 2.")])
def test_a_running_run_counts_its_attempts_from_the_second_on(attempts: int, words: str) -> None:
    run = replace(RUN, outcome="running", started_at=TWO, attempts=attempts)
    assert (
        heard(verdict("on_time", "started within the limit", started_at=TWO, run=RUN.id), run)
        .sentences[-1]
        .endswith(words)
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0s"), (0.4, "0.4s"), (9.96, "10.0s"), (12.7, "12s"), (60, "1m"), (3661, "1h 1m"), (90061, "1d 1h")],
)
def test_lengths_are_said_in_two_units_at_most(seconds: float, words: str) -> None:
    assert length(timedelta(seconds=seconds)) == words


def test_foreign_text_can_neither_steer_a_terminal_nor_fill_it() -> None:
    run = replace(RUN, outcome="failed", error="a\x1b[2J\r\nb\u202ec" + "x" * 5000)
    told = said(heard(verdict("missed", "no start by the limit"), run))
    assert told.isprintable()
    assert len(told) < 700


def test_an_extra_run_for_a_slot_names_the_one_that_stands_for_it() -> None:
    found = heard(verdict("on_time", "started within the limit", started_at=TWO, run="other"), RUN)
    assert "The run other stands for this slot; billing@2026-05-05T02:00:00Z is an extra run." in said(found)


def test_a_run_of_an_excused_slot_is_told_as_an_extra_one() -> None:
    found = heard(verdict("skipped", "disabled"), RUN, enabled=False)
    assert (found.owed, found.code) == (False, "disabled")
    assert "All the same there was a run" in said(found)


@pytest.mark.parametrize(
    ("instant", "code", "words"),
    [
        ("2026-05-05T02:00:00Z", "not_seen", "it came before the ledger began to watch, at 2026-05-06T02:00:00Z."),
        ("2026-05-06T02:00:00Z", "not_seen", "it came before the ledger began to watch, at 2026-05-06T02:00:00Z."),
        ("2026-05-07T02:00:00Z", "pending", "It has only just come due, and is not judged yet."),
        ("2026-05-08T02:00:00Z", "pending", "It has only just come due, and is not judged yet."),
        ("2026-05-09T02:00:00Z", "to_come", "It is still to come."),
    ],
)
def test_a_slot_without_a_verdict_came_too_early_or_is_just_due_or_lies_ahead(
    instant: str, code: str, words: str
) -> None:
    watching = Heard(now=at("2026-05-08T02:00:00Z"), since=at("2026-05-06T02:00:00Z"))
    found = ask(cron("0 2 * * *"), instant, watching)
    assert (found.owed, found.code) == (True, code)
    assert words in said(found)


def test_without_anybody_who_watches_only_the_definition_speaks() -> None:
    assert ask(cron("0 2 * * *"), SLOT).sentences == ("Tuesday 2026-05-05 02:00 UTC is a slot of billing.",)


def test_a_triggered_run_belongs_to_no_slot_and_tells_its_state() -> None:
    run = RunFacts(id="billing!k", outcome="queued", waits="It waits for a worker.")
    found = explain_run("billing", [Version(job=job(None))], TWO, run)
    assert (found.owed, found.slot, found.code) == (False, None, "queued")
    assert found.sentences[0].startswith("The run billing!k belongs to no slot")
    assert found.sentences[-1] == "It waits for a worker."
