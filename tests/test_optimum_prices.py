"""The distributed iteration of prices and rates (FMPTCP, equations 7 and 8) next to the solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import small_fat_tree
from pathweave.errors import InputError
from pathweave.optimum import (
    AllocationProblem,
    AlphaFairness,
    Concave,
    DelayWeighted,
    Flow,
    ProportionalFairness,
    Subflow,
    Tcp,
    Xmp,
    iterate_prices,
    solve,
)

GIGA = 1e9
RTT = 1e-3


def flow(*paths: list[int], rtt_s: float = RTT) -> Flow:
    return Flow([Subflow(links, rtt_s) for links in paths])


LINE = AllocationProblem(
    [GIGA, 1.2 * GIGA, 1.5 * GIGA], [flow([0, 1, 2]), flow([0]), flow([1]), flow([2])]
)
TWO_LINKS = AllocationProblem([0.512 * GIGA, 1.024 * GIGA], [flow([0], [1]), flow([1])])
RING = AllocationProblem(
    [rate * GIGA for rate in (0.8, 1.2, 2.0, 1.5, 0.5)],
    [flow([i], [(i + 1) % 5]) for i in range(5)],
)
DELAYS = AllocationProblem(
    [GIGA, GIGA],
    [Flow([Subflow([0], 1e-3), Subflow([1], 1.5e-3)]), flow([0]), flow([1], rtt_s=2e-3)],
)
FAT_TREE = small_fat_tree.candidates(small_fat_tree.permutation(1))
TOPOLOGIES = {
    "line": LINE,
    "two links": TWO_LINKS,
    "ring": RING,
    "delays": DELAYS,
    "fat-tree": FAT_TREE,
}
UTILITIES = [ProportionalFairness(), AlphaFairness(2.0), DelayWeighted(), Xmp(), Tcp()]


@pytest.mark.parametrize("problem", TOPOLOGIES.values(), ids=TOPOLOGIES)
@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: type(utility).__name__)
def test_prices_and_answers_reach_the_solver_s_optimum(
    problem: AllocationProblem, utility: Concave
) -> None:
    """Objectives differ by 0.0002 of the worth of all capacity, totals by 1 %."""
    optimum = solve(problem, utility)
    found = iterate_prices(problem, utility, tolerance=2e-4)
    assert found.converged
    assert found.gap <= 2e-4
    assert found.iterations < 20_000
    # The sums that the utility sees are unique, those of the rates are not under delays.
    if not isinstance(utility, DelayWeighted) or problem is not DELAYS:
        assert found.totals_bps == pytest.approx(optimum.totals_bps, rel=0.01)
    loads = np.zeros(len(problem.capacities_bps))
    subflows = [subflow for each in problem.flows for subflow in each.subflows]
    for subflow, rate in zip(subflows, found.rates_bps, strict=True):
        loads[list(subflow.links)] += rate
    assert (loads <= np.array(problem.capacities_bps) * (1 + 1e-9)).all()


@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: type(utility).__name__)
@pytest.mark.parametrize("name", ["line", "two links", "ring", "delays"])
def test_prices_are_the_solver_s_multipliers(name: str, utility: Concave) -> None:
    """Where they are unique: on the fat-tree a price may be shared out over the links of a path."""
    problem = TOPOLOGIES[name]
    expected = solve(problem, utility).prices
    found = iterate_prices(problem, utility, tolerance=5e-5)
    assert expected is not None
    assert found.converged
    assert found.prices == pytest.approx(expected, abs=0.03 * expected.max())


def test_path_prices_on_a_fat_tree_are_the_marginal_utilities() -> None:
    found = iterate_prices(FAT_TREE, ProportionalFairness(), tolerance=1e-5)
    for each, total in zip(FAT_TREE.flows, found.totals_bps, strict=True):
        cheapest = min(found.prices[list(subflow.links)].sum() for subflow in each.subflows)
        assert cheapest * total == pytest.approx(1, rel=0.02)  # U' = 1 / y


@settings(max_examples=12, derandomize=True, deadline=None, database=None)
@given(st.data())
def test_on_random_networks_the_objective_is_the_solver_s(data: st.DataObject) -> None:
    links = data.draw(st.integers(2, 6))
    capacities = data.draw(
        st.lists(st.floats(0.5 * GIGA, 2 * GIGA), min_size=links, max_size=links)
    )
    path = st.lists(st.integers(0, links - 1), min_size=1, max_size=3, unique=True)
    subflow = st.builds(Subflow, path, st.floats(1e-4, 1e-3))
    flows = data.draw(
        st.lists(st.lists(subflow, min_size=1, max_size=3).map(Flow), min_size=1, max_size=6)
    )
    problem = AllocationProblem(capacities, flows)
    optimum = solve(problem, ProportionalFairness())
    found = iterate_prices(problem, ProportionalFairness(), tolerance=1e-3)
    assert found.converged
    # A logarithm's worth of all capacity is one a flow.
    objective = float(np.log(found.totals_bps / 12_000).sum())
    assert optimum.objective - 1.1e-3 * len(flows) <= objective <= optimum.objective + 1e-6


def test_with_one_path_each_the_answers_themselves_settle_under_a_constant_step() -> None:
    found = iterate_prices(
        LINE, ProportionalFairness(), constant=True, tolerance=0.0, rounds=20_000
    )
    optimum = solve(LINE, ProportionalFairness())
    assert found.last_bps == pytest.approx(optimum.rates_bps, rel=1e-6)


def test_with_several_paths_the_answers_go_to_and_fro() -> None:
    """Which the paper does not say: its flow has all of its rate on one path in every round."""
    found = iterate_prices(TWO_LINKS, ProportionalFairness(), tolerance=1e-4)
    assert found.converged
    assert 0.0 in found.last_bps[:2]
    assert found.rates_bps == pytest.approx(np.array([0.512, 0.256, 0.768]) * GIGA, rel=0.02)


def test_a_constant_step_stops_short_in_proportion_to_the_step() -> None:
    def gap(step: float) -> float:
        return iterate_prices(
            RING, ProportionalFairness(), step=step, constant=True, tolerance=0.0, rounds=16_000
        ).gap

    long, short = gap(0.3), gap(0.03)
    assert 1e-4 < short < long / 5


def test_the_rounds_end_it_and_it_says_so() -> None:
    found = iterate_prices(RING, ProportionalFairness(), rounds=50)
    assert not found.converged
    assert found.iterations == 50
    assert found.gap > 1e-3


def test_links_that_are_down_have_no_price_and_carry_nothing() -> None:
    problem = AllocationProblem([0, GIGA], [flow([0], [1]), flow([1])])
    found = iterate_prices(problem, ProportionalFairness())
    assert np.isnan(found.prices[0])
    assert found.rates_bps == pytest.approx([0, GIGA / 2, GIGA / 2], rel=0.01)
    assert found.last_bps[0] == 0


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"the step is 0\.0; it must be positive"):
        iterate_prices(LINE, ProportionalFairness(), step=0.0)
    with pytest.raises(InputError, match="no flow has a path with capacity"):
        iterate_prices(AllocationProblem([0], [flow([0])]), Xmp())
