"""Sloth's files to objectives: percentages stay percentages, and queries stay text."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from control import cli
from scheduler.importers.imported import Source
from slo.objectives import load_slo_files
from slo.sloth import read_sloth

FILE = """
version: "prometheus/v1"
service: "myservice"
labels: {owner: "myteam"}
slos:
  - name: "requests-availability"
    objective: 99.9
    description: "Availability of the answers."
    sli:
      events:
        error_query: sum(rate(http_request_duration_seconds_count{job="myservice",code=~"(5..|429)"}[{{.window}}]))
        total_query: sum(rate(http_request_duration_seconds_count{job="myservice"}[{{.window}}]))
    alerting:
      name: MyServiceHighErrorRate
      page_alert: {labels: {severity: pageteam}, for: 5m}
      ticket_alert: {labels: {severity: slack}}
"""
RESOURCE = """
apiVersion: sloth.slok.dev/v1
kind: PrometheusServiceLevel
metadata: {name: x}
spec:
  service: other
  slos:
    - name: quiet
      objective: 99
      alerting: {pageAlert: {disable: true}, ticketAlert: {disable: true}}
"""


def test_an_objective_is_a_percentage_and_its_template_stays_text(tmp_path: Path) -> None:  # F16
    found = read_sloth([Source("getting-started.yml", FILE)])
    (slo,) = found.slos
    assert (slo["id"], slo["objective"], slo["window"]) == ("myservice-requests-availability", "99.9%", "30d")
    assert (slo["indicator"], slo["alert"], slo["select"]) == ("success", "standard", {"service": "myservice"})
    (queries,) = [finding for finding in found.findings if "sli:" in finding.message]
    assert queries.level == "warning" and "{{.window}}" in queries.message
    (tmp_path / "slos.yaml").write_text(json.dumps({"slos": found.slos}))
    (objective,) = load_slo_files(tmp_path).objectives
    assert 1 - objective.objective == Fraction("0.001")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("0.9995", "objective 0.9995 is a percentage to Sloth, and looks like a ratio; write 99.95"),
        ("100", "objective"),
        ("0", "objective"),
        ("'99.9'", "objective '99.9' is not a number"),
        (".nan", "objective"),
    ],
)
def test_an_objective_that_is_no_percentage_is_left_out_and_named(number: str, words: str) -> None:
    found = read_sloth([Source("f", FILE.replace("objective: 99.9", f"objective: {number}"))])
    assert found.slos == []
    assert [finding.code for finding in found.findings] == ["refused"]
    assert words in found.findings[0].message and found.findings[0].where == "f:6"


def test_a_kubernetes_resource_is_read_and_switched_off_alerts_stay_off() -> None:
    found = read_sloth([Source("f", FILE + "---" + RESOURCE)])
    assert [(slo["id"], slo["alert"]) for slo in found.slos] == [
        ("myservice-requests-availability", "standard"),
        ("other-quiet", "none"),
    ]


def test_an_objective_that_says_nothing_of_alerts_has_both() -> None:
    found = read_sloth([Source("f", "version: prometheus/v1\nservice: s\nslos: [{name: a, objective: 99}]")])
    assert [slo["alert"] for slo in found.slos] == ["standard"]
    assert found.findings == []


@pytest.mark.parametrize("text", ["", "version: prometheus/v2\nslos: []", "- 1", "version: prometheus/v1\nslos: 3"])
def test_a_file_without_objectives_says_so(text: str) -> None:
    assert [finding.code for finding in read_sloth([Source("f", text)]).findings] == ["nothing_found"]


def test_the_command_prints_a_file_that_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sloth.txt").write_text(FILE)
    assert cli.main(["import", "sloth", str(tmp_path / "sloth.txt")]) == 0
    printed = capsys.readouterr()
    (tmp_path / "slos.yaml").write_text(printed.out)
    assert [objective.id for objective in load_slo_files(tmp_path).objectives] == ["myservice-requests-availability"]
    assert printed.err.splitlines()[-1] == "slos: 1, errors: 0, warnings: 2"
    assert cli.main(["import", "sloth", str(tmp_path / "sloth.txt"), "--tz", "UTC"]) == 2
    assert "--tz mean nothing for sloth" in capsys.readouterr().err
