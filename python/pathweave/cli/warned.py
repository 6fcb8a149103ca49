"""Warnings about settings that are likely to decide results without being meant to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathweave._core import Scenario, Variant
    from pathweave.running.session import Session

MOST_AT_START = 5
"""Warnings that a run prints; `check` prints all."""
MOST_VARIANTS = 500
"""Variants that a run looks at before it starts: those of a long sweep say the same."""


def warnings_of(scenario: Scenario, variants: Iterable[Variant]) -> list[dict[str, Any]]:
    """Each warning once, with the variants that it is about."""
    about: dict[tuple[str, str, str], list[str]] = {}
    for variant in variants:
        for warning in variant.warnings(scenario.seeds[0]):
            about.setdefault(warning, []).append(variant.label)
    return [
        {"key": key, "warning": text, "advice": advice, "variants": labels}
        for (key, text, advice), labels in about.items()
    ]


def print_warnings(found: list[dict[str, Any]], *, variants: int) -> None:
    """Print warnings, with labels where they are not about all of so many variants."""
    from rich.text import Text

    from pathweave.cli.console import messages, say

    console = messages()
    for each in found:
        labels = each["variants"]
        some = f" (in {'; '.join(labels[:3])}" + ("; ...)" if len(labels) > 3 else ")")
        where = some if len(labels) < variants else ""
        text = f"{each['key']}{where}: {each['warning']}"
        say(console, Text.assemble(("warning: ", "bold yellow"), text))
        say(console, Text(f"  help: {each['advice']}"))


def warn_before_run(session: Session) -> None:
    """Print the warnings about the variants that are to be run, on standard error."""
    from pathweave.cli.console import messages, say

    plan = session.plan
    missing = {task.identity.variant.slug for task in plan.missing}
    variants = [each for each in plan.scenario.variants if each.slug in missing]
    found = warnings_of(plan.scenario, variants[:MOST_VARIANTS])
    print_warnings(found[:MOST_AT_START], variants=len(variants))
    if len(found) > MOST_AT_START:
        say(messages(), f"{len(found) - MOST_AT_START} more warnings: pathweave check has them all")
