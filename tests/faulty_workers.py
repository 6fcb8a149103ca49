"""Loaded by the Dask workers of the tests: runs of variants with some names go wrong there.

`Poison` kills its worker every time; `Victim` the first time, and a file beside its results says
that it did; `Relapse` ends well the first time, then kills two workers, then ends well again;
`Broken` ends with an error.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from pathweave.running.dask import work
from pathweave.running.dask.payload import Failed, Job, Result


def marker(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.died")


def dask_setup(_worker: object) -> None:
    sound = work._run

    def run(job: Job, *rest: Any, **named: Any) -> Result | None:
        label = job.identity.variant.label
        folder = Path(job.folder)
        if label == "Poison":
            os.kill(os.getpid(), signal.SIGKILL)
        if label == "Victim" and not marker(folder).exists():
            marker(folder).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if label == "Relapse":
            with marker(folder).open("a+") as begun:
                begun.write(".")
                times = begun.tell()
            if times in (2, 3):
                os.kill(os.getpid(), signal.SIGKILL)
        if label == "Broken":
            return Failed(job.number, "", "packets are not conserved on link h0->s0")
        return sound(job, *rest, **named)

    work._run = run
