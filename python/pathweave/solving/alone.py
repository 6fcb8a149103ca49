"""The optimum alone: traffic that goes on at optimal rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.errors import PathweaveError
from pathweave.results.write import write_run
from pathweave.solving.routing import judge_routing
from pathweave.solving.turns import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave.running.plan import Task
    from pathweave.running.pool import Outcome, Watcher
    from pathweave.running.session import Session
    from pathweave.solving.allocator import Allocator
    from pathweave.solving.objective import Objective

LIMIT = 2000
"""Problems solved for a run, unless said otherwise."""


def solve_all(
    session: Session,
    objective: Objective,
    watcher: Watcher,
    *,
    limit: int = LIMIT,
    routing: bool = False,
    before_kill: Callable[[], None] | None = None,
) -> Outcome:
    """Solve what is missing; an interruption keeps what is finished.

    With `routing` the paths of each run's fullest moment are judged as well. A run ends when
    `limit` problems were solved for it, and says so. Raises `PathweaveError` when the results
    cannot be written.
    """

    def work(task: Task, allocator: Allocator) -> None:
        allocator.begin(limit)
        output = task.identity.variant.flow(task.identity.seed, allocator)
        record = allocator.record
        notes = record.notes()
        if not output.counters["flows_started"]:
            notes.append("no flow was ever under way")
        if record.refused:
            notes.append(
                f"ended after {limit:,} different sets of flows, at"
                f" {output.counters['ended_s']:.4g} s; --problems N allows more"
            )
        about = {"utility": objective.text, "limit": limit, **record.to_json()}
        about["truncated"] = record.refused
        if routing and allocator.fullest is not None:
            identity, fullest = task.identity, allocator.fullest

            def watch() -> None:
                allocator.watch(1.0, float(output.counters["ended_s"]))

            try:
                about["routing"] = judge_routing(
                    identity.variant, identity.seed, fullest, objective, watch
                )
            except PathweaveError as error:
                notes.append(f"the routing was not judged: {error}")
        write_run(task.folder, task.identity, output, optimum=about, notes=notes)
        watcher.finished(task, output)
        watcher.noted(notes)

    return in_turn(session, session.plan.missing, objective, watcher, work, before_kill)
