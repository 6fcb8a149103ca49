"""What a stored run was of, as the core reads it again, and its flows with their paths."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from pathweave._core import Allocate, Column, Variant
    from pathweave.results.runs import StoredRun


_FORMS = ("python", "library")
"""Keys of a controller that name the file it is in."""
_STAND_IN = {"name": "lia"}
"""Takes the place of a controller in a file where only paths are looked at: it takes any number of
subflows, and paths do not depend on the controller."""


def variant_of(
    run: StoredRun,
    changes: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Variant:
    """The run's variant from its resolved scenario, with `changes` to its first level.

    Nothing that the results name is opened or executed: a controller in a file comes from `files`,
    contents by the names that the run has for them. Raises `InputError` when the core cannot read
    the scenario, as when it needs a file that is not there.
    """
    resolved = {**run.manifest["resolved"], **(changes or {})}
    _core = core()
    try:
        scenario = _core.from_resolved(json.dumps(resolved), None, files)
    except _core.ScenarioError as error:
        raise InputError(str(error).strip().splitlines()[0]) from error
    return scenario.variants[0]


def controller_files(run: StoredRun) -> dict[str, str]:
    """The files with controllers that a run names, with the SHA-256 of each; empty if it has none.

    A hash that the run does not say is empty.
    """
    found: dict[str, str] = {}
    for _, controller in _in_files(run.manifest["resolved"]):
        for form in _FORMS:
            text = controller.get(form)
            if isinstance(text, str):
                file, colon, _ = text.rpartition(":")
                found[file if colon else text] = str(controller.get("sha256", ""))
    return found


def _in_files(resolved: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The groups and flows whose controllers are in files, each with its controller."""
    groups = resolved.get("traffic")
    for group in groups if isinstance(groups, list) else []:
        flows = group.get("flows") if isinstance(group, dict) else None
        for each in (group, *(flows if isinstance(flows, list) else [])):
            controller = each.get("controller") if isinstance(each, dict) else None
            if isinstance(controller, dict) and any(form in controller for form in _FORMS):
                yield each, controller


def _of_paths(run: StoredRun, changes: Mapping[str, Any] | None) -> Variant:
    """The run's variant as far as paths go: whatever is in files has a stand-in."""
    if not controller_files(run):
        return variant_of(run, changes)
    traffic = copy.deepcopy(run.manifest["resolved"]["traffic"])
    for each, _ in list(_in_files({"traffic": traffic})):
        each["controller"] = _STAND_IN
    return variant_of(run, {"traffic": traffic, **(changes or {})})


def can_be_read(run: StoredRun) -> bool:
    """Whether `along` can find the run's paths again."""
    try:
        _of_paths(run, None)
    except InputError:
        return False
    return True


def along(
    run: StoredRun, allocate: Allocate, limit: int, changes: Mapping[str, Any] | None = None
) -> Mapping[str, Mapping[str, Column]]:
    """Show `allocate` the flows under way, with their paths, between each two changes.

    Of more than `limit` intervals, `limit` are shown, evenly over time. Returns the tables of what
    flows would have had at the rates that it gave. Raises `InputError` as `variant_of`. Controllers
    in files are not loaded: paths do not depend on them.
    """
    flows = run.read("flows").sort("id")
    solved, _, _ = _of_paths(run, changes).along(
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
