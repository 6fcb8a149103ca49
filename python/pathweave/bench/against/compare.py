"""Both simulators on the same flows, in turn, and what comes out."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

from pathweave.bench import native
from pathweave.bench.against import program
from pathweave.bench.against.cases import RATE_MBPS, SEED
from pathweave.bench.against.child import Failure, TookTooLongError, run
from pathweave.bench.against.permutation import draw, path_lines
from pathweave.bench.against.scenario import scenario
from pathweave.bench.against.schedule import Step
from pathweave.bench.against.simulator import Job
from pathweave.bench.cases import simulated_ns
from pathweave.errors import PathweaveError
from pathweave.running.interrupt import Interrupt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pathweave.bench.against.cases import Case
    from pathweave.bench.against.simulator import Simulator


class Watching(Protocol):
    """Whoever shows how far a comparison is."""

    def begins(self, step: Step) -> None:
        """A run begins."""
        ...

    def ended(self, step: Step, seconds: float) -> None:
        """It has ended after this many seconds of wall time."""
        ...

    def restore_terminal(self) -> None:
        """The process is about to be killed."""
        ...


@dataclass(frozen=True)
class Asked:
    """What to compare, and how."""

    simulator: Simulator
    program: Path
    """That of the other simulator."""
    binary: Path
    """Pathweave's bench binary."""
    cases: Sequence[Case]
    until: str
    """Simulated time: "20 ms"."""
    turns: int
    """Timed runs of each."""
    timeout_s: float
    """Wall time that a run may take."""


@dataclass(frozen=True)
class Side:
    """One simulator on one case."""

    packet_hops: int
    goodput_share: float
    """Of what the hosts' links could carry."""
    cpu_s: tuple[float, ...]
    """Of each turn."""

    @property
    def rates(self) -> list[float]:
        """Packet-hops per CPU-second, turn by turn."""
        return [self.packet_hops / seconds for seconds in self.cpu_s]


@dataclass(frozen=True)
class Compared:
    """Both simulators on one case."""

    case: Case
    other: Side
    pathweave: Side

    @property
    def ratios(self) -> list[float]:
        """Pathweave's packet-hops per CPU-second over the other's, turn by turn."""
        pairs = zip(self.pathweave.rates, self.other.rates, strict=True)
        return [ours / theirs for ours, theirs in pairs]


def compare(asked: Asked, watching: Watching) -> Iterator[Compared]:
    """Compare case by case.

    Raises `PathweaveError` when a run fails, and `KeyboardInterrupt` when the user interrupts; then
    too nothing is left running, and no file is left.
    """
    simulated_ns(asked.until)
    interrupt = Interrupt(before_kill=watching.restore_terminal)
    with interrupt, tempfile.TemporaryDirectory(prefix="pathweave-") as folder:
        for case in asked.cases:
            yield _Comparing(asked, case, Path(folder), watching, interrupt).all_turns()


class _Comparing:
    """The runs of one case, with the files that they read."""

    def __init__(
        self, asked: Asked, case: Case, folder: Path, watching: Watching, interrupt: Interrupt
    ) -> None:
        self._asked = asked
        self._case = case
        self._watching = watching
        self._interrupt = interrupt
        flows = draw(case.k, case.subflows, SEED)
        self._paths = folder / f"{case.name}.paths"
        self._paths.write_text(path_lines(flows))
        self._scenario = folder / f"{case.name}.toml"
        self._scenario.write_text(scenario(case, flows, asked.simulator))

    def all_turns(self) -> Compared:
        counted = self._other(0)
        theirs: list[program.Cost] = []
        ours: list[native.NativeRun] = []
        for turn in range(1, self._asked.turns + 1):
            theirs.append(self._other(turn))
            ours.append(self._pathweave(turn))
        self._check_that_runs_agree(counted, theirs, ours)
        seconds = simulated_ns(self._asked.until) * 1e-9
        capacity_bytes = self._case.hosts * RATE_MBPS * 1e6 / 8 * seconds
        return Compared(
            case=self._case,
            other=Side(
                packet_hops=counted.packet_hops or 0,
                goodput_share=counted.delivered_bytes / capacity_bytes,
                cpu_s=tuple(each.cpu_s for each in theirs),
            ),
            pathweave=Side(
                packet_hops=ours[0].packet_hops,
                goodput_share=ours[0].goodput_share,
                cpu_s=tuple(each.cpu_s for each in ours),
            ),
        )

    def _other(self, turn: int) -> program.Cost:
        asked = self._asked
        job = Job(self._case, self._paths, simulated_ns(asked.until), count_hops=turn == 0)
        step = Step(self._case, asked.simulator.title, turn)
        begun = self._begin(step)
        found = program.cost(asked.simulator, asked.program, job, asked.timeout_s, self._interrupt)
        self._watching.ended(step, time.monotonic() - begun)
        return found

    def _pathweave(self, turn: int) -> native.NativeRun:
        step = Step(self._case, "Pathweave", turn)
        begun = self._begin(step)
        command = native.command(self._asked.binary, self._scenario, self._asked.until)
        try:
            printed = run(command, self._asked.timeout_s, self._interrupt)
        except TookTooLongError:
            raise PathweaveError(
                f"Pathweave on {self._case.name} took longer than {self._asked.timeout_s:g} s: "
                "simulate less with --until, or allow more with --timeout"
            ) from None
        if isinstance(printed, Failure):
            raise PathweaveError(f"Pathweave on {self._case.name} failed, {printed}")
        self._watching.ended(step, time.monotonic() - begun)
        found = native.measured(printed, self._scenario)
        if not found.cpu_s > 0 or found.packet_hops == 0:
            raise PathweaveError(
                f"Pathweave on {self._case.name} took no CPU time: simulate more with --until"
            )
        return found

    def _begin(self, step: Step) -> float:
        self._watching.begins(step)
        return time.monotonic()

    def _check_that_runs_agree(
        self,
        counted: program.Cost,
        theirs: Sequence[program.Cost],
        ours: Sequence[native.NativeRun],
    ) -> None:
        """The hops of one run stand for the others: they must have been the same run."""
        delivered = sorted({each.delivered_bytes for each in (counted, *theirs)})
        if len(delivered) > 1:
            raise PathweaveError(
                f"{self._asked.simulator.title} on {self._case.name} delivered {delivered[0]} "
                f"bytes in one run and {delivered[-1]} in another: the packet-hops of one run "
                "do not hold for the others"
            )
        if len({each.results_hash for each in ours}) > 1:
            raise PathweaveError(
                f"Pathweave on {self._case.name}: two runs differ in their results"
            )


def to_json(asked: Asked, compared: Sequence[Compared], left_out: dict[str, str]) -> dict[str, Any]:
    """What `pathweave bench --against --json` writes."""
    return {
        "against": asked.simulator.name,
        "packet_hops_counted_by": asked.simulator.counted,
        "until": asked.until,
        "turns": asked.turns,
        "cases": {
            each.case.name: {
                "flows": each.case.hosts,
                "subflows": each.case.subflows,
                asked.simulator.name: _side_json(each.other),
                "pathweave": _side_json(each.pathweave),
                "ratio": _spread(each.ratios),
            }
            for each in compared
        },
        "left_out": left_out,
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {
        "packet_hops": side.packet_hops,
        "goodput_share": side.goodput_share,
        "cpu_s": list(side.cpu_s),
        "packet_hops_per_cpu_s": _spread(side.rates),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": median(values), "least": min(values), "most": max(values)}
