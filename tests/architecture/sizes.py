"""How long files and functions are, and which ones are past the aim: a report for `make lint`, which fails nothing.

Aims: functions with a median of 8 lines and under 40, files under 300, test files under 500.
"""

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).parents[2]
FOLDERS = ("scheduler", "collector", "slo", "control", "dashboard", "bench", "tests")
FILE_AIM, TEST_FILE_AIM, FUNCTION_AIM = 300, 500, 40


@dataclass(frozen=True, slots=True)
class Size:
    """The lines of one file or one function; `where` leads an editor there."""

    where: str
    lines: int


def files_in(folder: Path) -> list[Size]:
    return [Size(_name(path), len(path.read_text().splitlines())) for path in sorted(folder.rglob("*.py"))]


def functions_in(folder: Path) -> list[Size]:
    return [size for path in sorted(folder.rglob("*.py")) for size in _functions(path)]


def _functions(path: Path) -> list[Size]:
    """From `def` to the last line: decorators and comments above are not counted, the docstring is."""
    defined = (
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return [
        Size(f"{_name(path)}:{node.lineno} {node.name}", (node.end_lineno or 0) - node.lineno + 1) for node in defined
    ]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def spread(sizes: list[Size]) -> str:
    """`median / 90 % / largest`, or a dash for nothing."""
    lines = [size.lines for size in sizes]
    if len(lines) < 2:
        return " / ".join(map(str, lines)) or "-"
    ninth = quantiles(lines, n=10, method="inclusive")[-1]
    return f"{median(lines):.0f} / {ninth:.0f} / {max(lines)}"


def past_the_aim(folder: Path) -> list[Size]:
    aim = TEST_FILE_AIM if folder.name == "tests" else FILE_AIM
    long_files = [size for size in files_in(folder) if size.lines >= aim]
    return long_files + [size for size in functions_in(folder) if size.lines >= FUNCTION_AIM]


def main() -> int:
    print(f"{'lines: median / 90 % / largest':32}{'files':>20}{'functions':>20}")
    present = [ROOT / folder for folder in FOLDERS if (ROOT / folder).is_dir()]
    for folder in present:
        print(f"{folder.name:32}{spread(files_in(folder)):>20}{spread(functions_in(folder)):>20}")
    for size in (size for folder in present for size in past_the_aim(folder)):
        print(f"past the aim: {size.where} has {size.lines} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
