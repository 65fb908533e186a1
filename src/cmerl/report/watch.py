"""The live report of a run: a small server on the loopback interface."""

from __future__ import annotations

import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cmerl.experiments.columns import EpisodeLog
from cmerl.report import html, rundir
from cmerl.report.progress import Pace, Progress, progress
from cmerl.report.rundir import RunDirectory

LOOPBACK = "127.0.0.1"
REST = 0.5  # seconds between looks at the files
SHARE = 0.2  # of the time that may go into making pages


class View:
    """A run as it is now; reads only what was appended since the last look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._log = EpisodeLog(path)
        self._pace = Pace()
        self._looked = -REST
        self._rendered = self._took = 0.0
        self._page: tuple[str, str] = ("", "")  # version and text of the last page made
        self._now: tuple[RunDirectory, Progress]
        self._look()

    def version(self) -> str:
        """Changes whenever a new page is worth asking for."""
        with self._lock:
            if time.monotonic() - self._looked > REST:
                self._look()
            run, state = self._now
            due = time.monotonic() - self._rendered > self._took / SHARE
            return f"{state.state}{state.words}{len(run.problems)}" if due or not self._page[0] else self._page[0]

    def page(self, *, whole: bool) -> str:
        """The page, with plotly.js if ``whole``."""
        version = self.version()
        with self._lock:
            run, state = self._now
            if whole:
                return html.render(run, live=True, progress=state)
            if self._page[0] != version:
                started = time.monotonic()
                self._page = (version, html.render(run, live=True, whole=False, progress=state))
                self._rendered = time.monotonic()
                self._took = self._rendered - started
            return self._page[1]

    def _look(self) -> None:
        self._log.update()
        run = rundir.assemble(self.path, self._log)
        self._pace.note(time.monotonic(), sum(runs.episodes for runs in run.runs))
        self._now = (run, progress(run, self._pace))
        self._looked = time.monotonic()


class Server(ThreadingHTTPServer):
    """Serves one run on a port of its own, under an address that others on this machine cannot guess."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        self.view = View(path)
        self.secret = secrets.token_urlsafe(8)
        super().__init__((LOOPBACK, 0), _Handler)

    @property
    def address(self) -> str:
        """The address for the browser."""
        return f"http://{LOOPBACK}:{self.server_address[1]}/{self.secret}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that disconnects in the middle of a page."""


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Answer with the page, its changing part, or its version."""
        port = self.server.server_address[1]
        if self.headers.get("Host") not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            return self._answer(403, "only for this machine", "text/plain")  # a foreign page may not read it either
        view, secret = self.server.view, self.server.secret
        match self.path:
            case p if p == f"/{secret}/":
                return self._answer(200, view.page(whole=True), "text/html")
            case p if p == f"/{secret}/page":
                return self._answer(200, view.page(whole=False), "text/html")
            case p if p == f"/{secret}/version":
                return self._answer(200, view.version(), "text/plain")
        return self._answer(404, "not here", "text/plain")

    def _answer(self, status: int, text: str, kind: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a line a second would bury the address."""
