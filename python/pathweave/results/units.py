"""Units in which quantities are shown and published."""

from __future__ import annotations

import math
import re

from pathweave.errors import InputError

SCALES = {
    "bps": 1.0,
    "kbps": 1e3,
    "Mbps": 1e6,
    "Gbps": 1e9,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "ps": 1e-12,
    "B": 1.0,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "packets": 1.0,
    "%": 1e-2,
    "": 1.0,
}
"""What one of each unit is in the base unit of its kind (bit/s, seconds, bytes, ratio)."""


def scale(unit: str) -> float:
    """Size of `unit` in base units; raises `InputError` for a unit nobody knows."""
    try:
        return SCALES[unit]
    except KeyError:
        known = ", ".join(name for name in SCALES if name)
        raise InputError(f'unknown unit "{unit}"; known are {known}') from None


def amount(text: str) -> float:
    """A number with a unit as the resolved scenario writes it, in base units: "1460 B"."""
    found = re.fullmatch(r"([0-9.]+) ?([A-Za-z]+)", text)
    if found is None:
        raise ValueError(f"not a number with a unit: {text}")
    return float(found[1]) * scale(found[2])


def seconds(text: str) -> float:
    """A time as the resolved scenario writes it: "600 us"."""
    if not re.fullmatch(r"[0-9.]+ ?[a-z]+", text):
        raise ValueError(f"not a time: {text}")
    return amount(text)


def rate_unit(value_bps: float) -> str:
    """The unit that shows `value_bps` with one to four digits before the point."""
    return _fitting(value_bps, ("bps", "kbps", "Mbps", "Gbps"), 10_000.0)


def time_unit(value_s: float) -> str:
    """The unit that shows `value_s` with one to four digits before the point."""
    return _fitting(value_s, ("us", "ms", "s"), 1_000.0)


def number(value: float | None, digits: int = 4) -> str:
    """`value` with about `digits` significant digits; a dash for nothing."""
    if value is None or math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    if decimals > digits + 3:
        return f"{value:.{digits - 1}e}"
    return f"{value:,.{max(decimals, 0)}f}"


def count(value: float) -> str:
    """A large count in three digits and a suffix, as in 62.1 M."""
    for limit, suffix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= limit:
            return f"{number(value / limit, 3)}{suffix}"
    return f"{value:.0f}"


def size_text(value_bytes: float) -> str:
    """A number of bytes, as in 62.1 MB (powers of ten)."""
    for limit, suffix in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if abs(value_bytes) >= limit:
            return f"{number(value_bytes / limit, 3)} {suffix}"
    return f"{value_bytes:.0f} B"


def duration(seconds: float) -> str:
    """A length of wall-clock time, as in 0:07 or 1:02:07."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def _fitting(value: float, names: tuple[str, ...], limit: float) -> str:
    for name in names:
        if abs(value) < limit * SCALES[name]:
            return name
    return names[-1]
