"""The optimum on networks: optimality conditions, and allocations worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimum_oracles import PACKET_BITS, Marginal, assert_optimal, bisect, by_sum
from pathweave.optimum import (
    AllocationProblem,
    AlphaFairness,
    Concave,
    DelayWeighted,
    Eutcp,
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
from pathweave.optimum.follow import follow_loads
from pathweave.optimum.system import network_of, system_of
from pathweave.optimum.terms import terms_of

if TYPE_CHECKING:
    from pathweave.optimum.refine import Point

MEGA, GIGA = 1e6, 1e9
# The same networks in every run: about one in 2,000 is so degenerate that the answer is flagged.
FIXED = settings(derandomize=True, deadline=None, database=None)
RTT = 350e-6


def flow(*paths: Sequence[int], rtt_s: float = RTT) -> Flow:
    return Flow([Subflow(links, rtt_s) for links in paths])


def delays(own: Flow) -> list[float]:
    return [subflow.rtt_s for subflow in own.subflows]


def delay_weighted(own: Flow, weight: float = 1.0) -> Marginal:
    """Weighted proportional fairness of the sum of rates times (least delay) / delay."""
    taus = delays(own)
    weights = [min(taus) / tau for tau in taus]

    def of(rates: Sequence[float], number: int) -> float:
        seen = math.fsum(w * x for w, x in zip(weights, rates, strict=True))
        return weight * weights[number] / seen

    return Marginal(of)


def wutcp(own: Flow) -> Marginal:
    taus = delays(own)

    def of(rates: Sequence[float], number: int) -> float:
        x = max(rates[number], 1e-300)
        return math.log1p(2 / (taus[number] * x)) / len(taus)

    return Marginal(of)


def mean(own: Flow) -> float:
    return math.fsum(delays(own)) / len(own.subflows)


MARGINALS: list[tuple[Concave, Callable[[Flow], Marginal]]] = [
    (ProportionalFairness(), lambda _: by_sum(lambda y: 1 / y)),
    (AlphaFairness(0.5), lambda _: by_sum(lambda y: y**-0.5)),
    (AlphaFairness(2.0), lambda _: by_sum(lambda y: y**-2.0)),
    (DelayWeighted(), delay_weighted),
    (DelayWeighted(weight="1/T"), lambda own: delay_weighted(own, 1 / min(delays(own)))),
    (Xmp(4), lambda own: by_sum(lambda y: 1 / (1 + y * min(delays(own)) / 4))),
    (Tcp(), lambda own: by_sum(lambda y: math.log1p(2 / (mean(own) * y)))),
    (Eutcp(1.05), lambda own: by_sum(lambda y: math.log1p(2 / (1.05 * mean(own) * y)))),
    (Wutcp(), wutcp),
]


@st.composite
def networks(draw: st.DrawFn) -> AllocationProblem:
    links = draw(st.integers(1, 8))
    capacities = draw(st.lists(st.floats(0.1 * GIGA, 10 * GIGA), min_size=links, max_size=links))
    path = st.lists(st.integers(0, links - 1), min_size=1, max_size=4, unique=True)
    subflow = st.builds(Subflow, path, st.floats(1e-4, 2e-3))
    flows = st.lists(st.lists(subflow, min_size=1, max_size=4).map(Flow), min_size=1, max_size=8)
    return AllocationProblem(capacities, draw(flows))


@pytest.mark.parametrize(("utility", "marginal"), MARGINALS, ids=lambda case: str(case)[:14])
@settings(FIXED, max_examples=12)
@given(problem=networks())
def test_random_networks_meet_the_optimality_conditions(
    utility: Concave, marginal: Callable[[Flow], Marginal], problem: AllocationProblem
) -> None:
    found = solve(problem, utility)
    assert found.status == "optimal", found.residuals
    assert_optimal(problem, [marginal(own) for own in problem.flows], found)


@settings(FIXED, max_examples=25)
@given(problem=networks(), data=st.data())
def test_so_do_mixed_utilities(problem: AllocationProblem, data: st.DataObject) -> None:
    # Not alpha-fairness but for the logarithm: its unit is not that of the others.
    cases = [MARGINALS[at] for at in (0, 3, 4, 5, 6, 7, 8)]
    chosen = [data.draw(st.sampled_from(cases)) for _ in problem.flows]
    found = solve(problem, [utility for utility, _ in chosen])
    assert found.status == "optimal", found.residuals
    marginals = [marginal(own) for (_, marginal), own in zip(chosen, problem.flows, strict=True)]
    assert_optimal(problem, marginals, found)


@pytest.mark.parametrize("utility", [ProportionalFairness(), Xmp(), Tcp(), MaxMin()], ids=str)
def test_the_ring_shares_all_links_equally(utility: Utility) -> None:
    """XMP paper, Figure 7: five flows, each on a link and the next; 6 Gbps for five."""
    links = [0.8, 1.2, 2.0, 1.5, 0.5]
    flows = [flow([i], [(i + 1) % 5]) for i in range(5)]
    found = solve(AllocationProblem([rate * GIGA for rate in links], flows), utility)
    assert found.status == "optimal"
    assert found.totals_bps == pytest.approx([1.2 * GIGA] * 5, rel=1e-6)
    assert found.loads_bps == pytest.approx([rate * GIGA for rate in links], rel=1e-6)
    # What goes round the ring is open: t on the first subflow of flow 1 makes the first subflows
    # t, t, 0.8 + t, 1.1 + t, 0.4 + t, with 0 <= t <= 0.1. They would be as large as the second ones
    # at t = 0.14, so that 0.1 is the most even.
    assert found.split_unique is False
    assert any("other splits" in remark for remark in found.remarks)
    rates = [0.1, 1.1, 0.1, 1.1, 0.9, 0.3, 1.2, 0, 0.5, 0.7]
    assert found.rates_bps == pytest.approx(np.array(rates) * GIGA, rel=1e-6, abs=1e3)


@pytest.mark.parametrize("utility", [ProportionalFairness(), Xmp(), Tcp(), MaxMin()], ids=str)
@pytest.mark.parametrize("third", ["background", "down"])
def test_the_ring_avoids_its_third_link(utility: Utility, third: str) -> None:
    """Four flows that have no other path take all of it; the others have 0.8 of 4 Gbps each."""
    capacities = [0.8 * GIGA, 1.2 * GIGA, 2 * GIGA, 1.5 * GIGA, 0.5 * GIGA]
    flows = [flow([i], [(i + 1) % 5]) for i in range(5)]
    if third == "down":
        capacities[2] = 0.0
    else:
        flows += [flow([2])] * 4
    found = solve(AllocationProblem(capacities, flows), utility)
    assert found.status == "optimal"
    rates = [0.4, 0.4, 0.8, 0, 0, 0.8, 0.7, 0.1, 0.4, 0.4]
    assert found.split_unique is True
    assert found.rates_bps[:10] == pytest.approx(np.array(rates) * GIGA, rel=1e-5, abs=1e3)
    assert found.totals_bps[5:] == pytest.approx([0.5 * GIGA] * (len(flows) - 5))
    if found.prices is not None:
        assert math.isnan(found.prices[2]) == (third == "down")


def two_links(first: float, second: float, rtt_s: float = 1e-3) -> AllocationProblem:
    """EUTCP paper, Figure 2: flow 0 on both links, single-path flow 1 on the second."""
    flows = [flow([0], [1], rtt_s=rtt_s), flow([1], rtt_s=rtt_s)]
    return AllocationProblem([first, second], flows)


@pytest.mark.parametrize(
    "utility", [ProportionalFairness(), Tcp(), Eutcp(1.05), Xmp(), MaxMin()], ids=str
)
def test_two_equal_links_have_nothing_to_share(utility: Utility) -> None:
    """The paper's optimum for Figure 3: x11 = x2 = 1024 Mbps, x12 = 0."""
    found = solve(two_links(1024 * MEGA, 1024 * MEGA), utility)
    assert found.split_unique is True
    assert found.rates_bps == pytest.approx([1024 * MEGA, 0, 1024 * MEGA], rel=1e-6, abs=1e3)


def test_two_unequal_links_are_pooled() -> None:
    # 512 and 1024 Mbps are 1536 for two.
    found = solve(two_links(512 * MEGA, 1024 * MEGA), Tcp())
    assert found.rates_bps == pytest.approx(np.array([512, 256, 768]) * MEGA, rel=1e-6)


def test_a_slow_link_is_pooled_with_a_fast_one() -> None:
    """EUTCP's Figure 4: 8, 508 and 516 Mbps are those of EUTCP(1), and not of a larger gamma."""
    slow = two_links(8 * MEGA, 1024 * MEGA)
    assert solve(slow, Tcp()).rates_bps / MEGA == pytest.approx([8, 508, 516], rel=1e-6)
    found = solve(slow, [Eutcp(1.05), Tcp()])
    total = 1032 / 2.05
    assert found.rates_bps / MEGA == pytest.approx([8, total - 8, 1.05 * total], rel=1e-6)


def test_eutcp_leaves_more_to_tcp() -> None:
    # Equal marginal utilities are gamma y1 = y2 at equal delays; y1 + y2 = 1536 Mbps.
    found = solve(two_links(512 * MEGA, 1024 * MEGA), [Eutcp(1.05), Tcp()])
    total = 1536 * MEGA / 2.05
    assert found.totals_bps == pytest.approx([total, 1.05 * total], rel=1e-6)


def test_wutcp_pools_nothing() -> None:
    # The second link as if the first were not there: (1 + 2/(tau x12))^(1/2) = 1 + 2/(tau x2).
    found = solve(two_links(512 * MEGA, 1024 * MEGA), [Wutcp(), Tcp()])
    all_of_it = 1024 * MEGA / PACKET_BITS

    def over(x12: float) -> float:
        return (1 + 2 / (1e-3 * x12)) ** 0.5 - (1 + 2 / (1e-3 * (all_of_it - x12)))

    x12 = bisect(over, 1e-3, all_of_it * (1 - 1e-12)) * PACKET_BITS
    assert found.rates_bps == pytest.approx([512 * MEGA, x12, 1024 * MEGA - x12], rel=1e-6)


def fmptcp_figure_2() -> AllocationProblem:
    """Links S1-B1, S1-B2, S2-B1, S2-B2, B1-A1, B2-A2, A1-B3, A1-B4, A2-B4, B3-D1, B4-D1.

    MPTCP 1: S1-B1-A1-B3-D1, S1-B2-A2-B4-D1. MPTCP 2: S2-B1-A1-B4-D1, which shares B1-A1 and B4-D1
    as the text says, and S2-B2-A2-B4-D1.
    """
    return AllocationProblem(
        [GIGA] * 11,
        [flow([0, 4, 6, 9], [1, 5, 8, 10]), flow([2, 4, 7, 10], [3, 5, 8, 10])],
    )


def test_fmptcp_figure_2_has_two_gbps_to_share() -> None:
    for utility in (ProportionalFairness(), DelayWeighted(), Xmp(), Tcp(), MaxMin()):
        found = solve(fmptcp_figure_2(), utility)
        assert found.split_unique is True
        expected = np.array([1, 0, 0, 1]) * GIGA
        assert found.rates_bps == pytest.approx(expected, rel=1e-6, abs=1e3)


def test_fmptcp_figure_2_under_max_min_of_subflows_loses_a_third() -> None:
    found = solve(fmptcp_figure_2(), MaxMin(over="subflows"))
    assert found.rates_bps == pytest.approx(np.array([2, 1, 1, 1]) * GIGA / 3, rel=1e-9)
    assert found.totals_bps.sum() == pytest.approx(5 / 3 * GIGA)


def test_fmptcp_figure_2_under_max_min_of_subflows_with_a_path_over_b3() -> None:
    """MPTCP 2's first path is S2-B1-A1-B3-D1: two links are shared by halves."""
    problem = AllocationProblem(
        [GIGA] * 11,
        [flow([0, 4, 6, 9], [1, 5, 8, 10]), flow([2, 4, 6, 9], [3, 5, 8, 10])],
    )
    found = solve(problem, MaxMin(over="subflows"))
    assert found.rates_bps == pytest.approx(np.full(4, GIGA / 2), rel=1e-9)


def test_the_units_of_capacity_do_not_matter() -> None:
    small = solve(two_links(1e3, 3e3), ProportionalFairness()).rates_bps
    large = solve(two_links(1e12, 3e12), ProportionalFairness()).rates_bps
    assert large / 1e9 == pytest.approx(small, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("utility", "marginal"),
    [MARGINALS[0], MARGINALS[3]],
    ids=["from a solver's answer", "from prices that follow loads"],
)
@settings(FIXED, max_examples=15)
@given(problem=networks())
def test_large_problems_are_solved_by_their_part(
    utility: Concave, marginal: Callable[[Flow], Marginal], problem: AllocationProblem
) -> None:
    """The way of large problems, with the first answer too rough for the refinement."""

    def unchanged(*arguments: Any) -> Point:
        return arguments[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "LARGE", 0)
        patch.setattr(optimise, "refine", unchanged)
        found = solve(problem, utility, tolerance=1e-4)
    assert found.status == "optimal", found.residuals
    assert_optimal(problem, [marginal(own) for own in problem.flows], found, 1e-3)


@settings(FIXED, max_examples=40)
@given(problem=networks())
def test_prices_that_follow_loads_come_near_the_optimum(problem: AllocationProblem) -> None:
    totals, objective = terms_of(problem, [DelayWeighted()] * len(problem.flows))
    rates, _ = follow_loads(system_of(network_of(problem), totals, objective))
    optimum = solve(problem, DelayWeighted()).weighted_totals_bps / PACKET_BITS
    assert totals @ rates == pytest.approx(optimum, rel=0.05)
