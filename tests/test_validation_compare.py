"""The comparison with ns-3: its time to fair share, and what makes it fail."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "validation" / "compare.py"
_specification = importlib.util.spec_from_file_location("validation_compare", SCRIPT)
assert _specification is not None
assert _specification.loader is not None
compare = importlib.util.module_from_spec(_specification)
sys.modules[_specification.name] = compare
_specification.loader.exec_module(compare)

BIN = 0.001
FAIR_SHARE = 500.0


def time_to_fair_share(first: list[float], last_start: float = 0.0) -> float | None:
    """Two flows that fill a link of twice the fair share; the first one's rates are given."""
    second = [2 * FAIR_SHARE - rate for rate in first]
    times = [index * BIN for index in range(len(first))]
    rule = compare.FairShareRule(smoothing=0.010, tolerance=0.20, hold=0.100)
    return compare.time_to_fair_share(times, [first, second], FAIR_SHARE, last_start, rule)


def test_fair_from_the_start() -> None:
    assert time_to_fair_share([500.0] * 200) == 0.0


def test_time_counts_from_the_last_start() -> None:
    # A window with two unfair bins in ten has a mean of 600: just inside.
    rates = [1000.0] * 150 + [500.0] * 200
    assert time_to_fair_share(rates, last_start=0.120) == pytest.approx(0.028)


def test_fairness_before_the_last_start_does_not_count() -> None:
    rates = [500.0] * 150 + [1000.0] * 10 + [500.0] * 200
    assert time_to_fair_share(rates, last_start=0.140) == pytest.approx(0.018)


def test_a_stretch_shorter_than_the_hold_does_not_count() -> None:
    rates = [1000.0] * 50 + [500.0] * 80 + [1000.0] * 50 + [500.0] * 200
    assert time_to_fair_share(rates) == pytest.approx(0.178)


def test_smoothing_hides_single_bins() -> None:
    assert time_to_fair_share([500.0, 560.0, 440.0, 900.0, 100.0] * 40) == 0.0


@pytest.mark.parametrize(
    "rates", [[700.0] * 300, [1000.0] * 100 + [500.0] * 97, [500.0], []], ids=len
)
def test_never(rates: list[float]) -> None:
    assert time_to_fair_share(rates) is None


def reference(seed: int, second_start: float) -> dict[str, Any]:
    shares = [0.52, 0.48] if second_start == 0.0 else [0.5, 0.5]
    return {
        "case": "example",
        "seed": seed,
        "wire_ceiling_mbps": 964.0,
        "flows": [
            {"start_s": 0.0, "goodput_share": shares[0]},
            {"start_s": second_start, "goodput_share": shares[1]},
        ],
        "ports": {
            "bottleneck": {
                "packets": {"waiting": {"mean": 19.0}, "waiting_seen_by_arrivals": {"p99": 23}}
            }
        },
        "series": {"bin_s": BIN, "goodput_mbps": [[0.0] * 40 + [482.0] * 200] * 2},
    }


def pathweave(
    share: float | list[float] = 0.5, queue: float = 19.0, time: float | None = 0.018
) -> Any:
    shares = share if isinstance(share, list) else [share] * 2
    return {
        "goodput_mbps": [965.0 * one for one in shares],
        "goodput_share": shares,
        "queue_mean_packets": queue,
        "queue_p99_packets": 23,
        "time_to_fair_share_s": time,
    }


def with_series(fair_from_bin: int) -> Any:
    result = pathweave()
    del result["time_to_fair_share_s"]
    rates = [[0.0] * fair_from_bin + [482.5] * 200] * 2
    result["series"] = {"bin_s": BIN, "goodput_mbps": rates, "last_start_s": 0.020}
    return result


def exit_code(folder: Path, cases: Any, second_start: float = 0.020) -> int:
    results = folder / "ns3"
    results.mkdir()
    for seed in (1, 2):
        text = json.dumps(reference(seed, second_start))
        (results / f"example-seed{seed}.json").write_text(text, encoding="utf-8")
    other = folder / "pathweave.json"
    other.write_text(json.dumps(cases), encoding="utf-8")
    return compare.main([str(results), str(other)])


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (pathweave(), 0),
        ([pathweave(), pathweave(queue=19.5)], 0),
        (pathweave(share=0.491), 0),
        (pathweave(share=0.489), 1),
        (pathweave(queue=20.8), 0),
        (pathweave(queue=21.0), 1),
        (pathweave(time=0.026), 0),
        (pathweave(time=0.028), 1),
        (pathweave(time=None), 1),
        (with_series(fair_from_bin=40), 0),
        (with_series(fair_from_bin=90), 1),
    ],
)
def test_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], result: Any, expected: int
) -> None:
    assert exit_code(tmp_path, {"example": result}) == expected
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("shares", "expected"), [([0.52, 0.48], 0), ([0.48, 0.52], 0), ([0.5, 0.5], 1)]
)
def test_flows_that_start_together_have_neither_number_nor_time_to_fair_share(
    tmp_path: Path, shares: list[float], expected: int
) -> None:
    cases = {"example": pathweave(shares, time=None)}
    assert exit_code(tmp_path, cases, second_start=0.0) == expected


def test_nothing_to_compare(tmp_path: Path) -> None:
    assert exit_code(tmp_path, {"another": pathweave()}) == 2


def test_an_incomplete_result(tmp_path: Path) -> None:
    result = pathweave()
    del result["queue_mean_packets"]
    assert exit_code(tmp_path, {"example": result}) == 2
