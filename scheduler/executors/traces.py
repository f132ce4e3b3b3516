"""The trace context of an attempt, as a fixed function of its name: whoever knows the run knows its trace. Pure."""

import hashlib


def traceparent(run_id: str, attempt: int) -> str:
    """W3C `traceparent`: the trace is the run's, the parent span the attempt's."""
    trace = hashlib.sha256(run_id.encode()).digest()[:16].hex()
    span = hashlib.sha256(f"{run_id}#{attempt}".encode()).digest()[:8].hex()
    return f"00-{trace}-{span}-01"
