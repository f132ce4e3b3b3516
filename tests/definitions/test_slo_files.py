"""SLO files: objectives keep their exact ratio, channels keep no secret, and what is wrong is named with its remedy."""

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.files import DefinitionError, Problem
from scheduler.jobs import Job
from slo.channels.settings import FileChannel, SecretRef, SlackChannel, WebhookChannel
from slo.objectives import Objective, Policy, load_configuration, load_slo_files, selects
from slo.schema_models import read_objective

Write = Callable[..., Path]


def problems_of(folder: Path) -> tuple[Problem, ...]:
    with pytest.raises(DefinitionError) as caught:
        load_configuration(folder)
    return caught.value.problems


def slo_of(write: Write, objective: str, more: str = "") -> Objective:
    folder = write(f"slos:\n  - id: a\n    indicator: success\n    objective: {objective}\n    {more}\n")
    return load_slo_files(folder).objectives[0]


def problem_of(write: Write, objective: str, more: str = "") -> Problem:
    folder = write(f"slos:\n  - id: a\n    indicator: success\n    objective: {objective}\n    {more}\n")
    (problem,) = problems_of(folder)
    return problem


def test_an_objective_with_every_key_is_read_whole(write: Write) -> None:
    folder = write("""
        slos:
          - id: daily-on-time
            description: Daily jobs start when they should
            runbook: Look at the queue
            indicator: on_time
            select: {class: daily, queue: [billing, ledger]}
            objective: 99.5%
            window: 7d
            alert: {policy: standard, min_bad: {page: 3, ticket: 2}, keep_firing: 5m, repeat: 1h}
            notify: [noc, lead, noc]
        channels:
          noc: {file: {path: var/notices.jsonl}}
          lead: {file: {path: lead.jsonl}}
        settings: {allow_networks: [127.0.0.0/8, "fd00::/8"]}
        """)
    files = load_slo_files(folder)
    assert files.allow_networks == ("127.0.0.0/8", "fd00::/8")
    assert files.objectives == (
        Objective(
            id="daily-on-time",
            description="Daily jobs start when they should",
            runbook="Look at the queue",
            indicator="on_time",
            select={"class": ("daily",), "queue": ("billing", "ledger")},
            objective=Fraction(199, 200),
            window=timedelta(days=7),
            policy=Policy(
                min_bad_page=3, min_bad_ticket=2, keep_firing=timedelta(minutes=5), repeat=timedelta(hours=1)
            ),
            notify=("noc", "lead"),
            source="jobs.yaml#daily-on-time",
        ),
    )


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("99.5%", Fraction(199, 200)),
        ('"99.5 %"', Fraction(199, 200)),
        ("0.995", Fraction(199, 200)),
        ('"0.995"', Fraction(199, 200)),
        ("0.9", Fraction(9, 10)),
        ("99.999%", Fraction(99_999, 100_000)),
        ("0.5%", Fraction(1, 200)),
        ("0.00001", Fraction(1, 100_000)),
        ("1%", Fraction(1, 100)),
    ],
)
def test_an_objective_is_the_exact_ratio_that_is_written(write: Write, text: str, ratio: Fraction) -> None:
    found = slo_of(write, text)
    assert (found.objective, found.bare_percent) == (ratio, False)


@pytest.mark.parametrize("text", ["99.5", '"99.5"', "99.50"])
def test_a_number_between_one_and_a_hundred_without_percent_is_read_as_one_and_marked(write: Write, text: str) -> None:
    found = slo_of(write, text)
    assert (found.objective, found.bare_percent) == (Fraction(199, 200), True)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("100%", "100 %"),
        ("1", "100 %"),
        ("1.0", "100 %"),
        ("100", "100 %"),
        ("100.0%", "100 %"),
        ("0%", "0 %"),
        ("0", "0 %"),
        ("0.0", "0 %"),
        ("100.001%", "above"),
        ("120%", "above"),
        ("101", "above"),
        (".nan", "not an objective"),
        ("nan", "not an objective"),
        (".inf", "not an objective"),
        ("inf%", "not an objective"),
        ("-5%", "not an objective"),
        ("-0.5", "not an objective"),
        ("true", "not an objective"),
        ("[99%]", "not an objective"),
        ("1e-400000", "not an objective"),
        ("high", "not an objective"),
        ("''", "not an objective"),
    ],
)
def test_an_objective_that_can_not_be_is_refused_by_its_field(write: Write, text: str, word: str) -> None:
    problem = problem_of(write, text)
    assert (problem.line, problem.field) == (4, "slos[0].objective")
    assert word in problem.message
    assert "write" in problem.remedy


@given(st.integers(1, 9_999_999))
def test_a_float_in_a_file_is_the_decimal_that_was_written(numerator: int) -> None:
    ratio, bare = read_objective(numerator / 10_000_000)
    assert (ratio, bare) == (Fraction(numerator, 10_000_000), False)


@pytest.mark.parametrize(
    ("more", "field", "word"),
    [
        ("window: 59s", "window", "1m to 366d"),
        ("window: 367d", "window", "1m to 366d"),
        ("window: 30", "window", "no unit"),
        ("window: {calendar: month}", "window", "not available"),
        ("alert: loud", "alert.policy", "'standard' or 'none'"),
        ("alert: off", "alert", "standard"),
        ("alert: {policy: standard, min_bad: {page: 0}}", "alert.min_bad.page", "greater than or equal to 1"),
        ("alert: {policy: standard, escalate: {after: 1m}}", "alert.escalate", "not available"),
        ("alert: {policy: standard, repeat: 0s}", "alert.repeat", "above zero"),
        ("notify: nobody", "notify[0]", "not a channel"),
        ("select: {class: []}", "select.class", "empty"),
        ("select: {year: 2026}", "select.year[0]", 'quote the value: "2026"'),
        ("per: job", "per", "not available"),
        ("allow: {bad: 2, per: 30d}", "allow", "not available"),
        ("objectve: 3", "objectve", "did you mean `objective`?"),
    ],
)
def test_a_wrong_value_of_an_objective_is_refused(write: Write, more: str, field: str, word: str) -> None:
    problem = problem_of(write, "99%", more)
    assert (problem.line, problem.field) == (5, f"slos[0].{field}")
    assert word in f"{problem.message}; {problem.remedy}"


@pytest.mark.parametrize(("window", "length"), [("1m", timedelta(minutes=1)), ("366d", timedelta(days=366))])
def test_the_shortest_and_the_longest_window_are_fine(write: Write, window: str, length: timedelta) -> None:
    assert slo_of(write, "99%", f"window: {window}").window == length


@pytest.mark.parametrize(
    "indicator", ["duration", "queue_wait", "freshness", "dead_letters", "{duration: {below: 1m}}"]
)
def test_an_indicator_of_a_later_version_is_refused_by_name(write: Write, indicator: str) -> None:
    (problem,) = problems_of(write(f"slos: [{{id: a, indicator: {indicator}, objective: 99%}}]\n"))
    assert problem.message == "is not available in this version"


@pytest.mark.parametrize(
    ("alert", "policy"),
    [("standard", Policy()), ("none", None), ("{policy: standard, min_bad: {page: 1}}", Policy(min_bad_page=1))],
)
def test_an_alert_is_a_word_or_a_policy(write: Write, alert: str, policy: Policy | None) -> None:
    assert slo_of(write, "99%", f"alert: {alert}").policy == policy


@pytest.mark.parametrize(
    "url",
    ["https://hooks.slack.com/services/T0/B0/s3cret", "http://127.0.0.1.evil.example/s3cret", "http://10.0.0.1/s3cret"],
)
def test_a_channel_url_in_plain_sight_is_refused_and_not_repeated(write: Write, url: str) -> None:
    (problem,) = problems_of(write(f"channels:\n  noc: {{slack: {{url: '{url}'}}}}\n"))
    assert (problem.line, problem.field) == (2, "channels.noc.slack.url")
    assert "s3cret" not in str(problem)
    assert "{file: /run/secrets/name}" in problem.remedy


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://localhost/x", "http://[::1]:80/x"])
def test_a_loopback_url_may_stand_in_the_file(write: Write, url: str) -> None:
    files = load_slo_files(write(f"channels: {{noc: {{webhook: {{url: '{url}'}}}}}}\n"))
    assert files.channels == {"noc": WebhookChannel("noc", url)}


def test_secrets_are_references_found_from_the_folder_of_their_file(write: Write) -> None:
    folder = write("""
        channels:
          a: {slack: {url: {file: /run/secrets/a}}}
          b: {webhook: {url: {file: secrets/b}, secret: {file: secrets/key}}}
          c: {file: {path: var/notices.jsonl}}
        """)
    assert load_slo_files(folder).channels == {
        "a": SlackChannel("a", SecretRef("/run/secrets/a")),
        "b": WebhookChannel("b", SecretRef(str(folder / "secrets/b")), SecretRef(str(folder / "secrets/key"))),
        "c": FileChannel("c", "var/notices.jsonl"),
    }


@pytest.mark.parametrize(
    ("channel", "field", "word"),
    [
        ("{webhook: {url: http://127.0.0.1/, secret: s3cret}}", "channels.noc.webhook.secret", "{file:"),
        ("{webhook: {url: {file: 3}}}", "channels.noc.webhook.url", "{file:"),
        ("{webhook: {url: {env: TOKEN}}}", "channels.noc.webhook.url", "{file:"),
        ("{webhook: {url: 'ftp://127.0.0.1/'}}", "channels.noc.webhook.url", "http or https"),
        ("{webhook: {url: 'http://[::1/'}}", "channels.noc.webhook.url", "http or https"),
        ("{}", "channels.noc", "none of slack"),
        ("{file: {path: a}, slack: {url: {file: b}}}", "channels.noc", "slack and file"),
        ("{email: {to: x}}", "channels.noc.email", "not a known key"),
    ],
)
def test_a_wrong_channel_is_refused(write: Write, channel: str, field: str, word: str) -> None:
    found = problems_of(write(f"channels:\n  noc: {channel}\n"))
    assert found[0].field == field
    assert word in f"{found[0].message}; {found[0].remedy}"
    assert "s3cret" not in str(found[0])


def test_a_network_with_host_bits_is_refused(write: Write) -> None:
    (problem,) = problems_of(write("settings: {allow_networks: [127.0.0.1/8]}\n"))
    assert (problem.field, problem.value) == ("settings.allow_networks[0]", "127.0.0.1/8")


def test_ids_and_channels_and_settings_stand_once_in_a_folder(write: Write) -> None:
    text = "slos: [{id: a, indicator: success, objective: 99%}]\nchannels: {c: {file: {path: x}}}\nsettings: {}\n"
    write(text, "a.yaml")
    folder = write(text, "b.yaml")
    assert [problem.field for problem in problems_of(folder)] == ["slos[0].id", "channels.c", "settings"]
    assert all(f"{folder / 'a.yaml'}:" in problem.message for problem in problems_of(folder))


def test_problems_of_jobs_and_objectives_are_reported_together(write: Write) -> None:
    folder = write("jobs: [{id: a b}]\nslos: [{id: a}]\nx: 1\n")
    fields = [problem.field for problem in problems_of(folder)]
    assert fields == ["jobs[0].id", "slos[0].indicator", "slos[0].objective", "x"]


JOB = Job(id="j", queue="q", tenant="t", owner="o", type="k", priority="critical", labels={"class": "daily"})


@pytest.mark.parametrize(
    ("select", "fits"),
    [
        ({}, True),
        ({"job": ("j",)}, True),
        ({"queue": ("x", "q")}, True),
        ({"tenant": ("t",), "owner": ("o",), "type": ("k",), "priority": ("critical",)}, True),
        ({"class": ("daily",)}, True),
        ({"class": ("daily",), "queue": ("x",)}, False),
        ({"class": ("weekly",)}, False),
        ({"absent": ("daily",)}, False),
        ({"absent": ("",)}, False),
    ],
)
def test_select_fits_when_every_key_does(select: dict[str, tuple[str, ...]], fits: bool) -> None:
    objective = Objective(id="a", indicator="success", objective=Fraction(9, 10), select=select)
    assert selects(objective, JOB) is fits
