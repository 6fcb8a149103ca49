"""Tables of one scenario with the columns that charts go by: scheme, panel, seed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from pathweave.plots.palette import Palette
from pathweave.results.merit import stated_baselines
from pathweave.results.sweeps import label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.runs import StoredRun, StoredScenario

_WORDS = re.compile(r"[A-Za-z]{2,}")


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
        return label_of(run.axes, self.scenario.sweeps, leave_out=axis or "")

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

    def pattern(self, group: str) -> str:
        """The traffic pattern of a group; "" where it is unknown or the variants' differ."""
        found = {
            str(each.get("pattern", ""))
            for run in self.scenario.runs
            for each in run.manifest["resolved"].get("traffic", [])
            if each.get("name") == group
        }
        return found.pop() if len(found) == 1 else ""

    def table(
        self,
        name: str,
        columns: Sequence[str],
        *,
        optional: Sequence[str] = (),
        first_seed: bool = False,
    ) -> pl.DataFrame | None:
        """Table `name` of all valid runs, after scheme, panel, variant, seed and run_end_s.

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
                    pl.lit(run.ended_s).alias("run_end_s"),
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


def palette_of(scenarios: Sequence[StoredScenario], baseline: str | None = None) -> Palette:
    """One palette for all `scenarios`: a name has the same colour in each.

    The baseline is grey: `baseline`, or else that of the first scenario. The names that a title or
    a question names have the strongest colours.
    """
    names: list[str] = []
    baselines: list[str] = []
    subjects: list[str] = []
    for scenario in scenarios:
        axis = colour_axis(scenario)
        own = scenario.axes[axis] if axis else [""]
        names += own
        said = [name for name in stated_baselines(scenario.report) if name in own]
        baselines.append(said[0] if said else own[0])
        subjects += _named(own, f"{scenario.title} {scenario.report.get('question', '')}")
    grey = baseline if baseline in names else next(iter(baselines), None)
    return Palette(names, baseline=grey, subjects=subjects)


def _named(names: Sequence[str], text: str) -> list[str]:
    """The names whose first word is in `text`: "XMP" names "XMP-2" and "XMP-4"."""
    words = {word.lower() for word in _WORDS.findall(text)}
    firsts = {name: next(iter(_WORDS.findall(name)), "").lower() for name in names}
    return [name for name in names if firsts[name] in words]
