"""What Slack and generic receivers are shown, whatever stands in the foreign text."""

import base64
import hashlib
import hmac
import json
import math
from datetime import timedelta
from typing import Any

import pytest
from delivery.receiving import START, many, notice
from hypothesis import given
from hypothesis import strategies as st

from slo.channels import slack, webhook
from slo.notices import from_json, to_json

HOSTILE = "Job <nightly> A & B failed: <!channel> \"x\" 'y'"
SHOWN = "Job &lt;nightly&gt; A &amp; B failed: &lt;!channel&gt; \"x\" 'y'"


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (texts(item) if key != "type" else [])]
    return [text for item in value for text in texts(item)] if isinstance(value, list) else [str(value)]


def test_foreign_text_is_escaped_once_and_quotes_stay() -> None:
    assert slack.escape(HOSTILE) == SHOWN


def test_no_field_of_a_notice_reaches_slack_unescaped() -> None:
    names = ("slo", "reason", "owner", "impact", "description", "runbook", "id")
    hostile: dict[str, Any] = dict.fromkeys(names, HOSTILE)
    shown = texts(slack.message(notice(**hostile, bad_slots=(HOSTILE,), burn={HOSTILE: 1.0})))
    assert sum(SHOWN in text for text in shown) >= 6
    assert not any("<!channel>" in text or "&amp;lt;" in text for text in shown)


def test_a_summary_escapes_each_line() -> None:
    shown = texts(slack.summary([notice(reason=HOSTILE), notice("other", reason=HOSTILE)]))
    assert "\n".join(shown).count(SHOWN) == 2
    assert not any("<!channel>" in text for text in shown)


def test_a_link_can_not_be_closed_by_its_address_or_its_text() -> None:
    made = slack.link("https://h.example/a<b|c>d", "t|x>")
    assert made == "<https://h.example/a%3Cb%7Cc%3Ed|t|x&gt;>"


@pytest.mark.parametrize("limit", range(1, 12))
def test_a_cut_never_ends_inside_an_entity(limit: int) -> None:
    shown = slack.cut(slack.escape("a&b<c>d"), limit)
    assert len(shown) <= limit
    assert shown.rstrip("…") in {"", "a", "a&amp;", "a&amp;b", "a&amp;b&lt;", "a&amp;b&lt;c"}


@given(st.text(alphabet="&<>ab;\n", max_size=6000), st.text(alphabet="&<>| /:a", max_size=3000))
def test_slacks_limits_hold_for_any_text(text: str, url: str) -> None:
    made = slack.message(notice(text, reason=text, description=text, impact=text, runbook=url, link=url, owner=text))
    assert len(made["text"]) <= slack.TEXT_LIMIT
    for block in made["blocks"]:
        assert len(block.get("fields", [])) <= 10
        for part in [block.get("text", {}), *block.get("fields", []), *block.get("elements", [])]:
            limit = slack.HEADER_LIMIT if block["type"] == "header" else slack.SECTION_LIMIT
            assert part == {} or 1 <= len(part["text"]) <= limit


def test_a_summary_of_a_hundred_stays_within_slacks_limits_and_names_each() -> None:
    notices = many(100)
    made = slack.summary(notices)
    shown = "\n".join(texts(made))
    assert all(one.id in shown for one in notices)
    assert len(made["blocks"]) <= 50
    assert all(len(block["text"]["text"]) <= slack.SECTION_LIMIT for block in made["blocks"])


def test_a_notice_goes_through_json_unchanged() -> None:
    assert from_json(to_json(notice(status="resolved"))) == notice(status="resolved")


def test_what_json_can_not_say_becomes_null_or_a_question_mark() -> None:
    values = json.loads(to_json(notice(owner="\ud800x", burn={"5m": math.nan, "1h": math.inf})))
    assert values["owner"] == "?x"
    assert values["burn"] == {"5m": None, "1h": None}


def test_a_webhook_gets_the_notice_itself() -> None:
    one = notice()
    values = json.loads(webhook.body(one.id, [one]))
    assert values["id"] == "daily-on-time/page@2026-03-01T12:00:00Z/firing"
    assert values["status"] == "firing"
    assert values["started_at"] == "2026-03-01T12:00:00Z"
    assert values["budget"]["allowed"] == 1.5


def test_a_signature_is_that_of_standard_webhooks() -> None:
    key = bytes(range(24))
    secret = "whsec_" + base64.b64encode(key).decode()
    headers = webhook.signed_headers("msg/1", b'{"a":1}', secret, START)
    told = f"msg/1.{int(START.timestamp())}.".encode() + b'{"a":1}'
    expected = base64.b64encode(hmac.new(key, told, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-timestamp"] == str(int(START.timestamp()))


def test_the_published_example_of_standard_webhooks_is_met() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    at = START.fromtimestamp(1614265330, START.tzinfo)
    headers = webhook.signed_headers("msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', secret, at)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_reads_the_same_with_and_without_its_prefix() -> None:
    plain = base64.b64encode(b"k" * 24).decode()
    assert webhook.signing_key(plain) == webhook.signing_key("whsec_" + plain + "\n") == b"k" * 24


@pytest.mark.parametrize("secret", ["", "whsec_", "hunter2!", "whsec_c2hvcnQ="])
def test_a_secret_that_is_no_key_is_refused_without_showing_it(secret: str) -> None:
    with pytest.raises(ValueError, match="openssl rand") as caught:
        webhook.signing_key(secret)
    assert "hunter2" not in str(caught.value) and "c2hvcnQ" not in str(caught.value)


def test_an_id_that_is_not_ascii_stands_percent_encoded_in_the_headers() -> None:
    assert webhook.header_id("tagesabschluß\r\nX: y/page@1/firing") == "tagesabschlu%C3%9F%0D%0AX:%20y/page@1/firing"


def test_a_later_moment_signs_differently_under_the_same_id() -> None:
    secret = base64.b64encode(b"k" * 24).decode()
    first = webhook.signed_headers("m", b"{}", secret, START)
    second = webhook.signed_headers("m", b"{}", secret, START + timedelta(seconds=1))
    assert first["webhook-id"] == second["webhook-id"]
    assert first["webhook-signature"] != second["webhook-signature"]
