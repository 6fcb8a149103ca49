"""The comparison of two sets of results: what differs in settings, and what changed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathweave.changes.findings import Findings, Variant
from pathweave.changes.judge import Compared, judge
from pathweave.changes.observe import observe, observe_asked
from pathweave.changes.pairing import pairing
from pathweave.changes.relevance import RELEVANT
from pathweave.changes.side import Side, read_side
from pathweave.changes.span import parse_span, phases_of
from pathweave.errors import InputError
from pathweave.results.differences import differences, flatten
from pathweave.results.measures import parse_measure
from pathweave.results.settings import what_differs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pathweave.changes.observe import Observed
    from pathweave.changes.span import Span
    from pathweave.results.measures import Measure
    from pathweave.results.runs import StoredRun


class Changes(Findings):
    """What differs between two sets of results, A and B; A is the baseline."""

    def __repr__(self) -> str:
        from pathweave.changes.present import summary

        return f"<pathweave.Changes {summary(self)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from pathweave.changes.present import as_html

        return as_html(self)


def compare_folders(
    a: Path,
    b: Path,
    *,
    at: str | None = None,
    relevant: float = RELEVANT,
    quantities: Sequence[str] = (),
) -> Changes:
    """Compare the results in folder `b` with those in folder `a`, the baseline.

    Each holds results of one scenario with the same settings. `at` is the name of a phase, or a
    window of time such as "10 s..15 s". `relevant` is a part of the baseline's mean. With
    `quantities`, such as "p99 slowdown of bg under 100 KB", these alone are compared, as one family
    of tests. Raises `InputError` where there is nothing to compare.
    """
    sides = read_side("A", a), read_side("B", b)
    return compare_sides(*sides, at=at, relevant=relevant, quantities=quantities)


def compare_sides(
    a: Side,
    b: Side,
    *,
    at: str | None = None,
    relevant: float = RELEVANT,
    quantities: Sequence[str] = (),
) -> Changes:
    """The same for results that have been read."""
    if a.scenario.name != b.scenario.name:
        raise InputError(
            f"{a.given} and {b.given} are of different scenarios, {a.scenario.name} and"
            f" {b.scenario.name}; compare takes results of one scenario"
        )
    labels = [label for label in a.scenario.labels() if label in b.scenario.labels()]
    if not labels:
        raise InputError(
            f"{a.given} and {b.given} have no variant in common: A has"
            f" {', '.join(a.scenario.labels())}; B has {', '.join(b.scenario.labels())}"
        )
    if quantities and at is not None:
        raise InputError("--quantity names values of the whole window, so it goes without --at")
    groups = [group for group in a.scenario.groups if group in b.scenario.groups]
    asked = [parse_measure(text, groups, "--quantity") for text in quantities]
    span = None if at is None else _span(a, b, labels, at)
    differing = what_differs([a.scenario.settings, b.scenario.settings])
    variants = [_variant(a, b, label) for label in labels]
    compared = [_compared(a, b, variant, span, asked) for variant in variants]
    changes, notes = judge(compared, relevant)
    if not changes:
        where = f' at "{at}"' if at is not None else ""
        why = "".join(f"; {note}" for note in dict.fromkeys(note for _, note in notes))
        raise InputError(f"{a.given} and {b.given} have no quantity in common{where}{why}")
    return Changes(
        a=a,
        b=b,
        at=at or "",
        relevant=relevant,
        differences=differing,
        variants=variants,
        changes=changes,
        notes=[*_notes(a, b), *_together(notes, variants)],
    )


def _span(a: Side, b: Side, labels: Sequence[str], at: str) -> Span:
    runs = [[run for label in labels for run in side.runs(label).values()] for side in (a, b)]
    theirs = phases_of(runs[1])
    return parse_span(at, [name for name in phases_of(runs[0]) if name in theirs])


def _variant(a: Side, b: Side, label: str) -> Variant:
    before, after = a.runs(label), b.runs(label)
    bits = [[_bits(run) for run in side.values()] for side in (before, after)]
    return Variant(
        label=label,
        seeds=(sorted(before), sorted(after)),
        pairing=pairing(before, after),
        repeatable=all(len(each) > 1 and each.count(each[0]) == len(each) for each in bits),
        identical=before.keys() == after.keys()
        and all(_same(before[seed], after[seed]) for seed in before),
        differences=_own_differences(a, b, before, after),
    )


def _bits(run: StoredRun) -> dict[str, Any]:
    return {name: about["sha256"] for name, about in run.manifest["tables"].items()}


def _same(before: StoredRun, after: StoredRun) -> bool:
    """Whether two runs gave the same: by the hash of all results, or file by file.

    The hash is of what the backend gave; files are compared for backends that hash in another way.
    """
    same_hash = before.manifest["results_hash"] == after.manifest["results_hash"]
    return same_hash or _bits(before) == _bits(after)


def _own_differences(
    a: Side, b: Side, before: Mapping[int, StoredRun], after: Mapping[int, StoredRun]
) -> list[tuple[str, list[str]]]:
    """What differs between the settings of one variant, beyond what differs between all."""
    shared = [flatten(side.scenario.settings.scenario) for side in (a, b)]
    told = {path for path in {*shared[0], *shared[1]} if shared[0].get(path) != shared[1].get(path)}
    own = [
        {
            path: value
            for path, value in flatten(_settings_of(next(iter(runs.values())))).items()
            if path not in told
        }
        for runs in (before, after)
    ]
    return differences(own)


def _settings_of(run: StoredRun) -> dict[str, Any]:
    """The resolved scenario of a run without what no result depends on."""
    resolved = dict(run.manifest["resolved"])
    for name in ("title", "report"):
        resolved.pop(name, None)
    measure = dict(resolved.get("measure", {}))
    measure["phases"] = sorted(measure.get("phases", {}).values())
    return resolved | {"measure": measure}


def _compared(a: Side, b: Side, variant: Variant, span: Span, asked: Sequence[Measure]) -> Compared:
    def observed(run: StoredRun) -> Observed:
        return observe_asked(run, asked) if asked else observe(run, span)

    before, after = (
        {seed: observed(run) for seed, run in sorted(side.runs(variant.label).items())}
        for side in (a, b)
    )
    return Compared(
        variant=variant.label,
        before=before,
        after=after,
        paired=variant.pairing.paired,
        repeatable=variant.repeatable,
    )


def _together(remarks: Sequence[tuple[str, str]], variants: Sequence[Variant]) -> list[str]:
    """What could not be compared, each said once with the variants that it is true of.

    Of variants that are identical there is nothing to say.
    """
    differing = [variant.label for variant in variants if not variant.identical]
    found: dict[str, list[str]] = {}
    for label, remark in remarks:
        if label in differing:
            found.setdefault(remark, []).append(label)
    return [
        remark if labels == differing else f"{'; '.join(labels)}: {remark}"
        for remark, labels in found.items()
    ]


def _notes(a: Side, b: Side) -> list[str]:
    notes = [f"{side.name}: {note}" for side in (a, b) for note in side.notes]
    for side, other in ((a, b), (b, a)):
        alone = [label for label in side.scenario.labels() if label not in other.scenario.labels()]
        notes += [f"only {side.name} has the variant {label}" for label in alone]
    return notes
