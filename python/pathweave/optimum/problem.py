"""A static problem: links with capacities, flows, and the paths of their subflows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Subflow:
    """A path: the indices of its links, its base RTT (s), and a limit on its rate (bit/s)."""

    links: Sequence[int]
    rtt_s: float
    limit_bps: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", tuple(int(link) for link in self.links))


@dataclass(frozen=True)
class Flow:
    """Subflows of one connection, and a limit (bit/s) on their sum."""

    subflows: Sequence[Subflow]
    limit_bps: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "subflows", tuple(self.subflows))


@dataclass(frozen=True)
class AllocationProblem:
    """Capacities (bit/s, zero for a link that is down) and the flows that share them.

    `link_names` are for messages only: none, or one a link. `packet_bytes` is the size of a packet
    in the utilities, whose rates are in packets/s.

    Raises `InputError` for what cannot be meant: no flows, unknown links, a link twice on a path,
    numbers that are not finite or have the wrong sign.
    """

    capacities_bps: Sequence[float]
    flows: Sequence[Flow]
    link_names: Sequence[str] = ()
    packet_bytes: float = 1500.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "capacities_bps", tuple(float(c) for c in self.capacities_bps))
        object.__setattr__(self, "flows", tuple(self.flows))
        object.__setattr__(self, "link_names", tuple(self.link_names))
        if self.link_names and len(self.link_names) != len(self.capacities_bps):
            raise InputError(f"{len(self.capacities_bps)} links have {len(self.link_names)} names")
        for link, capacity in enumerate(self.capacities_bps):
            if not (math.isfinite(capacity) and capacity >= 0):
                raise InputError(f"{self.link_name(link)} has a capacity of {capacity} bit/s")
        _positive(self.packet_bytes, "the packet size")
        if not self.flows:
            raise InputError("there are no flows")
        for index, flow in enumerate(self.flows):
            self._check(index, flow)

    def link_name(self, link: int) -> str:
        """What messages call the link."""
        return f"link {self.link_names[link] if self.link_names else link}"

    def blocked(self) -> list[int]:
        """Flows that can send nothing: each of their paths has a link without capacity."""
        return [
            index
            for index, flow in enumerate(self.flows)
            if all(
                any(self.capacities_bps[link] == 0 for link in subflow.links)
                for subflow in flow.subflows
            )
        ]

    def _check(self, index: int, flow: Flow) -> None:
        name = f"flow {index}"
        if not flow.subflows:
            raise InputError(f"{name} has no subflows")
        if flow.limit_bps is not None:
            _positive(flow.limit_bps, f"the limit of {name}")
        for number, subflow in enumerate(flow.subflows):
            part = f"subflow {number} of {name}"
            _positive(subflow.rtt_s, f"the RTT of {part}")
            if subflow.limit_bps is not None:
                _positive(subflow.limit_bps, f"the limit of {part}")
            elif not subflow.links and flow.limit_bps is None:
                raise InputError(f"{part} has neither a link nor a limit: its rate is unbounded")
            for link in subflow.links:
                if not 0 <= link < len(self.capacities_bps):
                    raise InputError(
                        f"{part} uses link {link}; there are {len(self.capacities_bps)} links"
                    )
            if len(set(subflow.links)) < len(subflow.links):
                raise InputError(f"the path of {part} has a link twice")


def _positive(value: float, name: str) -> None:
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name} is {value}; it must be positive")
