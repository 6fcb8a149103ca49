"""Tables of a run by name, those included that are not stored but worked out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.convergence import convergence
from pathweave.results.fairness import fairness
from pathweave.results.flow_waits import flow_waits
from pathweave.results.slowdowns import slowdowns

if TYPE_CHECKING:
    import polars as pl

    from pathweave.results.runs import StoredRun

_DERIVED = {
    "convergence": convergence,
    "fairness": fairness,
    "flow_waits": flow_waits,
    "slowdowns": slowdowns,
}

DERIVED = tuple(_DERIVED)
"""Names of tables that are worked out and not stored."""


def table_of(run: StoredRun, name: str) -> pl.DataFrame | None:
    """A table of `run`, stored or worked out; None where the run has nothing for it."""
    if name in _DERIVED:
        return _DERIVED[name](run)
    return run.read(name) if name in run.tables else None
