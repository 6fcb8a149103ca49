"""The EUTCP paper's fluid laws, integrated, against its equations and the optimum.

Equations 3 and 4: a subflow's rate changes by z (f - congestion), f = 1 - exp(-dU/dx), and z is any
positive function. Rates are in packets/s, mu = 1/tau^2 and beta = 1/(2 tau), as docs/optimum.md has
it; tau is the mean RTT of a flow's subflows for utilities of its sum. The paper's feedback is one
bit for a path; where links have prices instead, that is our own completion of the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from optimum_oracles import PACKET_BITS, reno, shares
from pathweave.optimum import (
    AllocationProblem,
    Concave,
    Eutcp,
    Flow,
    Subflow,
    Tcp,
    Wutcp,
    solve,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Function = Callable[[Vector], Vector]

TAU = 1e-3
MU, BETA = 1 / TAU**2, 1 / (2 * TAU)
ALPHA = 2 * BETA
rate = st.floats(0.1 / TAU, 1e4 / TAU)
gammas = st.floats(1.01, 1.9)
omegas = st.floats(0.1, 1.0)


def u_tcp_slope(x: float, mu: float = MU, beta: float = BETA) -> float:
    """U_tcp' = log((mu + beta x) / (beta x)), of equation 7."""
    return math.log1p(mu / (beta * x))


def law(z: float, slope: float) -> tuple[float, float]:
    """Equations 3 and 4: the change without congestion, and with it."""
    f = -math.expm1(-slope)
    return z * f, z * (f - 1)


# What the paper derives from the law.


@given(rate)
def test_slow_start_is_that_of_equation_9(x: float) -> None:
    """Equations 5 and 6, exactly."""
    change = law((ALPHA + BETA) * x, math.log1p(ALPHA / BETA))
    assert change == pytest.approx((ALPHA * x, -BETA * x))


@given(rate)
def test_congestion_avoidance_is_that_of_equation_10(x: float) -> None:
    """Equations 7 and 8, exactly: beta x need not be much larger than mu."""
    assert law(MU + BETA * x, u_tcp_slope(x)) == pytest.approx((MU, -BETA * x))


def equation_18(own: float, total: float, gamma: float) -> tuple[float, float]:
    """As printed, for one gamma."""
    share = (MU + BETA * gamma * own) / (MU + BETA * gamma * total)
    return share * MU, -share * BETA * gamma * total


def of_scaled_sum(own: float, total: float, gamma: float) -> tuple[float, float]:
    """Equations 15 and 16, for one gamma, put into 3 and 4."""
    return law(MU + BETA * gamma * own, gamma * u_tcp_slope(gamma * total))


@given(rate, rate)
def test_equation_18_follows_from_15_and_16_for_a_gamma_of_1(own: float, other: float) -> None:
    change = of_scaled_sum(own, own + other, 1.0)
    assert change == pytest.approx(equation_18(own, own + other, 1.0))


@given(rate, rate, gammas)
def test_equation_18_has_lost_an_exponent(own: float, other: float, gamma: float) -> None:
    """With congestion z (beta gamma x / (mu + beta gamma x))^gamma is lost, not its first power."""
    total = own + other
    part = BETA * gamma * total / (MU + BETA * gamma * total)
    z = MU + BETA * gamma * own
    change = of_scaled_sum(own, total, gamma)
    assert change == pytest.approx((z * (1 - part**gamma), -z * part**gamma))
    printed = equation_18(own, total, gamma)
    assert printed == pytest.approx((z * (1 - part), -z * part))
    assert change[0] > printed[0]
    # It is what U_tcp(gamma y) / gamma gives, with the z of equation 16.
    assert printed == pytest.approx(law(z, u_tcp_slope(gamma * total)))


@given(rate, gammas)
def test_equation_17_has_lost_it_too(x: float, gamma: float) -> None:
    """In slow start 3 beta gamma x (1 - 3^-gamma) is added; alpha gamma x, printed, is less."""
    change = law((ALPHA + BETA) * gamma * x, gamma * math.log1p(ALPHA / BETA))
    assert change[0] == pytest.approx(3 * BETA * gamma * x * (1 - 3**-gamma))
    assert change[1] == pytest.approx(-3 * BETA * gamma * x * 3**-gamma)
    assert change[0] > ALPHA * gamma * x
    assert law((ALPHA + BETA) * x, math.log(3)) == pytest.approx((ALPHA * x, -BETA * x))


def test_equation_19_cuts_the_subflow_s_own_rate() -> None:
    """Equation 18 of long windows: (x_l / x) mu is added, and beta gamma x_l cut; 19 prints x."""
    own, total, gamma = 2e5 / TAU, 8e5 / TAU, 1.1
    expected = (own / total * MU, -BETA * gamma * own)
    assert equation_18(own, total, gamma) == pytest.approx(expected, rel=1e-4)


@given(rate, omegas)
def test_weights_give_equations_24_and_25(x: float, omega: float) -> None:
    slow_start = law((ALPHA + BETA) * x, omega * math.log1p(ALPHA / BETA))
    assert slow_start == pytest.approx(
        (1.5 * (1 - 3**-omega) * ALPHA * x, -(3 ** (1 - omega)) * BETA * x)
    )
    part = BETA * x / (MU + BETA * x)
    change = law(MU + BETA * x, omega * u_tcp_slope(x))
    assert change == pytest.approx(
        ((1 - part**omega) * (MU + BETA * x), -(part**omega) * (MU + BETA * x))
    )


@given(st.floats(1e4 / TAU, 1e6 / TAU), omegas)
def test_equation_25_of_long_windows_is_26(x: float, omega: float) -> None:
    change = law(MU + BETA * x, omega * u_tcp_slope(x))
    assert change == pytest.approx((omega * MU, -BETA * x), rel=1e-3)


# Where the law settles.


class Fluid:
    """Rates of the subflows of a problem under the law."""

    def __init__(self, problem: AllocationProblem, utility: Concave, *, plain_z: bool) -> None:
        """The z of the paper, or with `plain_z` one that it does not name."""
        subflows = [subflow for flow in problem.flows for subflow in flow.subflows]
        self.capacity = np.array(problem.capacities_bps) / PACKET_BITS
        self.crosses = np.zeros((len(self.capacity), len(subflows)))
        for at, subflow in enumerate(subflows):
            self.crosses[list(subflow.links), at] = 1.0
        flow_of = np.repeat(np.arange(len(problem.flows)), [len(f.subflows) for f in problem.flows])
        members = (flow_of[:, None] == flow_of).astype(float)
        own_rtt = np.array([subflow.rtt_s for subflow in subflows])
        multipath = members.sum(axis=0) > 1
        if isinstance(utility, Wutcp):
            self._sums = np.eye(len(subflows))
            tau = own_rtt
        else:
            self._sums = members
            tau = members @ own_rtt / members.sum(axis=0)
        gamma = utility.gamma if isinstance(utility, Eutcp) else 1.0
        omega = utility.omega if isinstance(utility, Wutcp) else 1.0
        assert isinstance(omega, float)
        self._gamma = np.where(multipath, gamma, 1.0)
        self._omega = np.where(multipath, omega, 1.0)
        self._mu, self._beta = 1 / tau**2, 1 / (2 * tau)
        self._plain_z = plain_z

    def change(self, x: Vector, free: Vector) -> Vector:
        """Equation 3, for the probabilities that no link of a path is congested."""
        with np.errstate(divide="ignore"):
            slope = np.log1p(self._mu / (self._beta * self._gamma * (self._sums @ x)))
        congested_in_balance = np.exp(-self._omega * slope)
        z = 3 * self._mu if self._plain_z else self._mu + self._beta * self._gamma * x
        change = z * (free - congested_in_balance)
        return np.where((x > 0) | (change > 0), change, 0.0)


def one_bit(fluid: Fluid, *, rounds: int, step: float = TAU / 50) -> Vector:
    """Mean rates over the last half, where a link is congested while its load is too high."""
    x = np.full(fluid.crosses.shape[1], 1 / TAU)
    steps = round(rounds * TAU / step)
    total = np.zeros_like(x)
    for number in range(steps):
        over = (fluid.crosses @ x > fluid.capacity).astype(float)
        free = (over @ fluid.crosses == 0).astype(float)
        x = np.maximum(x + step * fluid.change(x, free), 0.0)
        if number >= steps // 2:
            total += x
    return total / (steps - steps // 2)


def priced(fluid: Fluid, *, rounds: int) -> Vector:
    """Rates at the end, where links have prices: excess load raises -log of P(not congested)."""
    links, subflows = fluid.crosses.shape
    speed = 0.02 / TAU

    def change(_: float, state: Vector) -> Vector:
        x, price = np.maximum(state[:subflows], 0.0), state[subflows:]
        rise = speed * (fluid.crosses @ x / fluid.capacity - 1)
        rise = np.where((price > 0) | (rise > 0), rise, 0.0)
        return np.concatenate([fluid.change(x, np.exp(-(price @ fluid.crosses))), rise])

    start = np.concatenate([np.full(subflows, 1 / TAU), np.zeros(links)])
    found = solve_ivp(change, (0, rounds * TAU), start, method="LSODA", rtol=1e-7, atol=1e-9)
    assert found.success
    return found.y[:subflows, -1]


def flow(*paths: tuple[list[int], float]) -> Flow:
    return Flow([Subflow(links, rtt) for links, rtt in paths])


def capacities(*windows: float) -> list[float]:
    """In packets a TAU."""
    return [window / TAU * PACKET_BITS for window in windows]


SHARED = AllocationProblem(capacities(20), [flow(([0], TAU)), flow(([0], 2 * TAU))])
TWO_LINKS = AllocationProblem(capacities(10, 20), [flow(([0], TAU), ([1], TAU)), flow(([1], TAU))])
RTTS = AllocationProblem(
    capacities(20, 20),
    [flow(([0], TAU), ([1], 3 * TAU)), flow(([0], TAU)), flow(([1], 3 * TAU)), flow(([1], TAU))],
)
LINE = AllocationProblem(
    capacities(20, 12), [flow(([0, 1], TAU)), flow(([0], TAU)), flow(([1], TAU))]
)
NETWORKS = {"shared": SHARED, "two links": TWO_LINKS, "RTTs": RTTS, "line": LINE}
UTILITIES = [Tcp(), Eutcp(1.2), Wutcp(0.5)]


def optimum(problem: AllocationProblem, utility: Concave) -> Vector:
    """Rates (packets/s) if flows with several subflows have the utility, and the others TCP's."""
    alone = Wutcp(1.0)  # which is `Tcp` for one subflow
    utilities = [utility if len(each.subflows) > 1 else alone for each in problem.flows]
    return solve(problem, utilities).rates_bps / PACKET_BITS


@pytest.mark.parametrize("plain_z", [False, True], ids=["the paper's z", "another z"])
@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: type(utility).__name__)
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_with_prices_of_links_the_law_settles_at_the_optimum(
    network: AllocationProblem, utility: Concave, plain_z: bool
) -> None:
    """Whatever z is: for `Eutcp` that is equation 18 as printed, for `Wutcp` equation 25."""
    found = priced(Fluid(network, utility, plain_z=plain_z), rounds=20_000)
    assert found == pytest.approx(optimum(network, utility), rel=1e-6)


@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: type(utility).__name__)
def test_one_bit_of_feedback_is_enough_where_paths_have_one_full_link(utility: Concave) -> None:
    """Mean rates, whose error is of the order of a step."""
    found = one_bit(Fluid(TWO_LINKS, utility, plain_z=False), rounds=400)
    assert found == pytest.approx(optimum(TWO_LINKS, utility), rel=0.01)


@pytest.mark.parametrize("step", [TAU / 25, TAU / 100])
def test_one_bit_of_a_path_with_two_full_links_settles_elsewhere(step: float) -> None:
    """Links are then congested at the same moments, and the path meets no more than the worse one.

    The long flow has the rate of the short one on that link. At the optimum, where probabilities of
    no congestion multiply, it has less.
    """
    long, _, short = one_bit(Fluid(LINE, Tcp(), plain_z=False), rounds=100, step=step)
    assert long == pytest.approx(short, rel=1e-3)
    expected = optimum(LINE, Tcp())
    assert expected[0] < 0.65 * expected[2]


def test_rounds_of_different_length_are_not_the_mean_s() -> None:
    """Equations 20 and 21 have each subflow's own RTT: with two of them they settle elsewhere.

    A single-path flow has as much as the multipath flow in total, on either link and whatever its
    RTT. With the mean RTT, the optimum differs: `--utility controller` refuses EUTCP there.
    """
    network = AllocationProblem(
        capacities(20, 20),
        [flow(([0], TAU), ([1], 3 * TAU)), flow(([0], TAU)), flow(([1], 3 * TAU))],
    )
    tau = np.array([TAU, 3 * TAU, TAU, 3 * TAU])
    fluid = Fluid(network, Tcp(), plain_z=False)
    sums = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=float)

    def rule(x: Vector, free: Vector) -> Vector:
        return x / tau * (free / (tau * (sums @ x)) - (1 - free) / 2)

    fluid.change = rule
    found = priced(fluid, rounds=20_000)
    third = 20 / 3 / TAU
    assert found == pytest.approx(np.array([third, third, 2 * third, 2 * third]), rel=1e-6)
    assert optimum(network, Tcp())[0] < 0.5 * third


def test_equation_15_leaves_no_more_to_tcp_but_the_rule_does() -> None:
    """U_tcp is nearly a logarithm, in which a factor cancels: gamma of 1.05, 1024 Mbps and 4 ms."""
    capacity, tau, gamma = 1024e6 / PACKET_BITS, 4e-3, 1.05

    def of_equation_15(price: float) -> float:
        return reno(tau, gamma)(price / gamma)

    own, tcp = shares(capacity, [of_equation_15, reno(tau)])
    assert own / tcp == pytest.approx(1.0003, abs=5e-5)
    own, tcp = shares(capacity, [reno(tau, gamma), reno(tau)])
    assert own / tcp == pytest.approx(1 / gamma, rel=1e-6)
