"""What `pathweave solve --routing` found of each run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathweave.results.runs import StoredScenario

CHOICES = {
    "given": "the paths of the routing",
    "smallest": "the smallest prices, flow by flow",
    "rounded": "the largest of the relaxation",
    "best": "the best of all choices",
    "relaxed": "no limit on paths",
}
"""Choices of paths by their name in manifests, and what people call them."""


@dataclass(frozen=True)
class Judgement:
    """The routing of one run's fullest moment."""

    run: str
    """The variant and the seed."""
    about: dict[str, Any]
    """As in the manifest."""

    @property
    def title(self) -> str:
        """Which run, and how much there was to choose from."""
        return (
            f"Routing of {self.run}: {self.about['flows']:,} flows,"
            f" {self.about['candidates']:,} paths"
        )

    @property
    def choices(self) -> dict[str, str]:
        """The choices that were judged, as in `CHOICES`: older manifests have fewer."""
        return {name: text for name, text in CHOICES.items() if name in self.about}

    def worth(self, choice: str) -> dict[str, float] | None:
        """What paths are worth; None when there was too much to solve."""
        return self.about[choice]


def judgements(scenario: StoredScenario) -> list[Judgement]:
    """Of the runs of which the routing was judged."""
    return [
        Judgement(f"{run.label or scenario.name}, seed {run.seed}", found)
        for run in scenario.runs
        if (found := run.manifest.get("optimum", {}).get("routing")) is not None
    ]
