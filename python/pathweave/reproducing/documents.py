"""What was reproduced, written into the project: records of each paper, and tables in READMEs.

A README shows a table between two comments; what stands between them is replaced, nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.reproducing.paper import Order
from pathweave.reproducing.reasons import Explained
from pathweave.reproducing.record import FILE, read_records
from pathweave.reproducing.reproduced import (
    claim_counts,
    counted_text,
    counts,
    holding,
    reproduced,
)
from pathweave.reproducing.verdict import Outcome
from pathweave.reproducing.words import (
    changed_text,
    claim_text,
    difference_text,
    heading_text,
    kind_text,
    order_text,
    sample_text,
    shown_unit,
    verdict_text,
    wanted_text,
    why_text,
)
from pathweave.results.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pathweave.reproducing.paper import Paper
    from pathweave.reproducing.record import Record
    from pathweave.reproducing.reproduced import Reproduced
    from pathweave.reproducing.verdict import Judged

README = "README.md"
BEGIN = "<!-- written by `pathweave reproduce --record`: begin -->"
END = "<!-- end -->"


def write_documents(
    found: Sequence[tuple[Paper, Sequence[Reproduced]]], papers: Sequence[Paper]
) -> list[Path]:
    """Write the records of these rows and what READMEs show of them; the paths that were written.

    Rows that were not run keep their records. `papers` are all there are: the README of the folder
    above theirs counts verdicts of all. READMEs take part where they have the two comments.
    """
    written: list[Path] = []
    for paper, rows in found:
        path = paper.folder / FILE
        records = read_records(path)
        for each in rows:
            if each.record is not None:
                old = records.rows.get(each.row.name)
                records.rows[each.row.name] = _with_known_ablations(each.record, old)
        records.write(path)
        written.append(path)
        readme = paper.folder / README
        if write_block(readme, paper_text(paper)):
            written.append(readme)
    above = papers[0].folder.resolve().parent.parent / README
    if write_block(above, counts_text([recorded(paper) for paper in papers])):
        written.append(above)
    return written


def _with_known_ablations(record: Record, old: Record | None) -> Record:
    """The record; with the ablations of the old one where these runs are the same and had none."""
    if old is None or record.ablations or replace(old, ablations=()) != record:
        return record
    return old


def recorded(paper: Paper) -> list[Reproduced]:
    """All rows of a paper with what was recorded of them."""
    records = read_records(paper.folder / FILE)
    return [reproduced(row, records.rows.get(row.name)) for row in paper.rows]


def write_block(readme: Path, text: str) -> bool:
    """Put `text` between the two comments of a file; whether it has them."""
    try:
        content = readme.read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    if BEGIN not in content:
        return False
    before, _, rest = content.partition(BEGIN)
    if END not in rest:
        raise InputError(f"{readme}: {BEGIN} has no {END} after it")
    after = rest.partition(END)[2]
    write_whole(readme, f"{before}{BEGIN}\n\n{text}\n{END}{after}".encode())
    return True


def paper_text(paper: Paper) -> str:
    """A paper's rows as Markdown: verdicts, then each row with its claims."""
    rows = recorded(paper)
    lines = [f"{counted_text(rows)} {_made(paper, rows)}", ""]
    lines += ["| row | what | verdict | of its claims | why it differs |", "|---|---|---|---|---|"]
    for each in rows:
        cells = [each.row.name, each.row.title, each.outcome.value, each.summary]
        lines.append(_line([*cells, why_text(each.why)]))
    for each in rows:
        lines += ["", f"### {each.row.name}: {each.row.title}", "", each.row.setup, ""]
        if each.row.picture:
            lines += [f"Only by eye: {each.row.picture}.", ""]
        lines += _claims(each)
    return "\n".join(lines).rstrip() + "\n"


def counts_text(papers: Iterable[Sequence[Reproduced]]) -> str:
    """Verdicts of all papers as Markdown: a line for each, and all together."""
    several = [list(rows) for rows in papers]
    outcomes = [each for each in Outcome if any(counts(rows)[0][each] for rows in several)]
    known = [each for each in Explained if any(counts(rows)[1][each] for rows in several)]
    heads = [each.value for each in outcomes] + [f"differs: {why_text(each)}" for each in known]
    lines = [_line(["paper", *heads]), "|---" * (len(heads) + 1) + "|"]
    for rows in several:
        verdicts, why = counts(rows)
        name = f"[{rows[0].row.paper}](papers/{rows[0].row.paper}/README.md)" if rows else ""
        numbers = [*(verdicts[each] for each in outcomes), *(why[each] for each in known)]
        lines.append(_line([name, *map(str, numbers)]))
    together = [each for rows in several for each in rows]
    parts = [counted_text(together), "", *lines, "", *_claim_counts(several)]
    return "\n".join(parts) + "\n"


def _claim_counts(several: Sequence[Sequence[Reproduced]]) -> list[str]:
    """Verdicts on the numbers and sentences of each paper, and how many readings hold."""
    found = [claim_counts(rows) for rows in several]
    outcomes = [each for each in Outcome if any(counted[each] for counted in found)]
    heads = [each.value for each in outcomes]
    lines = [
        "By claim, where a number or a sentence of the paper decides and our readings do not:",
        "",
    ]
    lines += [_line(["paper", *heads, "our readings that hold"]), "|---" * (len(heads) + 2) + "|"]
    for rows, counted in zip(several, found, strict=True):
        readings = [each for row in rows for each in row.readings]
        hold = f"{holding(readings)} of {len(readings)}"
        name = rows[0].row.paper if rows else ""
        lines.append(_line([name, *(str(counted[each]) for each in outcomes), hold]))
    return lines


def _made(paper: Paper, rows: Sequence[Reproduced]) -> str:
    """Which command, size, seeds and version the numbers are of."""
    records = [each.record for each in rows if each.record is not None]
    if not records:
        return ""
    sizes = " and ".join(sorted({record.size for record in records}))
    seeds = sorted({len(record.seeds) for record in records if record.seeds})
    versions = " and ".join(sorted({record.version for record in records}))
    many = ""  # programs have none
    if seeds:
        many = f" {seeds[0]} seeds," if len(seeds) == 1 else f" {seeds[0]} to {seeds[-1]} seeds,"
    command = f"`pathweave reproduce {paper.name} --explain --record`"
    return f"{command} gives these numbers: {sizes} size,{many} Pathweave {versions}."


def _claims(found: Reproduced) -> list[str]:
    if not found.judged:
        return []
    lines = ["| claim | variant | published | ours | verdict |", "|---|---|---|---|---|"]
    for judged in found.judged:
        lines += _claim(judged)
    for reason in found.reasons:
        claim = found.row.claim(reason.because.claim)
        if claim is None:
            continue
        moved = [
            f"{before.label or 'all'} {sample_text(claim, before)} → {sample_text(claim, after)}"
            for before, after in reason.changes
        ]
        gave = f" With {changed_text(reason.because)}: {'; '.join(moved)}." if moved else ""
        verdict = why_text(reason.outcome)
        lines += [
            "",
            f"{heading_text(reason.because)}: {reason.because.reason}{gave} **{verdict}**",
        ]
    return lines


def _claim(judged: Judged) -> list[str]:
    claim = judged.claim
    unit = shown_unit(claim, [point.sample for point in judged.points])
    lines: list[str] = []
    said = f"{kind_text(claim)}{claim_text(claim)}: **{verdict_text(judged)}**"
    for place, point in enumerate(judged.points):
        wanted = wanted_text(claim, point)
        if isinstance(claim, Order):
            wanted = order_text(claim) if place == 0 else ""
        ours = sample_text(claim, point.sample, unit)
        difference = difference_text(claim, point)
        shown = f"{ours} ({difference})" if difference else ours
        verdict = "" if isinstance(claim, Order) else point.outcome.value
        first = said if place == 0 else ""
        lines.append(_line([first, point.sample.label, wanted, shown, verdict]))
    return lines


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
