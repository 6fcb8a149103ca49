"""Advice from the account of time: timers, handshakes, windows and the host's own port."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pathweave.results.advice.case import (
    Advice,
    Case,
    Setting,
    Side,
    of_difference,
    percent,
    time_text,
)
from pathweave.results.advice.profile import counted_flows, counted_waits
from pathweave.results.units import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST = 0.1
"""Share of a variant's time and of the difference that is worth a sentence."""
_ROUNDS = 2.0
"""A rerun's timeout is at least this many round trips, below which it would expire for nothing."""
_SHORTER = 0.05
"""And it is this part of the present one, so that its share would shrink to nothing."""
_LONG_HANDSHAKE = 3.0
"""Round trips from which on a mean handshake has waited for a timer."""
_WORDS = {
    "recovery": ("repairing losses", None),
    "receive window": (
        "waiting for the receive window",
        Setting("transport.receive_window", "unlimited"),
    ),
    "send window": ("waiting for the send buffer", Setting("transport.send_buffer", "64 MB")),
    "pace": ("waiting for the pace", None),
    "own port": ("waiting for the host's own port", None),
    "window": ("waiting for the congestion window", None),
    "network": ("waiting for the last data to arrive", None),
    "data": ("waiting for the application", None),
}  # fmt: skip
"""What is said of a wait, and the setting that removes it."""


def timers(case: Case) -> Iterator[Advice]:
    """Waiting for timers of loss recovery, and for a lost SYN."""
    for wait in ("timeout", "handshake"):
        side, other = _more(case, wait)
        if side.profile is None or other.profile is None:
            continue
        share, part = side.profile.share(wait), case.part(wait)
        rtt = _round_trip(side, case)
        if share < _LEAST or rtt is None or (case.is_split and part < _LEAST):
            continue
        if wait == "handshake" and not _waits_for_syns(side, case, rtt):
            continue
        key, value = _timer(side, case, wait)
        what = "a retransmission timer" if wait == "timeout" else "a handshake"
        which = "initial" if key == "initial_rto" else "minimum"
        beside = f", {of_difference(part)}" if case.is_split else ""
        text = (
            f"{percent(share)} of {side.name}'s {case.time} is waiting for {what} ({other.name}:"
            f" {percent(other.profile.share(wait))}){beside}; the {which} RTO is"
            f" {time_text(value)} and the mean round trip {time_text(rtt)} (`transport.{key}`)"
        )
        shorter = max(_ROUNDS * rtt, _SHORTER * value)
        setting = Setting(f"transport.{key}", _round_time(shorter))
        weight = part if case.is_split else share
        yield Advice(text, weight, case, wait, setting if shorter < value / 2 else None)


def waits(case: Case) -> Iterator[Advice]:
    """The rest of the account: what else a large part of the difference is."""
    for wait, (words, setting) in _WORDS.items():
        side, other = _more(case, wait)
        if side.profile is None or other.profile is None:
            continue
        share, beside = side.profile.share(wait), other.profile.share(wait)
        if case.is_split and (part := case.part(wait)) >= 2 * _LEAST:
            text = (
                f"{_capital(of_difference(part))} between {case.variant.name} and"
                f" {case.baseline.name} is {words} ({percent(share)} of {side.name}'s"
                f" {case.time}, {percent(beside)} of {other.name}'s)"
            )
            yield Advice(text, 0.9 * part, case, wait, setting)
            continue
        is_of_worse = case.is_clear and not case.is_split and side is case.worse
        if is_of_worse and share - beside >= 2 * _LEAST:
            text = (
                f"{percent(share)} of {side.name}'s {case.time} is {words}"
                f" ({other.name}: {percent(beside)})"
            )
            yield Advice(text, 0.9 * (share - beside), case, wait, setting)


def _more(case: Case, wait: str) -> tuple[Side, Side]:
    """The side that waits more for something, and the other one."""
    ours, theirs = case.sides
    if ours.profile and theirs.profile:
        mine, other = ours.profile.waits.get(wait, 0.0), theirs.profile.waits.get(wait, 0.0)
        if other > mine:
            return theirs, ours
    return ours, theirs


def _waits_for_syns(side: Side, case: Case, rtt: float) -> bool:
    """Whether handshakes take so long that SYNs must have been lost."""
    import polars as pl

    for run in side.runs:
        waits = counted_waits(run, case.measure).filter(pl.col("wait") == "handshake")
        flows = counted_flows(run, case.measure).height
        if float(waits["waited_s"].sum()) > _LONG_HANDSHAKE * rtt * flows:
            return True
    return False


def _timer(side: Side, case: Case, wait: str) -> tuple[str, float]:
    """The key of the timer that flows wait for, and its value in seconds."""
    transport = side.transport(case.measure.group or "")
    first = seconds(str(transport.get("initial_rto", "1 s")))
    least = seconds(str(transport.get("minimum_rto", "200 ms")))
    if wait == "handshake":
        return "initial_rto", first
    return "minimum_rto", least


def _round_trip(side: Side, case: Case) -> float | None:
    """Mean round trip of the flows in question."""
    means = [
        value
        for run in side.runs
        if isinstance(value := counted_flows(run, case.measure)["rtt_mean_s"].mean(), float)
    ]
    return math.fsum(means) / len(means) if means else None


def _round_time(value_s: float) -> str:
    """A time above `value_s` with one digit: "2 ms"."""
    exponent = math.floor(math.log10(value_s))
    digit = math.ceil(value_s / 10.0**exponent - 1e-9)
    picos = digit * 10 ** (exponent + 12)
    for unit, scale in (("s", 10**12), ("ms", 10**9), ("us", 10**6)):
        if picos >= scale:
            return f"{picos / scale:g} {unit}"
    return f"{picos:g} ps"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
