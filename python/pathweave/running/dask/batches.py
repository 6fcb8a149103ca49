"""How many runs go together as one task: short ones until it takes about a second."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.running.plan import Task

TARGET_S = 1.0
"""Seconds that a batch should take: long beside what Dask costs, short to a person."""
_GROWTH = 4
"""How many times as many runs as before a batch may have: what is known of few may mislead."""
_FEW = 1000
"""Waiting runs, at most, of which it is added up what they will take."""
_KEPT = 0.5
"""Share of a variant's mean time that an older mean keeps when a run of it ends."""


@dataclass
class Batches:
    """The runs that wait, and what is known of how long they take."""

    waiting: deque[Task]
    _seconds: dict[str, float] = field(default_factory=dict)
    """Mean time of a run by the hash of its variant."""
    _most: int = 1
    """Runs that the next batch may have."""

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> Batches:
        """All of these, in their order."""
        return cls(deque(tasks))

    def took(self, task: Task, seconds: float) -> None:
        """Take in how long a run took."""
        variant = task.identity.variant.settings_hash
        old = self._seconds.get(variant, seconds)
        self._seconds[variant] = _KEPT * old + (1 - _KEPT) * seconds

    def ended(self, runs: int) -> None:
        """A batch of this many runs has ended well."""
        self._most = max(self._most, _GROWTH * runs)

    def next(self, places: int) -> list[Task]:
        """The runs of the next batch, for one of as many places.

        Towards the end batches become shorter, so that no place has much to do when others have
        nothing.
        """
        if not self.waiting:
            return []
        usual = sum(self._seconds.values()) / len(self._seconds) if self._seconds else TARGET_S
        left = sum(self._of(task, usual) for task in islice(self.waiting, _FEW))
        target = min(TARGET_S, left / (2 * max(1, places)))
        batch = [self.waiting.popleft()]
        total = self._of(batch[0], usual)
        while self.waiting and len(batch) < self._most:
            total += self._of(self.waiting[0], usual)
            if total > target:
                break
            batch.append(self.waiting.popleft())
        return batch

    def _of(self, task: Task, usual: float) -> float:
        """Seconds that a run will take: as its variant's so far, else as is usual."""
        return self._seconds.get(task.identity.variant.settings_hash, usual)
