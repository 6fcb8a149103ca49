"""What a stored run was of, as the core reads it again, and its flows with their paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError
from pathweave.results import layout
from pathweave.results.jsonfile import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from pathweave._core import Allocate, Column, Variant
    from pathweave.results.read import StoredRun


def variant_of(run: StoredRun, changes: Mapping[str, Any] | None = None) -> Variant:
    """The run's variant from its resolved scenario, with `changes` to its first level.

    Raises `InputError` when the core cannot read it, as when a file with a controller is gone.
    """
    _core = core()
    resolved = {**run.manifest["resolved"], **(changes or {})}
    try:
        scenario = _core.from_resolved(json.dumps(resolved), _folder_of_scenario(run))
    except _core.ScenarioError as error:
        raise InputError(str(error).splitlines()[0]) from error
    return scenario.variants[0]


def along(
    run: StoredRun, allocate: Allocate, limit: int, changes: Mapping[str, Any] | None = None
) -> Mapping[str, Mapping[str, Column]]:
    """Show `allocate` the flows under way, with their paths, between each two changes.

    Of more than `limit` intervals, `limit` are shown, evenly over time. Returns the tables of what
    flows would have had at the rates that it gave. Raises `InputError` as `variant_of`.
    """
    flows = run.read("flows").sort("id")
    solved, _, _ = variant_of(run, changes).along(
        run.seed,
        flows["group"].to_list(),
        flows["source"].to_list(),
        flows["destination"].to_list(),
        flows["start_s"].to_list(),
        life_ends(flows, run.read("subflows"), run.ended_s),
        limit,
        allocate,
    )
    return solved


def life_ends(flows: pl.DataFrame, subflows: pl.DataFrame, ended_s: float) -> list[float]:
    """When each flow's life ended (s): at once for one that never began."""
    began = set(subflows["flow"].to_list())
    return [
        max(start, end if end is not None else ended_s) if number in began else start
        for number, start, end in flows.select("id", "start_s", "end_s").iter_rows()
    ]


def _folder_of_scenario(run: StoredRun) -> Path:
    """Where the scenario was when it was run: files with controllers are looked for there."""
    try:
        return Path(read_json(run.folder.parent / layout.SCENARIO)["path"]).parent
    except (OSError, InputError, KeyError, TypeError, ValueError):
        return Path()
