"""Acknowledgements a CPU-second with LIA in Rust, in Python, compiled by numba, and in C.

    .venv/bin/python benches/python_controllers.py [ROUNDS]

Each row is the best of three rounds, which the controllers take in turn: all acknowledgements of a
run over all of its CPU time, the packets' included. Needs `cc`, and numba for one row.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import tempfile
import time
from pathlib import Path

from pathweave import controller
from pathweave.core import core

EXAMPLES = Path(__file__).parent.parent / "examples" / "controllers"
SCENARIO = """
title = "One link"

[fabric]
kind = "dumbbell"
left = 4
bottleneck_rate = "10 Gbps"
bottleneck_delay = "20 us"
queue = { limit = 100 }

[transport]
preset = "textbook"
minimum_rto = "10 ms"
ack_every = 1

[[traffic]]
name = "flows"
pattern = "flows"
size = "unlimited"
subflows = SUBFLOWS
controller = CONTROLLER
flows = [
    { from = "S1", to = "D1" },
    { from = "S2", to = "D2" },
    { from = "S3", to = "D3" },
    { from = "S4", to = "D4" },
]

[stop]
at = "500 ms"
"""
COUNTED = """

import sys


class Counted(Lia):
    def on_ack(self, paths, r, ack):
        sys.modules["__main__"].acknowledgements += 1
        super().on_ack(paths, r, ack)
"""
SUBFLOWS = (1, 4)

acknowledgements = 0
"""What the counting controller has counted."""


def cpu_seconds(chosen: str, subflows: int, folder: Path) -> tuple[float, str]:
    """CPU time of a run, and the hash of its results."""
    text = SCENARIO.replace("CONTROLLER", chosen).replace("SUBFLOWS", str(subflows))
    run = core().load_text(text, "bench", str(folder), None, [], [], 1).variants[0].prepare(1)
    run.start()
    while run.poll()["state"] == "running":
        time.sleep(0.01)
    output = run.take()
    return output.cpu_s, output.results_hash


def main() -> None:
    """Measure, and print a table."""
    global acknowledgements  # noqa: PLW0603 - a file of its own counts in it
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=3)
    rounds: int = parser.parse_args().rounds
    controllers = {
        "Rust": '"lia"',
        "C": '{ library = "lia.so:lia" }',
        "numba": '{ python = "lia_compiled.py:Lia" }',
        "Python": '{ python = "lia.py:Lia" }',
    }
    if importlib.util.find_spec("numba") is None:
        del controllers["numba"]
        print("without numba: pip install pathweave[numba]")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("lia.py", "lia_compiled.py"):
            (folder / file).write_bytes((EXAMPLES / file).read_bytes())
        (folder / "counted.py").write_text((EXAMPLES / "lia.py").read_text() + COUNTED)
        subprocess.run(  # noqa: S603 - files of this tree
            [  # noqa: S607 - the compiler that there is
                "cc", "-shared", "-fPIC", "-O2", "-ffp-contract=off", "-I", controller.include(),
                "-o", folder / "lia.so", EXAMPLES / "lia.c", "-lm",
            ],
            check=True,
        )  # fmt: skip
        for subflows in SUBFLOWS:
            acknowledgements = 0
            _, expected = cpu_seconds('{ python = "counted.py:Counted" }', subflows, folder)
            best: dict[str, float] = {}
            for _ in range(rounds):
                for label, chosen in controllers.items():
                    cpu, found = cpu_seconds(chosen, subflows, folder)
                    if found != expected:
                        raise SystemExit(f"{label} gives other results")
                    best[label] = min(cpu, best.get(label, cpu))
            print(f"{subflows} subflows a connection, {acknowledgements:,} acknowledgements")
            for label, cpu in best.items():
                print(f"  {label:7} {acknowledgements / cpu / 1e6:5.2f} million a CPU-second")


if __name__ == "__main__":
    main()
