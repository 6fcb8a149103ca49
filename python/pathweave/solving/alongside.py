"""The optimum beside a simulation: what its flows could have had while they were under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.results import layout
from pathweave.results.jsonfile import read_json, write_json
from pathweave.results.read import read_optimum
from pathweave.results.replay import life_ends
from pathweave.results.stored import read_table
from pathweave.results.write import frame, write_table
from pathweave.solving.alone import LIMIT as ON_ITS_OWN
from pathweave.solving.shares import (
    LEAST_MOMENTS,
    LEAST_SEEN,
    collective_shares,
    flow_shares,
    is_seen_enough,
    subflow_shares,
)
from pathweave.solving.turns import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from pathweave.running.plan import Task
    from pathweave.running.pool import Outcome, Watcher
    from pathweave.running.session import Session
    from pathweave.solving.allocator import Allocator
    from pathweave.solving.objective import Objective

LIMIT = 200
"""Intervals between changes that are solved for a run, unless said otherwise."""


def without_optimum(tasks: Sequence[Task], objective: Objective, limit: int) -> list[Task]:
    """The finished runs beside which this optimum does not stand yet."""
    return [task for task in tasks if not _is_current(task, objective, limit)]


def _is_current(task: Task, objective: Objective, limit: int) -> bool:
    found = read_optimum(task.folder, read_json(task.folder / layout.MANIFEST))
    return (
        found is not None
        and found.get("utility") == objective.text
        and (found.get("limit") == limit or found["asked"] == found["intervals"] <= limit)
        and found.get("pathweave") == task.identity.version
    )


def solve_alongside(
    session: Session,
    tasks: Sequence[Task],
    objective: Objective,
    watcher: Watcher,
    *,
    limit: int = LIMIT,
    before_kill: Callable[[], None] | None = None,
) -> Outcome:
    """Solve for finished runs of the session; an interruption keeps what is finished.

    If there are more intervals between changes than `limit`, `limit` of them are sampled, evenly
    over time.
    """

    def work(task: Task, allocator: Allocator) -> None:
        allocator.begin()
        watcher.solved(task, _solve(task, objective, allocator, limit))

    return in_turn(session, tasks, objective, watcher, work, before_kill)


def _solve(task: Task, objective: Objective, allocator: Allocator, limit: int) -> list[str]:

    folder = task.folder
    manifest = read_json(folder / layout.MANIFEST)
    tables = {
        name: read_table(folder / layout.table_file(name))
        for name in ("flows", "subflows", "phases", "phase_subflows")
        if name in manifest["tables"]
    }
    flows = tables["flows"].sort("id")
    ends = life_ends(flows, tables["subflows"], manifest["counters"]["ended_s"])
    variant, seed = task.identity.variant, task.identity.seed
    solved, intervals, asked = variant.along(
        seed,
        flows["group"].to_list(),
        flows["source"].to_list(),
        flows["destination"].to_list(),
        flows["start_s"].to_list(),
        ends,
        limit,
        allocator,
    )
    subflows = subflow_shares(frame(solved["optimum_subflows"]), tables)
    optimum = flow_shares(frame(solved["optimum"]), subflows, tables)
    (folder / layout.OPTIMUM).unlink(missing_ok=True)
    written = {
        name: write_table(folder, name, table)
        for name, table in (("optimum", optimum), ("optimum_subflows", subflows))
    }
    found = allocator.record.to_json()
    notes = allocator.record.notes()
    if asked < intervals:
        notes.append(
            f"the optimum is of {asked:,} of {intervals:,} intervals between changes, sampled"
            " evenly over time; --problems N takes more"
        )
        notes += _without_share(optimum)
    about: dict[str, Any] = {
        "results_hash": manifest["results_hash"],
        "pathweave": task.identity.version,
        "utility": objective.text,
        "tables": written,
        "limit": limit,
        "intervals": intervals,
        "asked": asked,
        "notes": notes,
        **found,
    }
    if "collectives" in manifest["tables"]:
        about["collectives"] = _collectives(task, allocator, written, notes)
    write_json(folder / layout.OPTIMUM, about)
    return notes


def _collectives(
    task: Task, allocator: Allocator, written: dict[str, Any], notes: list[str]
) -> dict[str, Any]:
    """What collectives took as a share of what they would take at optimal rates throughout.

    Then a step begins earlier because the one before has ended earlier, which rates along what
    happened cannot say: the same traffic runs again, on its own.
    """
    allocator.begin(ON_ITS_OWN)
    output = task.identity.variant.flow(task.identity.seed, allocator)
    own = read_table(task.folder / layout.table_file("collectives"))
    table = collective_shares(own, frame(output.tables["collectives"]))
    name = "optimum_collectives"
    written[name] = write_table(task.folder, name, table)
    if allocator.record.refused:
        notes.append(
            f"{table['share'].null_count():,} of {table.height:,} collectives have no share:"
            f" {ON_ITS_OWN:,} different sets of flows were not enough for all of them"
        )
    return allocator.record.to_json()


def _without_share(optimum: pl.DataFrame) -> list[str]:
    """What a reader must know of flows that a sample hardly saw."""
    whole = optimum.filter(optimum["phase"] == "")
    missed = whole.height - whole.filter(is_seen_enough()).height
    if not missed:
        return []
    text = (
        f"{missed:,} of {whole.height:,} flows have no share of their own: the optimum is known of"
        f" less than {100 * LEAST_SEEN:.0f} % of their life, and at fewer than {LEAST_MOMENTS}"
        " moments; they count in the total"
    )
    return [text]
