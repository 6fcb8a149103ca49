"""The compiled core: scenarios, the engine, and the lists of what it knows."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.generic] | list[str]
State = Literal["running", "done", "cancelled", "failed"]
Verdict = Literal["stopped", "finished", "stalled"]

class Progress(TypedDict):
    state: State
    time_s: float
    until_s: float | None
    fraction: float
    packet_hops: int
    flows_started: int
    flows_finished: int

class Parameter(TypedDict):
    name: str
    default: str
    range: str
    help: str

class ControllerInfo(TypedDict):
    name: str
    summary: str
    source: str
    coupled: bool
    explanation: str
    parameters: list[Parameter]

class Entry(TypedDict):
    name: str
    help: str
    source: NotRequired[str]
    """Where a distribution comes from."""

class Mistake(TypedDict):
    file: str
    line: int
    column: int
    message: str
    help: str | None

class ScenarioError(ValueError):
    mistakes: list[Mistake]

class Capture(TypedDict):
    name: str
    flow: int
    packets: int
    pcapng: bytes

class Output:
    @property
    def tables(self) -> Mapping[str, Mapping[str, Column]]: ...
    @property
    def captures(self) -> Sequence[Capture]: ...
    @property
    def counters(self) -> Mapping[str, int | float | str]: ...
    @property
    def results_hash(self) -> str: ...
    @property
    def packet_hops(self) -> int: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def cpu_s(self) -> float: ...
    @property
    def peak_rss_mb(self) -> float: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def notes(self) -> Sequence[str]: ...

class FluidProblem(TypedDict):
    time_s: float
    done: float
    """Share of the run."""
    packet_bytes: int
    capacities_bps: NDArray[np.float64]
    flows: NDArray[np.uint64]
    """Numbers of the flows."""
    source: NDArray[np.uint64]
    """By flow: index of the sending host."""
    destination: NDArray[np.uint64]
    controllers: list[tuple[str, dict[str, float | str | list[float]]]]
    controller_of: NDArray[np.uint64]
    """By flow: a place in `controllers`."""
    flow_of: NDArray[np.uint64]
    """By path: a place in `flows`. Paths are in the order of the flows."""
    subflow: NDArray[np.uint64]
    rtt_s: NDArray[np.float64]
    first_link: NDArray[np.uint64]
    """By path, and one more: where its links begin in `links`."""
    links: NDArray[np.uint64]

Allocate = Callable[[FluidProblem], tuple[NDArray[np.float64], NDArray[np.bool_]] | None]
"""Rates (bit/s) by path, and by flow whether its split is the only one; None for no more."""

class Run:
    @property
    def most_threads(self) -> int: ...
    def start(self) -> None: ...
    def poll(self) -> Progress: ...
    def events(self) -> list[str]: ...
    def cancel(self) -> None: ...
    def take(self) -> Output: ...

class Variant:
    @property
    def axes(self) -> Mapping[str, str]: ...
    @property
    def label(self) -> str: ...
    @property
    def slug(self) -> str: ...
    @property
    def resolved(self) -> str: ...
    @property
    def files(self) -> Mapping[str, bytes]:
        """Contents of the files with controllers, by the scenario's names for them."""
    @property
    def settings_hash(self) -> str: ...
    def hash(self, seed: int) -> str: ...
    def controllers(self) -> list[tuple[str, dict[str, float | str | list[float]]]]: ...
    def warnings(self, seed: int) -> list[tuple[str, str, str]]:
        """Settings that are likely not meant so: of each its key, what follows, and what to do."""
    def candidates(
        self, seed: int, pairs: Sequence[tuple[int, int]]
    ) -> list[list[tuple[float, list[int]]]]: ...
    def prepare(self, seed: int, threads: int = 1, events: int | None = None) -> Run: ...
    def flow(self, seed: int, allocate: Allocate) -> Output: ...
    def along(
        self,
        seed: int,
        group: Sequence[str],
        source: Sequence[str],
        destination: Sequence[str],
        start_s: Sequence[float],
        end_s: Sequence[float],
        limit: int,
        allocate: Allocate,
    ) -> tuple[Mapping[str, Mapping[str, Column]], int, int]: ...

class SweepInfo(TypedDict):
    axis: str
    keys: list[str]
    names: list[str]
    values: list[float] | None
    unit: str | None
    logarithmic: bool

class Scenario:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def size(self) -> str: ...
    @property
    def sizes(self) -> Sequence[str]: ...
    @property
    def settings(self) -> str: ...
    @property
    def settings_hash(self) -> str: ...
    @property
    def axes(self) -> Mapping[str, Sequence[str]]: ...
    @property
    def sweeps(self) -> Sequence[SweepInfo]: ...
    @property
    def variants(self) -> Sequence[Variant]: ...
    @property
    def seeds(self) -> Sequence[int]: ...
    @property
    def groups(self) -> Sequence[str]: ...

class Path:
    """The congestion state of one subflow, lent to a controller for one call.

    Times are whole picoseconds. A controller sets `window`, `ssthresh` and `may_send`; the
    transport has the rest. Whoever keeps it gets a `RuntimeError` after the call.
    """

    @property
    def window(self) -> float:
        """Congestion window in packets; at least 1 when a call is over. Must be finite."""
    @window.setter
    def window(self, packets: float) -> None: ...
    @property
    def ssthresh(self) -> float:
        """Slow start ends when the window reaches this many packets; infinite until a loss."""
    @ssthresh.setter
    def ssthresh(self, packets: float) -> None: ...
    @property
    def may_send(self) -> bool:
        """False suspends the subflow: no new data, retransmissions go on."""
    @may_send.setter
    def may_send(self, yes: bool) -> None: ...
    @property
    def minimum_window(self) -> float:
        """The window's floor in congestion avoidance, in packets (1 after a timeout)."""
    @property
    def smoothed_rtt(self) -> int:
        """RTT smoothed as RFC 6298 says, in picoseconds; 0 before the first sample."""
    @property
    def minimum_rtt(self) -> int:
        """Smallest RTT sample in picoseconds; `NO_RTT` before the first."""
    @property
    def latest_rtt(self) -> int:
        """Latest RTT sample in picoseconds; 0 before the first."""
    @property
    def sent(self) -> int:
        """New packets sent so far: also the number that the next new packet will have."""
    @property
    def acked(self) -> int:
        """Packets acknowledged cumulatively so far."""
    @property
    def in_flight(self) -> int:
        """Packets in the network as far as the sender knows."""
    @property
    def in_recovery(self) -> bool:
        """Whether the subflow is in fast recovery."""
    @property
    def growth_by_marked_acks(self) -> bool:
        """Whether acknowledgements that carry marks grow windows as others do."""
    @property
    def loss_limit(self) -> float:
        """The response to a loss takes its share from this many packets at most."""
    @property
    def slow_start_limit(self) -> int:
        """Packets of one acknowledgement that slow start counts at most."""
    @property
    def packet_bytes(self) -> int:
        """Bytes on the wire of a full data packet."""
    @property
    def state(self) -> Literal["opening", "active", "standby", "failed", "closed"]:
        """Where it is between opening and closing."""
    @property
    def is_active(self) -> bool:
        """Whether it carries data: it is open, has not failed and is not on standby."""
    @property
    def has_rtt(self) -> bool:
        """Whether there has been an RTT sample."""
    @property
    def rtt_seconds(self) -> float:
        """The smoothed RTT in seconds; 0 before the first sample."""
    @property
    def packets_per_second(self) -> float:
        """Window over smoothed RTT; 0 before the first sample."""
    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below ssthresh."""
    def may_grow_by(self, ack: Ack) -> bool:
        """Whether this acknowledgement may grow the window, its marks considered."""

class Ack:
    """What one acknowledgement tells, lent to a controller for one call.

    The path is up to date before.
    """

    @property
    def now(self) -> int:
        """When it arrived, in picoseconds."""
    @property
    def packets(self) -> int:
        """Packets newly acknowledged; 0 for duplicates, which come when they echo marks."""
    @property
    def ce(self) -> int:
        """How many congestion-experienced marks it echoes."""
    @property
    def rtt(self) -> int | None:
        """The RTT sample that it gave, in picoseconds."""
    @property
    def recovery(self) -> bool:
        """Whether windows must not grow."""
    @property
    def window_limited(self) -> bool:
        """Whether the window was what limited sending."""
    @property
    def lets_window_grow(self) -> bool:
        """Not in recovery, and the window is used."""

class Round:
    """Tells when a round ends: from sending a given packet until it is acknowledged."""

    def __init__(self, path: Path | None = None) -> None:
        """Begin now; without a path, that of a subflow that has sent nothing."""
    def is_over(self, path: Path) -> bool:
        """Whether the packets in flight when it began have all been acknowledged."""
    def begin(self, path: Path) -> None:
        """Begin again, now."""
    def advance(self, path: Path) -> bool:
        """If the round is over, begin the next one and be true."""

class OncePerRound:
    """Remembers a subflow's last cut: a round is cut once, however many marks and losses it has."""

    def __init__(self) -> None: ...
    def may_cut(self, path: Path) -> bool:
        """Whether a mark may cut: the last cut's round is over."""
    def on_mark(self, path: Path, share: float) -> bool:
        """If the round has not been cut, take `share` off the window, end slow start, be true."""
    def on_loss(self, path: Path, loss: str, share: float = 0.5) -> None:
        """Take `share` off the window before the round's mark; a timeout is the common one."""

def slow_start(path: Path, packets: int) -> int:
    """Add a packet for each of `packets` acknowledged ones until the window reaches ssthresh.

    Returns how many are left for congestion avoidance.
    """

def slow_start_by(path: Path, packets: int, step: float) -> int:
    """`slow_start` that adds `step` packets for each acknowledged one."""

def respond_to_loss(path: Path, loss: str, window: float | None = None) -> None:
    """Halve `window`, or the path's, after duplicates; begin from one packet after a timeout."""

def cut_to(path: Path, window: float) -> None:
    """Set ssthresh to `window`, at least the minimum window, and lower the window to it."""

def cut_within(path: Path, window: float, least: float) -> None:
    """`cut_to` with another minimum window."""

def version() -> str: ...
def results_version() -> str: ...
def schema() -> str: ...
def controllers() -> list[ControllerInfo]: ...
def routings() -> list[Entry]: ...
def fabrics() -> list[Entry]: ...
def patterns() -> list[Entry]: ...
def operations() -> list[Entry]: ...
def distributions() -> list[Entry]: ...
def presets() -> list[Entry]: ...
def controller_in_file(
    form: str, path: str, shown: str, item: str | None = None
) -> ControllerInfo: ...
def from_resolved(
    resolved: str,
    folder: str | os.PathLike[str] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> Scenario: ...
def hash_of_resolved(resolved: str, seed: int) -> str: ...
def hash_of_settings(settings: str) -> str: ...
def load(
    path: str,
    size: str | None,
    sets: Sequence[str],
    only: Sequence[str],
    seeds: int | None,
    sweeps: Sequence[str] = (),
) -> Scenario: ...
def load_text(
    text: str,
    name: str,
    folder: str,
    size: str | None,
    sets: Sequence[str],
    only: Sequence[str],
    seeds: int | None,
    sweeps: Sequence[str] = (),
) -> Scenario: ...
