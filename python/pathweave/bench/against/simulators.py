"""The simulators that there are to compare with, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pathweave.bench.against.htsim import HTSIM
from pathweave.bench.against.ns3 import NS3
from pathweave.errors import InputError

if TYPE_CHECKING:
    from pathweave.bench.against.simulator import Simulator

SIMULATORS: Final = {simulator.name: simulator for simulator in (HTSIM, NS3)}


def simulator(name: str) -> Simulator:
    """The one with this name. Raises `InputError` if there is none."""
    try:
        return SIMULATORS[name]
    except KeyError:
        known = ", ".join(SIMULATORS)
        raise InputError(f'there is no simulator "{name}" here; there are {known}') from None
