"""Rankings: paired by seed, against a baseline, and never by survivors."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import fake_core
from conftest import Command, write_scenario
from pathweave.cli.rankings import print_rankings
from pathweave.errors import InputError
from pathweave.report.build import build_report
from pathweave.results import layout
from pathweave.results.jsonfile import write_json
from pathweave.results.measures import parse_measure
from pathweave.results.merit import Ranking, compared_axis, rankings
from pathweave.results.present import plus_minus, times_unit
from pathweave.results.read import find_runs
from pathweave.results.sentences import sentences
from pathweave.results.settings import Settings
from pathweave.results.summary import compares_survivors, summarise
from pathweave.results.write import Identity, write_run
from pathweave.statistics.holm import Verdict
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pathweave.results.runs import StoredScenario


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
        queue: float | None = None,
        ideal_s: float | None = None,
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
        if ideal_s is not None:
            flows["fct_ideal_s"] = np.full(count, ideal_s)
        tables: dict[str, Any] = {"flows": flows}
        if queue is not None:
            # Data one way, acknowledgements the other.
            tables["links"] = {
                "link": ["A->B", "B->A"], "bytes": np.array([1_500_000, 40_000]),
                "queue_mean": np.array([queue, 0.0]), "drops": np.array([3, 0]),
                "marks": np.array([50, 0]),
            }  # fmt: skip
            tables["subflows"] = {"sent_packets": np.array([600, 400])}
        traffic = [{"name": "g", "pattern": self.pattern, "size": {"kind": self.size}}]
        resolved = {"measure": {"phases": {}}, "traffic": traffic, "jitter": "none"}
        variant = fake_core.Variant({"scheme": scheme}, scheme, scheme, json.dumps(resolved), {})
        identity = Identity(
            scenario="s", title="S", size="quick", sets=(), variant=variant,  # pyright: ignore[reportArgumentType]
            seed=seed, version="0", results_version="0", settings="h",
            hash=sha256(f"{scheme} {seed}".encode()).hexdigest(),
        )  # fmt: skip
        hashed = digest or sha256(f"{scheme} {seed}".encode()).hexdigest()
        output = fake_core.Output(tables, {"ended_s": 1.0}, hashed, 1, 1.0, 1.0)
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
    assert sentences(ranking) == ['XMP-4 has 4 ± 3 % more mean goodput of "g" than DCTCP.']
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


def test_slowdown_is_ranked_as_completion_times_are(tmp_path: Path) -> None:
    made = Made(tmp_path, report={"quantity": "p99 slowdown of g"})
    for seed in (1, 2):
        made.add("DCTCP", seed, done_s=[0.1] * 99 + [0.3], ideal_s=0.05)
        made.add("Late", seed, done_s=[0.1] * 98 + [0.9] * 2, ideal_s=0.05)
        # Three in a hundred are still under way after ten times their ideal time.
        made.add("Open", seed, done_s=[0.1] * 97, left_s=[0.5] * 3, ideal_s=0.05)
    values = {each.name: each for each in made.ranking().standings}
    assert values["DCTCP"].mean == pytest.approx(2 + 0.01 * 4)
    assert values["Late"].mean == pytest.approx(18)
    assert values["Late"].verdict is not None
    assert values["Late"].verdict.outcome == "worse"
    assert values["Open"].at_least
    assert values["Open"].mean == pytest.approx(10)
    assert values["Open"].unfinished == pytest.approx(0.03)


def test_runs_without_ideal_times_have_no_slowdown(tmp_path: Path) -> None:
    made = Made(tmp_path, report={"quantity": "slowdown"})
    made.add("DCTCP", 1, done_s=[0.1])
    made.add("XMP-4", 1, done_s=[0.2])
    assert made.ranking().standings == ()


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
        parse_measure(text, ["g"])


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
    said = 'there is no variant "Vegas" for a baseline: scheme has DCTCP, XMP-4, LIA-4'
    assert said in " ".join(done.stderr.split())
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
        (-0.04, 16.0, "0 ± 16"),
        (2.44, 2.41, "2.44 ± 2.41"),
        (2.0, 2.0, "2.0 ± 2.0"),
        (12.4, 11.6, "12.4 ± 11.6"),
    ],
)
def test_values_have_the_digits_that_are_sure(value: float, half: float | None, text: str) -> None:
    assert plus_minus(value, half) == text


def test_costs_stand_beside_the_verdict(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited")
    for seed, base in ((1, 100.0), (2, 101.0), (3, 102.0)):
        made.add("DCTCP", seed, goodput_mbps=[base, base], queue=10.0)
        made.add("XMP", seed, goodput_mbps=[2 * base, 2 * base + 0.001 * seed], queue=5.0)
    ranking = made.ranking()
    paid = {each.name: each.costs for each in ranking.standings}
    # Weighted by bytes: the way back, which only acknowledgements take, hardly counts.
    assert paid["DCTCP"].queue_packets == pytest.approx(10.0 * 1500 / 1540)
    assert paid["DCTCP"].drops == pytest.approx(0.003)
    assert paid["DCTCP"].marks == pytest.approx(0.05)
    assert paid["DCTCP"].fairness == pytest.approx(1.0)
    assert paid["DCTCP"].optimum is None
    (sentence,) = sentences(ranking)
    assert sentence.startswith("XMP has 100 ± 2 % more mean goodput")
    assert sentence.endswith("than DCTCP and queues 50 % as long.")
    page = build_report([tmp_path], pictures=False).read_text()
    for head in ("mean queue (packets)", "drops (%)", "marks (%)", "fairness (Jain)"):
        assert head in page
    assert "timeouts per flow</th>" not in page.partition("Flows of")[0]


def test_a_narrow_terminal_keeps_names_and_verdicts(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited")
    for seed, base in ((1, 1234.5), (2, 1240.0), (3, 1251.0)):
        made.add("DCTCP", seed, goodput_mbps=[base, base])
        made.add("XMP-4", seed, goodput_mbps=[2 * base, 2 * base + seed])
    console = Console(file=io.StringIO(), width=40)
    print_rankings(console, made.scenario(), None)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    table = [line for line in said.splitlines() if line.startswith(("DCTCP", "XMP-4  "))]
    assert len(table) > 2, said  # in parts, each of which names its rows
    assert any(line.endswith("better") for line in table)
    assert any(line.endswith("baseline") for line in table)
    assert "\u2026" not in said


def test_a_sentence_says_that_nothing_is_told_apart(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited")
    for seed, more in ((1, 10.0), (2, -8.0), (3, 1.0)):
        made.add("DCTCP", seed, goodput_mbps=[100.0])
        made.add("XMP", seed, goodput_mbps=[100.0 + more])
    (sentence,) = sentences(made.ranking())
    # The interval of +10, -8 and +1: Student's t for two degrees of freedom, 4.303 * 9 / sqrt(3).
    assert sentence == (
        'Chance may explain every difference to DCTCP in mean goodput of "g";'
        " the widest interval is ± 22 %."
    )


def test_a_sentence_says_who_leaves_flows_unfinished(tmp_path: Path) -> None:
    made = Made(tmp_path)
    for seed in (1, 2, 3):
        made.add("DCTCP", seed, [0.010 + seed * 1e-6] * 100)
        made.add("LIA", seed, [0.008 + seed * 1e-6] * 69, [0.5] * 31)
    said = sentences(made.ranking())
    assert len(said) == 1
    assert said[0].startswith('LIA completes flows of "g" 20.00 ± 0.00 % sooner than DCTCP')
    assert said[0].endswith("(median) and leaves 31 % of the flows unfinished.")


def test_variants_that_differ_in_the_same_direction_share_a_sentence(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited")
    goodput = {"DCTCP": 100.0, "XMP-4": 140.0, "XMP-2": 120.0, "LIA": 80.0, "Reno": 50.0}
    for seed in (1, 2, 3):
        for name, mbps in goodput.items():
            made.add(name, seed, goodput_mbps=[mbps + 1e-6 * seed * mbps])
    assert sentences(made.ranking()) == [
        'XMP-4 has 40.00 ± 0.00 % more mean goodput of "g" than DCTCP; XMP-2 20.00 ± 0.00 %.',
        'LIA has 20.00 ± 0.00 % less mean goodput of "g" than DCTCP; Reno 50.00 ± 0.00 %.',
    ]


def test_a_baseline_of_zero_has_a_sentence_without_percent(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited", report={"quantity": "timeouts"})
    for seed in (1, 2, 3):
        made.add("A", seed, goodput_mbps=[1.0])
        made.add("B", seed, goodput_mbps=[1.0])
    assert made.ranking().subject.text == "mean timeouts per flow"
    base, other = made.ranking().standings
    ranking = made.ranking()
    moved = replace(
        other,
        difference=paired_difference({1: 1.0, 2: 1.1, 3: 1.2}, {1: 0.0, 2: 0.0, 3: 0.0}),
        verdict=Verdict("worse", 0.01, 1),
    )
    said = sentences(replace(ranking, standings=(base, moved)))
    assert said == ["B has more mean timeouts per flow than A."]


def test_words_are_not_repeated() -> None:
    assert parse_measure("mean queue", []).text == "mean queue"
    assert parse_measure("p99 queue", []).text == "p99 mean queue"


def test_seeds_that_only_one_variant_has_are_named(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited")
    for seed in (1, 2, 3):
        made.add("A", seed, goodput_mbps=[10.0 + seed])
        if seed != 2:
            made.add("B", seed, goodput_mbps=[11.0 + seed])
    notes = made.ranking().notes
    assert any("B and A are not compared on seed 2" in note for note in notes)


def test_a_quantity_that_no_run_has_is_said(tmp_path: Path) -> None:
    made = Made(tmp_path, report={"quantity": "time_to_fair_share"})
    for scheme in ("A", "B"):
        made.add(scheme, 1, [0.1])
    ranking = made.ranking()
    assert ranking.standings == ()
    assert ranking.notes == ("No run has a mean time to fair share, so nothing is ranked by it.",)
    assert "No run has a mean time to fair share" in build_report([tmp_path]).read_text()


def test_fairness_decides_where_the_scenario_asks_for_it(tmp_path: Path) -> None:
    made = Made(tmp_path, size="unlimited", report={"quantity": "fairness"})
    for seed in (1, 2):
        made.add("A", seed, goodput_mbps=[10.0, 0.0])
        made.add("B", seed, goodput_mbps=[4.0 + seed, 2.0])
    ranking = made.ranking()
    assert [each.name for each in ranking.standings] == ["B", "A"]
    a, b = ranking.standings[1], ranking.standings[0]
    assert a.mean == pytest.approx(0.5)
    assert b.values[1] == pytest.approx(49 / 58)
    # The column beside it says the same.
    assert [each.costs.fairness for each in (a, b)] == pytest.approx([a.mean, b.mean])


def test_the_summary_counts_unfinished_flows_at_their_age(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.add("A", 1, [0.01] * 60, [0.5] * 40)
    made.add("B", 1, [0.02] * 100)
    rows = {row["variant"]: row for row in summarise(made.scenario()).iter_rows(named=True)}
    # Of a hundred flows the 50th is known, the 99th only to take longer than 0.5 s.
    assert rows["A"]["fct_p50_s"] == pytest.approx(0.01)
    assert not rows["A"]["fct_p50_at_least"]
    assert rows["A"]["fct_p99_s"] == pytest.approx(0.5)
    assert rows["A"]["fct_p99_at_least"]
    assert not rows["B"]["fct_p99_at_least"]
    assert compares_survivors(summarise(made.scenario()))
    page = build_report([tmp_path], pictures=False).read_text()
    assert "not equally many finished" in page
    assert "≥ 500" in page


def test_the_baseline_says_which_axis_is_compared() -> None:
    axes = {"routing": ["FMP", "ECMP"], "scheme": ["FCC", "AMP"]}
    assert compared_axis(axes) == "scheme"
    assert compared_axis(axes, "AMP") == "scheme"
    assert compared_axis(axes, "ECMP") == "routing"
    assert compared_axis({"a": ["1"], "b": ["2"]}) == "a"


def test_queues_are_weighted_by_what_ports_send(tmp_path: Path) -> None:
    made = Made(tmp_path, report={"quantity": "queue"})
    made.add("A", 1, [0.1], queue=10.0)
    made.add("B", 1, [0.1], queue=20.0)
    values = {each.name: each.values[1] for each in made.ranking().standings}
    assert values["A"] == pytest.approx(10.0 * 1500 / 1540)
    assert values["B"] == pytest.approx(20.0 * 1500 / 1540)


def test_one_unit_suits_the_median_and_the_tail() -> None:
    rows = pl.DataFrame({"fct_p50_s": [350e-6, 700e-6], "fct_p99_s": [0.038, 1.007]})
    assert times_unit(rows, "fct") == "ms"
    assert times_unit(rows.with_columns(fct_p99_s=pl.lit(None, pl.Float64)), "fct") == "us"
    assert times_unit(rows.clear(), "fct") == "us"
