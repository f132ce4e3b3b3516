"""Delivery against a real receiver, as timetables: at least once, in order, never louder than the receiver allows."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from delivery.receiving import LOOPBACK, START, Receiver, Reply, many, notice, receiver
from sqlalchemy import Engine

from scheduler.database import open_sqlite, read, write
from slo.channels.addresses import make_client, parse_networks
from slo.channels.settings import Channel, FileChannel, SecretRef, SlackChannel, WebhookChannel
from slo.channels.webhook import signed_headers
from slo.delivery_policy import GIVE_UP_AFTER
from slo.notices import Notice
from slo.outbox import (
    Deliverer,
    Receipt,
    channel_states,
    create_tables,
    enable_channel,
    enqueue,
    owed,
    prune,
    receipts,
    replay,
    told,
    totals,
)

Make = Callable[..., Deliverer]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Engine]:
    engine = open_sqlite(tmp_path / "ledger.db", durable=False)
    create_tables(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def make(ledger: Engine) -> Iterator[Make]:
    made: list[Deliverer] = []

    def build(*channels: Channel, allow: list[str] = LOOPBACK, client: httpx.Client | None = None) -> Deliverer:
        deliverer = Deliverer(ledger, channels, allow_networks=allow, client=client, jitter=lambda: 0.0)
        made.append(deliverer)
        return deliverer

    yield build
    for deliverer in made:
        deliverer.stop()


def owe(ledger: Engine, *notices: Notice, to: tuple[str, ...] = ("noc",), now: datetime = START) -> int:
    with write(ledger) as connection:
        return enqueue(connection, [(one, to) for one in notices], now)


def owe_and_fail(ledger: Engine, one: Notice) -> None:
    with write(ledger) as connection:
        raise ZeroDivisionError(enqueue(connection, [(one, ["noc"])], START))


def rows(ledger: Engine, *notices: Notice) -> list[Receipt]:
    with read(ledger) as connection:
        return receipts(connection, sorted({one.episode for one in notices}))


def states(ledger: Engine) -> dict[str, int]:
    with read(ledger) as connection:
        summed: Counter[str] = Counter()
        for (_, state), count in totals(connection).items():
            summed[state] += count
        return dict(summed)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def slack(box: Receiver) -> SlackChannel:
    return SlackChannel("noc", box.url)


def test_a_429_is_waited_out_and_the_same_id_is_used_again(ledger: Engine, make: Make) -> None:
    with receiver(Reply(429, {"Retry-After": "30"}), Reply(200)) as box:
        deliverer = make(slack(box))
        owe(ledger, notice())
        assert [deliverer.run_once(after(second)) for second in (0, 1, 29.999, 30, 31, 3600)] == [1, 0, 0, 1, 0, 0]
        assert len({seen.headers["webhook-id"] for seen in box.seen}) == 1
        assert box.seen[0].headers["idempotency-key"] == notice().id
    (row,) = rows(ledger, notice())
    assert (row.state, row.attempts, row.answer, row.delivered_at) == ("delivered", 2, 200, after(30))


def test_other_notices_of_the_channel_wait_for_the_same_instant(ledger: Engine, make: Make) -> None:
    with receiver(Reply(429, {"Retry-After": "30"}), Reply(200)) as box:
        deliverer = make(slack(box))
        owe(ledger, *many(3))
        assert [deliverer.run_once(after(second)) for second in (0, 29.999, 30)] == [1, 0, 3]
    assert states(ledger) == {"delivered": 3}


def test_five_hundred_notices_against_a_receiver_that_always_refuses_make_eleven_posts(
    ledger: Engine, make: Make
) -> None:
    with receiver(Reply(429, {"Retry-After": "60"})) as box:
        deliverer = make(slack(box))
        owe(ledger, *many(500))
        for second in range(601):
            deliverer.run_once(after(second))
        assert 2 <= len(box.seen) <= 11
        assert states(ledger) == {"pending": 500}
        box.replies[:] = [Reply(200)]
        deliverer.run_once(after(700))
        assert len(box.seen) <= 11 + 5
    assert states(ledger) == {"delivered": 500}


def test_more_than_twenty_become_a_summary_and_each_receipt_names_it(ledger: Engine, make: Make) -> None:
    notices = many(21)
    with receiver(Reply(500), Reply(200)) as box:
        deliverer = make(WebhookChannel("noc", box.url))
        owe(ledger, *notices)
        deliverer.run_once(START)
        owe(ledger, notice("late"))
        assert deliverer.run_once(after(60)) == 2
        first, again = [seen for seen in box.seen if seen.headers["webhook-id"].startswith("summary/")]
        assert first.headers["webhook-id"] == again.headers["webhook-id"]
        assert [one["id"] for one in again.json["notices"]] == [one.id for one in notices]
    assert {row.fold for row in rows(ledger, *notices)} == {first.headers["webhook-id"]}
    assert states(ledger) == {"delivered": 22}


def test_twenty_go_out_one_by_one(ledger: Engine, make: Make) -> None:
    with receiver() as box:
        owe(ledger, *many(20))
        assert make(slack(box)).run_once(START) == 20


def test_a_refused_summary_is_taken_apart(ledger: Engine, make: Make) -> None:
    with receiver(Reply(400), Reply(200)) as box:
        owe(ledger, *many(21))
        assert make(slack(box)).run_once(START) == 22
    assert states(ledger) == {"delivered": 21}


@pytest.mark.parametrize("act", ["close", "hang"])
def test_a_receiver_that_closes_or_hangs_is_tried_again(ledger: Engine, make: Make, act: str) -> None:
    short = httpx.Timeout(0.3, connect=5)
    with receiver(Reply(act="close" if act == "close" else "hang"), Reply(200)) as box:
        deliverer = make(slack(box), client=make_client(parse_networks(LOOPBACK), timeout=short))
        owe(ledger, notice())
        deliverer.run_once(START)
        (row,) = rows(ledger, notice())
        assert row.state == "pending" and row.reason.startswith("no_answer: ")
        deliverer.run_once(after(1))
    assert states(ledger) == {"delivered": 1}


def test_a_receiver_that_is_not_there_is_tried_for_three_days(ledger: Engine, make: Make) -> None:
    deliverer = make(SlackChannel("noc", "http://127.0.0.1:1/services/a-long-secret-part"))
    owe(ledger, notice())
    for moment, state in ((START, "pending"), (after(3600), "pending"), (START + GIVE_UP_AFTER, "dead")):
        deliverer.run_once(moment)
        (row,) = rows(ledger, notice())
        assert row.state == state
        assert "secret" not in row.reason


def test_a_500_for_one_notice_does_not_hold_the_others(ledger: Engine, make: Make) -> None:
    with receiver(Reply(500), Reply(200)) as box:
        owe(ledger, *many(3))
        assert make(slack(box)).run_once(START) == 3
    assert states(ledger) == {"delivered": 2, "pending": 1}


def test_a_400_is_not_tried_again_and_its_body_is_kept_nowhere(ledger: Engine, make: Make) -> None:
    with receiver(Reply(400, body=b"inside words")) as box:
        deliverer = make(slack(box))
        owe(ledger, notice())
        assert [deliverer.run_once(after(second)) for second in (0, 3600)] == [1, 0]
    (row,) = rows(ledger, notice())
    assert (row.state, row.reason) == ("dead", "rejected: answered 400")


@pytest.mark.parametrize("status", [403, 410])
def test_a_channel_that_is_gone_is_disabled_until_its_address_changes(
    ledger: Engine, make: Make, tmp_path: Path, status: int
) -> None:
    address = tmp_path / "url"
    with receiver(Reply(status), Reply(200)) as box:
        address.write_text(box.url + "\n")
        deliverer = make(SlackChannel("noc", SecretRef(str(address))))
        owe(ledger, *many(3))
        assert [deliverer.run_once(after(second)) for second in (0, 3600)] == [1, 0]
        with read(ledger) as connection:
            (channel,) = channel_states(connection)
        assert channel.disabled_at == START and str(status) in channel.reason
        address.write_text(box.url + "-new")
        assert deliverer.run_once(after(3601)) == 2
        with read(ledger) as connection:
            assert channel_states(connection)[0].disabled_at is None
    assert states(ledger) == {"dead": 1, "delivered": 2}


def test_what_is_owed_to_a_disabled_or_removed_channel_is_given_up_after_three_days(ledger: Engine, make: Make) -> None:
    with receiver(Reply(410)) as box:
        deliverer = make(slack(box))
        owe(ledger, *many(2))
        owe(ledger, notice("other"), to=("removed",))
        deliverer.run_once(START)
        assert states(ledger) == {"dead": 1, "pending": 2}
        deliverer.run_once(START + GIVE_UP_AFTER)
    with read(ledger) as connection:
        assert totals(connection) == {("noc", "dead"): 2, ("removed", "dead"): 1}


def test_a_dead_notice_can_be_sent_once_more(ledger: Engine, make: Make) -> None:
    with receiver(Reply(403), Reply(200)) as box:
        deliverer = make(slack(box))
        owe(ledger, notice())
        deliverer.run_once(START)
        with write(ledger) as connection:
            assert replay(connection, "noc", after(60)) == 1
            enable_channel(connection, "noc")
        deliverer.run_once(after(60))
    assert states(ledger) == {"delivered": 1}


def test_an_inside_address_is_refused_and_never_connected_to(ledger: Engine, make: Make) -> None:
    with receiver() as box:
        owe(ledger, notice())
        make(slack(box), allow=[]).run_once(START)
        assert box.seen == []
    (row,) = rows(ledger, notice())
    assert row.state == "refused" and "settings.allow_networks" in row.reason and "secret" not in row.reason


def test_an_unreadable_secret_is_tried_again(ledger: Engine, make: Make, tmp_path: Path) -> None:
    with receiver() as box:
        deliverer = make(WebhookChannel("noc", box.url, SecretRef(str(tmp_path / "secret"))))
        owe(ledger, notice())
        deliverer.run_once(START)
        assert box.seen == []
        (tmp_path / "secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        deliverer.run_once(after(1))
        seen = box.seen[0]
    expected = signed_headers(notice().id, seen.content, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", after(1))
    assert {name: seen.headers[name] for name in expected} == expected


def test_a_file_channel_gets_its_line(ledger: Engine, make: Make, tmp_path: Path) -> None:
    path = tmp_path / "notices.ndjson"
    owe(ledger, notice())
    make(FileChannel("noc", str(path))).run_once(START)
    assert json.loads(path.read_text())["status"] == "firing"
    assert states(ledger) == {"delivered": 1}


def test_a_notice_is_owed_once_and_not_at_all_when_the_transaction_fails(ledger: Engine) -> None:
    assert owe(ledger, notice(), to=("noc", "lead")) == 2
    assert owe(ledger, notice(), to=("noc", "lead")) == 0
    with pytest.raises(ZeroDivisionError):
        owe_and_fail(ledger, notice("other"))
    assert states(ledger) == {"pending": 2}
    assert rows(ledger, notice("other")) == []


@pytest.mark.parametrize(("offset", "count"), [(-1e-6, 0), (0, 1), (1e-6, 1)])
def test_a_notice_is_owed_from_its_instant_on(ledger: Engine, offset: float, count: int) -> None:
    owe(ledger, notice())
    with read(ledger) as connection:
        assert len(owed(connection, after(offset), 10)) == count


def test_resolved_is_owed_to_the_channels_that_were_told(ledger: Engine, make: Make) -> None:
    with receiver(Reply(400)) as box:
        owe(ledger, notice(), to=("noc", "lead"))
        make(slack(box)).run_once(START)
    with read(ledger) as connection:
        assert told(connection, notice().episode) == {"lead"}


def test_pruning_forgets_what_is_settled_and_keeps_what_is_owed(ledger: Engine, make: Make) -> None:
    with receiver() as box:
        owe(ledger, notice())
        owe(ledger, notice("other"), to=("lead",))
        make(slack(box)).run_once(START)
    with write(ledger) as connection:
        assert [prune(connection, after(second)) for second in (0, 1)] == [0, 1]
    assert states(ledger) == {"pending": 1}


def test_a_woken_deliverer_sends_in_the_background_and_a_hanging_channel_delays_no_other(
    ledger: Engine, make: Make
) -> None:
    with receiver(Reply(act="hang")) as slow, receiver() as quick:
        deliverer = make(SlackChannel("slow", slow.url), SlackChannel("quick", quick.url))
        deliverer.start()
        owe(ledger, notice(), to=("slow",))
        deliverer.wake()
        assert slow.wait_for(1)
        owe(ledger, notice(), to=("quick",))
        deliverer.wake()
        assert quick.wait_for(1)
        slow.ended.set()
