"""What a command may raise, and the exit code each means: 1 a check says no, 2 wrong usage, 3 nobody answers.

One file beside this one per command, each with `configure(parser)` and `run(arguments) -> int`. Nothing here imports
anything, because every command pays for it, `exec` with each run of a job.
"""


class CommandError(Exception):
    """A command can't do what it was asked to. The text says what, which value, and what to do."""

    exit_code = 2


class CheckError(CommandError):
    """The command did its work, and the answer is no."""

    exit_code = 1


class UsageError(CommandError):
    """What was given can't be used: an argument, a file, a folder."""

    exit_code = 2


class MissingError(UsageError):
    """The service knows no such thing."""


class UnreachableError(CommandError):
    """The service does not answer, or can't be understood."""

    exit_code = 3
