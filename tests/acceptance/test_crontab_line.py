"""A line of a real crontab as a job file: Debian's hourly run-parts line, set to every minute."""

from collections.abc import Callable

from acceptance.product import Product, wait_for

# From Debian's /etc/crontab: "17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly"
FILES = """
jobs:
  - id: cron-hourly
    schedule: {cron: "* *	* * *", timezone: Etc/UTC}
    run: {command: "cd / && run-parts --report $FOLDER", shell: true, timeout: 30s, env: {FOLDER: HERE}}
"""


def test_a_crontab_line_runs_at_its_minute_and_its_slot_is_on_time(make_product: Callable[[str], Product]) -> None:
    product = make_product(FILES)
    parts = product.folder / "cron.hourly"
    parts.mkdir()
    (parts / "note").write_text("#!/bin/sh\necho noted\n")
    (parts / "note").chmod(0o755)
    (product.folder / "tepat.yaml").write_text(FILES.replace("HERE", str(parts)))
    product.up(workers=1)
    wait_for("the minute's run", lambda: product.job("cron-hourly")["slots"]["on_time"] >= 1, 90)
    run = product.get("/api/v1/runs", job="cron-hourly", outcome="succeeded")["items"][-1]
    assert run["id"] == f"cron-hourly@{run['slot']}"
    assert run["slot"].endswith(":00Z")
    assert run["attempts"] == 1
    assert "noted" in run["output_tail"]
