"""Runs that are asked to end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from pathweave.running import pool
from pathweave.running.cores import Cores
from pathweave.running.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pathweave._core import Progress
    from pathweave.running.plan import Task


class Stubborn:
    """A run that goes on for some looks after it was asked to end."""

    def __init__(self, looks: int) -> None:
        self.left = looks
        self.asked = 0

    def start(self) -> None:
        """Begin."""

    def poll(self) -> Progress:
        """How far it has come."""
        self.left -= self.asked > 0
        return cast("Any", {"state": "cancelled" if self.left < 0 else "running"})

    def cancel(self) -> None:
        """Ask it to end."""
        self.asked += 1

    def take(self) -> Any:
        """There is nothing to take."""
        raise AssertionError


def task(name: str, files: dict[str, bytes]) -> Task:
    """A task that is no more than what is looked at of it."""
    variant = SimpleNamespace(files=files)
    return cast("Any", SimpleNamespace(name=name, identity=SimpleNamespace(variant=variant)))


def names(tasks: Sequence[Task]) -> list[str]:
    """What they are called."""
    return sorted(cast("Any", each).name for each in tasks)


class Heard(Quiet):
    """What is said of runs that do not end."""

    def __init__(self) -> None:
        self.still: list[list[str]] = []
        self.left: list[list[str]] = []
        self.ended: list[Task] = []

    def still_running(self, tasks: Sequence[Task]) -> None:
        """Keep them."""
        self.still.append(names(tasks))

    def given_up(self, tasks: Sequence[Task], lines: Sequence[str]) -> None:
        """Keep them."""
        assert not lines
        self.left.append(names(tasks))

    def cancelled(self, task: Task) -> None:
        """Keep it."""
        self.ended.append(task)


def run(looks: dict[str, int], files: dict[str, bytes]) -> tuple[Heard, dict[str, Stubborn]]:
    """Runs that are interrupted once all of them are under way."""
    heard = Heard()
    runs = {name: Stubborn(left) for name, left in looks.items()}
    begun: list[str] = []

    def prepare(task: Task, _threads: int) -> Stubborn:
        begun.extend(names([task]))
        return runs[begun[-1]]

    outcome = pool.run_all(
        [task(name, files) for name in looks],
        Cores(jobs=len(looks)),
        heard,
        lambda: len(begun) == len(looks),
        prepare=prepare,
    )
    assert names(outcome.cancelled) == sorted(looks)
    return heard, runs


def test_runs_that_do_not_end_are_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "POLL_S", 0.0)
    monkeypatch.setattr(pool, "PATIENCE_S", 0.0)
    heard, runs = run({"soon": 0, "late": 5}, {})
    assert heard.still == [["late"]]
    assert not heard.left
    assert names(heard.ended) == ["late", "soon"]
    assert {name: each.asked for name, each in runs.items()} == {"soon": 1, "late": 1}


def test_runs_with_controllers_in_files_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "POLL_S", 0.0)
    monkeypatch.setattr(pool, "PATIENCE_S", 0.0)
    heard, runs = run({"soon": 0, "never": 10**9}, {"mine.py": b""})
    assert heard.left == [["never"]]
    assert not heard.still
    assert names(heard.ended) == ["soon"]
    assert runs["never"].asked == 1


def test_runs_that_end_in_time_are_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "POLL_S", 0.0)
    monkeypatch.setattr(pool, "PATIENCE_S", 1000.0)
    heard, _ = run({"soon": 0, "late": 5}, {"mine.py": b""})
    assert not heard.still
    assert not heard.left
