"""Programs that stand in for those of htsim and ns-3, and for Pathweave's bench binary.

Each checks what it is given as the real one does, notes its command line in `calls` beside it, and
prints what the real one prints, with figures that follow from what it was given.
"""

from __future__ import annotations

import os
from pathlib import Path

from interpreted import FIRST_LINES

_PROGRAM = """\
import pathlib, sys, time

NAME = {name!r}
KNOWN = {known!r}
given = {{}}
for argument in sys.argv[1:]:
    name, _, value = argument.partition("=")
    if name not in KNOWN:
        sys.exit(NAME + ": unknown option " + argument)
    given[name] = value
with open(pathlib.Path(__file__).parent / "calls", "a") as calls:
    print(" ".join(sys.argv[1:]), file=calls)
{before}
lines = pathlib.Path(given["--paths"]).read_text().splitlines()
paths = [line.split() for line in lines]
for data, back in zip(paths[::2], paths[1::2], strict=True):
    assert (data[0], data[-1]) == (back[-1], back[0]), "the acknowledgements do not lead back"
    assert data[0].startswith("h") and data[-1].startswith("h")
subflows = int(given.get("--subflows", "1"))
counts = "--count-hops" in given
print("At 12 RTO 250 MDEV 0")  # as htsim does
print(
    '{{"simulator": "%s", "flows": %d, "subflows": %d, "delivered_bytes": %d, '
    '"cpu_s": %s, "packet_hops": %s}}'
    % (
        NAME,
        len(paths) // 2 // subflows,
        subflows,
        {delivered},
        9.9 if counts else 0.5,
        sum(len(path) - 1 for path in paths) * 1000 if counts else "null",
    )
)
"""
OPTIONS = {
    "htsim": (
        *("--paths", "--controller", "--subflows", "--seed", "--stop-at-ns", "--link-rate-mbps"),
        *("--link-delay-ns", "--queue-limit", "--marking-threshold", "--packet", "--count-hops"),
    ),
    "ns3": (
        *("--report", "--network", "--paths", "--seed", "--start-jitter", "--measure-from"),
        *("--stop-at", "--series-bin", "--link-rate", "--link-delay", "--queue", "--queue-limit"),
        *("--marking-threshold", "--controller", "--socket-buffer", "--count-hops"),
    ),
}
PROGRAMS = {"htsim": "permutation", "ns3": "comparison"}
BENCH = """\
import pathlib, sys
assert sys.argv[2] == "--until" and sys.argv[4:] == ["--json"]
scenario = pathlib.Path(sys.argv[1]).read_text()
with open(pathlib.Path(__file__).parent / "calls", "a") as calls:
    print("Pathweave", pathlib.Path(sys.argv[1]).name, sys.argv[3], file=calls)
{before}
hops = 1000 * scenario.count("from =")
print(
    '{{"packet_hops": %d, "cpu_s": 0.02, "peak_rss_mb": 20.5, "results_hash": "abc", '
    '"goodput_share": 0.93}}' % hops
)
"""


def simulator(
    folder: Path,
    name: str,
    *,
    says: str | None = None,
    before: str = "",
    delivered: str = "2_000_000",
) -> Path:
    """The program of a simulator in `folder`, which it makes.

    It calls itself `says`, and first does `before`; `delivered` is an expression.
    """
    text = _PROGRAM.format(
        name=says or name, known=set(OPTIONS[name]), before=before, delivered=delivered
    )
    return executable(folder / PROGRAMS[name], text)


def bench_binary(folder: Path, before: str = "") -> Path:
    """Pathweave's bench binary."""
    return executable(folder / "pathweave-bench", BENCH.format(before=before))


def executable(path: Path, python: str) -> Path:
    """A Python program that can be called by its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FIRST_LINES + python)
    path.chmod(0o755)
    return path


def is_alive(process: int) -> bool:
    """Whether a process that is no child of this one still runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
