"""What changed between two sets of results: verdicts, pairing and the false alarms they make."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, ttest_ind, ttest_rel

import synthetic
from made_results import SETTINGS, flows, made_run, made_side
from pathweave.changes.changes import Changes, compare_sides
from pathweave.changes.present import introduction, summary
from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from made_results import MadeRun
    from pathweave.changes.judge import Change
    from pathweave.changes.side import Side

PAIRS = 200
SEEDS = 5
ALARMS = int(binom.ppf(0.99, PAIRS, 0.01))
"""False alarms that 200 comparisons at 1 % have at most, with a probability of 99 %: 6."""


def change(changes: Changes, quantity: str, taken: str = "mean", **more: str) -> Change:
    (found,) = [
        each
        for each in changes.changes
        if (each.metric.quantity, each.metric.taken) == (quantity, taken)
        and all(getattr(each.metric, key) == value for key, value in more.items())
    ]
    return found


def drawn_flows(
    workload: np.random.Generator, noise: np.random.Generator, shift: float = 0.0
) -> pl.DataFrame:
    """Flows whose sizes and mean rate are the workload's, and whose rates vary by `noise`."""
    sizes = workload.integers(100_000, 1_000_000, 60).astype(float)
    level = workload.normal(1.0, 0.1)
    rate = 1e8 * level * (1 + shift) * noise.lognormal(0, 0.2, 60)
    timeouts = noise.poisson(0.05, 60)
    fct = sizes * 8 / rate + timeouts * 0.2
    return flows(rate, fct_s=fct, timeouts=timeouts, sizes=sizes)


def drawn_side(name: str, pair: int, shift: float = 0.0) -> Side:
    """Runs of five seeds whose workload does not depend on the side."""
    runs: list[MadeRun] = []
    for seed in range(1, SEEDS + 1):
        workload = np.random.default_rng((1, pair, seed))
        noise = np.random.default_rng((2, pair, seed, ord(name)))
        frames = {"flows": drawn_flows(workload, noise, shift)}
        runs.append(made_run(seed, frames, digest=f"{pair} {name} {seed}"))
    return made_side(name, runs)


def synthetic_side(name: str, pair: int) -> Side:
    """Runs of three seeds; flows, subflows, links and jobs of each are drawn by themselves."""
    runs: list[MadeRun] = []
    for seed in (1, 2, 3):
        axes = {"scheme": "LIA-2", "pattern": "Incast"}
        draw = 2 * (3 * pair + seed) + (name == "B")
        tables = synthetic.tables(axes, draw, synthetic.Shape(flows=30, jobs=20))
        frames = {
            table: pl.DataFrame(
                [
                    pl.Series(key, values)
                    if isinstance(values, list)
                    else pl.Series(key, values, nan_to_null=True)
                    for key, values in columns.items()
                ]
            )
            for table, columns in tables.items()
        }
        runs.append(made_run(seed, frames, digest=f"{draw}"))
    return made_side(name, runs)


def same_rates(*rates: float) -> MadeRun:
    return made_run(1, {"flows": flows(rates)})


def side_of(name: str, goodput: Mapping[int, float], **more: Any) -> Side:
    """Runs by seed, with one flow of this goodput each."""
    return made_side(
        name, [made_run(seed, {"flows": flows([value])}) for seed, value in goodput.items()], **more
    )


def test_unchanged_results_rarely_move() -> None:
    """At a family-wise 1 % at most 6 of 200 comparisons find a change where there is none."""
    assert ALARMS == 6
    alarms = 0
    for pair in range(PAIRS):
        found = compare_sides(drawn_side("A", pair), drawn_side("B", pair), relevant=0.0)
        assert {each.method for each in found.changes} == {"paired"}
        quantities = [each.metric.quantity for each in found.changes]
        assert sorted(quantities) == ["fairness", "fct", "goodput", "timeouts"]
        alarms += bool(found.moved)
    assert alarms <= ALARMS


def test_unchanged_results_without_pairs_rarely_move() -> None:
    """The same for samples that do not belong together, over all tables."""
    alarms = 0
    for pair in range(PAIRS):
        found = compare_sides(synthetic_side("A", pair), synthetic_side("B", pair), relevant=0.0)
        assert {each.method for each in found.changes} <= {"Welch", "exact"}
        assert len(found.changes) >= 12
        alarms += bool(found.moved)
    assert alarms <= ALARMS


def test_rare_events_are_no_certain_change() -> None:
    """Of few events, as many on every seed of a side: Student's test alone would be certain."""
    none, one = (
        made_side(
            name,
            [
                made_run(seed, {"flows": flows([seed, 1, 1, 1], timeouts=[count, 0, 0, 0])})
                for seed in (1, 2, 3)
            ],
        )
        for name, count in (("A", 0), ("B", 1))
    )
    found = change(compare_sides(none, one), "timeouts")
    assert found.difference == pytest.approx(0.25)
    assert found.verdict == "not told apart"
    many = made_side(
        "B",
        [
            made_run(seed, {"flows": flows([seed, 1, 1, 1], timeouts=[9, 9, 9, 9 + seed])})
            for seed in range(1, 11)
        ],
    )
    few = made_side(
        "A",
        [
            made_run(seed, {"flows": flows([seed, 1, 1, 1], timeouts=[0, 0, 0, 1])})
            for seed in range(1, 11)
        ],
    )
    assert change(compare_sides(few, many), "timeouts").verdict == "moved"


def test_known_shifts_are_found_and_nothing_else() -> None:
    for pair in range(20):
        changes = compare_sides(drawn_side("A", pair), drawn_side("B", pair, 0.5))
        goodput = change(changes, "goodput")
        assert goodput.verdict == "moved"
        assert goodput.percent == pytest.approx(50, abs=15)
        assert change(changes, "timeouts").verdict != "moved"


def test_paired_intervals_are_those_of_scipy() -> None:
    a, b = drawn_side("A", 3), drawn_side("B", 3, 0.1)
    found = change(compare_sides(a, b), "goodput")
    before, after = (
        [float(run.read("flows")["goodput_bps"].to_numpy().mean()) for run in side.scenario.runs]
        for side in (a, b)
    )
    truth = ttest_rel(after, before)
    low, high = truth.confidence_interval(0.99)
    assert found.p_value == pytest.approx(truth.pvalue)
    assert found.half is not None
    assert (found.difference - found.half, found.difference + found.half) == pytest.approx(
        (low, high)
    )
    assert (found.before, found.after) == pytest.approx((np.mean(before), np.mean(after)))
    assert found.percent == pytest.approx(100 * (np.mean(after) / np.mean(before) - 1))


def test_where_the_workload_differs_seeds_do_not_pair() -> None:
    values = ({1: 1e8, 2: 2e8, 3: 3e8}, {1: 1.01e8, 2: 2.02e8, 3: 3.03e8})
    paired = change(compare_sides(side_of("A", values[0]), side_of("B", values[1])), "goodput")
    assert paired.method == "paired"
    other = copy.deepcopy(SETTINGS)
    other["traffic"][0]["size"]["bytes"] = "2 MB"
    runs = [
        made_run(seed, {"flows": flows([value])}, resolved=other)
        for seed, value in values[1].items()
    ]
    changes = compare_sides(side_of("A", values[0]), made_side("B", runs, settings=other))
    found = change(changes, "goodput")
    truth = ttest_ind([*values[1].values()], [*values[0].values()], equal_var=False)
    low, high = truth.confidence_interval(0.99)
    assert found.method == "Welch"
    assert found.p_value == pytest.approx(truth[1])
    assert found.half == pytest.approx((high - low) / 2)
    assert "traffic.g.size.bytes differs" in "\n".join(introduction(changes))
    assert changes.differences == [("bytes", ["1 MB", "2 MB"])]


@pytest.mark.parametrize(
    ("path", "value", "paired"),
    [
        (("fabric", "queue", "mark", "k"), 20, True),
        (("fabric", "rate"), "1 Gbps", True),
        (("fabric", "senders"), 8, False),
        (("traffic", 0, "controller", "name"), "reno", True),
        (("traffic", 0, "subflows"), 4, True),
        (("traffic", 0, "transport"), {"initial_window": 4}, True),
        (("traffic", 0, "pattern"), "permutation", False),
        (("jitter",), "none", False),
        (("stop",), {"at": "2 s"}, True),
    ],
)
def test_settings_say_whether_seeds_pair(
    path: tuple[str | int, ...], value: object, paired: bool
) -> None:
    other = copy.deepcopy(SETTINGS)
    place: Any = other
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    runs = [made_run(seed, {"flows": flows([seed])}, resolved=other) for seed in (1, 2)]
    changes = compare_sides(side_of("A", {1: 1, 2: 3}), made_side("B", runs, settings=other))
    assert changes.variants[0].pairing.paired == paired


def test_flows_say_whether_seeds_pair() -> None:
    """Two versions may draw otherwise from the same settings."""
    a = made_side("A", [made_run(s, {"flows": flows([s, 1], sizes=[5, 6])}) for s in (1, 2)])
    b = made_side(
        "B", [made_run(s, {"flows": flows([s, 2], sizes=[5, 7])}) for s in (1, 2)], version="1"
    )
    changes = compare_sides(a, b)
    assert changes.variants[0].pairing.why == 'the first flows of "g" are not the same for seed 1'
    assert {each.method for each in changes.changes} <= {"Welch", "exact"}
    assert changes.differences == [("version of results", ["0", "1"])]
    # A flow that starts after another has ended may be another: the network decides about it.
    late = flows([1, 2, 3], sizes=[5, 6, 7]).with_columns(start_s=pl.Series([0.0, 0.0, 0.5]))
    other = late.with_columns(size_bytes=pl.Series([5.0, 6.0, 8.0]))
    sides = [
        made_side(name, [made_run(s, {"flows": frame}, digest=f"{name}{s}") for s in (1, 2)])
        for name, frame in (("A", late), ("B", other))
    ]
    assert compare_sides(*sides).variants[0].pairing.paired


def test_small_changes_are_irrelevant_however_certain() -> None:
    a = side_of("A", {1: 100.0, 2: 101.0, 3: 102.0})
    b = side_of("B", {1: 100.5, 2: 101.5001, 3: 102.5})
    assert change(compare_sides(a, b), "goodput").verdict == "irrelevant"
    assert change(compare_sides(a, b, relevant=0.001), "goodput").verdict == "moved"
    assert not compare_sides(a, b).moved


def test_a_change_of_nothing_is_as_relevant_as_any() -> None:
    a = side_of("A", {1: 0.0, 2: 0.0, 3: 0.0})
    b = side_of("B", {1: 5.0, 2: 5.1, 3: 5.2})
    found = change(compare_sides(a, b), "goodput")
    assert found.percent is None
    assert found.verdict == "moved"


def test_equal_bits_are_said() -> None:
    values = {1: 1e8, 2: 2e8}
    changes = compare_sides(side_of("A", values), side_of("B", values))
    assert changes.identical
    assert {each.verdict for each in changes.changes} == {"identical"}
    assert summary(changes) == "All results are identical to the last bit."
    # Of one quantity alone too; it takes no part in the correction.
    b = side_of("B", {1: 1e8 + 1, 2: 2e8 + 2})
    changes = compare_sides(side_of("A", values), b)
    assert not changes.identical
    assert change(changes, "fct").verdict == "identical"
    assert change(changes, "goodput").adjusted_p == change(changes, "goodput").p_value


def test_one_seed_gives_no_verdict() -> None:
    changes = compare_sides(side_of("A", {1: 100.0}), side_of("B", {1: 150.0}))
    found = change(changes, "goodput")
    assert (found.verdict, found.half, found.p_value) == ("needs more seeds", None, None)
    assert found.percent == pytest.approx(50)
    assert "a verdict needs more seeds" in "\n".join(introduction(changes))
    assert not changes.moved
    same = compare_sides(side_of("A", {1: 100.0}), side_of("B", {1: 100.0}))
    assert same.identical


def test_seeds_that_change_nothing_leave_no_doubt() -> None:
    """All seeds of a side give the same bits: a difference is exact."""
    a = side_of("A", dict.fromkeys((1, 2, 3), 100.0))
    b = side_of("B", dict.fromkeys((1, 2, 3), 102.0))
    found = change(compare_sides(a, b), "goodput")
    assert (found.method, found.verdict, found.p_value) == ("exact", "moved", None)
    nearly = side_of("B", dict.fromkeys((1, 2, 3), 100.5))
    assert change(compare_sides(a, nearly), "goodput").verdict == "irrelevant"


def test_other_seeds_do_not_pair() -> None:
    changes = compare_sides(
        side_of("A", {1: 100.0, 2: 101.0, 3: 102.0}), side_of("B", {3: 200.0, 4: 201.0, 5: 202.0})
    )
    assert change(changes, "goodput").method == "Welch"
    assert change(changes, "goodput").seeds == (3, 3)
    part = compare_sides(
        side_of("A", {1: 100.0, 2: 101.0, 3: 102.0}), side_of("B", {2: 201.0, 3: 202.0, 4: 203.0})
    )
    found = change(part, "goodput")
    assert (found.method, found.seeds) == ("paired", (2, 2))
    assert found.before == pytest.approx(101.5)


def test_no_verdict_rests_on_survivors() -> None:
    """B leaves slow flows unfinished: the mean of its completion times is no gain."""
    nan = float("nan")
    rng = np.random.default_rng(1)

    def runs(cut: float) -> list[MadeRun]:
        found: list[MadeRun] = []
        for seed in range(1, 7):
            took = rng.uniform(0.1, 0.2, 50)
            took[40:] = nan if cut else 0.9
            found.append(made_run(seed, {"flows": flows(np.ones(50) + seed, fct_s=took)}))
        return found

    changes = compare_sides(made_side("A", runs(0)), made_side("B", runs(1)))
    assert ("fct", "mean") not in {(e.metric.quantity, e.metric.taken) for e in changes.changes}
    assert change(changes, "fct", "median").verdict == "not told apart"
    left = change(changes, "fct", "unfinished")
    assert (left.before, left.after, left.verdict) == (0, pytest.approx(0.2), "moved")


def test_a_median_that_is_not_known_is_not_compared() -> None:
    nan = float("nan")
    sides = [
        made_side(
            name,
            [
                made_run(seed, {"flows": flows([seed, 1, 1], fct_s=[0.1, late, late])})
                for seed in (1, 2)
            ],
        )
        for name, late in (("A", 0.2), ("B", nan))
    ]
    changes = compare_sides(*sides)
    assert ("fct", "median") not in {(e.metric.quantity, e.metric.taken) for e in changes.changes}
    assert changes.notes == [
        (
            'median flow completion time of "g" is not compared: '
            "up to 67 % of a run's flows did not finish"
        )
    ]


def test_what_is_on_one_side_only_is_said() -> None:
    a = made_side(
        "A", [made_run(1, {"flows": flows([1.0])}, label=name) for name in ("DCTCP", "XMP-2")]
    )
    b = made_side(
        "B", [made_run(1, {"flows": flows([1.0])}, label=name) for name in ("DCTCP", "XMP-4")]
    )
    changes = compare_sides(a, b)
    assert [variant.label for variant in changes.variants] == ["DCTCP"]
    assert changes.notes == ["only A has the variant XMP-2", "only B has the variant XMP-4"]


def test_what_cannot_be_compared_is_refused() -> None:
    a = side_of("A", {1: 1.0})
    with pytest.raises(InputError, match="are of different scenarios, s and other"):
        compare_sides(a, side_of("B", {1: 1.0}, scenario="other"))
    other = made_side("B", [made_run(1, {"flows": flows([1.0])}, label="XMP-4")])
    with pytest.raises(InputError, match="no variant in common: A has DCTCP; B has XMP-4"):
        compare_sides(a, other)


def phased(name: str, shift: float, series: bool = False) -> Side:
    settings = copy.deepcopy(SETTINGS)
    settings["measure"]["phases"] = {"alone": ["0 s", "1 s"], "shared": ["1 s", "2 s"]}
    settings["record"] = {"rates": "100 ms", "queues": "100 ms"}
    runs: list[MadeRun] = []
    for seed in (1, 2, 3, 4):
        noise = np.random.default_rng((seed, ord(name)))
        frames = {
            "flows": flows([1.0 + seed, 2.0]).with_columns(start_s=pl.Series([0.0, 0.5])),
            "links": pl.DataFrame(
                {"link": ["a->b"], "layer": ["host"], "queue_mean": [1.0 * seed]}
            ),
            "phases": pl.DataFrame(
                {
                    "phase": ["alone", "alone", "shared", "shared"],
                    "flow": [0, 1, 0, 1],
                    "goodput_bps": noise.normal([5.0, 6.0, 5.0 + shift, 6.0 + shift], 0.01),
                }
            ),
        }
        if series:
            times = np.arange(1, 21) / 10
            frames["rates"] = pl.DataFrame(
                {
                    "time_s": np.repeat(times, 4),
                    "flow": [0, 0, 1, 1] * 20,
                    "subflow": [0, 1, 0, 1] * 20,
                    "rate_bps": np.repeat(np.where(times > 1.05, 10.0 + shift, 10.0), 4)
                    + noise.normal(0, 0.01, 80),
                }
            )
            frames["queues"] = pl.DataFrame(
                {"time_s": times, "link": ["a->b"] * 20, "packets": (10 * times).astype(int)}
            )
        runs.append(made_run(seed, frames, resolved=settings))
    return made_side(name, runs, settings=settings)


def test_phases_are_compared_one_by_one() -> None:
    changes = compare_sides(phased("A", 0.0), phased("B", 2.0))
    assert change(changes, "phase_goodput", phase="alone").verdict == "not told apart"
    assert change(changes, "phase_goodput", phase="shared").verdict == "moved"
    shared = compare_sides(phased("A", 0.0), phased("B", 2.0), at="shared")
    assert [(each.metric.quantity, each.metric.phase) for each in shared.changes] == [
        ("phase_goodput", "shared"),
        ("fairness", "shared"),
    ]
    assert not compare_sides(phased("A", 0.0), phased("B", 2.0), at="alone").moved


def test_a_window_of_time_takes_what_was_recorded_in_it() -> None:
    sides = phased("A", 0.0, series=True), phased("B", 2.0, series=True)
    early = compare_sides(*sides, at="0 s..1 s")
    assert not early.moved
    late = compare_sides(*sides, at="1s..2 s")
    goodput = change(late, "goodput")
    # Each flow has two subflows at 10 bit/s, and at 12 in B; the first flow starts before 1 s.
    assert (goodput.before, goodput.after) == pytest.approx((20, 24), rel=0.01)
    assert goodput.verdict == "moved"
    # An interval that begins before the window does not lie in it.
    part = compare_sides(*sides, at="950 ms..2 s")
    assert change(part, "goodput").after == pytest.approx(24, rel=0.01)
    assert change(late, "queue", of="host").before == pytest.approx(np.mean(range(10, 21)))
    assert {each.metric.quantity for each in late.changes} == {"goodput", "queue"}
    # Flows that start in it have completion times.
    first = change(compare_sides(*sides, at="0.4 s..0.6 s"), "fct")
    assert first.before == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("sharde", 'there is no phase "sharde"; did you mean "shared"'),
        ("xyz", 'both sides have "alone", "shared"; a time is written "10 s..15 s"'),
        ("2 s..1 s", "ends before it begins"),
        ("5 s..6 s", 'no quantity in common at "5 s..6 s"'),
    ],
)
def test_a_wrong_place_is_refused(at: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare_sides(phased("A", 0.0), phased("B", 0.0), at=at)


def test_ports_count_by_what_they_sent() -> None:
    links = pl.DataFrame(
        {
            "link": ["a->b", "b->a", "c->d"],
            "layer": ["rack", "rack", "core"],
            "bytes": [3_000, 1_000, 0],
            "queue_mean": [8.0, 4.0, 5.0],
        }
    )
    a, b = (made_side(name, [made_run(1, {"links": links})]) for name in "AB")
    queue = change(compare_sides(a, b), "queue")  # a layer that sent nothing has none
    assert (queue.metric.of, queue.before) == ("rack", 7.0)


def test_the_fairness_of_one_group_counts_once() -> None:
    def grouped(groups: list[str]) -> list[str]:
        frame = flows([1.0, 3.0, 5.0, 7.0]).with_columns(group=pl.Series(groups))
        a, b = (made_side(name, [made_run(1, {"flows": frame})]) for name in "AB")
        return [
            each.metric.of
            for each in compare_sides(a, b).changes
            if each.metric.quantity == "fairness"
        ]

    assert grouped(["g", "g", "g", "g"]) == ["g"]
    assert sorted(grouped(["g", "g", "h", "h"])) == ["", "g", "h"]


def test_one_subflow_each_counts_once() -> None:
    def subflows(count: int) -> Side:
        runs = [
            made_run(
                seed,
                {
                    "flows": flows([4.0 * seed, 4.0]),
                    "subflows": pl.DataFrame(
                        {
                            "flow": np.repeat([0, 1], count),
                            "subflow": [*range(count)] * 2,
                            "goodput_bps": np.repeat([4.0 * seed / count, 4.0 / count], count),
                        }
                    ),
                },
            )
            for seed in (1, 2)
        ]
        return made_side("A", runs)

    single = {each.metric.quantity for each in compare_sides(subflows(1), subflows(1)).changes}
    several = {each.metric.quantity for each in compare_sides(subflows(2), subflows(2)).changes}
    assert several - single == {"subflow_goodput"}


def test_settings_of_variants_are_told() -> None:
    """What differs only in one variant is said of that variant."""
    other = copy.deepcopy(SETTINGS)
    other["traffic"][0]["controller"] = {"name": "xmp", "beta": 4}
    edited = copy.deepcopy(other)
    edited["traffic"][0]["controller"]["beta"] = 6
    sides = [
        made_side(
            name,
            [
                made_run(1, {"flows": flows([1.0])}),
                made_run(1, {"flows": flows([value])}, label="XMP-2", resolved=resolved),
            ],
        )
        for name, resolved, value in (("A", other, 1.0), ("B", edited, 2.0))
    ]
    changes = compare_sides(*sides)
    assert "  XMP-2: beta: 4 / 6" in introduction(changes)


def test_the_table_and_json_say_the_same() -> None:
    changes = compare_sides(drawn_side("A", 1), drawn_side("B", 1, 0.5))
    table = changes.table
    assert table.height == len(changes.changes)
    said = changes.to_json()
    assert said["changes"] == table.to_dicts()
    assert said["moved"] == table.filter(pl.col("verdict") == "moved").height > 0
    assert said["variants"][0]["paired"] is True
    shown = changes._repr_html_()
    assert "Paired by seed (5 seeds)" in shown
    assert shown.count("<tr>") == table.height + 1
