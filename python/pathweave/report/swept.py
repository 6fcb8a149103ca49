"""The first screen's table of a sweep: a row for each value, a column for each variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.results.along import ordered
from pathweave.results.merit import LEVEL
from pathweave.results.present import interval_text, seeds_text, share_text, unit_of, unit_text
from pathweave.results.sweeps import label_of
from pathweave.results.tabular import Cell, Row, Section, Table, plain_columns
from pathweave.statistics.holm import CORRECTION

if TYPE_CHECKING:
    from collections.abc import Callable

    from pathweave.results.merit import Ranking, Standing
    from pathweave.results.sweeps import Sweep


def swept_table(ranking: Ranking, sweep: Sweep) -> Table:
    """The ranking with the values of the sweep as rows, in their order.

    Beside a value stands its difference to the baseline in %, paired by seed; what is not told from
    it has a mark, and what is worse is marked as such.
    """
    unit = unit_of(ranking)
    in_unit = f" ({unit_text(unit)})" if unit else ""
    compared = ranking.axis != sweep.axis
    standings = ordered(sweep, ranking.standings)
    heads = ["value"]
    reference = ranking.baseline if compared else f"{sweep.axis} = {ranking.baseline}"
    if compared:
        names = {each.name for each in standings}
        # The baseline first: the others are compared with it.
        first = [ranking.baseline] if ranking.baseline in names else []
        heads = [*first, *sorted(names - {ranking.baseline}, key=_place(ranking))]
    cells: dict[str, dict[str, dict[str, Cell]]] = {}
    for each in standings:
        rest = {
            axis: name for axis, name in each.axes.items() if axis not in (sweep.axis, ranking.axis)
        }
        rows = cells.setdefault(label_of(rest, ranking.sweeps), {})
        row = rows.setdefault(each.axes[sweep.axis], {})
        row[each.name if compared else heads[0]] = _cell(each, unit)
    sections = [
        Section(
            panel,
            [
                Row(f"{sweep.axis} = {at}", "", [row.get(head, Cell("")) for head in heads])
                for at, row in rows.items()
            ],
        )
        for panel, rows in cells.items()
    ]
    pairs = {each.difference.pairs for each in standings if each.difference is not None}
    seeds = f"{seeds_text(min(pairs))}; " if pairs else ""
    title = ranking.subject.text
    how = (
        f"; beside it the difference to {reference}, paired by seed ({seeds}95 % intervals;"
        f" {CORRECTION}, {100 * LEVEL:.0f} %; ≈: not told apart)"
    )
    return Table(
        f"{title[0].upper()}{title[1:]}{in_unit}{how if pairs else ''}",
        plain_columns(*heads),
        sections,
        population=ranking.subject.over,
    )


def _place(ranking: Ranking) -> Callable[[str], int]:
    order = list(dict.fromkeys(each.name for each in ranking.standings))
    return order.index


def _cell(each: Standing, unit: str) -> Cell:
    share = share_text(each)
    outcome = "" if each.verdict is None else each.verdict.outcome
    note = f"{share} %" if share else ""
    if note and outcome == "not told apart":
        note += " ≈"
    return Cell(interval_text(each, unit), outside=outcome == "worse", note=note)
