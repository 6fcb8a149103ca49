"""A large problem by the part of it that matters near the optimum.

Most paths are too dear for any rate, and most links are never full. A rough answer tells which, and
what is left is small enough for Clarabel. Links that the part's answer overloads and paths that
would be cheaper than those in it join, until there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pathweave.optimum import program
from pathweave.optimum.residuals import detours

if TYPE_CHECKING:
    from pathweave.optimum.shapes import Vector
    from pathweave.optimum.system import System

# What belongs to the part by the rough answer: rates that are not this small a share of their unit,
# paths dearer by no more than this, loads above this, prices above this share of the highest.
_NOTHING = 1e-3
_DEARER = 0.05
_LOADED = 0.9
_WORTHLESS = 1e-4
# Of a capacity or a price: what joins.
_EXACT = 1e-6
_ROUNDS = 20


def best_rates_near(
    system: System, x: Vector, price: Vector, solver: program.Solver, attempt: int
) -> program.Answer | None:
    """As `program.best_rates`, from a rough answer in packets/s; None when it does not help."""
    capacity = system.network.capacity
    worth = price * capacity
    columns = (detours(system, price) < _DEARER) | (x > _NOTHING * system.unit)
    rows = system.network.rows @ x > _LOADED * capacity
    rows |= worth > _WORTHLESS * worth.max()
    for _ in range(_ROUNDS):
        answer = program.best_rates(
            system, solver, attempt, np.flatnonzero(columns), np.flatnonzero(rows)
        )
        if answer is None:
            return None
        overloaded = ~rows & (system.scaled_rows @ answer.x > 1 + _EXACT)
        prices = answer.price * system.scale / capacity
        cheaper = ~columns & (detours(system, prices, columns) < -_EXACT)
        if not overloaded.any() and not cheaper.any():
            return answer
        rows |= overloaded
        columns |= cheaper
    return None
