"""Advice about what hosts bring: bursts of initial windows, transports, drops at own ports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pathweave.results.advice.case import Advice, Case, Setting, Side, percent
from pathweave.results.advice.profile import counted_flows
from pathweave.results.places import OWN_PORT, by_place
from pathweave.results.units import amount

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST = 0.1
"""Share of flows or of drops that is worth a sentence."""
_RATE_SETTING = ("fcc", "rcp", "xcp", "decn", "vcp", "mlcp")
_BY_THE_KERNEL = ("reno", "cubic")
_OF_BURSTS = ("initial_window", "initial_window_per")
"""Keys that are about initial windows, of which there is other advice."""
_WEIGHT = 0.15
"""The weight of what is known without a share of the difference."""
_FEW_DROPS = 1e-4
"""Drops per packet and port from which on they are worth a sentence."""
_SHOWN = 3
"""Keys that a sentence names, at most."""


def bursts(case: Case) -> Iterator[Advice]:
    """Flows that fit into the initial windows of one variant, and not of the other."""
    import polars as pl

    sizes = [_burst(side, case) for side in case.sides]
    (ours, segment), (theirs, _) = sizes
    name = case.measure.group or ""
    subflows = {side.group(name).get("subflows", 1) for side in case.sides}
    # Of two single paths, one has a larger burst because the question is about it.
    if ours == theirs or len(subflows) == 1 or not segment:
        return
    side, other = case.sides if ours > theirs else case.sides[::-1]
    more, less = max(ours, theirs), min(ours, theirs)
    flows = pl.concat([counted_flows(run, case.measure) for run in side.runs])
    if flows.is_empty():
        return
    fits = (pl.col("size_bytes") > less * segment) & (pl.col("size_bytes") <= more * segment)
    share = flows.filter(fits).height / flows.height
    if share < _LEAST:
        return
    text = (
        f"{percent(share)} of the flows fit into the initial windows of {side.name}"
        f" ({more:g} packets) and not of {other.name} ({less:g})"
    )
    setting = Setting("transport.initial_window_per", "connection")
    yield Advice(text, share, case, "burst", setting)


def _burst(side: Side, case: Case) -> tuple[float, float]:
    """Packets that a flow may send at once, and the bytes of each."""
    name = case.measure.group or ""
    group, transport = side.group(name), side.transport(name)
    window = float(transport.get("initial_window", 0.0))
    if transport.get("initial_window_per", "subflow") == "subflow":
        window *= int(group.get("subflows", 1))
    segment = transport.get("maximum_segment")
    return window, amount(str(segment)) if segment else 0.0


def transports(case: Case) -> Iterator[Advice]:
    """Rivals that run on different hosts."""
    name = case.measure.group or ""
    ours, theirs = (_effective(side, name) for side in case.sides)
    keys = sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    if not keys:
        return
    said = [f"{key} {_text(ours.get(key))} and {_text(theirs.get(key))}" for key in keys[:_SHOWN]]
    more = f", and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    text = (
        f"{case.variant.name} and {case.baseline.name} differ in transport, not only in"
        f" control: {', '.join(said)}{more}"
    )
    whole = Setting("transport.at_once_controllers", "none") if keys == ["reduction"] else None
    yield Advice(text, _WEIGHT, case, "transport", whole)


def _effective(side: Side, name: str) -> dict[str, Any]:
    """A group's transport with the rule of cuts that its controller comes to."""
    found = dict(side.transport(name))
    at_once = found.pop("at_once_controllers", "none")
    found.pop("growth_in_cut_round", None)
    for key in _OF_BURSTS:
        found.pop(key, None)
    controller = side.group(name).get("controller", {})
    known = str(controller.get("name", "") if isinstance(controller, dict) else controller)
    if (at_once == "programs" and known not in _BY_THE_KERNEL) or (
        at_once == "rate-setting" and known in _RATE_SETTING
    ):
        found["reduction"] = "at-once"
    return found


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def drops(case: Case) -> Iterator[Advice]:
    """Packets that are lost at the hosts' own ports."""
    for side in case.sides:
        places = by_place(side.runs)
        drops_of = dict(zip(places["place"].to_list(), places["drops"].to_list(), strict=True))
        total = math.fsum(drops_of.values())
        share = drops_of.get(OWN_PORT, 0.0) / total if total else 0.0
        sent = float(places["packets"].sum())
        holds = side.transport(case.measure.group or "").get("host_port") == "holds-back"
        if share < 3 * _LEAST or holds or total < _FEW_DROPS * sent:
            continue
        text = (
            f"{percent(share)} of {side.name}'s {total:,.0f} drops are at the hosts' own ports,"
            " where current Linux hosts hold packets back"
        )
        yield Advice(text, _WEIGHT, case, "drops", Setting("transport.host_port", "holds-back"))
