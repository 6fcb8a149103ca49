"""Rankings along a sweep in sentences: where each variant is better, and which value is best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.present import interval_text, unit_of
from pathweave.results.sweeps import label_of
from pathweave.results.verdict_words import nothing_told_apart, verdict_text
from pathweave.statistics.holm import verdicts
from pathweave.statistics.paired import paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathweave.results.merit import Ranking, Standing
    from pathweave.results.sweeps import Sweep

_LEVEL = 0.05
"""Largest probability that any value is told from the best one by chance."""


def along(ranking: Ranking) -> list[str]:
    """What a ranking says along its sweep.

    A sentence for each variant says how it compares with the baseline and at which values, another
    at which value it is best.
    """
    sweep = ranking.sweep
    if sweep is None:
        return []
    compared = ranking.axis != sweep.axis
    lines = _lines(ranking, sweep)
    said: list[str] = []
    if compared:
        found = [_against(ranking, sweep, line) for line in lines]
        said = [text for text in found if text] or nothing_told_apart(ranking)
    best = [(line, found) for line in lines if (found := _best(ranking, line)) is not None]
    if len({found.axes[sweep.axis] for _, found in best}) == 1 < len(best):
        return [*said, _same_best(ranking, sweep, *best[0], where="")]
    for panel in dict.fromkeys(_panel(ranking, sweep, line[0]) for line in lines):
        here = [pair for pair in best if _panel(ranking, sweep, pair[1]) == panel]
        said += _best_values(ranking, sweep, here, f"{panel}: " if panel else "")
    return said


def ordered(sweep: Sweep, standings: Iterable[Standing]) -> list[Standing]:
    """The standings that have a value on the sweep, by it."""
    here = [each for each in standings if each.axes.get(sweep.axis) in sweep.values]
    return sorted(here, key=lambda each: sweep.values[each.axes[sweep.axis]])


def values_text(sweep: Sweep, names: Sequence[str], known: Sequence[str]) -> str:
    """Values in words, neighbours among `known` together: "load = 0.1 to 0.4 and 0.9"."""
    if len(names) == len(known):
        return f"every {sweep.axis}"
    runs: list[list[str]] = []
    for name in known:
        if name not in names:
            continue
        if runs and known.index(runs[-1][-1]) == known.index(name) - 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    texts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else " and ".join(run) for run in runs]
    if len(texts) > 1:
        texts = [", ".join(texts[:-1]), texts[-1]]
    return f"{sweep.axis} = {' and '.join(texts)}"


def _lines(ranking: Ranking, sweep: Sweep) -> list[list[Standing]]:
    """The standings that differ in the value of the sweep alone, by it."""
    found: dict[tuple[tuple[str, str], ...], list[Standing]] = {}
    for each in ordered(sweep, ranking.standings):
        others = tuple((axis, name) for axis, name in each.axes.items() if axis != sweep.axis)
        found.setdefault(others, []).append(each)
    return list(found.values())


def _panel(ranking: Ranking, sweep: Sweep, each: Standing) -> str:
    """The names on the axes that are neither compared nor swept here."""
    rest = {
        axis: name for axis, name in each.axes.items() if axis not in (sweep.axis, ranking.axis)
    }
    return label_of(rest, ranking.sweeps)


def _against(ranking: Ranking, sweep: Sweep, line: Sequence[Standing]) -> str:
    """How a variant compares with the baseline along the sweep; empty where chance explains it."""
    known = [each.axes[sweep.axis] for each in line]
    by_outcome: dict[str, list[str]] = {}
    for each in line:
        if each.verdict is not None:
            by_outcome.setdefault(each.verdict.outcome, []).append(each.axes[sweep.axis])
    told = [each for each in line if each.verdict and each.verdict.outcome in ("better", "worse")]
    if not told:
        return ""
    most = max(told, key=lambda each: abs(each.difference.percent or 0) if each.difference else 0)
    panel = _panel(ranking, sweep, line[0])
    where = f"{panel}: " if panel else ""
    at = f"{sweep.axis} = {most.axes[sweep.axis]}"
    text = f"{where}{verdict_text(ranking, most)} at {at}"
    if len(line) == 1:
        return f"{text}."
    rest = [
        f"{outcome} at {values_text(sweep, names, known)}"
        for outcome in ("better", "worse", "not told apart")
        if (names := by_outcome.get(outcome))
    ]
    return f"{text}, where they differ most; it is {_joined(rest)}."


def _best_values(
    ranking: Ranking,
    sweep: Sweep,
    best: Sequence[tuple[Sequence[Standing], Standing]],
    where: str,
) -> list[str]:
    """At which value each variant is best; one sentence where it is the same for all."""
    if len({found.axes[sweep.axis] for _, found in best}) == 1 < len(best):
        return [_same_best(ranking, sweep, *best[0], where=where)]
    word = _word(ranking)
    said: list[str] = []
    for line, found in best:
        at = _at(sweep, line, found.axes[sweep.axis])
        value = f"{interval_text(found, unit_of(ranking))} {unit_of(ranking)}".strip()
        alike = _alike(ranking, sweep, line, found)
        rest = f"; {alike} cannot be told from it" if alike else ""
        compared = ranking.axis != sweep.axis
        who = f"{found.axes[ranking.axis]} has its" if compared else f"The {word}"
        what = f"{word} {ranking.subject.text}" if compared else f"{ranking.subject.text} is"
        said.append(f"{where}{who} {what} {at}: {value}{rest}.")
    return said


def _same_best(
    ranking: Ranking, sweep: Sweep, line: Sequence[Standing], found: Standing, *, where: str
) -> str:
    at = _at(sweep, line, found.axes[sweep.axis])
    return f"{where}All have their {_word(ranking)} {ranking.subject.text} {at}."


def _word(ranking: Ranking) -> str:
    return "largest" if ranking.subject.larger_is_better else "smallest"


def _at(sweep: Sweep, line: Sequence[Standing], name: str) -> str:
    """Where a best value is, and whether the sweep ends there."""
    text = f"at {sweep.axis} = {name}"
    if name == line[0].axes[sweep.axis]:
        return f"{text}, the smallest value of the sweep"
    return f"{text}, the largest value of the sweep" if name == line[-1].axes[sweep.axis] else text


def _best(ranking: Ranking, line: Sequence[Standing]) -> Standing | None:
    """The best of a line; None where bounds are all that is known of it, or there is one value."""
    known = [each for each in line if each.mean is not None and not each.at_least]
    if len(known) < 2:
        return None
    sign = 1.0 if ranking.subject.larger_is_better else -1.0
    return max(known, key=lambda each: sign * (each.mean or 0.0))


def _alike(ranking: Ranking, sweep: Sweep, line: Sequence[Standing], best: Standing) -> str:
    """The values whose difference to the best one chance may explain, paired by seed."""
    others = [each for each in line if each is not best and not each.at_least]
    differences = [paired_difference(each.values, best.values) for each in others]
    decided = verdicts(differences, ranking.subject.larger_is_better, _LEVEL)
    alike = [
        each.axes[sweep.axis]
        for each, verdict in zip(others, decided, strict=True)
        if verdict.outcome == "not told apart"
    ]
    known = [each.axes[sweep.axis] for each in line]
    return values_text(sweep, alike, known) if alike else ""


def _joined(clauses: Sequence[str]) -> str:
    return clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])} and {clauses[-1]}"
