"""`tepat exec` against a real ledger: the wrapped command's own ending, and its report, at once or later."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from acceptance.product import Product, wait_for

FILES = """
jobs:
  - {id: x, schedule: {every: 1h, timezone: UTC}}
"""


def run_wrapped(product: Product, spool: Path) -> int:
    environ = {**os.environ, "TEPAT_URL": product.url, "TEPAT_SPOOL": str(spool)}
    environ["TEPAT_TOKEN_FILE"] = str(product.var / "tokens" / "ingest")
    command = [sys.executable, "-m", "control.cli", "exec", "--job", "x", "--", "sh", "-c", "exit 3"]
    return subprocess.run(command, env=environ, check=False).returncode


def test_a_wrapped_failure_keeps_its_exit_code_and_is_seen_as_a_failed_run(
    make_product: Callable[[str], Product], tmp_path: Path
) -> None:
    product = make_product(FILES)
    product.up()
    assert run_wrapped(product, tmp_path / "spool") == 3
    (run,) = product.get("/api/v1/runs", job="x")["items"]
    assert (run["outcome"], run["error"]["exit_code"]) == ("failed", 3)


def test_with_the_ledger_down_the_command_ends_as_ever_and_the_report_arrives_later(
    make_product: Callable[[str], Product], tmp_path: Path
) -> None:
    product = make_product(FILES)
    product.up().terminate()
    product.started.pop().wait()
    assert run_wrapped(product, tmp_path / "spool") == 3
    product.up()
    assert product.get("/api/v1/runs", job="x")["items"] == []
    assert run_wrapped(product, tmp_path / "spool") == 3
    wait_for("both reports", lambda: len(product.get("/api/v1/runs", job="x")["items"]) == 2)
    assert product.job("x")["runs"]["failed"] == 2
