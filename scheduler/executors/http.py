"""How a request is made: under the run's deadline, with its id as idempotency key, and ended when others say so.

The calling thread runs an event loop of its own, because only a task can be ended wherever it waits: for a name, a
connection, an answer, or the next look at a status.
"""

import asyncio
from pathlib import Path
from typing import Literal

import httpx

from scheduler import clock
from scheduler.endings import Problem, Result
from scheduler.executors.command import LOOK_SECONDS, STOP_GRACE_SECONDS, Stop
from scheduler.executors.http_answers import (
    ACCEPTED,
    AddressError,
    Answer,
    failure_of,
    poll_wait,
    status_address,
    wait_asked,
)
from scheduler.executors.output import HeadTail
from scheduler.executors.traces import traceparent
from scheduler.http_models import is_header_value
from scheduler.instants import format_duration
from scheduler.jobs import Command, HttpCall
from scheduler.queue import Claimed

Cause = Literal["timeout", "interrupted", "replaced"]


class SecretError(Exception):
    """A header's secret that can't be read or sent; says which file, never what is in it."""


def call(claimed: Claimed, run: Command, http: HttpCall, stop: Stop) -> Result:
    """Make the job's request and answer how it ended. Never raises for what the service does."""
    began = clock.monotonic()
    try:
        attempt = _Attempt(http, request_headers(claimed, http), run, stop)
    except SecretError as error:
        return Result(Problem("permanent", str(error)), clock.monotonic() - began)
    loop = asyncio.new_event_loop()
    try:
        ended = loop.run_until_complete(attempt.attend())
    finally:
        # Not asyncio.run: that would wait for a name's lookup that nobody wants any more.
        loop.close()
    seconds, output = clock.monotonic() - began, attempt.output.text()
    if isinstance(ended, Problem):
        return Result(ended, seconds, output)
    failure = failure_of(ended, http.expect)
    return Result(Problem(*failure) if failure else None, seconds, output, wait_asked(ended, clock.now()))


def request_headers(claimed: Claimed, http: HttpCall) -> httpx.Headers:
    """All headers of the job's own request; secrets are read now, so that a rotated one counts. Raises SecretError.

    The answer is asked for uncompressed: a small one that unpacks to gigabytes is no way to end a worker.
    """
    headers = httpx.Headers({"User-Agent": "tepat", "Accept-Encoding": "identity"})
    headers.update(dict(http.headers))
    headers.update({name: _secret(name, path) for name, path in http.secret_headers.items()})
    headers[http.idempotency_header] = claimed.run_id
    headers["traceparent"] = traceparent(claimed.run_id, claimed.attempt)
    return headers


def _secret(name: str, path: str) -> str:
    try:
        value = Path(path).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SecretError(f"the file {path!r} for the header {name} can't be read: {why}; mend the file") from None
    if not value or not is_header_value(value):
        raise SecretError(f"the file {path!r} for the header {name} must hold one line of ASCII; write it anew")
    return value


class _Attempt:
    """One request under way, with the status that is asked for after it, and what was read last."""

    def __init__(self, http: HttpCall, headers: httpx.Headers, run: Command, stop: Stop) -> None:
        self.output = HeadTail()
        self._http, self._headers, self._run, self._stop = http, headers, run, stop
        self._deadline = clock.monotonic() + run.timeout.total_seconds()
        self._asked: dict[Cause, float] = {}

    async def attend(self) -> Answer | Problem:
        """Talk to the service until it has answered, the time is over, or others end it."""
        task = asyncio.ensure_future(self._talk())
        cause: Cause | None = None
        while not task.done():
            cause = self._cause(clock.monotonic())
            if cause is not None:
                task.cancel()
            await asyncio.wait({task}, timeout=None if cause else LOOK_SECONDS)
        return task.result() if cause is None or not task.cancelled() else self._stopped(cause)

    def _cause(self, now: float) -> Cause | None:
        """Why to end it now. Who asks leaves a request its grace to answer, as a command has it to end well."""
        if self._stop.hard.is_set():
            return "interrupted"
        grace = self._run.grace.total_seconds()
        if self._stop.soft.is_set() and self._patience_ends("interrupted", now, min(grace, STOP_GRACE_SECONDS)):
            return "interrupted"
        if self._stop.replaced.is_set() and self._patience_ends("replaced", now, grace):
            return "replaced"
        return "timeout" if now >= self._deadline else None

    def _patience_ends(self, cause: Cause, now: float, seconds: float) -> bool:
        return now >= self._asked.setdefault(cause, now) + seconds

    def _stopped(self, cause: Cause) -> Problem:
        if cause == "timeout":
            return Problem("timeout", f"the service gave no final answer within {format_duration(self._run.timeout)}")
        if cause == "replaced":
            return Problem("interrupted", "the request was ended for a newer run of its job")
        return Problem("interrupted", "the request was ended with its worker")

    async def _talk(self) -> Answer | Problem:
        try:
            # The deadline is the attempt's own: a service may think for as long as the job lets it.
            async with httpx.AsyncClient(timeout=None, trust_env=False) as client:  # noqa: S113
                answer = await self._ask(client, self._http.method, self._http.url, self._http.body)
                return await self._follow(client, answer)
        except AddressError as error:
            return Problem("permanent", str(error))
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, ValueError) as error:
            return Problem("permanent", f"the request could not be made: {type(error).__name__}; look at `url`")
        except (httpx.HTTPError, OSError) as error:
            return Problem("temporary", f"no whole answer came: {type(error).__name__} {error}".rstrip())

    async def _follow(self, client: httpx.AsyncClient, answer: Answer) -> Answer:
        """The final answer to an accepted request. Who lists 202 in `expect` is content with its being accepted."""
        if answer.status != ACCEPTED or ACCEPTED in self._http.expect:
            return answer
        address = status_address(self._http.url, answer)
        while address is not None and answer.status == ACCEPTED:
            await asyncio.sleep(poll_wait(answer, clock.now()).total_seconds())
            answer = await self._ask(client, "GET", address, None, polled=True)
        return answer

    async def _ask(
        self, client: httpx.AsyncClient, method: str, url: str, body: str | None, *, polled: bool = False
    ) -> Answer:
        content = None if body is None else body.encode()
        async with client.stream(method, url, headers=self._headers, content=content) as response:
            self.output = HeadTail()
            async for data in response.aiter_raw():
                self.output.feed(data)
            location, retry_after = response.headers.get("Location"), response.headers.get("Retry-After")
            return Answer(response.status_code, self.output.text(), location, retry_after, polled)
