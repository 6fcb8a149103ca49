"""How runs on the testbed went: what is to be known before they are believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.results.units import number, scale, time_unit

if TYPE_CHECKING:
    from pathweave.results.runs import StoredScenario


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
