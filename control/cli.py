"""The front door of the command line: which command, and which exit code. Each command's work is in its own file.

Imports are made per command: `tepat --help` and `tepat exec` must not pay for a web server or a database.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from control.commands import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# name -> (module in control.commands, what it does in one line, as `tepat --help` says it)
COMMANDS = {
    "up": ("up", "run the whole product: scheduler, workers, collector, SLO engine, API, dashboard"),
    "serve": ("serve", "run some of its parts as one process, for many hosts"),
    "run": ("run", "run a job now, or make up a slot"),
    "exec": ("exec_", "run any command, report it, keep its output and exit code"),
    "slots": ("slots", "when a job or a cron line is due"),
    "why": ("why", "why a job did or did not run at an instant, in words"),
    "dead": ("dead", "dead letters: list, show, redrive, discard"),
    "import": ("import_", "make job files from crontabs, CronJob manifests, timers, Quartz lines"),
    "lint": ("lint", "check job and SLO files"),
    "schema": ("schema", "print the JSON Schema of the files, for editors"),
    "backtest": ("backtest", "play recorded events through the files and judge them"),
    "doctor": ("doctor", "check this installation, with a remedy for each fault"),
}
WIDTH = 100
USAGE = "usage: tepat COMMAND [ARGUMENTS]   (tepat COMMAND --help explains one)"
FOOTER = """Every command takes --json.
Exit codes: 0 fine, 1 the check says no, 2 wrong usage or unreadable input, 3 the service can't be reached.
"""


def program() -> NoReturn:
    """The installed `tepat`: `main`, and the end of the process.

    `tepat exec` leaves at once, for tearing an interpreter down takes a third as long as starting it, and its
    reporting thread may still wait for a collector that does not answer.
    """
    code = main()
    if sys.argv[1:2] == ["exec"]:
        with suppress(OSError, ValueError):  # a closed stream must not cost the command's own exit code
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Errors of the user's become one line on standard error."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(overview())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        return _version()
    name = arguments.pop(0)
    if name not in COMMANDS:
        return _complain(f"tepat: {name!r} is not a command; use one of {', '.join(COMMANDS)}", 2)
    return _guarded(name, arguments)


def overview() -> str:
    """What `tepat --help` prints: every command with its line."""
    lines = [f"  {name:<10}{summary}" for name, (_, summary) in COMMANDS.items()]
    return "\n".join([USAGE, "", *lines, "", FOOTER.rstrip()])


def _guarded(name: str, arguments: list[str]) -> int:
    """Run the command: the one place where an error becomes an exit code."""
    try:
        return _run(name, arguments)
    except CommandError as error:
        return _complain(f"tepat {name}: {error}", error.exit_code)
    except SystemExit as stop:  # argparse has said what is wrong
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; without this the interpreter complains again while it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141


def _run(name: str, arguments: list[str]) -> int:
    from argparse import ArgumentParser, HelpFormatter

    module_name, summary = COMMANDS[name]
    module = import_module(f"control.commands.{module_name}")
    says = f"{summary[0].upper()}{summary[1:]}."

    def layout(prog: str) -> HelpFormatter:
        return HelpFormatter(prog, width=WIDTH)  # a width of its own spares every command an import that asks for it

    parser = ArgumentParser(prog=f"tepat {name}", description=says, allow_abbrev=False, formatter_class=layout)
    module.configure(parser)
    code: int = module.run(parser.parse_args(arguments))
    sys.stdout.flush()
    return code


def _version() -> int:
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(version("tepat"))
    except PackageNotFoundError:
        print("unknown (tepat is not installed as a package)")
    return 0


def _complain(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


if __name__ == "__main__":
    program()
