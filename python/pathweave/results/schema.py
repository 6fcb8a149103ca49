"""The columns of the core's tables and their types, for results that come as JSON.

JSON cannot say whether an empty column holds numbers or texts, nor whether 0 is a whole number: the
tables of every backend shall have the types that the core's have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pathweave._core import Column

Kind = Literal["whole", "number", "flag", "text"]


def _columns(whole: str = "", number: str = "", flag: str = "", text: str = "") -> dict[str, Kind]:
    kinds: dict[Kind, str] = {"whole": whole, "number": number, "flag": flag, "text": text}
    return {column: kind for kind, columns in kinds.items() for column in columns.split()}


_COUNTED = "retransmits reinjected timeouts marks"
_SAMPLE = "time_s"

TABLES: dict[str, dict[str, Kind]] = {
    "flows": _columns(
        whole=f"id subflows delivered_bytes {_COUNTED}",
        number="job start_s end_s size_bytes fct_s fct_ideal_s goodput_bps rtt_mean_s rtt_p99_s",
        flag="finished in_window stalled",
        text="name group controller source destination location",
    ),
    "subflows": _columns(
        whole=f"flow subflow received_bytes sent_packets {_COUNTED}",
        number="opened_s goodput_bps rtt_mean_s rtt_p99_s",
        text="path",
    ),
    "links": _columns(
        whole="bytes packets drops lost_to_failure lost_silently marks",
        number="capacity_bps utilisation queue_mean queue_p99",
        text="link layer",
    ),
    "jobs": _columns(
        whole="job flows bytes", number="start_s end_s jct_s", flag="finished", text="group"
    ),
    "phases": _columns(whole="flow", number="goodput_bps", text="phase"),
    "phase_subflows": _columns(whole="flow subflow", number="goodput_bps", text="phase"),
    "phase_links": _columns(number="utilisation queue_mean", text="phase link"),
    "rates": _columns(whole="flow subflow", number=f"{_SAMPLE} rate_bps"),
    "windows": _columns(
        whole="flow subflow", number=f"{_SAMPLE} window_packets ssthresh_packets rtt_s"
    ),
    "rtts": _columns(whole="flow subflow", number=f"{_SAMPLE} rtt_s smoothed_rtt_s"),
    "queues": _columns(whole="packets", number=_SAMPLE, text="link"),
    "recoveries": _columns(whole="flow subflows_hit", number="at_s recovery_s", text="failed"),
    "agents": _columns(whole="header_bits state_bytes feedback unmanaged", text="link"),
    "buffers": _columns(whole="most_bytes refused", text="switch"),
    "fmp": _columns(
        whole="prices routes feedback_packets feedback_bytes notices silences reroutes unroutable",
        text="switch",
    ),
}
"""Types of columns, by table; their order is that of the data."""


def typed(name: str, table: Mapping[str, list[Any]]) -> dict[str, Column]:
    """The columns of table `name`, with the core's types; null is NaN in numbers.

    Raises `ValueError` for a table or a column that the core does not have or that is missing, and
    for values that are not of the column's type.
    """
    if name not in TABLES:
        raise ValueError(f"there is no table {name}")
    kinds = TABLES[name]
    if set(table) != set(kinds):
        wrong = ", ".join(sorted(set(table) ^ set(kinds)))
        raise ValueError(f"the table {name} has columns too many or too few: {wrong}")
    if len({len(values) for values in table.values()}) > 1:
        raise ValueError(f"the columns of the table {name} differ in length")
    try:
        return {column: _typed(kinds[column], values) for column, values in table.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the table {name} has a value of a wrong type: {error}") from error


def _typed(kind: Kind, values: list[Any]) -> Column:
    match kind:
        case "whole":
            return np.array([_of(int, value) for value in values], dtype=np.uint64)
        case "number":
            return np.array(values, dtype=np.float64)
        case "flag":
            return np.array([_of(bool, value) for value in values], dtype=np.bool_)
        case "text":
            return [_of(str, value) for value in values]


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{value!r}")
    return value
