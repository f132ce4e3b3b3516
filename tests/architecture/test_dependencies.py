import re
import sys
import tomllib
from functools import cache
from itertools import chain
from typing import Any

import pytest
from architecture.source import PACKAGES, ROOT, files_of, imports_of

# Where the name to import differs from the name to install.
IMPORTED_AS = {
    "opentelemetry-exporter-otlp": "opentelemetry.exporter.otlp",
    "opentelemetry-sdk": "opentelemetry.sdk",
    "pyyaml": "yaml",
    "tzdata": "zoneinfo",  # data alone: zoneinfo is told to read it
}
# Libraries that come with a dependency as a documented part of its interface.
COMES_WITH = {
    "starlette": "fastapi",
    "pydantic_core": "pydantic",
    "opentelemetry": "opentelemetry-sdk",
}


def names_in(requirements: list[str]) -> list[str]:
    """Names as the index normalises them, without version, extras and comments."""
    found = (re.match(r"[A-Za-z0-9._-]+", line) for line in requirements)
    return [re.sub(r"[-_.]+", "-", match[0]).lower() for match in found if match and not match[0].startswith("-")]


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


RUNTIME = names_in(project()["project"]["dependencies"])
EXTRAS = names_in(list(chain.from_iterable(project()["project"].get("optional-dependencies", {}).values())))
DEVELOPMENT = names_in((ROOT / "requirements-dev.in").read_text().splitlines())
LOCKS = {"requirements.lock": RUNTIME, "requirements-dev.lock": DEVELOPMENT}


@cache
def imported() -> frozenset[str]:
    return frozenset(chain.from_iterable(imports_of(path) for path in files_of(*PACKAGES)))


def module_of(dependency: str) -> str:
    return IMPORTED_AS.get(dependency, dependency.replace("-", "_"))


def reasons() -> dict[str, str]:
    """What docs/dependencies.md says of each one: the first cell of a row names it, the second is the reason."""
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*) \|", (ROOT / "docs" / "dependencies.md").read_text(), re.MULTILINE)
    return {names_in([name])[0]: reason.strip() for name, reason in rows}


@pytest.mark.parametrize("dependency", RUNTIME + EXTRAS)
def test_every_runtime_dependency_is_imported_somewhere(dependency: str) -> None:
    module = module_of(dependency)
    assert any(name == module or name.startswith(f"{module}.") for name in imported())


@pytest.mark.parametrize("dependency", RUNTIME + EXTRAS + DEVELOPMENT)
def test_every_dependency_is_documented_with_its_reason(dependency: str) -> None:
    assert reasons().get(dependency)


def test_nothing_is_documented_that_is_no_dependency() -> None:
    assert set(reasons()) <= {*RUNTIME, *EXTRAS, *DEVELOPMENT, "setuptools"}


def test_nothing_is_imported_that_is_no_dependency() -> None:
    own = {path.stem for path in (ROOT / "dashboard").iterdir()} | set(PACKAGES)
    declared = {module_of(dependency).split(".")[0] for dependency in RUNTIME + EXTRAS}
    carried = {module for module, carrier in COMES_WITH.items() if carrier in RUNTIME}
    tops = {name.split(".")[0] for name in imported()}
    assert not tops - set(sys.stdlib_module_names) - own - declared - carried


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_every_dependency_with_hashes(lock: str) -> None:
    pinned = re.findall(r"^([a-z0-9-]+)==\S+ \\\n    --hash=sha256:[0-9a-f]{64}", text_of(lock), re.MULTILINE)
    assert set(LOCKS[lock]) <= set(pinned)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index_host(lock: str) -> None:
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host", text_of(lock))


def test_both_locks_agree_on_every_version_they_share() -> None:
    runtime, development = (dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text_of(lock), re.MULTILINE)) for lock in LOCKS)
    shared = runtime.keys() & development.keys()
    assert shared
    assert not [name for name in shared if runtime[name] != development[name]]


def text_of(lock: str) -> str:
    return (ROOT / lock).read_text()
