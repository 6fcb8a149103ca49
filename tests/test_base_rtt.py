"""The base RTT of stored runs, and times to fair share of real ones, against sums by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import run_here
from pathweave.results.arrivals import arrivals
from pathweave.results.basertt import largest_base_rtt_s
from pathweave.results.checks.share import share_settling
from pathweave.results.convergence import convergence
from pathweave.results.read import find_runs

if TYPE_CHECKING:
    from pathweave.results.runs import StoredRun

# Three links: data of 1,500 B and acknowledgements of 40 B take 12.32 us on each, and 10 us a way.
SCENARIO = """
title = "Two flows"

[fabric]
kind = "dumbbell"
left = 2
host_rate = "1 Gbps"
host_delay = "10 us"
bottleneck_rate = "1 Gbps"
bottleneck_delay = "10 us"
queue = { limit = 64, mark = { kind = "step", k = 20 } }

[transport]
preset = "decn"

[[traffic]]
name = "flows"
pattern = "flows"
size = "unlimited"
controller = "xcp"
flows = [
    { name = "Flow 1", from = "S1", to = "D1", start = "0 s" },
    { name = "Flow 2", from = "S2", to = "D2", start = "10 ms" },
]

[stop]
at = "40 ms"

[measure]
from = "30 ms"

[record]
rates = "40 us"
"""
BASE_RTT_S = 3 * (12.32e-6 + 2 * 10e-6)


def stored(folder: Path, text: str) -> StoredRun:
    (folder / "two.toml").write_text(text)
    code, _, errors = run_here("run", str(folder / "two.toml"), "--out", str(folder / "results"))
    assert code == 0, errors
    (scenario,) = find_runs([folder / "results"])
    (run,) = scenario.runs
    return run


LONGER = """
title = "Two paths"

[fabric]
kind = "parallel-paths"
pairs = 2
rates = ["1 Gbps", "1 Gbps"]
delays = ["60 us", "10 us"]
host_rate = "1 Gbps"
host_delay = "10 us"

[routing]
kind = "pinned"

[transport]
preset = "decn"

[[traffic]]
name = "flows"
pattern = "flows"
size = "unlimited"
controller = "reno"
flows = [
    { name = "long", from = "S1", to = "D1", paths = [["A1", "B1"]], stop = "5 ms" },
    { name = "short", from = "S2", to = "D2", paths = [["A2", "B2"]] },
]

[stop]
at = "20 ms"

[measure]
from = "10 ms"
"""


def test_the_largest_of_all_flows(tmp_path: Path) -> None:
    """Before the measurement window, too: in it the flow on the longer path has ended."""
    base_rtt_s = largest_base_rtt_s(stored(tmp_path, LONGER))
    assert base_rtt_s == pytest.approx(BASE_RTT_S + 2 * 50e-6)


def test_bins_of_a_real_run(tmp_path: Path) -> None:
    run = stored(tmp_path, SCENARIO)
    (only,) = arrivals(run) or []
    assert only.bin_s == pytest.approx(120e-6)  # three intervals; two are less than 96.96 us
    assert only.packets == pytest.approx([1460 * 8 / 120e-6] * 2)
    assert 30e-3 / 120e-6 - len(only.times) < 2
    shares, own = convergence(run), share_settling(run)
    assert shares is not None
    assert own is not None
    both, second = shares["time_to_fair_share_s"].item(), own["settling_s"].item()
    assert 0 <= second <= both < 10e-3
    late = only.rates[len(only.rates) // 2 :]
    for flow in (0, 1):
        mean = sum(row[flow] for row in late) / len(late)
        assert mean == pytest.approx(1e9 * 1460 / 1500 / 2, rel=0.05)


def test_a_scenario_that_cannot_be_read_again_has_none(tmp_path: Path) -> None:
    run = stored(tmp_path, SCENARIO)
    run.manifest["resolved"]["fabric"]["kind"] = "gone"
    assert largest_base_rtt_s(run) is None
    assert convergence(run) is None
