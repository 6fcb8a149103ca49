"""The compiled core: scenarios, the engine, and the lists of what it knows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypedDict

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
    def settings_hash(self) -> str: ...
    def hash(self, seed: int) -> str: ...
    def controllers(self) -> list[tuple[str, dict[str, float | str | list[float]]]]: ...
    def candidates(
        self, seed: int, pairs: Sequence[tuple[int, int]]
    ) -> list[list[tuple[float, list[int]]]]: ...
    def prepare(self, seed: int, threads: int = 1) -> Run: ...
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
    def variants(self) -> Sequence[Variant]: ...
    @property
    def seeds(self) -> Sequence[int]: ...
    @property
    def groups(self) -> Sequence[str]: ...

def version() -> str: ...
def results_version() -> str: ...
def schema() -> str: ...
def controllers() -> list[ControllerInfo]: ...
def routings() -> list[Entry]: ...
def fabrics() -> list[Entry]: ...
def patterns() -> list[Entry]: ...
def presets() -> list[Entry]: ...
def from_resolved(resolved: str) -> Scenario: ...
def load(
    path: str,
    size: str | None,
    sets: Sequence[str],
    only: Sequence[str],
    seeds: int | None,
) -> Scenario: ...
def load_text(
    text: str,
    name: str,
    folder: str,
    size: str | None,
    sets: Sequence[str],
    only: Sequence[str],
    seeds: int | None,
) -> Scenario: ...
