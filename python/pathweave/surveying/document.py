"""The survey as a file of numbers, as a page of docs, and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError
from pathweave.plots.survey import survey_figure
from pathweave.results.jsonfile import read_json, write_json
from pathweave.results.present import plus_minus
from pathweave.results.units import number, rate_unit, scale, time_unit
from pathweave.results.wholefile import write_whole
from pathweave.surveying.table import COLUMNS, Gathered, Values, compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pathweave.surveying.table import Cell, Column, Compared
    from pathweave.surveying.workloads import Survey, Workload

RECORD = "measured.json"
PAGE = "survey.md"
PICTURE = "survey.png"
FORMAT = 2
_MARK = {"better": "▲", "worse": "▼", "not told apart": "≈"}

_CONCLUSIONS = """\
**What may be concluded.** A difference that is told apart holds for this scheme against this
baseline on this fabric, at this load, with these hosts and timers. All hosts are of the preset
`linux`; what their stacks and timers decide differs from what the papers measured. Four subflows
open with four initial windows, so only the difference to the single path with as many initial
packets says what several paths and their controller give to short flows. Where the time lost in
timeouts is a large part of completion times, a column ranks the timers: with a smaller
`minimum_rto` the order may turn around.

**What may not.** The tables do not say which scheme is best: no column is an average over
fabrics, thresholds, buffers or loads, and each scheme has one set of parameters, which its paper
or Linux gives, tuned for none of the workloads. "Not told apart" does not mean equal. A
difference of a few per cent does not carry over to another fabric; run your own scenario for that.
"""

_TIMES = 900.0
"""Per cent from which a difference is said as a multiple."""


@dataclass(frozen=True)
class SurveyedWorkload:
    """What the runs of a workload gave."""

    version: str
    """Of Pathweave."""
    gathered: Gathered

    @property
    def seeds(self) -> int:
        """Most seeds of a value."""
        several = (each for own in self.gathered.values() for each in own.values())
        return max((len(each.by_seed) for each in several), default=0)


Table = dict[str, dict[str, "Cell"]]


def workload_text(
    survey: Survey, workload: Workload, table: Mapping[str, Mapping[str, Cell]]
) -> str:
    """A workload's table as Markdown: a row for each scheme, a column for each quantity."""
    shown = [column for column in COLUMNS if column.key in table]
    units = {column.key: _unit(column, table[column.key]) for column in shown}
    heads = [
        f"{column.title} ({units[column.key]})" if units[column.key] else column.title
        for column in shown
    ]
    lines = [f"### {workload.title}", "", workload.timers, "", _line(["scheme", *heads])]
    lines.append("|---" * (len(heads) + 1) + "|")
    for scheme in survey.schemes:
        cells = [_cell(table[column.key].get(scheme.name), units[column.key]) for column in shown]
        if any(cells):
            lines.append(_line([scheme.name, *cells]))
    return "\n".join([*lines, ""])


def write_documents(
    survey: Survey, folder: Path, found: Sequence[tuple[Workload, Gathered]]
) -> list[Path]:
    """Write the numbers beside `survey.toml`, and the page and its picture below `docs`.

    Workloads that were not run keep their numbers. Raises `InputError` where these are damaged.
    """
    docs = folder.resolve().parent / "docs"
    record = folder / RECORD
    version = core().version()
    measured = _recorded(record) | {
        workload.name: SurveyedWorkload(version, gathered) for workload, gathered in found
    }
    known = [(each, measured[each.name]) for each in survey.workloads if each.name in measured]
    write_json(record, _json(known))
    tables = [(workload, compare(survey, each.gathered)) for workload, each in known]
    text = _page(survey, tables, [each for _, each in known])
    page = docs / PAGE
    docs.mkdir(exist_ok=True)
    write_whole(page, text.encode())
    picture = docs / "images" / PICTURE
    survey_figure(survey, tables).write(picture)
    return [record, page, picture]


def _page(
    survey: Survey,
    tables: Sequence[tuple[Workload, Mapping[str, Mapping[str, Cell]]]],
    measured: Sequence[SurveyedWorkload],
) -> str:
    versions = " and ".join(sorted({each.version for each in measured}))
    seeds = " to ".join(map(str, sorted({each.seeds for each in measured})))
    burst = (
        f"; behind it, for schemes with several subflows, the one to {survey.same_burst}"
        if survey.same_burst
        else ""
    )
    about = (
        "# Every scheme on the same workloads\n\n"
        "    pathweave survey --record\n\n"
        f"wrote this page with Pathweave {versions}. Values are means over {seeds} seeds"
        " ± half their 95 % interval. Beside each stands its difference to"
        f" {survey.baseline}{burst}. Differences are paired by seed, in %: ▲ better, ▼ worse,"
        " ≈ not told apart (Holm's correction for all schemes of a column, 5 %). Goodput, RTT,"
        " fairness and timeouts are of the flows under the scheme, slowdowns of all flows of a"
        ' size: completion time over that on an idle fabric. "At least" means that too many flows'
        " did not finish. The optimum is that of the paths that a scheme's subflows have, at some"
        " moments of each run. [survey.toml](../survey/survey.toml) has the schemes and the"
        " workloads.\n\n"
        f"{_CONCLUSIONS}\n"
        "![Every scheme against the baseline](images/survey.png)\n"
    )
    parts = [workload_text(survey, workload, table) for workload, table in tables]
    return "\n".join([about, *parts])


def _json(found: Sequence[tuple[Workload, SurveyedWorkload]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "workloads": {
            workload.name: {
                "version": measured.version,
                "columns": {
                    column: {
                        scheme: {
                            "values": {str(seed): value for seed, value in values.by_seed.items()},
                            "at_least": values.at_least,
                        }
                        for scheme, values in own.items()
                    }
                    for column, own in measured.gathered.items()
                },
            }
            for workload, measured in found
        },
    }


def _recorded(path: Path) -> dict[str, SurveyedWorkload]:
    """What earlier surveys gave, by workload; nothing where there is no file."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        return {}
    if isinstance(content, dict) and content.get("format") != FORMAT:
        return {}  # of other columns
    try:
        return {
            workload: SurveyedWorkload(str(each["version"]), _gathered(each["columns"]))
            for workload, each in content["workloads"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is damaged: {error!r}") from error


def _gathered(columns: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Gathered:
    return {
        column: {
            scheme: Values(
                {int(seed): float(value) for seed, value in each["values"].items()},
                bool(each["at_least"]),
            )
            for scheme, each in own.items()
        }
        for column, own in columns.items()
    }


def _unit(column: Column, cells: Mapping[str, Cell]) -> str:
    largest = max((abs(cell.values.mean) for cell in cells.values()), default=0.0)
    if column.key == "goodput":
        return rate_unit(largest)
    if column.key in ("job_time", "job_time_p99", "rtt", "timeout_time", "recovery"):
        return time_unit(largest)
    return "packets" if column.key == "queue" else "%" if column.key == "optimum" else ""


def _cell(cell: Cell | None, unit: str) -> str:
    if cell is None:
        return ""
    one = scale(unit)
    mean, half = cell.values.mean / one, cell.values.half
    if cell.values.at_least:
        return f"at least {number(mean, 3)}"
    text = plus_minus(mean, None if half is None else half / one)
    changes = [_change(each) for each in (cell.compared, cell.same_burst) if each is not None]
    said = "; ".join(change for change in changes if change)
    return f"{text} ({said})" if said else text


def _change(compared: Compared) -> str:
    """A difference as a part of the baseline's value, and whether it is better or worse."""
    percent, mark = compared.difference.percent, _MARK.get(compared.outcome, "")
    if percent is None:  # the baseline's value is 0
        return mark
    change = f"{percent:+.0f} %" if percent < _TIMES else f"{percent / 100 + 1:,.0f} times"
    return f"{change} {mark}".rstrip()


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
