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

    from pathweave.statistics.paired import Difference
    from pathweave.surveying.table import Cell, Column
    from pathweave.surveying.workloads import Survey, Workload

RECORD = "measured.json"
PAGE = "survey.md"
PICTURE = "survey.png"
FORMAT = 1
_MARK = {"better": "▲", "worse": "▼", "not told apart": "≈"}

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
    lines = [f"### {workload.title}", "", _line(["scheme", *heads])]
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
    about = (
        "# Every scheme on the same workloads\n\n"
        "    pathweave survey --record\n\n"
        f"wrote this page with Pathweave {versions}. Values are means over {seeds} seeds"
        " ± half their 95 % interval. Beside each stands its difference to"
        f" {survey.baseline}, paired by seed, in %: ▲ better, ▼ worse, ≈ not told apart (Holm's"
        " correction for all schemes of a column, 5 %). Goodput, RTT, fairness and timeouts are of"
        ' the flows under the scheme, completion times of short flows or jobs. "At least" means'
        " that too many flows did not finish. The optimum is that of the paths that a scheme's"
        " subflows have, at some moments of each run. [survey.toml](../survey/survey.toml) has the"
        " schemes and the workloads.\n\n"
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
    if column.key in ("short_p50", "short_p99", "rtt", "recovery"):
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
    difference = cell.difference
    if difference is None or cell.outcome is None:
        return text
    parts = [_change(difference), _MARK.get(cell.outcome, "")]
    change = " ".join(part for part in parts if part)
    return f"{text} ({change})" if change else text


def _change(difference: Difference) -> str:
    """A difference as a part of the baseline's value; empty where that is 0."""
    percent = difference.percent
    if percent is None:
        return ""
    return f"{percent:+.0f} %" if percent < _TIMES else f"{percent / 100 + 1:,.0f} times"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
