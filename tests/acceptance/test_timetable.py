"""Real processes by the clock: a job that begins to fail, a scheduler that falls silent, and who is told."""

from collections.abc import Callable

from acceptance.product import PATIENCE, Product, wait_for, webhook_receiver

from scheduler.instants import parse_instant

FILES = """
jobs:
  - id: tick
    schedule: {{every: {every}, timezone: UTC}}
    on_time: {{start_within: 2s}}
    run: {{command: "test ! -e broken", shell: true, timeout: 5s, grace: 1s}}
slos:
  - {{id: goal, indicator: {indicator}, select: {{job: tick}}, objective: 50%, window: 30d, notify: [hook]}}
channels:
  hook: {{webhook: {{url: "{url}"}}}}
settings: {{allow_networks: [127.0.0.0/8]}}
"""


def test_a_failing_job_is_told_once_and_its_recovery_once(make_product: Callable[[str], Product]) -> None:
    with webhook_receiver() as (url, received):
        product = make_product(FILES.format(every="2s", indicator="success", url=url))
        product.up()
        wait_for("six good runs", lambda: product.job("tick")["runs"]["succeeded"] >= 6)
        (product.folder / "broken").touch()
        wait_for("the firing notice", lambda: len(received) == 1)
        (product.folder / "broken").unlink()
        wait_for("the resolved notice", lambda: len(received) == 2)
        good = product.job("tick")["runs"]["succeeded"]
        wait_for("three more good runs", lambda: product.job("tick")["runs"]["succeeded"] >= good + 3)
        alerts = product.get("/api/v1/alerts")["items"]
    assert [message.body["status"] for message in received] == ["firing", "resolved"]
    assert [message.id.rsplit("/", 1)[1] for message in received] == ["firing", "resolved"]
    assert [alert["severity"] for alert in alerts] == ["page"]
    assert alerts[0]["resolved_at"] is not None
    for message, instant in zip(received, ("started_at", "resolved_at"), strict=True):
        delay = (message.at - parse_instant(alerts[0][instant])).total_seconds()
        print(f"{message.body['status']} reached the receiver {delay:.3f} s after the episode's {instant}")


def test_when_only_the_scheduler_stops_its_slots_are_missed_and_somebody_is_told(
    make_product: Callable[[str], Product],
) -> None:
    with webhook_receiver() as (url, received):
        product = make_product(FILES.format(every="1s", indicator="on_time", url=url))
        product.up().terminate()  # once, so that tokens and definitions are there
        product.started.pop().wait()
        product.serve("ledger")
        product.wait_until_ready()
        product.serve("worker")
        scheduler = product.serve("scheduler")
        wait_for("five slots on time and nothing wrong", lambda: _is_well(product))
        told = len(received)
        scheduler.kill()
        scheduler.wait()
        # Slots are planned a minute ahead, and the worker still runs those: silence begins only after that.
        wait_for("the firing notice", lambda: any(m.body["status"] == "firing" for m in received[told:]), 2 * PATIENCE)
        found = product.job("tick")["slots"]
    assert found["missed"] >= 2
    plain = sum(found[kind] for kind in ("on_time", "late", "missed", "unknown", "pending"))
    assert plain + sum(found["skipped"].values()) == found["expected"]


def _is_well(product: Product) -> bool:
    """Starting takes longer than the job's limit, so its first slots may be late and told of; that is over by then."""
    open_alerts = [alert for alert in product.get("/api/v1/alerts")["items"] if alert["resolved_at"] is None]
    return product.job("tick")["slots"]["on_time"] >= 5 and not open_alerts
