"""What an importer takes and gives, and the ids of the jobs it makes. Pure: texts in, values out."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from scheduler.events import JOB_ID
from scheduler.findings import Finding
from scheduler.importers.codes import CODES

Document = dict[str, Any]

NO_LIMIT = timedelta(days=1)
"""The time limit that is written where the source has none: a run without any would never be given up."""

_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read: its name as findings show it, and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user said beside the file. `year` is the year that findings count starts in.

    `system` says whether crontab lines have a user column; None leaves it to the look of the file. `zone` is the IANA
    name for what has no zone of its own.
    """

    year: int
    zone: str | None = None
    system: bool | None = None
    dialect: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """Jobs as a job file holds them, and what was noticed, in the order of the source."""

    jobs: tuple[Document, ...]
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class Gathering:
    """Where an importer puts jobs and findings while it reads."""

    jobs: list[Document] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=dict)

    def say(self, code: str, where: str, message: str) -> None:
        """One finding; its level follows from its code."""
        self.findings.append(Finding(CODES[code][0], code, where, message))

    def new_id(self, wanted: str) -> str:
        """A valid id near the wanted text that no other job of this import has: `backup`, `backup-2`."""
        stem = _FOREIGN.sub("-", wanted).strip("-._")[:90].rstrip("-._") or "job"
        found = stem
        while found in self._taken:
            # Each stem goes on from its own last number: thousands of lines may share a program.
            self._numbers[stem] = self._numbers.get(stem, 1) + 1
            found = f"{stem}-{self._numbers[stem]}"
        assert JOB_ID.fullmatch(found)
        self._taken.add(found)
        return found

    def add(self, job: Document) -> Document:
        """One job; keys without a value are left out."""
        made = {key: value for key, value in job.items() if value not in (None, {}, [], "")}
        self.jobs.append(made)
        return made

    def result(self, nothing: str, where: str) -> Imported:
        """What was gathered. `nothing` is said when there is neither a job nor an error that explains why."""
        if not self.jobs and not any(finding.level == "error" for finding in self.findings):
            self.say("nothing_found", where, nothing)
        return Imported(tuple(self.jobs), tuple(self.findings))
