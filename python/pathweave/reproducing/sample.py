"""What our runs give for a claim: values by seed for each variant that the claim is about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.reproducing.paper import Number, Order
from pathweave.statistics.interval import half_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.reproducing.paper import Claim
    from pathweave.results.published_measure import PublishedMeasure
    from pathweave.results.runs import StoredScenario


@dataclass(frozen=True)
class Sample:
    """The values of one variant, in the claim's unit."""

    at: Mapping[str, str]
    """The variant: names on axes; the others are averaged over."""
    values: Mapping[int, float]
    """By seed."""
    at_least: bool = False
    """Whether some value is only a lower bound."""
    lacking: int = 0
    """Seeds that were run and have no value."""

    @property
    def mean(self) -> float | None:
        """Mean over the seeds; None without any."""
        return math.fsum(self.values.values()) / len(self.values) if self.values else None

    @property
    def half(self) -> float | None:
        """Half the 95 % interval of the mean; None for fewer than two seeds and for bounds.

        Neither is there one where some seeds have no value: they may be the largest.
        """
        known = not self.at_least and not self.lacking
        return half_width(list(self.values.values())) if known else None

    @property
    def least(self) -> float | None:
        """The lower end of the interval of bounds; None for fewer than two seeds."""
        half = half_width(list(self.values.values()))
        return None if half is None or self.mean is None or self.lacking else self.mean - half

    @property
    def label(self) -> str:
        """The variant in words."""
        return ", ".join(self.at.values())

    def to_json(self) -> dict[str, Any]:
        """As a JSON object; `from_json` reads it."""
        found: dict[str, Any] = {
            "at": dict(self.at),
            "values": {str(seed): value for seed, value in self.values.items()},
        }
        found |= {"at_least": True} if self.at_least else {}
        return found | ({"lacking": self.lacking} if self.lacking else {})

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Sample:
        """The inverse of `to_json`."""
        values = {int(seed): float(each) for seed, each in value["values"].items()}
        bound, lacking = bool(value.get("at_least", False)), int(value.get("lacking", 0))
        return Sample(value["at"], values, bound, lacking)


def measured_of(claim: Claim) -> PublishedMeasure:
    """What a claim is about, of each variant."""
    return claim.expected.measured if isinstance(claim, Number) else claim.measured


def variants_of(claim: Claim) -> list[dict[str, str]]:
    """The variants that a claim is about, each by names on axes."""
    if isinstance(claim, Number):
        return [dict(point.at) for point in claim.expected.points]
    if isinstance(claim, Order):
        return [{**claim.at, claim.axis: name} for level in claim.levels for name in level]
    if claim.trend:
        return [{**at, claim.trend: name} for at in claim.at for name in claim.along]
    return [dict(at) for at in claim.at]


def aligned(claim: Claim, found: Sequence[Sample]) -> tuple[Sample, ...]:
    """A sample for each variant of a claim, in its order; without values where `found` has none."""
    by_variant = {frozenset(sample.at.items()): sample for sample in found}
    return tuple(by_variant.get(frozenset(at.items()), Sample(at, {})) for at in variants_of(claim))


def samples(claim: Claim, scenario: StoredScenario) -> tuple[Sample, ...]:
    """What the runs of a scenario give for each variant of a claim, in the claim's order."""
    return tuple(sample_of(claim, scenario, at, at) for at in variants_of(claim))


def sample_of(
    claim: Claim,
    scenario: StoredScenario,
    at: Mapping[str, str],
    here: Mapping[str, str],
    *,
    other_seed: bool = False,
) -> Sample:
    """What the runs of a scenario give for a variant of a claim, which is called `here` there.

    With `other_seed` a ratio is relative to a run with another seed.
    """
    by_seed = measured_of(claim).by_seed(scenario, here, other_seed=other_seed)
    ran = {
        run.seed
        for run in scenario.counted().runs
        if all(run.axes.get(axis) == name for axis, name in here.items())
    }
    return Sample(
        at,
        {seed: each.value for seed, each in by_seed.items()},
        any(each.at_least for each in by_seed.values()),
        len(ran) - len(by_seed) if by_seed else 0,
    )
