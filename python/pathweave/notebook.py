"""`pathweave.run()`, `compare()` and `explain()`: the commands of these names, for notebooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from pathweave import topics
from pathweave.changes.relevance import RELEVANT
from pathweave.errors import InputError, PathweaveError
from pathweave.results import layout
from pathweave.results.collection import Results
from pathweave.results.read import find_runs
from pathweave.running.place import place
from pathweave.running.quiet import Quiet
from pathweave.running.session import Request, execute, open_session
from pathweave.running.shard import UNTIL_NEEDS_ALL, Shard, parse_shard
from pathweave.running.texts import STDIN, open_text, to_toml, toml_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from distributed import Client

    from pathweave.changes.changes import Changes
    from pathweave.changes.side import Side
    from pathweave.running.place import Place
    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _in_one_line(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let errors that a user can mend come without the frames and causes within Pathweave."""

    @wraps(call)
    def guarded(*args: _P.args, **named: _P.kwargs) -> _R:
        try:
            return call(*args, **named)
        except PathweaveError as error:
            raise error.with_traceback(None) from None

    return guarded


@_in_one_line
def explain(name: str) -> topics.Explained:
    """Explain what a name in a scenario or in results stands for; shown as text.

    Args:
        name: of a controller, routing, fabric, traffic pattern, transport preset or quantity.

    Raises:
        InputError: nothing has this name; the message has near ones.
    """
    return topics.explain(name)


@_in_one_line
def compare(
    a: str | os.PathLike[str] | Results,
    b: str | os.PathLike[str] | Results,
    *,
    at: str | None = None,
    relevant: float = RELEVANT,
    quantities: Sequence[str] = (),
) -> Changes:
    """Compare two sets of results of one scenario: what has moved from `a`, the baseline, to `b`.

    The result has `table` (a polars frame with one row per variant and quantity), `moved`,
    `differences` of the settings and `identical`; a notebook shows all of it.

    Args:
        a: results of a scenario with the same settings: their folder, or what `run` and `load`
            return.
        b: other results of the same scenario.
        at: the name of a phase, or a window of time such as "10 s..15 s", that both have.
        relevant: smallest change that counts, as a part of the mean of `a`.
        quantities: compare these alone, such as "p99 slowdown of bg under 100 KB".

    Raises:
        InputError: there is nothing to compare, or more than one scenario or settings on a side.
    """
    from pathweave.changes.changes import compare_sides  # a run does without statistics

    sides = _side("A", a), _side("B", b)
    return compare_sides(*sides, at=at, relevant=relevant, quantities=quantities)


def _side(name: str, results: str | os.PathLike[str] | Results) -> Side:
    from pathweave.changes.side import read_side, side_of

    if not isinstance(results, Results):
        return read_side(name, Path(results))
    if not results.scenarios:
        raise InputError(f"there are no results in {name}")
    return side_of(name, results.scenarios[0].folder, results.scenarios)


@_in_one_line
def run(
    scenario: str | os.PathLike[str] | dict[str, Any],
    *,
    name: str | None = None,
    size: str | None = None,
    seeds: int | None = None,
    until: str | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 - the option's name
    only: Mapping[str, str] | None = None,
    out: str | os.PathLike[str] = layout.DEFAULT_ROOT,
    jobs: int | None = None,
    threads: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    shard: tuple[int, int] | str | None = None,
    dask: str | Client | None = None,
) -> Results:
    """Run a scenario's variants and seeds, and return the results.

    Runs that stand under `out` with the same settings are not run again, unless `fresh`.

    Args:
        scenario: path of the scenario file; or the scenario itself, as a dictionary or as TOML (a
            text of more than one line). Files that it names are looked for in the working folder.
        name: what results of a scenario that is not a file are called: "notebook" if None.
        size: "quick", "paper" or another size that the file defines.
        seeds: how many seeds; with `until` how many at most, 64 if None.
        until: adds seeds until the intervals of the differences to the baseline are this narrow:
            "2%", or "goodput=2%".
        set: overrides, as in `{"fabric.k": 4, "fabric.rate": "10 Gbps"}`.
        only: restrictions, as in `{"scheme": "XMP-4"}`.
        out: folder for results.
        jobs: how many runs at a time; all cores when None.
        threads: threads for each run, as far as they make it faster; when None, a run has
            one with `jobs`, and runs share all cores without.
        fresh: run everything again.
        progress: show how far runs have come.
        shard: run this share alone: `(1, 4)` or "1/4" is the first of four, "auto" that of a Slurm
            array's task or of a parallel job of GitLab. The results are of the share's runs.
        dask: run on the workers of this cluster: a `dask.distributed.Client`, the address of a
            scheduler or its scheduler file; or "local", which starts `jobs` workers here.

    Raises:
        ScenarioError: a mistake in the scenario or in `set`; the message says where.
        PathweaveError: a run failed; finished runs are kept.
        KeyboardInterrupt: it was interrupted (SIGINT or SIGTERM); finished runs are kept.
    """
    return _run(
        scenario,
        name,
        Request(
            path=Path(),
            size=size,
            seeds=_most_seeds(seeds, until),
            sets=_pairs(set),
            only=_pairs(only),
            root=Path(out),
            fresh=fresh,
            shard=_shard(shard),
        ),
        until=until,
        where=partial(place, dask, jobs, threads),
        progress=progress,
    )


@_in_one_line
def sweep(
    scenario: str | os.PathLike[str] | dict[str, Any],
    axes: Mapping[str, object],
    *,
    name: str | None = None,
    size: str | None = None,
    seeds: int | None = None,
    until: str | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002 - the option's name
    only: Mapping[str, str] | None = None,
    out: str | os.PathLike[str] = layout.DEFAULT_ROOT,
    jobs: int | None = None,
    threads: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    shard: tuple[int, int] | str | None = None,
    dask: str | Client | None = None,
) -> Results:
    """Run a scenario for each value of one key or several, and return the results.

    It is `run` with `axes` in the scenario's `[sweep]`, and has its other arguments. Axes multiply,
    with each other and with the scenario's variants.

    Args:
        scenario: as in `run`.
        axes: by key a list or a range, as in
            `{"fabric.queue.mark.k": [10, 20, 40], "traffic.web.load": {"from": 0.1, "to": 0.9,
            "step": 0.1}}`; keys that move together stand in a dictionary under "together", by the
            name of their axis. A key that the scenario sweeps already has these values instead.
        name: as in `run`, like all that follow.
        size: a size that the file defines.
        seeds: how many seeds.
        until: adds seeds until intervals are this narrow.
        set: overrides.
        only: restrictions; the names on a swept axis are its values, as in `{"k": "10"}`.
        out: folder for results.
        jobs: how many runs at a time.
        threads: threads for each run.
        fresh: run everything again.
        progress: show how far runs have come.
        shard: run this share alone.
        dask: run on the workers of this cluster.

    Raises:
        ScenarioError: a mistake in the scenario, in `axes` or in `set`; the message says where.
        PathweaveError: a run failed; finished runs are kept.
        KeyboardInterrupt: it was interrupted (SIGINT or SIGTERM); finished runs are kept.
    """
    return _run(
        scenario,
        name,
        Request(
            path=Path(),
            size=size,
            seeds=_most_seeds(seeds, until),
            sets=_pairs(set),
            sweeps=_sweeps(axes),
            only=_pairs(only),
            root=Path(out),
            fresh=fresh,
            shard=_shard(shard),
        ),
        until=until,
        where=partial(place, dask, jobs, threads),
        progress=progress,
    )


def _run(
    scenario: str | os.PathLike[str] | dict[str, Any],
    name: str | None,
    request: Request,
    *,
    until: str | None,
    where: Callable[[int], AbstractContextManager[Place]],
    progress: bool,
) -> Results:
    """Run what is missing of a request, and load all of its runs.

    `where` says by the number of missing runs where they are run.
    """
    if request.shard is not None and until:
        raise InputError(UNTIL_NEEDS_ALL)
    session = _open(scenario, name, request)
    with where(len(session.plan.missing)) as found:

        def simulate(session: Session) -> Outcome:
            if progress and session.plan.missing:
                from pathweave.cli.console import messages
                from pathweave.cli.progress import watch

                with watch(messages(), len(session.plan.missing)) as shown:
                    return execute(session, found.cores, shown, run=found.run)
            return execute(session, found.cores, Quiet(), run=found.run)

        if until:
            from pathweave.running.until import parse_target, run_until

            target = parse_target(until, session.plan.scenario.groups)
            ended = run_until(session, target, None, simulate)
            session, outcome = ended.session, ended.outcome
        else:
            outcome = simulate(session)
    if outcome.failed:
        task, reason = outcome.failed[0]
        raise PathweaveError(f"{len(outcome.failed)} runs failed; {task.label}: {reason}")
    if outcome.cancelled:
        # The runs were ended cleanly; the cell or script must not go on as if they were there.
        raise KeyboardInterrupt("interrupted; finished runs are kept")
    return Results(find_runs(task.folder for task in session.plan.tasks))


def _most_seeds(seeds: int | None, until: str | None) -> int | None:
    """The seeds that are asked for; with `until`, those that are run at most."""
    if not until:
        return seeds
    from pathweave.running.until import MOST

    return seeds or MOST


def _open(
    scenario: str | os.PathLike[str] | dict[str, Any], name: str | None, request: Request
) -> Session:
    if isinstance(scenario, dict):
        text = to_toml(scenario)
    elif isinstance(scenario, str) and "\n" in scenario:
        text = scenario
    elif isinstance(scenario, str | os.PathLike):
        if name is not None:
            raise InputError("the results of a scenario file are called after it: leave name out")
        return open_session(replace(request, path=Path(scenario)))
    else:
        kind = type(scenario).__name__
        raise InputError(f"a scenario is a path, a dictionary or TOML, not {kind}")
    return open_text(replace(request, path=STDIN), text, name or "notebook")


def _pairs(values: Mapping[str, object] | None) -> tuple[str, ...]:
    return tuple(f"{key}={_toml(value)}" for key, value in (values or {}).items())


def _sweeps(axes: Mapping[str, object]) -> tuple[str, ...]:
    """Sweeps as the command line's `--sweep` writes them."""
    if not isinstance(axes, Mapping):
        kind = type(axes).__name__
        raise InputError(f"axes must be a dictionary of keys and their values, not {kind}")
    found: list[str] = []
    for key, values in axes.items():
        if key == "together" and isinstance(values, dict):
            groups = cast("dict[str, object]", values)
            found += [f"together.{name}={_values(name, keys)}" for name, keys in groups.items()]
        else:
            found.append(f"{key}={_values(key, values)}")
    return tuple(found)


def _values(key: str, values: object) -> str:
    if isinstance(values, dict | list | tuple | range) or hasattr(values, "tolist"):
        return toml_value(values, f'axes["{key}"]')
    kind = type(values).__name__
    raise InputError(f"the values of {key} must be a list, or a dictionary for a range, not {kind}")


def _shard(value: tuple[int, int] | str | None) -> Shard | None:
    if value is None or isinstance(value, str):
        return parse_shard(value) if value else None
    return Shard(*value)


def _toml(value: object) -> str:
    """A value as the command line's `--set` writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
