"""`pathweave.run()`: the same as the command `pathweave run`, for notebooks and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.errors import PathweaveError
from pathweave.results import layout
from pathweave.results.collection import Results
from pathweave.results.read import find_runs
from pathweave.running.quiet import Quiet
from pathweave.running.session import Request, default_jobs, execute, open_session

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


def run(
    scenario: str | os.PathLike[str],
    *,
    size: str | None = None,
    seeds: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 - the option's name
    only: Mapping[str, str] | None = None,
    out: str | os.PathLike[str] = layout.DEFAULT_ROOT,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
) -> Results:
    """Run the scenario file's variants and seeds, and return the results.

    Runs that stand under `out` with the same settings are not run again, unless `fresh`.

    Args:
        scenario: path of the scenario file.
        size: "quick", "paper" or another size that the file defines.
        seeds: how many seeds.
        set: overrides, as in `{"fabric.k": 4, "fabric.rate": "10 Gbps"}`.
        only: restrictions, as in `{"scheme": "XMP-4"}`.
        out: folder for results.
        jobs: how many runs at a time; all cores when None.
        fresh: run everything again.
        progress: show how far runs have come.

    Raises:
        ScenarioError: a mistake in the scenario file or in `set`; the message says where.
        PathweaveError: a run failed or was interrupted; finished runs are kept.
    """
    session = open_session(
        Request(
            path=Path(scenario),
            size=size,
            seeds=seeds,
            sets=tuple(f"{key}={_toml(value)}" for key, value in (set or {}).items()),
            only=tuple(f"{axis}={name}" for axis, name in (only or {}).items()),
            root=Path(out),
            fresh=fresh,
        )
    )
    if progress and session.plan.missing:
        from pathweave.cli.console import messages
        from pathweave.cli.progress import watch

        shown = watch(messages(), len(session.plan.missing))
        with shown:
            outcome = execute(session, jobs or default_jobs(), shown)
    else:
        outcome = execute(session, jobs or default_jobs(), Quiet())
    if outcome.failed:
        task, reason = outcome.failed[0]
        raise PathweaveError(f"{len(outcome.failed)} runs failed; {task.label}: {reason}")
    if outcome.cancelled:
        raise PathweaveError("interrupted; finished runs are kept")
    return Results(find_runs(task.folder for task in session.plan.tasks))


def _toml(value: object) -> str:
    """A value as the command line's `--set` writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
