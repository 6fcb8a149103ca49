"""Runs of the papers and what was recorded of them: compared, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from pathweave.reproducing.paper import Paper
    from pathweave.reproducing.record import Record
    from pathweave.reproducing.reproduced import Reproduced


def moved(found: Sequence[tuple[Paper, list[Reproduced]]], size: str, console: Console) -> bool:
    """Print what has moved from the records; whether anything has, or is missing."""
    from rich.text import Text

    from pathweave.reproducing.regression import compare
    from pathweave.results.units import number

    check = compare(_pairs(found, size))
    console.print()
    for each in check.moved:
        change = f"{number(each.before)} → {number(each.after)} (± {number(each.half, 2)})"
        text = f"moved: {each.about}, {each.variant}: {change}, {each.method}"
        console.print(Text(text), soft_wrap=True)
    for line in check.missing:
        console.print(Text(f"not compared: {line}"), soft_wrap=True)
    for line in check.new:
        console.print(Text(f"not recorded yet: {line}"), soft_wrap=True)
    for line in check.notes:
        console.print(Text(f"note: {line}"), soft_wrap=True)
    console.print(Text(check.text), soft_wrap=True)
    return not check.passed


def write(found: Sequence[tuple[Paper, list[Reproduced]]], papers: Path, console: Console) -> None:
    """Write records and READMEs, and print how rows compare with the published size.

    `papers` is the folder of all papers, or of one.
    """
    from rich.text import Text

    from pathweave.cli.console import messages, say
    from pathweave.reproducing.documents import recorded, write_documents
    from pathweave.reproducing.paper_size import PAPER
    from pathweave.reproducing.words import checked_text
    from pathweave.reproducing.work import read_papers
    from pathweave.results.expected import FILE as PUBLISHED

    above = papers.parent if (papers / PUBLISHED).is_file() else papers
    written = write_documents(found, [paper for paper, _ in read_papers(above, [])])
    for path in written.paths:
        say(messages(), f"written: {path}")
    why = "its values at the published size are of other settings or of another claim"
    for claim in written.dropped:
        say(messages(), f"dropped: {claim}: {why}")
    for paper, rows in found:
        there = [each.row for each in rows if each.record and each.record.size == PAPER]
        for each in recorded(paper, there):
            said = checked_text(each) or "nothing is recorded at the quick size to compare with"
            console.print(Text(f"{each.row.id} at the published size: {said}"), soft_wrap=True)


def _pairs(
    found: Sequence[tuple[Paper, list[Reproduced]]], size: str
) -> list[tuple[str, Record | None, Record | None]]:
    """Each row with its record and what came out now, both at the size that was run."""
    from pathweave.reproducing.paper_size import PAPER, still_valid
    from pathweave.reproducing.record import FILE, read_records

    pairs: list[tuple[str, Record | None, Record | None]] = []
    for paper, rows in found:
        records = read_records(paper.folder / FILE)
        for each in rows:
            row = each.row
            if size == PAPER and row.paper_setups:
                known = records.paper_size.get(row.name)
                pairs.append((row.id, known, still_valid(row, each.record)))
            else:
                pairs.append((row.id, records.rows.get(row.name), each.record))
    return pairs
