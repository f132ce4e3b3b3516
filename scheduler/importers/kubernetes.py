"""CronJob manifests to watched jobs: the cluster runs them, so they have no `run`. Pure.

Every field of a manifest is a key of the job or a finding that says what it was; what only the cluster needs is named
in one finding for each level.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from scheduler.cron import ScheduleError, parse_cron
from scheduler.importers.cron_notes import both_days, robfig, uneven_steps
from scheduler.importers.imported import Document, Gathering, Imported, Options, Source
from scheduler.importers.manifests import Manifest, Path, read_manifests, shown
from scheduler.importers.masking import masked
from scheduler.importers.pods import pod_notes
from scheduler.importers.time_spans import go_duration
from scheduler.instants import format_duration
from scheduler.zones import check_zone

OVERLAPS = {"Allow": "allow", "Forbid": "forbid", "Replace": "replace"}
SERVED = "batch/v1"
MAX_ATTEMPTS = 100
_CONTROLLER_PERIOD = 10
_SHORTEST = timedelta(milliseconds=1)
_RENDER = "render it first: helm template RELEASE CHART | tepat import kubernetes -"
_OWN_KEYS = frozenset(
    {"schedule", "timeZone", "concurrencyPolicy", "startingDeadlineSeconds", "suspend", "jobTemplate"}
    | {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"}
)


class _UnusableError(Exception):
    """This CronJob can't become a job: a finding's code, the path it is about, and the message."""

    def __init__(self, code: str, path: Path, message: str) -> None:
        super().__init__(message)
        self.code, self.path, self.message = code, path, message


def read_kubernetes(sources: Sequence[Source], options: Options) -> Imported:
    """Every CronJob of one or more files, also inside a List. Nothing in them raises."""
    gathering = Gathering()
    for source in sources:
        for manifest in read_manifests(source.text):
            _document(source, manifest, options, gathering)
    return gathering.result("there is no CronJob in it", sources[0].name)


def _document(source: Source, manifest: Manifest, options: Options, gathering: Gathering) -> None:
    where = f"{source.name}:{manifest.line}"
    if manifest.wrong and "{{" in manifest.text:
        gathering.say(
            "template", where, f"the document is a template ({{{{ ... }}}}), which is never evaluated here; {_RENDER}"
        )
    elif manifest.wrong:
        gathering.say("yaml_syntax", where, f"the document {manifest.wrong}")
    else:
        for value, path in _members(manifest.value, ()):
            if isinstance(value, dict) and value.get("kind") == "CronJob":
                _cronjob(_CronJob(source, manifest, value, path, options, gathering))
            else:
                at = f"{source.name}:{manifest.line_of(path)}"
                gathering.say("other_kind", at, f"{_kind(value)} is no CronJob; left alone")


def _members(value: Any, path: Path) -> Iterator[tuple[Any, Path]]:
    """The document, or the items of a List."""
    items = value.get("items") if isinstance(value, dict) and str(value.get("kind", "")).endswith("List") else None
    if not isinstance(items, list):
        yield value, path
        return
    kind = str(value["kind"]).removesuffix("List")
    for index, item in enumerate(items):
        # The items of a CronJobList need not repeat their kind.
        named = {"kind": kind, "apiVersion": value.get("apiVersion")} | item if isinstance(item, dict) else item
        yield from _members(named, (*path, "items", index))


def _kind(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else None
    return shown(kind) if kind else "a document without a kind"


def _cronjob(cronjob: "_CronJob") -> None:
    try:
        cronjob.read()
    except _UnusableError as error:
        cronjob.say(error.code, error.path, error.message)


@dataclass(slots=True)
class _CronJob:
    """One CronJob while its fields are taken, level by level."""

    source: Source
    manifest: Manifest
    value: dict[str, Any]
    path: Path
    options: Options
    gathering: Gathering
    name: str = ""

    def say(self, code: str, path: Path, message: str) -> None:
        line = self.manifest.line_of((*self.path, *path))
        self.gathering.say(code, f"{self.source.name}:{line}", f"{self.name}: {message}" if self.name else message)

    def read(self) -> None:
        spec = self._mapping("spec")
        metadata = self._mapping("metadata")
        self.name = shown(metadata.get("name") or metadata.get("generateName") or "")
        self._refuse_templates(spec)
        schedule = self._schedule(spec)
        job_spec = self._mapping("spec", "jobTemplate", "spec")
        deadline = self._deadline(spec, job_spec)
        overlap = self._overlap(spec, job_spec)
        job = {
            "id": self.gathering.new_id(self.name or "cronjob"),
            "labels": self._labels(metadata),
            "schedule": schedule,
            "retry": self._retry(job_spec),
            "overlap": overlap,
            "deadline": deadline,
            "history": self._history(spec),
            "enabled": False if spec.get("suspend") is True else None,
        }
        if self.value.get("apiVersion") != SERVED:
            given = shown(self.value.get("apiVersion"))
            said = f"old API version {given}: Kubernetes serves {SERVED} since 1.21 and nothing older since 1.25"
            self.say("old_api", ("apiVersion",), said)
        self._rest(spec, metadata)
        self.gathering.add(job)

    def _mapping(self, *path: str) -> dict[str, Any]:
        value: Any = self.value
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else {}

    def _refuse_templates(self, spec: dict[str, Any]) -> None:
        read = {"name": self.name, **{key: value for key, value in spec.items() if key != "jobTemplate"}}
        for key, value in read.items():
            if "{{" in str(value)[:1000] or (isinstance(value, dict) and key in _OWN_KEYS):
                path = ("metadata",) if key == "name" else ("spec", key)
                raise _UnusableError("template", path, f"{key} is a template, which is never evaluated here; {_RENDER}")

    def _schedule(self, spec: dict[str, Any]) -> Document:
        path, text = ("spec", "schedule"), spec.get("schedule")
        if not isinstance(text, str):
            said = f"schedule is {shown(text)}, not a text" if text is not None else "there is no schedule"
            raise _UnusableError("bad_schedule", path, f'{said}; write one in quotes: schedule: "0 2 * * *"')
        if "TZ=" in text:
            raise _UnusableError(
                "zone_in_cron", path, f"{text!r} holds a zone, which Kubernetes refuses; use spec.timeZone"
            )
        if text.startswith("@every "):
            return self._every(text, path)
        cron = robfig(text.strip())
        try:
            parsed = parse_cron(cron)
        except ScheduleError as error:
            code = "never_fires" if "can never fire" in str(error) else "bad_schedule"
            raise _UnusableError(code, path, str(error)) from None
        either = both_days(parsed, self.options.year)
        if either:
            self.say("both_day_fields", path, either)
        for said in uneven_steps(cron):
            self.say("uneven_step", path, said)
        return {"cron": cron} | self._zone(spec)

    def _every(self, text: str, path: Path) -> Document:
        every = go_duration(text.removeprefix("@every "))
        if every is None:
            raise _UnusableError("bad_schedule", path, f"{text!r} is not understood; write it like @every 1h30m")
        said = (
            f"{text} counts from the creation of the CronJob, not from the wall clock:"
            f" set `schedule.anchor` to an instant of a start"
        )
        self.say("anchor", path, said)
        zone = {"timezone": self.options.zone} if self.options.zone else {}
        return {"every": format_duration(every)} | zone

    def _zone(self, spec: dict[str, Any]) -> Document:
        path, zone = ("spec", "timeZone"), spec.get("timeZone")
        if zone is None:
            used = f"read as {self.options.zone} (--tz)" if self.options.zone else "written without; give --tz UTC"
            said = f"there is no timeZone: the zone is the controller's own, usually UTC; {used}"
            self.say("missing_zone", ("spec", "schedule"), said)
            return {"timezone": self.options.zone} if self.options.zone else {}
        try:
            check_zone(zone if isinstance(zone, str) else shown(zone))
        except ValueError as error:
            raise _UnusableError("unknown_zone", path, f"timeZone {shown(zone)} {error}") from None
        if zone in ("UTC", "Etc/UTC"):
            return {"timezone": zone}
        said = "Kubernetes takes clock times literally, twice on the long day and never in the gap: `dst: literal`"
        self.say("dst_policy", path, said)
        return {"timezone": zone, "dst": "literal"}

    def _overlap(self, spec: dict[str, Any], job_spec: dict[str, Any]) -> str:
        given = spec.get("concurrencyPolicy", "Allow")
        if given not in OVERLAPS:
            said = f"concurrencyPolicy is {shown(given)}; use one of {', '.join(OVERLAPS)}"
            raise _UnusableError("bad_schedule", ("spec", "concurrencyPolicy"), said)
        path = ("spec", "concurrencyPolicy")
        if given == "Allow":
            why = "" if "concurrencyPolicy" in spec else ", because there is no concurrencyPolicy"
            self.say("overlap_allowed", path, f"overlap = Allow{why}: a run may start while the last one still goes on")
        elif given == "Forbid" and job_spec.get("activeDeadlineSeconds") is None:
            said = (
                "Forbid without activeDeadlineSeconds: one hung run blocks all later ones; set it in jobTemplate.spec"
            )
            self.say("hung_run_blocks", path, said)
        return OVERLAPS[given]

    def _deadline(self, spec: dict[str, Any], job_spec: dict[str, Any]) -> Document:
        start = self._count(spec, ("spec", "startingDeadlineSeconds"))
        run = self._count(job_spec, ("spec", "jobTemplate", "spec", "activeDeadlineSeconds"))
        if start is None:
            self.say(
                "no_deadline",
                ("spec",),
                "no deadline: without startingDeadlineSeconds a start may come at any time after its slot",
            )
        elif start < _CONTROLLER_PERIOD:
            said = (
                f"startingDeadlineSeconds is {start}: the controller looks every {_CONTROLLER_PERIOD} s and may miss it"
            )
            # Zero is not missing, and a deadline of a job file is above zero.
            said += "" if start else "; written as the shortest deadline there is"
            self.say("short_deadline", ("spec", "startingDeadlineSeconds"), said)
        if run is None and spec.get("concurrencyPolicy") != "Forbid":
            said = "no activeDeadlineSeconds: a hung run is never ended; set it in jobTemplate.spec"
            self.say("no_time_limit", ("spec", "jobTemplate"), said)
        given = {"start": start, "run": run}
        spans = {key: timedelta(seconds=value) or _SHORTEST for key, value in given.items() if value is not None}
        return {key: format_duration(span) for key, span in spans.items()}

    def _history(self, spec: dict[str, Any]) -> Document:
        # Kubernetes' own defaults are 3 and 1; they are written only where the manifest says something.
        given = {
            "succeeded": self._count(spec, ("spec", "successfulJobsHistoryLimit")),
            "failed": self._count(spec, ("spec", "failedJobsHistoryLimit")),
        }
        return {key: value for key, value in given.items() if value is not None}

    def _retry(self, job_spec: dict[str, Any]) -> Document:
        limit = self._count(job_spec, ("spec", "jobTemplate", "spec", "backoffLimit"))
        if limit is not None and limit >= MAX_ATTEMPTS:
            said = f"backoffLimit {limit} is more than the {MAX_ATTEMPTS} attempts that a job file takes"
            self.say("not_carried", ("spec", "jobTemplate", "spec", "backoffLimit"), said)
        return {} if limit is None else {"attempts": min(limit + 1, MAX_ATTEMPTS)}

    def _count(self, holder: dict[str, Any], path: Path) -> int | None:
        value = holder.get(str(path[-1]))
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
            raise _UnusableError("bad_schedule", path, f"{path[-1]} is {shown(value)}, not a whole number from 0 on")
        return value

    def _labels(self, metadata: dict[str, Any]) -> dict[str, str]:
        namespace = metadata.get("namespace")
        return {"namespace": shown(namespace)} if namespace else {}

    def _rest(self, spec: dict[str, Any], metadata: dict[str, Any]) -> None:
        for path, said in pod_notes(
            spec, metadata, set(self.value) - {"apiVersion", "kind", "metadata", "spec"}, _OWN_KEYS
        ):
            self.say("not_carried", path, masked(said))
