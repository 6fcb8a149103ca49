"""A run as the packets of a trace: a group of tracks for what happens, for links, and for flows.

Counters of a link are its recorded queue, and its utilisation, drops, losses and marks as far as
tables have them: utilisation by phase where phases follow each other, else over the measurement
window, the others as totals that the window's end reaches. Outside of them nothing was measured,
and the counters are at 0. A run with a map (`record.map`) has all of these by interval instead.
Counters of a subflow are its recorded window, RTTs and rate.
"""

from __future__ import annotations

import math
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any

from pathweave.results.happenings import event_subject
from pathweave.results.linkmap import begins, map_interval
from pathweave.results.units import seconds
from pathweave.trace import perfetto

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun

_TOTALS = {
    "drops": "drops (packets)",
    "lost_to_failure": "lost to failures (packets)",
    "lost_silently": "lost silently (packets)",
    "marks": "marks (packets)",
}
_LOST = {column: _TOTALS[column] for column in ("lost_to_failure", "lost_silently")}
"""Totals that a map does not tell from other losses."""
_SAME = 1e-6
"""Part of an interval by which times may be off and be the same."""
_SERIES = (
    ("windows", "window_packets", "window (packets)", 1.0),
    ("windows", "ssthresh_packets", "ssthresh (packets)", 1.0),
    ("rtts", "rtt_s", "RTT (us)", 1e6),
    ("rtts", "smoothed_rtt_s", "smoothed RTT (us)", 1e6),
)
"""Table, column, name of the counter and what one unit of it is in the column's."""
_ABOUT_FLOWS = (
    "controller", "subflows", "source", "destination", "size_bytes", "delivered_bytes", "fct_s",
    "goodput_bps", "retransmits", "timeouts", "marks", "rtt_mean_s",
)  # fmt: skip


def packets(run: StoredRun) -> Iterator[bytes]:
    """The packets of the run's trace, in an order that depends on its tables alone.

    Raises `InputError` for a table that is damaged.
    """
    uuids = count(1)
    yield perfetto.beginning()
    yield from _happenings(run, uuids)
    yield from _links(run, uuids)
    if "flows" in run.tables:
        yield from _flows(run, uuids)


def _happenings(run: StoredRun, uuids: Iterator[int]) -> Iterator[bytes]:
    """Phases and events of the scenario."""
    events = run.manifest["resolved"].get("events", [])
    phases = _phases(run)
    if not events and not phases:
        return
    group = next(uuids)
    yield perfetto.process(group, "run")
    if events:
        track = next(uuids)
        yield perfetto.track(track, "events", group)
        for event in sorted(events, key=lambda event: seconds(event["at"])):
            at = seconds(event["at"])
            yield perfetto.instant(at, track, _event_text(event), "event", {})
    for name, begin, end in phases:
        track = next(uuids)  # phases may overlap, which slices of one track must not
        yield perfetto.track(track, f"phase: {name}", group)
        yield perfetto.slice_begin(begin, track, name, "phase", {})
        yield perfetto.slice_end(end, track)


def _event_text(event: dict[str, Any]) -> str:
    """What an event does: "A1-B1 goes down", "A2->B2 at 50 Mbps"."""
    words = [f"at {event['rate']}"] if "rate" in event else []
    words += ["goes down"] if event.get("down") else []
    words += ["comes back"] if event.get("up") else []
    words += [f"loses {100 * event['loss']:g} %"] if "loss" in event else []
    return f"{event_subject(event)} {', '.join(words)}"


def _links(run: StoredRun, uuids: Iterator[int]) -> Iterator[bytes]:
    if "links" not in run.tables:
        return
    group = next(uuids)
    yield perfetto.process(group, "links")
    queues = _by(run, "queues", ["link"])
    utilisations = _utilisations(run)
    mapped = _by(run, "map", ["link"])
    interval = map_interval(run) if "map" in run.tables else None
    begin, end = _window(run)
    for link in run.read("links").iter_rows(named=True):
        name = link["link"]
        queue = queues.get((name,))
        if queue is not None:
            points = zip(queue["time_s"], queue["packets"], strict=True)
            yield from _counter(next(uuids), f"{name} queue (packets)", group, points)
        if interval is not None:
            rows = mapped.get((name,))
            if rows is not None:
                yield from _mapped(name, rows, interval, group, uuids, queued=queue is not None)
            for column, text in _LOST.items():
                if link.get(column):
                    points = [(begin, 0.0), (end, link[column])]
                    yield from _counter(next(uuids), f"{name} {text}", group, points)
            continue
        steps = utilisations.get(name, [(begin, link["utilisation"]), (end, 0.0)])
        # A link that was down all the time has no utilisation; the counter must not stay as it was.
        shares = [(at, 100 * (share or 0.0)) for at, share in steps]
        yield from _counter(next(uuids), f"{name} utilisation (%)", group, shares)
        for column, text in _TOTALS.items():
            if link.get(column):
                points = [(begin, 0.0), (end, link[column])]
                yield from _counter(next(uuids), f"{name} {text}", group, points)


def _mapped(
    name: str,
    rows: pl.DataFrame,
    interval: float,
    group: int,
    uuids: Iterator[int],
    *,
    queued: bool,
) -> Iterator[bytes]:
    """Counters of a link over time, from the map; `queued` says that its queue has one already."""
    times = rows["time_s"].to_list()
    means = [("utilisation", f"{name} utilisation (%)", 100.0)]
    means += [] if queued else [("queue_mean", f"{name} queue (packets)", 1.0)]
    for column, text, factor in means:
        steps: list[tuple[float, float]] = []
        for time, value in zip(times, rows[column], strict=True):
            start = begins(time, interval)
            if steps and steps[-1][0] >= start - _SAME * interval:
                steps.pop()  # the interval before ends where this one begins
            steps += [(start, factor * (value or 0.0)), (time, 0.0)]
        yield from _counter(next(uuids), text, group, steps)
    for column in ("marks", "drops"):
        if rows[column].sum():
            totals = [0.0, *rows[column].cum_sum()]
            points = zip([0.0, *times], totals, strict=True)
            yield from _counter(next(uuids), f"{name} {column} (packets)", group, points)


def _utilisations(run: StoredRun) -> dict[str, list[tuple[float, float]]]:
    """By link, utilisation from the times at which phases begin and end; empty without phases."""
    phases = _phases(run)
    overlap = any(first[2] > second[1] for first, second in pairwise(phases))
    if "phase_links" not in run.tables or overlap:
        return {}
    found: dict[str, list[tuple[float, float]]] = {}
    by_phase = _by(run, "phase_links", ["phase"])
    for place, (name, begin, end) in enumerate(phases):
        followed = place + 1 < len(phases) and phases[place + 1][1] == end
        rows = by_phase.get((name,))
        if rows is None:
            continue
        for link, share in zip(rows["link"], rows["utilisation"], strict=True):
            steps = found.setdefault(link, [])
            steps.append((begin, share))
            if not followed:
                steps.append((end, 0.0))
    return found


def _flows(run: StoredRun, uuids: Iterator[int]) -> Iterator[bytes]:
    """A group of tracks for each traffic group, a track and counters for each of its flows."""
    flows = run.read("flows")
    ended = _ended(run)
    series = {table: _by(run, table, ["flow", "subflow"]) for table in ("windows", "rtts", "rates")}
    failures = _by(run, "recoveries", ["flow"])
    for part in flows.partition_by("group", maintain_order=True):
        group = next(uuids)
        yield perfetto.process(group, f"flows: {part['group'][0]}")
        for flow in part.iter_rows(named=True):
            track = next(uuids)
            yield perfetto.track(track, flow["name"], group)
            yield from _life(flow, track, ended)
            yield from _recoveries(failures.get((flow["id"],)), track)
            for subflow in range(int(flow["subflows"])):
                where = f"{flow['name']}, subflow {subflow}: "
                for table, column, text, factor in _SERIES:
                    rows = series[table].get((flow["id"], subflow))
                    if rows is not None and column in rows.columns:
                        values = zip(rows["time_s"], rows[column] * factor, strict=True)
                        yield from _counter(next(uuids), where + text, group, values)
                rows = series["rates"].get((flow["id"], subflow))
                if rows is not None:
                    points = _rates(rows, seconds(run.manifest["resolved"]["record"]["rates"]))
                    yield from _counter(next(uuids), f"{where}rate (Mbps)", group, points)


def _life(flow: dict[str, Any], track: int, ended_s: float) -> Iterator[bytes]:
    """A slice from the flow's start to its end, or to that of the run."""
    begin = flow["start_s"]
    end = ended_s if flow["end_s"] is None else flow["end_s"]
    about = {name: flow[name] for name in _ABOUT_FLOWS if flow.get(name) is not None}
    name = f"{flow['name']} ({flow['end']})"
    yield perfetto.slice_begin(begin, track, name, "flow", about)
    yield perfetto.slice_end(max(begin, end), track)


def _recoveries(rows: pl.DataFrame | None, track: int) -> Iterator[bytes]:
    """When failures hit a flow, and when it had recovered."""
    for row in rows.iter_rows(named=True) if rows is not None else ():
        about = {"subflows_hit": row["subflows_hit"]}
        name = f"hit by the failure of {row['failed']}"
        yield perfetto.instant(row["at_s"], track, name, "failure", about)
        if row["recovery_s"] is not None:
            name = f"recovered from the failure of {row['failed']}"
            at = row["at_s"] + row["recovery_s"]
            yield perfetto.instant(at, track, name, "failure", {"recovery_s": row["recovery_s"]})


def _rates(rows: pl.DataFrame, interval_s: float) -> Iterator[tuple[float, float]]:
    """Rates in Mbit/s from the beginning of their intervals; 0 where none was recorded.

    A row is of the interval that ends at its time.
    """
    last = -math.inf
    for at, rate in zip(rows["time_s"], rows["rate_bps"], strict=True):
        begin = max(at - interval_s, last, 0.0)
        if begin - last > 0.001 * interval_s and last > 0:
            yield last, 0.0
        yield begin, rate / 1e6
        last = at
    if last > 0:
        yield last, 0.0


def _counter(
    uuid: int, name: str, group: int, points: Iterator[tuple[float, Any]] | Sequence[Any] | Any
) -> Iterator[bytes]:
    """A counter's track and its values; values that do not exist are left out."""
    yield perfetto.counter_track(uuid, name, group)
    for at, value in points:
        if value is not None and math.isfinite(value):
            yield perfetto.value(at, uuid, float(value))


def _by(run: StoredRun, table: str, keys: list[str]) -> dict[tuple[Any, ...], pl.DataFrame]:
    """The rows of a table by these columns; nothing where the run has no such table."""
    if table not in run.tables:
        return {}
    rows = run.read(table)
    return rows.partition_by(keys, maintain_order=True, as_dict=True)


def _phases(run: StoredRun) -> list[tuple[str, float, float]]:
    """Name, beginning and end (s) of the phases, in the order of time."""
    phases = run.manifest["resolved"].get("measure", {}).get("phases", {})
    found = [
        (run.phases.get(name, name), seconds(times[0]), seconds(times[1]))
        for name, times in phases.items()
    ]
    return sorted(found, key=lambda phase: (phase[1], phase[2]))


def _window(run: StoredRun) -> tuple[float, float]:
    """The measurement window (s)."""
    measure = run.manifest["resolved"].get("measure", {})
    begin = seconds(measure["from"]) if "from" in measure else 0.0
    return begin, seconds(measure["to"]) if measure.get("to") else _ended(run)


def _ended(run: StoredRun) -> float:
    """When the run ended (s)."""
    return float(run.manifest["counters"].get("ended_s", 0.0))
