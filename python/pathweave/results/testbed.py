"""What a run on the testbed gives back, and what is to be known before it is believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pathweave.results.schema import typed
from pathweave.results.units import number, scale, time_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave._core import Capture, Column
    from pathweave.results.read import StoredScenario


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


@dataclass(frozen=True)
class Played:
    """How one variant's runs on the testbed went."""

    label: str
    valid: int
    invalid: int
    base_rtt_s: float
    late_p99_s: float
    """Of the departures of packets, how late the latest hundredth was: the worst valid run's."""
    late_max_s: float
    packets: int
    """Of the valid runs."""

    @property
    def late_share(self) -> float | None:
        """The lateness as a share of the base RTT; None when there is none to compare with."""
        return self.late_p99_s / self.base_rtt_s if self.base_rtt_s > 0 else None


def played(scenario: StoredScenario) -> list[Played]:
    """One for each variant that has runs on the testbed.

    Lateness is of valid runs; of all where none is valid.
    """
    found: list[Played] = []
    for label in scenario.labels():
        runs = [run for run in scenario.runs if run.label == label and run.testbed is not None]
        if not runs:
            continue
        good = [run for run in runs if run.invalid is None]
        about = [run.testbed or {} for run in good or runs]
        found.append(
            Played(
                label=label,
                valid=len(good),
                invalid=len(runs) - len(good),
                base_rtt_s=max(_seconds(each["base_rtt_s"]) for each in about),
                late_p99_s=max(_seconds(each["lateness_s"].get("p99")) for each in about),
                late_max_s=max(_seconds(each["lateness_s"].get("max")) for each in about),
                packets=sum(int((run.testbed or {}).get("packets", 0)) for run in good),
            )
        )
    return found


def facts(scenario: StoredScenario) -> list[tuple[str, str]]:
    """What a reader must know of all runs on the testbed, in pairs of name and text."""
    about = [run.testbed for run in scenario.runs if run.testbed is not None]
    if not about:
        return []
    bad = sum(run.invalid is not None for run in scenario.runs)
    worst = max(played(scenario), key=lambda each: each.late_share or 0.0)
    modules = {
        f"{name} as {module}" if module != name else name
        for each in about
        for name, module in each["controllers"].items()
    }
    single = any(not each.get("gso", True) for each in about)
    return [
        ("Kernel", ", ".join(sorted({str(each["kernel"]) for each in about}))),
        ("Controllers", ", ".join(sorted(modules))),
        ("Stretch", ", ".join(f"{each:g}" for each in sorted({one["stretch"] for one in about}))),
        *([("Segmentation offload", "off: packet by packet")] if single else []),
        ("Runs", f"{len(about) - bad} valid, {bad} invalid"),
        ("Lateness p99", lateness(worst)),
    ]


def lateness(of: Played) -> str:
    """How late packets left, beside the base RTT that they were to have."""
    late, base = _time(of.late_p99_s), _time(of.base_rtt_s)
    if of.late_share is None:
        return late
    return f"{late}, {number(100 * of.late_share, 2)} % of the base RTT of {base}"


def remarks(scenario: StoredScenario) -> list[str]:
    """Which runs do not count, and why; which variants are left with none."""
    found = [
        f"{run.label or scenario.name}, seed {run.seed}: invalid and left out, {run.invalid}"
        for run in scenario.runs
        if run.invalid is not None
    ]
    found += [
        f"{each.label or scenario.name}: no valid run"
        for each in played(scenario)
        if not each.valid
    ]
    kernels = {run.testbed["kernel"] for run in scenario.runs if run.testbed is not None}
    if len(kernels) > 1:
        found.append("The runs were made on different kernels.")
    return found


def _seconds(value: float | None) -> float:
    return 0.0 if value is None else float(value)


def _time(value_s: float) -> str:
    unit = time_unit(value_s)
    return f"{number(value_s / scale(unit), 3)} {unit}"
