"""Which flows have one best split only: networks by hand, and the range of every rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from pathweave.optimum import (
    Allocation,
    AllocationProblem,
    Flow,
    MaxMin,
    ProportionalFairness,
    Subflow,
    Utility,
    Wutcp,
    solve,
)
from pathweave.optimum.face import Face
from pathweave.optimum.single import single_flows

GIGA = 1e9
FIXED = settings(derandomize=True, deadline=None, database=None)


def flow(*paths: list[int]) -> Flow:
    return Flow([Subflow(links, 1e-3) for links in paths])


# Two flows over both of two equal links can trade: 1 Gbps each, split anyhow.
TIED = [flow([0], [1]), flow([0], [1])]
# Flow 0 on both of two others shares the second with flow 1: it must leave it alone.
SETTLED = [flow([2], [3]), flow([3])]


@pytest.mark.parametrize("utility", [ProportionalFairness(), MaxMin()], ids=str)
def test_a_tie_says_nothing_about_other_flows(utility: Utility) -> None:
    found = solve(AllocationProblem([GIGA] * 4, [*TIED, *SETTLED]), utility)
    assert list(found.splits_unique) == [False, False, True, True]
    assert found.split_unique is False
    assert any("of 2 of 4 flows" in remark for remark in found.remarks)
    assert found.of_flow(2) == pytest.approx([GIGA, 0], abs=1e3)


def test_flows_on_common_links_are_told_apart() -> None:
    """Flow 2's only way into the tied pair's links is full of what it must leave to flow 3."""
    flows = [*TIED, flow([2], [3, 0]), flow([3])]
    found = solve(AllocationProblem([GIGA] * 4, flows), ProportionalFairness())
    assert list(found.splits_unique) == [False, False, True, True]
    assert found.totals_bps == pytest.approx([GIGA] * 4, rel=1e-6)


def test_utilities_of_subflows_leave_nothing_open() -> None:
    found = solve(AllocationProblem([GIGA] * 4, [*TIED, *SETTLED]), Wutcp())
    assert found.split_unique is True
    assert set(found.splits_unique) == {True}


def test_what_a_solver_may_be_off_is_no_choice() -> None:
    """Ten rates, each three times the last and a constant: rounding is multiplied by 3^10."""
    links = 10
    fixed = sp.csr_array((np.eye(links) - 3 * np.eye(links, k=-1)) / 4)
    x = np.ones(links)
    face = Face(
        columns=np.arange(links),
        flow_of=np.arange(links),
        unit=x,
        weight=x,
        fixed=fixed,
        level=fixed @ x,
        rows=sp.csr_array(np.eye(links)[-1:]),
        room=np.array([1e6]),
    )
    assert single_flows(face, [x], links) == (True,) * links
    loose = replace(face, fixed=fixed[1:], level=face.level[1:])
    assert single_flows(loose, [x], links) == (False,) * links


def widest(problem: AllocationProblem, found: Allocation) -> list[float]:
    """By flow the widest range of a subflow's rate (Gbps) over all rates with the same totals.

    A total that many rates add up to fixes the utility: these are all optima.
    """
    subflows = [subflow for each in problem.flows for subflow in each.subflows]
    loads = sp.lil_array((len(problem.capacities_bps), len(subflows)))
    sums = sp.lil_array((len(problem.flows), len(subflows)))
    for at, subflow in enumerate(subflows):
        loads[subflow.links, at] = 1.0
    sums[found.flow_of, np.arange(len(subflows))] = 1.0
    totals = found.totals_bps / GIGA
    ranges = np.zeros(len(problem.flows))
    for at, owner in enumerate(found.flow_of):
        objective = np.zeros(len(subflows))
        objective[at] = 1.0
        ends = [
            linprog(
                sign * objective,
                A_ub=sp.vstack([loads, sums, -sums]).tocsr(),
                b_ub=np.concatenate(
                    [np.array(problem.capacities_bps) / GIGA, totals, 1e-9 - totals]
                ),
            ).x[at]
            for sign in (1.0, -1.0)
        ]
        ranges[owner] = max(ranges[owner], ends[1] - ends[0])
    return ranges.tolist()


@st.composite
def networks(draw: st.DrawFn) -> AllocationProblem:
    """Few sizes of links, so that there are ties, and parts that may be apart."""
    links = draw(st.integers(2, 9))
    sizes = st.sampled_from([GIGA, 2 * GIGA, 3 * GIGA])
    capacities = draw(st.lists(sizes, min_size=links, max_size=links))
    path = st.lists(st.integers(0, links - 1), min_size=1, max_size=2, unique=True)
    flows = st.lists(st.lists(path, min_size=1, max_size=3), min_size=2, max_size=8)
    return AllocationProblem(capacities, [flow(*paths) for paths in draw(flows)])


def test_verdicts_are_those_of_the_range_of_each_rate() -> None:
    mixed = 0

    @settings(FIXED, max_examples=60)
    @given(problem=networks())
    def check(problem: AllocationProblem) -> None:
        nonlocal mixed
        found = solve(problem, ProportionalFairness())
        assume(found.status == "optimal")
        verdicts: set[bool] = set()
        for at, width in enumerate(widest(problem, found)):
            total = found.totals_bps[at] / GIGA
            if width > 1e-2 * total:
                assert found.splits_unique[at] is False
            elif width < 1e-4 * total:
                assert found.splits_unique[at] is True
            if len(problem.flows[at].subflows) > 1:
                verdicts.add(width > 1e-2 * total)
        mixed += len(verdicts) == 2

    check()
    assert mixed >= 5  # networks in which one flow has a choice and another has none
