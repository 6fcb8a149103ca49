"""The optimum on one link, against the closed form or the bisection of its price."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimum_oracles import PACKET_BITS, alpha_fair, on_one_link, reno, shares, tcp, xmp
from pathweave.optimum import (
    Allocation,
    AlphaFairness,
    Concave,
    DelayWeighted,
    Eutcp,
    MaxMin,
    ProportionalFairness,
    Tcp,
    Utility,
    Wutcp,
    Xmp,
    solve,
)

cases = settings(max_examples=15, deadline=None)
capacity = st.floats(1e6, 1e11)
rtt = st.floats(2e-5, 2e-2)
rtts = st.lists(rtt, min_size=1, max_size=6)


def totals(found: Allocation) -> list[float]:
    assert found.status == "optimal"
    assert found.residuals.worst <= 1e-6
    return [float(total) / PACKET_BITS for total in found.totals_bps]


def check(capacity_bps: float, own: list[list[float]], utility: Utility, *demands: object) -> None:
    found = totals(solve(on_one_link(capacity_bps, own), utility))
    expected = shares(capacity_bps / PACKET_BITS, demands)  # pyright: ignore[reportArgumentType]
    assert found == pytest.approx(expected, rel=1e-6)


@cases
@given(
    capacity,
    st.lists(st.integers(1, 4), min_size=1, max_size=6),
    st.sampled_from(
        [ProportionalFairness(), AlphaFairness(0.5), AlphaFairness(3.0), Xmp(), Tcp(), MaxMin()]
    ),
)
def test_equal_flows_share_equally_whatever_their_subflows(
    capacity_bps: float, subflows: list[int], utility: Utility
) -> None:
    found = solve(on_one_link(capacity_bps, [[1e-3] * number for number in subflows]), utility)
    assert found.status == "optimal"
    assert found.totals_bps == pytest.approx([capacity_bps / len(subflows)] * len(subflows))
    # One split of several is as good as another: the most even one is taken.
    assert found.split_unique == (max(subflows) == 1)
    for flow, number in enumerate(subflows):
        share = found.totals_bps[flow] / number
        assert found.of_flow(flow) == pytest.approx([share] * number, rel=1e-6)


@cases
@given(capacity, st.lists(st.floats(0.25, 4), min_size=2, max_size=5))
def test_flows_of_different_alpha(capacity_bps: float, alphas: list[float]) -> None:
    found = solve(
        on_one_link(capacity_bps, [[1e-3]] * len(alphas)), [AlphaFairness(a) for a in alphas]
    )
    expected = shares(capacity_bps / PACKET_BITS, [alpha_fair(a) for a in alphas])
    # A flow may have next to nothing of the link: its error counts against the link.
    assert totals(found) == pytest.approx(expected, rel=1e-6, abs=1e-6 * sum(expected))


@cases
@given(capacity, rtts, st.floats(0.25, 4))
def test_weights_share_a_link_by_their_power_of_1_over_alpha(
    capacity_bps: float, own: list[float], alpha: float
) -> None:
    """weight y^-alpha is the same for all flows; FCC's weight is 1 / RTT."""
    found = solve(on_one_link(capacity_bps, [[tau] for tau in own]), DelayWeighted(alpha, "1/T"))
    parts = [tau ** (-1 / alpha) for tau in own]
    expected = [part / sum(parts) * capacity_bps / PACKET_BITS for part in parts]
    assert totals(found) == pytest.approx(expected, rel=1e-6, abs=1e-6 * sum(expected))


@cases
@given(capacity, rtts, st.floats(2, 8))
def test_xmp(capacity_bps: float, own: list[float], beta: float) -> None:
    check(capacity_bps, [[tau] for tau in own], Xmp(beta), *(xmp(beta, tau) for tau in own))


@cases
@given(capacity, rtts)
def test_tcp_is_reno(capacity_bps: float, own: list[float]) -> None:
    check(capacity_bps, [[tau] for tau in own], Tcp(), *(reno(tau) for tau in own))


@cases
@given(capacity, st.floats(1, 1e6), st.floats(0.1, 1e4), st.integers(1, 4))
def test_tcp_with_given_mu_and_b_beside_reno(
    capacity_bps: float, mu: float, b: float, others: int
) -> None:
    utilities: list[Concave] = [Tcp(mu, b), *(Tcp() for _ in range(others))]
    problem = on_one_link(capacity_bps, [[1e-3]] * (1 + others))
    found = totals(solve(problem, utilities))
    expected = shares(capacity_bps / PACKET_BITS, [tcp(mu, b)] + [reno(1e-3)] * others)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6 * sum(expected))


@cases
@given(capacity, rtts, st.floats(1, 1.1))
def test_eutcp(capacity_bps: float, own: list[float], gamma: float) -> None:
    check(capacity_bps, [[tau] for tau in own], Eutcp(gamma), *(reno(tau, gamma) for tau in own))


@cases
@given(capacity, rtts)
def test_eutcp_takes_the_mean_rtt(capacity_bps: float, own: list[float]) -> None:
    problem = on_one_link(capacity_bps, [own, [1e-3]])
    expected = shares(
        capacity_bps / PACKET_BITS, [reno(math.fsum(own) / len(own), 1.05), reno(1e-3)]
    )
    assert totals(solve(problem, [Eutcp(1.05), Tcp()])) == pytest.approx(expected, rel=1e-6)


# Below 10 Mbps, six subflows of small weights have less than a packet per second, and the solver
# stops at 3e-9 of the link's rate and calls that inaccurate.
@cases
@given(st.floats(1e7, 1e11), rtts, st.sampled_from(["1/m", "1/m^2", "1/sqrt(m)", 0.7]))
def test_wutcp_has_a_tcp_of_weight_omega_on_each_subflow(
    capacity_bps: float, own: list[float], omega: object
) -> None:
    m = len(own)
    weight = {"1/m": 1 / m, "1/m^2": 1 / m**2, "1/sqrt(m)": 1 / math.sqrt(m), 0.7: 0.7}[omega]
    problem = on_one_link(capacity_bps, [own, [1e-3]])
    found = solve(problem, [Wutcp(omega), Tcp()])  # pyright: ignore[reportArgumentType]
    demands = [reno(tau, omega=weight) for tau in own] + [reno(1e-3)]
    expected = shares(capacity_bps / PACKET_BITS, demands)
    assert found.status == "optimal"
    whole = sum(expected)
    rates = found.rates_bps / PACKET_BITS
    assert rates == pytest.approx(expected, rel=1e-6, abs=1e-9 * whole)


def test_wutcp_comes_near_omega_of_a_tcp_as_windows_grow() -> None:
    """U_tcp is nearly a logarithm, of which weighted flows would have shares like their weights."""

    def ratio(capacity_bps: float, subflows: int, tcps: int) -> float:
        problem = on_one_link(capacity_bps, [[4e-3] * subflows] + [[4e-3]] * tcps)
        rates = solve(problem, [Wutcp(0.5), *[Tcp()] * tcps]).rates_bps
        assert rates[:subflows] == pytest.approx([rates[0]] * subflows, rel=1e-6)
        return float(rates[0] / rates[-1])

    assert ratio(1024e6, 1, 1) == pytest.approx(0.498, abs=5e-4)
    assert ratio(1024e6, 16, 16) == pytest.approx(0.468, abs=5e-4)
    for flows in ((1, 1), (1, 16), (16, 1), (16, 16)):
        slow, middle, fast = (ratio(rate, *flows) for rate in (64e6, 1024e6, 16384e6))
        assert slow < middle < fast < 0.5
        assert fast == pytest.approx(0.5, rel=5e-3)


@cases
@given(capacity, st.lists(rtt, min_size=2, max_size=4, unique=True), st.floats(0.5, 3))
def test_delay_weighted_sends_all_on_the_path_of_least_delay(
    capacity_bps: float, own: list[float], alpha: float
) -> None:
    found = solve(on_one_link(capacity_bps, [own, own[:1]]), DelayWeighted(alpha))
    fastest = int(np.argmin(own))
    expected = np.zeros(len(own))
    expected[fastest] = capacity_bps / 2
    gaps = sorted(min(own) / tau for tau in own)
    if gaps[-2] < 1 - 1e-4:  # else the two are as good as equal
        assert found.of_flow(0) == pytest.approx(expected, rel=1e-6, abs=1e-6 * capacity_bps)
    assert found.weighted_totals_bps == pytest.approx([capacity_bps / 2] * 2, rel=1e-6)


def test_delay_weighted_counts_a_path_by_its_delay() -> None:
    # 1 Gbps at 1 ms and 1 Gbps at 2 ms, alone: 1 + 1/2.
    from pathweave.optimum import AllocationProblem, Flow, Subflow

    problem = AllocationProblem([1e9, 1e9], [Flow([Subflow([0], 1e-3), Subflow([1], 2e-3)])])
    found = solve(problem, DelayWeighted())
    assert found.totals_bps == pytest.approx([2e9])
    assert found.weighted_totals_bps == pytest.approx([1.5e9])
    assert found.objective == pytest.approx(math.log(1.5e9 / PACKET_BITS))


@cases
@given(capacity, st.lists(st.floats(0.01, 1), min_size=2, max_size=6))
def test_limits_count_like_links(capacity_bps: float, limits: list[float]) -> None:
    """Proportional fairness on one link with limits is filling up, smallest limit first."""
    from pathweave.optimum import AllocationProblem, Flow, Subflow

    flows = [Flow([Subflow([0], 1e-3)], limit_bps=share * capacity_bps) for share in limits]
    flows.append(Flow([Subflow([0], 1e-3)]))
    left, expected = 1.0, {}
    for count, (share, index) in enumerate(
        sorted((share, index) for index, share in enumerate(limits))
    ):
        expected[index] = min(share, left / (len(flows) - count))
        left -= expected[index]
    expected[len(limits)] = left
    for utility in (ProportionalFairness(), MaxMin()):
        found = solve(AllocationProblem([capacity_bps], flows), utility)
        assert found.status == "optimal"
        wanted = [expected[index] * capacity_bps for index in range(len(flows))]
        assert found.totals_bps == pytest.approx(wanted, rel=1e-6)
