"""What an objective is: frozen values that everything else trusts. Files become these in `objectives.py`. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import Literal

from scheduler.jobs import Job
from slo.channels.settings import Channel

Indicator = Literal["on_time", "success"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The standard alert policy's settings. `min_bad_*` is the least bad events in the long window."""

    min_bad_page: int = 2
    min_bad_ticket: int = 1
    keep_firing: timedelta = timedelta(0)
    repeat: timedelta = timedelta(hours=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A promise about the jobs that `select` picks: the share of good slots or runs over a rolling window.

    `select` maps a field or a label to the values that fit; all keys must fit. Without a policy nothing alerts.
    `source` says where it stands, as `slos.yaml#backups`; `bare_percent` that its percentage was written without `%`.
    """

    id: str
    indicator: Indicator
    objective: Fraction
    select: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    window: timedelta = timedelta(days=30)
    policy: Policy | None = Policy()
    notify: tuple[str, ...] = ()
    description: str = ""
    runbook: str = ""
    source: str = ""
    bare_percent: bool = False


@dataclass(frozen=True, slots=True)
class SloFiles:
    """Every objective and channel of a folder, and the private networks that channels may reach."""

    objectives: tuple[Objective, ...] = ()
    channels: Mapping[str, Channel] = field(default_factory=dict)
    allow_networks: tuple[str, ...] = ()


def selects(objective: Objective, job: Job) -> bool:
    """Whether the objective is about the job: every key of `select` has the job's value among its own."""
    return all(_value(job, key) in values for key, values in objective.select.items())


def _value(job: Job, key: str) -> str | None:
    fields = {
        "job": job.id,
        "queue": job.queue,
        "tenant": job.tenant,
        "owner": job.owner,
        "type": job.type,
        "priority": job.priority,
    }
    return fields[key] if key in fields else job.labels.get(key)
