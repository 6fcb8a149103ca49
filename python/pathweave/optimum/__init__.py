"""The best possible allocation of rates, to judge controllers and routings by.

    from pathweave.optimum import AllocationProblem, Flow, ProportionalFairness, Subflow, solve

    paths = [Subflow(links=[0], rtt_s=1e-3), Subflow(links=[1], rtt_s=1e-3)]
    problem = AllocationProblem([1e9, 1e9], [Flow(paths), Flow(paths[1:])])
    solve(problem, ProportionalFairness()).totals_bps      # 1 Gbps each

It needs the extra `pathweave[optimum]`: cvxpy with Clarabel and SCS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.optimum.problem import AllocationProblem, Flow, Subflow
from pathweave.optimum.utility import (
    AlphaFairness,
    Concave,
    DelayWeighted,
    Eutcp,
    MaxMin,
    ProportionalFairness,
    Tcp,
    Utility,
    Wutcp,
    Xmp,
)

if TYPE_CHECKING:
    from pathweave.optimum.allocate import solve
    from pathweave.optimum.allocation import Allocation
    from pathweave.optimum.prices import PriceIteration, iterate_prices
    from pathweave.optimum.residuals import Residuals
    from pathweave.optimum.routing import (
        Routing,
        RoutingProblem,
        enumerate_paths,
        judge,
        relax,
        round_up,
        smallest_price,
    )

__all__ = [
    "Allocation",
    "AllocationProblem",
    "AlphaFairness",
    "Concave",
    "DelayWeighted",
    "Eutcp",
    "Flow",
    "MaxMin",
    "PriceIteration",
    "ProportionalFairness",
    "Residuals",
    "Routing",
    "RoutingProblem",
    "Subflow",
    "Tcp",
    "Utility",
    "Wutcp",
    "Xmp",
    "enumerate_paths",
    "iterate_prices",
    "judge",
    "relax",
    "round_up",
    "smallest_price",
    "solve",
]

_HOMES = {
    "Allocation": "pathweave.optimum.allocation",
    "PriceIteration": "pathweave.optimum.prices",
    "Residuals": "pathweave.optimum.residuals",
    "Routing": "pathweave.optimum.routing",
    "RoutingProblem": "pathweave.optimum.routing",
    "enumerate_paths": "pathweave.optimum.routing",
    "iterate_prices": "pathweave.optimum.prices",
    "judge": "pathweave.optimum.routing",
    "relax": "pathweave.optimum.routing",
    "round_up": "pathweave.optimum.routing",
    "smallest_price": "pathweave.optimum.routing",
    "solve": "pathweave.optimum.allocate",
}


def __getattr__(name: str) -> object:
    """Import the solvers when they are asked for: that takes a second."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from pathweave.errors import PathweaveError

    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("pathweave"):
            raise
        raise PathweaveError(
            f"the optimum needs {error.name}: install the extra, pathweave[optimum]"
        ) from error
