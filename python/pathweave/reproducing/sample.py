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
    from pathweave.results.read import StoredScenario


@dataclass(frozen=True)
class Sample:
    """The values of one variant, in the claim's unit."""

    at: Mapping[str, str]
    """The variant: names on axes; the others are averaged over."""
    values: Mapping[int, float]
    """By seed."""
    at_least: bool = False
    """Whether some value is only a lower bound."""

    @property
    def mean(self) -> float | None:
        """Mean over the seeds; None without any."""
        return math.fsum(self.values.values()) / len(self.values) if self.values else None

    @property
    def half(self) -> float | None:
        """Half the 95 % interval of the mean; None for fewer than two seeds and for bounds."""
        return None if self.at_least else half_width(list(self.values.values()))

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
        return found | ({"at_least": True} if self.at_least else {})

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Sample:
        """The inverse of `to_json`."""
        values = {int(seed): float(each) for seed, each in value["values"].items()}
        return Sample(value["at"], values, bool(value.get("at_least", False)))


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
    measured = claim.expected.measured if isinstance(claim, Number) else claim.measured
    found: list[Sample] = []
    for at in variants_of(claim):
        by_seed = measured.by_seed(scenario, at)
        found.append(
            Sample(
                at,
                {seed: each.value for seed, each in by_seed.items()},
                any(each.at_least for each in by_seed.values()),
            )
        )
    return tuple(found)
