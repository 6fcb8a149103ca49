"""What data-centre fabrics have and Pathweave does not, and what comes nearest to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Absent:
    """Something that is not implemented."""

    names: tuple[str, ...]
    """As people call it, in small letters."""
    what: str
    nearest: str
    """What a scenario can have in its place."""


ABSENT = (
    Absent(
        ("pfc", "priority flow control", "pause frames", "lossless", "lossless ethernet"),
        "Priority flow control: switches pause their neighbours instead of dropping packets.",
        'Queues with limit = "none" drop nothing and pause nobody. fabric.shared_buffer shares the '
        'memory of a switch among its ports, and host_port = "holds-back" keeps hosts from losing '
        "packets at their own ports.",
    ),
    Absent(
        ("roce", "rocev2", "rdma", "infiniband"),
        "RDMA over Converged Ethernet: transport in the network card, on a lossless fabric.",
        'The transport is TCP or MPTCP. Patterns "collective" and "goal" have the traffic of '
        "training and HPC jobs.",
    ),
    Absent(
        ("dcqcn",),
        "DCQCN: the congestion control of RoCE, by marks and notification packets.",
        'dctcp cuts its window in proportion to marks. rcp, xcp and decn set rates by what '
        'switches say. mark = { kind = "red" } or "linear" marks as DCQCN\'s switches do.',
    ),
    Absent(
        ("hpcc", "int", "powertcp"),
        "HPCC: congestion control by telemetry that switches write into packets.",
        "xcp, rcp, mlcp and decn have switches write into packets. Flow lists and size "
        'distributions of HPCC can be read (pattern "trace", size kind "cdf").',
    ),
    Absent(
        ("timely", "swift", "delay-based"),
        "Congestion control by measured delay with time stamps of the network card.",
        "wvegas keeps a few packets queued by RTT.",
    ),
    Absent(
        ("bbr", "bbrv2", "bbrv3"),
        "BBR: congestion control by a model of bandwidth and RTT.",
        'cubic, reno and dctcp; or bring your own in Python or C ("mine.py:MyController").',
    ),
    Absent(
        ("trimming", "packet trimming", "ndp", "cut payload"),
        "Packet trimming: switches cut packets to their headers instead of dropping them (NDP).",
        'Drops are found by SACK and RACK, and tail_loss_probe shortens waits. routing = { kind = '
        '"spray" } spreads packets as NDP does.',
    ),
    Absent(
        ("homa", "expresspass", "credits", "receiver-driven", "phost"),
        "Receiver-driven transports, which grant or pace by credits.",
        "xcp and rcp get their rates from switches. No receiver schedules its senders.",
    ),
    Absent(
        ("flowlet", "flowlets", "letflow", "conga", "presto"),
        "Flowlet switching: switches choose a new path after a pause within a flow.",
        'Routing "ecmp" chooses for each subflow, and "spray" for each packet. "fmp" gives a '
        "subflow a new port by congestion after idle_expiry without packets.",
    ),
    Absent(
        ("wcmp", "adaptive routing", "drill", "hula", "weighted ecmp"),
        "Switches that weigh next hops by capacity, or by their queues for each packet.",
        'Routing "fmp" chooses ports by congestion and delay, and "ecmp" all shortest paths '
        "alike.",
    ),
    Absent(
        ("priority", "priorities", "priority queue", "strict priority", "pfabric", "pias", "qos",
         "wfq", "drr", "dscp", "traffic class"),
        "Several queues at a port, by priority or weight.",
        "Each port has one queue, first in first out, with marks and a limit.",
    ),
    Absent(
        ("codel", "fq_codel", "pie", "fq", "aqm"),
        "Active queue management that drops by delay, or queues by flow.",
        'mark = { kind = "red" }, "linear", "step" or "proportional" marks by queue length.',
    ),
    Absent(
        ("udp", "constant bit rate", "cbr"),
        "Traffic without congestion control.",
        "The key rate of a traffic group makes applications write at a constant rate, over TCP. "
        "Events that change the rate of a link take capacity away.",
    ),
    Absent(
        ("dragonfly", "torus", "jellyfish", "slim fly", "hyperx"),
        "Topologies without layers.",
        'fabric kind "graph" lists any nodes and cables; routing takes shortest paths.',
    ),
)  # fmt: skip


def absent(name: str) -> Absent | None:
    """What is called so and not implemented."""
    wanted = " ".join(name.lower().replace("-", " ").replace("_", " ").split())
    for each in ABSENT:
        if wanted in {known.replace("-", " ").replace("_", " ") for known in each.names}:
            return each
    return None
