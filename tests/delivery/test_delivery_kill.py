"""A process killed in the middle of a delivery loses no notice."""

import subprocess
import sys
from pathlib import Path

import pytest
from delivery.receiving import LOOPBACK, START, Reply, notice, receiver

from scheduler import clock
from scheduler.database import open_sqlite, read, write
from slo.channels.settings import SlackChannel
from slo.outbox import Deliverer, create_tables, enqueue, receipts
from slo.outbox_rows import LEASE

ROOT = Path(__file__).parents[2]
CHILD = """
import sys
from scheduler.database import open_sqlite
from scheduler.instants import parse_instant
from slo.channels.settings import SlackChannel
from slo.outbox import Deliverer
Deliverer(
    open_sqlite(sys.argv[1]), [SlackChannel("noc", sys.argv[2])], allow_networks=["127.0.0.0/8"]
).run_once(parse_instant(sys.argv[3]))
"""
EDGE = LEASE.total_seconds() * 1_000_000


@pytest.mark.parametrize(("later_boot", "margin"), [(False, 60_000_000), (True, 0)])
def test_a_notice_whose_sender_was_killed_is_delivered_by_the_next(
    tmp_path: Path, later_boot: bool, margin: int
) -> None:
    path = tmp_path / "ledger.db"
    engine = open_sqlite(path)
    create_tables(engine)
    with write(engine) as connection:
        enqueue(connection, [(notice(), ["noc"])], START)
    with receiver(Reply(act="hang"), Reply(200)) as box:
        command = [sys.executable, "-c", CHILD, str(path), box.url, "2026-03-01T12:00:00Z"]
        with subprocess.Popen(command, cwd=ROOT) as child:
            assert box.wait_for(1)
            child.kill()
        leased = Deliverer(engine, [SlackChannel("noc", box.url)], allow_networks=LOOPBACK)
        assert leased.run_once(START) == 0
        leased.stop()
        boot = "another boot" if later_boot else clock.boot_id()
        at = 0 if later_boot else clock.boot_micros() + int(EDGE) + margin
        restarted = Deliverer(engine, [SlackChannel("noc", box.url)], allow_networks=LOOPBACK, boot=lambda: (boot, at))
        assert restarted.run_once(START) == 1
        restarted.stop()
        assert [seen.headers["webhook-id"] for seen in box.seen] == [notice().id] * 2
    with read(engine) as connection:
        (row,) = receipts(connection, [notice().episode])
    assert row.state == "delivered"
    engine.dispose()
