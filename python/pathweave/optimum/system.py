"""A problem as matrices: sparse, in packets/s, and scaled for a solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pathweave.errors import InputError

if TYPE_CHECKING:
    from pathweave.optimum.problem import AllocationProblem
    from pathweave.optimum.shapes import Indices, Vector
    from pathweave.optimum.terms import Objective

# Of the first guess at a sum: the least that another guess may be. A sum that may be zero at the
# optimum keeps a unit of its own order, or the solver's error would pass for a rate.
_LEAST = 1e-9
_LEAST_WHERE_ZERO_MAY_BE = 1e-2


@dataclass(frozen=True)
class Network:
    """Which subflow loads what: links, then the limits of subflows, then those of flows.

    A limit is a row like a link's. Rows of links without capacity are left out, and so are the
    columns of the subflows that cross one. Columns are the other subflows, counted over all flows.
    """

    rows: sp.csr_array
    """1 where the subflow of that column loads the row."""
    capacity: Vector
    """Of each row, packets/s."""
    link_of_row: Indices
    """The link of each row; as many as links have a capacity, so shorter than `capacity`."""
    columns: Indices
    """The subflow of each column."""
    flow_of_subflow: Indices
    """The flow of each subflow, with and without a column."""
    flows: int
    links: int
    packet_bits: float

    @cached_property
    def flow_of(self) -> Indices:
        """The flow of each column."""
        return self.flow_of_subflow[self.columns]

    @property
    def flow_sums(self) -> sp.csr_array:
        """1 where the subflow of that column belongs to the flow of that row."""
        n = len(self.columns)
        return sp.csr_array((np.ones(n), (self.flow_of, np.arange(n))), shape=(self.flows, n))

    def kept(self, columns: Indices) -> Network:
        """The same network with some of the columns only."""
        return Network(
            self.rows[:, columns],
            self.capacity,
            self.link_of_row,
            self.columns[columns],
            self.flow_of_subflow,
            self.flows,
            self.links,
            self.packet_bits,
        )


def network_of(problem: AllocationProblem) -> Network:
    """The matrix of a problem."""
    bits = 8 * problem.packet_bytes
    link_capacity = np.array(problem.capacities_bps, dtype=float) / bits
    subflows = [
        (index, subflow) for index, flow in enumerate(problem.flows) for subflow in flow.subflows
    ]
    entries = [(link, at) for at, (_, subflow) in enumerate(subflows) for link in subflow.links]
    limits: list[float] = []
    row = len(link_capacity)
    for at, (_, subflow) in enumerate(subflows):
        if subflow.limit_bps is not None:
            entries.append((row + len(limits), at))
            limits.append(subflow.limit_bps / bits)
    first = 0
    for flow in problem.flows:
        if flow.limit_bps is not None:
            own = range(first, first + len(flow.subflows))
            entries.extend((row + len(limits), at) for at in own)
            limits.append(flow.limit_bps / bits)
        first += len(flow.subflows)

    where = np.array(entries, dtype=np.intp).reshape(-1, 2)
    capacity = np.concatenate([link_capacity, limits])
    shape = (len(capacity), len(subflows))
    matrix = sp.csr_array((np.ones(len(where)), (where[:, 0], where[:, 1])), shape=shape)
    down = np.flatnonzero(capacity == 0)
    columns = np.flatnonzero(matrix[down].sum(axis=0) == 0)
    up = np.flatnonzero(capacity > 0)
    return Network(
        rows=matrix[up][:, columns],
        capacity=capacity[up],
        link_of_row=up[up < len(link_capacity)],
        columns=columns,
        flow_of_subflow=np.array([index for index, _ in subflows], dtype=np.intp),
        flows=len(problem.flows),
        links=len(link_capacity),
        packet_bits=bits,
    )


@dataclass(frozen=True)
class System:
    """Maximise the objective of z = totals x over x >= 0 with rows x <= capacity (packets/s).

    With x in `unit`s and z in `total_unit`s everything that a solver sees is of the order of one.
    """

    network: Network
    totals: sp.csr_array
    objective: Objective
    unit: Vector
    """A guess at each rate (packets/s)."""
    constant: float = 0.0
    """Utility of the flows that can send nothing."""

    def rescaled(self, x: Vector) -> System:
        """The same system with an even split of the sums of x for its guess."""
        column = sp.csc_array(self.totals)
        z = self.totals @ x
        may_be_zero = np.isfinite(self.objective.slope(np.zeros_like(z)))
        least = np.where(may_be_zero, _LEAST_WHERE_ZERO_MAY_BE, _LEAST)
        guess = np.maximum(z, least * self.total_unit)
        unit = (guess / np.diff(self.totals.indptr))[column.indices]
        return replace(self, unit=unit)

    @cached_property
    def total_unit(self) -> Vector:
        """The z of that guess."""
        return self.totals @ self.unit

    @cached_property
    def scale(self) -> float:
        """The mean over terms of z f'(z) at that guess: the unit of the objective."""
        z = self.total_unit
        return float(np.mean(z * self.objective.slope(z)))

    @property
    def has_weights(self) -> bool:
        """Whether a sum counts some of its rates more than others."""
        sums = self.totals
        heaviest = np.maximum.reduceat(sums.data, sums.indptr[:-1])
        return bool((heaviest > np.minimum.reduceat(sums.data, sums.indptr[:-1])).any())

    @cached_property
    def scaled_rows(self) -> sp.csr_array:
        """Rows for rates in units, each divided by its capacity."""
        return scaled_rows(self.network, self.unit)

    @cached_property
    def scaled_totals(self) -> sp.csr_array:
        """Totals in total units, for rates in units."""
        return sp.csr_array(
            sp.diags_array(1 / self.total_unit) @ self.totals @ sp.diags_array(self.unit)
        )


def system_of(network: Network, totals: sp.csr_array, objective: Objective) -> System:
    """The system of terms over all subflows; terms that have no path are left out.

    Raises `InputError` when such a term has no value at zero.
    """
    first_subflow = totals.indices[totals.indptr[:-1]]
    totals = totals[:, network.columns]
    paths = np.diff(totals.indptr)
    without = np.flatnonzero(paths == 0)
    worth = objective.kept(without).values(np.zeros(len(without)))
    if not np.isfinite(worth).all():
        flow = network.flow_of_subflow[first_subflow[without[np.isinf(worth)]]][0]
        raise InputError(
            f"flow {flow} has no path with capacity, and with its utility a rate of zero is"
            " infinitely bad: leave such flows out"
        )
    kept = np.flatnonzero(paths > 0)
    return System(
        network, totals[kept], objective.kept(kept), even_shares(network), float(np.sum(worth))
    )


def even_shares(network: Network) -> Vector:
    """For each column the smallest even share (packets/s) of the rows on its path.

    A flow counts as one on each row, split evenly over its subflows.
    """
    by_column = sp.csc_array(network.rows)
    share = _row_shares(network)[by_column.indices]
    return np.minimum.reduceat(share, by_column.indptr[:-1]) / _siblings(network)


def tightest_rows(network: Network) -> Indices:
    """The rows that have the smallest even share on the path of some column."""
    by_column = sp.csc_array(network.rows)
    share = _row_shares(network)[by_column.indices]
    smallest = np.minimum.reduceat(share, by_column.indptr[:-1])
    entries = np.flatnonzero(share == np.repeat(smallest, np.diff(by_column.indptr)))
    column = np.searchsorted(by_column.indptr, entries, side="right") - 1
    _, first = np.unique(column, return_index=True)
    return np.unique(by_column.indices[entries[first]]).astype(np.intp)


def scaled_rows(network: Network, unit: Vector) -> sp.csr_array:
    """Rows as shares of their capacity, for rates in `unit`s."""
    return sp.csr_array(sp.diags_array(1 / network.capacity) @ network.rows @ sp.diags_array(unit))


def _siblings(network: Network) -> Vector:
    """How many columns the flow of each column has."""
    return np.bincount(network.flow_of, minlength=network.flows)[network.flow_of].astype(float)


def _row_shares(network: Network) -> Vector:
    """The capacity of each row over the flows on it, a flow counting by its share of columns."""
    crowd = network.rows @ (1 / _siblings(network))
    return network.capacity / np.where(crowd > 0, crowd, 1.0)
