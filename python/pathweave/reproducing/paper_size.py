"""The published size of rows that run at a smaller one.

Values at the published size are recorded once, because they take hours. They count for as long as a
claim measures the same in the same set-up. The hash of the scenario's settings cannot tell, because
it leaves out what the variants change.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from pathweave.core import core
from pathweave.reading import read_toml
from pathweave.reproducing.sample import measured_of, variants_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pathweave._core import Variant
    from pathweave.reproducing.paper import Claim, Row
    from pathweave.reproducing.record import Record

QUICK = "quick"
"""The size of a scenario file as it stands."""
PAPER = "paper"
"""The size of a scenario file that is the published one."""


def sizes_of(scenario: Path) -> Mapping[str, object]:
    """The sizes that a scenario file has beside the one as it stands."""
    return read_toml(scenario).get("sizes", {})


def setups(row: Row) -> dict[str, str]:
    """By claim, a hash of what it measures and of all settings of its variants at published size.

    Claims are left out whose variants are the same at the quick size.
    """
    if row.scenario is None or PAPER not in sizes_of(row.scenario):
        return {}
    quick, paper = (
        core().load(str(row.scenario), size, [], list(row.only), None).variants
        for size in (None, PAPER)
    )
    found: dict[str, str] = {}
    for claim in row.claims:
        measured = measured_of(claim)
        settings = _settings(claim, paper)
        if settings != _settings(claim, quick):
            text = json.dumps([measured.to_json(), settings], sort_keys=True)
            found[claim.name] = hashlib.sha256(text.encode()).hexdigest()
    return found


def still_valid(row: Row, record: Record | None) -> Record | None:
    """What counts of values that were recorded at the published size; None if nothing does."""
    if record is None:
        return None
    kept = [
        name
        for name, setup in record.setups.items()
        if row.paper_setups.get(name) == setup and name in record.samples
    ]
    if not kept:
        return None
    return replace(
        record,
        samples={name: record.samples[name] for name in kept},
        setups={name: record.setups[name] for name in kept},
    )


def _settings(claim: Claim, variants: Sequence[Variant]) -> list[list[object]]:
    """Names and hash of each variant that a claim's values come from."""
    asked = variants_of(claim)
    own = [each.axes for each in variants if any(at.items() <= each.axes.items() for at in asked)]
    base = measured_of(claim).relative_to
    relative = [{**axes, **base} for axes in own] if base else []
    return sorted(
        [sorted(each.axes.items()), each.settings_hash]
        for each in variants
        if each.axes in own or each.axes in relative
    )
