"""Rates for the core's fluid runs: each set of flows under way becomes a problem, solved once."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pathweave.errors import InputError
from pathweave.optimum.problem import AllocationProblem, Flow, Subflow
from pathweave.optimum.utility import MaxMin, Wutcp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pathweave._core import FluidProblem
    from pathweave.optimum.utility import Utility
    from pathweave.solving.objective import Objective

    Rates = tuple[NDArray[np.float64], NDArray[np.bool_]]


_KEPT = 4000
"""Answers kept for problems that come again."""


@dataclass(frozen=True)
class Answer:
    """How good the rates of a problem are."""

    status: str
    solver: str
    tolerance: float
    worst_residual: float


@dataclass
class Record:
    """What the answers of a run rest on."""

    solved: int = 0
    """Problems solved for this run."""
    reused: int = 0
    """Problems met before, in this run or in an earlier one."""
    tolerance: float = 0.0
    """For residuals, the largest of all answers."""
    worst_residual: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    solvers: Counter[str] = field(default_factory=Counter)
    refused: bool = False
    """There would have been more problems than the limit."""

    def take(self, found: Answer) -> None:
        """Count an answer."""
        self.tolerance = max(self.tolerance, found.tolerance)
        self.worst_residual = max(self.worst_residual, found.worst_residual)
        self.statuses[found.status] += 1
        self.solvers[found.solver] += 1

    def to_json(self) -> dict[str, Any]:
        """For manifests: nothing in it depends on the machine's speed."""
        return {
            "solved": self.solved,
            "reused": self.reused,
            "tolerance": self.tolerance,
            "worst_residual": self.worst_residual,
            "statuses": dict(sorted(self.statuses.items())),
            "solvers": dict(sorted(self.solvers.items())),
        }

    def notes(self) -> list[str]:
        """What a reader must know."""
        notes: list[str] = []
        if inaccurate := self.statuses["inaccurate"]:
            notes.append(
                f"{inaccurate} of {self.statuses.total()} optima are inaccurate: the largest"
                f" residual is {self.worst_residual:.1e}, above the tolerance of {self.tolerance:g}"
            )
        return notes


class Allocator:
    """Answers for runs in turn; what one run has solved, the next need not solve again."""

    def __init__(self, objective: Objective, watch: Callable[[float, float], None]) -> None:
        """`watch` hears, before each answer, the share of a run that is done and the time in it.

        What it raises ends the run.
        """
        from pathweave.optimum import solve  # it may be missing, and says so

        self._objective = objective
        self._optimum = solve
        self.watch = watch
        self._known: dict[bytes, tuple[Rates, Answer]] = {}
        self._limit: int | None = None
        self.record = Record()
        self.fullest: FluidProblem | None = None
        """Of this run's problems the first with the most flows."""

    def begin(self, limit: int | None = None) -> None:
        """Forget the record; give at most `limit` new answers from now on."""
        self.record = Record()
        self.fullest = None
        self._limit = limit

    def __call__(self, problem: FluidProblem) -> Rates | None:
        """Rates (bit/s) of the problem's paths, and by flow whether its split is the only one."""
        record = self.record
        self.watch(problem["done"], problem["time_s"])
        if not _has_live_path(problem):
            return np.zeros(len(problem["flow_of"])), np.ones(len(problem["flows"]), dtype=bool)
        if self.fullest is None or len(problem["flows"]) > len(self.fullest["flows"]):
            self.fullest = problem
        key = _key(problem)
        if key in self._known:
            record.reused += 1
        else:
            if self._limit is not None and record.solved >= self._limit:
                record.refused = True
                return None
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = self._solve(problem)
            record.solved += 1
        rates, found = self._known[key]
        record.take(found)
        return rates

    def _solve(self, problem: FluidProblem) -> tuple[Rates, Answer]:
        static, columns, lively = static_problem(problem)
        controllers = problem["controller_of"].astype(np.intp)[lively]
        numbers = subflows_of(problem)[lively]
        utilities: list[Utility] = []
        for at, number, flow in zip(controllers, numbers, static.flows, strict=True):
            rtts_s = [path.rtt_s for path in flow.subflows]
            own = self._objective.of(
                *problem["controllers"][at], subflows=int(number), rtts_s=rtts_s
            )
            utilities.append(own)
        if _is_spread(problem) and any(_goes_by_subflow(utility) for utility in utilities):
            raise InputError(
                "the packets of a subflow are spread over several paths, and the utility goes by"
                " the rate of a subflow: choose one of a flow's whole rate"
            )
        common = self._objective.utility
        utility = common if isinstance(common, MaxMin) else utilities
        found = self._optimum(static, utility)
        rates = np.zeros(len(problem["flow_of"]))
        rates[columns] = found.rates_bps
        answer = Answer(found.status, found.solver, found.tolerance, found.residuals.worst)
        unique = np.ones(len(problem["flows"]), dtype=bool)
        unique[lively] = [verdict is True for verdict in found.splits_unique]
        return (rates, unique), answer


def _goes_by_subflow(utility: Utility) -> bool:
    return isinstance(utility, Wutcp) or utility == MaxMin("subflows")


def subflows_of(problem: FluidProblem) -> NDArray[np.intp]:
    """By flow the number of its subflows."""
    firsts = np.append(True, ~_same_subflow(problem))
    return np.bincount(problem["flow_of"].astype(np.intp)[firsts], minlength=len(problem["flows"]))


def _is_spread(problem: FluidProblem) -> bool:
    """Whether a subflow has several paths."""
    return bool(_same_subflow(problem).any())


def _same_subflow(problem: FluidProblem) -> NDArray[np.bool_]:
    """By path but the first: whether it is one more of the subflow of the path before it."""
    same_flow = np.diff(problem["flow_of"].astype(np.int64)) == 0
    return same_flow & (np.diff(problem["subflow"].astype(np.int64)) == 0)


def _has_live_path(problem: FluidProblem) -> bool:
    return bool(_alive(problem).any())


def _alive(problem: FluidProblem) -> NDArray[np.bool_]:
    """Which paths have a capacity all along."""
    first = problem["first_link"].astype(np.intp)
    up = problem["capacities_bps"][problem["links"].astype(np.intp)] > 0
    return np.logical_and.reduceat(up, first[:-1])


def static_problem(
    problem: FluidProblem,
) -> tuple[AllocationProblem, NDArray[np.intp], NDArray[np.intp]]:
    """The problem of the flows that have a live path, over the links that they use.

    With the places of its subflows among the problem's paths, and of its flows among the flows.
    """
    first, links = problem["first_link"].astype(np.intp), problem["links"].astype(np.intp)
    flow_of = problem["flow_of"].astype(np.intp)
    lively = np.zeros(len(problem["flows"]), dtype=bool)
    lively[flow_of[_alive(problem)]] = True
    columns = np.flatnonzero(lively[flow_of])
    used, place = np.unique(links, return_inverse=True)
    flows: dict[int, list[Subflow]] = {}
    for column in columns:
        own = place[first[column] : first[column + 1]]
        subflow = Subflow(own.tolist(), float(problem["rtt_s"][column]))
        flows.setdefault(int(flow_of[column]), []).append(subflow)
    static = AllocationProblem(
        problem["capacities_bps"][used].tolist(),
        [Flow(subflows) for subflows in flows.values()],
        packet_bytes=problem["packet_bytes"],
    )
    return static, columns, np.array(list(flows), dtype=np.intp)


def _key(problem: FluidProblem) -> bytes:
    """Equal for problems with equal answers: who the flows are does not matter, nor when it is."""
    used = np.unique(problem["links"].astype(np.intp))
    parts = [
        repr(problem["controllers"]).encode(),
        problem["capacities_bps"][used].tobytes(),
        *(
            problem[name].tobytes()
            for name in ("links", "first_link", "flow_of", "rtt_s", "controller_of")
        ),
        _same_subflow(problem).tobytes(),
        np.float64(problem["packet_bytes"]).tobytes(),
    ]
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()
