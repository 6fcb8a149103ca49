"""What the optimum refuses, and what it says about an answer that is not good enough."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import environment
from pathweave.errors import InputError, OptimumError
from pathweave.optimum import (
    AllocationProblem,
    AlphaFairness,
    Flow,
    MaxMin,
    ProportionalFairness,
    Subflow,
    Tcp,
    Utility,
    Wutcp,
    Xmp,
    optimise,
    program,
    solve,
)

if TYPE_CHECKING:
    from pathweave.optimum.refine import Point

GIGA = 1e9


def flow(*paths: list[int], limit_bps: float | None = None) -> Flow:
    return Flow([Subflow(links, 1e-3) for links in paths], limit_bps)


ONE = flow([0])


@pytest.mark.parametrize(
    ("capacities", "flows", "message"),
    [
        ([1], [], "there are no flows"),
        ([1], [Flow([])], "flow 0 has no subflows"),
        ([1], [ONE, flow([0], [1])], "subflow 1 of flow 1 uses link 1; there are 1 links"),
        ([1, 1], [flow([0, 1, 0])], "the path of subflow 0 of flow 0 has a link twice"),
        ([-1], [ONE], "link 0 has a capacity of -1.0 bit/s"),
        ([float("inf")], [ONE], "link 0 has a capacity of inf bit/s"),
        ([1], [flow([])], "subflow 0 of flow 0 has neither a link nor a limit: its rate is unb"),
        ([1], [flow([0], limit_bps=0)], "the limit of flow 0 is 0; it must be positive"),
        ([1], [Flow([Subflow([0], 0.0)])], "the RTT of subflow 0 of flow 0 is 0.0"),
    ],
)
def test_problems_that_mean_nothing(
    capacities: list[float], flows: list[Flow], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        AllocationProblem(capacities, flows)


def test_links_have_names_in_messages() -> None:
    with pytest.raises(InputError, match="link A1-B1 has a capacity of -1"):
        AllocationProblem([-1], [ONE], ["A1-B1"])
    with pytest.raises(InputError, match="1 links have 2 names"):
        AllocationProblem([1], [ONE], ["A1-B1", "A2-B2"])


def test_a_flow_without_a_path_is_infinitely_bad_or_has_nothing() -> None:
    problem = AllocationProblem([0, GIGA], [flow([0], [0, 1]), flow([1])])
    assert problem.blocked() == [0]
    for utility in (ProportionalFairness(), AlphaFairness(2)):
        with pytest.raises(InputError, match="flow 0 has no path with capacity, and with its util"):
            solve(problem, utility)
    for utility in (Xmp(), Tcp(), Wutcp(), AlphaFairness(0.5), MaxMin()):
        found = solve(problem, utility)
        assert found.status == "optimal"
        assert found.totals_bps == pytest.approx([0, GIGA])
        assert np.isfinite(found.objective)


def test_only_dead_links() -> None:
    with pytest.raises(InputError, match="no flow has a path with capacity"):
        solve(AllocationProblem([0], [ONE]), Xmp())


def test_utilities_that_do_not_fit() -> None:
    problem = AllocationProblem([GIGA], [ONE, ONE])
    with pytest.raises(InputError, match="1 utilities for 2 flows"):
        solve(problem, [Xmp()])
    with pytest.raises(InputError, match="max-min orders all flows at once"):
        solve(problem, [Xmp(), MaxMin()])
    with pytest.raises(InputError, match="2 values of omega for 1 subflows"):
        solve(problem, Wutcp([0.5, 0.5]))


CHAIN = AllocationProblem([GIGA, 2 * GIGA], [flow([0, 1]), flow([0]), flow([1])])


def test_an_impossible_tolerance_is_not_met() -> None:
    found = solve(CHAIN, AlphaFairness(1.7), tolerance=1e-30)
    assert found.status == "inaccurate"
    assert any("is above the tolerance of 1e-30" in remark for remark in found.remarks)


def disturb(monkeypatch: pytest.MonkeyPatch, error: float) -> None:
    """A solver that is wrong by a share of each rate, and nothing to put it right."""
    solver = program.best_rates

    def wrong(*arguments: Any) -> program.Answer | None:
        answer = solver(*arguments)
        assert answer is not None
        factors = 1 - error * np.arange(len(answer.x)) / len(answer.x)
        return program.Answer(answer.x * factors, answer.price, answer.status)

    def unchanged(*arguments: Any) -> Point:
        return arguments[-1]

    monkeypatch.setattr(program, "best_rates", wrong)
    monkeypatch.setattr(optimise, "refine", unchanged)


@pytest.mark.parametrize("utility", [ProportionalFairness(), Tcp(), Xmp()], ids=str)
def test_an_inaccurate_answer_is_flagged(monkeypatch: pytest.MonkeyPatch, utility: Utility) -> None:
    disturb(monkeypatch, 1e-4)
    found = solve(CHAIN, utility)
    assert found.solver_status == "optimal"
    assert found.status == "inaccurate"
    assert found.residuals.worst > found.tolerance
    assert found.remarks[-1].startswith("inaccurate: a residual of ")


def test_a_wrong_answer_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    disturb(monkeypatch, 0.3)
    with pytest.raises(OptimumError, match="this is not the optimum"):
        solve(CHAIN, ProportionalFairness())


def test_a_solver_that_gives_up_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: Any) -> str:
        return "failed"

    monkeypatch.setattr(program, "run", give_up)
    with pytest.raises(OptimumError, match="no solver found an allocation"):
        solve(CHAIN, ProportionalFairness())
    several = AllocationProblem([GIGA], [flow([0], [0]), ONE])
    with pytest.raises(OptimumError, match="no solver found a max-min fair level"):
        solve(several, MaxMin())


def test_scs_finds_the_same() -> None:
    one = solve(CHAIN, ProportionalFairness(), solver="clarabel")
    other = solve(CHAIN, ProportionalFairness(), solver="scs")
    assert (one.solver, other.solver) == ("clarabel", "scs")
    assert other.status == "optimal"
    assert one.rates_bps == pytest.approx(other.rates_bps, rel=1e-6)


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['cvxpy'] = None\n"
        "from pathweave.optimum import Xmp\n"
        "from pathweave.errors import PathweaveError\n"
        "try:\n    from pathweave.optimum import solve\n"
        "except PathweaveError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "the optimum needs cvxpy: install the extra, pathweave[optimum]\n"
