"""A small scenario for controllers of one's own: losses, marks, subflows and a failing path."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from conftest import real
from pathweave.core import core

if TYPE_CHECKING:
    from pathweave._core import Mistake, Output

EXAMPLES = Path(__file__).parent.parent / "examples" / "controllers"
SCENARIO = """
title = "Controllers of one's own"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 3
hosts_per_leaf = 3
host_rate = "1 Gbps"
uplink_rate = "300 Mbps"
host_delay = "20 us"
uplink_delay = "50 us"
queue = { limit = 40, mark = { kind = "step", k = 15 } }

[routing]
kind = "ecmp"
detection_delay = "20 ms"

[transport]
minimum_rto = "10 ms"

[[traffic]]
name = "web"
pattern = "permutation"
subflows = 3
size = "unlimited"
controller = CONTROLLER

[[events]]
at = "30 ms"
link = "leaf0-spine0"
down = true

[[events]]
at = "90 ms"
link = "leaf0-spine0"
up = true

[stop]
at = "150 ms"

[record]
windows = "on-change"
"""


def scenario(controller: str) -> str:
    """The scenario's text with this controller, as TOML has it."""
    return SCENARIO.replace("CONTROLLER", controller)


def finished(text: str, folder: Path, seed: int = 1, threads: int = 1) -> Output:
    """What a run of the scenario's first variant gives; raises `RuntimeError` when it fails."""
    loaded = core().load_text(text, "test", str(folder), None, [], [], 1)
    run = loaded.variants[0].prepare(seed, threads)
    run.start()
    while run.poll()["state"] == "running":
        time.sleep(0.005)
    return run.take()


def played(controller: str, folder: Path = EXAMPLES, seed: int = 1) -> Output:
    """What the scenario gives with a controller from this folder."""
    return finished(scenario(controller), folder, seed)


def failure(text: str, folder: Path) -> str:
    """Why a run fails."""
    try:
        finished(text, folder)
    except RuntimeError as error:
        return str(error)
    raise AssertionError("it does not fail")


def mistakes(text: str, folder: Path) -> list[Mistake]:
    """What is wrong with a scenario."""
    known = core()
    try:
        known.load_text(text, "test", str(folder), None, [], [], 1)
    except known.ScenarioError as error:
        return cast("Any", error).mistakes
    raise AssertionError("nothing is wrong with it")


def counter(output: Output, name: str) -> float:
    """A counter of a run."""
    return float(output.counters[name])


RENO = '''
from pathweave.controller import Controller, Parameter, respond_to_loss, slow_start


class Reno(Controller):
    """Adds a packet a round and halves on loss."""

    name = "reno"

    def on_ack(self, paths, r, ack):
        if ack.lets_window_grow:
            packets = slow_start(paths[r], ack.packets)
            if packets:
                paths[r].window += packets / paths[r].window

    def on_loss(self, paths, r, loss, now):
        respond_to_loss(paths[r], loss)
'''


def broken(tmp_path: Path, line: str, name: str = "mine.py") -> str:
    """The text of a scenario whose controller is Reno with this line before each growth."""
    before = "        if ack.lets_window_grow:\n"
    (tmp_path / name).write_text(RENO.replace(before, f"        {line}\n{before}"))
    return scenario(f'{{ python = "{name}:Reno" }}')


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `pathweave`."""
    return real(folder, *arguments, COLUMNS="200")
