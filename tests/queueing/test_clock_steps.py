"""A scheduler that finds its wall clock set says so, and so do the runs that stand for what was passed over."""

from datetime import timedelta
from pathlib import Path

import pytest
from queueing.farm import START, minutely, new_queue, said

from scheduler import clock, passes
from scheduler.leases import Moment


@pytest.mark.parametrize(("seconds", "told"), [(600, ["08:10"]), (0, [])])
def test_a_pass_after_the_clock_was_set_says_by_how_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, told: list[str]
) -> None:
    engine = new_queue(tmp_path, minutely(), now=START + timedelta(seconds=1))
    walls = [START + timedelta(seconds=30), START + timedelta(seconds=31 + seconds)]
    scheduler = passes.Passes(engine, tmp_path / "queue.db")
    for number, wall in enumerate(walls):
        moment = Moment(wall, 1_000_000 * (number + 1), "this-boot")
        monkeypatch.setattr(passes, "read_moment", lambda moment=moment: moment)
        monkeypatch.setattr(clock, "now", lambda wall=wall: wall)
        scheduler.make()
    stepped = [event for event in said(engine, "queued") if "clock_step" in event["data"]]
    assert [event["slot"][11:16] for event in stepped] == told
    assert all(event["data"]["clock_step"] == 600.0 for event in stepped)
