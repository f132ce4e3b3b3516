"""Shell commands that end well whatever happened in them. Pure: a text is looked at, never run.

It reads only as much of the shell's grammar as it needs: quotes, brackets, and the operators outside them. A text with
a here-document or a `case` is passed over, because what looks like an operator there may be none. What a command holds
may be secret: a note quotes its last operator and word, no more.
"""

import re
from collections.abc import Iterator

from scheduler.jobs import Command
from scheduler.linting.codes import Note

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"})

_PLAIN = re.compile(
    r"""\\.|'[^']*'|`[^`]*`|"|\$\(|\(|\)   # what is escaped or quoted, and what opens and closes
    |(?<![^\s;|&(])\#[^\n]*                # a comment
    |\d*[<>]+[&|]?|&>+                     # redirections, whose & and | are no operators
    |\|\||&&|;;|\|&|[|;&\n]                # operators
    |[^\\'`"$()\#<>|;&\n]+|.               # anything else""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""\\.|"|\$\(|[^\\"$]+|.""", re.DOTALL)
_OPERATORS = frozenset({"||", "&&", ";;", "|&", "|", ";", "&", "\n"})
_PASSED_OVER = re.compile(r"(?<!<)<<(?!<)|\bcase\b")
_ERREXIT = re.compile(r"(^|\s)-[a-z]*e[a-z]*\b|errexit")
_SUCCEEDS = re.compile(r"(true|/bin/true|/usr/bin/true|:|exit\s+0|echo|printf)(?:\s.*)?", re.DOTALL)
_HARMLESS = re.compile(r"(echo|printf)\s.*|[A-Za-z_]\w*=[^$`\s]*|set\s.*", re.DOTALL)


def command_notes(command: Command) -> Iterator[Note]:
    """Whether a command's shell text hides the exit code of what it runs."""
    options, script = _script(command)
    if not script or _PASSED_OVER.search(script):
        return
    pieces = _pieces(script)
    ending = _ending(pieces, _ERREXIT.search(options) or re.search(r"(^|[\s;])set\s+-(\w*e|o\s+errexit)", script))
    if ending:
        says = f"ends with `{ending}`: the run succeeds whatever went wrong before"
        yield Note("exit_code_hidden", f"{says}; drop it, or end with the exit code that counts")
    if _loses_in_pipe(pieces) and "pipefail" not in options + script:
        says = "has a pipe, and a pipe's exit code is that of its last command alone"
        remedy = "run it as [bash, -o, pipefail, -c, ...], or without the pipe"
        yield Note("exit_code_hidden", f"{says}: failures before it are not seen; {remedy}")


def _script(command: Command) -> tuple[str, str]:
    """The shell's options and its text; empty where no shell is called with a text."""
    if command.shell:
        return "", command.argv[0]
    words = command.argv
    start = next((index for index, word in enumerate(words) if word.rpartition("/")[2] in SHELLS), len(words))
    for index in range(start + 1, len(words) - 1):
        if re.fullmatch(r"-[a-z]*c", words[index]):
            return " ".join(words[start + 1 : index + 1]), words[index + 1]
    return "", ""


def _pieces(script: str) -> list[str]:
    """Commands and the operators between them, in turn; what stands in brackets and quotes is part of a command."""
    pieces, opened, at = [""], "", 0
    while at < len(script):
        match = (_QUOTED if opened.endswith('"') else _PLAIN).match(script, at)
        assert match is not None
        mark, at = match[0], match.end()
        if not opened and mark in _OPERATORS:
            pieces += [mark, ""]
            continue
        opened = _opened(opened, mark)
        pieces[-1] += "" if mark.startswith("#") else mark
    pieces = [piece.strip(" \t") for piece in pieces]
    while len(pieces) > 1 and pieces[-1] == "" and pieces[-2] in (";", "\n"):
        del pieces[-2:]
    return pieces


def _opened(opened: str, mark: str) -> str:
    """The quotes and brackets that are still open after a mark, the innermost last."""
    if mark == '"':
        return opened[:-1] if opened.endswith('"') else opened + '"'
    if mark in ("(", "$("):
        return opened + "("
    return opened[:-1] if mark == ")" and opened.endswith("(") else opened


def _ending(pieces: list[str], errexit: object) -> str:
    """The last operator and word of a text that always succeeds; empty for any other."""
    if len(pieces) > 1 and pieces[-1] == "" and pieces[-2] == "&":
        return "&"
    match = _SUCCEEDS.fullmatch(pieces[-1])
    if match is None or len(pieces) < 3:
        return ""
    operator = pieces[-2].replace("\n", ";")
    stops = operator == "||" or (operator == ";" and not errexit)
    before = any(piece and not _HARMLESS.fullmatch(piece) for piece in pieces[:-2:2])
    return f"{operator} {' '.join(match[1].split())}" if stops and before else ""


def _loses_in_pipe(pieces: list[str]) -> bool:
    return any(
        operator in ("|", "|&") and not _HARMLESS.fullmatch(piece)
        for piece, operator in zip(pieces[::2], pieces[1::2], strict=False)
    )
