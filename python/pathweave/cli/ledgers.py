"""`pathweave reproduce --ledger`: what papers say, and what answers it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pathweave.reproducing.ledger import Answer, read_ledger

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathweave.reproducing.ledger import Entry
    from pathweave.reproducing.paper import Paper

_OPEN = (Answer.NOT_YET, Answer.NOT_MODELLED)


def print_ledgers(papers: Sequence[Paper], *, json: bool) -> None:
    """Print the ledgers of these papers, each with its counts."""
    from rich.text import Text

    from pathweave.cli.console import output, print_json
    from pathweave.cli.text_table import text_table

    found = [(paper, read_ledger(paper)) for paper in papers]
    if json:
        print_json(
            [
                {
                    "paper": paper.name,
                    "at": entry.at,
                    "kind": entry.kind,
                    "says": entry.says,
                    "answer": entry.answer.value,
                    "answers": list(entry.answers),
                }
                for paper, entries in found
                for entry in entries
            ]
        )
        return
    console = output()
    for paper, entries in found:
        console.print()
        console.print(Text(paper.title, "bold"))
        table = text_table("where", "what it says", "answered by")
        for entry in entries:
            bold = "bold" if entry.answer in _OPEN else ""
            answer = Text.assemble((entry.answer.value, bold), ": ", ", ".join(entry.answers))
            table.add_row(entry.at, entry.says, answer)
        console.print(table)
        console.print(Text(_counted(entries)))
    if len(found) > 1:
        console.print()
        console.print(Text(_counted(each for _, entries in found for each in entries)))


def _counted(entries: Iterable[Entry]) -> str:
    """How many statements there are, by what answers them."""
    counts = Counter(entry.answer for entry in entries)
    words = {
        Answer.CLAIM: "by a claim",
        Answer.TEST: "by a test",
        Answer.FILE: "by a file",
        Answer.NOT_YET: "not yet",
        Answer.NOT_MODELLED: "not modelled",
    }
    parts = [f"{counts[answer]} {text}" for answer, text in words.items() if counts[answer]]
    return f"Of {counts.total()} statements: {', '.join(parts)}."
