"""Pathweave asks which multipath congestion control a data-centre fabric should run.

import pathweave

results = pathweave.run("papers/xmp/tab1.toml", only={"pattern": "Permutation"})
results.flows        # a polars frame, one row per flow
results.summary()    # the summary table
pathweave.sweep("papers/xmp/fig1.toml", {"fabric.queue.mark.k": [10, 20, 40]})

results = pathweave.load("results/tab1")
pathweave.compare("results/tab1/quick", "results/tab1/quick-k=20") # what has moved
pathweave.explain("xmp") # what a controller, pattern or quantity is
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathweave.errors import InputError, PathweaveError, ScenarioError
    from pathweave.notebook import compare, explain, run, sweep
    from pathweave.results.collection import Results, load

    __version__: str

__all__ = [
    "InputError",
    "PathweaveError",
    "Results",
    "ScenarioError",
    "__version__",
    "compare",
    "explain",
    "load",
    "run",
    "sweep",
]

_HOMES = {
    "InputError": "pathweave.errors",
    "PathweaveError": "pathweave.errors",
    "ScenarioError": "pathweave.errors",
    "Results": "pathweave.results.collection",
    "compare": "pathweave.notebook",
    "explain": "pathweave.notebook",
    "load": "pathweave.results.collection",
    "run": "pathweave.notebook",
    "sweep": "pathweave.notebook",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for: the command line must start quickly."""
    if name == "__version__":
        from importlib.metadata import version

        return version("pathweave")
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
