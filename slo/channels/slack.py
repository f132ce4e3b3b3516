"""What Slack is shown: notices as Block Kit. Pure; it must not post anything.

Foreign text is escaped first and cut afterwards, so that no cut opens an entity; it is escaped once, so that nobody
reads `&amp;lt;`. Links are written into the text: an odd URL in a button makes Slack refuse the whole notice.
"""

from collections.abc import Sequence
from typing import Any

from scheduler.instants import format_instant
from slo.notices import Notice

HEADER_LIMIT = 150
SECTION_LIMIT = 3000
FIELD_LIMIT = 500
TEXT_LIMIT = 4000
LINE_LIMIT = 280
URL_LIMIT = 2000


def escape(text: str) -> str:
    """Foreign text for Slack: `&` first, or the two others would be escaped twice. Quotes stay as they are."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(escaped: str, limit: int) -> str:
    """Escaped text of at most `limit` characters, never ending inside an entity; a cut is shown as `…`."""
    if len(escaped) <= limit:
        return escaped
    head = escaped[: limit - 1]
    entity = head.rfind("&")
    if entity >= 0 and ";" not in head[entity:]:
        head = head[:entity]
    return head + "…"


def link(url: str, text: str) -> str:
    """A link; the characters that end one are percent-encoded in the URL, so that it can't become something else."""
    safe = url.replace("<", "%3C").replace(">", "%3E").replace("|", "%7C").replace("&", "&amp;")
    return f"<{safe}|{escape(text)}>"


def message(notice: Notice) -> dict[str, Any]:
    """One notice as a Slack message, with a plain text for notifications and screen readers."""
    header = cut(escape(_one_line(_headline(notice))), HEADER_LIMIT)
    parts = [_header(header), _section(_story(notice)), _fields(notice)]
    parts.append(_context(f"{notice.id} · {format_instant(notice.at)}"))
    return _message(cut(escape(_line(notice)), TEXT_LIMIT), [part for part in parts if part is not None])


def summary(notices: Sequence[Notice]) -> dict[str, Any]:
    """Many notices as one message that lists each of them by its id."""
    title = f"{len(notices)} notices in one message"
    lines = [cut(escape(f"{_line(notice)} ({notice.id})"), LINE_LIMIT) for notice in notices]
    sections = [_section(text) for text in _pages(lines)]
    return _message(title, [_header(title), *(part for part in sections if part is not None)])


def _message(text: str, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    # Unfurling would make Slack fetch whatever address stands in a job's name.
    return {"text": text, "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _icon(notice: Notice) -> str:
    if notice.status == "resolved":
        return "🟢"
    return "🔴" if notice.severity == "page" else "🟠"


def _headline(notice: Notice) -> str:
    again = f", told {notice.repeat} times" if notice.status == "firing" and notice.repeat > 1 else ""
    return f"{_icon(notice)} {notice.status.capitalize()} {notice.severity}: {notice.slo}{again}"


def _line(notice: Notice) -> str:
    return _one_line(f"{_headline(notice)} - {notice.reason}" if notice.reason else _headline(notice))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _story(notice: Notice) -> str:
    told = [cut(escape(text), SECTION_LIMIT // 4) for text in (notice.description, notice.reason) if text]
    if notice.impact:
        told.append("Impact: " + cut(escape(notice.impact), FIELD_LIMIT))
    links = [_address(notice.link, "Open in Tepat"), _address(notice.runbook, "Runbook")]
    return cut("\n".join(told), SECTION_LIMIT // 2) + "\n" + " · ".join(text for text in links if text)


def _address(url: str, text: str) -> str:
    if not url.startswith(("http://", "https://")) or len(url) > URL_LIMIT // 4 or any(c.isspace() for c in url):
        return f"{text}: {cut(escape(_one_line(url)), FIELD_LIMIT)}" if url else ""
    return link(url, text)


def _fields(notice: Notice) -> dict[str, Any] | None:
    named = [
        ("Since", format_instant(notice.started_at)),
        ("Resolved", format_instant(notice.resolved_at) if notice.resolved_at else ""),
        ("Owner", notice.owner),
        ("Burn rate", ", ".join(f"{window} {_number(rate)}" for window, rate in notice.burn.items())),
        ("Error budget", _budget(notice)),
        ("Newest bad slots", ", ".join(notice.bad_slots[:5])),
    ]
    fields = [_plain(cut(escape(f"{name}: {value}"), FIELD_LIMIT)) for name, value in named if value]
    return {"type": "section", "fields": fields} if fields else None


def _budget(notice: Notice) -> str:
    budget = notice.budget
    if budget is None:
        return ""
    rest = "no data" if budget.remaining is None else f"{budget.remaining:.1%} remain"
    return f"{budget.spent:g} of {budget.allowed:.2f} spent, {rest}"


def _number(rate: float | None) -> str:
    return "no data" if rate is None else f"{rate:.2f}"


def _pages(lines: Sequence[str]) -> list[str]:
    pages: list[str] = []
    for line in lines:
        if pages and len(pages[-1]) + 1 + len(line) <= SECTION_LIMIT:
            pages[-1] += "\n" + line
        else:
            pages.append(line)
    return pages


def _header(escaped: str) -> dict[str, Any]:
    return {"type": "header", "text": _plain(escaped)}


def _section(escaped: str) -> dict[str, Any] | None:
    text = escaped.strip()
    # `verbatim` keeps Slack from turning names and addresses in foreign text into links and mentions by itself.
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}} if text else None


def _context(text: str) -> dict[str, Any]:
    return {"type": "context", "elements": [_plain(cut(escape(text), FIELD_LIMIT))]}


def _plain(escaped: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": escaped, "emoji": False}
