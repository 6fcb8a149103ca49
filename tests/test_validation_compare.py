"""The comparison with ns-3: its time to fair share, and what makes it fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts_of_tree import script

compare = script("validation/compare.py")

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


def reference(seed: int, second_start: float, network: str = "dumbbell") -> dict[str, Any]:
    shares = [0.52, 0.48] if second_start == 0.0 else [0.5, 0.5]
    return {
        "case": "example",
        "seed": seed,
        "settings": {"network": network},
        "wire_ceiling_mbps": 964.0,
        "flows": [
            {"start_s": 0.0, "goodput_share": shares[0], "smoothed_rtt_us": 400.0, "marks": 500},
            {
                "start_s": second_start,
                "goodput_share": shares[1],
                "smoothed_rtt_us": 420.0,
                "marks": 500,
            },
        ],
        "ports": {
            name: {"packets": {"waiting": {"mean": mean}, "waiting_seen_by_arrivals": {"p99": 23}}}
            for name, mean in (("A->B", 19.0), ("S1->A", 0.9))
        },
        "series": {"bin_s": BIN, "goodput_mbps": [[0.0] * 40 + [482.0] * 200] * 2},
    }


def pathweave(
    *,
    shares: tuple[float, float] = (0.5, 0.5),
    rtts: tuple[float, float] = (400.0, 420.0),
    queue: float = 19.0,
    sender_queue: float = 0.9,
    marks: int = 1000,
    fair_from_bin: int = 40,
) -> dict[str, Any]:
    return {
        "goodput_mbps": [965.0 * share for share in shares],
        "goodput_share": list(shares),
        "smoothed_rtt_us": list(rtts),
        "marks": marks,
        "ports": {
            "A->B": {"queue_mean_packets": queue, "queue_p99_packets": 23},
            "S1->A": {"queue_mean_packets": sender_queue, "queue_p99_packets": 3},
        },
        "series": {
            "bin_s": BIN,
            "goodput_mbps": [[0.0] * fair_from_bin + [482.5] * 200] * 2,
            "last_start_s": 0.020,
        },
    }


def exit_code(folder: Path, cases: Any, references: list[dict[str, Any]] | None = None) -> int:
    results = folder / "ns3"
    results.mkdir()
    for result in references or [reference(seed, 0.020) for seed in (1, 2)]:
        path = results / f"{result['case']}-seed{result['seed']}.json"
        path.write_text(json.dumps(result), encoding="utf-8")
    other = folder / "pathweave.json"
    other.write_text(json.dumps(cases), encoding="utf-8")
    return compare.main([str(results), str(other)])


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([pathweave()], 0),
        ([pathweave(), pathweave(queue=19.5)], 0),
        ([pathweave(shares=(0.491, 0.491))], 0),
        ([pathweave(shares=(0.489, 0.5))], 1),
        ([pathweave(rtts=(411.0, 420.0))], 0),
        ([pathweave(rtts=(400.0, 433.0))], 1),
        ([pathweave(queue=19.9)], 0),
        ([pathweave(queue=20.0)], 1),
        # A port at which little waits is compared as soon as it is busy on one side.
        ([pathweave(sender_queue=0.2)], 0),
        ([pathweave(sender_queue=1.3)], 0),
        ([pathweave(sender_queue=1.5)], 1),
        ([pathweave(marks=1049)], 0),
        ([pathweave(marks=949)], 1),
        ([pathweave(fair_from_bin=45)], 0),
        ([pathweave(fair_from_bin=47)], 1),
        ([pathweave(fair_from_bin=47), pathweave(fair_from_bin=38)], 0),
        # A run that never comes to the fair share.
        ([pathweave(), pathweave(fair_from_bin=10_000)], 1),
    ],
)
def test_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], runs: Any, expected: int
) -> None:
    assert exit_code(tmp_path, {"example": runs}) == expected
    output = capsys.readouterr().out
    assert ("DIFFERS" in output) == (expected == 1)
    assert max(map(len, output.splitlines())) <= 100


@pytest.mark.parametrize(
    ("shares", "expected"), [((0.52, 0.48), 0), ((0.48, 0.52), 0), ((0.5, 0.5), 1)]
)
def test_flows_that_start_together_have_neither_number_nor_time_to_fair_share(
    tmp_path: Path, shares: tuple[float, float], expected: int
) -> None:
    cases = {"example": [pathweave(shares=shares, fair_from_bin=10_000)]}
    together = [reference(seed, 0.0) for seed in (1, 2)]
    assert exit_code(tmp_path, cases, together) == expected


def test_flows_with_paths_of_their_own_have_numbers(tmp_path: Path) -> None:
    routed = [reference(seed, 0.0, network="routed") for seed in (1, 2)]
    assert exit_code(tmp_path, {"example": [pathweave(shares=(0.48, 0.52))]}, routed) == 1


def test_scatter_of_seeds_is_allowed_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    references = [reference(seed, 0.020) for seed in (1, 2)]
    references[0]["flows"][0]["goodput_share"] = 0.45
    references[1]["flows"][0]["goodput_share"] = 0.55
    cases = {"example": [pathweave(shares=(0.47, 0.5))]}
    assert exit_code(tmp_path, cases, references) == 1
    output = capsys.readouterr().out
    assert "ok (scatter)" in output
    # The total has no such excuse.
    assert [line.split()[0] for line in output.splitlines() if "DIFFERS" in line] == ["goodput"]


def row(quantity: str, difference: float, allowed: float = 1.0) -> Any:
    return compare.Row(quantity, 10.0, 10.0 + difference, allowed, 2)


def test_many_rows_are_summarised_by_those_that_differ_or_the_worst() -> None:
    few = [row("a", 0.1), row("b", 2.0)]
    assert compare.summarise(few) == few
    worst = compare.summarise([row("a", 0.1), row("b", -0.5), row("c", 0.6, allowed=3.0)])
    assert [(one.quantity, one.verdict) for one in worst] == [("b (worst of 3)", "ok")]
    differing = compare.summarise([row("a", 1.1), row("b", 0.5), row("c", -1.1)])
    assert [one.quantity for one in differing] == ["a", "c"]


def test_cases_come_in_the_order_of_their_numbers() -> None:
    names = ["k10-seed1", "k5-seed10", "k5-seed9"]
    paths = sorted((Path(f"{name}.json") for name in names), key=compare.natural_order)
    assert [path.stem for path in paths] == ["k5-seed9", "k5-seed10", "k10-seed1"]


def test_a_case_on_one_side_only_differs(tmp_path: Path) -> None:
    assert exit_code(tmp_path, {"example": [pathweave()], "another": [pathweave()]}) == 1


def test_nothing_to_compare(tmp_path: Path) -> None:
    assert exit_code(tmp_path, {"another": [pathweave()]}) == 2


@pytest.mark.parametrize("key", ["marks", "smoothed_rtt_us", "ports"])
def test_an_incomplete_result(tmp_path: Path, key: str) -> None:
    result = pathweave()
    del result[key]
    assert exit_code(tmp_path, {"example": [result]}) == 2


def with_ablation(folder: Path, runs: Any, ablated: Any, capsys: Any) -> tuple[int, list[str]]:
    """Compare runs with queues that differ, beside an ablation; returns what compare.py prints."""
    results = folder / "ns3"
    results.mkdir()
    path = results / "example.json"
    path.write_text(json.dumps(reference(1, 0.020)), encoding="utf-8")
    for name, cases in (("plain", {"example": runs}), ("ablated", ablated)):
        (folder / f"{name}.json").write_text(json.dumps(cases), encoding="utf-8")
    code = compare.main(
        [
            *(str(results), str(folder / "plain.json")),
            *("--ablation", "prr", str(results), str(folder / "ablated.json")),
        ]
    )
    return code, capsys.readouterr().out.splitlines()


def test_a_difference_that_goes_away_with_an_ablation_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ablated = {"example": [pathweave(queue=19.5)]}
    code, lines = with_ablation(tmp_path, [pathweave(queue=21.0)], ablated, capsys)
    assert code == 0
    place = next(number for number, line in enumerate(lines) if line.endswith("explained"))
    assert lines[place].split()[:5] == ["queue", "A->B,", "packets", "19.00", "21.00"]
    assert lines[place + 1].split()[:4] == ["with", "prr", "19.00", "19.50"]
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    "ablated",
    [
        # The queue still differs; something else does; the ablation is of another case.
        {"example": [pathweave(queue=20.5)]},
        {"example": [pathweave(queue=17.0)]},
        {"another": [pathweave()]},
    ],
)
def test_an_ablation_explains_nothing_that_it_does_not_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ablated: Any
) -> None:
    code, lines = with_ablation(tmp_path, [pathweave(queue=21.0)], ablated, capsys)
    assert code == 1
    assert [line.split()[0] for line in lines if line.endswith("DIFFERS")] == ["queue"]
    assert not any("with prr" in line for line in lines)


def test_an_ablation_explains_its_own_lines_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [pathweave(queue=21.0, marks=900)]
    ablated = {"example": [pathweave(queue=19.0, marks=900)]}
    code, lines = with_ablation(tmp_path, runs, ablated, capsys)
    assert code == 1
    verdicts = {
        line.split()[0]: line.split()[-1] for line in lines if "->" in line or "marks" in line
    }
    assert verdicts["marks"] == "DIFFERS"
    assert any("A->B" in line and line.endswith("explained") for line in lines)


def test_a_port_that_is_no_longer_busy_is_still_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ablated = {"example": [pathweave(sender_queue=0.9)]}
    code, lines = with_ablation(tmp_path, [pathweave(sender_queue=1.5)], ablated, capsys)
    assert code == 0
    assert any("S1->A" in line and line.endswith("explained") for line in lines)
