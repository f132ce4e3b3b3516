"""A small collector for the tests of the command line: a real HTTP server on a free port that keeps what it is sent."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Collector:
    """Takes events like the real one. `answer` makes (status, body) from a batch."""

    def __init__(self, port: int = 0, answer: Callable[[list[Any]], tuple[int, bytes]] | None = None) -> None:
        self.events: list[dict[str, Any]] = []
        self.tokens: list[str] = []
        outer = self
        decide = answer or outer._accept

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                batch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.tokens.append(self.headers["Authorization"])
                status, body = decide(batch)
                outer.events += batch if status == 202 else []
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @staticmethod
    def _accept(batch: list[Any]) -> tuple[int, bytes]:
        return 202, json.dumps({"accepted": len(batch), "duplicate": 0, "rejected": []}).encode()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def types(self) -> list[str]:
        return [event["type"] for event in self.events]
