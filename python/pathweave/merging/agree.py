"""What may be joined: one version, and one result of each run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pathweave.merging.sources import Gathered
    from pathweave.results.runs import StoredRun

_WHICH = (
    "The same scenario, seed and version give the same bits on every machine: `pathweave verify`"
    " says which folder does not have them. Nothing was written"
)
_SHOWN = 5
"""Runs that are named, at most."""


def check_versions(gathered: Iterable[Gathered]) -> None:
    """Refuse sources that have the same scenario and settings from different versions.

    One source with several versions beside each other is no mistake where the others have them too.
    Raises `InputError` with the versions and where they are from.
    """
    versions: dict[tuple[str, ...], dict[str, set[Path]]] = {}
    for each in gathered:
        shared = each.settings
        key = (
            each.name,
            json.dumps(shared.scenario, sort_keys=True),
            shared.size,
            *sorted(shared.sets),
            "",
            *shared.backend,
        )
        of = versions.setdefault(key, {}).setdefault(shared.version, set())
        of.update(each.sources)
    for (name, *_), found in versions.items():
        if len({frozenset(sources) for sources in found.values()}) > 1:
            texts = [
                f"{', '.join(sorted(map(str, sources)))} has version {version}"
                for version, sources in sorted(found.items())
            ]
            raise InputError(
                f"{name} has results of several versions: {'; '.join(texts)}. Versions of results"
                " differ where the same scenario gives other bits: run the older ones again, or"
                " merge each version alone, which puts them beside each other"
            )


def check_results(gathered: Iterable[Gathered]) -> None:
    """Refuse runs that are there several times with different results.

    Raises `InputError` with each run, where its copies are, who made them and their hashes.
    """
    conflicts = [
        (each.name, copies)
        for each in gathered
        for copies in each.runs.values()
        if len({run.manifest["results_hash"] for run in copies}) > 1
    ]
    if not conflicts:
        return
    texts = [_conflict(name, copies) for name, copies in conflicts[:_SHOWN]]
    if len(conflicts) > _SHOWN:
        texts.append(f"and {len(conflicts) - _SHOWN} more runs")
    texts.append(_WHICH)
    raise InputError("\n".join(texts))


def _conflict(name: str, copies: Sequence[StoredRun]) -> str:
    first = copies[0]
    other = next(
        run for run in copies if run.manifest["results_hash"] != first.manifest["results_hash"]
    )
    label = f"{first.label}, seed {first.seed}" if first.label else f"seed {first.seed}"
    lines = [f"{name}: {label} has different results in two folders:"]
    lines += [
        f"  {run.folder}: {run.manifest['results_hash']}, by version {run.manifest['pathweave']}"
        f" on {run.machine}"
        for run in (first, other)
    ]
    return "\n".join(lines)
