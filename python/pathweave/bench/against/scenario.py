"""The scenario in which Pathweave runs a case as the other simulator does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.bench.against.cases import DELAY_NS, QUEUE_LIMIT, RATE_MBPS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathweave.bench.against.cases import Case
    from pathweave.bench.against.permutation import Flow
    from pathweave.bench.against.simulator import Simulator


def scenario(case: Case, flows: list[Flow], simulator: Simulator) -> str:
    """TOML with `flows` on their paths and the transport that `simulator` has."""
    threshold = case.marking_threshold
    mark = "" if threshold is None else f', mark = {{ kind = "step", k = {threshold} }}'
    return f"""\
title = "{case.name}, as {simulator.title} has it"

[fabric]
kind = "fat-tree"
k = {case.k}
rate = "{RATE_MBPS} Mbps"
delay = "{DELAY_NS} ns"
queue = {{ limit = {QUEUE_LIMIT}{mark} }}

[routing]
kind = "pinned"

[transport]
{simulator.transport}
[[traffic]]
name = "large"
pattern = "flows"
size = "unlimited"
controller = {simulator.controllers[case.controller]}
flows = [
{"".join(_flow(flow) for flow in flows)}]

[stop]
at = "1 s"
"""


def _flow(flow: Flow) -> str:
    data = _paths(subflow.data for subflow in flow.subflows)
    acknowledgements = _paths(subflow.acknowledgements for subflow in flow.subflows)
    return (
        f'    {{ name = "{flow.source}", from = "{flow.source}", to = "{flow.destination}", '
        f"subflows = {len(flow.subflows)}, paths = {data}, ack_paths = {acknowledgements} }},\n"
    )


def _paths(paths: Iterable[tuple[str, ...]]) -> str:
    """A list of paths without their hosts."""
    lists = (", ".join(f'"{node}"' for node in path[1:-1]) for path in paths)
    return f"[{', '.join(f'[{nodes}]' for nodes in lists)}]"
