"""Sloth's SLO files to objectives. Pure. Their queries are text of another system: kept in a finding, never evaluated.

Sloth's `objective` is a percentage. What its queries count are requests; here runs of jobs are counted, so an objective
keeps its promise and its name, and which jobs stand for it is the reader's to say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from scheduler.findings import Finding
from scheduler.importers.codes import CODES
from scheduler.importers.imported import Source
from scheduler.importers.manifests import Manifest, read_manifests
from slo.schema_models import SloModel

KINDS = ("prometheus/v1", "sloth.slok.dev/v1")
WINDOW = "30d"  # Sloth's own default
MAX_TEXT = 400
Slo = dict[str, Any]


@dataclass(slots=True)
class SlothFiles:
    """Objectives as an SLO file holds them, and what was noticed, in the order of the source."""

    slos: list[Slo] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def say(self, code: str, where: str, message: str) -> None:
        """One finding; its level follows from its code."""
        self.findings.append(Finding(CODES[code][0], code, where, message))


def read_sloth(sources: Sequence[Source]) -> SlothFiles:
    """Every objective of one or more files, plain or as a Kubernetes resource. Nothing in them raises."""
    found = SlothFiles()
    for source in sources:
        for manifest in read_manifests(source.text):
            _document(source, manifest, found)
    if not found.slos and not any(finding.level == "error" for finding in found.findings):
        found.say("nothing_found", sources[0].name, f"there is no Sloth file in it: no version {' or '.join(KINDS)}")
    return found


def _document(source: Source, manifest: Manifest, found: SlothFiles) -> None:
    where, value = f"{source.name}:{manifest.line}", manifest.value
    if manifest.wrong:
        found.say("yaml_syntax", where, f"the document {manifest.wrong}")
        return
    if not isinstance(value, dict) or value.get("version", value.get("apiVersion")) not in KINDS:
        return
    spec = value.get("spec", value)
    slos = spec.get("slos") if isinstance(spec, dict) else None
    for index, slo in enumerate(slos if isinstance(slos, list) else []):
        path = ("spec", "slos", index) if "spec" in value else ("slos", index)
        if isinstance(slo, dict):
            _objective(slo, str(spec.get("service", "")), f"{source.name}:{manifest.line_of(path)}", found)


def _objective(slo: dict[str, Any], service: str, where: str, found: SlothFiles) -> None:
    name = f"{service}-{slo.get('name', '')}".strip("-")
    percent = _percent(slo.get("objective"))
    if isinstance(percent, str):
        found.say("refused", where, f"{name}: {percent}; the objective is left out")
        return
    made = {
        "id": name,
        "description": str(slo.get("description", "")),
        "indicator": "success",
        "select": {"service": service},
        "objective": f"{percent}%",
        "window": WINDOW,
        "alert": "standard" if _alerts(slo) else "none",
    }
    wrong = list(_wrong(made))
    for said in wrong:
        found.say("refused", where, f"{name}: {said}; the objective is left out")
    if not wrong:
        found.slos.append({key: value for key, value in made.items() if value})
        for text in _lost(slo):
            found.say("not_carried", where, f"{name}: {text}")


def _percent(value: Any) -> Decimal | str:
    """The percentage, or what is wrong with it. Below 1 it is a ratio by mistake: Sloth would take it for 0.9995 %."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"objective {str(value)[:40]!r} is not a number; Sloth writes a percentage like 99.9"
    if 0 < value < 1:
        return (
            f"objective {value} is a percentage to Sloth, and looks like a ratio; write {Decimal(str(value)) * 100:f}"
        )
    return Decimal(str(value))


def _alerts(slo: dict[str, Any]) -> list[dict[str, Any]]:
    """The alerts that are not switched off."""
    alerting = slo.get("alerting") or {}
    if not isinstance(alerting, dict):
        return []
    pairs = (("page_alert", "pageAlert"), ("ticket_alert", "ticketAlert"))
    found = [alerting.get(snake, alerting.get(camel, {})) for snake, camel in pairs]
    return [alert for alert in found if isinstance(alert, dict) and not alert.get("disable")]


def _wrong(slo: Slo) -> Iterator[str]:
    try:
        SloModel.model_validate(slo)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            yield f"{'.'.join(map(str, detail['loc']))}: {detail['msg'].removeprefix('Value error, ')}"


def _lost(slo: dict[str, Any]) -> Iterator[str]:
    sli = slo.get("sli")
    if isinstance(sli, dict):
        yield f"sli: {_text(sli)}: queries count requests; written as `indicator: success`, choose the jobs by `select`"
    if len(_alerts(slo)) == 1:
        yield "alerting: only one of page and ticket is on; written as `alert: standard`, which has both"
    for key in ("labels", "alerting"):
        if slo.get(key):
            yield f"{key}: {_text(slo[key])}: labels and annotations of Prometheus; here `notify` says who is told"


def _text(value: Any) -> str:
    flat = " ".join(str(value).split())
    return flat if len(flat) <= MAX_TEXT else f"{flat[: MAX_TEXT - 3]}..."
