"""Where the nodes of a fabric stand on its map: in layers, the hosts below."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.results.runs import StoredRun


def fabric_layout(links: pl.DataFrame, run: StoredRun) -> dict[str, Any]:
    """Nodes with their places, and links between them.

    Hosts are below; every other node is as high as it is far from the nearest host.
    """
    pairs = [_ends(link) for link in links["link"]]
    neighbours: dict[str, list[str]] = {}
    for start, end in pairs:
        neighbours.setdefault(start, []).append(end)
        neighbours.setdefault(end, [])
    hosts = _hosts(pairs, neighbours, links["layer"].cast(pl.String).to_list(), run)
    level = dict.fromkeys(hosts, 0)
    row, height = hosts, 0
    while row:
        height += 1
        found = (other for node in row for other in neighbours[node] if other not in level)
        row = list(dict.fromkeys(found))
        level |= dict.fromkeys(row, height)
    for node in neighbours:  # no host reaches it
        level.setdefault(node, 1)
    place = _places(neighbours, level)
    names = list(neighbours)
    number_of = {node: at for at, node in enumerate(names)}
    return {
        "nodes": [[node, place[node], level[node]] for node in names],
        "links": [[number_of[start], number_of[end]] for start, end in pairs],
    }


def _ends(link: str) -> list[str]:
    """The nodes at both ends of "A->B", or of "A->B#2"."""
    return re.sub(r"#\d+$", "", link).split("->")


def _hosts(
    pairs: Sequence[Sequence[str]],
    neighbours: dict[str, list[str]],
    layers: Sequence[str],
    run: StoredRun,
) -> list[str]:
    """Ends of flows, and nodes on links of the same layers with no more neighbours than these."""
    flows = run.read("flows", ["source", "destination"])
    ends = set(flows["source"].cast(pl.String)) | set(flows["destination"].cast(pl.String))
    ends &= set(neighbours)
    if not ends:
        ends = {node for node, others in neighbours.items() if len(set(others)) == 1}
    own_layers: dict[str, set[str]] = {}
    for (start, end), layer in zip(pairs, layers, strict=True):
        own_layers.setdefault(start, set()).add(layer)
        own_layers.setdefault(end, set()).add(layer)
    of_hosts = set[str]().union(*(own_layers[node] for node in ends)) if ends else set()
    most = max((len(set(neighbours[node])) for node in ends), default=0)
    return [
        node
        for node, others in neighbours.items()
        if node in ends or (len(set(others)) <= most and own_layers[node] <= of_hosts)
    ]


def _places(neighbours: dict[str, list[str]], level: dict[str, int]) -> dict[str, float]:
    """From left to right, 0 to 1: a node stands in the middle above those that it joins."""
    rows: dict[int, list[str]] = {}
    for node in neighbours:
        rows.setdefault(level[node], []).append(node)
    # Hosts stand below their switch, in the order of the switches.
    order = {node: at for at, node in enumerate(rows.get(1, []))}
    rows.get(0, []).sort(
        key=lambda node: min((order[each] for each in neighbours[node] if each in order), default=0)
    )
    place: dict[str, float] = {}
    for number_of_row in sorted(rows):
        row = rows[number_of_row]
        if number_of_row > 0:
            wanted = {node: _middle(node, neighbours, place) for node in row}
            row.sort(key=lambda node: wanted[node])
        for at, node in enumerate(row):
            place[node] = round((at + 0.5) / len(row), 5)
    return place


def _middle(node: str, neighbours: dict[str, list[str]], place: dict[str, float]) -> float:
    known = [place[other] for other in neighbours[node] if other in place]
    return sum(known) / len(known) if known else 0.5
