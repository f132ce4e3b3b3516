"""Every code that an importer may say, with its level and its meaning; docs/import.md has the same table. Pure."""

from collections.abc import Mapping

from scheduler.findings import Level

CODES: Mapping[str, tuple[Level, str]] = {
    # Of every kind of file
    "nothing_found": ("error", "the file holds nothing that this importer knows as a job"),
    "bad_schedule": ("error", "a schedule that can't be read; line, column and token are named"),
    "never_fires": ("error", "a schedule whose day and month exclude each other"),
    "unknown_zone": ("error", "a time zone that the IANA database does not have"),
    "missing_zone": ("warning", "nothing in the file says which time zone its hours are in"),
    "both_day_fields": ("warning", "day of month and weekday are both restricted, and either of them starts the job"),
    "day_and_weekday": ("error", "a date and a weekday must both match, and no cron text says exactly that"),
    "uneven_step": ("warning", "a step that does not divide its hour or day leaves one shorter gap"),
    "anchor": ("warning", "an interval counted from an instant that the file does not know"),
    "reboot": ("warning", "a start with the host: no slots, left out of on-time"),
    "dst_policy": ("warning", "what the source does when clocks change is written into the job"),
    "refused": ("error", "a job that no job file could hold, such as one with too many variables; it is left out"),
    "secret": ("error", "a value that looks like a secret is kept out of the job file"),
    "exit_code_hidden": ("warning", "the command's exit code is not the work's, so its failures look like successes"),
    "no_time_limit": ("warning", "the source never ends a run; the job file holds a limit to be set right"),
    "overlap_allowed": ("warning", "the source lets runs of one job overlap"),
    "not_carried": ("warning", "something the source says that a job file has no key for; named with its value"),
    # Crontabs
    "form_assumed": ("warning", "with or without a user column: decided by the look of the lines"),
    "zone_line": ("warning", "CRON_TZ or TZ: the zone of all lines that follow"),
    "zone_in_cron": ("error", "a zone inside a line, where cron would read it as a variable"),
    "six_fields": ("error", "a sixth time field; it is never read as seconds"),
    "no_command": ("error", "a line that ends where its command should stand"),
    "percent": ("error", "an unescaped %: cron cuts the command there and feeds the rest to it as input"),
    "user_column": ("warning", "the account that cron ran the line as; a label in the job file"),
    "guard": ("warning", "a test in front of the command decides whether a start does any work"),
    "random_delay": ("warning", "the command sleeps for a random time, which reads as lateness"),
    "output_discarded": ("warning", "the output goes to /dev/null, so nothing of it is kept with the run"),
    "mail": ("warning", "MAILTO: who got the output by mail"),
    "environment": ("warning", "home folder and PATH, which cron sets and a worker does not"),
    "variable_literal": ("warning", "a variable's value holds a $, which neither cron nor Tepat expands"),
    "commented_out": ("warning", "a job line behind a comment sign is not imported"),
    "line_ends": ("warning", "Windows line ends, or no line end after the last line"),
    "too_long": ("error", "a line past the limit of 10,000 characters"),
    "log_off": ("warning", "a leading - in the minute field switched cron's log off"),
    # Manifests
    "yaml_syntax": ("error", "a document that is not YAML, or is too large"),
    "template": ("error", "an unrendered template"),
    "other_kind": ("warning", "a document that is no CronJob, or settings that are no schedules"),
    "old_api": ("warning", "an API version that Kubernetes no longer serves"),
    "no_deadline": ("warning", "no startingDeadlineSeconds: a late start is never given up"),
    "short_deadline": ("warning", "a starting deadline below the controller's own 10 s period"),
    "hung_run_blocks": ("warning", "Forbid without activeDeadlineSeconds: one hung run blocks all later ones"),
    # Timers
    "comma_binds": ("warning", "a comma between two times binds to the minutes before it"),
    "seconds": ("error", "a time with seconds, which a crontab text has no field for"),
    "year": ("error", "a calendar text with years that are no fixed instant"),
    "monotonic": ("error", "a timer relative to something that a job file can't name"),
    "no_service": ("warning", "the unit that the timer starts was not given, so the job is only watched"),
    "specifier": ("error", "a systemd specifier such as %i, which only systemd can fill"),
    "expansion": ("warning", "variables that systemd expands, now expanded by a shell"),
    # Quartz, Spring, AWS
    "placeholder": ("error", "a schedule that stands elsewhere: ${property}"),
}
