"""A server on loopback for the models that the tests script: what each of them answers is its own."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Endpoint(BaseHTTPRequestHandler):
    """Says nothing on stderr, which is the agent's, and knows no models by name."""

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        self.answer(b"")

    def do_GET(self) -> None:
        self.answer(b'{"object":"list","data":[]}')

    def read(self) -> bytes:
        """Body of the posted request."""
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def answer(self, body: bytes, kind: str = "application/json", *, status: int = 200) -> None:
        """Sends a body whole."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events: Iterable[tuple[str, object]]) -> None:
        """Sends events; those without a name are data alone."""
        said = (
            f"event: {name}\ndata: {json.dumps(data)}\n\n" if name else f"data: {json.dumps(data)}\n\n"
            for name, data in events
        )
        self.answer("".join(said).encode(), "text/event-stream")


@contextmanager
def serving(endpoint: type[Endpoint]) -> Iterator[str]:
    """Serves while the block runs; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), endpoint)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
