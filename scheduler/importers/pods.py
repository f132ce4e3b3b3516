"""What a CronJob's manifest says that no job file has a key for: each field named, with its value. Pure.

Values of environment variables are never shown.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from scheduler.importers.manifests import Path, shown

# Fields whose value changes when or how long a run goes on, with what Tepat makes of them.
_JOB_FIELDS = {
    "parallelism": "so many pods at a time; one run here",
    "completions": "so many pods must succeed; one run here",
    "completionMode": "pods are numbered; one run here",
    "ttlSecondsAfterFinished": "the cluster removes the ended Job after that; the record here stays",
    "backoffLimitPerIndex": "retries are counted by index; here by run",
    "maxFailedIndexes": "retries are counted by index; here by run",
    "podFailurePolicy": "exit codes and conditions that end or spare retries; write them as `retry.on_exit` if needed",
    "podReplacementPolicy": "when the next pod may start; the cluster decides it",
    "successPolicy": "when a Job counts as succeeded; the cluster decides it",
    "suspend": "each Job is made suspended",
    "manualSelector": "the cluster's own matter",
    "managedBy": "another controller runs the Job",
}
_POD_FIELDS = {
    "restartPolicy": "OnFailure restarts the container in its pod, Never makes a new pod",
    "terminationGracePeriodSeconds": "how long a pod is left to end itself; compare it with how long a run takes",
    "activeDeadlineSeconds": "a pod's own limit, apart from the Job's",
}
_CONTAINER_FIELDS = {
    "resources": "the cluster sets aside and limits; nothing here",
    "lifecycle": "hooks round the container's life; the cluster runs them",
}
_CONSUMED = frozenset({"backoffLimit", "activeDeadlineSeconds", "template"})
_JOB: Path = ("spec", "jobTemplate", "spec")
_POD: Path = (*_JOB, "template", "spec")


def pod_notes(
    spec: Mapping[str, Any], metadata: Mapping[str, Any], extra: AbstractSet[str], known: AbstractSet[str]
) -> Iterator[tuple[Path, str]]:
    """(path, sentence) for everything that stays behind, from the outside in."""
    yield from _named((), sorted(extra), "beside the spec")
    yield from _named(("metadata",), sorted(set(metadata) - {"name", "generateName", "namespace"}), "of metadata")
    yield from _named(("spec",), sorted(set(spec) - known), "of the spec")
    template = _mapping(spec.get("jobTemplate"))
    yield from _named(("spec", "jobTemplate"), sorted(set(template) - {"spec"}), "of jobTemplate")
    job = _mapping(template.get("spec"))
    yield from _fields(job, _JOB, _JOB_FIELDS, _CONSUMED)
    pod_template = _mapping(job.get("template"))
    yield from _named((*_JOB, "template"), sorted(set(pod_template) - {"spec"}), "of the pod's template")
    pod = _mapping(pod_template.get("spec"))
    yield from _fields(pod, _POD, _POD_FIELDS, frozenset({"containers", "initContainers"}))
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(kind) or []):
            yield from _container(_mapping(container), (*_POD, kind, index))


def _container(container: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    name = shown(container.get("name", path[-1]))
    command = [*_listed(container.get("command")), *_listed(container.get("args"))]
    runs = f", which runs {shown(command)}" if command else ""
    yield (
        path,
        f"{path[-2]} {name}: {shown(container.get('image'))}{runs}; the cluster runs it, and the job here only watches",
    )
    plain = frozenset({"name", "image", "command", "args"})
    for at, said in _fields(container, path, _CONTAINER_FIELDS, plain):
        yield at, f"container {name}: {said}"


def _fields(
    holder: Mapping[str, Any], path: Path, words: Mapping[str, str], consumed: AbstractSet[str]
) -> Iterator[tuple[Path, str]]:
    for key, meaning in words.items():
        if key in holder and key not in consumed:
            yield (*path, key), f"{key}: {shown(holder[key])}: {meaning}"
    yield from _named(path, sorted(set(holder) - set(words) - consumed), f"of {_place(path)}")


def _place(path: Path) -> str:
    return {_JOB: "jobTemplate.spec", _POD: "the pod"}.get(path, "the container")


def _named(path: Path, keys: list[str], place: str) -> Iterator[tuple[Path, str]]:
    if keys:
        yield path, f"{', '.join(map(str, keys))} {place}: the cluster's own matter, with no key in a job file"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
