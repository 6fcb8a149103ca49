"""`pathweave reproduce`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathweave.cli.exits import FAILED
from pathweave.cli.options import Jobs, Json  # noqa: TC001
from pathweave.errors import InputError
from pathweave.results import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from pathweave.reproducing.paper import Because, Paper, Row
    from pathweave.reproducing.record import Record
    from pathweave.reproducing.reproduced import Reproduced
    from pathweave.reproducing.work import Wanted
    from pathweave.results.read import StoredScenario
    from pathweave.running.session import Session

PAPERS = Path("papers")
_PIPED = 160
"""Columns of a table that does not go to a terminal."""


@dataclass
class _Runs:
    """The runs that were asked for."""

    rows: dict[str, Session | None] = field(default_factory=dict)
    """By the row's id; None where it has no scenario."""
    explanations: list[tuple[str, Session]] = field(default_factory=list)
    """Each with the row's id."""

    @property
    def all(self) -> list[tuple[str, Session]]:
        """Each with the row's id."""
        own = [(row, session) for row, session in self.rows.items() if session is not None]
        return own + self.explanations


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers, or rows of papers; all if not given.", metavar="[PAPER[/ROW]...]"
        ),
    ] = None,
    size: Annotated[
        str, typer.Option(help="quick, or paper for the published size.", metavar="NAME")
    ] = "quick",
    seeds: Annotated[
        int | None,
        typer.Option(help="Seeds of each variant; 5 if not given.", metavar="N", min=1),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also run what explains the rows that differ.")
    ] = False,
    list_: Annotated[
        bool,
        typer.Option("--list", help="Only list the rows, with the verdicts of what was recorded."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Compare the runs with what was recorded; exit code 1 if a number moved or is"
            " missing.",
        ),
    ] = False,
    record: Annotated[
        bool,
        typer.Option(
            "--record", help="Write what comes out beside expected.toml, and into READMEs."
        ),
    ] = False,
    papers: Annotated[Path, typer.Option(help="Folder of the papers.", metavar="DIR")] = PAPERS,
    out: Annotated[
        Path, typer.Option(help="Folder for results and reports.", metavar="DIR")
    ] = layout.DEFAULT_ROOT / "papers",
    jobs: Jobs = None,
    json: Json = False,
) -> None:
    """Run published experiments again, and judge whether what comes out agrees with them.

    Each row is a published figure or table. Runs that are there already are kept; Ctrl-C ends
    cleanly, and the same command goes on from there. A report of each paper goes to DIR.

    Example: pathweave reproduce xmp/tab1 --explain
    """
    from pathweave.cli.console import output, print_json
    from pathweave.reproducing.record import FILE, read_records
    from pathweave.reproducing.reproduced import counted_text
    from pathweave.reproducing.work import Wanted, check_size, read_papers

    _check_options(list_=list_, seeds=seeds, size=size, explain=explain, check=check, record=record)
    wanted = Wanted(size, seeds, out)
    chosen = read_papers(papers, names or [])
    check_size([row for _, rows in chosen for row in rows], size)
    for paper, _ in chosen:  # damaged ones are found before anything is run
        read_records(paper.folder / FILE)
    runs = _Runs()
    if list_:
        found = [(paper, _recorded(paper, rows)) for paper, rows in chosen]
    else:
        found = _run(chosen, wanted, jobs, runs, explain=explain)
    if json:
        print_json([_document(each) for _, rows in found for each in rows])
    else:
        for paper, rows in found:
            _print(paper, rows, brief=list_)
        if len(found) > 1:
            output().print(f"\n{counted_text(each for _, rows in found for each in rows)}")
    if list_:
        return
    _report(found, papers, runs, wanted)
    _say_cpu_time(runs)
    _finish(found, papers, record=record, check=check, beside_json=json)


def _check_options(
    *, list_: bool, seeds: int | None, size: str, explain: bool, check: bool, record: bool
) -> None:
    """Raise `InputError` for options that do not go together."""
    if list_ and (seeds or size != "quick" or explain or check or record):
        raise InputError("--list shows what was recorded; give it without other options but --json")
    if record and (seeds or size != "quick"):
        raise InputError(
            "--record is of the quick size and each row's own seeds; leave out --size and --seeds"
        )


def _recorded(paper: Paper, rows: Sequence[Row]) -> list[Reproduced]:
    """The rows with what was recorded of them."""
    from pathweave.reproducing.record import FILE, read_records
    from pathweave.reproducing.reproduced import reproduced

    records = read_records(paper.folder / FILE)
    return [reproduced(row, records.rows.get(row.name)) for row in rows]


def _run(
    chosen: Sequence[tuple[Paper, list[Row]]],
    wanted: Wanted,
    jobs: int | None,
    runs: _Runs,
    *,
    explain: bool,
) -> list[tuple[Paper, list[Reproduced]]]:
    """Run what is missing, judge it, and run what explains differences.

    `runs` takes what it runs, and what is there already.
    """
    from pathweave.cli.together import simulate_all
    from pathweave.reproducing.reproduced import reproduced
    from pathweave.reproducing.work import (
        open_ablation,
        open_row,
        record_ablation,
        record_row,
        with_ablations,
    )

    rows = [row for _, several in chosen for row in several]
    runs.rows.update((row.id, open_row(row, wanted)) for row in rows)
    long = wanted.size != "quick"
    named = {name: [each] for name, each in runs.rows.items() if each}
    simulate_all(named, jobs, "rows", say_time=long, say_cpu=True)
    records: dict[str, Record | None] = {row.id: record_row(row, runs.rows[row.id]) for row in rows}
    if explain:
        work: list[tuple[Row, Because, Session]] = [
            (row, because, open_ablation(row, because, wanted))
            for row in rows
            for because in reproduced(row, records[row.id]).to_explain()
        ]
        runs.explanations += [(row.id, session) for row, _, session in work]
        by_row: dict[str, list[Session]] = {}
        for name, session in runs.explanations:
            by_row.setdefault(name, []).append(session)
        simulate_all(by_row, jobs, "explanations", say_time=long, say_cpu=True)
        for row, because, session in work:
            gave = record_ablation(row, because, session)
            before = records[row.id]
            if gave is not None and before is not None:
                records[row.id] = with_ablations(before, [gave])
    return [
        (paper, [reproduced(row, records[row.id]) for row in several]) for paper, several in chosen
    ]


def _say_cpu_time(runs: _Runs) -> None:
    """What the runs took, on whichever machine and whenever they were made."""
    from pathweave.cli.console import messages, say
    from pathweave.reproducing.cpu_time import cpu_time
    from pathweave.results.units import number

    found = cpu_time(runs.all)
    if found is None:
        return
    longest = f"{number(found.longest_s, 3)} s ({found.longest})"
    if found.runs == 1:
        say(messages(), f"CPU time of the run: {longest}")
        return
    total = f"CPU time of the {found.runs} runs: {number(found.total_s, 3)} s"
    say(messages(), f"{total}, {longest} for the longest")


def _report(
    found: Sequence[tuple[Paper, list[Reproduced]]],
    folder: Path,
    runs: _Runs,
    wanted: Wanted,
) -> None:
    """Write the pages of these papers, and the index of all.

    Rows that were not asked for are there with what was recorded of them.
    """
    from pathweave.cli.console import messages, say
    from pathweave.cli.drawing import watch
    from pathweave.report.reproduced import build_reports
    from pathweave.reproducing.work import open_row, read_papers, stored

    def runs_of(row: Row) -> StoredScenario | None:
        session = runs.rows[row.id] if row.id in runs.rows else open_row(row, wanted)
        return None if session is None else stored(session)

    asked = {each.row.id: each for _, rows in found for each in rows}
    everything = [
        (paper, [asked.get(each.row.id, each) for each in _recorded(paper, rows)])
        for paper, rows in read_papers(folder, [])
    ]
    names = {paper.name for paper, _ in found}
    with watch(messages()) as steps:
        pages = build_reports(everything, names, runs_of, wanted.root, steps)
    say(messages(), f"Report: {pages[-1]}")


def _finish(
    found: Sequence[tuple[Paper, list[Reproduced]]],
    papers: Path,
    *,
    record: bool,
    check: bool,
    beside_json: bool,
) -> None:
    """Compare with what was recorded and write records, as far as they are asked for."""
    from pathweave.cli.console import messages, output, say
    from pathweave.reproducing.record import FILE, read_records

    passed = True
    if check:
        recorded = {paper.name: read_records(paper.folder / FILE).rows for paper, _ in found}
        passed = _check(
            [
                (each.row.id, recorded[paper.name].get(each.row.name), each.record)
                for paper, rows in found
                for each in rows
            ],
            messages() if beside_json else output(),
        )
    if record:
        from pathweave.reproducing.documents import write_documents
        from pathweave.reproducing.work import read_papers
        from pathweave.results.expected import FILE as PUBLISHED

        above = papers.parent if (papers / PUBLISHED).is_file() else papers
        everything = [paper for paper, _ in read_papers(above, [])]
        for path in write_documents(found, everything):
            say(messages(), f"written: {path}")
    if not passed:
        raise typer.Exit(FAILED)


def _check(rows: Sequence[tuple[str, Record | None, Record | None]], console: Console) -> bool:
    """Print what has moved from the records; whether nothing has, and nothing is missing."""
    from rich.text import Text

    from pathweave.reproducing.regression import compare
    from pathweave.results.units import number

    found = compare(rows)
    console.print()
    for each in found.moved:
        change = f"{number(each.before)} → {number(each.after)} (± {number(each.half, 2)})"
        text = f"moved: {each.about}, {each.variant}: {change}, {each.method}"
        console.print(Text(text), soft_wrap=True)
    for line in found.missing:
        console.print(Text(f"not compared: {line}"), soft_wrap=True)
    for line in found.new:
        console.print(Text(f"not recorded yet: {line}"), soft_wrap=True)
    for line in found.notes:
        console.print(Text(f"note: {line}"), soft_wrap=True)
    console.print(Text(found.text), soft_wrap=True)
    return found.passed


def _print(paper: Paper, rows: Sequence[Reproduced], *, brief: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from pathweave.cli.console import output
    from pathweave.reproducing.reproduced import counted_text
    from pathweave.reproducing.words import why_text

    console = output()
    console.print()
    console.print(Text(paper.title, "bold"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for head in ("", "what", "verdict", "why"):
        table.add_column(head, overflow="fold")
    for each in rows:
        outcome = each.outcome.value + (f" ({each.summary})" if each.summary else "")
        table.add_row(each.row.id, each.row.title, outcome, why_text(each.why))
    # Cells that a program reads do not wrap.
    console.print(table, width=None if console.is_terminal else _PIPED)
    console.print(Text(counted_text(rows)))
    if not brief:
        for each in rows:
            _print_claims(each)


def _print_claims(found: Reproduced) -> None:
    from rich.text import Text

    from pathweave.cli.console import output
    from pathweave.reproducing.paper import Order
    from pathweave.reproducing.words import (
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

    console = output()
    console.print()
    console.print(Text(f"{found.row.id}: {found.row.title}", "bold"))
    for judged in found.judged:
        claim = judged.claim
        line = Text.assemble(
            f"{kind_text(claim)}{claim_text(claim)}: ", (verdict_text(judged), "bold")
        )
        console.print(line)
        if isinstance(claim, Order):
            console.print(Text(f"  published: {order_text(claim)}"))
        unit = shown_unit(claim, [point.sample for point in judged.points])
        for point in judged.points:
            words = [f"  {point.sample.label or 'all'}:", sample_text(claim, point.sample, unit)]
            wanted = wanted_text(claim, point)
            words += [f"(published: {wanted})"] if wanted else []
            words += [difference_text(claim, point)]
            console.print(Text(" ".join(word for word in words if word)))
        if judged.because:
            console.print(Text(f"  {judged.because}"))
        for reason in found.reasons:
            if reason.because.claim != claim.name:
                continue
            console.print(
                Text.assemble(
                    f"  {heading_text(reason.because)}: {reason.because.reason} ",
                    (why_text(reason.outcome), "bold"),
                )
            )
            for before, after in reason.changes:
                change = f"{sample_text(claim, before)} → {sample_text(claim, after)}"
                console.print(Text(f"    {before.label or 'all'}: {change}"))


def _document(found: Reproduced) -> dict[str, Any]:
    """A row for programs; values are in the unit that stands beside them."""
    from pathweave.reproducing.words import claim_text, unit_of

    return {
        "row": found.row.id,
        "title": found.row.title,
        "setup": found.row.setup,
        "verdict": found.outcome.value,
        "why": found.why.value if found.why else None,
        "command": found.record.command if found.record else None,
        "claims": [
            {
                "name": judged.claim.name,
                "kind": judged.claim.kind.value,
                "says": claim_text(judged.claim),
                "verdict": judged.outcome.value,
                "because": judged.because,
                "unit": unit_of(judged.claim),
                "values": [
                    {
                        "at": dict(point.sample.at),
                        "published": point.published,
                        "ours": point.sample.mean,
                        "half": point.sample.half,
                        "at_least": point.sample.at_least,
                        "seeds": len(point.sample.values),
                        "verdict": point.outcome.value,
                    }
                    for point in judged.points
                ],
            }
            for judged in found.judged
        ],
        "reasons": [
            {
                "claim": reason.because.claim,
                "reason": reason.because.reason,
                "outcome": reason.outcome.value,
                "command": reason.command,
                "before": [sample.mean for sample in reason.before],
                "after": [sample.mean for sample in reason.after],
            }
            for reason in found.reasons
        ],
    }
