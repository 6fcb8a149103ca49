"""What can be compared, and the fabric of all cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RATE_MBPS: Final = 1000
DELAY_NS: Final = 10_000
"""Of every link, one way."""
QUEUE_LIMIT: Final = 100
"""Packets that wait at a port at most."""
MARKING_THRESHOLD: Final = 15
"""Packets above which ports mark, where the controller reads marks."""
SEED: Final = 1


@dataclass(frozen=True)
class Case:
    """A permutation on a fat-tree."""

    name: str
    k: int
    """Ports of a switch."""
    controller: str
    """As Pathweave names it."""
    subflows: int
    """Of each flow."""

    @property
    def hosts(self) -> int:
        """Hosts, each of which sends one flow and receives one."""
        return self.k**3 // 4

    @property
    def marking_threshold(self) -> int | None:
        """Packets above which ports mark; None if they do not."""
        return MARKING_THRESHOLD if self.controller == "dctcp" else None


CASES: Final = {
    case.name: case
    for case in (
        Case("k8-dctcp", 8, "dctcp", 1),
        Case("k8-lia4", 8, "lia", 4),
        Case("k16-dctcp", 16, "dctcp", 1),
        Case("k16-lia4", 16, "lia", 4),
    )
}
DEFAULT_CASES: Final = ("k8-dctcp", "k8-lia4")
"""Those that are run unless others are asked for; k = 16 takes eight times as long."""
