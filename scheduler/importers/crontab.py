"""Crontabs to jobs: user and system form, cron.d files, FreeBSD's, and zone prefixes as Dagu writes them. Pure.

Each line becomes a job that runs the same command in the same shell at the same times, as cron would: runs may overlap
and nothing is made up. What a job file can't say is a finding, with file, line and column.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler.importers.cron_accounts import account_wrong, looks_like_system, named_as_system
from scheduler.importers.cron_lines import (
    MAX_LINE,
    Blank,
    Comment,
    Entry,
    Line,
    Setting,
    TooLong,
    entry_of,
    read_line,
    read_lines,
    split_percent,
)
from scheduler.importers.cron_runs import run_of
from scheduler.importers.cron_schedules import ZONE, Timing, looks_like_field, read_timing
from scheduler.importers.imported import NO_LIMIT, Document, Gathering, Imported, Options, Source
from scheduler.importers.line_notes import line_notes
from scheduler.importers.masking import looks_secret, masked
from scheduler.importers.shell_text import program_of
from scheduler.instants import format_duration
from scheduler.zones import check_zone

DIALECTS = ("crontab", "dagu")
MAX_DESCRIPTION = 2_000
_HEADING = re.compile(r"(?:m|min|minute)\s+(?:h|hour)\s+(?:dom|mday|day)\b.*|[-=*+_|.\s]*", re.IGNORECASE)


def read_crontab(sources: Sequence[Source], options: Options) -> Imported:
    """Every job line of one or more crontabs. Nothing in them raises."""
    gathering = Gathering()
    for source in sources:
        _File(source, options, gathering).read()
    return gathering.result("there is no job line in it; is it a crontab?", sources[0].name)


@dataclass(slots=True)
class _File:
    """One crontab while it is read from top to bottom: variables hold for the lines below them."""

    source: Source
    options: Options
    gathering: Gathering
    zone: str | None = None
    zone_lost: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    users: dict[str, list[str]] = field(default_factory=dict)
    commands: int = 0
    without_zone: list[str] = field(default_factory=list)

    def read(self) -> None:
        self.zone = self.options.zone
        lines = list(read_lines(self.source.text))
        system = self._is_system(lines)
        self._look_at_line_ends()
        for line in lines:
            if isinstance(line, Setting):
                self._setting(line)
            elif isinstance(line, Comment):
                self._comment(line, system=system)
            elif isinstance(line, Blank):
                self.comments.clear()
            elif isinstance(line, TooLong):
                self.say("too_long", line.line, f"the line has {line.length} characters; the limit is {MAX_LINE}")
            else:
                self._entry(line, system=system)
                self.comments.clear()
        self._say_of_the_whole()

    def say(self, code: str, line: int, message: str) -> None:
        self.gathering.say(code, f"{self.source.name}:{line}" if line else self.source.name, message)

    def _is_system(self, lines: list[Line]) -> bool:
        if self.options.dialect == "dagu":
            return False
        if self.options.system is not None:
            return self.options.system
        if named_as_system(self.source.name):
            return True
        system, doubtful = looks_like_system(lines)
        if doubtful:
            read = "the user that cron runs the line as" if system else "the beginning of the command"
            other = "--no-system" if system else "--system"
            self.say("form_assumed", 0, f"the sixth word of each line is read as {read}; if it is not, give {other}")
        return system

    def _look_at_line_ends(self) -> None:
        if "\r\n" in self.source.text:
            self.say(
                "line_ends", 0, "lines end the way of Windows, which cron takes for a part of each command; removed"
            )
        elif self.source.text and not self.source.text.endswith("\n"):
            self.say("line_ends", 0, "the last line has no line end, and many crons then never run it; it is imported")

    def _setting(self, line: Setting) -> None:
        self.comments.clear()
        if line.name in ("CRON_TZ", "TZ"):
            self._zone(line)
        elif looks_secret(line.name, line.value):
            path = f"/run/secrets/{line.name.lower()}"
            self.say(
                "secret", line.line,
                f"{line.name} looks like a secret: its value is not written into the job file. Put it into a file that"
                f' only the worker can read, and begin each command that needs it with:'
                f' export {line.name}="$(cat {path})";',
            )  # fmt: skip
        else:
            self._variable(line)

    def _variable(self, line: Setting) -> None:
        self.variables[line.name] = line.value
        if line.name == "MAILTO":
            where = f"to {line.value}" if line.value else "nowhere"
            self.say(
                "mail", line.line, f"cron sent the output {where}; Tepat keeps it with the run, and alerts by `notify`"
            )
        if "$" in line.value:
            said = f"{line.name} holds {masked(line.value)!r} as it stands: neither cron nor Tepat expands it"
            self.say("variable_literal", line.line, said)

    def _zone(self, line: Setting) -> None:
        if any(map(str.isspace, line.value)):
            self._zone_in_line(line)
            return
        zone = line.value.removeprefix(":")
        try:
            self.zone, self.zone_lost = check_zone(zone), False
        except ValueError as error:
            self.zone, self.zone_lost = None, True
            self.say("unknown_zone", line.line, f"{line.name}: {zone!r} {error}; the lines below get no time zone")
            return
        said = f"{line.name}: the time zone {zone} applies to all following lines"
        if line.name == "TZ":
            self.variables["TZ"] = line.value
            said += "; Debian's and Red Hat's cron hand TZ to the commands only, so check which one ran this file"
        self.say("zone_line", line.line, said)

    def _zone_in_line(self, line: Setting) -> None:
        zone, _, text = line.value.partition(" ")
        if self.options.dialect == "dagu":
            column = len(line.name) + len(zone) + 3
            self._entry(entry_of(text.strip(), line.line, column), system=False, prefix=zone)
            return
        self.say(
            "zone_in_cron", line.line,
            f"{line.name}={zone} stands inside a job line, where cron reads all of it as a variable and starts nothing;"
            f" the zone goes on its own line above: CRON_TZ={zone} (a Dagu or Coder file: --dialect dagu)",
        )  # fmt: skip

    def _comment(self, line: Comment, *, system: bool) -> None:
        job = read_line(line.text, line.line) if line.text else Blank(line.line)
        if isinstance(job, Entry) and job.rest and _is_job(job, system=system):
            self.say("commented_out", line.line, f"a job line behind a # is not imported: {_shown(line.text)}")
        elif line.text and not _HEADING.fullmatch(line.text):
            self.comments.append(line.text)

    def _entry(self, entry: Entry, *, system: bool, prefix: str | None = None) -> None:
        zone = self._prefix_zone(entry, prefix)
        timing = read_timing(entry, dagu=self.options.dialect == "dagu", year=self.options.year)
        user = ""
        if timing.wrong is None and system:
            user, entry = entry.after_user()
            timing = _with_user(timing, user, entry)
        if timing.wrong is None and not entry.rest and self.options.dialect != "dagu":
            timing = Timing(wrong=("no_command", entry.column, "the line ends where its command should stand; add it"))
        if timing.wrong is not None:
            code, column, message = timing.wrong
            self.gathering.say(code, f"{self.source.name}:{entry.line}:{column}", message)
            return
        for code, message in timing.notes:
            self.say(code, entry.line, message)
        self._job(entry, timing, user, zone)

    def _prefix_zone(self, entry: Entry, prefix: str | None) -> str | None:
        if prefix is None:
            return self.zone
        try:
            return check_zone(prefix)
        except ValueError as error:
            self.say("unknown_zone", entry.line, f"{prefix!r} {error}; the job gets no time zone")
            self.zone_lost = True
            return None

    def _job(self, entry: Entry, timing: Timing, user: str, zone: str | None) -> None:
        command, given, at = split_percent(entry.rest)
        job_id = self.gathering.new_id(program_of(command) or ("job" if command else "dagu"))
        self.commands += bool(command)
        if user:
            self.users.setdefault(user, []).append(job_id)
        if zone is None:
            self.without_zone.append(job_id)
        if given is not None:
            self._say_percent(entry, command, given, at)
        for code, message in line_notes(command, timing.cron, self.options.year):
            self.say(code, entry.line, message)
        run, notes = run_of(command, given, self.variables, job_id) if command else (None, [])
        for message in notes:
            self.say("secret", entry.line, message)
        self.gathering.add(
            {
                "id": job_id,
                "description": masked("\n".join(self.comments))[:MAX_DESCRIPTION],
                "labels": {"user": user} if user else {},
                "schedule": timing.schedule | ({"timezone": zone} if zone else {}) | self._dst(timing, zone),
                "run": run,
                "overlap": "allow" if command else None,
                "catch_up": "none" if command else None,
            }
        )

    def _dst(self, timing: Timing, zone: str | None) -> Document:
        # Dagu counts clock times literally: twice on the long day, not at all in the gap.
        literal = self.options.dialect == "dagu" and timing.cron is not None and zone not in (None, "UTC", "Etc/UTC")
        return {"dst": "literal"} if literal else {}

    def _say_percent(self, entry: Entry, command: str, given: str, at: int) -> None:
        where = f"{self.source.name}:{entry.line}:{entry.column + at}"
        said = (
            f"cron cuts the command at the unescaped %: it runs {_shown(command)} with {_shown(given)} as standard"
            f" input, and so does the job. If the % was meant for the command, write \\% and import it again"
        )
        self.gathering.say("percent", where, said)

    def _say_of_the_whole(self) -> None:
        for user, jobs in self.users.items():
            said = f"cron runs {_some(jobs)} as {user}: kept as the label `user`; a worker runs jobs as its own account"
            self.say("user_column", 0, said)
        if self.without_zone and not self.zone_lost:
            said = f"no CRON_TZ and no --tz: {_some(self.without_zone)} without `timezone`; {ZONE}"
            self.say("missing_zone", 0, said)
        if self.commands:
            self._say_of_commands()

    def _say_of_commands(self) -> None:
        limit = format_duration(NO_LIMIT)
        self.say(
            "overlap_allowed", 0, "cron starts a job while its last run still goes on: written as `overlap: allow`"
        )
        self.say(
            "no_time_limit", 0, f"cron never ends a run: written as `timeout: {limit}`; set what each job may need"
        )
        home = "" if self.variables.get("HOME") else "in the user's home folder (set `run.cwd`)"
        path = "" if self.variables.get("PATH") else "with PATH=/usr/bin:/bin (set `run.env`)"
        if home or path:
            self.say(
                "environment", 0, f"cron starts commands {' and '.join(filter(None, (home, path)))}; a worker does not"
            )


def _is_job(entry: Entry, *, system: bool) -> bool:
    timing = read_timing(entry, dagu=False, year=2000)
    return timing.wrong is None and (not system or bool(entry.after_user()[1].rest))


def _with_user(timing: Timing, user: str, entry: Entry) -> Timing:
    if looks_like_field(user) or not account_wrong(user):
        return timing
    said = f"{user!r} stands in the user column and is no account name; is this a user's crontab? Then give --no-system"
    return Timing(wrong=("no_command", entry.column, said))


def _some(jobs: list[str]) -> str:
    return ", ".join(jobs[:5]) + (f" and {len(jobs) - 5} more" if len(jobs) > 5 else "")


def _shown(text: str) -> str:
    return repr(masked(" ".join(text.split()))[:120])
