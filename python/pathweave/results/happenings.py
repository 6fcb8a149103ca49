"""What a scenario's events are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_NAMED = 3
"""Names of one event that are written out."""


def event_subject(event: Mapping[str, Any]) -> str:
    """The links of an event: "A-B", "A-B, A-C", "spine0 and 7 more", "core"."""
    said = event.get("link") or event.get("node") or event.get("layer") or "?"
    names = [said] if isinstance(said, str) else [str(name) for name in said]
    if len(names) > MOST_NAMED:
        return f"{names[0]} and {len(names) - 1} more"
    return ", ".join(names)
