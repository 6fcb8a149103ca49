"""Rankings: paired by seed, against a baseline, and never by survivors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fake_core
from conftest import Command, write_scenario
from pathweave.errors import InputError
from pathweave.report.build import build_report
from pathweave.results import layout
from pathweave.results.jsonfile import write_json
from pathweave.results.merit import Ranking, parse_subject, rankings, sentences
from pathweave.results.present import plus_minus
from pathweave.results.read import find_runs
from pathweave.results.settings import Settings
from pathweave.results.write import Identity, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pathweave.results.read import StoredScenario


@dataclass
class Made:
    """A scenario made up run by run."""

    root: Path
    pattern: str = "poisson"
    size: str = "fixed"
    report: dict[str, str] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)

    def add(
        self,
        scheme: str,
        seed: int,
        done_s: Sequence[float] = (),
        left_s: Sequence[float] = (),
        goodput_mbps: Sequence[float] = (),
        digest: str = "",
    ) -> None:
        """A run with flows that took `done_s` and others that have gone on for `left_s`."""
        self.names[scheme] = None
        count = max(len(done_s) + len(left_s), len(goodput_mbps))
        took = [*done_s, *([np.nan] * (count - len(done_s)))]
        age = [*done_s, *left_s, *([1.0] * (count - len(done_s) - len(left_s)))]
        start = 1.0 - np.array(age)
        ends = ["finished"] * len(done_s) + ["unfinished"] * (count - len(done_s))
        flows: dict[str, Any] = {
            "id": np.arange(count),
            "name": [f"g/{i}" for i in range(count)],
            "group": ["g"] * count,
            "size_bytes": np.full(count, np.nan if self.size == "unlimited" else 1e6),
            "delivered_bytes": np.full(count, 1000),
            "end": ends,
            "in_window": np.ones(count, dtype=bool),
            "start_s": start,
            "end_s": start + np.array(took),
            "fct_s": np.array(took),
            "goodput_bps": np.array(goodput_mbps or [1.0] * count) * 1e6,
            "retransmits": np.zeros(count, dtype=int),
            "timeouts": np.zeros(count, dtype=int),
        }
        traffic = [{"name": "g", "pattern": self.pattern, "size": {"kind": self.size}}]
        resolved = {"measure": {"phases": {}}, "traffic": traffic, "jitter": "none"}
        variant = fake_core.Variant({"scheme": scheme}, scheme, scheme, json.dumps(resolved), {})
        identity = Identity(
            scenario="s", title="S", size="quick", sets=(), variant=variant,  # pyright: ignore[reportArgumentType]
            seed=seed, version="0", hash="h", settings="h",
        )  # fmt: skip
        hashed = digest or f"{scheme} {seed}"
        output = fake_core.Output({"flows": flows}, {"ended_s": 1.0}, hashed, 1, 1.0, 1.0)
        write_run(self.folder / layout.run_name(scheme, seed), identity, output)  # pyright: ignore[reportArgumentType]

    @property
    def folder(self) -> Path:
        return self.root / "s" / "quick"

    def scenario(self) -> StoredScenario:
        settings = Settings("h", "h", {}, "quick", (), "0")
        about = {
            "settings": settings.to_json(), "name": "s", "title": "S", "size": "quick",
            "axes": [["scheme", list(self.names)]], "groups": ["g"], "report": self.report,
        }  # fmt: skip
        write_json(self.folder / layout.SCENARIO, about)
        return find_runs([self.root])[0]

    def ranking(self, baseline: str | None = None) -> Ranking:
        (found,) = rankings(self.scenario(), baseline)
        return found


def test_seeds_are_paired(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited")
    for seed, base, more in ((1, 7000.0, 405.0), (2, 7200.0, 310.0), (3, 7484.0, 229.0)):
        made.add("DCTCP", seed, goodput_mbps=[base])
        made.add("XMP-4", seed, goodput_mbps=[base + more])
    ranking = made.ranking()
    assert [each.name for each in ranking.standings] == ["XMP-4", "DCTCP"]
    xmp, dctcp = ranking.standings
    # Unpaired, the intervals overlap widely: 7,228 ± 604 and 7,543 ± 385.
    assert dctcp.half == pytest.approx(604e6, rel=0.01)
    assert xmp.difference is not None
    assert xmp.verdict is not None
    assert xmp.difference.mean == pytest.approx(314.67e6, rel=1e-4)
    assert xmp.difference.half == pytest.approx(218.8e6, rel=1e-3)
    assert xmp.verdict.outcome == "better"
    assert sentences(ranking) == ['XMP-4 has 4 ± 3 % more mean goodput of "g" than DCTCP: better.']
    assert made.ranking("XMP-4").standings[1].verdict.outcome == "worse"  # pyright: ignore[reportOptionalMemberAccess]


def test_nobody_is_ranked_by_survivors(tmp_path: Path) -> None:
    made = Made(tmp_path)
    for seed in (1, 2, 3):
        late = seed * 1e-6
        # LIA's finished flows are the fastest, because it leaves the slow ones unfinished.
        made.add("DCTCP", seed, [0.010 + late] * 95 + [0.6] * 4)
        made.add("LIA-4", seed, [0.008 + late] * 30, [0.5] * 70)
        made.add("Reno", seed, [0.020 + late] * 90, [0.7] * 10)
    ranking = made.ranking()
    assert ranking.subject.statistic == "median"
    assert [each.name for each in ranking.standings] == ["DCTCP", "Reno", "LIA-4"]
    dctcp, reno, lia = ranking.standings
    assert (dctcp.at_least, reno.at_least, lia.at_least) == (False, False, True)
    assert lia.mean == pytest.approx(0.5)
    assert lia.unfinished == pytest.approx(0.7)
    assert lia.difference is None
    assert reno.verdict is not None
    assert reno.verdict.outcome == "worse"
    assert "Up to 70 % of the flows did not finish (LIA-4)" in ranking.notes[0]
    page = build_report([tmp_path], pictures=False).read_text()
    assert "at least 500" in page
    assert "at least 500 ±" not in page
    assert "not ranked" in page


def test_few_unfinished_flows_leave_the_mean(tmp_path: Path) -> None:
    made = Made(tmp_path)
    for seed in (1, 2):
        made.add("A", seed, [0.01] * 199 + [0.02 * seed], [0.3])
        made.add("B", seed, [0.01] * 200)
    ranking = made.ranking()
    assert ranking.subject.statistic == "mean"
    assert ranking.notes == ()


@pytest.mark.parametrize(
    ("pattern", "size", "quantity"),
    [
        ("poisson", "fixed", "fct"),
        ("flows", "unlimited", "goodput"),
        ("permutation", "uniform", "goodput"),
        ("random", "pareto", "goodput"),
        ("many-to-one", "fixed", "fct"),
    ],
)
def test_the_traffic_suggests_what_decides(
    tmp_path: Path, pattern: str, size: str, quantity: str
) -> None:
    made = Made(tmp_path, pattern, size)
    for scheme in ("A", "B"):
        made.add(scheme, 1, [0.01, 0.02])
    assert made.ranking().subject.quantity == quantity


def test_the_scenario_says_what_decides(tmp_path: Path) -> None:
    report = {"quantity": "p90 fct of g", "baseline": "B", "order": "file", "question": "Tails?"}
    made = Made(tmp_path, "permutation", report=report)
    for seed in (1, 2):
        made.add("A", seed, [0.03] * 10)
        made.add("B", seed, [0.01] * 10)
    ranking = made.ranking()
    assert (ranking.subject.quantity, ranking.subject.statistic) == ("fct", "p90")
    assert ranking.baseline == "B"
    assert [each.name for each in ranking.standings] == ["A", "B"]
    assert "Tails?" in build_report([tmp_path], pictures=False).read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("speed", 'unknown quantity "speed"'),
        ("p200 fct", 'unknown statistic "p200"'),
        ("", 'unknown quantity ""'),
        ("max fct", "ranked by a mean, a median or a percentile"),
        ("queue of g", "queue is not of a traffic group"),
        ("fct of nobody", 'there is no traffic group "nobody"'),
    ],
)
def test_a_wrong_quantity_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_subject(text, ["g"])


def test_sameness_is_said(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited")
    for seed in (1, 2, 3):
        for scheme in ("A", "B"):
            made.add(scheme, seed, goodput_mbps=[5.0], digest=scheme)
    notes = " ".join(made.ranking().notes)
    assert 'The seeds do not differ (jitter = "none")' in notes
    assert "The variants make no difference here." in notes
    assert sentences(made.ranking()) == ["B and A give the same on every seed."]


def test_the_command_line_takes_a_baseline(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes='scheme = ["DCTCP", "XMP-4", "LIA-4"]')
    done = cli("run", "tab1.toml", "--baseline", "Vegas")
    assert done.returncode == 2
    assert 'there is no variant "Vegas" for a baseline on scheme' in " ".join(done.stderr.split())
    assert not (tmp_path / "results").exists()
    done = cli("run", "tab1.toml")
    assert "One seed gives no interval" in done.stdout
    done = cli("run", "tab1.toml", "--seeds", "3", "--baseline", "XMP-4")
    assert done.returncode == 0, done.stderr
    assert "paired by seed (3 seeds, 95 % intervals" in " ".join(done.stdout.split())
    assert "baseline" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (735.123, 4.21, "735.1 ± 4.2"),
        (-12.3456, 0.0456, "−12.346 ± 0.046"),
        (23456.7, 321.0, "23,457 ± 321"),
        (1.0, None, "1.000"),
        (5.0, 0.0, "5.000 ± 0"),
    ],
)
def test_values_have_the_digits_that_are_sure(value: float, half: float | None, text: str) -> None:
    assert plus_minus(value, half) == text
