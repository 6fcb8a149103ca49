"""What a comparison of two sets of results has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.changes.judge import LEVEL, Change
from pathweave.statistics.holm import CORRECTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.changes.pairing import Pairing
    from pathweave.changes.side import Side

_TEXTS = ("variant", "quantity", "taken", "of", "phase", "unit", "method", "verdict")
"""Columns of the table that hold texts."""


@dataclass(frozen=True)
class Variant:
    """One variant that both sides have runs of."""

    label: str
    """Empty for a scenario without variants."""
    seeds: tuple[list[int], list[int]]
    """Of A and of B."""
    pairing: Pairing
    repeatable: bool
    """Whether all seeds of a side give the same bits, on both sides."""
    identical: bool
    """Whether the tables are the same to the last bit on both sides, for every seed."""
    differences: list[tuple[str, list[str]]]
    """What differs in its own settings, beyond what differs for all variants."""


@dataclass(frozen=True)
class Findings:
    """What differs between two sets of results, A and B; A is the baseline."""

    a: Side
    b: Side
    at: str
    """The phase or the time that is compared; empty for all."""
    relevant: float
    """Smallest change that counts, as a part of the baseline's mean."""
    differences: list[tuple[str, list[str]]]
    """Keys of the settings whose values differ, with the values of A and of B."""
    variants: list[Variant]
    changes: list[Change]
    notes: list[str] = field(default_factory=list)
    """What is on one side only, and what could not be compared."""

    @property
    def moved(self) -> list[Change]:
        """The changes that are certain and large enough to count."""
        return [each for each in self.changes if each.verdict == "moved"]

    @property
    def identical(self) -> bool:
        """Whether all tables are the same to the last bit."""
        return all(variant.identical for variant in self.variants)

    @property
    def table(self) -> pl.DataFrame:
        """One row per variant and quantity.

        Columns: variant, quantity, taken ("mean", "median", "unfinished"), of (traffic group or
        layer), phase, unit, before and after (means over seeds, in that unit), seeds_before,
        seeds_after, difference, half (of its interval at 1 - 0.01), percent and half_percent (of
        `before`), p_value, adjusted_p, method, verdict.
        """
        import polars as pl

        rows = [change_to_json(each) for each in self.changes]
        texts = dict.fromkeys(_TEXTS, pl.String)
        whole = dict.fromkeys(("seeds_before", "seeds_after"), pl.Int64)
        numbers = dict.fromkeys(rows[0], pl.Float64) if rows else {}
        return pl.DataFrame(rows, schema=numbers | texts | whole)

    def to_json(self) -> dict[str, Any]:
        """All of it, for programs."""
        return {
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "at": self.at,
            "level": LEVEL,
            "correction": CORRECTION,
            "relevant": self.relevant,
            "differences": _keys(self.differences),
            "identical": self.identical,
            "variants": [
                {
                    "variant": variant.label,
                    "seeds_a": variant.seeds[0],
                    "seeds_b": variant.seeds[1],
                    "paired": variant.pairing.paired,
                    "why_unpaired": variant.pairing.why,
                    "repeatable": variant.repeatable,
                    "identical": variant.identical,
                    "differences": _keys(variant.differences),
                }
                for variant in self.variants
            ],
            "changes": [change_to_json(each) for each in self.changes],
            "moved": len(self.moved),
            "notes": self.notes,
        }


def change_to_json(change: Change) -> dict[str, Any]:
    """A change as a row of a table."""
    metric = change.metric
    return {
        "variant": change.variant,
        "quantity": metric.quantity,
        "taken": metric.taken,
        "of": metric.of,
        "phase": metric.phase,
        "unit": metric.unit,
        "before": change.before,
        "after": change.after,
        "seeds_before": change.seeds[0],
        "seeds_after": change.seeds[1],
        "difference": change.difference,
        "half": change.half,
        "percent": change.percent,
        "half_percent": change.half_percent,
        "p_value": change.p_value,
        "adjusted_p": change.adjusted_p,
        "method": change.method,
        "verdict": change.verdict,
    }


def _keys(found: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, str]]:
    return [{"key": key, "a": values[0], "b": values[1]} for key, values in found]
