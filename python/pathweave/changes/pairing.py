"""Whether runs with the same seed belong together: whether they drew the same workload.

A run's random choices come from streams that are named by the seed and the traffic group. The same
seed gives the same choices as long as the hosts and the traffic are the same; controllers, queues,
rates and the transport do not take part in them. Where hosts or traffic differ, what a seed does to
one side says nothing about the other. What the settings cannot say, such as that another version
draws otherwise, is seen in the flows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.results.differences import ABSENT, flatten

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from pathweave.results.runs import StoredRun

_OF_FABRIC = ("rate", "delay", "queue", "shared_buffer")
"""What may differ in a fabric: a key of it that has one of these words changes no host."""
_OF_TRAFFIC = (
    "controller",
    "subflows",
    "subflow_starts",
    "transport",
    "stop",
    "paths",
    "ack_paths",
)
"""What may differ in a traffic group, or in a flow that it lists."""
_DECIDES = ("fabric", "traffic", "jitter")
"""Tables of a scenario that workloads are drawn from."""
_WORKLOAD = ("group", "source", "destination", "size_bytes")


@dataclass(frozen=True)
class Pairing:
    """Whether the runs of a variant are paired by seed, and why not."""

    paired: bool
    why: str
    """In words, such as "traffic.large.size differs"; empty where runs are paired."""


def pairing(before: Mapping[int, StoredRun], after: Mapping[int, StoredRun]) -> Pairing:
    """Decide for one variant, whose runs on both sides are given by seed."""
    common = sorted(before.keys() & after.keys())
    if len(common) < 2 <= min(len(before), len(after)):
        return Pairing(paired=False, why="the two sides have other seeds")
    if not common:
        return Pairing(paired=False, why="the two sides have no seed in common")
    first = common[0]
    key = workload_key(before[first].manifest["resolved"], after[first].manifest["resolved"])
    if key:
        return Pairing(paired=False, why=f"{key} differs, so a seed draws another workload")
    for seed in common:
        group = _other_flows(before[seed], after[seed])
        if group:
            return Pairing(
                paired=False,
                why=f'the first flows of "{group}" are not the same for seed {seed}',
            )
    return Pairing(paired=True, why="")


def workload_key(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The first key that differs and that a workload depends on; empty for none."""
    ours, theirs = flatten(before), flatten(after)
    for path in dict.fromkeys((*ours, *theirs)):
        if ours.get(path, ABSENT) != theirs.get(path, ABSENT) and _draws(path):
            return path
    return ""


def _draws(path: str) -> bool:
    """Whether the workload that a seed draws depends on the key at `path`."""
    table, *rest = path.split(".")
    if table not in _DECIDES:
        return False
    if table == "fabric":
        return not any(word in step for step in rest for word in _OF_FABRIC)
    if table == "traffic" and len(rest) > 1:
        _, key, *inner = rest  # a group's name, one of its keys, and what that holds
        keys = (key, inner[-1]) if key == "flows" and inner else (key,)
        return not any(each in _OF_TRAFFIC for each in keys)
    return True


def _other_flows(before: StoredRun, after: StoredRun) -> str:
    """The traffic group whose first flows are not the same in both runs; empty for none.

    First are those that start before any flow has ended: from then on flows can start because
    others ended, at times that the network decides.
    """
    if "flows" not in before.tables or "flows" not in after.tables:
        return ""
    ours, theirs = _first_flows(before), _first_flows(after)
    for group, left in ours.items():
        right = theirs.get(group, left.clear())
        both = min(left.height, right.height)
        if not left.head(both).equals(right.head(both)):
            return group
    return ""


def _first_flows(run: StoredRun) -> dict[str, pl.DataFrame]:
    """By traffic group, in the order in which the traffic asked for them."""
    import polars as pl

    there = run.scan("flows").collect_schema().names()
    kept = [name for name in ("id", *_WORKLOAD, "start_s", "end_s") if name in there]
    flows = run.read("flows", kept).sort("id")
    ended = flows["end_s"].drop_nulls().min()
    if isinstance(ended, int | float):
        flows = flows.filter(pl.col("start_s") < ended)
    groups = flows.select(name for name in _WORKLOAD if name in there)
    return {
        str(part["group"][0]): part for part in groups.partition_by("group", maintain_order=True)
    }
