"""`pathweave trace`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.errors import InputError

if TYPE_CHECKING:
    from pathweave.results.runs import StoredRun

_CHECK_EVERY = 10_000
"""Packets between two looks at whether an end was asked for."""
_MOST_NAMED = 12
"""Runs that an error lists at most."""


def trace(
    folder: Annotated[Path, typer.Argument(help="Folder with results.", metavar="DIR")],
    run: Annotated[
        str | None,
        typer.Argument(
            help="The run: the name of its folder, such as dctcp-s1. Not needed for the only one.",
            metavar="[RUN]",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The file; RUN.perfetto-trace if not given.", metavar="FILE"),
    ] = None,
) -> None:
    """Write a run as a trace for Perfetto, the viewer at ui.perfetto.dev.

    It has counters for each link and subflow, a slice for each flow from its start to its end, and
    the scenario's events and phases, as far as the scenario records them.

    Example: pathweave trace results/fig1/quick dctcp_k-10-s1
    """
    from pathweave.cli.console import output
    from pathweave.results.read import search
    from pathweave.results.wholefile import whole_file
    from pathweave.running.interrupt import Interrupt
    from pathweave.trace.packets import packets

    if out is not None and out.is_dir():
        raise InputError(f"{out} is a folder; name a file")
    found = search([folder])
    stored = choose([each for scenario in found.scenarios for each in scenario.runs], run)
    path = out or Path(f"{stored.folder.name}.perfetto-trace")
    with Interrupt() as interrupt, whole_file(path, follow=True) as draft, draft.open("wb") as file:
        for place, packet in enumerate(packets(stored)):
            if place % _CHECK_EVERY == 0 and interrupt.raised:
                raise KeyboardInterrupt
            file.write(packet)
    output().print(f"Trace: {path}", soft_wrap=True, highlight=False, markup=False)


def choose(runs: list[StoredRun], name: str | None) -> StoredRun:
    """The run whose folder ends with `name`, or the only one.

    Raises `InputError` with near names for one that is not there or that several runs have.
    """
    if name is None:
        if len(runs) == 1:
            return runs[0]
        names = [_with_settings(each) for each in runs]
        raise InputError(f"there are {len(runs)} runs; name one of {_some(names)}")
    wanted = name.strip("/")
    meant = [each for each in runs if wanted in (each.folder.name, _with_settings(each))]
    if len(meant) == 1:
        return meant[0]
    if meant:
        said = ", ".join(_with_settings(each) for each in meant)
        raise InputError(f'{len(meant)} runs are called "{name}": name one of {said}')
    raise InputError(f'there is no run "{name}"; {_instead(wanted, runs)}')


def _with_settings(run: StoredRun) -> str:
    return f"{run.folder.parent.name}/{run.folder.name}"


def _instead(name: str, runs: list[StoredRun]) -> str:
    from difflib import get_close_matches

    names = list(dict.fromkeys(run.folder.name for run in runs))
    near = get_close_matches(name.rpartition("/")[2], names, n=3)
    if near:
        return "did you mean " + " or ".join(f'"{each}"' for each in near) + "?"
    return f"there are {_some(names)}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
