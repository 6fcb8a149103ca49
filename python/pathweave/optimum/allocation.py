"""The best possible allocation, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.optimum.residuals import Residuals
    from pathweave.optimum.shapes import Indices, Vector


@dataclass(frozen=True)
class Allocation:
    """Rates, and what they rest on. Subflows are counted over all flows, in order.

    Attributes:
        rates_bps: By subflow (bit/s).
        flow_of: The flow of each subflow.
        totals_bps: By flow: the sum of its subflows' rates.
        weighted_totals_bps: By flow: the sum that its utility sees, weighted with the delays under
            `DelayWeighted`, and otherwise `totals_bps`. All optima have the same.
        splits_unique: By flow: whether all optima have the same rates of its subflows, None when
            not found out. If not, `rates_bps` are the most even ones: the least sum of squared
            shares of a flow's total.
        loads_bps: By link: the sum of the rates on it.
        prices: By link: what the objective gains with one bit/s more of its capacity; NaN for a
            link without capacity, whose price nothing bounds. None for max-min.
        objective: The sum of the utilities, rates in packets/s; for max-min the smallest of the
            rates that are compared (bit/s).
        solver: Its name.
        status: "optimal" when all residuals are within the tolerance, else "inaccurate".
        solver_status: The solver's own word, before the refinement.
        tolerance: For the residuals.
        residuals: The errors, measured apart from the solver.
        remarks: What a reader must know: an inaccurate result, a split that is not unique.
        wall_s: Time taken (s).
    """

    rates_bps: Vector
    flow_of: Indices
    totals_bps: Vector
    weighted_totals_bps: Vector
    splits_unique: Sequence[bool | None]
    loads_bps: Vector
    prices: Vector | None
    objective: float
    solver: str
    status: str
    solver_status: str
    tolerance: float
    residuals: Residuals
    remarks: Sequence[str]
    wall_s: float

    @property
    def split_unique(self) -> bool | None:
        """Whether all optima have the same `rates_bps`; None when not found out."""
        if False in self.splits_unique:
            return False
        return None if None in self.splits_unique else True

    def of_flow(self, flow: int) -> Vector:
        """The rates (bit/s) of one flow's subflows."""
        return self.rates_bps[self.flow_of == flow]
