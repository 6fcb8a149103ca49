"""The columns of a table that hold a run's names on the scenario's axes.

An axis may have the name of a column that the table has anyway, such as "flows". Its column is then
"axis_flows".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def axis_columns(axes: Mapping[str, str], own: Collection[str]) -> dict[str, str]:
    """By column, the names on these axes; `own` are the other columns of the table."""
    return {_prefixed(axis) if axis in own else axis: name for axis, name in axes.items()}


def axis_column(axis: str, columns: Collection[str]) -> str:
    """Which of a table's columns holds the names on an axis."""
    return _prefixed(axis) if _prefixed(axis) in columns else axis


def _prefixed(axis: str) -> str:
    return f"axis_{axis}"
