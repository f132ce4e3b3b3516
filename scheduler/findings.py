"""What a check of files says: a level, a stable code, a place and a sentence. Pure values, shared by all that check."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What lint says. `where` is `file#id` or `file:line`; `code` is a stable word for machines."""

    level: Level
    code: str
    where: str
    message: str
