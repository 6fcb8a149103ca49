"""Named checks: each on made-up data where it holds, and on made-up data where it must not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_results import made_run
from pathweave.results.checks import CHECKS
from pathweave.results.checks.jumps import find_jumps
from pathweave.results.checks.phase_curvature import opposition, second_differences
from pathweave.results.checks.phases import chain, following
from pathweave.results.checks.reaching import reaching_s, start_settling
from pathweave.results.checks.settling import settling_s
from pathweave.results.published_measure import PublishedMeasure, Value

TIMEOUT_S = 0.2
RNG = np.random.default_rng(1)

Series = Mapping[tuple[int, int], Sequence[float]]
"""Values over time by flow and subflow."""


def series(column: str, values: Series, begin_s: float = 0.0, step_s: float = 1.0) -> pl.DataFrame:
    """A table of samples at `begin_s` + `step_s`, `begin_s` + 2 `step_s` and so on."""
    rows = [
        (begin_s + (place + 1) * step_s, flow, subflow, float(value))
        for (flow, subflow), several in values.items()
        for place, value in enumerate(several)
    ]
    return pl.DataFrame(rows, schema=["time_s", "flow", "subflow", column], orient="row")


def flow_table(*starts_s: float, ends_s: Sequence[float | None] = ()) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": range(len(starts_s)),
            "name": [f"Flow {place}" for place in range(1, len(starts_s) + 1)],
            "group": ["g"] * len(starts_s),
            "start_s": [float(start) for start in starts_s],
            "end_s": pl.Series(ends_s or [None] * len(starts_s), dtype=pl.Float64),
        }
    )


def rows(check: str, resolved: Mapping[str, Any], **tables: pl.DataFrame) -> pl.DataFrame | None:
    return CHECKS[check].table(made_run(1, tables, resolved=resolved))


def found(check: str, resolved: Mapping[str, Any], **tables: pl.DataFrame) -> list[float | None]:
    """The values of a check, one for each of its rows."""
    table = rows(check, resolved, **tables)
    assert table is not None
    return table[CHECKS[check].quantity.column].to_list()


PHASES = {"measure": {"phases": {"early": ["0 s", "10 s"], "late": ["10 s", "20 s"]}}}
NOTHING: dict[str, Any] = {}


# Two jumps of a distribution.


def jump(at_s: float, count: int) -> list[float]:
    return list(RNG.uniform(at_s, at_s + 0.01, count))


def test_two_jumps_a_timeout_apart() -> None:
    jumps = find_jumps(jump(0.02, 900) + jump(0.22, 100), TIMEOUT_S)
    assert jumps is not None
    assert jumps.second_s - jumps.first_s == pytest.approx(TIMEOUT_S, rel=0.05)
    assert jumps.share == pytest.approx(0.1)
    assert jumps.sharpness == pytest.approx(10)


def test_one_jump_alone_is_none() -> None:
    assert find_jumps(jump(0.02, 900), TIMEOUT_S) is None
    assert find_jumps(jump(0.02, 900) + jump(0.09, 900), TIMEOUT_S) is None  # less than half
    assert find_jumps([], TIMEOUT_S) is None


def test_jumps_at_another_distance_are_found_there() -> None:
    for apart in (0.12, 0.3, 0.6):
        jumps = find_jumps(jump(0.02, 900) + jump(0.02 + apart, 100), TIMEOUT_S)
        assert jumps is not None
        assert jumps.second_s - jumps.first_s == pytest.approx(apart, rel=0.1)


def test_a_tail_is_no_jump() -> None:
    """However it falls: what lies in the densest window is about what lies around it."""
    even = [0.02 + 0.0004 * place for place in range(1000)]
    slow = [0.02 - 0.3 * math.log(1 - place / 5000) for place in range(5000)]
    for tail in (even, slow):
        jumps = find_jumps(jump(0.02, 3000) + tail, TIMEOUT_S)
        assert jumps is not None
        assert jumps.sharpness < 2


def jobs(times: Sequence[float], unfinished: int = 0) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "group": ["incast"] * (len(times) + unfinished),
            "finished": [True] * len(times) + [False] * unfinished,
            "in_window": [True] * (len(times) + unfinished),
            "jct_s": [*times, *[None] * unfinished],
        }
    )


def test_jumps_of_jobs_by_the_groups_own_timeout() -> None:
    times = [0.02] * 90 + [0.12] * 10
    for timeout, apart in (("100 ms", 1), ("50 ms", 2), ("160 ms", 0.625)):
        resolved = {"traffic": [{"name": "incast", "transport": {"minimum_rto": timeout}}]}
        table = rows("completion-jumps", resolved, jobs=jobs(times, unfinished=5))
        assert table is not None
        assert table["group"].to_list() == ["incast"]
        assert table["apart_rto"].item() == pytest.approx(apart)
        assert table["share"].item() == pytest.approx(0.1)  # unfinished jobs do not count
        assert found("second-jump", resolved, jobs=jobs(times)) == [pytest.approx(10)]
    assert rows("completion-jumps", NOTHING, flows=flow_table(0)) is None
    resolved = {"traffic": [{"name": "incast", "transport": {"minimum_rto": "200 ms"}}]}
    assert found("completion-jumps", resolved, jobs=jobs(jump(0.02, 90))) == []


# From phase to phase.


def test_opposition_is_of_signs_weighed_by_sizes() -> None:
    assert opposition([(1, -2), (-3, 1)]) == 1
    assert opposition([(1, 2), (-3, -1)]) == -1
    assert opposition([(1, -1), (1, 1)]) == 0
    assert opposition([(10, -10), (0.1, 0.1)]) == pytest.approx(1, abs=0.001)
    assert opposition([(0, 5), (0, 0)]) is None
    assert opposition([]) is None


STEPS = {f"{n}": [f"{5 * n} s", f"{5 * n + 5} s"] for n in range(5)}
LATE = {"measure": {"phases": {**STEPS, "4": ["20.001 s", "25 s"], "all": ["0 s", "25 s"]}}}
"""Five phases, the last of which spares a change, and one that nothing follows."""


def goodput(values: Mapping[tuple[int, int], Sequence[float | None]]) -> pl.DataFrame:
    """Of each subflow its goodput in the phases "0", "1", ... and 9 in "all"."""
    rows = [
        (phase, flow, subflow, value)
        for (flow, subflow), several in values.items()
        for phase, value in [*[(str(n), each) for n, each in enumerate(several)], ("all", 9.0)]
    ]
    schema = {"phase": pl.String, "flow": pl.Int64, "subflow": pl.Int64, "goodput_bps": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.integers(0, 9))
def test_second_differences_of_a_parabola(a: float, b: float, c: float, n: int) -> None:
    bends = second_differences([a * k * k + b * k + c for k in range(n)])
    assert bends == pytest.approx([2 * a] * max(0, n - 2), abs=1e-9)


def test_phases_that_follow_one_another() -> None:
    phases = {"c": (10.01, 15.0), "a": (0.0, 5.0), "long": (5.0, 15.0), "b": (5.0, 10.0)}
    follows = following(phases)
    assert follows == {"a": "b", "b": "c"}
    assert list(chain("a", follows)) == ["a", "b", "c"]
    assert list(chain("long", follows)) == ["long"]
    assert following({"a": (0.0, 5.0), "b": (5.5, 10.5)}) == {}  # not upon it
    assert following({}) == {}


def test_goodput_of_siblings_bends_in_opposite_ways_over_phases() -> None:
    """Those of Flow 1 always do, those of Flow 2 never; Flow 3 has one subflow."""
    one, other = [0.0, 1.0, 9.0, 8.0, 1.0], [9.0, 8.0, 6.0, 7.0, 12.0]
    values = {(0, 0): one, (0, 1): other, (1, 0): one, (1, 1): one, (2, 0): one}
    flows, table = flow_table(0, 0, 0), goodput(values)
    bends = rows("phase-curvature", LATE, phase_subflows=table, flows=flows)
    assert bends is not None
    assert bends.select("name", "phase").rows() == [
        (name, phase) for name in ("Flow 1", "Flow 2") for phase in ("0", "1", "2")
    ]
    # Second differences from "0" on: 7, -9, -6 and -1, 3, 4.
    assert bends["opposition"].to_list() == pytest.approx([1, 1, 1, -1, -1, -1])
    bent = {(0, 0): one, (0, 1): [9.0, 8.0, 9.0, 10.0, 15.0]}  # 2, 0, 4
    opposed = found("phase-curvature", LATE, phase_subflows=goodput(bent), flows=flows)
    assert opposed == pytest.approx([(-14 + 24) / 38, 1, 1])
    assert rows("phase-curvature", LATE, flows=flows) is None


def test_a_subflow_without_a_part_in_a_phase_has_nothing_there() -> None:
    """As 0, 5, 0 and 6, 0, 6; a flow with two phases alone has no curvature."""
    flows = flow_table(0)
    table = goodput({(0, 0): [None, 5.0, None], (0, 1): [6.0, 0.0, 6.0]})
    opposed = found("phase-curvature", LATE, phase_subflows=table, flows=flows)
    assert opposed[0] == pytest.approx(1)
    short = {"measure": {"phases": {"0": ["0 s", "5 s"], "1": ["5 s", "10 s"]}}}
    assert found("phase-curvature", short, phase_subflows=table, flows=flows) == []


def test_trend_of_goodput_over_phases() -> None:
    values = {(0, 0): [1.0, 2.0, 3.0, 4.0, 0.0], (0, 1): [5.0, 4.0, 4.5, 1.0, None]}
    run = made_run(1, {"phase_subflows": goodput(values), "flows": flow_table(0)}, resolved=LATE)

    def tau(subflow: int, phase: str, until: str) -> Value | None:
        where = {"name": "Flow 1", "subflow": subflow, "phase": phase, "until": until}
        return PublishedMeasure("phase-trend", where=where).of_run(run)

    assert tau(0, "0", "3") == Value(1)
    assert tau(0, "3", "4") == Value(-1)
    assert tau(1, "0", "2") == Value(-1 / 3)
    assert tau(1, "2", "4") == Value(-1)  # nothing in the last one
    assert tau(0, "3", "0") is None
    assert tau(0, "0", "all") is None
    assert rows("phase-trend", LATE, flows=flow_table(0)) is None


# Suppression of further subflows.

Events = Sequence[tuple[float, int, int, bool]]
"""Time, flow, subflow, and whether the subflow is suspended from then on."""


def suspensions(events: Events) -> pl.DataFrame:
    whole = {"flow": pl.UInt64, "subflow": pl.UInt64}
    schema = {"time_s": pl.Float64, **whole, "suspended": pl.Boolean}
    return pl.DataFrame(events, schema=schema, orient="row")


def subflow_table(*counts: int) -> pl.DataFrame:
    """The subflows of flows that have this many each."""
    pairs = [(flow, subflow) for flow, count in enumerate(counts) for subflow in range(count)]
    return pl.DataFrame(pairs, schema={"flow": pl.UInt64, "subflow": pl.UInt64}, orient="row")


def episode(begin_s: float, end_s: float | None, flow: int = 0, further: int = 2) -> Events:
    """All further subflows of a flow are suspended, and go on unless the run ends before."""
    ends = [] if end_s is None else [(end_s, False)]
    return [
        (at_s, flow, subflow, suspended)
        for at_s, suspended in [(begin_s, True), *ends]
        for subflow in range(1, further + 1)
    ]


@pytest.mark.parametrize(
    ("events", "episodes"),
    [
        ([], 0),
        (episode(1, 2), 1),
        (episode(1, None), 1),
        ([*episode(1, 2), *episode(3, 4), *episode(5, None)], 3),
        ([*episode(1, 2), (1.2, 0, 1, False), (1.8, 0, 1, True)], 1),  # the other one still is
        ([(1, 0, 1, True), (2, 0, 2, True), (3, 0, 1, False), (4, 0, 2, False)], 1),  # overlap
        ([(1, 0, 1, True), (2, 0, 1, False), (2, 0, 2, True), (3, 0, 2, False)], 1),  # no gap
        ([(1, 0, 0, True), (2, 0, 0, False), (3, 0, 0, True)], 0),  # the first subflow
        ([*episode(1, 2), *episode(1, 2, flow=1), *episode(3, 4, flow=1)], 1),
    ],
)
def test_episodes_are_counted_by_flow(events: Events, episodes: int) -> None:
    table = rows(
        "suppression-episodes", NOTHING, suspensions=suspensions(sorted(events)),
        subflows=subflow_table(3, 3, 1), flows=flow_table(0, 0, 0),
    )  # fmt: skip
    assert table is not None
    assert table["name"].to_list() == ["Flow 1", "Flow 2"]  # the third has one subflow
    assert table["episodes"][0] == episodes


def test_one_flows_suspensions_do_not_carry_over_to_the_next() -> None:
    events = suspensions([*episode(1, None), *episode(0.5, 0.75, flow=1), *episode(2, 3, flow=1)])
    flows, subflows = flow_table(0, 0, 0), subflow_table(3, 3, 2)
    tables = {"suspensions": events, "subflows": subflows, "flows": flows}
    assert found("suppression-episodes", NOTHING, **tables) == [1, 2, 0]


def test_episodes_need_recorded_suspensions() -> None:
    tables = {"subflows": subflow_table(3), "flows": flow_table(0)}
    assert rows("suppression-episodes", NOTHING, **tables) is None


# Settling.


def test_a_window_settles_when_it_is_in_its_later_range() -> None:
    falls = [100, 80, 60, 40, 20, 10, 9, 10, 11, 9, 10, 11, 9, 10, 11, 9]
    times = [float(place) for place in range(1, 17)]
    assert settling_s(times, falls, 0.5) == 5.5
    assert settling_s(times, [100] * 7 + [10] * 9, 0.5) == 7.5  # later
    assert settling_s(times, [10] * 16, 0.5) == 0.5  # nothing to wait for
    rises = [float(place) for place in range(16)]
    assert settling_s(times, rises, 0.5) == 0.5  # it never falls
    assert settling_s(times[:3], falls[:3], 0.5) is None


@given(st.floats(0.1, 1e6), st.integers(4, 50))
def test_an_even_window_has_settled_at_once(window: float, count: int) -> None:
    assert settling_s([float(place) for place in range(count)], [window] * count, 0) == 0


def test_windows_settle_after_each_flow_that_starts() -> None:
    """Each flow's own start does not count, nor does anything behind the next start."""
    fall = [50, 30, *[10] * 8]
    later = [40, 30, 20, *[5] * 7]
    windows = pl.concat(
        [
            series("window_packets", {(0, 0): fall + fall + later, (0, 1): [7] * 30}, -0.5),
            series("window_packets", {(1, 0): later + [9] * 10}, 9.5),
            series("window_packets", {(2, 0): [9] * 10}, 19.5),
        ]
    )
    flows = flow_table(0, 10, 20)
    table = rows("window-settling", NOTHING, windows=windows, flows=flows)
    assert table is not None
    assert table.select("name", "subflow", "after", "settling_s").rows() == [
        ("Flow 1", 0, "Flow 2", 2.5),
        ("Flow 1", 1, "Flow 2", 0.5),
        ("Flow 1", 0, "Flow 3", 3.5),
        ("Flow 1", 1, "Flow 3", 0.5),
        ("Flow 2", 0, "Flow 3", 0.5),
    ]
    assert rows("window-settling", NOTHING, flows=flows) is None


def test_windows_settle_before_a_flow_ends() -> None:
    """What the window is when the newcomer has left is not where it stays under it."""
    falls = [50, 40, 30, 20, *[10] * 6]
    windows = series("window_packets", {(0, 0): [50] * 10 + falls + [80] * 10}, -0.5)
    for ends, settled in (((None, 20), 4.5), ((None, None), 0.5)):
        flows = flow_table(0, 10, ends_s=ends)
        assert found("window-settling", NOTHING, windows=windows, flows=flows) == [settled]


def test_a_flow_that_ends_when_another_starts_made_way() -> None:
    """The last packets of a flow that is stopped arrive after the next one has begun."""
    falls = [50, 40, 30, 20, *[10] * 16]
    windows = series("window_packets", {(0, 0): [50] * 10 + falls}, -0.5)
    for end, settled in ((10.001, [4.5]), (13.5, [4.5]), (13.6, [2.5]), (20, [4.5])):
        flows = flow_table(0, 0, 10, ends_s=(None, end, None))
        assert found("window-settling", NOTHING, windows=windows, flows=flows) == settled


def test_windows_settle_after_flows_that_start_together() -> None:
    windows = series("window_packets", {(n, 0): [9] * 20 for n in (0, 1, 2)}, -0.5)
    table = rows("window-settling", NOTHING, windows=windows, flows=flow_table(0, 10, 10))
    assert table is not None
    assert table.select("name", "after").rows() == [("Flow 1", "Flow 2"), ("Flow 1", "Flow 3")]


# Reaching a rate.


def test_a_rate_is_reached_from_either_side() -> None:
    times = [float(place) for place in range(1, 21)]
    steep, slow = [0.0, 50.0, *[100.0] * 18], [5.0 * place for place in range(20)]
    assert reaching_s(times, steep, 0, 0.1) == 3
    taken = reaching_s(times, slow, 0, 0.1)  # 72.5 in the end, so 65.25
    assert taken == 15
    assert reaching_s(times, [200 - rate for rate in steep], 0, 0.1) == 3
    assert reaching_s(times, [100.0] * 20, 0.5, 0.1) == 0.5
    assert reaching_s(times, steep, 0, 0.6) == 2  # not so near
    assert reaching_s(times[:3], steep[:3], 0, 0.1) is None


def test_rates_settle_after_each_event() -> None:
    resolved = {"events": [{"at": "20 s"}, {"at": "10 s"}, {"at": "10 s"}]}
    own = [3.0] * 10 + [0.0, 4.0, *[8.0] * 8] + [8.0, 6.0, 4.0, 3.1, *[3.0] * 6]
    rates = series("rate_bps", {(0, 0): own, (0, 1): [6.0] * 30})
    table = rows("rate-settling", resolved, rates=rates, flows=flow_table(0))
    assert table is not None
    assert table.select("subflow", "after", "settling_s").rows() == [
        (0, "10 s", 3.0),
        (1, "10 s", 1.0),
        (0, "20 s", 4.0),
        (1, "20 s", 1.0),
    ]
    assert rows("rate-settling", {"events": []}, rates=rates, flows=flow_table(0)) is None
    assert rows("rate-settling", resolved, flows=flow_table(0)) is None


def test_a_new_flow_settles_before_the_next_one_starts() -> None:
    """The second flow has 10, 50, 90, 100, ... of 100 from 1 s on, and less when a third starts."""
    steps = [10.0, 50.0, 90.0, 100.0, 100.0, 100.0, 100.0, 100.0, 30.0, 30.0, 30.0, 30.0]
    times = [1.0 + 0.1 * (place + 1) for place in range(len(steps))]
    rates = pl.DataFrame(
        {
            "time_s": [each for each in times for _ in range(2)],
            "flow": [2] * (2 * len(times)),
            "subflow": [0, 1] * len(times),
            "rate_bps": [share * rate for rate in steps for share in (0.75, 0.25)],
        }
    )
    flows = pl.DataFrame(
        {
            "id": [1, 2, 3],
            "name": ["a", "b", "c"],
            "group": ["g"] * 3,
            "start_s": [0.0, 1.0, 1.85],
            "end_s": pl.Series([None, None, None], dtype=pl.Float64),
        }
    )
    found = start_settling(made_run(1, {"rates": rates, "flows": flows}))
    assert found is not None
    assert found.select("name", "group").rows() == [("b", "g"), ("c", "g")]
    first, last = found["settling_s"].to_list()
    assert first == pytest.approx(0.3)  # 90 of 100; with all later samples it would be of 58
    assert last is None  # no samples of it
    assert start_settling(made_run(1, {"flows": flows})) is None


def test_the_total_rate_settles_after_the_last_start() -> None:
    """Neither does what the first flow gives up for the second count, nor what was before."""
    first = [9.0] * 20 + [8.0, 6.0, 4.0, *[3.0] * 27]
    second = [1.0, 3.0, 5.0, *[6.0] * 27]
    slow = [0.2 * place for place in range(30)]
    settled: list[float | None] = []
    for joined in (second, slow):
        rates = pl.concat(
            [
                series("rate_bps", {(0, 0): first}),
                series("rate_bps", {(1, 0): joined}, 20),
            ]
        )
        settled += found("total-rate-settling", NOTHING, rates=rates, flows=flow_table(0, 20))
    quick, slowly = settled
    assert quick == 6  # the first sample of which no average reaches back
    assert slowly is not None
    assert slowly > 15
    assert rows("total-rate-settling", NOTHING, flows=flow_table(0)) is None


# Series as rows.


def test_range_of_a_flows_rate_by_phase() -> None:
    values = {(0, 0): [4.0, 6.0] * 5 + [9.0] * 10, (0, 1): [6.0, 4.0] * 5 + [1.0, 3.0] * 5}
    rates = series("rate_bps", {**values, (1, 0): [0.0] * 10 + [7.0] * 10})
    table = rows("rate-range", PHASES, rates=rates, flows=flow_table(0, 0))
    assert table is not None
    assert sorted(table.select("name", "phase", "range_bps").rows()) == [
        ("Flow 1", "", 2.0),
        ("Flow 1", "early", 0.0),  # all subflows together
        ("Flow 1", "late", 2.0),
        ("Flow 2", "", 7.0),
        ("Flow 2", "early", 0.0),
        ("Flow 2", "late", 0.0),
    ]
    assert rows("rate-range", PHASES, flows=flow_table(0)) is None


def test_queue_samples_are_of_the_measurement_window() -> None:
    queues = pl.DataFrame({"time_s": [0.5, 1.0, 1.5], "link": ["A->B"] * 3, "packets": [9, 3, 1]})
    resolved = {"measure": {"from": "1 s"}}
    assert found("queue-samples", resolved, queues=queues) == [3, 1]
    assert found("queue-samples", NOTHING, queues=queues) == [9, 3, 1]
    assert rows("queue-samples", NOTHING, flows=flow_table(0)) is None


def test_window_samples_are_the_least_between_samples() -> None:
    windows = series("window_packets", {(0, 0): [9, 9, 9]}).with_columns(
        window_min_packets=pl.Series([None, 4.0, 8.0])
    )
    assert found("window-samples", NOTHING, windows=windows, flows=flow_table(0)) == [4, 8]
    assert rows("window-samples", NOTHING, flows=flow_table(0)) is None


def test_rtt_samples_are_means_between_samples() -> None:
    rtts = series("rtt_s", {(0, 0): [9, 9, 9, 9], (0, 1): [9, 9, 9, 9]}, step_s=5.0)
    rtts = rtts.with_columns(rtt_mean_s=pl.Series([1.0, 3.0, None, 5.0, 2.0, 2.0, 2.0, 2.0]))
    tables = {"rtts": rtts, "flows": flow_table(0)}
    assert found("rtt-samples", NOTHING, **tables) == [1, 3, 5, 2, 2, 2, 2]
    run = made_run(1, tables, resolved=PHASES)
    first = {"name": "Flow 1", "subflow": 0}
    assert PublishedMeasure("rtt-samples", where=first, during="early").of_run(run) == Value(2)
    assert PublishedMeasure("rtt-samples", where=first, during="late").of_run(run) == Value(5)
    assert PublishedMeasure("rtt-samples", during="late").of_run(run) == Value(3)
    assert rows("rtt-samples", NOTHING, flows=flow_table(0)) is None


# Numbers of a run.


def test_a_check_is_measured_as_a_quantity_is() -> None:
    values = {(0, 0): [4.0, 6.0] * 5 + [9.0] * 10, (1, 0): [0.0] * 10 + [7.0] * 10}
    run = made_run(
        1, {"rates": series("rate_bps", values), "flows": flow_table(0, 0)}, resolved=PHASES
    )
    one = PublishedMeasure("rate-range", "max", where={"phase": ""})
    assert one.of_run(run) == Value(7)
    assert PublishedMeasure("rate-range", where={"phase": "", "name": "Flow 1"}).of_run(
        run
    ) == Value(5)
    either = PublishedMeasure("rate-range", "sum", where={"phase": ["", "late"], "name": "Flow 2"})
    assert either.of_run(run) == Value(7)
    ratio = PublishedMeasure(
        "rate-range", where={"phase": "", "name": "Flow 2"}, over={"phase": "", "name": "Flow 1"}
    )
    assert ratio.of_run(run) == Value(1.4)
    assert PublishedMeasure("rate-range", where={"name": "Flow 3"}).of_run(run) is None
    assert PublishedMeasure("rate-range", where={"colour": "red"}).of_run(run) is None
    by_nothing = PublishedMeasure(
        "rate-range", where={"phase": ""}, over={"phase": "early", "name": "Flow 2"}
    )
    assert by_nothing.of_run(run) is None  # its range is 0


def test_only_samples_of_the_phase_count() -> None:
    queues = pl.DataFrame(
        {"time_s": [5.0, 10.0, 10.5, 20.0], "link": ["A->B"] * 4, "packets": [1, 3, 10, 20]}
    )
    run = made_run(1, {"queues": queues}, resolved=PHASES)
    for phase, value in (("early", 2), ("late", 15), ("", 8.5)):
        assert PublishedMeasure("queue-samples", during=phase).of_run(run) == Value(value)
    assert PublishedMeasure("queue-samples", during="never").of_run(run) is None


def completions(count: int, unfinished: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "group": ["g"] * (count + unfinished),
            "start_s": [0.0] * (count + unfinished),
            "end_s": pl.Series([0.1] * count + [None] * unfinished, dtype=pl.Float64),
            "finished": pl.Series([True] * count + [False] * unfinished, dtype=pl.Boolean),
            "in_window": pl.Series([True] * (count + unfinished), dtype=pl.Boolean),
            "jct_s": pl.Series([0.1] * count + [None] * unfinished, dtype=pl.Float64),
        }
    )


@pytest.mark.parametrize(
    ("statistic", "unfinished", "value", "at_least"),
    [
        ("mean", 1, 0.1, False),
        ("mean", 100, 0.19, True),
        ("median", 100, 0.1, False),
        ("p95", 100, 1.0, True),
        ("over 300 ms", 100, 0.1, False),
        ("over 2 s", 100, 0.0, True),  # they may still take longer
        ("max", 1, 1.0, True),
        ("count", 100, 900, False),
        ("range", 0, 0.0, False),
        ("range", 1, 0.0, True),  # what is unfinished takes longer
        ("std", 1, 0.0, False),
    ],
)
def test_a_mean_of_what_is_unfinished_is_a_bound(
    statistic: str, unfinished: int, value: float, at_least: bool
) -> None:
    """Of a thousand jobs; the run ends after 1 s, so that is the age of the unfinished ones."""
    run = made_run(1, {"jobs": completions(1000 - unfinished, unfinished)})
    found = PublishedMeasure("jct", statistic).of_run(run)
    assert found is not None
    assert (found.value, found.at_least) == (pytest.approx(value), at_least)


@pytest.mark.parametrize(
    ("unfinished", "value", "at_least"), [(4, 0.1495, False), (16, 0.1415, True)]
)
def test_a_percentile_between_close_bounds_is_known(
    unfinished: int, value: float, at_least: bool
) -> None:
    """A hundred jobs took 100 to 199 ms, others began 50 ms before the end of the run."""
    times = [place / 1000 for place in range(100, 200)]
    jobs = pl.DataFrame(
        {
            "group": ["g"] * (100 + unfinished),
            "start_s": [0.0] * 100 + [0.95] * unfinished,
            "end_s": pl.Series([*times, *[None] * unfinished], dtype=pl.Float64),
            "finished": [True] * 100 + [False] * unfinished,
            "in_window": [True] * (100 + unfinished),
            "jct_s": pl.Series([*times, *[None] * unfinished], dtype=pl.Float64),
        }
    )
    found = PublishedMeasure("jct", "median").of_run(made_run(1, {"jobs": jobs}))
    assert found is not None
    assert (found.value, found.at_least) == (pytest.approx(value), at_least)


def test_jobs_that_start_after_the_measurement_window_do_not_count() -> None:
    """Those that are always under way when a run ends are no bound on what came before."""
    late = completions(0, 100).with_columns(in_window=pl.lit(value=False))
    run = made_run(1, {"jobs": pl.concat([completions(100, 0), late])})
    found = PublishedMeasure("jct").of_run(run)
    assert found is not None
    assert (found.value, found.at_least) == (pytest.approx(0.1), False)


def test_ages_bound_no_deviation() -> None:
    run = made_run(1, {"jobs": completions(900, 100)})
    assert PublishedMeasure("jct", "std").of_run(run) is None


def test_no_jobs_have_no_completion_time() -> None:
    assert PublishedMeasure("jct").of_run(made_run(1, {"jobs": completions(0, 0)})) is None


@pytest.mark.parametrize("name", CHECKS)
def test_a_run_without_tables_has_nothing_for_a_check(name: str) -> None:
    assert CHECKS[name].table(made_run(1, {}, resolved=NOTHING)) is None
    assert PublishedMeasure(name).of_run(made_run(1, {}, resolved=NOTHING)) is None


def test_flows_under_way_at_the_end_count() -> None:
    """A mean of the goodput of finished flows would be one of the fast ones."""
    flows = pl.DataFrame(
        {
            "id": [0, 1, 2],
            "end": ["finished", "unfinished", "unstarted"],
            "in_window": [True, True, False],
            "goodput_bps": [9e6, 3e6, None],
        }
    )
    assert PublishedMeasure("goodput", unit="Mbps").of_run(made_run(1, {"flows": flows})) == Value(
        6e6
    )
