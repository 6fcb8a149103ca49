"""Run `pathweave` until its n-th step in the file system, and end it there by SIGKILL.

    python killed_at.py STEP fake|core ARGUMENTS...

Steps are what Python does to files and folders of results: it makes, writes, renames or removes
one. The process ends just before the step, as if the power had failed.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from pathlib import Path

_STEPS = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree")


def kill_at(step: int, below: str) -> None:
    """Kill this process just before its `step`-th step at or below the folder `below`."""
    steps = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE
        if (writes or event in _STEPS) and below in str(arguments[0]):
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


if __name__ == "__main__":
    _, number, which, *rest = sys.argv
    kill_at(int(number), "results")
    sys.argv = ["pathweave", *rest]
    if which == "fake":
        runpy.run_path(str(Path(__file__).with_name("fake_core.py")), run_name="__main__")
    else:
        runpy.run_module("pathweave", run_name="__main__")
