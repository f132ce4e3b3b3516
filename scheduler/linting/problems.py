"""What a file's problem is called: a stable code for each kind, told by the words that the reader says it in. Pure."""

import re

from scheduler.files import Problem
from scheduler.findings import Finding
from scheduler.linting.codes import FileCode

_TABLE: tuple[tuple[FileCode, str, str], ...] = (
    # code, what the field must match, what `message; remedy` must match; the first line that fits decides
    ("yaml_quote", "", r"^is not YAML: .*; quote the value"),
    ("yaml_syntax", "", r"^is not YAML"),
    ("yaml_type", "", r"^is read as .*, not as text|base 60|too many digits|^can't be read as|^is a number, not a "),
    ("yaml_tag", "", r"^the tag .* is not read"),
    ("duplicate", "", r"^stands twice"),
    ("unreadable", r"^$", r"read|UTF-8|bytes|holds|levels|is not a folder"),
    ("unavailable", "", r"not available in this version"),
    ("unknown_key", "", r"^is not a known key|^a key must be|^merge keys"),
    ("missing_key", "", r"^is required"),
    ("missing_zone", "", r"^has no time zone"),
    ("unknown_zone", "", r"^is not a time zone"),
    ("zone_in_cron", r"\bcron$", r"^holds a time zone"),
    ("never_fires", r"\bcron$", r"can never fire"),
    ("bad_cron", r"\bcron$", ""),
    ("unknown_calendar", r"\bcalendars?\b", r"is not a (known )?(calendar|country|market|subdivision)\b"),
    ("definition", "", ""),
)


def problem_code(problem: Problem) -> FileCode:
    """The code of a problem; `definition` for what has no kind of its own."""
    says = f"{problem.message}; {problem.remedy}"
    return next(
        code for code, field, words in _TABLE if re.search(field, problem.field) and re.search(words, says, re.DOTALL)
    )


def problem_finding(problem: Problem) -> Finding:
    """A problem as an error that says where it is and, in the same words as every other command, what it is."""
    where = f"{problem.file}:{problem.line}" if problem.line else problem.file
    return Finding("error", problem_code(problem), where, str(problem).removeprefix(f"{where}: "))
