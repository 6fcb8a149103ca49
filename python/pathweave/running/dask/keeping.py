"""What becomes of the results that workers give: each run's are kept once, and checked."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathweave.errors import PathweaveError
from pathweave.results import layout
from pathweave.results.jsonfile import read_json
from pathweave.results.write import write_run
from pathweave.running.dask.payload import Done
from pathweave.running.pool import Outcome

if TYPE_CHECKING:
    from pathweave.running.dask.payload import Failed
    from pathweave.running.plan import Task
    from pathweave.running.pool import Watcher

_UNSEEN_S = 90.0
"""Until what a worker wrote must be seen here: network file systems keep what they know of folders
for up to a minute."""


@dataclass
class Keeping:
    """The runs that are over."""

    watcher: Watcher
    outcome: Outcome = field(default_factory=Outcome)
    settled: dict[int, Done | Failed] = field(default_factory=dict)
    """By number. Those whose results are not seen yet are not in it."""
    _unseen: dict[int, tuple[Task, Done, float]] = field(default_factory=dict)

    def settle(self, task: Task, result: Done | Failed) -> None:
        """Keep what came of a run. Of a run that was done twice both must have the same bits."""
        number = result.number
        before = self.settled.get(number)
        if number in self._unseen:
            before = self._unseen[number][1]
        if before is not None:
            _check_same(task, before, result)
        elif not isinstance(result, Done):
            self.settled[number] = result
            self.outcome.failed.append((task, result.reason))
            self.watcher.failed(task, result.reason)
        elif not result.written:
            write_run(task.folder, task.identity, result.output, machine=result.machine)
            self._finish(task, result)
        elif _seen(task, result):
            self._finish(task, result)
        else:
            self._unseen[number] = task, result, time.monotonic()

    def look_again(self) -> None:
        """Look for results that a worker wrote and that were not seen here."""
        for number, (task, result, since) in list(self._unseen.items()):
            if _seen(task, result):
                del self._unseen[number]
                self._finish(task, result)
            elif time.monotonic() - since > _UNSEEN_S:
                raise PathweaveError(
                    f"the worker {result.worker} wrote {task.folder} with the results"
                    f" {result.output.results_hash}, and they are not there"
                )

    def _finish(self, task: Task, result: Done) -> None:
        self.settled[result.number] = result
        self.outcome.finished.append(task)
        self.watcher.finished(task, result.output)


def _seen(task: Task, result: Done) -> bool:
    """Whether the manifest of the run is here and is of what the worker had."""
    with os.scandir(task.folder.parent) as entries:
        next(entries, None)  # lets a network file system look at the folder again
    try:
        manifest = read_json(task.folder / layout.MANIFEST)
    except (OSError, ValueError):
        return False
    return (
        manifest.get("hash") == task.identity.hash
        and manifest.get("results_hash") == result.output.results_hash
    )


def _check_same(task: Task, first: Done | Failed, second: Done | Failed) -> None:
    if not isinstance(first, Done) or not isinstance(second, Done):
        return
    one, other = first.output.results_hash, second.output.results_hash
    if one != other:
        raise PathweaveError(
            f"{task.label} has different results on two workers: {one} on {first.worker}, {other}"
            f" on {second.worker}; the same scenario, seed and version must give the same bits"
        )
