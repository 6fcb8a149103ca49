"""Names of folders and files under a results folder.

results/<scenario>/scenario.json             what was asked for: order of axes, published values
results/<scenario>/<variant>-s<seed>/        one run
    manifest.json  timing.json  flows.parquet  subflows.parquet  links.parquet  jobs.parquet ...
    packets-<flow>.pcapng ...
    optimum.parquet  optimum_subflows.parquet  optimum.json   beside a run solved alongside
results/<scenario>-optimum/                  the optimum alone, in the same form
results/<scenario>-testbed/                  runs on the testbed, in the same form
"""

from __future__ import annotations

import os
import re
from pathlib import Path

MANIFEST = "manifest.json"
TIMING = "timing.json"
SCENARIO = "scenario.json"
OPTIMUM = "optimum.json"
DEFAULT_ROOT = Path("results")
DEFAULT_SIZE = "quick"
DEFAULT_UTILITY = "proportional"
FORMAT = 1
"""Version of the layout; a reader refuses a newer one."""

SERIES = ("rates", "windows", "queues", "rtts")
"""Tables of samples over time, there when the scenario records them."""

_PARTIAL = ".partial-"
_REPLACED = ".replaced-"


OPTIMUM_TABLES = ("optimum", "optimum_subflows")
"""Tables that stand beside a run's own when the optimum was solved alongside."""


def scenario_folder(
    root: Path,
    name: str,
    size: str,
    utility: str | None = None,
    stretch: int | None = None,
    *,
    gso: bool = True,
) -> Path:
    """Folder of one scenario; sizes other than the default keep their results apart.

    So do optima, those for each utility, and runs on the testbed, those for each stretch, with
    segmentation offload (GSO) and without.
    """
    parts = [name]
    if size not in ("", DEFAULT_SIZE):
        parts.append(size)
    if utility is not None:
        parts.append("optimum")
        if utility != DEFAULT_UTILITY:
            parts.append(re.sub(r"[^A-Za-z0-9.]+", "-", utility).strip("-"))
    if stretch is not None:
        parts.append("testbed")
        if stretch != 1:
            parts.append(f"stretch{stretch}")
        if not gso:
            parts.append("no-gso")
    return root / "-".join(parts)


def run_folder(scenario: Path, slug: str, seed: int) -> Path:
    """Folder of one run of one variant."""
    return scenario / f"{slug or 'run'}-s{seed}"


def capture_file(name: str) -> str:
    """Name of the file with the captured packets of a flow."""
    return f"packets-{name}.pcapng"


def partial_folder(folder: Path) -> Path:
    """Where a run is written before it takes its name; hidden from readers."""
    return folder.with_name(f".{folder.name}{_PARTIAL}{os.getpid()}")


def replaced_folder(folder: Path) -> Path:
    """Where an older run stands for the moment in which a newer one takes its name."""
    return folder.with_name(f".{folder.name}{_REPLACED}{os.getpid()}")


def leftovers(scenario: Path) -> list[Path]:
    """Folders that processes which no longer live left half written."""
    found: list[Path] = []
    for mark in (_PARTIAL, _REPLACED):
        for path in scenario.glob(f".*{mark}*"):
            owner = path.name.rpartition(mark)[2]
            if owner.isdigit() and not _lives(int(owner)):
                found.append(path)
    return sorted(found)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_whole(table: Path) -> bool:
    """Whether a Parquet file is there and not cut off: it begins and ends with the same mark."""
    mark = b"PAR1"
    try:
        with table.open("rb") as file:
            begins = file.read(len(mark))
            file.seek(-len(mark), os.SEEK_END)
            return begins == mark == file.read()
    except OSError:
        return False
