"""Processes that draw charts, one for each core: drawing takes most of a report's time."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, cast

from pathweave.errors import PathweaveError
from pathweave.shown import visible_json

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import TracebackType

PNG_SCALE = 2.0
"""Pixels of a PNG per pixel of the chart."""
MOST = 4
"""Painters at most: each takes about 100 MB."""


@dataclass(frozen=True)
class Picture:
    """A chart as it goes to files."""

    svg: bytes
    png: bytes


class Painters:
    """Processes that draw while the context lasts; they start with the first request."""

    def __init__(self, count: int | None = None) -> None:
        """Let `count` processes draw, one for each core if not given."""
        self._count = count or min(MOST, len(os.sched_getaffinity(0)))
        self._painters: list[_Painter] = []
        self._idle: queue.SimpleQueue[_Painter] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(self._count)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for painter in self._painters:
            painter.end()
        self._threads.shutdown()
        for painter in self._painters:
            painter.close()

    def start(self) -> None:
        """Start the processes, which takes them a moment, before there is anything to draw."""
        while len(self._painters) < self._count:
            painter = _Painter()
            self._painters.append(painter)
            self._idle.put(painter)

    def picture(self, name: str, chart: dict[str, Any], config: dict[str, Any]) -> Future[Picture]:
        """The picture of a Vega-Lite chart, to come.

        Its result raises `PathweaveError` where `name` cannot be drawn.
        """
        request = {"chart": chart, "config": config, "scale": PNG_SCALE}
        self.start()

        def draw() -> Picture:
            svg, png = self._ask(f"the chart {name}", request)
            return Picture(svg, png)

        return self._threads.submit(draw)

    def library(self) -> Future[str]:
        """The script that draws charts in a page, to come."""
        self.start()

        def make() -> str:
            (script,) = self._ask("the script of the page", {"library": True})
            return script.decode()

        return self._threads.submit(make)

    def _ask(self, what: str, request: dict[str, Any]) -> list[bytes]:
        painter = self._idle.get()
        try:
            return painter.ask(what, request)
        finally:
            self._idle.put(painter)


class _Painter:
    """One process; requests go to it one at a time."""

    def __init__(self) -> None:
        program = Path(__file__).with_name("painting.py")
        # -P: modules beside the program are not to be found under their bare names.
        self._process = subprocess.Popen(  # noqa: S603 - it is ours
            [sys.executable, "-P", str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._to = cast("IO[bytes]", self._process.stdin)
        self._from = cast("IO[bytes]", self._process.stdout)

    def ask(self, what: str, request: dict[str, Any]) -> list[bytes]:
        """Send a request and wait for the answer; raises `PathweaveError` where there is none."""
        try:
            self._to.write(visible_json(json.dumps(request, ensure_ascii=False)).encode() + b"\n")
            self._to.flush()
            head = json.loads(self._from.readline() or "{}")
            parts = [self._from.read(size) for size in head.get("sizes", [])]
        except BrokenPipeError:
            head, parts = {}, []
        if "error" in head:
            raise PathweaveError(f"{what} cannot be drawn: {head['error']}")
        if not parts or [len(part) for part in parts] != head["sizes"]:
            raise PathweaveError(f"{what} was not drawn: the process that draws has ended")
        return parts

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes of a process that has ended and that nobody asks any more."""
        for pipe in (self._to, self._from):
            with suppress(BrokenPipeError):  # what was still to be written has no reader
                pipe.close()
