"""The columns of the core's tables and their types, for results that come as JSON.

JSON cannot say whether an empty column holds numbers or texts, nor whether 0 is a whole number: the
tables of every backend shall have the types that the core's have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pathweave._core import Column

Kind = Literal["whole", "number", "flag", "text"]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FLAGS = _names("finished in_window stalled suspended")
_TEXTS = _names(
    "operation name group controller source destination location end path link layer phase failed"
    " switch wait"
)
_WHOLE = _names(
    "id flow flows subflow subflows subflows_hit delivered_bytes received_bytes sent_packets bytes"
    " packets retransmits reinjected timeouts marks held drops lost_to_failure lost_silently"
    " header_bits state_bytes feedback unmanaged most_bytes refused prices routes feedback_packets"
    " feedback_bytes notices silences reroutes unroutable team iteration ranks"
)
_COUNTED = "retransmits reinjected timeouts marks rtt_mean_s rtt_p99_s"

TABLES: dict[str, tuple[str, ...]] = {
    name: _names(columns)
    for name, columns in {
        "flows": "id name group controller subflows source destination location job start_s end_s"
        " size_bytes delivered_bytes end in_window stalled fct_s fct_ideal_s goodput_bps"
        f" {_COUNTED}",
        "subflows": "flow subflow path opened_s received_bytes goodput_bps sent_packets"
        f" {_COUNTED}",
        "links": "link layer capacity_bps bytes packets utilisation drops lost_to_failure"
        " lost_silently marks queue_mean queue_p99",
        "jobs": "group job start_s end_s jct_s flows bytes finished in_window",
        "collectives": "group operation job team iteration ranks bytes began_s start_s end_s"
        " collective_s iteration_s bus_bps finished in_window",
        "phases": "phase flow goodput_bps",
        "phase_subflows": "phase flow subflow goodput_bps",
        "phase_links": "phase link utilisation queue_mean",
        "rates": "time_s flow subflow rate_bps",
        "windows": "time_s flow subflow window_packets window_min_packets window_mean_packets"
        " window_max_packets ssthresh_packets rtt_s",
        "rtts": "time_s flow subflow rtt_s rtt_min_s rtt_mean_s rtt_max_s smoothed_rtt_s",
        "suspensions": "time_s flow subflow suspended",
        "queues": "time_s link packets packets_min packets_mean packets_max",
        "waits": "flow wait waited_s",
        "sender_limits": "flow subflow busy_s receive_window_s send_buffer_s",
        "map": "time_s link utilisation queue_mean marks drops",
        "recoveries": "at_s failed flow subflows_hit recovery_s",
        "agents": "link header_bits state_bytes feedback unmanaged",
        "buffers": "switch most_bytes refused",
        "fmp": "switch prices routes feedback_packets feedback_bytes notices silences reroutes"
        " unroutable",
    }.items()
}
"""Columns of the core's tables, in order."""


EXPLANATIONS = ("waits", "sender_limits")
"""Tables that explain others. No hash of results covers them, and runs of before have none."""


IN_WINDOW = ("flows", "flow_waits", "slowdowns", "jobs", "collectives", "optimum_collectives")
"""Tables with a column `in_window`: only those rows count that start in the measurement window."""


def kind_of(table: str, column: str) -> Kind:
    """What a column of one of `TABLES` holds."""
    if column == "job":  # of a flow that belongs to none it is null
        return "whole" if table in ("jobs", "collectives") else "number"
    if column in _WHOLE:
        return "whole"
    if column in _TEXTS:
        return "text"
    return "flag" if column in _FLAGS else "number"


def typed(name: str, table: Mapping[str, list[Any]]) -> dict[str, Column]:
    """The columns of table `name`, with the core's types; null is NaN in numbers.

    Raises `ValueError` for a table or a column that the core does not have or that is missing, and
    for values that are not of the column's type.
    """
    if name not in TABLES:
        raise ValueError(f"there is no table {name}")
    columns = TABLES[name]
    if set(table) != set(columns):
        wrong = ", ".join(sorted(set(table) ^ set(columns)))
        raise ValueError(f"the table {name} has columns too many or too few: {wrong}")
    if len({len(values) for values in table.values()}) > 1:
        raise ValueError(f"the columns of the table {name} differ in length")
    try:
        return {column: _typed(kind_of(name, column), table[column]) for column in columns}
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"the table {name} has a value of a wrong type: {error}") from error


def _typed(kind: Kind, values: list[Any]) -> Column:
    import numpy as np

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
