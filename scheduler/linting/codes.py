"""The words that lint knows its findings by. They are stable: people search for them and filter by them. Pure values.

Each has a section in docs/lint.md.
"""

from dataclasses import dataclass
from typing import Literal

from scheduler.findings import Level

JobCode = Literal[
    "both_day_fields",
    "collision",
    "exit_code_hidden",
    "fold_time",
    "gap_time",
    "grace_too_short",
    "inverted_zone",
    "limit_exceeds_interval",
    "minute_star",
    "never_fires",
    "no_deadline",
    "overlap_mutates",
    "rare_day",
    "run_time_exceeds_interval",
    "second_star",
    "start_within_tiny",
    "step_too_large",
    "uneven_every",
    "uneven_step",
]
"""What is doubtful about jobs that are well-formed."""

FileCode = Literal[
    "bad_cron",
    "definition",
    "duplicate",
    "missing_key",
    "missing_zone",
    "never_fires",
    "unavailable",
    "unknown_calendar",
    "unknown_key",
    "unknown_zone",
    "unreadable",
    "yaml_quote",
    "yaml_syntax",
    "yaml_tag",
    "yaml_type",
    "zone_in_cron",
]
"""What keeps a file from being used."""


@dataclass(frozen=True, slots=True)
class Note:
    """What one rule says about one job, before anybody knows in which file the job stands."""

    code: JobCode
    message: str
    level: Level = "warning"


def listed(words: list[str], limit: int = 8) -> str:
    """Words with commas; past `limit`, how many are left out."""
    more = len(words) - limit
    return ", ".join(words) if more <= 0 else f"{', '.join(words[:limit])} and {more} more"
