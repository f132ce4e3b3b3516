import ast
import sys
from collections import Counter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from architecture.source import PACKAGES, files_of, name_of, tree_of

EMPTY_WORDS = {"utils", "util", "helpers", "helper", "manager", "base", "common", "misc"}
WORDS_OF_A_SENTENCE = 4


def test_no_file_of_the_dashboard_bears_another_packages_name(repository: Path) -> None:
    """Streamlit puts dashboard/ first on sys.path: a dashboard/queue.py would stand in for the standard library's."""
    taken = set(sys.stdlib_module_names) | set(packages_distributions()) | set(PACKAGES)
    names = {path.stem for path in (repository / "dashboard").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert "app" in names
    assert not names & taken - {"__pycache__"}


def test_the_dashboard_has_no_pages_folder(repository: Path) -> None:
    """A folder of that name switches Streamlit's old automatic pages on, beside the router's."""
    assert not (repository / "dashboard" / "pages").exists()


@pytest.mark.parametrize("path", files_of(*PACKAGES), ids=name_of)
def test_no_file_is_named_after_nothing_in_particular(path: Path) -> None:
    assert path.stem not in EMPTY_WORDS


@pytest.mark.parametrize("path", files_of(*PACKAGES), ids=name_of)
def test_every_module_says_what_it_answers(path: Path) -> None:
    assert ast.get_docstring(tree_of(path))


@pytest.mark.parametrize("path", files_of("tests"), ids=name_of)
def test_every_test_bears_a_sentence_as_its_name(path: Path) -> None:
    short = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if len(node.name.removeprefix("test_").split("_")) < WORDS_OF_A_SENTENCE
    ]
    assert not short, "\n".join(short)


def test_no_two_test_files_share_a_name() -> None:
    """A report names the file; two of one name leave the reader to guess."""
    counted = Counter(path.name for path in files_of("tests") if path.name.startswith("test_"))
    assert not [name for name, count in counted.items() if count > 1]
