"""What a run on the testbed gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.results.schema import typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave._core import Capture, Column


@dataclass(frozen=True)
class PlayedOutput:
    """The output of one run on the testbed, as `results.output.Output` has it."""

    tables: Mapping[str, Mapping[str, Column]]
    counters: Mapping[str, int | float | str]
    results_hash: str
    packet_hops: int
    wall_s: float
    cpu_s: float
    peak_rss_mb: float
    verdict: str
    notes: Sequence[str]
    testbed: Mapping[str, Any]
    """Validity, lateness, stretch, bundles, kernel, controllers: as the manifest has them."""
    captures: Sequence[Capture] = field(default=())

    @property
    def invalid(self) -> str | None:
        """Why the run does not count; None when it does."""
        return invalid(self.testbed)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> PlayedOutput:
        """Read what `pathweave-linux testbed` writes.

        Raises `ValueError` when something is missing or of a wrong type.
        """
        try:
            testbed = dict(value["testbed"])
            for key in ("valid", "reason", "stretch", "base_rtt_s", "kernel", "controllers"):
                _ = testbed[key]
            _ = testbed["lateness_s"]["p99"]
            counters = dict(value["counters"])
            reason = testbed["reason"]
            return PlayedOutput(
                tables={name: typed(name, table) for name, table in value["tables"].items()},
                counters=counters,
                results_hash=value["results_hash"],
                packet_hops=int(counters.pop("packet_hops", testbed.get("packets", 0))),
                wall_s=float(value["wall_s"]),
                cpu_s=float(value["cpu_s"]),
                peak_rss_mb=float(value["peak_rss_mb"]),
                verdict=value["verdict"],
                # Why it is invalid is said with what else is to be said of such runs.
                notes=[note for note in value["notes"] if not (reason and reason in note)],
                testbed=testbed,
            )
        except KeyError as error:
            raise ValueError(f"{error} is missing") from error
        except (TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error


def invalid(testbed: Mapping[str, Any]) -> str | None:
    """Why a run of which a manifest says this does not count; None when it does."""
    return None if testbed["valid"] else testbed["reason"] or "no reason given"
