"""Tables of one scenario with the columns that charts go by: scheme, panel, seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.palette import Palette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.read import StoredRun, StoredScenario


@dataclass(frozen=True)
class Source:
    """One scenario's runs, and how its variants become colours and panels."""

    scenario: StoredScenario
    palette: Palette

    def scheme(self, run: StoredRun) -> str:
        """The name that gives a run its colour."""
        axis = colour_axis(self.scenario)
        return run.axes.get(axis, "") if axis else ""

    def panel(self, run: StoredRun) -> str:
        """The names on the other axes: one panel for each combination."""
        axis = colour_axis(self.scenario)
        return ", ".join(name for key, name in run.axes.items() if key != axis)

    def panels(self, frame: pl.DataFrame) -> list[str]:
        """Panels that `frame` fills, in the scenario's order."""
        here = set(frame["panel"].unique())
        return [
            panel
            for panel in dict.fromkeys(self.panel(run) for run in self.scenario.runs)
            if panel in here
        ]

    def schemes(self, frame: pl.DataFrame) -> list[str]:
        """Schemes that `frame` has, in the palette's order."""
        here = set(frame["scheme"].unique())
        return [scheme for scheme in self.palette.schemes if scheme in here]

    def groups(self, flows: pl.DataFrame) -> list[str]:
        """Traffic groups that `flows` has, in the scenario's order."""
        here = flows["group"].unique(maintain_order=True).to_list()
        known = [group for group in self.scenario.groups if group in here]
        return known + [group for group in here if group not in known]

    def table(
        self,
        name: str,
        columns: Sequence[str],
        *,
        optional: Sequence[str] = (),
        first_seed: bool = False,
    ) -> pl.DataFrame | None:
        """Table `name` of all valid runs, after the columns scheme, panel, variant and seed.

        None when no run has the table with all of `columns`. With `first_seed` only the runs with
        the smallest seed of each variant.
        """
        parts: list[pl.DataFrame] = []
        seen: set[str] = set()
        for run in self.scenario.counted().runs:
            if name not in run.tables or (first_seed and run.label in seen):
                continue
            seen.add(run.label)
            here = run.scan(name).collect_schema()
            if any(column not in here for column in columns):
                return None
            wanted = [*columns, *(column for column in optional if column in here)]
            parts.append(
                run.read(name, wanted).select(
                    pl.lit(self.scheme(run)).alias("scheme"),
                    pl.lit(self.panel(run)).alias("panel"),
                    pl.lit(run.label).alias("variant"),
                    pl.lit(run.seed, dtype=pl.Int64).alias("seed"),
                    pl.all(),
                )
            )
        frame = pl.concat(parts, how="diagonal_relaxed") if parts else None
        return None if frame is None or frame.is_empty() else frame


def colour_axis(scenario: StoredScenario) -> str | None:
    """The axis that colours stand for: "scheme" where there is one, else the first."""
    if "scheme" in scenario.axes:
        return "scheme"
    return next(iter(scenario.axes), None)


def palette_of(scenarios: Sequence[StoredScenario]) -> Palette:
    """One palette for all `scenarios`: a name has the same colour in each."""
    names: list[str] = []
    for scenario in scenarios:
        axis = colour_axis(scenario)
        names += scenario.axes[axis] if axis else [""]
    return Palette(names)
