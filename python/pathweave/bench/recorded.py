"""Instructions per packet-hop that are recorded beside the benches, and whether they still hold.

Instructions depend on the compiler, so that each of its versions has its own figures. A figure may
fall; a rise of more than `TOLERANCE` has to be recorded, with the reason.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from pathweave.bench import native
from pathweave.bench.cases import CASES, case_file
from pathweave.errors import InputError, PathweaveError
from pathweave.reading import read_json_value
from pathweave.results.jsonfile import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TOLERANCE: Final = 0.03
"""Rise, as a part of the recorded figure, that passes without a reason."""
SPANS: Final = {"k16-xmp4": (1.0, 2.0), "k10-ecmp": (10.0, 20.0), "k10-fmp": (10.0, 20.0)}
"""Simulated milliseconds between which instructions are counted, where they are not `SPAN`."""
SPAN: Final = (4.0, 6.0)
_VERSION = re.compile(r"rustc ([0-9]+\.[0-9]+\.[0-9]+)")


@dataclass(frozen=True)
class Figure:
    """What is recorded of one case and compiler."""

    per_packet_hop: float
    """Instructions."""
    reason: str
    """Why it is what it is; why it has risen, if it has."""


@dataclass(frozen=True)
class Comparison:
    """One case now and as it is recorded."""

    case: str
    counted: float
    recorded: Figure | None
    """None without a figure for this compiler."""

    @property
    def change(self) -> float:
        """As a part of the recorded figure; 0 without one."""
        return 0.0 if self.recorded is None else self.counted / self.recorded.per_packet_hop - 1

    @property
    def has_risen(self) -> bool:
        """By more than passes without a reason."""
        return self.change > TOLERANCE

    def sentence(self) -> str:
        """What was counted, beside what is recorded."""
        figure = f"{self.case}: {self.counted:.1f} instructions per packet-hop"
        if self.recorded is None:
            return f"{figure}; none are recorded for this version of rustc"
        return f"{figure}, {self.change:+.1%} against the recorded figure"

    def advice(self) -> str:
        """The same, and what to do about it if anything is to be done."""
        if self.has_risen:
            wanted = "give the reason"
        elif self.change < -TOLERANCE:
            wanted = "record the gain"
        else:
            return self.sentence()
        return f'{self.sentence()}: {wanted} with `pathweave bench --record "REASON"`'


def count(tree: Path, said: Callable[[str], None]) -> dict[str, float]:
    """Instructions per packet-hop of every case, from two short runs each.

    The binary is built without link-time optimisation, as for all tests. Runs share the processors,
    because what callgrind counts does not depend on what else is running.
    """
    if not native.has_valgrind():
        raise PathweaveError("instructions are counted by valgrind, which is not installed")
    said(f"building {native.BINARY}")
    binary = native.build(tree, "tested")
    said(f"counting instructions of {', '.join(CASES)}")

    def run(case: str, ms: float) -> tuple[int, int]:
        return native.instructions(binary, case_file(tree, case), f"{ms:g} ms")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        # The longest first.
        runs = [
            (case, [pool.submit(run, case, ms) for ms in SPANS.get(case, SPAN)])
            for case in reversed(CASES)
        ]
    counted = {}
    for case, (short, long) in reversed(runs):
        instructions, hops = (
            later - earlier for earlier, later in zip(short.result(), long.result(), strict=True)
        )
        if hops <= 0:
            raise PathweaveError(f"{case}: the longer run has no more packet-hops")
        counted[case] = instructions / hops
    return counted


def compare(tree: Path, compiler: str, counted: Mapping[str, float]) -> list[Comparison]:
    """What was counted beside what is recorded for this version of rustc."""
    recorded = read(tree).get(compiler, {})
    return [Comparison(case, figure, recorded.get(case)) for case, figure in counted.items()]


def require_reason(reason: str) -> None:
    """Raise `InputError` for a reason that says nothing."""
    if not reason.strip():
        raise InputError("a figure needs a reason: what was changed, and why that is worth it")


def record(tree: Path, compiler: str, counted: Mapping[str, float], reason: str) -> None:
    """Write figures for this version of rustc in place of those that it had."""
    require_reason(reason)
    figures = {case: Figure(round(figure, 1), reason) for case, figure in counted.items()}
    everything = read(tree) | {compiler: figures}
    write_json(
        _file(tree),
        {
            version: {case: asdict(figure) for case, figure in cases.items()}
            for version, cases in sorted(everything.items())
        },
    )


def read(tree: Path) -> dict[str, dict[str, Figure]]:
    """Recorded figures by version of rustc and case; none if there is no file."""
    try:
        content = read_json_value(_file(tree))
    except FileNotFoundError:
        return {}
    try:
        return {
            version: {case: Figure(**figure) for case, figure in cases.items()}
            for version, cases in content.items()
        }
    except (TypeError, AttributeError) as error:
        raise InputError(f"{_file(tree)} is not as it was written: {error}") from error


def compiler_version(tree: Path) -> str:
    """The version of rustc that builds the benches, as in "1.95.0"."""
    rustc = shutil.which("rustc")
    if rustc is None:
        raise PathweaveError("`pathweave bench` needs rustc, which is not on the path")
    done = subprocess.run(  # noqa: S603
        [rustc, "--version"], cwd=tree, capture_output=True, text=True, check=False
    )
    found = _VERSION.match(done.stdout)
    if found is None:
        raise PathweaveError(f"rustc does not say its version: {done.stdout or done.stderr}")
    return found[1]


def _file(tree: Path) -> Path:
    return tree / "benches" / "instructions.json"
