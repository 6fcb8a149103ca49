"""The runs of a plan on the workers of a Dask cluster; this process watches and keeps them."""

from __future__ import annotations

import time
import warnings
from collections import deque
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

from pathweave.errors import PathweaveError
from pathweave.results import layout
from pathweave.running.dask.agree import check_workers, refusal
from pathweave.running.dask.batches import Batches
from pathweave.running.dask.cluster import threads
from pathweave.running.dask.facts import facts
from pathweave.running.dask.keeping import Keeping
from pathweave.running.dask.payload import (
    Batch,
    Different,
    Done,
    Failed,
    Job,
    NamedVariant,
    ReturnedOutput,
    Unwritten,
)
from pathweave.running.dask.work import run_batch, stop
from pathweave.running.pool import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distributed import Client, Future

    from pathweave._core import Progress, Variant
    from pathweave.running.cores import Cores
    from pathweave.running.dask.payload import Result
    from pathweave.running.plan import Task
    from pathweave.running.pool import Watcher

_LOOK_S = 0.1
"""Between two looks at the clock and at interruptions while nothing happens."""
_WORKERS_S = 1.0
"""Between two looks at which workers there are."""
_ALONE_S = 10.0
"""Without a worker for this long it is said that there is none."""
_GRACE_S = 10.0
"""After an interruption, how long workers have to end what they are at."""
_FETCH_S = 30.0
"""How long the results of a batch that has ended may take to come here."""
_DONE_AGAIN = ("lost", "pending")
"""States of a future that had ended and whose worker died before its results came here."""
_AHEAD = 2
"""Batches for each place: one under way, one that follows it without a pause."""


@dataclass(frozen=True)
class Spread:
    """The workers of a cluster as a place for runs: its `run_all` is as `running.pool.run_all`."""

    client: Client

    @classmethod
    def over(cls, client: Client) -> Spread:
        """The workers of this client, if they agree with this machine."""
        check_workers(client)
        return cls(client)

    @property
    def places(self) -> int:
        """How many runs go on at a time."""
        return threads(self.client)

    def run_all(
        self,
        tasks: Sequence[Task],
        cores: Cores,
        watcher: Watcher,
        interrupted: Callable[[], bool],
    ) -> Outcome:
        """Run `tasks` on the workers, on as many threads each as `cores` says, and keep each.

        When `interrupted()` turns true nothing new begins, runs under way are cancelled, and
        finished ones are kept. The runs of a worker that dies go to others; a run that kills
        several of them fails. Raises `PathweaveError` when a worker turns up that would give other
        results, when two give different ones, or when the cluster goes away, and `OSError` when
        results cannot be written.
        """
        if not tasks:
            return Outcome()
        with _tokens({task.folder.parent for task in tasks}) as tokens:
            work = _Work(self.client, tasks, cores.threads or 1, watcher, tokens)
            try:
                return work.go(interrupted)
            finally:
                work.close()


class _Work:
    """The runs of one call, and where each of them is."""

    def __init__(
        self,
        client: Client,
        tasks: Sequence[Task],
        threads: int,
        watcher: Watcher,
        tokens: dict[str, str],
    ) -> None:
        import polars as pl

        self._client = client
        self._watcher = watcher
        self._empty = Batch(
            f"pathweave-{token_hex(8)}", (), threads, facts(), pl.__version__, tokens
        )
        self._tasks = dict(enumerate(tasks))
        self._numbers = {task.folder: number for number, task in self._tasks.items()}
        self._variants: dict[int, NamedVariant] = {}
        self._batches = Batches.of(tasks)
        self._suspects: deque[Task] = deque()
        self._alone: str | None = None
        """Key of a task that nothing else is under way beside."""
        self._futures: dict[str, tuple[Future, list[Task]]] = {}
        self._lost: list[Future] = []
        """Batches that had ended and are done again: their worker died with the results."""
        self._inbox: SimpleQueue[Future | dict[str, Any]] = SimpleQueue()
        self._keeping = Keeping(watcher)
        self._places = _Places(client, watcher)
        self._begun: dict[int, str] = {}
        client.subscribe_topic(self._empty.topic, lambda event: self._inbox.put(event[1]))

    def close(self) -> None:
        """Leave nothing under way on the cluster."""
        with suppress(Exception):  # it may have gone
            self._client.cancel([future for future, _ in self._futures.values()], force=True)
            self._client.unsubscribe_topic(self._empty.topic)

    def go(self, interrupted: Callable[[], bool]) -> Outcome:
        """Run all."""
        outcome = self._keeping.outcome
        while len(self._keeping.settled) < len(self._tasks) and not interrupted():
            self._submit()
            self._hear(_LOOK_S)
        if len(self._keeping.settled) < len(self._tasks):
            self._end()
        for number, task in self._tasks.items():
            if number not in self._keeping.settled:
                outcome.cancelled.append(task)
                if number in self._begun:
                    self._watcher.cancelled(task)
        return outcome

    def _end(self) -> None:
        """Let the workers end what they are at, and keep what they had finished."""
        try:
            self._client.run(stop, self._empty.topic, on_error="ignore")
        except OSError as error:
            raise PathweaveError(_GONE) from error
        deadline = time.monotonic() + _GRACE_S
        while self._futures and time.monotonic() < deadline:
            self._hear(_LOOK_S)

    def _submit(self) -> None:
        """Give the workers what they have room for."""
        places = self._places.now()
        while len(self._futures) < _AHEAD * places and (batch := self._batches.next(places)):
            self._send(batch)
        if not self._futures and not self._batches.waiting and self._suspects and places:
            self._alone = self._send([self._suspects.popleft()])  # what dies now dies of it

    def _send(self, tasks: list[Task]) -> str:
        """Submit a batch; the key of its task."""
        jobs = tuple(self._job(task) for task in tasks)
        key = f"{self._empty.topic}-{token_hex(6)}"
        with warnings.catch_warnings():
            # Recorded flows are in the resolved scenario, and may be many megabytes of it.
            warnings.filterwarnings("ignore", message="Sending large graph")
            batch = replace(self._empty, jobs=jobs)
            future = self._client.submit(run_batch, batch, key=key, pure=False)
        self._futures[key] = future, tasks
        future.add_done_callback(self._inbox.put)
        return key

    def _job(self, task: Task) -> Job:
        variant = task.identity.variant
        # Two variants may have the same settings: each object is one, with its own name.
        named = self._variants.get(id(variant))
        if named is None:
            axes, resolved = dict(variant.axes), variant.resolved
            named = NamedVariant(
                variant.label, variant.slug, axes, variant.settings_hash, resolved, variant.files
            )
            self._variants[id(variant)] = named
        # Of its variant `write_run` asks for no more than this.
        identity = replace(task.identity, variant=cast("Variant", named))
        return Job(self._numbers[task.folder], identity, str(task.folder.resolve()))

    def _hear(self, wait_s: float) -> None:
        """Take in what the workers say, and wait for it if they say nothing."""
        with suppress(Empty):
            message = self._inbox.get(timeout=wait_s)
            while True:
                if isinstance(message, dict):
                    self._reported(message)
                else:
                    self._over(message)
                message = self._inbox.get_nowait()
        self._look_at_lost()
        self._keeping.look_again()
        if self._client.status != "running":
            raise PathweaveError(_GONE)
        self._watcher.tick()

    def _look_at_lost(self) -> None:
        """Take in what has been done a second time: a future tells of its first end only."""
        lost, self._lost = self._lost, []
        for future in lost:
            self._over(future)

    def _reported(self, message: dict[str, Any]) -> None:
        worker = message["worker"]
        for number in message["begun"]:
            self._begin(number, worker)
        for ended in message["ended"]:
            self._settle(Done(**ended | {"output": ReturnedOutput(**ended["output"])}))
        progress = message["progress"]
        if progress is not None and self._begin(progress["number"], worker):
            self._watcher.progress(self._tasks[progress["number"]], cast("Progress", progress))

    def _begin(self, number: int, worker: str) -> bool:
        """A run is under way on a worker; false when it is over already."""
        if number in self._keeping.settled:
            return False
        before = self._begun.get(number)
        self._begun[number] = worker
        task = self._tasks[number]
        if before is None:
            self._watcher.started(task)
        elif before != worker:
            self._watcher.noted([f"the worker {before} is gone: {task.label} begins again"])
        return True

    def _over(self, future: Future) -> None:
        """A batch has come to an end, whichever."""
        key = str(future.key)
        if future.status in _DONE_AGAIN:
            self._lost.append(future)
            return
        _, tasks = self._futures.pop(key)
        results: list[Result] | None = None
        if future.status == "finished":
            try:
                results = cast("list[Result]", future.result(timeout=_FETCH_S))
            except TimeoutError:  # its worker died while they were on their way
                self._futures[key] = future, tasks
                self._lost.append(future)
                return
            except Exception as error:
                # Its worker may have died with the results, and those that did the batch again may
                # have died, too.
                if future.status != "error":
                    if isinstance(error, (OSError, CancelledError)):
                        raise PathweaveError(_GONE) from error
                    raise
        if results is not None:
            self._ended(tasks, results)
        elif future.status == "error":
            error = cast("BaseException", future.exception())
            self._broke(tasks, error, alone=key == self._alone)
        else:  # cancelled by someone else, or lost with the scheduler
            raise PathweaveError(_GONE)
        future.release()

    def _ended(self, tasks: list[Task], results: list[Result]) -> None:
        for result in results:
            self._settle(result)
        self._batches.ended(len(results))
        # A worker that was told to stop leaves the rest of its batch.
        done = {result.number for result in results if not isinstance(result, Different)}
        left = [task for task in tasks if self._numbers[task.folder] not in done]
        self._batches.waiting.extendleft(reversed(left))

    def _broke(self, tasks: list[Task], error: BaseException, *, alone: bool) -> None:
        from distributed import KilledWorker

        left = [task for task in tasks if not self._is_settled(task)]
        if not isinstance(error, KilledWorker):
            raise PathweaveError(f"a worker cannot do runs: {type(error).__name__}: {error}")
        if not alone:  # one of them may be to blame, or another batch on the same worker
            self._suspects.extend(left)
            return
        for task in left:
            self._settle(
                Failed(self._numbers[task.folder], error.last_worker.address, _killed(error))
            )

    def _is_settled(self, task: Task) -> bool:
        return self._numbers[task.folder] in self._keeping.settled

    def _settle(self, result: Result) -> None:
        if isinstance(result, Different):
            raise PathweaveError(refusal([result]))
        task = self._tasks[result.number]
        self._begin(result.number, result.worker)
        if isinstance(result, Unwritten):
            raise OSError(result.error, f"{result.said} (on {result.worker})", result.file)
        self._keeping.settle(task, result)
        if isinstance(result, Done):
            self._batches.took(task, result.seconds)


_GONE = (
    "the Dask cluster is gone, or has cancelled the runs; finished runs are kept, the same command"
    " goes on from there"
)


def _killed(error: Any) -> str:
    times = error.allowed_failures + 1
    return (
        f"the process of its worker was killed each of the last {times} times that it ran, the last"
        f" time on {error.last_worker.address}; most often its machine has too little memory"
    )


@dataclass
class _Places:
    """How many runs the workers can do at a time, looked at now and then."""

    client: Client
    watcher: Watcher
    _count: int = 0
    _looked: float = float("-inf")
    _alone_since: float = field(default_factory=time.monotonic)
    _said: bool = False

    def now(self) -> int:
        """Threads of all workers; says so when there has been none for a while."""
        now = time.monotonic()
        if now - self._looked < _WORKERS_S:
            return self._count
        self._looked = now
        try:
            self._count = threads(self.client)
        except (OSError, TimeoutError) as error:
            raise PathweaveError(_GONE) from error
        if self._count:
            self._alone_since, self._said = now, False
        elif not self._said and now - self._alone_since > _ALONE_S:
            self._said = True
            self.watcher.noted(["the cluster has no worker: runs begin when one comes"])
        return self._count


@contextmanager
def _tokens(folders: set[Path]) -> Iterator[dict[str, str]]:
    """A file in each of the folders that only a machine with the same disk can see."""
    tokens: dict[str, str] = {}
    try:
        for folder in sorted(folders):
            path = layout.token_file(folder)
            content = token_hex(16)
            path.write_text(content, encoding="utf-8")
            tokens[str(path.resolve())] = content
        yield tokens
    finally:
        for path in tokens:
            Path(path).unlink(missing_ok=True)
