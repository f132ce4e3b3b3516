"""CronJob manifests as watched jobs and findings. F13, F14, F18, R36."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from importing.conftest import Load, codes, errors, options, said, sample

from scheduler.importers.imported import Imported, Source
from scheduler.importers.kubernetes import read_kubernetes
from scheduler.timelaw import slots_between

R36 = [
    "schedule", "timeZone", "concurrencyPolicy", "startingDeadlineSeconds", "successfulJobsHistoryLimit",
    "failedJobsHistoryLimit", "backoffLimit", "activeDeadlineSeconds", "restartPolicy", "resources", "lifecycle",
    "terminationGracePeriodSeconds",
]  # fmt: skip


def manifest(text: str, **given: Any) -> Imported:
    return read_kubernetes([Source("k.yaml", text)], options(**given))


def cronjob(spec: dict[str, Any], **given: Any) -> Imported:
    whole = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "x"}, "spec": spec}
    return manifest(yaml.safe_dump(whole), **given)


def test_f13_an_old_manifest_is_imported_and_everything_it_leaves_open_is_told(load: Load) -> None:
    imported = read_kubernetes([sample("cronjobs.yaml")], options())
    job = load(imported)["greeter"]
    assert job.overlap == "allow" and job.run is None
    own = [finding for finding in imported.findings if "greeter" in finding.message]
    assert {"old_api", "missing_zone", "overlap_allowed", "no_deadline"} <= {finding.code for finding in own}
    assert any("controller's own, usually UTC" in finding.message for finding in own)
    assert not errors(imported)


def test_f14_forbid_without_an_active_deadline_is_told(load: Load) -> None:
    imported = read_kubernetes([sample("cronjobs.yaml")], options())
    job = load(imported)["rebalancer"]
    assert job.overlap == "forbid"
    assert job.schedule is not None
    midnight = datetime(2026, 6, 1, tzinfo=UTC)
    assert len(slots_between(job.schedule, midnight, midnight + timedelta(days=1))) == 720
    assert "one hung run blocks all later ones" in said(imported, "hung_run_blocks")[0]


def test_r36_every_field_is_a_key_of_the_job_or_a_finding(load: Load) -> None:
    imported = read_kubernetes([sample("cronjobs.yaml")], options())
    job = load(imported)["statement"]
    assert job.schedule is not None
    assert (job.schedule.cron, job.schedule.timezone, job.schedule.dst) == ("30 2 * * *", "Asia/Jakarta", "literal")
    assert (job.overlap, job.start_deadline, job.run_deadline) == (
        "replace",
        timedelta(seconds=200),
        timedelta(minutes=90),
    )
    assert job.history is not None and (job.history.succeeded, job.history.failed) == (0, 5)
    assert (job.retry.attempts, job.enabled) == (3, False)
    rest = " ".join(finding.message for finding in imported.findings if finding.message.startswith("statement"))
    assert "restartPolicy: Never" in rest and "terminationGracePeriodSeconds: 45" in rest
    assert "lifecycle: {preStop" in rest and "ttlSecondsAfterFinished: 600" in rest
    assert "parallelism: 1" in rest and "completions: 1" in rest
    assert any("resources: {requests: {cpu: 500m, memory: 256Mi}}" in one for one in said(imported, "not_carried"))


@pytest.mark.parametrize("field", R36)
def test_r36_a_field_that_is_taken_away_changes_the_import(field: str) -> None:
    spec: dict[str, Any] = {
        "schedule": "30 2 * * *", "timeZone": "Asia/Jakarta", "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 200, "successfulJobsHistoryLimit": 7, "failedJobsHistoryLimit": 2,
        "jobTemplate": {"spec": {
            "backoffLimit": 2, "activeDeadlineSeconds": 60,
            "template": {"spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 45,
                "containers": [{"name": "c", "resources": {"limits": {"cpu": 1}}, "lifecycle": {"preStop": {}}}],
            }},
        }},
    }  # fmt: skip
    whole = cronjob(spec)
    for holder in _holders(spec):
        holder.pop(field, None)
    assert cronjob(spec) != whole


def _holders(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [holder for item in value for holder in _holders(item)]
    if isinstance(value, dict):
        return [value, *(holder for item in value.values() for holder in _holders(item))]
    return []


@pytest.mark.parametrize(("policy", "overlap"), [("Allow", "allow"), ("Forbid", "forbid"), ("Replace", "replace")])
def test_each_concurrency_policy_is_an_overlap(policy: str, overlap: str) -> None:
    assert cronjob({"schedule": "0 1 * * *", "concurrencyPolicy": policy}).jobs[0]["overlap"] == overlap


def test_f18_a_zone_prefix_is_an_error_that_names_the_field_to_use() -> None:
    imported = read_kubernetes([sample("list.yaml")], options())
    (finding,) = said(imported, "zone_in_cron")
    assert finding.startswith("list.yaml:7: ") and "use spec.timeZone" in finding
    assert "zone-prefix" not in [job["id"] for job in imported.jobs]


@pytest.mark.parametrize(("seconds", "start"), [(0, "1ms"), (1, "1s"), (200, "200s"), (None, None)])
def test_f18_a_deadline_of_zero_is_not_a_missing_one(seconds: int | None, start: str | None) -> None:
    imported = cronjob({"schedule": "0 1 * * *", "startingDeadlineSeconds": seconds})
    assert imported.jobs[0].get("deadline", {}).get("start") == start
    assert ("no_deadline" in codes(imported)) == (seconds is None)


@pytest.mark.parametrize(("seconds", "told"), [(9, True), (10, False), (11, False)])
def test_a_deadline_below_the_controllers_period_is_told(seconds: int, told: bool) -> None:
    imported = cronjob({"schedule": "0 1 * * *", "startingDeadlineSeconds": seconds})
    assert ("short_deadline" in codes(imported)) == told


@pytest.mark.parametrize("value", ["@daily", "* * * * *"])
def test_f18_an_unquoted_schedule_is_an_error_that_says_to_quote_it(value: str) -> None:
    imported = manifest(f"kind: CronJob\nmetadata: {{name: x}}\nspec:\n  schedule: {value}\n")
    assert errors(imported) == ["yaml_syntax"]
    assert imported.findings[0].where == "k.yaml:4" and "quote the value" in imported.findings[0].message


def test_f18_a_zone_that_yaml_reads_as_false_is_refused() -> None:
    imported = manifest('kind: CronJob\nmetadata: {name: x}\nspec: {schedule: "0 1 * * *", timeZone: No}\n')
    assert errors(imported) == ["unknown_zone"] and imported.jobs == ()


def test_f18_a_tag_that_would_make_an_object_is_an_error() -> None:
    imported = manifest("x: !!python/object/apply:os.system [id]\n")
    assert errors(imported) == ["yaml_syntax"]


def test_aliases_that_multiply_are_refused_before_anything_is_built() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    imported = manifest(text)
    assert errors(imported) == ["yaml_syntax"] and "split the file" in imported.findings[0].message


def test_a_bad_document_leaves_the_others_alone() -> None:
    imported = read_kubernetes([sample("chart.yaml")], options())
    assert [job["id"] for job in imported.jobs] == ["good"]
    assert errors(imported) == ["template", "template", "yaml_syntax"]
    assert all("render it first" in one for one in said(imported, "template"))


def test_a_list_is_opened_and_what_is_no_cronjob_is_named() -> None:
    imported = read_kubernetes([sample("list.yaml")], options())
    assert [job["id"] for job in imported.jobs] == ["zero-deadline", "both-days"]
    assert "ConfigMap" in said(imported, "other_kind")[0]


def test_a_stepped_day_field_means_either_as_in_the_controllers_library(load: Load) -> None:
    job = load(read_kubernetes([sample("list.yaml")], options()))["both-days"]
    assert job.schedule is not None
    # As the Go library has it: every second day, and every Monday.
    may = slots_between(job.schedule, datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC))
    assert [slot.day for slot in may] == sorted({*range(1, 32, 2), 4, 18} | {11, 25})


def test_every_is_an_interval_whose_anchor_is_not_known() -> None:
    imported = read_kubernetes([sample("list.yaml")], options())
    assert imported.jobs[0]["schedule"] == {"every": "90m"}
    assert "counts from the creation" in said(imported, "anchor")[0]


def test_values_of_a_containers_environment_are_never_shown() -> None:
    imported = read_kubernetes([sample("cronjobs.yaml")], options())
    assert "do-not-show" not in f"{imported.jobs}{imported.findings}"


def test_the_zone_given_stands_in_for_a_missing_one_only() -> None:
    imported = read_kubernetes([sample("cronjobs.yaml")], options(zone="Etc/UTC"))
    assert [job["schedule"]["timezone"] for job in imported.jobs] == ["Etc/UTC", "Etc/UTC", "Asia/Jakarta"]


@pytest.mark.parametrize(("limit", "attempts"), [(0, 1), (2, 3), (98, 99), (99, 100), (100, 100)])
def test_retries_are_attempts_less_the_first(limit: int, attempts: int) -> None:
    spec = {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"backoffLimit": limit}}}
    assert cronjob(spec).jobs[0]["retry"] == {"attempts": attempts}


@pytest.mark.parametrize("spec", [{}, {"schedule": 5}, {"schedule": "61 * * * *"}, {"schedule": "0 0 30 2 *"}])
def test_a_schedule_that_names_no_slot_gives_no_job(spec: dict[str, Any]) -> None:
    imported = cronjob(spec)
    assert imported.jobs == () and len(errors(imported)) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "kind: CronJob\n", "kind: CronJob\nspec: 5\n", "kind: CronJob\nspec: {jobTemplate: 3}\n"]
)
def test_a_strange_shape_is_an_error_and_never_a_traceback(text: str) -> None:
    assert errors(manifest(text))
