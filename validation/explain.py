"""Runs the ablations of `ablations.toml` for the cases that differ, and compares again.

    explain.py NS3_RESULTS OURS [--program PROGRAM]

NS3_RESULTS and OURS are the folders of both sides' results, the latter with `pathweave.json`. An
ablation runs for those of its cases that the ablations before it leave with a difference, and for
no others. Its results go to
NS3_RESULTS/NAME and OURS/NAME; results of ns-3 that stand there are kept. Prints what `compare.py`
prints with these ablations, and returns its exit code. It needs Pathweave's own environment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import compare
import pathweave_side

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Ablation:
    """What is changed, and in which cases."""

    name: str
    cases: list[str]
    """Patterns of the shell."""
    ns3: list[str] = field(default_factory=list)
    """Options of the program for ns-3."""
    pathweave: dict[str, object] = field(default_factory=dict)
    """Settings of Pathweave's scenarios."""

    def of(self, cases: Sequence[str]) -> list[str]:
        """The cases that it is meant for."""
        return [case for case in cases if any(fnmatch(case, pattern) for pattern in self.cases)]


def read_ablations(path: Path) -> list[Ablation]:
    """Read the list of ablations."""
    return [Ablation(**entry) for entry in tomllib.loads(path.read_text("utf-8"))["ablation"]]


def cases_that_differ(results: compare.Results, ablations: Sequence[compare.Results]) -> list[str]:
    """The cases with a line outside the tolerances that no ablation explains."""
    rule, tolerances = compare.FairShareRule(), compare.Tolerances()
    return [
        case
        for case in results.reference
        if results.has(case)
        and any(
            row.verdict == "DIFFERS"
            for row in compare.compare_case(results, ablations, case, rule, tolerances)
        )
    ]


def run(ablation: Ablation, cases: list[str], folders: tuple[Path, Path], program: Path) -> Path:
    """Run an ablation on both sides; what both sides keep is not run again.

    Returns the folder of ns-3's results, which is the given one when nothing changes in ns-3.
    """
    ns3_results, ours = folders
    if ablation.ns3:
        ns3_results /= ablation.name
        environment = os.environ | {"KEEP": "yes", "OPTIONS": " ".join(ablation.ns3)}
        command = [HERE / "ns3" / "run.sh", program, ns3_results, *cases]
        subprocess.run(command, check=True, env=environment)  # noqa: S603 - our own script
    arguments = [str(ns3_results), str(ours / ablation.name)]
    arguments += [f"--case={case}" for case in cases]
    arguments += [f"--set={key}={value}" for key, value in ablation.pathweave.items()]
    if pathweave_side.main(arguments) != 0:
        raise RuntimeError("Pathweave could not run it")
    return ns3_results


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ablations that are needed, print the comparison and return the exit code."""
    parser = argparse.ArgumentParser(description="Explains differences between Pathweave and ns-3.")
    parser.add_argument("ns3_results", type=Path, help="folder of ns-3's results")
    parser.add_argument("ours", type=Path, help="folder of Pathweave's results")
    parser.add_argument(
        "--program",
        type=Path,
        default=HERE / "ns3" / "build" / "comparison",
        help="the program for ns-3",
    )
    options = parser.parse_args(arguments)
    ours_json: Path = options.ours / "pathweave.json"
    results = compare.load("", options.ns3_results, ours_json)
    ablations: list[compare.Results] = []
    comparison = [str(options.ns3_results), str(ours_json)]
    for ablation in read_ablations(HERE / "ablations.toml"):
        cases = ablation.of(cases_that_differ(results, ablations))
        if not cases:
            continue
        try:
            ns3_results = run(ablation, cases, (options.ns3_results, options.ours), options.program)
        except (subprocess.CalledProcessError, RuntimeError) as error:
            print(f"explain.py: {ablation.name}: {error}", file=sys.stderr)
            return 2
        ours = options.ours / ablation.name / "pathweave.json"
        ablations.append(compare.load(ablation.name, ns3_results, ours))
        comparison += ["--ablation", ablation.name, str(ns3_results), str(ours)]
    return compare.main(comparison)


if __name__ == "__main__":
    sys.exit(main())
