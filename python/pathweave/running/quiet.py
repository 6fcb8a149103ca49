"""A watcher that says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave._core import Progress
    from pathweave.results.output import Output
    from pathweave.running.plan import Task


class Quiet:
    """Hears what becomes of runs and keeps it to itself."""

    def started(self, task: Task) -> None:
        """Say nothing."""

    def progress(self, task: Task, progress: Progress) -> None:
        """Say nothing."""

    def finished(self, task: Task, output: Output) -> None:
        """Say nothing."""

    def solved(self, task: Task, notes: Sequence[str]) -> None:
        """Say nothing."""

    def noted(self, notes: Sequence[str]) -> None:
        """Say nothing."""

    def failed(self, task: Task, reason: str) -> None:
        """Say nothing."""

    def cancelled(self, task: Task) -> None:
        """Say nothing."""

    def left_out(self, task: Task) -> None:
        """Say nothing."""

    def still_running(self, tasks: Sequence[Task]) -> None:
        """Say nothing."""

    def given_up(self, tasks: Sequence[Task], lines: Sequence[str]) -> None:
        """Say nothing."""

    def tick(self) -> None:
        """Say nothing."""
