"""Time to fair share, against rates written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from made_results import made_run
from pathweave.results import arrivals as module
from pathweave.results.arrivals import Arrival, arrivals, intervals_in_bin, whole_intervals
from pathweave.results.checks.share import share_settling, time_to_own_share
from pathweave.results.convergence import convergence, time_to_fair_share
from pathweave.results.published_measure import PublishedMeasure, Value
from pathweave.results.units import amount, seconds

HALF, UNFAIR = (5.0, 5.0), (7.0, 3.0)


def arrival(
    rates: Sequence[Sequence[float]], packets: Sequence[float] = (0.0, 0.0), own: int = 1
) -> Arrival:
    """A second flow with bins of a second, the first one beginning with it."""
    times = [10.0 + place for place in range(1, len(rates) + 1)]
    return Arrival(1, "Flow 2", "flows", 10.0, 1.0, times, rates, packets, own)


def measured(rates: list[tuple[float, float]]) -> float | None:
    return time_to_fair_share(arrival(rates))


def test_counts_to_the_beginning_of_the_first_fair_bin() -> None:
    assert measured([UNFAIR] * 4 + [HALF] * 20) == pytest.approx(4.0)
    assert measured([HALF] * 20) == 0.0


def test_ten_bins_in_a_row() -> None:
    assert measured([HALF] * 9 + [UNFAIR] + [HALF] * 20) == pytest.approx(10.0)
    assert measured([HALF] * 9) is None
    assert measured([UNFAIR] * 40) is None
    assert measured([]) is None


def test_the_fair_share_is_what_flows_have_in_the_end() -> None:
    # Fair is 5 each: 5.4 and 4.6 are within a tenth, 5.6 and 4.4 are not.
    assert measured([(5.4, 4.6)] * 10 + [HALF] * 20) == 0.0
    assert measured([(5.6, 4.4)] * 10 + [HALF] * 20) == pytest.approx(10.0)
    # Both have twice as much until half the time is over.
    assert measured([(10.0, 10.0)] * 15 + [HALF] * 15) == pytest.approx(15.0)


def test_one_packet_a_bin_is_near() -> None:
    """Five packets a bin are fair: four and six are no further than packets allow, three are."""
    packets = (1.0, 1.0)
    assert time_to_fair_share(arrival([(4.0, 6.0)] * 10 + [HALF] * 20, packets)) == 0.0
    late = arrival([(3.0, 7.0)] * 10 + [HALF] * 20, packets)
    assert time_to_fair_share(late) == pytest.approx(10.0)
    # Where a packet is less than a tenth of the share, a tenth decides.
    many = [(50.0 - over, 50.0 + over) for over in [6.0] * 10 + [5.0] * 20]
    assert time_to_fair_share(arrival(many, packets)) == pytest.approx(10.0)


def test_packets_of_different_sizes() -> None:
    apart = [(4.0, 6.0)] * 10 + [HALF] * 20
    assert time_to_fair_share(arrival(apart, (1.0, 0.9))) == pytest.approx(10.0)
    assert time_to_fair_share(arrival(apart, (0.9, 1.0))) == pytest.approx(10.0)


def test_a_flows_own_share_whatever_the_others_have() -> None:
    # Three flows: the first two give way to each other for ten bins; the third has its share.
    rates = [(7.0, 3.0, 5.0)] * 10 + [(5.0, 5.0, 5.0)] * 20
    packets = (0.0, 0.0, 0.0)
    assert time_to_fair_share(arrival(rates, packets, own=2)) == pytest.approx(10.0)
    assert time_to_own_share(arrival(rates, packets, own=2)) == 0.0
    assert time_to_own_share(arrival(rates, packets, own=1)) == pytest.approx(10.0)
    assert time_to_own_share(arrival([], ())) is None
    # Passing through the share is not staying near it.
    rising = [(5.0, 0.5 * place) for place in range(30)]
    assert time_to_own_share(arrival([*rising[:20], *[HALF] * 40])) == pytest.approx(20.0)


RESOLVED: dict[str, Any] = {
    "record": {"rates": "100 ms"},
    "traffic": [{"name": "flows", "transport": {"maximum_segment": "10 B"}}],
}


@pytest.fixture(autouse=True)
def _base_rtt(monkeypatch: pytest.MonkeyPatch) -> None:
    set_base_rtt(monkeypatch, 0.1)


def set_base_rtt(monkeypatch: pytest.MonkeyPatch, seconds: float | None) -> None:
    def base_rtt(_: object) -> float | None:
        return seconds

    monkeypatch.setattr(module, "largest_base_rtt_s", base_rtt)


def run_of(
    rates: list[tuple[float, int, float]],
    starts: list[float],
    ends: list[float | None] | None = None,
    interval: str = "100 ms",
) -> Any:
    flows = pl.DataFrame(
        {
            "id": range(len(starts)),
            "name": [f"Flow {place}" for place in range(1, len(starts) + 1)],
            "group": ["flows"] * len(starts),
            "start_s": starts,
            "end_s": pl.Series(ends or [None] * len(starts), dtype=pl.Float64),
        }
    )
    table = pl.DataFrame(rates, schema=["time_s", "flow", "rate_bps"], orient="row")
    resolved = {**RESOLVED, "record": {"rates": interval}}
    return made_run(1, {"rates": table, "flows": flows}, resolved=resolved)


def test_each_later_flow_has_a_row() -> None:
    # The second flow comes after 2 s and has its half after 0.3 s; the third comes after 4 s and
    # never has anything. Subflows of a flow count together.
    rates = [(n / 10, 0, 6000.0) for n in range(1, 21)]
    for n in range(21, 61):
        rates += [(n / 10, 0, 3000.0)]
        rates += [(n / 10, 1, 1000.0), (n / 10, 1, 2000.0)] if n > 23 else [(n / 10, 1, 0.0)]
    run = run_of(rates, [0.0, 2.0, 4.0])
    table = convergence(run)
    assert table is not None
    assert table["name"].to_list() == ["Flow 2", "Flow 3"]
    assert table["time_to_fair_share_s"].to_list() == [pytest.approx(0.3), None]
    own = share_settling(run)
    assert own is not None
    assert own["settling_s"].to_list() == [pytest.approx(0.3), None]


def test_what_never_came_is_a_bound() -> None:
    rates = [(n / 10, flow, 6000.0 * flow) for n in range(1, 21) for flow in (0, 1)]
    run = run_of(rates, [0.0, 0.5])
    for name in ("share-settling", "time_to_fair_share"):
        assert PublishedMeasure(name).of_run(run) == Value(
            0.5, at_least=True
        )  # the run ends after 1 s


def test_flows_that_start_together_are_under_way_together() -> None:
    rates = [
        (n / 10, flow, 3000.0) for n in range(1, 41) for flow in (0, 1, 2) if flow != 2 or n > 20
    ]
    table = convergence(run_of(rates, [0.0, 0.0, 2.0]))
    assert table is not None
    assert table.select("name", "time_to_fair_share_s").rows() == [("Flow 3", pytest.approx(0.0))]


def test_until_a_flow_ends() -> None:
    """The third flow's share is half, for the first has ended; it is not what it has alone."""
    rates: list[tuple[float, int, float]] = []
    for n in range(1, 101):
        now = n / 10
        rates += [(now, 0, 6000.0 if now <= 1.0 else 3000.0)] if now <= 3.0 else []
        rates += [(now, 1, 3000.0)] if 1.0 < now <= 8.0 else []
        rates += [(now, 2, 3000.0 if now <= 8.0 else 6000.0)] if now > 4.0 else []
    found = arrivals(run_of(rates, [0.0, 1.0, 4.0], [3.0, 8.0, None]))
    assert found is not None
    second, third = found
    assert (len(second.times), len(third.times)) == (20, 40)
    assert (third.own, time_to_fair_share(third)) == (1, pytest.approx(0.0))


def test_a_flow_that_ends_when_another_starts_made_way() -> None:
    """Its last packets arrive after that; ten bins later it would be one of those that share."""
    rates = [(n / 10, 0, 3000.0) for n in range(1, 61)]
    rates += [(n / 10, 2, 3000.0) for n in range(21, 61)]
    for ends_s, shares in ((2.2, [0.0]), (3.0, [0.0]), (3.1, [None])):
        last = [(n / 10, 1, 9000.0) for n in range(1, round(10 * ends_s) + 1)]
        table = convergence(run_of(rates + last, [0.0, 0.0, 2.0], [None, ends_s, None]))
        assert table is not None
        assert table["time_to_fair_share_s"].to_list() == pytest.approx(shares)
    # Where no other stays there is nobody to share with, nor time for a flow that leaves itself.
    for ends in ([2.2, 2.2, None], [None, None, 2.2]):
        table = convergence(run_of(rates, [0.0, 0.0, 2.0], ends))
        assert table is not None
        assert table.is_empty()


@pytest.mark.parametrize(
    ("interval_s", "base_rtt_s", "count"),
    [(0.1, 0.05, 1), (0.1, 0.1, 1), (0.1, 0.10001, 2), (0.1, 0.3, 3), (1e-4, 6e-4, 6)],
)
def test_bins_are_the_fewest_intervals_of_a_base_rtt(
    interval_s: float, base_rtt_s: float, count: int
) -> None:
    assert intervals_in_bin(interval_s, base_rtt_s) == count


def test_rates_are_averaged_over_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other interval one flow has all: over two intervals both have their half."""
    rates = [(n / 10, 0, 6000.0) for n in range(1, 11)]
    for n in range(11, 52):
        rates += [(n / 10, flow, 6000.0 if n % 2 == flow else 0.0) for flow in (0, 1)]
    run = run_of(rates, [0.0, 1.0])
    for base_rtt_s, found in ((0.1, None), (0.15, 0.0), (0.2, 0.0), (0.3, None)):
        set_base_rtt(monkeypatch, base_rtt_s)
        table = convergence(run)
        assert table is not None
        assert table["time_to_fair_share_s"].to_list() == [found]
    set_base_rtt(monkeypatch, 0.2)
    (only,) = arrivals(run) or []
    assert only.bin_s == pytest.approx(0.2)
    assert only.times == pytest.approx([1.2 + 0.2 * place for place in range(20)])  # 5.1 s: half
    assert only.packets == pytest.approx([400.0, 400.0])  # 80 bits in 0.2 s
    assert set(only.rates) == {(3000.0, 3000.0)}


def test_an_interval_that_ends_when_a_flow_starts_is_before_it() -> None:
    """Ends of intervals are sums that can be off in their last digits."""
    rates = [(n / 10, 0, 6000.0) for n in range(1, 20)] + [(2.0000000000000004, 0, 6000.0)]
    rates += [(n / 10, flow, 3000.0) for n in range(21, 41) for flow in (0, 1)]
    (only,) = arrivals(run_of(rates, [0.0, 2.0])) or []
    assert only.times[0] == 2.1
    assert len(only.times) == 20


def test_an_interval_that_the_end_of_the_run_cut_short_does_not_count() -> None:
    rates = [(n / 10, 0, 6000.0) for n in range(1, 21)]
    for n in range(21, 41):
        rates += [(n / 10, 0, 3000.0), (n / 10, 1, 3000.0)]
    short = [(4.01, 0, 60000.0), (4.01, 1, 0.0)]
    for ends in ([], short):
        table = convergence(run_of(rates + ends, [0.0, 2.0]))
        assert table is not None
        assert table["time_to_fair_share_s"].to_list() == [pytest.approx(0.0)]
    frame = pl.DataFrame(rates + short, schema=["time_s", "flow", "rate_bps"], orient="row")
    assert whole_intervals(frame, 0.1)["time_s"].max() == 4.0
    assert whole_intervals(frame[:1], 0.1).height == 1
    assert whole_intervals(frame[:1], 0.2).height == 0
    assert whole_intervals(frame[:0], 0.1).height == 0


def test_without_rates_or_base_rtt_there_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of([(0.1, 0, 1.0)], [0.0])
    table = convergence(run)
    assert table is not None
    assert table.is_empty()  # no flow starts while another is under way
    set_base_rtt(monkeypatch, None)
    assert convergence(run) is None
    assert share_settling(run) is None
    assert convergence(made_run(1, {"flows": run.read("flows")})) is None


def test_times_are_read() -> None:
    assert [seconds("600 us"), seconds("1 ms"), seconds("0.25 s")] == [6e-4, 1e-3, 0.25]
    assert amount("1460 B") == 1460
    with pytest.raises(ValueError, match="not a time"):
        seconds("on-change")
    with pytest.raises(ValueError, match="not a number with a unit"):
        amount("on-change")
