"""The answer of a scenario as a piece of HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pathweave.plots.frames import palette_of
from pathweave.report.answer import answer
from pathweave.report.tables import summary_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.runs import StoredScenario
    from pathweave.results.tabular import Table


def fragment(scenarios: Sequence[StoredScenario]) -> str:
    """Of each scenario the question, what the numbers say, and the tables; without scripts."""
    palette = palette_of(scenarios)
    parts: list[str] = []
    for scenario in scenarios:
        said = answer(scenario, palette, None)
        seeds = len({run.seed for run in scenario.runs})
        parts.append(f"<h4>{escape(scenario.heading)}</h4>")
        parts.append(f"<p>{len(scenario.runs)} runs, {seeds} {'seed' if seeds == 1 else 'seeds'}.")
        parts.append(f"{escape(said.question)}</p>")
        if said.sentences:
            lines = "".join(f"<li>{escape(line)}</li>" for line in said.sentences)
            parts.append(f"<ul>{lines}</ul>")
        tables = said.tables or summary_tables(scenario, palette)
        parts += [_table(table) for table in tables]
        parts += [f"<p><em>{escape(note)}</em></p>" for note in said.notes]
    return f"<div>{''.join(parts)}</div>"


def _table(table: Table) -> str:
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in table.heads)
    rows: list[str] = []
    for section in table.sections:
        if section.name:
            span = len(table.heads) + 1
            rows.append(
                f'<tr><th colspan="{span}" scope="rowgroup">{escape(section.name)}</th></tr>'
            )
        for row in section.rows:
            cells = "".join(f"<td>{escape(cell.text)}</td>" for cell in row.cells)
            rows.append(f'<tr><th scope="row">{escape(row.name)}</th>{cells}</tr>')
    caption = f"<caption>{escape(table.caption)}</caption>"
    head = f"<thead><tr><td></td>{heads}</tr></thead>"
    return f"<table>{caption}{head}<tbody>{''.join(rows)}</tbody></table>"
