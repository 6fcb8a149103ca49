"""A first scenario to go on from: what `pathweave init` writes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathweave.core import core
from pathweave.errors import InputError
from pathweave.running.texts import toml_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pathweave._core import ControllerInfo

_BPS = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9, "tbps": 1e12}
_RATE = re.compile(r"([0-9.]+) *([A-Za-z]+)")

SPRAY = "spray"
"""Stands among controllers for the first one whose packets are spread over all paths."""

WORKLOADS = {
    "web-search": 1.7e6,
    "data-mining": 7.5e6,
    "hadoop": 120e3,
    "cache-follower": 0.94e6,
}
"""Size distributions of flows, with their means in bytes."""
_LARGEST = {"web-search": 30e6, "data-mining": 1e9, "hadoop": 10e6, "cache-follower": 10e6}
"""About the largest flow of each, in bytes."""
_SMALL_QUEUE = 10
_FLOWS = 1200
"""Flows of open-loop traffic in a run."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a fabric; what is None takes the default of its kind."""

    rate: str
    """Rate of its hosts' links, and of the others where they have none of their own."""
    uplink_rate: str | None = None
    hosts: int | None = None
    leaves: int | None = None
    spines: int | None = None
    down: str | None = None
    """A link that is out of service and that routing knows of."""


@dataclass(frozen=True)
class Fabric:
    """A fabric to begin with."""

    lines: Callable[[Shape, str], list[str]]
    """Its part of the table, for a shape and the delay of a cable."""
    cables: int
    """On the longest path between two hosts."""
    hosts: Callable[[Shape], int]
    receiver: str
    """A host that others send to."""
    layer: str
    """The layer that load is a share of."""
    paths: int
    """Subflows of the controllers that are made for several."""
    takes: frozenset[str] = field(default_factory=lambda: frozenset({"hosts"}))
    """What of the shape can be chosen."""
    two_sides: bool = False
    """Whether traffic should cross from one side to the other."""


def _said(line: str, comment: str) -> str:
    """A line with a comment in the column of the others."""
    return f"{line:<28} # {comment}"


def _dumbbell(shape: Shape, delay: str) -> list[str]:
    return [
        _said(f"left = {_pairs(shape)}", "hosts S1, S2, ... and as many D1, D2, ..."),
        f"bottleneck_rate = {toml_text(shape.rate)}",
        f'bottleneck_delay = "{delay}"',
    ]


def _star(shape: Shape, delay: str) -> list[str]:
    return [
        _said(f"senders = {_senders(shape)}", "S1, S2, ...; the bottleneck is D1's cable"),
        f"rate = {toml_text(shape.rate)}",
        f'delay = "{delay}"',
    ]


def _parallel_paths(shape: Shape, delay: str) -> list[str]:
    rate = toml_text(shape.rate)
    return [
        _said(f"pairs = {_pairs(shape)}", "S1, S2, ... and D1, D2, ..., each with both paths"),
        f"rates = [{rate}, {rate}]",
        f'delays = "{delay}"',
        f'host_delay = "{delay}"',
    ]


def _fat_tree(shape: Shape, delay: str) -> list[str]:
    k = next((k for k in range(2, 65, 2) if k**3 // 4 == (shape.hosts or 16)), None)
    if k is None:
        raise InputError(
            f"a fat-tree cannot have {shape.hosts} hosts; 16, 54, 128, 250, 432 and so on"
            " (k^3 / 4 for an even k) are possible"
        )
    return [
        _said(f"k = {k}", f"{k**3 // 4} hosts, h0 to h{k**3 // 4 - 1}"),
        f"rate = {toml_text(shape.rate)}",
        f'delay = "{delay}"',
    ]


def _leaf_spine(shape: Shape, delay: str) -> list[str]:
    leaves, spines, hosts = shape.leaves or 4, shape.spines or 4, shape.hosts or 16
    if hosts % leaves:
        raise InputError(f"{hosts} hosts do not spread over {leaves} leaves evenly")
    uplink = toml_text(shape.uplink_rate or shape.rate)
    return [
        f"leaves = {leaves}",
        f"spines = {spines}",
        _said(f"hosts_per_leaf = {hosts // leaves}", f"{hosts} hosts, h0 to h{hosts - 1}"),
        f"host_rate = {toml_text(shape.rate)}",
        f"uplink_rate = {uplink}",
        f'host_delay = "{delay}"',
    ]


def _pairs(shape: Shape) -> int:
    return max(1, (shape.hosts or 8) // 2)


def _senders(shape: Shape) -> int:
    return max(1, (shape.hosts or 9) - 1)


_ALL = frozenset({"hosts", "leaves", "spines", "uplink_rate"})
FABRICS = {
    "dumbbell": Fabric(
        _dumbbell, 3, lambda shape: 2 * _pairs(shape), "D1", "bottleneck", 2, two_sides=True
    ),
    "star": Fabric(_star, 2, lambda shape: _senders(shape) + 1, "D1", "bottleneck", 2),
    "parallel-paths": Fabric(
        _parallel_paths, 3, lambda shape: 2 * _pairs(shape), "D1", "bottleneck", 2, two_sides=True
    ),
    "fat-tree": Fabric(_fat_tree, 6, lambda shape: shape.hosts or 16, "h0", "rack", 4),
    "leaf-spine": Fabric(
        _leaf_spine, 4, lambda shape: shape.hosts or 16, "h0", "rack", 4, takes=_ALL
    ),
}
"""By kind."""

PATTERNS = ("permutation", "random", "incast", "poisson", "many-to-one")
"""Which hosts talk to which."""


@dataclass(frozen=True)
class Scale:
    """What follows from the rate and the fabric, in seconds, packets and bytes."""

    delay: str
    """Of a cable."""
    rtt: float
    """Without queues, on the longest path."""
    packet: int
    """Bytes on the wire of a full data packet."""
    threshold: int
    """K."""
    limit: int
    rto: float
    """The smallest timeout, and the first."""

    @classmethod
    def of(cls, bps: float, cables: int) -> Scale:
        """For hosts' links of this rate and paths of so many cables."""
        micros = 20 if bps < 5e9 else 5 if bps < 20e9 else 1
        # More than 10 million packets a second are too many for a host.
        packet = 1500 if bps <= 120e9 else 9000
        rtt = cables * (2e-6 * micros + 8 * (packet + 52) / bps)
        in_flight = bps * rtt / (8 * packet)
        # Hosts at 10 Gbps and more send bundles of up to 64 KB and 45 packets, which should not be
        # marked by themselves. XMP and AMP need a third of the BDP, with their beta of 4.
        bundle = min(45, 64_000 // packet) if bps >= 10e9 else 1
        threshold = max(_SMALL_QUEUE, math.ceil(1.45 * bundle), math.ceil(0.4 * in_flight))
        limit = max(100, 5 * threshold)
        drain = limit * 8 * packet / bps
        return cls(
            f"{micros} us", rtt, packet, threshold, limit, rounded_up(max(5e-3, rtt + 2 * drain))
        )


def rounded_up(number: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    unit = 10.0 ** math.floor(math.log10(number))
    return next(step * unit for step in (1, 2, 5, 10) if step * unit >= 0.999 * number)


def as_time(seconds: float) -> str:
    """A time as scenarios write it: "5 ms"."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= 0.999 * unit:
            return f"{float(f'{seconds / unit:.3g}'):g} {name}"
    return f"{max(1, round(seconds / 1e-9))} ns"


def as_size(count: float) -> str:
    """A size as scenarios write it: "2 MB"."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if count >= 0.999 * unit:
            return f"{round(count / unit, 3):g} {name}"
    return f"{round(count)} B"


@dataclass(frozen=True)
class _Traffic:
    """What a group sends, and how long."""

    lines: list[str]
    largest: float
    """Bytes of about the largest flow."""
    at: float
    """From when on no flow starts, in seconds."""


def _traffic(
    pattern: str, shape: Fabric, hosts: int, bps: float, scale: Scale, workload: str, load: float
) -> _Traffic:
    # A flow by itself takes a hundred round trips: long enough to leave slow start.
    size = rounded_up(bps * 100 * scale.rtt / 8)
    alone = 8 * size / bps
    sized = [f'size = "{as_size(size)}"']
    if pattern == "poisson":
        mean = WORKLOADS[workload]
        lines = [
            "# Flows arrive at random, from any host to any other one.",
            f'size = {{ kind = "cdf", name = "{workload}" }}',
            _said(f"load = {load:g}", "of the links of this layer"),
            f'layer = "{shape.layer}"',
            *([_said("different_racks = true", "from either side to the other")] * shape.two_sides),
        ]
        # Each flow takes two links of the hosts' layer; elsewhere hosts have about the same load.
        at = rounded_up(_FLOWS * 8 * mean / (load * hosts * bps))
        return _Traffic(lines, _LARGEST[workload], at)
    if pattern == "incast":
        response = rounded_up(bps * 10 * scale.rtt / 8)
        lines = [
            "# A client asks servers, which answer at the same time. Any host may be the client.",
            "jobs = 2",
            "servers = 3",
            f'response = "{as_size(response)}"',
        ]
        return _Traffic(lines, response, rounded_up(200 * 8 * response / bps))
    if pattern == "many-to-one":
        lines = [
            "# `concurrency` flows at a time send to one host.",
            *sized,
            f'destination = "{shape.receiver}"',
            f"concurrency = {4 if bps >= 10e9 else 2}",
        ]
        return _Traffic(lines, size, rounded_up(20 * alone))
    said = {
        "permutation": "Each host sends to one other; when all are done, a new round begins.",
        "random": "Each host sends to a random one and picks again when it is done.",
    }[pattern]
    return _Traffic([f"# {said}", *sized], size, rounded_up(5 * alone))


def scenario(
    fabric: str,
    rate: str,
    controllers: Sequence[str],
    pattern: str,
    title: str,
    *,
    shape: Shape | None = None,
    workload: str = "web-search",
    load: float = 0.5,
) -> str:
    """The text of a commented scenario file that compares `controllers`.

    Raises `InputError` for a fabric, pattern or workload that it has no beginning of, an unknown
    controller, or sizes that a fabric cannot have; the rate is not looked at closely.
    """
    known = {entry["name"]: entry for entry in core().controllers()}
    kind = FABRICS[_among(fabric, list(FABRICS), "fabric")]
    _among(pattern, list(PATTERNS), "pattern")
    _among(workload, list(WORKLOADS), "workload")
    if not controllers:
        raise InputError("give at least one controller to compare")
    names = list(dict.fromkeys(controllers))
    chosen = [_among(name, [*known, SPRAY], "controller") for name in names]
    shape = shape or Shape(rate)
    for key in ("hosts", "leaves", "spines", "uplink_rate"):
        if getattr(shape, key) is not None and key not in kind.takes:
            raise InputError(f"--{key.replace('_', '-')} is not for a fabric of kind {fabric}")
    if not 0 < load <= 1:
        raise InputError(f"a load of {load:g} makes no scenario to begin with; above 0, up to 1")
    bps = _bps(rate)
    scale = Scale.of(bps, kind.cables)
    lines = kind.lines(shape, scale.delay)
    if shape.down:
        lines.append(_said(f"down = {toml_text(shape.down)}", "all the time; routing knows of it"))
    hosts = kind.hosts(shape)
    traffic = _traffic(pattern, kind, hosts, bps, scale, workload, load)
    # The largest flow has a twentieth of a link, and time for some timeouts.
    limit = rounded_up(traffic.at + 20 * (8 * traffic.largest / bps + scale.rto))
    fabric_lines, traffic_lines = "\n".join(lines), "\n".join(traffic.lines)
    variants = "\n".join(_variants(chosen, known, kind.paths))
    at, rto = as_time(traffic.at), as_time(scale.rto)
    in_flight = bps * scale.rtt / (8 * scale.packet)
    jumbo = (
        f"# At {rate} no host handles packets of 1500 B.\n"
        f'data_packet = "{scale.packet} B"\n'
        f'maximum_segment = "{scale.packet - 52} B"\n'
        if scale.packet != 1500
        else ""
    )
    return f"""\
# docs/scenario.md describes every key. `pathweave check` reads the file, `pathweave run` runs it.

title = {toml_text(title)}
seeds = 3                    # runs of each variant that differ in all random choices

[fabric]
kind = "{fabric}"
{fabric_lines}
# At every port {scale.limit} packets may wait; above {scale.threshold} they are marked (ECN).
# The base RTT is about {as_time(scale.rtt)}: a host's link carries {in_flight:.0f} packets in it.
queue = {{ limit = {scale.limit}, mark = {{ kind = "step", k = {scale.threshold} }} }}

[transport]
preset = "linux"             # `pathweave list presets` has others
{jumbo}# Timeouts of hosts that are set up for such a fabric. Without these lines they are 200 ms,
# and 1 s for a lost SYN: a few of them would decide means and tails.
minimum_rto = "{rto}"
initial_rto = "{rto}"
ack_timeout = "1 ms"         # ACKs wait less than a timeout for more data

[[traffic]]
name = "flows"
pattern = "{pattern}"
{traffic_lines}

# What is compared; `pathweave explain NAME` describes a controller and its parameters.
{variants}
# No flow starts after `at`, and those under way are waited for: slow ones count, too.
[stop]
at = "{at}"
drain = true
limit = "{as_time(limit)}"

# Series over time for the report; each makes the results larger.
[record]
rates = "{as_time(rounded_up(traffic.at / 100))}"
# windows = "{as_time(rounded_up(traffic.at / 100))}"
# queues = "{as_time(rounded_up(traffic.at / 1000))}"

# `pathweave run FILE --size long` runs this instead.
[sizes.long]
stop = {{ at = "{as_time(10 * traffic.at)}", drain = true, limit = "{as_time(10 * limit)}" }}
seeds = 10
"""


def _variants(chosen: Sequence[str], known: dict[str, ControllerInfo], paths: int) -> list[str]:
    """A table for each scheme, and a single path with the burst of those with several subflows."""
    single = next((name for name in chosen if name != SPRAY and not known[name]["coupled"]), None)
    several = [name for name in chosen if name != SPRAY and known[name]["coupled"]]
    written = [
        _variant(known[name], paths) for name in chosen if name != SPRAY and name not in several
    ]
    if several:
        base = single or "dctcp"
        named = f'like = "{base}"' if single else f'"traffic.flows.controller" = "{base}"'
        written.append(
            f"# {paths} subflows open with {paths} initial windows. This single path begins with as"
            " many packets:\n# what short flows gain by that is no merit of several paths.\n"
            f'[variants.scheme."{base}, same burst"]\n{named}\n'
            f'burst_of = "{several[0]}-{paths}"\n'
        )
    written += [_variant(known[name], paths) for name in several]
    if SPRAY in chosen:
        base = single or "dctcp"
        named = f'like = "{base}"' if single else f'"traffic.flows.controller" = "{base}"'
        written.append(
            "# Switches send each packet over a path of its own.\n"
            f'[variants.scheme."{base}, spray"]\n{named}\n"routing.kind" = "spray"\n'
        )
    return written


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
        bps = float(match[1]) * unit if match and unit else 1e9
    except ValueError:  # the core says what is wrong with it
        return 1e9
    return bps if bps > 0 else 1e9
