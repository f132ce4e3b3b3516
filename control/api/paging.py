"""How every list of the API is asked for and answered: a cursor and a limit in, items with the next cursor out."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import HTTPException, Query

from collector.listing import MAX_PAGE, CursorError
from scheduler.instants import format_instant

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
Cursor = Annotated[str | None, Query(max_length=300)]
T = TypeVar("T")


def listed(items: list[dict[str, Any]], now: datetime, cursor: str | None = None) -> dict[str, Any]:
    """The answer of every list; `cursor` None at its end."""
    return {"items": items, "next": cursor, "as_of": format_instant(now)}


def paged(ask: Callable[[], T]) -> T:
    """What `ask` answers; a cursor that no page gave out is the asker's fault (422)."""
    try:
        return ask()
    except CursorError as error:
        raise HTTPException(422, f"cursor: {error}") from None
