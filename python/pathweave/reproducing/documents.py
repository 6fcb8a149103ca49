"""What was reproduced, written into the project: records of each paper, and tables in READMEs.

A README shows a table between two comments; what stands between them is replaced, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pathweave.errors import InputError
from pathweave.reading import read_text
from pathweave.reproducing.paper import Order
from pathweave.reproducing.paper_size import PAPER, still_valid
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
    checked_text,
    claim_text,
    difference_text,
    heading_text,
    kind_text,
    many,
    order_text,
    paper_size_text,
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

    from pathweave.reproducing.paper import Paper, Row
    from pathweave.reproducing.reasons import Reason
    from pathweave.reproducing.record import Record, Records
    from pathweave.reproducing.reproduced import Reproduced
    from pathweave.reproducing.verdict import Judged

README = "README.md"
BEGIN = "<!-- written by `pathweave reproduce --record`: begin -->"
END = "<!-- end -->"


@dataclass
class Written:
    """What recording did."""

    paths: list[Path] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    """Claims, each with its row, whose values at the published size no longer count."""


def write_documents(
    found: Sequence[tuple[Paper, Sequence[Reproduced]]], papers: Sequence[Paper]
) -> Written:
    """Write the records of these rows and what READMEs show of them.

    Rows that were not run keep their records. Those that were run at the published size keep what
    is recorded of the quick one; the other way round, values at the published size are kept as far
    as they still count. `papers` are all there are: the README of the folder above theirs counts
    verdicts of all. READMEs take part where they have the two comments.
    """
    written = Written()
    for paper, rows in found:
        path = paper.folder / FILE
        records = read_records(path)
        for each in rows:
            if each.record is not None:
                written.dropped += _take(records, each.row, each.record)
        records.write(path)
        written.paths.append(path)
        readme = paper.folder / README
        if write_block(readme, paper_text(paper)):
            written.paths.append(readme)
    above = papers[0].folder.resolve().parent.parent / README
    if write_block(above, counts_text([recorded(paper) for paper in papers])):
        written.paths.append(above)
    return written


def _take(records: Records, row: Row, record: Record) -> list[str]:
    """Put the record of a row among those of its size; what is dropped of the published size."""
    known = records.paper_size.pop(row.name, None)
    valid = still_valid(row, record if record.size == PAPER else known)
    if valid is not None:
        records.paper_size[row.name] = valid
    if record.size != PAPER:
        old = records.rows.get(row.name)
        records.rows[row.name] = _with_known_ablations(record, old)
    if known is None:
        return []
    kept = valid.setups if valid is not None else {}
    return [f"{row.id}, {name}" for name in known.setups if name not in kept]


def _with_known_ablations(record: Record, old: Record | None) -> Record:
    """The record; with the ablations of the old one where these runs are the same and had none."""
    if old is None or record.ablations or replace(old, ablations=()) != record:
        return record
    return old


def recorded(paper: Paper, rows: Sequence[Row] | None = None) -> list[Reproduced]:
    """Rows of a paper with what was recorded of them; all where `rows` does not say which."""
    records = read_records(paper.folder / FILE)
    return [
        reproduced(row, records.rows.get(row.name), records.paper_size.get(row.name))
        for row in (paper.rows if rows is None else rows)
    ]


def write_block(readme: Path, text: str) -> bool:
    """Put `text` between the two comments of a file; whether it has them."""
    try:
        content = read_text(readme)
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
        checked = checked_text(each)
        lines += [f"At the published size: {checked}.", ""] if checked else []
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
    command = f"`pathweave reproduce {paper.name} --explain --record`"
    text = f"{command} gives these numbers: {_made_of(records)}."
    there = [each.paper_size for each in rows if each.paper_size is not None]
    if not there:
        return text
    seeds = {len(each.seeds) for each in there}
    same = f" --seeds {seeds.pop()}" if len(seeds) == 1 else ""
    command = f"`pathweave reproduce {paper.name} --size {PAPER}{same} --record`"
    return f"{text} {command} gives those at the published size: {_made_of(there)}."


def _made_of(records: Sequence[Record]) -> str:
    sizes = " and ".join(sorted({record.size for record in records}))
    seeds = sorted({len(record.seeds) for record in records if record.seeds})
    versions = " and ".join(sorted({record.version for record in records}))
    said = ""  # programs have none
    if seeds:
        each = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else many(seeds[0], "seed")
        said = f" {each},"
    return f"{sizes} size,{said} Pathweave {versions}"


def _claims(found: Reproduced) -> list[str]:
    if not found.judged:
        return []
    lines = ["| claim | variant | published | ours | verdict |", "|---|---|---|---|---|"]
    for judged in found.judged:
        lines += _claim(judged)
    tried: dict[tuple[str, str], list[Reason]] = {}
    for reason in found.reasons:
        key = (reason.because.reason, changed_text(reason.because))
        tried.setdefault(key, []).append(reason)
    for (why, changed), reasons in tried.items():
        if len(reasons) == 1:
            (reason,) = reasons
            moved = _moved(found.row, reason)
            gave = f" With {changed}: {moved}." if moved else ""
            head = heading_text(reason.because)
            lines += ["", f"{head}: {why}{gave} **{why_text(reason.outcome)}**"]
            continue
        lines += [
            "",
            f"{why} With {changed}:" if any(each.changes for each in reasons) else why,
            "",
        ]
        for reason in reasons:
            moved = _moved(found.row, reason)
            gave = f": {moved}." if moved else ":"
            lines.append(f"- {heading_text(reason.because)}{gave} **{why_text(reason.outcome)}**")
    return lines


def _moved(row: Row, reason: Reason) -> str:
    """What an explanation's runs changed: "XMP 1.2 ms → 0.9 ms"; empty without runs."""
    claim = row.claim(reason.because.claim)
    if claim is None:
        return ""
    return "; ".join(
        f"{before.label or 'all'} {sample_text(claim, before)} → {sample_text(claim, after)}"
        for before, after in reason.changes
    )


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
        there = paper_size_text(judged, point, unit)
        shown = f"{shown}; {there}" if there else shown
        verdict = "" if isinstance(claim, Order) else point.outcome.value
        first = said if place == 0 else ""
        lines.append(_line([first, point.sample.label, wanted, shown, verdict]))
    return lines


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
