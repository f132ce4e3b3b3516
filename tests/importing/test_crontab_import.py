"""Crontabs of the kinds that people keep, as jobs and findings. F01, F02, F04, F05, F07, F18."""

import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from importing.conftest import Load, codes, errors, options, said, sample

from scheduler.importers.crontab import read_crontab
from scheduler.importers.imported import Imported, Source
from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.timelaw import next_slot, slots_between

DAY = timedelta(days=1)


def crontab(text: str, **given: object) -> Imported:
    return read_crontab([Source("crontab", text)], options(**given))


def year_of(job: Job, year: int = 2026) -> list[datetime]:
    assert job.schedule is not None
    tick = timedelta(microseconds=1)
    return slots_between(
        job.schedule, datetime(year, 1, 1, tzinfo=UTC) - tick, datetime(year + 1, 1, 1, tzinfo=UTC) - tick
    )


def times_of(job: Job) -> list[str]:
    """The times of one day without clock changes, in UTC."""
    return [format_instant(slot)[11:16] for slot in year_of(job) if slot.date().isoformat() == "2026-06-10"]


def test_f01_a_system_crontab_with_a_zone_line_keeps_every_job(load: Load) -> None:
    imported = read_crontab([sample("zones.crontab")], options())
    jobs = load(imported)
    assert list(jobs) == ["catch-up", "rebalance", "rebalance-2", "pack-year", "close-books"]
    zones = [job.schedule.timezone for job in jobs.values() if job.schedule]
    assert zones == ["America/Los_Angeles"] * 4 + ["Asia/Jakarta"]
    assert [job.labels["user"] for job in jobs.values()] == ["root", "batch", "batch", "archive", "batch"]
    assert "applies to all following lines" in said(imported, "zone_line")[0]


def test_f01_both_day_fields_restricted_start_on_either(load: Load) -> None:
    imported = read_crontab([sample("zones.crontab")], options())
    slots = year_of(load(imported)["rebalance"])
    assert len(slots) == 184
    assert len({(slot - timedelta(hours=7)).date() for slot in slots}) == 23
    assert (format_instant(slots[0]), format_instant(slots[-1])) == ("2026-05-01T07:00:00Z", "2026-05-30T04:00:00Z")
    assert "184 starts on 23 days of 2026" in said(imported, "both_day_fields")[0]


def test_f01_weekdays_by_name_and_the_yearly_macro_have_their_slots(load: Load) -> None:
    jobs = load(read_crontab([sample("zones.crontab")], options()))
    assert list(map(format_instant, year_of(jobs["pack-year"]))) == ["2026-01-01T08:00:00Z"]
    assert len(year_of(jobs["rebalance-2"])) == 96


def test_f02_a_guard_of_the_date_is_counted_and_a_plain_form_offered(load: Load) -> None:
    imported = read_crontab([sample("etc/cron.d/raid-check")], options())
    job = load(imported)["check"]
    assert job.labels["user"] == "root"
    assert job.run is not None and "$(date +%d) -le 7" in job.run.argv[0]
    assert len(year_of(job)) == 52
    (guard,) = said(imported, "guard")
    assert "40 of 52 starts of 2026 are very short" in guard and "12 do work" in guard
    assert "duration p50 is not the work's" in guard
    assert "`57 0 * * 0#1`" in guard


def test_f02_the_form_that_the_guard_finding_offers_starts_twelve_times_and_the_wrong_one_124(load: Load) -> None:
    jobs = load(crontab("57 0 * * 0#1 right\n57 0 1-7 * 0 wrong\n"))
    assert [len(year_of(jobs[name])) for name in ("right", "wrong")] == [12, 124]


def test_f02_an_unescaped_percent_is_an_error_and_both_parts_run_as_under_cron(load: Load) -> None:
    imported = crontab("0 6 * * * cat; echo +%F\\%%last\n", zone="UTC")
    assert errors(imported) == ["percent"]
    (percent,) = said(imported, "percent")
    assert percent.startswith("crontab:1:22: ") and "'cat; echo +'" in percent and "'F% last'" in percent
    run = load(imported)["cat"].run
    assert run is not None and run.shell
    # Cron feeds what stands behind the first % to the command; further ones are line ends, \% is a percent sign.
    done = subprocess.run(["/bin/sh", "-c", run.argv[0]], capture_output=True, text=True, check=True)
    assert done.stdout == "F%\nlast\n+\n"


def test_f04_an_uneven_step_is_told_with_its_last_gap(load: Load) -> None:
    imported = read_crontab([sample("freebsd.crontab")], options())
    jobs = load(imported)
    entropy, clock = times_of(jobs["keep-entropy"]), times_of(jobs["follow-clock"])
    assert sorted({int(time[3:]) for time in entropy}) == [0, 11, 22, 33, 44, 55]
    assert len(entropy) == 144
    assert "the last gap is 5 min" in said(imported, "uneven_step")[0]
    assert (len(clock), clock[0], clock[-1]) == (12, "00:01", "05:31")


def test_f04_a_file_of_no_telling_name_is_read_by_its_look_and_says_so() -> None:
    imported = read_crontab([sample("freebsd.crontab")], options())
    assert [job["labels"]["user"] for job in imported.jobs] == ["operator", "root", "root", "root"]
    assert "--no-system" in said(imported, "form_assumed")[0]


def test_f05_variables_are_left_to_the_shell(load: Load) -> None:
    job = load(read_crontab([sample("etc/crontab")], options()))["update"]
    assert times_of(job)[:2] == ["00:01", "06:01"] and len(times_of(job)) == 4
    assert job.run is not None
    assert job.run.argv == ("$MIRROR/bin/update --all",) and job.run.shell
    assert job.run.env["MIRROR"] == "/srv/mirror"
    assert job.labels["user"] == "archive"


def test_f07_a_token_that_is_no_minute_is_an_error_with_line_and_column() -> None:
    imported = read_crontab([sample("etc/cron.d/gateway")], options())
    (error,) = [finding for finding in imported.findings if finding.level == "error"]
    assert error.where == "etc/cron.d/gateway:1:1" and "'_'" in error.message
    assert [job["id"] for job in imported.jobs] == ["refresh-routes"]


@pytest.mark.parametrize(
    ("line", "code", "where"),
    [
        ("0 30 2 * * * /usr/bin/six", "bad_schedule", "crontab:1:3"),
        ("0 3 2 * * * /usr/bin/six", "six_fields", "crontab:1:11"),
        ("  0 3 2 * * MON-FRI /usr/bin/six", "six_fields", "crontab:1:13"),
        ("0 0 12 ? * MON-FRI /usr/bin/noon", "bad_schedule", "crontab:1:8"),
        ("0 0 30 2 * /usr/bin/never", "never_fires", "crontab:1:1"),
        ("5 4 * *", "bad_schedule", "crontab:1:1"),
        ("15 3 * * *", "no_command", "crontab:1:11"),
        ("@fortnightly /usr/bin/x", "bad_schedule", "crontab:1:1"),
    ],
)
def test_f18_a_line_that_cron_would_not_run_is_an_error_and_no_job(line: str, code: str, where: str) -> None:
    imported = crontab(line + "\n")
    (error,) = [finding for finding in imported.findings if finding.level == "error"]
    assert (error.code, error.where) == (code, where)
    assert imported.jobs == ()


def test_f18_six_fields_are_never_read_as_seconds() -> None:
    (finding,) = crontab("0 0 12 ? * MON-FRI x\n").findings
    assert "'?' is not a month" in finding.message and "tepat import quartz" in finding.message


def test_f18_a_zone_inside_a_line_is_an_error_that_says_where_it_goes() -> None:
    imported = crontab("TZ=Europe/Berlin 0 2 * * * /usr/bin/nightly\n")
    assert errors(imported) == ["zone_in_cron"]
    assert "the zone goes on its own line" in imported.findings[0].message


def test_f18_dagu_reads_a_zone_inside_the_line(load: Load) -> None:
    imported = read_crontab([sample("dagu.crontab")], options(dialect="dagu"))
    jobs = load(imported)
    schedule = jobs["dagu"].schedule
    assert schedule is not None and schedule.timezone == "Asia/Tokyo" and jobs["dagu"].run is None
    found = next_slot(schedule, datetime(2026, 1, 1, 1, tzinfo=UTC))
    assert found == datetime(2026, 1, 2, 0, 5, tzinfo=UTC)
    assert jobs["nightly"].run is not None


def test_f18_reboot_is_imported_without_slots(load: Load) -> None:
    imported = crontab("@reboot sleep 60 && cmd\n", zone="UTC")
    job = load(imported)["cmd"]
    assert job.schedule is not None and year_of(job) == []
    assert "left out of on-time" in said(imported, "reboot")[0]


def test_c19_weekday_numbers_of_a_crontab_count_from_sunday(load: Load) -> None:
    schedule = load(crontab("30 7 * * 4 x\n"))["x"].schedule
    assert schedule is not None
    assert next_slot(schedule, datetime(2018, 2, 10, tzinfo=UTC)) == datetime(2018, 2, 15, 7, 30, tzinfo=UTC)


def test_the_zone_of_a_line_is_the_last_one_above_it() -> None:
    jobs = crontab("0 1 * * * a\nCRON_TZ=Asia/Tokyo\n0 1 * * * b\nCRON_TZ=UTC\n0 1 * * * c\n", zone="Europe/Paris").jobs
    assert [job["schedule"]["timezone"] for job in jobs] == ["Europe/Paris", "Asia/Tokyo", "UTC"]


def test_without_any_zone_the_jobs_have_none_and_one_finding_says_so() -> None:
    imported = crontab("0 1 * * * a\n0 2 * * * b\n")
    assert all("timezone" not in job["schedule"] for job in imported.jobs)
    (finding,) = said(imported, "missing_zone")
    assert "--tz" in finding and "a, b" in finding


def test_a_zone_that_does_not_exist_gives_no_other_zone_in_its_place() -> None:
    imported = crontab("CRON_TZ=Mars/Olympus\n0 1 * * * a\n", zone="UTC")
    assert errors(imported) == ["unknown_zone"]
    assert "timezone" not in imported.jobs[0]["schedule"]


def test_cron_semantics_are_written_out(load: Load) -> None:
    imported = crontab("0 1 * * * a\n")
    job = load(imported)["a"]
    assert (job.overlap, job.catch_up) == ("allow", "none")
    assert job.run is not None and job.run.timeout == DAY
    assert {"overlap_allowed", "no_time_limit", "environment"} <= set(codes(imported))


def test_another_shell_runs_the_line_and_home_is_its_folder(load: Load) -> None:
    job = load(crontab("SHELL=/bin/bash\nHOME = '/home/shop'\n0 1 * * * [[ x ]] && a\n"))["a"]
    assert job.run is not None
    assert job.run.argv == ("/bin/bash", "-c", "[[ x ]] && a") and not job.run.shell
    assert job.run.cwd == "/home/shop"


def test_secrets_stand_neither_in_the_jobs_nor_in_the_findings() -> None:
    imported = read_crontab([sample("user.crontab")], options())
    everything = f"{imported.jobs} {imported.findings}"
    assert not [secret for secret in ("correct-horse", "hunter22", "abcdef123456") if secret in everything]
    assert errors(imported).count("secret") == 3


def test_a_command_without_its_secret_ends_at_once_also_inside_a_pipe(load: Load) -> None:
    job = load(read_crontab([sample("user.crontab")], options()))["mysqldump"]
    assert job.run is not None
    done = subprocess.run(job.run.argv, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode != 0 and "MYSQLDUMP_SECRET" in done.stderr


def test_comments_directly_above_become_the_description() -> None:
    text = "# Licence\n\n# Nightly dump\n# of the orders\n0 1 * * * a\n# m h dom mon dow command\n0 2 * * * b\n"
    jobs = crontab(text).jobs
    assert [job.get("description") for job in jobs] == ["Nightly dump\nof the orders", None]


def test_a_job_behind_a_comment_sign_is_named_and_not_imported() -> None:
    imported = crontab("#15 4 * * * /bin/old --token abc123456\n0 1 * * * a\n")
    (finding,) = said(imported, "commented_out")
    assert "/bin/old" in finding and "abc123456" not in finding
    assert [job["id"] for job in imported.jobs] == ["a"]


def test_ids_are_unique_and_valid() -> None:
    text = "0 1 * * * /opt/a/run.sh\n0 2 * * * /opt/b/run.sh\n0 3 * * * '/opt/ü x/Ж'\n0 4 * * * /x/-_y\n"
    assert [job["id"] for job in crontab(text).jobs] == ["run", "run-2", "job", "y"]


def test_a_user_column_that_can_be_no_account_is_an_error() -> None:
    imported = crontab("0 1 * * * /usr/bin/a --x\n", system=True)
    assert errors(imported) == ["no_command"] and "--no-system" in imported.findings[0].message


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("0 1 * * * root /usr/bin/a\n0 2 * * * www-data php /x.php\n", ["root", "www-data"]),
        ("0 1 * * * shop /opt/shop/bin/a\n", ["shop"]),
        ("# m h dom mon dow user command\n0 1 * * * shop sync-all\n", ["shop"]),
        ("0 1 * * * backup /home\n", [None]),
        ("0 1 * * * rsync -a /x /y\n", [None]),
        ("0 1 * * * /usr/bin/a\n0 2 * * * root /usr/bin/b\n", [None, None]),
    ],
)
def test_the_look_of_all_lines_decides_about_the_user_column(text: str, users: list[str | None]) -> None:
    assert [job.get("labels", {}).get("user") for job in crontab(text).jobs] == users


def test_windows_line_ends_are_taken_off_and_told() -> None:
    imported = crontab("0 1 * * * a\r\n")
    assert imported.jobs[0]["run"]["command"] == "a" and "line_ends" in codes(imported)


def test_a_last_line_without_its_end_is_imported_and_told() -> None:
    imported = crontab("0 1 * * * a")
    assert len(imported.jobs) == 1 and "line_ends" in codes(imported)


def test_a_leading_minus_only_kept_cron_silent() -> None:
    imported = crontab("-*/15 * * * * root a\n", system=True)
    assert imported.jobs[0]["schedule"]["cron"] == "*/15 * * * *" and "log_off" in codes(imported)


def test_a_file_without_any_job_is_an_error() -> None:
    assert errors(crontab("# nothing\n")) == ["nothing_found"]


@pytest.mark.parametrize(("length", "jobs"), [(9_999, 1), (10_000, 1), (10_001, 0)])
def test_a_line_past_the_limit_is_an_error_and_not_looked_at(length: int, jobs: int) -> None:
    imported = crontab("0 1 * * * ".ljust(length, "x") + "\n")
    assert len(imported.jobs) == jobs and ("too_long" in errors(imported)) == (not jobs)


def test_brackets_without_end_are_no_traceback() -> None:
    assert crontab(f"0 1 * * * {'(' * 5_000}\n0 2 * * * {'sh -c ' * 1_000}\n").jobs


def test_ids_go_on_from_their_own_last_number() -> None:
    jobs = crontab("0 1 * * * a\n0 1 * * * a-2\n0 1 * * * a\n0 1 * * * a\n").jobs
    assert [job["id"] for job in jobs] == ["a", "a-2", "a-3", "a-4"]
