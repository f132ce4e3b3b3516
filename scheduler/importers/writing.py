"""Imported jobs as the text of a job file: plain YAML, in the order of the keys, without anchors. Pure."""

from collections.abc import Sequence
from typing import Any

import yaml


class _Plain(yaml.SafeDumper):
    """Lists stand indented below their key, as people write them, and nothing is said by an alias."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def to_yaml(key: str, items: Sequence[dict[str, Any]]) -> str:
    """The text of a file with the list `key` (`jobs`, `slos`); reading it back gives the same values."""
    return yaml.dump({key: list(items)}, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100)
