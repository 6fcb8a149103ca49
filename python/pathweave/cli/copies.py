"""Variants that have come to be the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathweave.running.session import Session


def say_copies(session: Session) -> None:
    """Say which variants have the same settings, so that nobody takes their names at their word.

    `--set` comes last: it replaces what variants say about the same key.
    """
    from pathweave.cli.console import messages, say

    console = messages()
    for line in copies(session):
        say(console, line)


def copies(session: Session) -> list[str]:
    """A sentence for each group of variants that are the same."""
    by_settings: dict[str, list[str]] = {}
    for variant in session.plan.scenario.variants:
        by_settings.setdefault(variant.settings_hash, []).append(f'"{variant.label}"')
    why = ""
    if session.request.sets:
        why = "; --set replaces what variants set, so a name may say what is no longer so"
    return [
        f"note: variants {', '.join(same[:-1])} and {same[-1]} have the same settings{why}"
        for same in by_settings.values()
        if len(same) > 1
    ]
