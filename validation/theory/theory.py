"""Closed forms and small systems of equations: where each controller should settle.

Windows w are in packets, rates x in packets/s, base RTTs tau in seconds, y is the sum of a
connection's rates, p the probability that a round (or a packet, where it says so) meets congestion.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STOCHASTIC_RENO = 1.3098
"""Reno's mean window times the root of p, where each packet is lost by itself with a small p.

Ott, Kemperman and Mathis, "The stationary behavior of ideal TCP congestion avoidance", 1996. The
fluid balance w^2 = 2/p has 1.414.
"""


def xmp_marks(window: float, beta: float) -> float:
    """Share p of marked rounds: XMP paper, equation 3, with delta = 1 and the window at the cut."""
    return 1 / (1 + window / beta)


def eutcp_marks(total: float, gamma: float) -> float:
    """Share p of congested rounds with equal RTTs, `total` the sum of a connection's windows."""
    return 1 / (1 + gamma * total / 2)


def wutcp_marks(window: float, omega: float) -> float:
    """Share p of congested rounds of one subflow."""
    return 1 / (1 + window / (2 * omega))


def sawtooth_utilisation(bdp: float, k: float, beta: float) -> float:
    """Of a link with one window (or synchronous ones) that is cut by 1/beta at BDP + K.

    The window grows by a packet a round. A round takes the base RTT while the window is below the
    BDP, and the time of its packets on the link above it.
    """
    top = bdp + k
    bottom = top * (1 - 1 / beta)
    if bottom >= bdp:
        return 1.0
    sent = (top**2 - bottom**2) / 2
    room = bdp * (bdp - bottom) + (top**2 - bdp**2) / 2
    return sent / room


def dctcp_queue(bdp: float, k: float, flows: int) -> float:
    """Mean queue of synchronous flows: K + n less half the amplitude (DCTCP paper, section 3.3)."""
    return k + flows - math.sqrt(2 * flows * (bdp + k)) / 4


def dctcp_alpha(bdp: float, k: float, flows: int) -> float:
    """Share of marked packets: the root of 2 / w, w = (BDP + K) / n (DCTCP paper, section 3.3)."""
    return math.sqrt(2 * flows / (bdp + k))


def fcc_occupancy(flows: int, alpha_total: float, capacity: float) -> float:
    """Share of the queue where beta = alpha, for n single-path flows: n alpha_total / C."""
    return flows * alpha_total / capacity


def fcc_alpha_at_minimum(rtt: float, base_rtt: float, subflows: int) -> float:
    """alpha_r when all m windows of a connection are one packet and RTTs are equal."""
    return rtt / (subflows * base_rtt)


def balia_ratio(rho: float) -> float:
    """Largest rate over that of a subflow whose p tau^2 is rho times the best one's.

    From the balance of increase and cut, (1 + a)(4 + a) / (10 min(a, 1.5)) = rho, for a above 1.5.
    """
    return (-5 + math.sqrt(25 - 4 * (4 - 15 * rho))) / 2


def lia_ratio(losses: Sequence[float], rtts: Sequence[float]) -> float:
    """Rate of the first subflow over that of the second: w_r goes as 1/p_r."""
    return (losses[1] * rtts[1]) / (losses[0] * rtts[0])


def semicoupled_total(losses: Sequence[float], rtts: Sequence[float], gamma: float = 1.0) -> float:
    """Total y of EUTCP(gamma) where each packet is lost by itself: root of 2/gamma sum 1/(p tau^2).

    From 1/(tau_r y) = p_r gamma w_r / 2, which the increase and the cut of a packet balance at.
    """
    return math.sqrt(2 / gamma * sum(1 / (p * rtt**2) for p, rtt in zip(losses, rtts, strict=True)))


def reno_rate(loss: float, rtt: float) -> float:
    """The fluid balance of Reno."""
    return math.sqrt(2 / loss) / rtt


Matrix = tuple[tuple[float, float], tuple[float, float]]


def xmp_equals(rtts: tuple[float, float]) -> Matrix:
    """XMP's w_i = y T: the rates of BOS flows that see the prices of a multipath flow's paths."""
    return (
        (min(rtts) / rtts[0], min(rtts) / rtts[0]),
        (min(rtts) / rtts[1], min(rtts) / rtts[1]),
    )


def amp_equals(rtts: tuple[float, float]) -> Matrix:
    """AMP's w_i = W, the sum of its windows: the same, of single-path AMP or BOS."""
    return ((1.0, rtts[1] / rtts[0]), (rtts[0] / rtts[1], 1.0))


def eutcp_equals() -> Matrix:
    """EUTCP's p_i = 1/(1 + gamma tau_i y / 2): single-path flows have the same rate y on all paths.

    That holds for the rule as printed. The utility U_tcp with the mean RTT has `eutcp_solved`.
    """
    return ((1.0, 1.0), (1.0, 1.0))


def eutcp_solved(rtts: tuple[float, float]) -> Matrix:
    """What the optimum of EUTCP's utility has in their place: tau_i s_i = mean tau y."""
    mean = sum(rtts) / 2
    return ((mean / rtts[0], mean / rtts[0]), (mean / rtts[1], mean / rtts[1]))


def fcc_equals(rtts: tuple[float, float], multipath: float, singles: tuple[float, float]) -> Matrix:
    """FCC's beta = alpha, with everyone's alpha_total: s_i = (a_i / a) (tau_i / T) Y.

    Y is the sum of x_j T / tau_j, the rate that FMPTCP's equation 1 weights with delays.
    """

    def entry(i: int, j: int) -> float:
        return singles[i] / multipath * rtts[i] / rtts[j]

    return ((entry(0, 0), entry(0, 1)), (entry(1, 0), entry(1, 1)))


def wutcp_equals(omega: float) -> Matrix:
    """WUTCP's windows are to a TCP's as omega to 1: x_i = omega s_i on each path by itself."""
    return ((1 / omega, 0.0), (0.0, 1 / omega))


def two_paths(
    equals: Matrix,
    singles: tuple[int, int],
    multipath: int = 1,
    capacities: tuple[float, float] = (1.0, 1.0),
) -> tuple[float, float, float, float]:
    """Rates x_1, x_2 of each multipath flow, s_1, s_2 of each single-path flow.

    `singles[i]` flows have path i with the multipath ones. Prices settle where s_i = sum_j
    equals[i][j] x_j on each path that is used, and where a path costs more than the multipath
    flow would pay (s_i <= that sum) it is not used.
    """
    matrix = np.array(equals)
    capacity, counts = np.array(capacities), np.array(singles, dtype=float)
    for used in ([0, 1], [0], [1]):
        rates = np.zeros(2)
        rows = matrix[np.ix_(used, used)] * counts[used, None] + multipath * np.eye(len(used))
        rates[used] = np.linalg.solve(rows, capacity[used])
        single = (capacity - multipath * rates) / counts
        if np.all(rates >= -1e-9) and all(
            single[i] <= (matrix @ rates)[i] + 1e-9 for i in range(2) if i not in used
        ):
            return float(rates[0]), float(rates[1]), float(single[0]), float(single[1])
    raise ValueError(f"no equilibrium of {equals} beside {singles}")


def growth(
    change: Callable[[np.ndarray, np.ndarray], np.ndarray],
    rtts: Sequence[float],
    start: float,
    end: float,
    initial: float,
) -> float:
    """What the windows' sum grows by from `start` to `end` (s) without congestion.

    `change(w, tau)` is what an acknowledged packet adds to each window.
    """
    tau = np.array(rtts)
    window = np.full(len(tau), initial)
    step, now, before = 1e-4, 0.0, 0.0
    while now < end:
        if now < start:
            before = float(window.sum())
        window = window + step * change(window, tau) * window / tau
        now += step
    return float(window.sum()) - before


def amp_increase(window: np.ndarray, _: np.ndarray) -> np.ndarray:
    """1 / w_total."""
    return np.full(len(window), 1 / window.sum())


def xmp_increase(window: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """delta_r / w_r = 1 / (y T)."""
    return np.full(len(window), 1 / ((window / tau).sum() * tau.min()))


def dcm_increase(window: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """LIA's min(a / w_total, 1 / w_r)."""
    coupled = (window / tau**2).max() / (window / tau).sum() ** 2
    return np.minimum(coupled, 1 / window)


def fcc_two_paths(
    rtts: tuple[float, float],
    alphas: tuple[float, float, float],
    singles: tuple[int, int],
    limit: int,
    capacity: float,
) -> tuple[float, float, float, float]:
    """FCC on two paths whose queues lengthen the RTTs.

    `alphas` are alpha_total of the multipath flow and of the single-path flows on either path; a
    queue holds limit alpha / s packets, s the rate of a single-path flow there.
    """
    now, rates = rtts, (0.0, 0.0, 1.0, 1.0)
    for _ in range(200):
        rates = two_paths(fcc_equals(now, alphas[0], alphas[1:]), singles)
        queues = [
            limit * alpha / (rate * capacity) / capacity
            for alpha, rate in zip(alphas[1:], rates[2:], strict=True)
        ]
        # Half a step, because rates swing otherwise.
        now = (
            (now[0] + rtts[0] + queues[0]) / 2,
            (now[1] + rtts[1] + queues[1]) / 2,
        )
    return rates
