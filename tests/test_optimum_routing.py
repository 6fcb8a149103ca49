"""FMPTCP's multi-path routing problem: choosing paths, and judging a choice."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import small_fat_tree
from pathweave.errors import InputError
from pathweave.optimum import (
    Allocation,
    AllocationProblem,
    DelayWeighted,
    Eutcp,
    Flow,
    MaxMin,
    ProportionalFairness,
    Routing,
    RoutingProblem,
    Subflow,
    Tcp,
    Wutcp,
    Xmp,
    enumerate_paths,
    judge,
    relax,
    round_up,
    smallest_price,
    solve,
)

GIGA = 1e9
PACKET_BITS = 12_000


def figure_2(paths: int) -> RoutingProblem:
    """FMPTCP paper, Figure 2: each of S1 and S2 reaches D1 over B1-A1 or B2-A2, and B3 or B4.

    Candidates by flow: A1-B3, A1-B4, A2-B3, A2-B4.
    """
    names = [
        "S1-B1", "S1-B2", "S2-B1", "S2-B2", "B1-A1", "B2-A2",
        "A1-B3", "A1-B4", "A2-B3", "A2-B4", "B3-D1", "B4-D1",
    ]  # fmt: skip
    flows = [
        Flow(
            [
                Subflow(
                    [
                        names.index(link)
                        for link in (f"S{s}-B{a}", f"B{a}-A{a}", f"A{a}-B{b}", f"B{b}-D1")
                    ],
                    1e-3,
                )
                for a, b in itertools.product((1, 2), (3, 4))
            ]
        )
        for s in (1, 2)
    ]
    return RoutingProblem(AllocationProblem([GIGA] * 12, flows, names), paths)


def test_one_path_each_is_enough_when_chosen_well() -> None:
    best = enumerate_paths(figure_2(1), ProportionalFairness())
    assert best.allocation.totals_bps == pytest.approx([GIGA, GIGA])
    assert best.gap == pytest.approx(0, abs=1e-6)
    (one,), (other,) = best.chosen
    # Neither the aggregation switch nor the last link is shared.
    assert one // 2 != other // 2
    assert one % 2 != other % 2


def test_a_collision_of_ecmp_is_below_the_optimum() -> None:
    utility = ProportionalFairness()
    collision = judge(figure_2(1), utility, [[0], [2]])  # both by B3-D1
    assert collision.allocation.totals_bps == pytest.approx([GIGA / 2, GIGA / 2])
    best = enumerate_paths(figure_2(1), utility)
    assert best.allocation.objective - collision.allocation.objective == pytest.approx(
        2 * math.log(2), rel=1e-6
    )
    assert collision.gap == pytest.approx(2 * math.log(2), rel=1e-6)


def test_the_papers_paths_leave_nothing_to_gain() -> None:
    # S1: A1-B3, A2-B4. S2: A1-B4, A2-B4. The fault is max-min's, not the paths'.
    found = judge(figure_2(2), ProportionalFairness(), [[0, 3], [1, 3]])
    assert found.gap == pytest.approx(0, abs=1e-6)
    assert found.allocation.of_flow(0) == pytest.approx([GIGA, 0, 0, 0], abs=1e3)


def test_rounding_keeps_the_largest_rates() -> None:
    # Alone, with 3, 1 and 2 Gbps to choose from.
    candidates = AllocationProblem(
        [3 * GIGA, GIGA, 2 * GIGA], [Flow([Subflow([link], 1e-3) for link in range(3)])]
    )
    for paths, chosen, total in (
        (1, (0,), 3),
        (2, (0, 2), 5),
        (3, (0, 1, 2), 6),
        (9, (0, 1, 2), 6),
    ):
        found = round_up(RoutingProblem(candidates, paths), Tcp())
        assert found.chosen == (chosen,)
        assert found.allocation.totals_bps == pytest.approx([total * GIGA])
        assert found.relaxed.totals_bps == pytest.approx([6 * GIGA])


def test_among_equal_rates_flows_take_turns() -> None:
    # Four flows, each with the same four links to choose one from: the relaxation is even.
    flows = [Flow([Subflow([link], 1e-3) for link in range(4)]) for _ in range(4)]
    candidates = AllocationProblem([GIGA] * 4, flows)
    found = round_up(RoutingProblem(candidates, 1), ProportionalFairness())
    assert found.chosen == ((0,), (1,), (2,), (3,))
    assert found.gap == pytest.approx(0.0, abs=1e-6)


def one_link_each(
    capacities: list[float], flows: int, limit_bps: float | None = None
) -> RoutingProblem:
    """Flows that may take one of the links each."""
    own = [Subflow([link], 1e-3) for link in range(len(capacities))]
    return RoutingProblem(AllocationProblem(capacities, [Flow(own, limit_bps)] * flows), 1)


def test_the_second_flow_avoids_the_links_of_the_first() -> None:
    found = smallest_price(figure_2(1), ProportionalFairness())
    assert found.chosen == ((0,), (3,))  # A1-B3, and A2-B4: neither switch is shared
    assert found.gap == pytest.approx(0, abs=1e-6)
    # With two paths each the first flow takes both ways, and the second finds no better ones.
    assert smallest_price(figure_2(2), ProportionalFairness()).gap == pytest.approx(0, abs=1e-6)


def test_flows_join_by_the_prices_of_those_before_them() -> None:
    # A logarithm's price is flows / capacity: 1 on the first link, then 1/3, 2/3 on the second.
    problem = one_link_each([GIGA, 3 * GIGA], 4)
    found = smallest_price(problem, ProportionalFairness())
    assert found.chosen == ((0,), (1,), (1,), (1,))
    assert found.allocation.totals_bps == pytest.approx([GIGA] * 4)
    # Flow 3 comes first, and begins with its candidate 3 mod 2.
    found = smallest_price(problem, ProportionalFairness(), order=[3, 2, 1, 0])
    assert found.chosen == ((1,), (1,), (0,), (1,))


def test_a_path_s_price_counts_its_delay() -> None:
    # The second link has half of the first one's price and three times its delay.
    alone = [Flow([Subflow([link], 1e-3)]) for link in (0, 1)]
    chooses = Flow([Subflow([0], 1e-3), Subflow([1], 3e-3)])
    problem = RoutingProblem(AllocationProblem([GIGA, 2 * GIGA], [*alone, chooses]), 1)
    assert smallest_price(problem, DelayWeighted()).chosen[2] == (0,)
    assert smallest_price(problem, ProportionalFairness()).chosen[2] == (1,)


def test_links_that_are_not_full_look_free() -> None:
    # Each of three flows has at most 0.6 Gbps. With the third the first link has 1.2 Gbps to carry
    # and the third link nothing: no link was full before, so no price told the third flow.
    flows = [
        Flow([Subflow([0], 1e-3), Subflow([1], 1e-3)], 0.6 * GIGA),
        Flow([Subflow([2], 1e-3)], 0.6 * GIGA),
        Flow([Subflow([0], 1e-3), Subflow([1], 1e-3)], 0.6 * GIGA),
    ]
    problem = RoutingProblem(AllocationProblem([GIGA] * 3, flows), 1)
    utility = ProportionalFairness()
    found = smallest_price(problem, utility)
    assert found.chosen == ((0,), (0,), (0,))
    assert found.allocation.totals_bps == pytest.approx([0.5 * GIGA, 0.6 * GIGA, 0.5 * GIGA])
    # ECMP has that in half of its choices only: here its mean is better.
    by_hash = [
        judge(problem, utility, [[one], [0], [other]]).allocation.objective
        for one, other in itertools.product((0, 1), repeat=2)
    ]
    assert np.mean(by_hash) > found.allocation.objective + 0.1


def smallest_and_by_hash(
    pairs: list[tuple[int, int]], paths: int, seed: int
) -> tuple[Routing, list[Allocation]]:
    """The choice by smallest price on a fat-tree, and what eight choices by ECMP are worth."""
    candidates = small_fat_tree.candidates(pairs)
    problem, utility = RoutingProblem(candidates, paths), ProportionalFairness()
    generator = np.random.default_rng(seed)

    def by_hash() -> Allocation:
        numbers = [len(flow.subflows) for flow in candidates.flows]
        chosen = [{*generator.integers(number, size=paths).tolist()} for number in numbers]
        return judge(problem, utility, [[*own] for own in chosen]).allocation

    found = smallest_price(problem, utility)
    assert found.gap >= -1e-6
    return found, [by_hash() for _ in range(8)]


@pytest.mark.parametrize("paths", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_smallest_prices_beat_ecmp_in_a_permutation(paths: int, seed: int) -> None:
    """In the mean over its choices: with two subflows a lucky one may be as good."""
    found, others = smallest_and_by_hash(small_fat_tree.permutation(seed), paths, seed)
    assert found.allocation.objective > np.mean([each.objective for each in others])
    assert found.allocation.totals_bps.sum() > np.mean([each.totals_bps.sum() for each in others])


@pytest.mark.parametrize("paths", [1, 2])
def test_smallest_prices_beat_ecmp_between_random_pairs(paths: int) -> None:
    """In the mean over some: a price of zero tells nothing of links that are not full yet."""
    gains = [
        found.allocation.objective - np.mean([each.objective for each in others])
        for seed in range(1, 5)
        for found, others in [smallest_and_by_hash(small_fat_tree.random_pairs(seed), paths, seed)]
    ]
    assert np.mean(gains) > 0


@st.composite
def problems(draw: st.DrawFn) -> RoutingProblem:
    links = draw(st.integers(2, 6))
    capacities = draw(
        st.lists(st.sampled_from([1e8, 4e8, 1e9, 2.5e9]), min_size=links, max_size=links)
    )
    path = st.lists(st.integers(0, links - 1), min_size=1, max_size=3, unique=True)
    subflow = st.builds(Subflow, path, st.floats(1e-4, 1e-3))
    flow = st.lists(subflow, min_size=1, max_size=3).map(Flow)
    flows = draw(st.lists(flow, min_size=1, max_size=3))
    return RoutingProblem(
        AllocationProblem(capacities, flows),
        draw(st.lists(st.integers(1, 2), min_size=len(flows), max_size=len(flows))),
    )


@settings(max_examples=8, derandomize=True, deadline=None, database=None)
@given(problems(), st.sampled_from([ProportionalFairness(), DelayWeighted(), Xmp(), Eutcp()]))
def test_relaxation_bounds_enumeration_bounds_every_choice(
    problem: RoutingProblem, utility: ProportionalFairness | DelayWeighted | Xmp | Eutcp
) -> None:
    bound = relax(problem, utility).objective
    best = enumerate_paths(problem, utility)
    rounded = round_up(problem, utility)
    sequential = smallest_price(problem, utility)
    slack = 1e-6 * (1 + abs(bound))
    assert best.bound == pytest.approx(bound)
    assert best.allocation.objective <= bound + slack
    assert rounded.allocation.objective <= best.allocation.objective + slack
    assert sequential.allocation.objective <= best.allocation.objective + slack
    for routing in (best, rounded, sequential):
        for flow, chosen in enumerate(routing.chosen):
            assert len(chosen) <= problem.most(flow)
            unused = set(range(len(routing.allocation.of_flow(flow)))) - set(chosen)
            assert all(routing.allocation.of_flow(flow)[path] == 0 for path in unused)
    first = judge(problem, utility, [(0,) for _ in problem.candidates.flows])
    assert first.allocation.objective <= best.allocation.objective + slack


def test_the_delays_are_those_of_all_candidates() -> None:
    # Alone on the slower path it still counts for half.
    candidates = AllocationProblem(
        [GIGA, 3 * GIGA], [Flow([Subflow([0], 1e-3), Subflow([1], 2e-3)])]
    )
    best = enumerate_paths(RoutingProblem(candidates, 1), DelayWeighted())
    assert best.chosen == ((1,),)
    assert best.allocation.objective == pytest.approx(math.log(1.5 * GIGA / PACKET_BITS))
    assert best.bound == pytest.approx(math.log(2.5 * GIGA / PACKET_BITS))


def test_dead_paths_are_not_chosen() -> None:
    candidates = AllocationProblem(
        [0, GIGA, GIGA], [Flow([Subflow([link], 1e-3) for link in range(3)])]
    )
    for choose in (round_up, smallest_price, enumerate_paths):
        found = choose(RoutingProblem(candidates, 2), ProportionalFairness())
        assert found.chosen == ((1, 2),)


def test_enough_paths_are_the_allocation_problem() -> None:
    problem = figure_2(4)
    same = solve(problem.candidates, Xmp())
    assert enumerate_paths(problem, Xmp()).allocation.objective == pytest.approx(same.objective)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="there are 36 combinations of paths, and the limit is 35"):
        enumerate_paths(figure_2(2), Tcp(), limit=35)
    with pytest.raises(InputError, match="there are 2 flows to join one by one; the limit is 1"):
        smallest_price(figure_2(2), Tcp(), limit=1)
    with pytest.raises(InputError, match="the order must have each of the 2 flows once"):
        smallest_price(figure_2(2), Tcp(), order=[0, 0])
    with pytest.raises(InputError, match="WUTCP's utility depends on the number of subflows"):
        relax(figure_2(2), Wutcp())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="max-min is not a sum"):
        relax(figure_2(2), MaxMin())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="3 numbers of paths for 2 flows"):
        RoutingProblem(figure_2(1).candidates, [1, 1, 1])
    with pytest.raises(InputError, match="flow 1 may use 0 paths"):
        RoutingProblem(figure_2(1).candidates, [1, 0])
    with pytest.raises(InputError, match="flow 1 has no candidate path 4; it has 4"):
        judge(figure_2(1), Tcp(), [[0], [4]])
    with pytest.raises(InputError, match="flow 0 may use 1 paths; 2 are chosen"):
        judge(figure_2(1), Tcp(), [[0, 1], [1]])
    with pytest.raises(InputError, match="the paths of 1 flows are chosen; there are 2"):
        judge(figure_2(1), Tcp(), [[0]])
    with pytest.raises(InputError, match="flow 0 has no path with capacity"):
        judge(figure_2(1), ProportionalFairness(), [[], [0]])
