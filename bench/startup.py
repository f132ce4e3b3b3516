"""How long the command line takes to start, as multiples of a bare interpreter: prints ratios, asserts nothing.

    python bench/startup.py

`tepat --help` should take at most 6 times `python3 -c pass`; `tepat exec` should add at most 4 times it to a command.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scheduler.clock import monotonic  # noqa: E402

ROUNDS = 15
SCRIPT = Path(sys.executable).with_name("tepat")
ENTRY = "from control.cli import program; program()"  # what the installed script does
TEPAT = (str(SCRIPT),) if SCRIPT.exists() else (sys.executable, "-c", ENTRY)


def seconds(command: tuple[str, ...], environ: dict[str, str]) -> float:
    """One run of a command."""
    began = monotonic()
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return monotonic() - began


def measure(commands: dict[str, tuple[str, ...]], environ: dict[str, str]) -> dict[str, float]:
    """The median of each command in seconds; they take turns, so that a busy moment hits all of them."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            taken[name].append(seconds(command, environ))
    return {name: median(values) for name, values in taken.items()}


def collector() -> str:
    """The URL of something that acknowledges whatever it is sent, from a thread of this process."""
    listening = socket.create_server(("127.0.0.1", 0))
    body = b'{"accepted":1,"duplicate":0,"rejected":[]}'

    def serve() -> None:
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 202 Accepted\r\n\r\n" + body)

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def main() -> None:
    commands = {
        "python3 -c pass": (sys.executable, "-c", "pass"),
        "true": ("true",),
        "tepat --help": (*TEPAT, "--help"),
        "tepat exec -- true": (*TEPAT, "exec", "--job", "bench", "--", "true"),
    }
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder, "token")
        token.write_text("bench\n")
        more = {"TEPAT_SPOOL": f"{folder}/spool", "TEPAT_TOKEN_FILE": str(token), "TEPAT_URL": collector()}
        taken = measure(commands, {**os.environ, "PYTHONPATH": str(ROOT), **more})
    bare = taken["python3 -c pass"]
    for name, value in taken.items():
        print(f"{name:<22} {value * 1000:8.1f} ms {value / bare:6.2f} x bare")
    added = taken["tepat exec -- true"] - taken["true"]
    print(f"{'added by tepat exec':<22} {added * 1000:8.1f} ms {added / bare:6.2f} x bare   (aim: at most 4)")
    print(f"{'tepat --help':<22} {'':>11} {taken['tepat --help'] / bare:6.2f} x bare   (aim: at most 6)")


if __name__ == "__main__":
    main()
