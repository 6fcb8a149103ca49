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
    from collections.abc import Mapping, Sequence

    from pathweave.reproducing.paper import Because, Paper, Row
    from pathweave.reproducing.record import Record, Records
    from pathweave.reproducing.reproduced import Reproduced
    from pathweave.reproducing.verdict import Point
    from pathweave.reproducing.work import Wanted
    from pathweave.results.runs import StoredScenario
    from pathweave.running.session import Session

PAPERS = Path("papers")

Found = list["tuple[Paper, list[Reproduced]]"]


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
    ledger: Annotated[
        bool,
        typer.Option(
            "--ledger", help="Only list what the papers say, and what answers each statement."
        ),
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
    from pathweave.cli.console import messages, output, print_json
    from pathweave.cli.controllers import named
    from pathweave.cli.ledgers import print_ledgers
    from pathweave.cli.recorded import moved, write
    from pathweave.reproducing.documents import recorded
    from pathweave.reproducing.record import FILE, read_records
    from pathweave.reproducing.reproduced import counted_text
    from pathweave.reproducing.work import Wanted, check_size, read_papers

    _check_options(
        list_=list_,
        ledger=ledger,
        seeds=seeds,
        size=size,
        explain=explain,
        check=check,
        record=record,
    )
    wanted = Wanted(size, seeds, out)
    chosen = read_papers(papers, names or [])
    if ledger:
        print_ledgers([paper for paper, _ in chosen], json=json)
        return
    check_size([row for _, rows in chosen for row in rows], size)
    if record:
        chosen = _to_record(chosen, size)
    # Damaged ones are found before anything is run.
    records = {paper.name: read_records(paper.folder / FILE) for paper, _ in chosen}
    runs = _Runs()
    if list_:
        found = [(paper, recorded(paper, rows)) for paper, rows in chosen]
    else:
        with named():
            found = _run(chosen, wanted, jobs, runs, records, explain=explain)
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
    # Programs read nothing but JSON from the output.
    console = messages() if json else output()
    failed = check and moved(found, size, console)
    if record:
        write(found, papers, console)
    if failed:
        raise typer.Exit(FAILED)


def _check_options(
    *,
    list_: bool,
    ledger: bool,
    seeds: int | None,
    size: str,
    explain: bool,
    check: bool,
    record: bool,
) -> None:
    """Raise `InputError` for options that do not go together."""
    runs = seeds or size != "quick" or explain or check or record
    if ledger and (runs or list_):
        raise InputError("--ledger runs nothing; give it without other options but --json")
    if list_ and runs:
        raise InputError("--list shows what was recorded; give it without other options but --json")
    if record and size not in ("quick", "paper"):
        raise InputError(f"--record works at the sizes quick and paper, not at {size}")
    if record and size == "quick" and seeds:
        raise InputError(
            "--record at the quick size uses each row's own number of seeds; leave out --seeds"
        )
    if record and size == "paper" and explain:
        raise InputError("explanations are recorded at the quick size; leave out --explain")


def _to_record(
    chosen: Sequence[tuple[Paper, list[Row]]], size: str
) -> list[tuple[Paper, list[Row]]]:
    """The rows that can be recorded at a size: at the published one, those that have another."""
    from pathweave.cli.console import messages, say
    from pathweave.reproducing.paper_size import PAPER

    if size != PAPER:
        return list(chosen)
    reduced = [(paper, [row for row in rows if row.paper_setups]) for paper, rows in chosen]
    kept = sum(len(rows) for _, rows in reduced)
    skipped = sum(len(rows) for _, rows in chosen) - kept
    if not kept:
        raise InputError("the quick set-up of these rows is the published one")
    if skipped:
        what = "row has" if skipped == 1 else "rows have"
        say(messages(), f"skipped: {skipped} {what} no other size than the quick one")
    return [(paper, rows) for paper, rows in reduced if rows]


def _run(
    chosen: Sequence[tuple[Paper, list[Row]]],
    wanted: Wanted,
    jobs: int | None,
    runs: _Runs,
    recorded: Mapping[str, Records],
    *,
    explain: bool,
) -> Found:
    """Run what is missing, judge it, and run what explains differences.

    `runs` takes what it runs, and what is there already. `recorded` are the records of each paper.
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

    def judged(row: Row) -> Reproduced:
        return reproduced(row, records[row.id], recorded[row.paper].paper_size.get(row.name))

    if explain:
        work: list[tuple[Row, Because, Session]] = [
            (row, because, open_ablation(row, because, wanted))
            for row in rows
            for because in judged(row).to_explain()
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
    return [(paper, [judged(row) for row in several]) for paper, several in chosen]


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


def _report(found: Found, folder: Path, runs: _Runs, wanted: Wanted) -> None:
    """Write the pages of these papers, and the index of all.

    Rows that were not asked for are there with what was recorded of them.
    """
    from pathweave.cli.console import messages, say
    from pathweave.cli.drawing import watch
    from pathweave.report.reproduced import build_reports
    from pathweave.reproducing.documents import recorded
    from pathweave.reproducing.work import open_row, read_papers, stored

    def runs_of(row: Row) -> StoredScenario | None:
        session = runs.rows[row.id] if row.id in runs.rows else open_row(row, wanted)
        return None if session is None else stored(session)

    asked = {each.row.id: each for _, rows in found for each in rows}
    everything = [
        (paper, [asked.get(each.row.id, each) for each in recorded(paper, rows)])
        for paper, rows in read_papers(folder, [])
    ]
    names = {paper.name for paper, _ in found}
    with watch(messages()) as steps:
        pages = build_reports(everything, names, runs_of, wanted.root, steps)
    say(messages(), f"Report: {pages[-1]}")


def _print(paper: Paper, rows: Sequence[Reproduced], *, brief: bool) -> None:
    from rich.text import Text

    from pathweave.cli.console import output
    from pathweave.cli.text_table import text_table
    from pathweave.reproducing.reproduced import counted_text
    from pathweave.reproducing.words import checked_text, why_text

    console = output()
    console.print()
    console.print(Text(paper.title, "bold"))
    table = text_table("", "what", "verdict", "why")
    for each in rows:
        outcome = each.outcome.value + (f" ({each.summary})" if each.summary else "")
        table.add_row(each.row.id, each.row.title, outcome, why_text(each.why))
    console.print(table)
    console.print(Text(counted_text(rows)))
    for each in rows:
        checked = checked_text(each)
        if not brief:
            _print_claims(each)
        elif checked:
            console.print(Text(f"{each.row.id} at the published size: {checked}"), soft_wrap=True)


def _print_claims(found: Reproduced) -> None:
    from rich.text import Text

    from pathweave.cli.console import output
    from pathweave.reproducing.paper import Order
    from pathweave.reproducing.words import (
        checked_text,
        claim_text,
        difference_text,
        heading_text,
        kind_text,
        order_text,
        paper_size_text,
        sample_text,
        shown_unit,
        verdict_text,
        wanted_text,
        why_text,
    )

    console = output()
    console.print()
    console.print(Text(f"{found.row.id}: {found.row.title}", "bold"))
    checked = checked_text(found)
    if checked:
        console.print(Text(f"At the published size: {checked}."), soft_wrap=True)
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
            there = paper_size_text(judged, point, unit)
            text = " ".join(word for word in words if word)
            console.print(Text(f"{text}; {there}" if there else text))
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


def _at_paper_size(point: Point) -> dict[str, Any] | None:
    there = point.at_paper_size
    if there is None:
        return None
    return {
        "ours": there.mean,
        "half": there.half,
        "at_least": there.at_least,
        "seeds": len(there.values),
    }


def _document(found: Reproduced) -> dict[str, Any]:
    """A row for programs; values are in the unit that stands beside them."""
    from pathweave.reproducing.words import claim_text, unit_of

    checked = found.paper_size
    return {
        "row": found.row.id,
        "title": found.row.title,
        "setup": found.row.setup,
        "verdict": found.outcome.value,
        "why": found.why.value if found.why else None,
        "command": found.record.command if found.record else None,
        "reduced": found.is_reduced,
        "at_paper_size": None
        if checked is None
        else {"command": checked.command, "seeds": list(checked.seeds)},
        "claims": [
            {
                "name": judged.claim.name,
                "kind": judged.claim.kind.value,
                "says": claim_text(judged.claim),
                "verdict": judged.outcome.value,
                "consistency": judged.consistency.value if judged.consistency else None,
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
                        "at_paper_size": _at_paper_size(point),
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
