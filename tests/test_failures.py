"""A failed switch, from the scenario file to the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pathweave
from pathweave.report.build import build_report
from pathweave.results.read import find_runs
from pathweave.results.recoveries import summarise_recoveries

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
title = "A core switch fails and comes back"
jitter = "none"

[fabric]
kind = "fat-tree"
k = 4
rate = "1 Gbps"
delay = "10 us"
queue = { limit = 60, mark = { kind = "step", k = 15 } }

[transport]
minimum_rto = "5 ms"

[[traffic]]
name = "large"
pattern = "permutation"
rounds = 1
size = "2 MB"
controller = "xmp"
subflows = 4

[variants.routing.ecmp]
routing = { kind = "ecmp", detection_delay = "2 ms" }
[variants.routing.two-level]
routing = { kind = "two-level" }
[variants.routing.fmp]
routing = { kind = "fmp" }

[[events]]
at = "6 ms"
node = "core0.0"
down = true
[[events]]
at = "60 ms"
node = "core0.0"
up = true
"""


def test_the_report_tells_how_long_flows_took_to_recover(tmp_path: Path) -> None:
    path = tmp_path / "core.toml"
    path.write_text(SCENARIO)
    pathweave.run(path, seeds=2, out=tmp_path / "results", progress=False)
    folder = tmp_path / "results" / "core"
    (scenario,) = find_runs([folder])
    summary = summarise_recoveries(scenario)
    assert summary["routing"].to_list() == ["ecmp", "two-level", "fmp"]
    assert summary["failures"].to_list() == [2, 2, 2]
    assert (summary["hit"] > 0).all()
    assert (summary["recovered"] == summary["hit"]).all()
    took = dict(zip(summary["routing"], summary["recovery_p50_s"], strict=True))
    # The switches of fmp turn elsewhere at once; static paths cost two timeouts and a reinjection.
    assert took["fmp"] < took["two-level"]
    flows = pathweave.load(folder).flows
    assert (flows["end"] == "finished").all()
    page = build_report([folder], pictures=False).read_text()
    assert "Recovery time after link failures" in page


def test_results_with_failures_can_be_compared(tmp_path: Path) -> None:
    path = tmp_path / "core.toml"
    path.write_text(SCENARIO)
    for name, rto in (("before", "5 ms"), ("after", "10 ms")):
        settings = {"transport.minimum_rto": rto}
        pathweave.run(path, seeds=2, set=settings, out=tmp_path / name, progress=False)
    before, after = (next((tmp_path / name / "core").iterdir()) for name in ("before", "after"))
    table = pathweave.compare(before, after).table
    assert "recovery" in table["quantity"].to_list()
