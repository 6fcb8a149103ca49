"""Phases of a scenario that follow one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_APART = 0.01
"""How far lengths and ends may be off, as a part of the length: a phase may spare a change."""


def following(phases: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """Of each phase the name of the one as long that begins when it ends; not of the last."""
    found: dict[str, str] = {}
    for name, (begin, end) in phases.items():
        length = end - begin
        for other, (later, last) in phases.items():
            near = _APART * length
            if abs(later - end) <= near and abs(last - later - length) <= near and other != name:
                found[name] = other
                break
    return found


def chain(first: str, follows: Mapping[str, str]) -> Iterator[str]:
    """A phase and those that follow it, each upon the one before."""
    yield first
    while first in follows:
        first = follows[first]
        yield first
