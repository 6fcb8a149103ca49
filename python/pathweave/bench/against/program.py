"""The other simulator's program: finding it, running it, and reading what it printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pathweave.bench.against.child import Failure, TookTooLongError, run
from pathweave.bench.against.simulators import SIMULATORS
from pathweave.errors import InputError, PathweaveError

if TYPE_CHECKING:
    from pathlib import Path

    from pathweave.bench.against.simulator import Job, Simulator
    from pathweave.running.interrupt import Interrupt

_LONGEST_QUOTE: Final = 120
_HTSIM_ITSELF: Final = ("libhtsim.a", "sim/libhtsim.a", "sim/eventlist.h", "htsim_ndp", "htsim_tcp")
"""Files by which a folder is known as htsim's own."""


@dataclass(frozen=True)
class Cost:
    """What one run of the program says of itself."""

    cpu_s: float
    delivered_bytes: int
    """To the receiving ends, in order."""
    packet_hops: int | None
    """None if they were not counted."""


def find(simulator: Simulator, folder: Path) -> Path:
    """The program in `folder`. Raises `InputError` with what to build if it is not there."""
    build = f"build it with `{simulator.build}`"
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "is not there"
        raise InputError(
            f"{folder} {what}: --against {simulator.name} needs the folder that "
            f"`{simulator.build}` builds into ({simulator.folder})"
        )
    program = folder / simulator.program
    if program.is_file():
        return program
    for other in SIMULATORS.values():
        if other is not simulator and (folder / other.program).is_file():
            raise InputError(
                f'{folder} has "{other.program}", the program of {other.title}, and no '
                f'"{simulator.program}": say --against {other.name}, or {build}'
            )
    if simulator.name == "htsim" and any((folder / name).exists() for name in _HTSIM_ITSELF):
        raise InputError(
            f"{folder} is htsim itself, whose programs draw their own permutations: {build}, where "
            f"FOLDER has sim/libhtsim.a, and give {simulator.folder}"
        )
    raise InputError(f'there is no program "{simulator.program}" in {folder}: {build}')


def cost(
    simulator: Simulator, program: Path, job: Job, timeout_s: float, interrupt: Interrupt
) -> Cost:
    """Run the program once.

    Raises `PathweaveError` if it fails, takes longer than `timeout_s` seconds of wall time, or does
    not print what is agreed; `InputError` if it cannot be started.
    """
    where = f"{simulator.title} ({program}) on {job.case.name}"
    try:
        printed = run([str(program), *simulator.arguments(job)], timeout_s, interrupt)
    except TookTooLongError:
        raise PathweaveError(
            f"{where} took longer than {timeout_s:g} s for {job.until_ns / 1e6:g} ms of simulated "
            "time: simulate less with --until, or allow more with --timeout"
        ) from None
    except OSError as error:
        raise InputError(f"{program} cannot be run: {error.strerror or error}") from error
    if isinstance(printed, Failure):
        raise PathweaveError(
            f"{where} failed, {printed} (if it was built from other sources, build it again with "
            f"`{simulator.build}`)"
        )
    return _read(printed, simulator, job, where)


def _read(printed: str, simulator: Simulator, job: Job, where: str) -> Cost:
    """The figures on the last line."""
    last = next((line for line in reversed(printed.splitlines()) if line.strip()), "")
    try:
        value: dict[str, Any] = json.loads(last)
        name, flows = str(value["simulator"]), int(value["flows"])
        hops = value["packet_hops"]
        found = Cost(
            cpu_s=float(value["cpu_s"]),
            delivered_bytes=int(value["delivered_bytes"]),
            packet_hops=None if hops is None else int(hops),
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        quote = f'"{last[:_LONGEST_QUOTE]}"' if last else "nothing"
        raise PathweaveError(
            f"{where} printed no figures: its last line should be JSON with simulator, flows, "
            f"cpu_s, delivered_bytes and packet_hops, and is {quote}"
        ) from None
    if name != simulator.name:
        raise PathweaveError(
            f'{where} says that it is "{name}", not "{simulator.name}": build the right one with '
            f"`{simulator.build}`"
        )
    if flows != job.case.hosts:
        raise PathweaveError(f"{where} ran {flows} flows instead of {job.case.hosts}")
    if job.count_hops and not found.packet_hops:
        raise PathweaveError(f"{where} counted no packet-hops")
    if not found.cpu_s > 0 or not found.delivered_bytes > 0:
        raise PathweaveError(
            f"{where} took {found.cpu_s:g} s of CPU time and delivered {found.delivered_bytes} "
            "bytes: simulate more with --until"
        )
    return found
