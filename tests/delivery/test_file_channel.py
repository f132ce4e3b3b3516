"""A file channel's lines are whole, on disk, and one for each notice."""

import json
from pathlib import Path

import pytest
from delivery.receiving import many, notice

from slo.channels.file import append


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines() if line.startswith('{"id":"daily')]


def test_the_folder_is_made_and_each_notice_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "notices.ndjson"
    append(path, many(3))
    append(path, [notice(reason="two\nlines")])
    lines = path.read_text().splitlines()
    assert len(lines) == 4
    assert json.loads(lines[3])["reason"] == "two\nlines"


def test_a_line_torn_by_a_crash_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "notices.ndjson"
    append(path, [notice()])
    with path.open("ab") as torn:
        torn.write(b'{"id":"half')
    append(path, [notice(status="resolved")])
    assert path.read_text().splitlines()[1] == '{"id":"half'
    assert [one.rsplit("/", 1)[1] for one in ids(path)] == ["firing", "resolved"]


def test_a_file_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Is a directory"):
        append(tmp_path, [notice()])
