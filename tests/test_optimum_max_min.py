"""Max-min fairness, against progressive filling and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pathweave.optimum import AllocationProblem, Flow, MaxMin, Subflow, solve


def filling(capacities: Sequence[int], paths: Sequence[Sequence[int]]) -> list[Fraction]:
    """Exact progressive filling: the most crowded link fixes the rates of all that cross it."""
    rates: list[Fraction | None] = [None] * len(paths)
    while None in rates:
        shares: dict[int, Fraction] = {}
        for link, capacity in enumerate(capacities):
            crossing = [at for at, path in enumerate(paths) if link in path]
            open_ = [at for at in crossing if rates[at] is None]
            taken = sum((rates[at] or Fraction(0) for at in crossing), Fraction(0))
            if open_:
                shares[link] = (capacity - taken) / len(open_)
        tightest = min(shares, key=lambda link: shares[link])
        for at, path in enumerate(paths):
            if rates[at] is None and tightest in path:
                rates[at] = shares[tightest]
    return [rate for rate in rates if rate is not None]


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    links = draw(st.integers(1, 7))
    capacities = draw(st.lists(st.integers(1, 1000), min_size=links, max_size=links))
    path = st.lists(st.integers(0, links - 1), min_size=1, max_size=4, unique=True)
    return capacities, draw(st.lists(path, min_size=1, max_size=10))


@settings(max_examples=60, deadline=None)
@given(networks())
def test_single_paths_are_progressive_filling(case: tuple[list[int], list[list[int]]]) -> None:
    capacities, paths = case
    expected = [float(rate) for rate in filling(capacities, paths)]
    single = AllocationProblem(capacities, [Flow([Subflow(path, 1e-3)]) for path in paths])
    found = solve(single, MaxMin())
    assert found.status == "optimal"
    assert found.totals_bps == pytest.approx(expected, rel=1e-9)
    assert found.objective == pytest.approx(min(expected), rel=1e-9)
    # Over subflows it does not matter to which flow they belong.
    together = AllocationProblem(capacities, [Flow([Subflow(path, 1e-3) for path in paths])])
    assert solve(together, MaxMin(over="subflows")).rates_bps == pytest.approx(expected, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(networks())
@example(([1, 548, 1], [[0], [1]]))  # levels far apart
def test_the_linear_programs_agree_with_filling(
    case: tuple[list[int], list[list[int]]],
) -> None:
    """A second subflow on the same path changes no total, but it takes the general method."""
    capacities, paths = case
    expected = [float(rate) for rate in filling(capacities, paths)]
    twice = [Flow([Subflow(path, 1e-3), Subflow(path, 1e-3)]) for path in paths]
    found = solve(AllocationProblem(capacities, twice), MaxMin())
    assert found.status == "optimal"
    assert found.totals_bps == pytest.approx(expected, rel=1e-6)


def totals(capacities: Sequence[float], *flows: Sequence[Sequence[int]]) -> list[float]:
    problem = AllocationProblem(
        capacities, [Flow([Subflow(path, 1e-3) for path in paths]) for paths in flows]
    )
    found = solve(problem, MaxMin())
    assert found.status == "optimal"
    return found.totals_bps.tolist()


def test_flows_with_several_paths_by_hand() -> None:
    # The second link is C's; A and B share the first.
    assert totals([3, 1], [[0], [1]], [[0]], [[1]]) == pytest.approx([1.5, 1.5, 1], rel=1e-6)
    # All of it in one pool: 4 for two.
    assert totals([3, 1], [[0], [1]], [[0]]) == pytest.approx([2, 2], rel=1e-6)
    # A chain of pools: C alone has 1, then A and B share 2 + 3.
    assert totals([2, 3, 1], [[0], [1]], [[1], [2]], [[2]]) == pytest.approx(
        [2.5, 2.5, 1], rel=1e-6
    )
    # Three levels. A is held at 1, B at 4, and C has what B leaves of link 2.
    assert totals([1, 4, 10], [[0]], [[1]], [[1, 2], [2]]) == pytest.approx([1, 4, 10], rel=1e-6)


def test_a_flow_without_a_path_has_nothing_and_the_others_are_fair() -> None:
    assert totals([0, 2], [[0]], [[1], [0, 1]], [[1]]) == pytest.approx([0, 1, 1], rel=1e-6)
