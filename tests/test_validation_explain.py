"""Which ablations of `validation/ablations.toml` run for which cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

VALIDATION = Path(__file__).parents[1] / "validation"


@pytest.fixture
def explain(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(VALIDATION))
    import explain as module  # pyright: ignore[reportMissingImports]

    yield module
    for name in ("explain", "compare", "pathweave_side"):
        sys.modules.pop(name, None)


def ns3_run(case: str) -> dict[str, Any]:
    return {
        "case": case,
        "settings": {"network": "dumbbell"},
        "wire_ceiling_mbps": 972.0,
        "flows": [{"goodput_share": 1.0, "smoothed_rtt_us": 400.0, "marks": 1000, "start_s": 0.0}],
        "ports": {
            "A->B": {
                "packets": {"waiting": {"mean": 19.0}, "waiting_seen_by_arrivals": {"p99": 23}}
            }
        },
        "series": {"bin_s": 0.001, "goodput_mbps": [[972.0] * 200]},
    }


def our_run(queue: float, marks: int) -> dict[str, Any]:
    return {
        "goodput_mbps": [972.0],
        "goodput_share": [1.0],
        "smoothed_rtt_us": [400.0],
        "marks": marks,
        "ports": {"A->B": {"queue_mean_packets": queue, "queue_p99_packets": 23}},
        "series": {"bin_s": 0.001, "goodput_mbps": [[972.0] * 200], "last_start_s": 0.0},
    }


def test_every_ablation_is_meant_for_cases_that_there_are(explain: Any) -> None:
    scenarios = "".join(path.stem + "\n" for path in (VALIDATION / "scenarios").glob("*.toml"))
    for ablation in explain.read_ablations(VALIDATION / "ablations.toml"):
        assert ablation.ns3 or ablation.pathweave, ablation.name
        for pattern in ablation.cases:
            prefix = pattern.split("*")[0].rstrip("-")
            assert any(
                name.startswith(prefix) or prefix.startswith(name) for name in scenarios.split()
            ), pattern


def test_an_ablation_runs_for_what_those_before_it_leave(
    explain: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ns3, ours = tmp_path / "ns3", tmp_path / "ours"
    ns3.mkdir()
    ours.mkdir()
    for case in ("one", "two", "three"):
        (ns3 / f"{case}.json").write_text(json.dumps(ns3_run(case)), encoding="utf-8")
    # The first agrees; the queue of the second differs, and the queue and the marks of the third.
    plain = {"one": [our_run(19, 1000)], "two": [our_run(22, 1000)], "three": [our_run(22, 900)]}
    (ours / "pathweave.json").write_text(json.dumps(plain), encoding="utf-8")
    monkeypatch.setattr(
        explain,
        "read_ablations",
        lambda _: [
            explain.Ablation("queues", ["*"], ["--queues"]),
            explain.Ablation("marks", ["*"], ["--marks"]),
            explain.Ablation("others", ["other-*"], ["--others"]),
        ],
    )
    ran: list[tuple[str, list[str]]] = []

    def run(ablation: Any, cases: list[str], folders: tuple[Path, Path], _: Path) -> Path:
        ran.append((ablation.name, cases))
        queue, marks = (19, 900) if ablation.name == "queues" else (22, 1000)
        folder = folders[1] / ablation.name
        folder.mkdir()
        results = {case: [our_run(queue, marks)] for case in cases}
        (folder / "pathweave.json").write_text(json.dumps(results), encoding="utf-8")
        return folders[0]

    monkeypatch.setattr(explain, "run", run)
    assert explain.main([str(ns3), str(ours)]) == 0
    assert ran == [("queues", ["three", "two"]), ("marks", ["three"])]
    assert capsys.readouterr().out.count("explained") == 3
