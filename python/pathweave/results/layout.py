"""Names of folders and files under a results folder.

results/<scenario>/<settings>/                   runs that may share a table: `settings`
    scenario.json                                what was asked for: settings, order of axes, ...
    <variant>-s<seed>/                           one run
        manifest.json  timing.json  flows.parquet  subflows.parquet  links.parquet  jobs.parquet ...
        packets-<flow>.pcapng ...
        optimum*.parquet  optimum.json   beside a run solved alongside

<settings> is the size, then what --set changed, then the backend where it is not the simulation:
`quick`, `paper-rate=100Mbps`, `quick-testbed-stretch10`, `quick-optimum`.
"""

from __future__ import annotations

from pathlib import Path

from pathweave.results.owner import abandoned, owner
from pathweave.results.wholefile import abandoned_drafts

MANIFEST = "manifest.json"
TIMING = "timing.json"
SCENARIO = "scenario.json"
OPTIMUM = "optimum.json"
DEFAULT_ROOT = Path("results")
DEFAULT_SIZE = "quick"
DEFAULT_UTILITY = "proportional"
FORMAT = 3
"""Version of the layout. A reader leaves out runs of another one: version 1 could mix settings in a
folder, and version 2 did not say which jobs start in the measurement window."""
SHORT_HASH = 6
"""Characters of the hash of a variant's settings in a folder's name."""

SERIES = ("rates", "windows", "queues", "rtts")
"""Tables of samples over time, there when the scenario records them."""

_PARTIAL = ".partial-"
_REPLACED = ".replaced-"
_SEEN_BY = ".seen-by-"


OPTIMUM_TABLES = ("optimum", "optimum_subflows", "optimum_collectives")
"""Tables that stand beside a run's own when the optimum was solved alongside."""


def run_name(slug: str, seed: int, variant_hash: str = "") -> str:
    """Name of the folder of one run of one variant.

    The hash of the variant's settings is in it where other settings took the plain name.
    """
    short = f"-{variant_hash[:SHORT_HASH]}" if variant_hash else ""
    return f"{slug or 'run'}{short}-s{seed}"


def table_file(name: str) -> str:
    """Name of the file with a table."""
    return f"{name}.parquet"


def capture_file(name: str) -> str:
    """Name of the file with the captured packets of a flow."""
    return f"packets-{name}.pcapng"


def partial_folder(folder: Path) -> Path:
    """Where a run is written before it takes its name; hidden from readers."""
    return folder.with_name(f".{folder.name}{_PARTIAL}{owner()}")


def replaced_folder(folder: Path) -> Path:
    """Where an older run stands for the moment in which a newer one takes its name."""
    return folder.with_name(f".{folder.name}{_REPLACED}{owner()}")


def token_file(folder: Path) -> Path:
    """What a process puts into a folder to find out which machines see it."""
    return folder / f"{_SEEN_BY}{owner()}"


def leftovers(scenario: Path) -> list[tuple[Path, Path | None]]:
    """What processes that no longer live left half written or half replaced: folders, and drafts.

    With an older run that was being replaced comes the folder that it had.
    """
    found: list[tuple[Path, Path | None]] = [
        (path, None) for path in abandoned_drafts(scenario / SCENARIO)
    ]
    for mark in (_PARTIAL, _REPLACED, _SEEN_BY):
        for path in sorted(scenario.glob(f"*{mark}*")):
            name, _, owned_by = path.name.rpartition(mark)
            if abandoned(owned_by, path):
                found.append((path, path.with_name(name[1:]) if mark == _REPLACED else None))
    return found
