"""Dead letters over HTTP: which there are, the whole story of one, and what a person decides; of a real ledger."""

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from ledger.dying import DEADLY, Morgue, morgue_of
from ledger.serving import serving
from queueing.farm import at

from control.api.dead_letters import MAX_ATTEMPTS
from scheduler.depths import depths
from scheduler.endings import Problem, redrive
from scheduler.instants import format_instant, parse_instant
from scheduler.leases import read_moment

EXIT_3 = Problem("temporary", "exit 3", 3)


@pytest.fixture(scope="module")
def morgue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Morgue]:
    with serving(tmp_path_factory.mktemp("dead"), DEADLY) as service, morgue_of(service) as opened:
        yield opened


def story_of(morgue: Morgue, run: str) -> dict[str, Any]:
    found: dict[str, Any] = morgue.service.get(f"/api/v1/dead/{run}")
    return found


def queue_numbers(morgue: Morgue, name: str) -> tuple[int, int]:
    (found,) = [each for each in morgue.service.get("/api/v1/queues")["items"] if each["queue"] == name]
    return found["dead_depth"], found["dead_arrivals"]


def test_letters_are_listed_by_job_and_by_queue(morgue: Morgue) -> None:
    mine, other = morgue.die("tidy", "filter", 10), morgue.die("twice", "filter", 11)
    assert set(morgue.lying(job="tidy")) >= {mine} and other not in morgue.lying(job="tidy")
    assert other in morgue.lying(queue="night") and mine not in morgue.lying(queue="night")
    assert morgue.lying(queue="night", job="tidy") == []
    assert morgue.lying(queue="nowhere") == []


def test_a_list_that_is_longer_than_its_page_goes_on_with_its_cursor(morgue: Morgue) -> None:
    dead = [morgue.die("twice", f"page{number}", 20 + number) for number in range(3)]
    found, cursor = [], ""
    while True:
        page = morgue.service.get("/api/v1/dead", job="twice", limit="1", **({"cursor": cursor} if cursor else {}))
        found += [item["id"] for item in page["items"]]
        assert len(page["items"]) <= 1
        if page["next"] is None:
            break
        cursor = page["next"]
    assert found == morgue.lying(job="twice")
    assert [run for run in found if "page" in run] == dead[::-1]


def test_the_story_of_a_letter_holds_input_attempts_errors_output_and_trace(morgue: Morgue) -> None:
    run = morgue.begin("twice", "story", 30)
    morgue.attempt(at(30), Problem("temporary", "first \x1b[31m", 3), "one\n")
    morgue.attempt(at(35), EXIT_3, "two\n")
    found = story_of(morgue, run)
    facts = {key: found[key] for key in ("id", "job", "slot", "version", "queue", "attempts", "arrivals", "redrivable")}
    assert facts == {"id": run, "job": "twice", "slot": None, "version": 1, "queue": "night", "attempts": 2,
                     "arrivals": 1, "redrivable": True}  # fmt: skip
    folder = str(morgue.service.var.parent / "conf")
    assert found["command"] == {"argv": ["exit 3"], "shell": True, "cwd": folder}
    assert (found["output_tail"], found["dead_since"]) == ("two\n", format_instant(at(35).now))
    assert found["trace_id"] == sha256(run.encode()).hexdigest()[:32]
    tried = [(each["number"], each["outcome"], each["worker"], each["error"]) for each in found["attempt_list"]]
    first = {"kind": "temporary", "message": "first \x1b[31m", "exit_code": 3}
    assert tried == [(1, "retrying", "w1", first), (2, "failed", "w1", EXIT_3.wire())]
    assert [each["started_at"] for each in found["attempt_list"]] == [format_instant(at(s).now) for s in (30, 35)]
    assert [(each["type"], each["reason"]) for each in found["decisions"]] == [("dead_lettered", "attempts_used")]


def test_the_values_of_the_environment_are_not_told(morgue: Morgue) -> None:
    run = morgue.die("tidy", "secretive", 40)
    answer = morgue.ask("GET", f"dead/{run}", caller="dashboard")
    assert answer.json()["command"]["argv"] == ["tidy", "--all", "a b"]
    assert "secret" not in answer.text.replace("secretive", "")


def test_a_request_is_told_by_method_and_address_without_its_query(morgue: Morgue) -> None:
    run = morgue.die("asks", "hidden", 45)
    answer = morgue.ask("GET", f"dead/{run}", caller="dashboard")
    assert answer.json()["command"] == {"argv": ["PUT", "https://a.example/b"], "shell": False, "cwd": None}
    assert "secret" not in answer.text


def test_a_letter_that_was_redriven_and_died_again_keeps_its_history(morgue: Morgue) -> None:
    run = morgue.die("tidy", "again", 50)
    assert morgue.ask("POST", f"dead/{run}/redrive", {"by": "ana"}).status_code == 202
    assert not story_of(morgue, run)["redrivable"], "the queue has let it go; the ledger has not heard of it yet"
    morgue.report()
    assert morgue.ask("GET", f"dead/{run}").status_code == 404
    morgue.attempt(read_moment(), Problem("permanent", "exit 9", 9))
    found = story_of(morgue, run)
    told = [(each["type"], each["attempt"], each["by"]) for each in found["decisions"]]
    assert told == [("dead_lettered", 1, None), ("redriven", 2, "ana"), ("dead_lettered", 2, None)]
    assert (found["arrivals"], [each["error"]["message"] for each in found["attempt_list"]]) == (
        2,
        ["exit 1", "exit 9"],
    )


def test_a_discarded_letter_is_listed_no_more_and_stays_a_run_that_died(morgue: Morgue) -> None:
    run = morgue.die("tidy", "discarded", 60)
    before = queue_numbers(morgue, "default")
    assert morgue.ask("POST", f"dead/{run}/discard", {"by": "ana", "reason": "seen"}).status_code == 202
    morgue.report()
    assert run not in morgue.lying()
    assert morgue.ask("GET", f"dead/{run}").status_code == 404
    assert queue_numbers(morgue, "default") == (before[0] - 1, before[1])
    assert run in [item["id"] for item in morgue.service.get("/api/v1/runs", outcome="dead_lettered")["items"]]


@pytest.mark.parametrize("body", [{"by": "ana"}, {"by": "ana", "reason": "  "}, {"by": "ana", "reason": "x" * 1001}])
def test_to_discard_needs_a_reason_of_bounded_length(morgue: Morgue, body: dict[str, str]) -> None:
    answer = morgue.ask("POST", "dead/tidy!x/discard", body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert "reason" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "dead/tidy!x"), ("POST", "dead/tidy!x/redrive"), ("POST", "dead/tidy!x/discard")]
)
def test_what_is_no_dead_letter_is_a_problem_that_says_where_to_look(morgue: Morgue, method: str, path: str) -> None:
    answer = morgue.ask(method, path, {"by": "ana", "reason": "seen"} if method == "POST" else None)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["detail"] == "run 'tidy!x' is no dead letter of this queue; see GET /api/v1/dead"


def test_a_letter_that_died_elsewhere_is_told_without_a_version(morgue: Morgue) -> None:
    about = {"source": "test", "job": "elsewhere", "run": "e1", "at": format_instant(at(70).now)}
    events = [{**about, "id": kind, "type": kind} for kind in ("started", "failed", "dead_lettered")]
    assert morgue.service.post(events).status_code == 202
    found = story_of(morgue, "e1")
    assert (found["version"], found["command"], found["redrivable"], found["queue"]) == (None, None, False, "default")
    assert "e1" in morgue.lying(queue="default", job="elsewhere")


@pytest.mark.parametrize(("tries", "first"), [(MAX_ATTEMPTS - 1, 1), (MAX_ATTEMPTS, 1), (MAX_ATTEMPTS + 1, 2)])
def test_of_more_attempts_than_fit_the_newest_are_told(morgue: Morgue, tries: int, first: int) -> None:
    about = {"source": "test", "job": "stubborn", "run": f"s{tries}"}
    kinds = [("started", number) for number in range(1, tries + 1)] + [("failed", tries), ("dead_lettered", tries)]
    events = [
        {
            **about,
            "id": f"{kind}-{number}-{tries}",
            "type": kind,
            "attempt": number,
            "at": format_instant(at(number).now),
        }
        for kind, number in kinds
    ]
    assert morgue.service.post(events).json()["accepted"] == len(events)
    found = story_of(morgue, f"s{tries}")
    assert found["attempts"] == tries
    assert [each["number"] for each in found["attempt_list"]] == list(range(first, tries + 1))


def test_c30_depth_arrivals_and_oldest_age_are_three_numbers(morgue: Morgue) -> None:
    named = {name: morgue.begin("c30", name, second) for name, second in (("A", 1), ("B", 2), ("C", 8))}
    seen = []

    def now_said() -> None:
        morgue.report()
        seen.append(queue_numbers(morgue, "c30"))

    # Each is the only run due at its second; C's second is the last.
    for second, problem in ((1, EXIT_3), (2, EXIT_3)):
        morgue.attempt(at(second), problem)
        now_said()
    twice = {"id": "twice", "source": "test", "type": "dead_lettered", "job": "c30", "run": named["A"]}
    morgue.service.post([{**twice, "at": format_instant(at(3).now), "data": {"queue": "c30"}}])
    now_said()
    assert redrive(morgue.engine, named["A"], at(4).now, "ana")
    now_said()
    morgue.attempt(at(5), EXIT_3)
    now_said()
    assert redrive(morgue.engine, named["B"], at(6).now, "ana")
    now_said()
    morgue.attempt(at(7), None)
    now_said()
    morgue.attempt(at(8), EXIT_3)
    now_said()
    assert [depth for depth, _ in seen] == [1, 2, 2, 1, 2, 1, 1, 2]
    assert seen[-1][1] == 4
    (at_t8,) = [each for each in depths(morgue.engine, at(8).now) if each["queue"] == "c30"]
    assert (at_t8["dead_depth"], at_t8["dead_oldest_seconds"]) == (2, 3)
    answer = morgue.service.get("/api/v1/queues")
    (told,) = [each for each in answer["items"] if each["queue"] == "c30"]
    since = parse_instant(answer["as_of"]) - timedelta(seconds=told["dead_oldest_seconds"])
    assert abs(since - at(5).now) < timedelta(milliseconds=1)
    ended = {run["id"]: run["outcome"] for run in morgue.service.get("/api/v1/runs", job="c30")["items"]}
    assert ended == {named["A"]: "dead_lettered", named["B"]: "succeeded", named["C"]: "dead_lettered"}
