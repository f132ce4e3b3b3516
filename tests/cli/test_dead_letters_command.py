"""`tepat dead` against a real ledger: what it lists, shows, sends round again and puts away, and its exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.collecting import Collector
from ledger.dying import DEADLY, Morgue, morgue_of
from ledger.serving import Service, serving
from queueing.farm import at, states

from control import cli
from control.commands import UsageError
from control.commands.dead import rate_of, wait_before
from control.dead_letter_text import OUTPUT_LINES, age
from scheduler import clock
from scheduler.endings import Problem
from scheduler.instants import format_instant


@pytest.fixture
def morgue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Morgue]:
    """A ledger of its own for each test that counts letters; the command line finds it."""
    with serving(tmp_path, DEADLY) as service, morgue_of(service) as opened:
        monkeypatch.setenv("TEPAT_URL", service.url)
        monkeypatch.setenv("TEPAT_TOKEN_FILE", str(service.var / "tokens" / "admin"))
        yield opened


@pytest.fixture(scope="module")
def deathless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One ledger without any dead letter."""
    with serving(tmp_path_factory.mktemp("deathless"), DEADLY) as running:
        yield running


def test_the_list_tells_each_queues_three_numbers_and_a_line_for_each_letter(
    morgue: Morgue, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["dead", "list"]) == 0
    assert capsys.readouterr().out == "no dead letters\n"
    first, second = morgue.die("tidy", "a", 1, "bad\x1b[2Jnews"), morgue.die("twice", "b", 2)
    assert cli.main(["dead", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(" ")[0] for line in lines[:2]] == [
        "queue default: depth 1, arrivals 1, oldest",
        "queue night: depth 1, arrivals 1, oldest",
    ]
    assert lines[2].split() == ["RUN", "JOB", "QUEUE", "DEAD", "SINCE", "ATTEMPTS", "ERROR"]
    assert [line.split()[:3] for line in lines[3:]] == [[second, "twice", "night"], [first, "tidy", "default"]]
    assert lines[4].endswith("permanent: bad\\x1b[2Jnews")
    for option, value in (("--queue", "night"), ("--job", "twice")):
        assert cli.main(["dead", "list", option, value, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert ([item["id"] for item in answer["items"]], answer["more"]) == ([second], False)
        assert set(answer["queues"][0]) == {"queue", "dead_depth", "dead_arrivals", "dead_oldest_seconds"}


def test_a_letter_is_shown_with_all_that_a_person_needs(morgue: Morgue, capsys: pytest.CaptureFixture[str]) -> None:
    run = morgue.begin("tidy", "shown", 1)
    output = "".join(f"line {number}\n" for number in range(OUTPUT_LINES)) + "last\x1b[2K\r100 %\n"
    morgue.attempt(at(1), Problem("permanent", "exit 2\nand more", 2), output)
    assert cli.main(["dead", "show", run]) == 0
    lines = capsys.readouterr().out.splitlines()
    died = format_instant(at(1).now)
    assert lines[:5] == [
        "run      tidy!shown",
        "job      tidy, version 1, queue default",
        "slot     none: it was asked for by hand or by an event",
        f"command  tidy --all 'a b'  (in {morgue.service.var.parent / 'conf'})",
        f"dead     since {died}, arrival number 1",
    ]
    assert lines[6:11] == [
        "attempts",
        f"  1  {died} to {died}  worker w1  failed: permanent: exit 2 and more",
        "history",
        f"  {died}  attempt 1 dead lettered: permanent",
        f"output   the last {OUTPUT_LINES} lines; --json has 1 more",
    ]
    assert (lines[11], lines[-1]) == ("  | line 1", "  | last\\x1b[2K\\r100 %")
    assert cli.main(["dead", "show", run, "--json"]) == 0
    assert lines[5] == f"trace    {json.loads(capsys.readouterr().out)['trace_id']}"


def test_some_all_or_a_jobs_letters_are_redriven_and_counted(
    morgue: Morgue, capsys: pytest.CaptureFixture[str]
) -> None:
    tidy = [morgue.die("tidy", f"t{number}", number) for number in range(3)]
    night = morgue.die("twice", "n", 9)
    assert cli.main(["dead", "redrive", tidy[0], "tidy!nobody", tidy[0], "--by", "ana"]) == 0
    said = capsys.readouterr()
    assert said.out == "redriven 1 of 2 dead letters\n"
    assert said.err == "tidy!nobody is no dead letter of this queue; see `tepat dead list`\n"
    morgue.report()
    assert cli.main(["dead", "redrive", "--job", "tidy", "--rate", "1000/s", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"redriven": tidy[1:], "not_dead": [], "left": 0}
    morgue.report()
    assert cli.main(["dead", "redrive", "--all"]) == 0
    assert capsys.readouterr().out == "redriven 1 of 1 dead letter\n"
    assert states(morgue.engine) == dict.fromkeys([*tidy, night], "queued")


def test_a_discarded_letter_keeps_who_and_why(morgue: Morgue, capsys: pytest.CaptureFixture[str]) -> None:
    run, kept = morgue.die("tidy", "a", 1), morgue.die("tidy", "b", 2)
    assert cli.main(["dead", "discard", run, "--reason", " no longer needed ", "--by", "ana"]) == 0
    assert capsys.readouterr().out == "discarded 1 of 1 dead letter\n"
    morgue.report()
    assert morgue.lying() == [kept]
    assert cli.main(["dead", "discard", run, "--reason", "again", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"discarded": [], "not_dead": [run], "left": 0}


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "tidy!nobody"],
        ["redrive", "tidy!nobody"],
        ["redrive", "--all"],
        ["redrive", "--job", "tidy"],
        ["discard", "tidy!nobody", "--reason", "seen"],
    ],
)
def test_when_nothing_of_what_was_asked_is_a_dead_letter_it_is_1(
    arguments: list[str], deathless: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEPAT_URL", deathless.url)
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(deathless.var / "tokens" / "admin"))
    assert cli.main(["dead", *arguments]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["bury"], "bury"),
        (["show"], "RUN"),
        (["redrive"], "RUN..., --job J, --all"),
        (["redrive", "x", "--all"], "RUN..., --job J, --all"),
        (["redrive", "--job", "x", "--all"], "RUN..., --job J, --all"),
        (["redrive", "x", "--rate", "fast"], "5/s"),
        (["redrive", "x", "--by", ""], "--by"),
        (["discard", "x"], "--reason"),
        (["discard", "x", "--reason", "  "], "--reason has 0 characters"),
        (["discard", "--reason", "seen"], "RUN"),
    ],
)
def test_wrong_usage_of_dead_is_2_and_says_what_to_give(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert cli.main(["dead", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["list"], ["show", "x"], ["redrive", "x"], ["discard", "x", "--reason", "y"]])
def test_a_service_that_can_not_be_reached_is_3_for_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    (tmp_path / "token").write_text("t\n")
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("TEPAT_URL", "http://127.0.0.1:9")
    assert cli.main(["dead", *arguments]) == 3
    assert "tepat up" in capsys.readouterr().err


def test_another_servers_404_is_no_word_about_a_dead_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text("t\n")
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(tmp_path / "token"))
    with Collector(answer=lambda _: (404, b"not here")) as other:
        monkeypatch.setenv("TEPAT_URL", other.url)
        assert cli.main(["dead", "redrive", "x"]) == 2
    assert "answered 404" in capsys.readouterr().err


@pytest.mark.parametrize("what", [["redrive", "tidy!x"], ["discard", "tidy!x", "--reason", "seen"]])
def test_a_viewers_token_may_not_decide_about_letters(
    deathless: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: list[str]
) -> None:
    monkeypatch.setenv("TEPAT_URL", deathless.url)
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(deathless.var / "tokens" / "dashboard"))
    assert cli.main(["dead", "list"]) == 0
    assert cli.main(["dead", *what]) == 2
    assert "needs role admin" in capsys.readouterr().err


def test_a_redrive_that_is_cut_short_says_how_many_went(
    morgue: Morgue, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [morgue.die("tidy", f"t{number}", number) for number in range(3)]
    pauses = iter([None, KeyboardInterrupt()])

    def pause(_: float) -> None:
        stop = next(pauses)
        if stop is not None:
            raise stop

    monkeypatch.setattr(clock, "pause", pause)
    assert cli.main(["dead", "redrive", *runs]) == 130
    said = capsys.readouterr()
    assert (said.out, "left undone: 2" in said.err) == ("redriven 1 of 3 dead letters\n", True)


@pytest.mark.parametrize(
    ("number", "rate", "elapsed", "wait"),
    [(0, 5, 0, 0), (1, 5, 0, 0.2), (10, 5, 1.5, 0.5), (10, 5, 2, 0), (10, 5, 2.5, 0), (1, 0.5, 0, 2)],
)
def test_letters_go_no_faster_than_their_rate(number: int, rate: float, elapsed: float, wait: float) -> None:
    assert wait_before(number, rate, elapsed) == pytest.approx(wait)


@pytest.mark.parametrize(("given", "rate"), [("5/s", 5), ("0.5/s", 0.5), ("5", 5), ("1000/s", 1000)])
def test_a_rate_is_a_number_of_letters_a_second(given: str, rate: float) -> None:
    assert rate_of(given) == rate


@pytest.mark.parametrize("given", ["0/s", "1000.1/s", "-1/s", "5/m", "inf/s", "nan", "", "1e3/s", "٥/s"])
def test_what_is_no_rate_is_refused_by_its_value(given: str) -> None:
    with pytest.raises(UsageError, match="is no rate"):
        rate_of(given)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "-"), (0, "0s"), (59.9, "59s"), (60, "1min"), (3599, "59min"), (3600, "1h"), (86399, "23h"), (86400, "1d")],
)
def test_an_age_is_told_in_its_largest_whole_unit(seconds: float | None, text: str) -> None:
    assert age(seconds) == text
