"""The project's own files as syntax trees: what they import, what they call. Nothing here runs them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("scheduler", "collector", "slo", "control", "dashboard")


def files_of(*folders: str) -> list[Path]:
    """Every Python file below these folders of the repository, in a stable order."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    """The path from the root of the repository, for messages."""
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports_of(path: Path) -> set[str]:
    """Dotted names of all that a file imports, at its top, inside functions, and through `import_module("...")`.

    `from a import b` gives `a` and `a.b`, because b may be a module.
    """
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        found.update(_imported(node, path))
    return found


def _imported(node: ast.AST, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = ".".join(part for part in (_parent(path, node.level), node.module) if part)
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and _callee(node) in {"import_module", "__import__"}:
        yield from filter(None, (_leading_text(argument) for argument in node.args[:1]))


def _parent(path: Path, level: int) -> str:
    return ".".join(path.relative_to(ROOT).parts[:-level]) if level else ""


def _callee(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _leading_text(node: ast.expr) -> str:
    """The constant a dynamic import begins with: all of it, or what stands before the first `{` of an f-string."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    return node.value.rstrip(".") if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
