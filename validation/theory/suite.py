"""Holds simulations and `pathweave solve` against what theory predicts.

    python validation/theory/suite.py --predict           # writes predictions.json
    python validation/theory/suite.py --record            # runs all, writes table.json and README
    python validation/theory/suite.py --record --only fcc # runs these, keeps the other rows
    python validation/theory/suite.py --only xmp fcc-16   # runs what begins so, prints the rows

A prediction is written down before it is judged: a case whose prediction is not in
predictions.json, or differs from it, does not run.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import cases  # noqa: E402
import network  # noqa: E402
from rows import Case, Row, Tolerance, Verdict  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PREDICTIONS = FOLDER / "predictions.json"
TABLE = FOLDER / "table.json"
NOTES = FOLDER / "notes.json"
README = FOLDER / "README.md"
LOCK = FOLDER / ".lock"
UNEXPLAINED = "Unexplained."
BEGIN, END = "<!-- written by suite.py --record: begin -->", "<!-- end -->"

Predictions = dict[str, dict[str, dict[str, Any]]]


def as_json(row: Row) -> dict[str, Any]:
    """A prediction, with as many digits as a table can need."""
    predicted = None if math.isnan(row.predicted) else float(f"{row.predicted:.6g}")
    return {"predicted": predicted, "kind": row.tolerance.kind, "size": row.tolerance.size}


def predict() -> None:
    """Write down all predictions; one that differs from the first must say that it is corrected."""
    known: Predictions = json.loads(PREDICTIONS.read_text()) if PREDICTIONS.exists() else {}
    written: Predictions = {}
    for case in cases.cases():
        for row in case.rows:
            entry = as_json(row)
            before = known.get(case.name, {}).get(row.quantity)
            if before is not None:
                first = before.get("first", {key: before[key] for key in entry})
                if first != entry:
                    if not row.corrected:
                        raise SystemExit(
                            f"{case.name}, {row.quantity}: the prediction was {first}, and the row "
                            "does not say why it is corrected"
                        )
                    entry |= {"first": first, "corrected": row.corrected}
            written.setdefault(case.name, {})[row.quantity] = entry
    PREDICTIONS.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")


def check_predicted(case: Case) -> None:
    """Refuse a case whose predictions are not those that were written down."""
    known: Predictions = json.loads(PREDICTIONS.read_text()) if PREDICTIONS.exists() else {}
    for row in case.rows:
        entry = known.get(case.name, {}).get(row.quantity)
        if entry is None or {key: entry[key] for key in as_json(row)} != as_json(row):
            raise SystemExit(
                f"{case.name}, {row.quantity}: predictions.json does not have this prediction; "
                "write it down with --predict first"
            )


def judge(case: Case) -> list[Verdict]:
    """Simulate and solve a case."""
    check_predicted(case)
    computed = case.compute() if case.compute else {}
    measured = solved = None
    refusal: str | None = None
    if case.scenario is not None:
        written = case.scenario()
        if any(row.simulated for row in case.rows):
            measured = network.simulate(written)
        if case.solve:
            answer = network.solved(written)
            if isinstance(answer, str):
                refusal = "refused"
            else:
                solved = answer
    verdicts: list[Verdict] = []
    for row in case.rows:
        verdict = Verdict(case.name, row.quantity, row.predicted, row.tolerance)
        if row.simulated and measured is not None:
            verdict.simulated = row.simulated(measured)
        if row.quantity in computed:
            verdict.solved = float(computed[row.quantity])
        if refusal is not None:
            verdict.solved = refusal
        elif row.solved and solved is not None:
            verdict.solved = row.solved(solved)
        verdicts.append(verdict)
    return verdicts


def seconds() -> float:
    """Processor time of this process and its children."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def run(chosen: Sequence[Case], *, record: bool = False, quiet: bool = False) -> list[Verdict]:
    """Judge cases in turn, say how far it is, and record each when it is done."""
    begun = time.monotonic()
    verdicts: list[Verdict] = []
    for number, case in enumerate(chosen):
        if not quiet:
            gone = time.monotonic() - begun
            left = gone / number * (len(chosen) - number) if number else math.nan
            ahead = "" if math.isnan(left) else f", {left:.0f} s left"
            print(f"\r\033[K{number + 1}/{len(chosen)} {case.name}{ahead}", end="", file=sys.stderr)
        before = seconds()
        found = judge(case)
        if record:
            keep(case, found, seconds() - before)
        verdicts += found
    if not quiet:
        print("\r\033[K", end="", file=sys.stderr)
    return verdicts


def keep(case: Case, verdicts: Sequence[Verdict], spent: float) -> None:
    """Put a case into table.json, which another run may be writing to."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(TABLE.read_text()) if TABLE.exists() else {}
        known[case.name] = {"cpu_s": round(spent, 1), "rows": [to_json(v) for v in verdicts]}
        order = [one.name for one in cases.cases()]
        kept = {name: known[name] for name in order if name in known}
        TABLE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def number(value: float | str | None) -> str:
    """Four digits."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return "refused"
    if value == 0:
        return "0"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def lines(verdicts: Iterable[Verdict]) -> list[str]:
    """The table in Markdown."""
    shown = [
        "| case | quantity | predicted | simulated | solved | tolerance | simulation | solve |",
        "|---|---|---|---|---|---|---|---|",
    ]
    shown += [
        f"| {v.case} | {v.quantity} | {number(v.predicted)} | {number(v.simulated)} |"
        f" {number(v.solved)} | {v.tolerance.text()} | {v.simulation} | {v.solution} |"
        for v in verdicts
    ]
    return shown


def to_json(verdict: Verdict) -> dict[str, Any]:
    """A row of table.json."""
    return {
        "case": verdict.case,
        "quantity": verdict.quantity,
        "predicted": None if math.isnan(verdict.predicted) else verdict.predicted,
        "kind": verdict.tolerance.kind,
        "size": verdict.tolerance.size,
        "simulated": verdict.simulated,
        "solved": verdict.solved,
        "simulation": verdict.simulation,
        "solution": verdict.solution,
    }


def from_json(row: dict[str, Any]) -> Verdict:
    """The same row, whose verdicts are worked out again."""
    predicted = math.nan if row["predicted"] is None else row["predicted"]
    tolerance = Tolerance(row["kind"], row["size"])
    verdict = Verdict(row["case"], row["quantity"], predicted, tolerance)
    verdict.simulated, verdict.solved = row["simulated"], row["solved"]
    return verdict


def differing(verdict: Verdict) -> bool:
    """Whether the row needs an explanation."""
    return "differs" in (verdict.simulation, verdict.solution)


def section(verdicts: Sequence[Verdict], notes: dict[str, str], spent: float) -> str:
    """What `--record` writes into the README."""
    simulated = [v for v in verdicts if v.simulation != "–"]
    solved = [v for v in verdicts if v.solution in ("agrees", "differs")]
    agree = sum(v.simulation == "agrees" for v in simulated)
    agree_solved = sum(v.solution == "agrees" for v in solved)
    counts = (
        f"`python validation/theory/suite.py --record`, {spent:.0f} s of processor time: of"
        f" {len(simulated)} simulated rows {agree} agree, of {len(solved)} solved or counted ones"
        f" {agree_solved}."
    )
    parts = [
        counts,
        "",
        *lines(verdicts),
        "",
        "### Rows that differ",
        "",
    ]
    groups: dict[str, list[str]] = {}
    for verdict in filter(differing, verdicts):
        text = note_of(verdict, notes)
        sides = [
            side
            for side, word in (("simulation", verdict.simulation), ("solve", verdict.solution))
            if word == "differs"
        ]
        groups.setdefault(text, []).append(
            f"{verdict.case}, {verdict.quantity} ({' and '.join(sides)})"
        )
    for text, members in groups.items():
        parts += [f"- {text}"]
        parts += [f"  - {member}" for member in members]
    return "\n".join([*parts, *changes()])


def changes() -> list[str]:
    """Corrected predictions with the first ones, and what was added, one line for each reason."""
    known: Predictions = json.loads(PREDICTIONS.read_text())
    corrected: dict[str, list[str]] = {}
    added: dict[str, list[str]] = {}
    for case in cases.cases():
        if case.added:
            added.setdefault(case.added, []).append(case.name)
        for row in case.rows:
            if row.added:
                added.setdefault(row.added, []).append(f"{case.name}, {row.quantity}")
            if row.corrected:
                first = known[case.name][row.quantity]["first"]
                limit = Tolerance(first["kind"], first["size"]).text()
                before = f"(first: {number(first['predicted'])}, {limit})"
                name = f"{case.name}, {row.quantity} {before}"
                corrected.setdefault(row.corrected, []).append(name)
    parts: list[str] = []
    for title, reasons in (
        ("Predictions that were corrected", corrected),
        ("What was added when others had run", added),
    ):
        parts += ["", f"### {title}", ""]
        for text, members in reasons.items():
            parts += [f"- {text}", *(f"  - {member}" for member in members)]
    return parts


def note_of(verdict: Verdict, notes: dict[str, str]) -> str:
    """What notes.json says about a row: the longest key that the row's name begins with."""
    name = f"{verdict.case}: {verdict.quantity}"
    known = [key for key in notes if name.startswith(key)]
    return notes[max(known, key=len)] if known else UNEXPLAINED


def rewritten(readme: str, text: str) -> str:
    """The README with another table."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END, 1)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def recorded() -> tuple[list[Verdict], float]:
    """The rows of table.json, and what they took."""
    about = json.loads(TABLE.read_text())
    rows = [from_json(row) for case in about.values() for row in case["rows"]]
    return rows, sum(case["cpu_s"] for case in about.values())


def read_notes() -> dict[str, str]:
    """What is said about rows that differ, by the beginning of their names."""
    return json.loads(NOTES.read_text()) if NOTES.exists() else {}


def write_readme() -> None:
    """The README's table, from table.json and notes.json."""
    verdicts, spent = recorded()
    README.write_text(rewritten(README.read_text(), section(verdicts, read_notes(), spent)))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; the exit code is 1 when a row differs that notes.json does not explain."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--predict", action="store_true", help="write predictions.json and end")
    parser.add_argument("--record", action="store_true", help="run all, write table.json, README")
    parser.add_argument("--write", action="store_true", help="write README from what is recorded")
    parser.add_argument("--only", nargs="+", default=[], help="cases whose names begin so")
    parser.add_argument("--list", action="store_true", help="names of the cases")
    given = parser.parse_args(arguments)
    if given.predict:
        predict()
        return 0
    if given.write:
        write_readme()
        return 0
    chosen = [
        case for case in cases.cases() if not given.only or case.name.startswith(tuple(given.only))
    ]
    if given.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if not chosen:
        parser.error("no case begins so: --list shows them")
    begun = seconds()
    verdicts = run(chosen, record=given.record)
    if given.record:
        write_readme()
    else:
        print("\n".join(lines(verdicts)))
    print(f"{seconds() - begun:.0f} s of processor time", file=sys.stderr)
    notes = read_notes()
    open_rows = [v for v in filter(differing, verdicts) if note_of(v, notes) == UNEXPLAINED]
    return int(bool(open_rows))


if __name__ == "__main__":
    sys.exit(main())
