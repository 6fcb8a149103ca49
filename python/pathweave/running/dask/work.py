"""What a worker does: it runs the runs of a batch, one after the other, and says how far it is."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, cast

from pathweave.core import core
from pathweave.results.write import write_run
from pathweave.running.dask.facts import facts
from pathweave.running.dask.payload import Different, Done, Failed, ReturnedOutput, Unwritten

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave._core import Scenario
    from pathweave.running.dask.payload import Batch, Facts, Job, NamedVariant, Result

_STOPPED = "_pathweave_stopped"
"""Attribute of a worker: topics whose batches it shall end."""
_SHORTEST_S, _LONGEST_S = 0.0005, 0.02
"""Between two looks at a run: short at first, so that short runs follow each other closely."""
_REPORT_S = 0.25
"""Between two reports of how far a run is."""


def run_batch(batch: Batch) -> list[Result]:
    """Run the runs of a batch; ends early, with what is finished, when it is told to stop."""
    from distributed import get_worker

    worker = get_worker()
    mine = facts()
    if mine != batch.facts:
        return [Different(worker.address, gethostname(), mine)]
    shared = _sees_disk(batch)
    key = worker.get_current_task()

    def stopped() -> bool:
        if batch.topic in getattr(worker, _STOPPED, ()):
            return True
        state = worker.state.tasks.get(key)  # of a client that has gone nobody waits for the task
        return state is None or state.state in ("cancelled", "released")

    report = Report(lambda message: worker.log_event(batch.topic, message), worker.address)
    results: list[Result] = []
    for job in batch.jobs:
        if stopped():
            break
        report.began(job.number, at_once=len(batch.jobs) == 1)
        result = _run(job, batch.threads, worker.address, report, stopped, shared=shared)
        if result is None:
            break
        results.append(result)
        report.ended(result)
    return results


def stop(topic: str, dask_worker: Any) -> None:
    """Let the worker end the batches of this topic; Dask fills in `dask_worker`."""
    stopped: set[str] = getattr(dask_worker, _STOPPED, set())
    setattr(dask_worker, _STOPPED, stopped | {topic})


def described() -> tuple[str, Facts]:
    """Name of the machine and facts of this worker."""
    return gethostname(), facts()


class Report:
    """Collects what happens and sends it now and then: short runs would make floods of events."""

    def __init__(self, send: Callable[[dict[str, Any]], None], worker: str) -> None:
        self._send = send
        self._worker = worker
        self._last = time.monotonic()
        self._begun: list[int] = []
        self._ended: list[dict[str, Any]] = []

    def began(self, number: int, *, at_once: bool) -> None:
        """A run begins."""
        self._begun.append(number)
        self._flush(at_once=at_once)

    def progress(self, number: int, progress: Any) -> None:
        """A run goes on."""
        if time.monotonic() - self._last >= _REPORT_S:
            self._flush({"number": number, **progress}, at_once=True)

    def ended(self, result: Result) -> None:
        """A run is over. What the worker has written counts from now on, whatever comes of it."""
        if isinstance(result, Done) and result.written:
            self._ended.append(asdict(result))
        self._flush()

    def _flush(self, progress: dict[str, Any] | None = None, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not at_once and now - self._last < _REPORT_S:
            return
        self._last = now
        self._send(
            {
                "worker": self._worker,
                "begun": self._begun,
                "ended": self._ended,
                "progress": progress,
            }
        )
        self._begun, self._ended = [], []


def _run(
    job: Job,
    threads: int,
    worker: str,
    report: Report,
    stopped: Callable[[], bool],
    *,
    shared: bool,
) -> Result | None:
    """Do one run; None when it was told to stop."""
    began = time.monotonic()
    identity = job.identity
    named = cast("NamedVariant", identity.variant)
    try:
        variant = _scenario(named.resolved, tuple(named.files.items())).variants[0]
    except core().ScenarioError as error:
        reason = f"the worker {worker} cannot read its scenario: {str(error).strip()}"
        return Failed(job.number, worker, reason)
    read = variant.hash(identity.seed)
    if read != identity.hash:
        reason = f"the worker {worker} reads another run in it: {read} instead of {identity.hash}"
        return Failed(job.number, worker, reason)
    run = variant.prepare(identity.seed, threads)
    run.start()
    pause = _SHORTEST_S
    while (progress := run.poll())["state"] == "running":
        if stopped():
            run.cancel()
        report.progress(job.number, progress)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_S)
    if progress["state"] == "cancelled":
        return None
    try:
        output = run.take()
    except RuntimeError as error:
        return Failed(job.number, worker, str(error))
    if shared:
        try:
            write_run(Path(job.folder), identity, output)
        except OSError as error:
            said = error.strerror or str(error)
            file = str(error.filename or job.folder)
            return Unwritten(job.number, worker, error.errno or 0, said, file)
    returned = ReturnedOutput.of(output, written=shared)
    seconds = time.monotonic() - began
    return Done(job.number, worker, gethostname(), seconds, returned, written=shared)


@lru_cache(maxsize=8)
def _scenario(resolved: str, files: tuple[tuple[str, bytes], ...]) -> Scenario:
    return core().from_resolved(resolved, files=dict(files))


def _sees_disk(batch: Batch) -> bool:
    """Whether this worker can write where the client reads, in the bytes that it would write."""
    import os

    import polars as pl

    if pl.__version__ != batch.polars:
        return False
    try:
        return all(
            Path(path).read_text(encoding="utf-8") == content
            and os.access(Path(path).parent, os.W_OK | os.X_OK)
            for path, content in batch.tokens.items()
        )
    except (OSError, UnicodeDecodeError):
        return False
