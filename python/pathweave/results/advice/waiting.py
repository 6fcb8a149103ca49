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
from pathweave.results.advice.profile import counted_flows
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
    "network": ("in the network, with all data sent", None),
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
        rtt = _round_trip(side)
        if share < _LEAST or rtt is None or (case.is_clear and abs(part) < _LEAST):
            continue
        if wait == "handshake" and not _waits_for_syns(side, case, rtt):
            continue
        key, value = _timer(side, case, wait)
        what = "waiting for timers" if wait == "timeout" else "waiting for handshakes"
        which = "initial" if key == "initial_rto" else "smallest"
        is_part = case.is_clear and part > 0
        beside = f", {of_difference(part)}" if is_part else ""
        text = (
            f"{percent(share)} of {side.name}'s {case.time} is {what} ({other.name}:"
            f" {percent(other.profile.share(wait))}){beside}; the {which} timeout is"
            f" {time_text(value)} and the mean round trip {time_text(rtt)} (`transport.{key}`)"
        )
        shorter = max(_ROUNDS * rtt, _SHORTER * value)
        setting = Setting(f"transport.{key}", _round_time(shorter))
        weight = abs(part) if case.is_clear else share
        yield Advice(text, weight, case, setting if shorter < value / 2 else None)


def waits(case: Case) -> Iterator[Advice]:
    """The rest of the account: what else a large part of the difference is."""
    if not case.is_clear:
        return
    for wait, (words, setting) in _WORDS.items():
        side, other = _more(case, wait)
        part = case.part(wait)
        if side.profile is None or other.profile is None or abs(part) < 2 * _LEAST:
            continue
        if part < 0:  # it goes against the difference, and explains nothing of it
            continue
        text = (
            f"{_capital(of_difference(part))} between {case.variant.name} and"
            f" {case.baseline.name} is time {words} ({percent(side.profile.share(wait))} of"
            f" {side.name}'s {case.time}, {percent(other.profile.share(wait))} of {other.name}'s)"
        )
        if case.measure.quantity == "goodput":
            text = (
                f"{side.name}'s flows spend {percent(side.profile.share(wait))} of their time"
                f" {words}, {other.name}'s {percent(other.profile.share(wait))}"
            )
        yield Advice(text, 0.9 * part, case, setting)


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
    means = [
        handshakes["waited_s"].sum() / max(1, counted_flows(run, case.measure).height)
        for run in side.runs
        if "waits" in run.tables
        for handshakes in [_handshakes(run)]
    ]
    return bool(means) and max(means) > _LONG_HANDSHAKE * rtt


def _handshakes(run):
    import polars as pl

    return run.read("waits").filter(pl.col("wait") == "handshake")


def _timer(side: Side, case: Case, wait: str) -> tuple[str, float]:
    """The key of the timer that flows wait for, and its value in seconds."""
    transport = side.transport(case.measure.group or "")
    first = seconds(str(transport.get("initial_rto", "1 s")))
    least = seconds(str(transport.get("minimum_rto", "200 ms")))
    if wait == "handshake":
        return "initial_rto", first
    return "minimum_rto", least


def _round_trip(side: Side) -> float | None:
    """Mean round trip of a variant's flows."""
    means = [
        value
        for run in side.runs
        if isinstance(value := run.read("flows", ["rtt_mean_s"])["rtt_mean_s"].mean(), float)
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
