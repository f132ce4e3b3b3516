"""A cron text as a file holds it: read for one job, or refused with what is wrong and what to write. Pure."""

import re

from scheduler.cron import SHAPES
from scheduler.cron_spread import spread
from scheduler.file_values import WrongValueError
from scheduler.jobs import REBOOT, Dialect
from scheduler.timelaw import MACROS, NeverError, ScheduleError, check_cron

MAX_TEXT = 200

_NAMED = re.compile(r"^(['\"]).*\1 (?=is not a cron expression)")


def read_cron(value: str, dialect: Dialect, job_id: str) -> str:
    """The fields of a cron text with macros and `H` written out, or REBOOT. Raises WrongValueError."""
    text = " ".join(value.split())
    if "TZ=" in text:
        raise WrongValueError("holds a time zone; write the zone as `timezone` beside `cron`")
    if len(text) > MAX_TEXT:
        raise WrongValueError(f"is longer than {MAX_TEXT} characters; split it into several schedules")
    if dialect == "crontab" and text.startswith("@") and text.lower() not in MACROS:
        return _reboot(text)
    try:
        return check_cron(spread(text, job_id) if dialect == "crontab" else text, dialect)
    except NeverError:
        raise WrongValueError("can never fire; write a day that one of its months has") from None
    except ScheduleError as error:
        raise WrongValueError(_fault(str(error), text, dialect)) from None


def _reboot(text: str) -> str:
    if text.lower() != REBOOT:
        words = ", ".join((*MACROS, REBOOT))
        raise WrongValueError(f"is not a known macro; write {SHAPES['crontab'][1]}, or one of {words}")
    return REBOOT


def _fault(said: str, text: str, dialect: Dialect) -> str:
    # The message stands behind the value already, which the time law's own words hold too.
    said = _NAMED.sub("", said)
    if not said.startswith("is not a cron expression"):
        said = f"is not a cron expression: {said}"
    if dialect == "crontab" and len(text.split()) in (6, 7):
        return f"{said}, or add `dialect: quartz` (seconds first) or `dialect: aws` (year last)"
    return said if "; " in said else f"{said}; write {SHAPES[dialect][1]}"
