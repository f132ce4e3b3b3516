"""Samples of other schedulers' files, imported, and their jobs as the product loads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scheduler.definitions import load_folder
from scheduler.importers.imported import Imported, Options, Source
from scheduler.importers.writing import to_yaml
from scheduler.jobs import Job

SAMPLES = Path(__file__).parent / "samples"
YEAR = 2026

Load = Callable[..., dict[str, Job]]


def sample(name: str) -> Source:
    return Source(name, (SAMPLES / name).read_text(encoding="utf-8"))


def options(**given: Any) -> Options:
    return Options(year=YEAR, **given)


def codes(imported: Imported) -> list[str]:
    return [finding.code for finding in imported.findings]


def said(imported: Imported, code: str) -> list[str]:
    """`where: message` of each finding of a code."""
    return [f"{finding.where}: {finding.message}" for finding in imported.findings if finding.code == code]


def errors(imported: Imported) -> list[str]:
    return [finding.code for finding in imported.findings if finding.level == "error"]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The jobs of an import as the product reads them, through a file in a folder whose default zone is UTC."""

    def read(imported: Imported, zone: str = "UTC") -> dict[str, Job]:
        (tmp_path / "defaults.yaml").write_text(f"defaults: {{timezone: {zone}}}\n")
        (tmp_path / "jobs.yaml").write_text(to_yaml("jobs", imported.jobs), encoding="utf-8")
        return {job.id: job for job in load_folder(tmp_path).jobs}

    return read
