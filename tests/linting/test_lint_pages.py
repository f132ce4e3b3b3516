"""docs/lint.md has a section for each code that the code can say, and for no other."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from scheduler.linting.codes import FileCode, JobCode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^### `([a-z_]+)`\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
SECTIONS = dict(SECTION.findall(PAGE))


def literals(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def objective_codes() -> set[str]:
    """The codes that the warnings about objectives are made with: the second argument of `_warning(...)`."""
    tree = ast.parse((ROOT / "slo" / "warnings.py").read_text(encoding="utf-8"))
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_warning"
    ]
    return {str(argument.value) for call in calls if isinstance(argument := call.args[1], ast.Constant)}


CODES = {*get_args(JobCode), *get_args(FileCode), *objective_codes()}


def test_there_is_a_section_for_every_code_and_a_code_for_every_section() -> None:
    assert set(SECTIONS) == CODES


def test_no_code_has_two_sections() -> None:
    assert len(SECTION.findall(PAGE)) == len(SECTIONS)


def test_the_codes_of_objectives_are_found_in_the_code() -> None:
    assert "budget_under_one" in objective_codes()
    assert len(objective_codes()) == 5


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_section_says_what_it_means_then_shows_it_then_says_what_to_do(code: str) -> None:
    means, shows, *to_do = [part.strip("\n") for part in re.split(r"\n\n+", SECTIONS[code].strip("\n"))]
    assert not means.startswith(" ")
    assert all(line.startswith("    ") for line in shows.splitlines())
    assert to_do
    assert not to_do[0].startswith(" ")


@pytest.mark.parametrize("code", get_args(JobCode))
def test_every_code_about_jobs_is_said_somewhere(code: str) -> None:
    files = [path for path in (ROOT / "scheduler" / "linting").glob("*.py") if path.name != "codes.py"]
    assert any(code in literals(path) for path in files)


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_code_is_a_word_that_a_shell_and_a_filter_can_take(code: str) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
