"""Made-up results in the shape that the core gives them, for tests of everything behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Table = dict[str, Any]

BASE_MBPS = {"DCTCP": 513, "LIA-2": 400, "LIA-4": 627, "XMP-2": 644, "XMP-4": 735}
PATTERN = {"Permutation": 1.0, "Random": 0.78, "Incast": 0.75}
LOCATIONS = ("inter-pod", "inter-rack", "inner-rack")


@dataclass(frozen=True)
class Shape:
    """How much a made-up run holds."""

    flows: int = 200
    small: int = 0
    jobs: int = 0
    series: bool = False
    phases: bool = False
    duration_s: float = 2.0
    speed: float = 1.0


def generator(*parts: object) -> np.random.Generator:
    seed = [sum(ord(c) * 31**i for i, c in enumerate(str(part))) % 2**32 for part in parts]
    return np.random.default_rng(seed)


def tables(axes: dict[str, str], seed: int, shape: Shape) -> dict[str, Table]:
    scheme = axes.get("scheme", "DCTCP")
    pattern = axes.get("pattern", "Permutation")
    rng = generator(scheme, pattern, seed)
    subflows = subflow_count(scheme)
    mean = BASE_MBPS.get(scheme, 500) * PATTERN.get(pattern, 1.0) * 1e6 * shape.speed
    large = _flows(rng, shape, mean, subflows, scheme)
    parts = [large]
    if shape.small and pattern == "Incast":
        parts.append(_small(rng, shape, scheme))
    flows = _stack(parts)
    flows["id"] = np.arange(len(flows["group"]), dtype=np.int64)
    result = {
        "flows": {"id": flows.pop("id"), **flows},
        "subflows": _subflows(rng, large, subflows),
        "links": _links(rng, mean),
        "jobs": _jobs(rng, shape, scheme, pattern),
    }
    if shape.series:
        result |= _series(rng, shape, scheme)
    if shape.phases:
        result |= _phases(rng, flows)
    return result


def subflow_count(scheme: str) -> int:
    _, _, digits = scheme.rpartition("-")
    return int(digits) if digits.isdigit() else 1


def _flows(
    rng: np.random.Generator, shape: Shape, mean: float, subflows: int, scheme: str
) -> Table:
    n = shape.flows
    unlimited = n <= 8
    where = rng.integers(0, 3, n)
    goodput = np.clip(rng.normal(mean, mean * 0.25, n) * (1 + 0.2 * where), 1e6, 0.97e9)
    size = rng.integers(64_000_000, 512_000_000, n) // 10
    start = np.arange(n) * 5.0 if unlimited else rng.uniform(0, 1e-3, n)
    fct = size * 8 / goodput
    finished = np.full(n, not unlimited) & (rng.uniform(size=n) > 0.02)
    fct = np.where(finished, fct, np.nan)
    delivered = np.where(finished, size, size // 2)
    return {
        "group": ["large"] * n,
        "name": [f"Flow {i + 1}" if unlimited else f"large/{i}" for i in range(n)],
        "job": np.full(n, np.nan),
        "controller": [scheme.split("-", maxsplit=1)[0].lower()] * n,
        "subflows": np.full(n, subflows, dtype=np.int64),
        "source": [f"h{i}" for i in range(n)],
        "destination": [f"h{(i * 7 + 3) % max(n, 1)}" for i in range(n)],
        "location": [LOCATIONS[i] for i in where],
        "start_s": start,
        "end_s": start + fct,
        "size_bytes": np.full(n, np.nan) if unlimited else size.astype(np.float64),
        "delivered_bytes": delivered.astype(np.int64),
        "end": np.where(finished, "finished", "unfinished").tolist(),
        "in_window": np.ones(n, dtype=bool),
        "fct_s": fct,
        "fct_ideal_s": np.full(n, np.nan) if unlimited else size * 8 / 0.95e9 + 2e-4,
        "goodput_bps": goodput if unlimited else np.where(finished, goodput, np.nan),
        "retransmits": rng.poisson(3, n).astype(np.int64),
        "timeouts": (rng.uniform(size=n) < 0.3 * scheme.startswith("LIA")).astype(np.int64),
        "marks": rng.poisson(900, n).astype(np.int64),
        "rtt_mean_s": np.where(
            scheme.startswith("LIA"), rng.normal(1.2e-3, 2e-4, n), rng.normal(4e-4, 5e-5, n)
        ),
        "rtt_p99_s": rng.normal(2e-3, 2e-4, n),
    }


def _small(rng: np.random.Generator, shape: Shape, scheme: str) -> Table:
    n = shape.small
    slow = 0.012 if not scheme.startswith("LIA") else 0.03
    size = np.where(np.arange(n) % 2 == 0, 2_000, 64_000)
    fct = rng.lognormal(np.log(slow), 0.5, n) * np.where(size == 2_000, 0.1, 1.0)
    fct += np.where(rng.uniform(size=n) < 0.01, 0.2, 0.0)
    start = np.sort(rng.uniform(0, shape.duration_s, n))
    return {
        "group": ["request" if s == 2_000 else "answer" for s in size],
        "name": [f"small/{i}" for i in range(n)],
        "job": (np.arange(n) // 16).astype(np.float64),
        "controller": ["reno"] * n,
        "subflows": np.ones(n, dtype=np.int64),
        "source": [f"h{i % 128}" for i in range(n)],
        "destination": [f"h{(i * 5) % 128}" for i in range(n)],
        "location": [LOCATIONS[i % 3] for i in range(n)],
        "start_s": start,
        "end_s": start + fct,
        "size_bytes": size.astype(np.float64),
        "delivered_bytes": size.astype(np.int64),
        "end": ["finished"] * n,
        "in_window": np.ones(n, dtype=bool),
        "fct_s": fct,
        "fct_ideal_s": size * 8 / 0.95e9 + 2e-4,
        "goodput_bps": size * 8 / fct,
        "retransmits": rng.poisson(0.1, n).astype(np.int64),
        "timeouts": (fct > 0.2).astype(np.int64),
        "marks": np.zeros(n, dtype=np.int64),
        "rtt_mean_s": rng.normal(4e-4, 5e-5, n),
        "rtt_p99_s": rng.normal(2e-3, 2e-4, n),
    }


def _stack(parts: list[Table]) -> Table:
    first = parts[0]
    return {
        name: [value for part in parts for value in part[name]]
        if isinstance(first[name], list)
        else np.concatenate([part[name] for part in parts])
        for name in first
    }


def _subflows(rng: np.random.Generator, flows: Table, count: int) -> Table:
    n = len(flows["group"]) * count
    return {
        "flow": np.repeat(np.arange(len(flows["group"]), dtype=np.int64), count),
        "subflow": np.tile(np.arange(count, dtype=np.int64), len(flows["group"])),
        "goodput_bps": rng.uniform(1e7, 5e8, n),
        "sent_packets": np.full(n, 40_000, dtype=np.int64),
        "timeouts": np.zeros(n, dtype=np.int64),
    }


def _links(rng: np.random.Generator, mean: float) -> Table:
    layers = ["host"] * 128 + ["edge"] * 128 + ["core"] * 128
    n = len(layers)
    utilisation = np.clip(rng.normal(mean / 1e9, 0.12, n), 0, 1)
    return {
        "link": [f"s{i}->s{i + 1}" for i in range(n)],
        "layer": layers,
        "capacity_bps": np.full(n, 1e9),
        "bytes": (utilisation * 2.5e8).astype(np.int64),
        "packets": (utilisation * 1.6e5).astype(np.int64),
        "utilisation": utilisation,
        "drops": rng.poisson(2, n).astype(np.int64),
        "marks": rng.poisson(2000, n).astype(np.int64),
        "queue_mean": rng.gamma(2, 3, n),
        "queue_p99": rng.gamma(2, 9, n),
    }


def _jobs(rng: np.random.Generator, shape: Shape, scheme: str, pattern: str) -> Table:
    n = shape.jobs if pattern == "Incast" else 0
    jct = rng.lognormal(np.log(0.02), 0.4, n)
    jct += np.where(rng.uniform(size=n) < (0.35 if scheme.startswith("LIA") else 0.1), 0.2, 0.0)
    start = np.sort(rng.uniform(0, shape.duration_s, n))
    return {
        "group": ["incast"] * n,
        "job": np.arange(n, dtype=np.int64),
        "start_s": start,
        "end_s": start + jct,
        "finished": np.ones(n, dtype=bool),
        "in_window": np.ones(n, dtype=bool),
        "jct_s": jct,
    }


def _series(rng: np.random.Generator, shape: Shape, scheme: str) -> dict[str, Table]:
    steps = 4000
    time = np.linspace(0, shape.duration_s, steps)
    rates: list[Table] = []
    windows: list[Table] = []
    rtts: list[Table] = []
    subflows = subflow_count(scheme)
    for flow in range(shape.flows):
        begin = shape.duration_s * flow / (2 * shape.flows)
        for subflow in range(subflows):
            on = time >= begin
            share = 1e9 / subflows / (1 + np.minimum(shape.flows - 1, time * 2))
            rate = share[on] * rng.uniform(0.8, 1.1, on.sum())
            saw = 15 + 10 * ((time[on] * (20 + flow)) % 1.0) + rng.normal(0, 0.3, on.sum())
            n = int(on.sum())
            same = {
                "time_s": time[on],
                "flow": np.full(n, flow, dtype=np.int64),
                "subflow": np.full(n, subflow, dtype=np.int64),
            }
            rates.append({**same, "rate_bps": rate})
            windows.append(
                {**same, "window_packets": saw, "ssthresh_packets": saw / 2, "rtt_s": saw * 1e-5}
            )
            rtts.append({**same, "rtt_s": saw * 1e-5, "smoothed_rtt_s": np.full(n, 2e-4)})
    queue = np.abs(np.sin(time * 40)) * 18 + rng.integers(0, 3, steps)
    queues = {
        "time_s": np.tile(time, 2),
        "link": ["s0->s1"] * steps + ["s1->s2"] * steps,
        "packets": np.concatenate([queue, queue / 3]).astype(np.int64),
        "bytes": (np.concatenate([queue, queue / 3]) * 1500).astype(np.int64),
    }
    return {
        "rates": _stack(rates),
        "windows": _stack(windows),
        "rtts": _stack(rtts),
        "queues": queues,
    }


def _phases(rng: np.random.Generator, flows: Table) -> dict[str, Table]:
    n = len(flows["group"])
    names = ["alone", "shared", "after"]
    return {
        "phases": {
            "phase": [name for name in names for _ in range(n)],
            "flow": np.tile(np.arange(n, dtype=np.int64), len(names)),
            "goodput_bps": rng.uniform(1e8, 9e8, n * len(names)),
        }
    }
