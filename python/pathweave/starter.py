"""A first scenario to go on from: what `pathweave init` writes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathweave.core import core
from pathweave.errors import InputError
from pathweave.running.texts import toml_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave._core import ControllerInfo

_BPS = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9, "tbps": 1e12}
_RATE = re.compile(r"([0-9.]+) *([A-Za-z]+)")


@dataclass(frozen=True)
class Fabric:
    """A fabric to begin with."""

    lines: str
    """Its part of the table, with RATE where the rate goes."""
    sources: str
    destinations: str
    receiver: str
    """A host that others send to."""
    layer: str
    """The layer that load is a share of."""
    paths: int
    """Subflows of the controllers that are made for several."""


FABRICS = {
    "dumbbell": Fabric(
        'left = 4                     # senders S1..S4, and as many receivers D1..D4\n'
        'bottleneck_rate = RATE\n'
        'bottleneck_delay = "50 us"',
        '"S1..S4"', '"D1..D4"', "D1", "bottleneck", 2,
    ),
    "star": Fabric(
        'senders = 8                  # S1..S8; the cable of the receiver D1 is the bottleneck\n'
        'rate = RATE\n'
        'delay = "25 us"',
        '"S1..S8"', '"D1"', "D1", "bottleneck", 2,
    ),
    "parallel-paths": Fabric(
        'pairs = 4                    # senders S1..S4, receivers D1..D4, each with both paths\n'
        'rates = [RATE, RATE]\n'
        'delays = "50 us"\n'
        'host_delay = "25 us"',
        '"S1..S4"', '"D1..D4"', "D1", "bottleneck", 2,
    ),
    "fat-tree": Fabric(
        'k = 4                        # 16 hosts, h0..h15; k = 8 has 128\n'
        'rate = RATE\n'
        'delay = "20 us"',
        '"h0..h7"', '"h8..h15"', "h0", "rack", 4,
    ),
    "leaf-spine": Fabric(
        'leaves = 4\n'
        'spines = 4\n'
        'hosts_per_leaf = 4           # 16 hosts, h0..h15\n'
        'host_rate = RATE\n'
        'host_delay = "20 us"',
        '"h0..h7"', '"h8..h15"', "h0", "rack", 4,
    ),
}  # fmt: skip
"""By kind."""

PATTERNS = {
    "permutation": "# Each host sends to one other; when all are done, a new round begins.\nSIZE",
    "random": "# Each host sends to a random one and picks again when it is done.\nSIZE",
    "incast": "# A client asks servers, which answer at once.\n"
    'jobs = 2\nservers = 3\nresponse = "64 KB"',
    "poisson": "# Flows of the sizes of a web search cluster arrive at random.\n"
    'size = { kind = "cdf", name = "web-search" }\n'
    'load = 0.5                   # of the links of this layer\nlayer = "LAYER"\n'
    "sources = SOURCES\ndestinations = DESTINATIONS",
    "many-to-one": "# `concurrency` flows at a time send to one host.\nSIZE\n"
    'destination = "RECEIVER"\nconcurrency = 4',
}
"""By pattern: what stands below its name."""


def scenario(fabric: str, rate: str, controllers: Sequence[str], pattern: str, title: str) -> str:
    """The text of a commented scenario file that compares `controllers`.

    Raises `InputError` for a fabric or pattern that it has no beginning of, or an unknown
    controller; the rate is not looked at closely.
    """
    known = {entry["name"]: entry for entry in core().controllers()}
    shape = FABRICS[_among(fabric, list(FABRICS), "fabric")]
    body = PATTERNS[_among(pattern, list(PATTERNS), "pattern")]
    if not controllers:
        raise InputError("give at least one controller to compare")
    chosen = [known[_among(name, list(known), "controller")] for name in dict.fromkeys(controllers)]
    bps = _bps(rate)
    size, end, longer = _lengths(bps)
    threshold, limit = (65, 250) if bps > 2e9 else (20, 100)
    fills = {
        "RATE": toml_text(rate),
        "SIZE": f'size = "{size}"',
        "LAYER": shape.layer,
        "SOURCES": shape.sources,
        "DESTINATIONS": shape.destinations,
        "RECEIVER": shape.receiver,
    }

    def fill(text: str) -> str:
        return re.sub("|".join(fills), lambda match: fills[match[0]], text)

    variants = "\n".join(_variant(entry, shape.paths) for entry in chosen)
    return f"""\
# docs/scenario.md describes every key. `pathweave check` reads the file, `pathweave run` runs it.

title = {toml_text(title)}
seeds = 3                    # runs of each variant that differ in all random choices

[fabric]
kind = "{fabric}"
{fill(shape.lines)}
# At every port {limit} packets may wait; above {threshold} they are marked (ECN).
queue = {{ limit = {limit}, mark = {{ kind = "step", k = {threshold} }} }}

[transport]
preset = "linux"             # `pathweave list presets` has others

[[traffic]]
name = "flows"
pattern = "{pattern}"
{fill(body)}

# What is compared; `pathweave explain NAME` describes a controller and its parameters.
{variants}
[stop]
at = "{end}"

# Series over time for the report; each makes the results larger.
[record]
rates = "1 ms"
# windows = "1 ms"
# queues = "100 us"

# `pathweave run FILE --size long` runs this instead.
[sizes.long]
stop = {{ at = "{longer}" }}
seeds = 10
"""


def _variant(entry: ControllerInfo, paths: int) -> str:
    name = entry["name"]
    lines = [f'"traffic.flows.controller" = "{name}"']
    label = name
    if entry["coupled"]:
        label = f"{name}-{paths}"
        lines.append(f'"traffic.flows.subflows" = {paths}')
    summary = entry["summary"].rstrip(".")
    return "\n".join([f"# {summary}.", f'[variants.scheme."{label}"]', *lines, ""])


def _among(name: str, names: list[str], kind: str) -> str:
    from difflib import get_close_matches

    if name in names:
        return name
    near = get_close_matches(name, names, n=1)
    meant = f'did you mean "{near[0]}"? ' if near else ""
    raise InputError(f'there is no {kind} "{name}" to begin with; {meant}known: {", ".join(names)}')


def _bps(rate: str) -> float:
    match = _RATE.fullmatch(rate.strip())
    unit = _BPS.get(match[2].lower()) if match else None
    try:
        return float(match[1]) * unit if match and unit else 1e9
    except ValueError:  # the core says what is wrong with it
        return 1e9


def _lengths(bps: float) -> tuple[str, str, str]:
    """Size of flows, end, and end of the long size that give some hundreds of flows."""
    if bps >= 1e9:
        return "1 MB", "100 ms", "1 s"
    if bps >= 1e8:
        return "100 KB", "200 ms", "2 s"
    return "20 KB", "5 s", "50 s"
