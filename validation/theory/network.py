"""Small networks as scenarios, and what simulations and solutions of them give."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import pathweave
from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKET_BITS = 1500 * 8
PAYLOAD = 1448 / 1500
ACK_BITS = 52 * 8
HOST_BPS = 10e9
_LINK_DELAY_S = 10e-6
_LAST_DELAY_S = 1e-6


@dataclass(frozen=True)
class Link:
    """A bottleneck and its queue (a table of the scenario file)."""

    queue: dict[str, Any]
    bps: float = 1e9
    loss: float = 0.0

    @property
    def packets_per_s(self) -> float:
        """Full packets."""
        return self.bps / PACKET_BITS


@dataclass(frozen=True)
class Group:
    """Flows that are alike, each between hosts of its own, with a subflow on each of its paths."""

    name: str
    controller: str | dict[str, Any]
    paths: tuple[tuple[int, float], ...]
    """Of each subflow the bottleneck and the base RTT (s) of full packets."""
    flows: int = 1
    start_s: float = 0.0


def step(k: float, limit: int = 2000) -> dict[str, Any]:
    """A queue that marks what finds more than k packets."""
    return {"limit": limit, "mark": {"kind": "step", "k": k}}


def proportional(limit: int) -> dict[str, Any]:
    """A queue that marks with its occupancy for a probability, always above 0.8."""
    return {"limit": limit, "mark": {"kind": "proportional"}}


def _transmission_s(link: Link, data_bits: float) -> float:
    """Of a packet one way, and its acknowledgement back."""
    bits = data_bits + ACK_BITS
    return bits / link.bps + 2 * bits / HOST_BPS


def handshake_rtt_s(link: Link, rtt_s: float) -> float:
    """The RTT of a SYN, which is shorter than that of a full packet."""
    return rtt_s - _transmission_s(link, PACKET_BITS) + _transmission_s(link, ACK_BITS)


def scenario(
    links: Sequence[Link],
    groups: Sequence[Group],
    seconds: float,
    warm: float,
    *,
    transport: dict[str, Any] | None = None,
    record: dict[str, Any] | None = None,
    phases: dict[str, tuple[float, float]] | None = None,
    seeds: int = 1,
) -> dict[str, Any]:
    """The scenario of these flows; measured from `warm` (s) on."""
    hosts: list[str] = []
    cables: list[dict[str, Any]] = []
    switches: list[str] = []
    for at, link in enumerate(links, 1):
        switches += [f"A{at}", f"B{at}"]
        cables.append(
            {
                "link": f"A{at}-B{at}",
                "rate": _rate(link.bps),
                "delay": _time(_LINK_DELAY_S),
                "layer": f"bottleneck{at}",
            }
        )
    traffic: list[dict[str, Any]] = []
    for group in groups:
        flows: list[dict[str, Any]] = []
        for _ in range(group.flows):
            number = len(hosts) // 2 + 1
            sender, receiver = f"S{number}", f"D{number}"
            hosts += [sender, receiver]
            for at, rtt in dict(group.paths).items():
                fixed = _transmission_s(links[at], PACKET_BITS)
                delay = (rtt - fixed) / 2 - _LINK_DELAY_S - _LAST_DELAY_S
                near, far = f"A{at + 1}", f"B{at + 1}"
                cables.append({"link": f"{sender}-{near}", "delay": _time(delay)})
                cables.append({"link": f"{far}-{receiver}", "delay": _time(_LAST_DELAY_S)})
            paths = [[f"A{at + 1}", f"B{at + 1}"] for at, _ in group.paths]
            flow: dict[str, Any] = {"from": sender, "to": receiver, "paths": paths}
            if group.start_s:
                flow["start"] = _time(group.start_s)
            flows.append(flow)
        traffic.append(
            {
                "name": group.name,
                "pattern": "flows",
                "size": "unlimited",
                "controller": group.controller,
                "subflows": len(group.paths),
                "flows": flows,
            }
        )
    measure: dict[str, Any] = {"from": _time(warm)}
    if phases:
        measure["phases"] = {
            name: [_time(start), _time(end)] for name, (start, end) in phases.items()
        }
    written: dict[str, Any] = {
        "title": "Theory",
        "seed": 1,
        "seeds": seeds,
        "fabric": {
            "kind": "graph",
            "hosts": hosts,
            "switches": switches,
            "cables": cables,
            "rate": _rate(HOST_BPS),
            "queue": {"limit": "none"},
            "layer_queue": {
                f"bottleneck{at}": {"mark": {"kind": "none"}, **link.queue}
                for at, link in enumerate(links, 1)
            },
        },
        "routing": {"kind": "pinned"},
        "transport": {"preset": "textbook", "ack_every": 1, **(transport or {})},
        "traffic": traffic,
        "stop": {"at": _time(seconds)},
        "measure": measure,
        "record": record or {},
    }
    lossy = [
        {"at": "0 s", "link": f"A{at}->B{at}", "loss": link.loss}
        for at, link in enumerate(links, 1)
        if link.loss
    ]
    if lossy:
        written["events"] = lossy
    return written


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e12)} ps"


def _rate(bps: float) -> str:
    return f"{round(bps / 1e6)} Mbps"


@dataclass
class Measured:
    """Tables of a simulation or of a solution, and the means that rows ask for."""

    results: pathweave.Results
    seconds: float
    """That are measured."""
    _cuts: dict[tuple[str, int, float], float] = field(default_factory=dict)

    def _subflows(self, group: str) -> pl.DataFrame:
        flows = self.results.flows.select("seed", pl.col("id").alias("flow"), "group")
        return self.results.subflows.join(flows, on=["seed", "flow"]).filter(
            pl.col("group") == group
        )

    def rates(self, group: str, subflow: int | None = None) -> np.ndarray:
        """Bit/s on the wire of each flow and seed, or of one of its subflows."""
        frame = self._subflows(group)
        if subflow is not None:
            frame = frame.filter(pl.col("subflow") == subflow)
        sums = frame.group_by("seed", "flow", maintain_order=True).agg(pl.col("goodput_bps").sum())
        return sums["goodput_bps"].to_numpy() / PAYLOAD

    def rate(self, group: str, subflow: int | None = None) -> float:
        """The mean of `rates`, in Gbps."""
        return float(self.rates(group, subflow).mean()) / 1e9

    def rtt(self, group: str, subflow: int = 0) -> float:
        """The mean RTT of a group's subflows (s)."""
        frame = self._subflows(group).filter(pl.col("subflow") == subflow)
        return float(frame["rtt_mean_s"].to_numpy().mean())

    def window(self, group: str, subflow: int = 0) -> float:
        """Rate times RTT, in packets."""
        return self.rate(group, subflow) * 1e9 * self.rtt(group, subflow) / PACKET_BITS

    def link(self, column: str, link: int = 0) -> float:
        """The mean over seeds of a column of `links`."""
        frame = self.results.links.filter(pl.col("link") == f"A{link + 1}->B{link + 1}")
        return float(frame[column].to_numpy().mean())

    def cuts_per_round(self, group: str, cut: float, subflow: int = 0) -> float:
        """How many rounds are cut, as a share: falls of the window by more than half of `cut`."""
        key = (group, subflow, cut)
        if key not in self._cuts:
            self._cuts[key] = self._count(group, cut, subflow)
        return self._cuts[key]

    def _count(self, group: str, cut: float, subflow: int) -> float:
        ids = self.results.flows.filter(pl.col("group") == group).select(
            "seed", pl.col("id").alias("flow")
        )
        windows = (
            self.results.windows.filter(pl.col("subflow") == subflow)
            .join(ids, on=["seed", "flow"], how="semi")
            .sort("seed", "flow", "time_s")
        )
        end = float(windows["time_s"].to_numpy().max())
        windows = windows.filter(pl.col("time_s") >= end - self.seconds)
        cuts = 0
        flows = 0
        for _, part in windows.group_by(["seed", "flow"]):
            window = part["window_packets"].to_numpy()
            cuts += int(np.sum(window[1:] < window[:-1] * (1 - cut / 2)))
            flows += 1
        return cuts / flows / (self.seconds / self.rtt(group, subflow))


def simulate(written: dict[str, Any]) -> Measured:
    """Run a scenario; seeds in turn."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathweave.run(written, name="theory", out=folder, progress=False, jobs=1)
        return _read(results, written)


def _read(results: pathweave.Results, written: dict[str, Any]) -> Measured:
    """With all tables in memory, because the folder goes."""
    for table in ("flows", "subflows", "links", "windows", "suspensions"):
        results.table(table)
    seconds = _seconds(written["stop"]["at"]) - _seconds(written["measure"]["from"])
    return Measured(results, seconds)


def _seconds(text: str) -> float:
    return int(text.removesuffix(" ps")) / 1e12


def solved(written: dict[str, Any], utility: str = "controller") -> Measured | str:
    """What `pathweave solve --utility controller` gives: rates, or its refusal."""
    from pathweave.results.read import find_runs
    from pathweave.running.quiet import Quiet
    from pathweave.running.session import Request, open_session
    from pathweave.running.texts import to_toml
    from pathweave.solving.alone import solve_all
    from pathweave.solving.objective import check, parse

    written = {**written, "seeds": 1}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "theory.toml"
        path.write_text(to_toml(written))
        objective = parse(utility)
        session = open_session(
            Request(path=path, root=Path(folder) / "out", utility=objective.text)
        )
        try:
            check(objective, session.plan.scenario.variants)
        except InputError as error:
            return str(error)
        failed = solve_all(session, objective, Quiet()).failed
        if failed and "choose a common --utility" in failed[0][1]:
            return failed[0][1]
        return _read(
            pathweave.Results(find_runs(task.folder for task in session.plan.tasks)), written
        )
