"""Reading YAML: lines are kept, traps get a remedy, and nothing in a file can run or swell without end."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.files import (
    MAX_FILE_BYTES,
    MAX_NODES,
    DefinitionError,
    Document,
    Problem,
    dotted,
    read_file,
    read_folder,
)

Write = Callable[..., Path]


def only_problem(folder: Path) -> Problem:
    _, problems = read_folder(folder)
    assert len(problems) == 1, [str(problem) for problem in problems]
    return problems[0]


def only_document(folder: Path) -> Document:
    documents, problems = read_folder(folder)
    assert not problems, [str(problem) for problem in problems]
    assert len(documents) == 1
    return documents[0]


@pytest.mark.parametrize(
    "line",
    ["schedule: @daily", "schedule: * * * * *", "cron: */5 * * * *", "x: *nowhere", "x: `date`", "x: %d"],
)
def test_a_value_that_yaml_can_not_begin_with_is_answered_with_quote_it(write: Write, line: str) -> None:
    problem = only_problem(write(f"a: 1\n{line}\n"))
    assert problem.line == 2
    assert "quote the value" in problem.remedy


@pytest.mark.parametrize(
    ("text", "shown"), [("12:30", "12:30"), ("1:00", "1:00"), ("-1:10:10", "-1:10:10"), ("1:1.5", "1:1.5")]
)
def test_a_time_that_yaml_reads_to_base_sixty_is_refused(write: Write, text: str, shown: str) -> None:
    problem = only_problem(write(f"at: {text}\n"))
    assert problem.value == shown
    assert problem.remedy == f'quote the time: "{shown}"'


def test_a_time_with_a_leading_zero_is_text_and_a_quoted_one_too(write: Write) -> None:
    assert only_document(write('a: 09:30\nb: "12:30"\n')).value == {"a": "09:30", "b": "12:30"}


def test_keys_are_words_even_where_yaml_reads_booleans(write: Write) -> None:
    assert only_document(write("on: push\nno: 1\n5: x\nnull: y\n")).value == {
        "on": "push",
        "no": 1,
        "5": "x",
        "null": "y",
    }


def test_an_instant_stays_the_text_that_was_written(write: Write) -> None:
    text = "a: 2026-01-01T00:00:00Z\nb: 2026-01-01\nc: 2026-12-24T22:00+07:00\n"
    expected = {"a": "2026-01-01T00:00:00Z", "b": "2026-01-01", "c": "2026-12-24T22:00+07:00"}
    assert only_document(write(text)).value == expected


def test_a_key_that_stands_twice_names_both_lines(write: Write) -> None:
    problem = only_problem(write("jobs:\n  - id: a\n    owner: x\n    owner: y\n"))
    assert (problem.line, problem.field) == (4, "jobs[0].owner")
    assert "also on line 3" in problem.message


@pytest.mark.parametrize(
    "tag",
    ["!!python/object/apply:os.system [id]", "!!python/name:os.system ''", "!mine x", "!!binary aGk=", "!!set {a: }"],
)
def test_a_tag_is_refused_and_nothing_is_built_from_it(write: Write, tag: str) -> None:
    problem = only_problem(write(f"a: 1\nx: {tag}\n"))
    assert (problem.line, problem.remedy) == (2, "remove the tag")


def test_merge_keys_are_refused_and_plain_aliases_read(write: Write) -> None:
    assert only_document(write("a: &a [1, 2]\nb: *a\n")).value == {"a": [1, 2], "b": [1, 2]}
    problem = only_problem(write("a: &a {x: 1}\nb: {<<: *a}\n"))
    assert (problem.line, problem.value) == (2, "<<")


def test_aliases_that_multiply_are_stopped(write: Write) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    problem = only_problem(write("\n".join(lines)))
    assert str(MAX_NODES) in problem.message


def test_an_alias_to_itself_is_stopped(write: Write) -> None:
    assert "nested deeper" in only_problem(write("a: &a [*a]\n")).message


@pytest.mark.parametrize("text", ["9" * 41, "0x" + "F" * 9_000, "0." + "1" * 39])
def test_a_number_of_endless_digits_is_refused(write: Write, text: str) -> None:
    assert "too many digits" in only_problem(write(f"a: {text}\n")).message
    assert only_document(write("a: " + "9" * 40 + "\n")).value == {"a": 10**40 - 1}


def test_deep_nesting_is_a_problem_and_not_a_crash(write: Write) -> None:
    assert "nested deeper" in only_problem(write("a: " + "[" * 20_000)).message


@pytest.mark.parametrize(
    ("size", "fits"), [(MAX_FILE_BYTES - 1, True), (MAX_FILE_BYTES, True), (MAX_FILE_BYTES + 1, False)]
)
def test_the_limit_of_a_file_is_one_mebibyte(tmp_path: Path, size: int, fits: bool) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: 1\n#" + b"x" * (size - 6))
    documents, problems = read_folder(tmp_path)
    assert (bool(documents), not problems) == (fits, fits)


def test_bytes_that_are_not_utf_8_are_a_problem_of_that_file_alone(write: Write) -> None:
    folder = write("a: 1\n", "good.yaml")
    (folder / "bad.yaml").write_bytes(b"a: \xff\n")
    documents, problems = read_folder(folder)
    assert [document.name for document in documents] == ["good.yaml"]
    assert "not UTF-8 at byte 3" in problems[0].message


def test_two_documents_in_one_file_each_keep_their_lines(write: Write) -> None:
    documents, problems = read_folder(write("a: 1\n---\nb: 2\n"))
    assert not problems
    assert [document.value for document in documents] == [{"a": 1}, {"b": 2}]
    assert documents[1].line(("b",)) == 3


def test_a_missing_path_has_the_line_of_what_encloses_it(write: Write) -> None:
    document = only_document(write("jobs:\n  - owner: x\n  - id: b\n"))
    assert document.line(("jobs", 1, "schedule", "cron")) == 3


def test_files_below_are_read_in_order_and_hidden_ones_passed_over(write: Write) -> None:
    write("b: 1\n", "sub/b.yaml")
    write("h: 1\n", ".git/h.yaml")
    folder = write("a: 1\n", "a.yaml")
    documents, _ = read_folder(folder)
    assert [document.name for document in documents] == ["a.yaml", "sub/b.yaml"]


def test_a_file_named_yml_is_not_passed_over_in_silence(write: Write) -> None:
    assert only_problem(write("jobs: []\n", "jobs.yml")).remedy == "rename it to .yaml"


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_a_folder_without_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DefinitionError, match=name):
        read_folder(tmp_path / name)


def test_the_text_of_an_error_has_one_line_for_each_problem_in_order() -> None:
    later = Problem(
        "a.yaml", 12, "jobs[0].schedule.cron", "61 * * * *", "is not a cron expression", "write five fields"
    )
    sooner = Problem("a.yaml", 0, "", "", "is not UTF-8", "save it as UTF-8")
    assert str(DefinitionError([later, sooner])).splitlines() == [
        "a.yaml: is not UTF-8; save it as UTF-8",
        "a.yaml:12: jobs[0].schedule.cron: '61 * * * *' is not a cron expression; write five fields",
    ]


def test_a_character_that_moves_a_terminal_s_cursor_is_shown_as_its_escape() -> None:
    problem = Problem("a.yaml", 1, "x", "\x1b[2J\u202e", "is wrong", "change it")
    assert str(problem) == "a.yaml:1: x: '\\x1b[2J\\u202e' is wrong; change it"


def test_a_path_is_shown_with_dots_and_indexes() -> None:
    assert dotted(("jobs", 0, "schedule", "at", 2)) == "jobs[0].schedule.at[2]"


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>#'\"%@`, \n\t0.5?~<=\x00é\U0001f600"), max_size=60))
def test_whatever_a_file_holds_reading_it_ends_in_documents_or_problems(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.yaml"
        path.write_text(text, encoding="utf-8")
        documents, problems = read_file(path, "x.yaml")
    assert all(isinstance(document.value, dict | list | str | int | float | None) for document in documents)
    assert all(problem.message and problem.remedy for problem in problems)
