"""The last look: a job that no job file could hold must not keep the others from being loaded. Pure."""

from collections.abc import Iterator

from pydantic import ValidationError

from scheduler.findings import Finding
from scheduler.importers.codes import CODES
from scheduler.importers.imported import Document, Imported
from scheduler.schema_models import JobModel


def loadable(imported: Imported, where: str) -> Imported:
    """The jobs that a job file may hold; the others are findings. `where` is the file's name."""
    kept: list[Document] = []
    findings = list(imported.findings)
    for job in imported.jobs:
        wrong = list(_wrong(job))
        if not wrong:
            kept.append(job)
        findings += [Finding(CODES["refused"][0], "refused", where, f"{job['id']}: {said}") for said in wrong]
    return Imported(tuple(kept), tuple(findings))


def _wrong(job: Document) -> Iterator[str]:
    try:
        JobModel.model_validate(job, context={"job": job["id"]})
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            place = ".".join(map(str, detail["loc"]))
            yield f"{place}: {detail['msg'].removeprefix('Value error, ')}; the job is left out"
