"""What is counted rather than simulated, and what is read from recorded series."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import theory

if TYPE_CHECKING:
    from network import Measured

    from pathweave.optimum import AllocationProblem


def xmp_proposition_1() -> dict[str, float]:
    """If p_r < U'(y), delta_r grows at the next step; and the other way round.

    Rates are those that BOS converges to with delta_r: x_r = beta delta_r (1 - p_r) / (T_r p_r).
    """
    draw = np.random.default_rng(1)
    wrong = 0
    for _ in range(10_000):
        paths, beta = int(draw.integers(2, 6)), float(draw.integers(2, 9))
        rtt = draw.uniform(1e-4, 1e-2, paths)
        delta = draw.uniform(0.01, 3, paths)
        p = draw.uniform(0.001, 0.9, paths)
        x = beta * delta * (1 - p) / (rtt * p)
        y, least = x.sum(), rtt.min()
        slope = 1 / (1 + y * least / beta)
        after = rtt * x / (least * y)
        wrong += int(np.any((p < slope) != (after > delta)))
    return {"counterexamples of 10,000": wrong}


def dcm_inequality() -> dict[str, float]:
    """DCM's increase for a packet against AMP's, for random windows."""
    draw = np.random.default_rng(2)
    wrong = {"equal": 0, "unequal": 0}
    for name in wrong:
        for _ in range(10_000):
            paths = int(draw.integers(2, 9))
            window = draw.uniform(1, 100, paths)
            rtt = np.full(paths, 1e-3)
            if name == "unequal":
                rtt = draw.uniform(2e-3, 6e-3, paths)
            dcm, amp = theory.dcm_increase(window, rtt), theory.amp_increase(window, rtt)
            wrong[name] += int(np.any(dcm > amp * (1 + 1e-12)))
    return {f"counterexamples of 10,000, {name} RTTs": count for name, count in wrong.items()}


def _random_problem(
    draw: np.random.Generator, flows: int, paths: int
) -> tuple[AllocationProblem, np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Capacities, and by flow which links its paths cross and their RTTs."""
    from pathweave.optimum import AllocationProblem, Flow, Subflow

    links = 5
    capacity = draw.uniform(0.5e9, 2e9, links)
    crossed: list[np.ndarray] = []
    rtts: list[np.ndarray] = []
    made: list[Flow] = []
    for _ in range(flows):
        matrix = np.zeros((paths, links))
        for path in range(paths):
            matrix[path, draw.choice(links, int(draw.integers(1, 3)), replace=False)] = 1
        rtt = draw.uniform(1e-3, 3e-3, paths)
        crossed.append(matrix)
        rtts.append(rtt)
        made.append(
            Flow(
                [
                    Subflow([int(link) for link in np.flatnonzero(row)], float(tau))
                    for row, tau in zip(matrix, rtt, strict=True)
                ]
            )
        )
    return AllocationProblem([float(c) for c in capacity], made), capacity, crossed, rtts


def fmptcp_proposition_1() -> dict[str, float]:
    """Only paths of the smallest price tau_j q_j carry traffic, and U'(Y) is that price over T.

    q_j comes from the solver's prices of links.
    """
    from pathweave.optimum import DelayWeighted, solve

    draw = np.random.default_rng(3)
    wrong = 0
    for _ in range(60):
        problem, _, crossed, rtts = _random_problem(draw, 4, 3)
        found = solve(problem, DelayWeighted())
        at, bad = 0, False
        for matrix, rtt in zip(crossed, rtts, strict=True):
            rates = np.array(found.rates_bps[at : at + len(rtt)])
            at += len(rtt)
            price = rtt * (matrix @ np.asarray(found.prices))
            weighted = float((rates * rtt.min() / rtt).sum())
            least = float(price.min())
            used = rates > 1e-4 * rates.sum()
            bad |= bool(np.any(price[used] > least * (1 + 1e-4)))
            bad |= abs(least / rtt.min() * weighted - 1) > 1e-4
        wrong += int(bad)
    return {"counterexamples of 60 networks": wrong}


def fmptcp_proposition_2() -> dict[str, float]:
    """The paths that the optimum under ||x_k||_0 <= n_k uses are an optimal routing.

    That optimum is found by SciPy's SLSQP on every choice of paths, the best routing by the
    enumeration of `pathweave.optimum`.
    """
    from scipy.optimize import minimize

    from pathweave.optimum import DelayWeighted, RoutingProblem, enumerate_paths, judge

    draw = np.random.default_rng(4)
    wrong, flows, paths, most = 0, 2, 3, 2
    for _ in range(12):
        problem, capacity, crossed, rtts = _random_problem(draw, flows, paths)
        links = np.vstack(crossed)
        weights = np.concatenate([rtt.min() / rtt for rtt in rtts])
        owner = np.repeat(np.arange(flows), paths)

        def worst(x: np.ndarray, weights: np.ndarray = weights, owner: np.ndarray = owner) -> float:
            weighted = np.bincount(owner, weights * x, flows)
            return -float(np.log(np.maximum(weighted, 1e-9)).sum())

        best, best_rates = np.inf, np.zeros(flows * paths)
        choices = [c for n in (1, most) for c in itertools.combinations(range(paths), n)]
        for chosen in itertools.product(choices, repeat=flows):
            open_paths = np.zeros(flows * paths, dtype=bool)
            for flow, own in enumerate(chosen):
                open_paths[[flow * paths + path for path in own]] = True
            found = minimize(
                worst,
                np.where(open_paths, 0.05, 0.0),
                method="SLSQP",
                bounds=[(0, 5.0 if is_open else 0.0) for is_open in open_paths],
                constraints={
                    "type": "ineq",
                    "fun": lambda x, links=links, capacity=capacity: capacity / 1e9 - links.T @ x,
                },
                options={"maxiter": 200, "ftol": 1e-10},
            )
            if found.success and found.fun < best - 1e-9:
                best, best_rates = float(found.fun), np.array(found.x)
        support = tuple(
            tuple(int(path) for path in np.flatnonzero(best_rates[owner == flow] > 1e-4))
            for flow in range(flows)
        )
        routing = RoutingProblem(problem, most)
        optimal = enumerate_paths(routing, DelayWeighted())
        ours = judge(routing, DelayWeighted(), support)
        wrong += int(abs(ours.allocation.objective - optimal.allocation.objective) > 1e-4)
    return {"counterexamples of 12 networks": wrong}


def _series(m: Measured, group: str) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the windows of the subflows of a group's only flow."""
    flow = m.results.flows.filter(pl.col("group") == group)["id"].item()
    frame = (
        m.results.windows.filter(pl.col("flow") == flow)
        .pivot("subflow", index="time_s", values="window_packets")
        .drop_nulls()
        .sort("time_s")
    )
    windows = frame.select(pl.exclude("time_s")).to_numpy()
    return frame["time_s"].to_numpy(), windows


def share_of_second(m: Measured, start: float, end: float) -> float:
    """Mean of the second subflow's window over the sum, with equal RTTs its delta, in a time."""
    times, windows = _series(m, "multipath")
    inside = (times >= start) & (times < end)
    return float((windows[inside, 1] / windows[inside].sum(axis=1)).mean())


def grown(m: Measured, group: str, start: float) -> float:
    """By how much the sum of a flow's windows grew from `start` to the end."""
    times, windows = _series(m, group)
    sums = windows.sum(axis=1)
    return float(sums[-1] - sums[np.searchsorted(times, start)])


def suspended(m: Measured) -> float:
    """Share of the measured time that subflow 1 of the multipath flow is suspended."""
    flow = m.results.flows.filter(pl.col("group") == "multipath")["id"].item()
    ends = m.results.runs["ended_s"].item()
    start = ends - m.seconds
    events = m.results.table("suspensions")
    if events.is_empty():
        return 0.0
    events = events.filter((pl.col("flow") == flow) & (pl.col("subflow") == 1)).sort("time_s")
    total, since = 0.0, None
    for row in events.iter_rows(named=True):
        if row["suspended"] and since is None:
            since = row["time_s"]
        elif not row["suspended"] and since is not None:
            total += max(0.0, row["time_s"] - max(since, start))
            since = None
    if since is not None:
        total += ends - max(since, start)
    return total / m.seconds
