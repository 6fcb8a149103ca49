"""From a scenario file to results on disk: what `pathweave run` and `pathweave.run()` share."""

from __future__ import annotations

import errno
import json
import shlex
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError, PathweaveError, ScenarioError
from pathweave.reading import JSON_LIMIT, read_text
from pathweave.results import layout
from pathweave.results.expected import Expected, read_expected
from pathweave.results.jsonfile import create_json, json_text, write_json
from pathweave.results.lock import locked
from pathweave.results.read import read_about
from pathweave.results.settings import hash_in
from pathweave.results.sweeps import Sweep, label_of, sweeps_of, with_earlier
from pathweave.running.interrupt import Interrupt
from pathweave.running.loaded import raise_interruption
from pathweave.running.plan import Plan, make_plan, prepare_folder
from pathweave.running.pool import Outcome, Watcher, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pathweave._core import Scenario
    from pathweave.running.cores import Cores
    from pathweave.running.plan import Task

    RunAll = Callable[[Sequence[Task], Cores, Watcher, Callable[[], bool]], Outcome]
    """What `running.pool.run_all` is: it runs tasks, with cores for each, until interrupted."""
    from pathweave.running.playing import Playing
    from pathweave.running.shard import Shard

_ATTEMPTS = 8
"""Times that a command says what it asks for while others say something else of the folder."""


@dataclass(frozen=True)
class Request:
    """What a user asked to be run."""

    path: Path
    size: str | None = None
    seeds: int | None = None
    """How many seeds; None leaves it to the scenario."""
    sets: tuple[str, ...] = ()
    """Overrides, each "key=value"."""
    sweeps: tuple[str, ...] = ()
    """Sweeps beside those of the scenario, each "key=values"."""
    only: tuple[str, ...] = ()
    """Restrictions, each "axis=name"."""
    root: Path = layout.DEFAULT_ROOT
    fresh: bool = False
    utility: str | None = None
    """What is maximised, where the optimum is asked for; None to simulate."""
    routing: bool = False
    """Whether the optimum judges the routing too."""
    problems: int | None = None
    """How many problems are solved for a run at most; None leaves it to the default."""
    beside: str | None = None
    """What is maximised beside a simulation; None for nothing."""
    playing: Playing | None = None
    """How the testbed plays it; None for other backends."""
    valid: int | None = None
    """How many valid runs of each variant the testbed shall give, whatever the seeds."""
    shard: Shard | None = None
    """The share of the runs that this command does; None for all."""

    @property
    def command(self) -> str:
        """The command line that asks for all variants with these settings, in one go."""
        verb = "run" if self.playing is None else "testbed"
        line = ["pathweave", "solve" if self.utility else verb, str(self.path)]
        if self.utility not in (None, layout.DEFAULT_UTILITY):
            line += ["--utility", self.utility]
        line += ["--routing"] if self.routing else []
        if self.beside:
            line.append("--optimum")
            line += ["--utility", self.beside] if self.beside != layout.DEFAULT_UTILITY else []
        line += ["--problems", str(self.problems)] if self.problems else []
        line += ["--size", self.size] if self.size else []
        # As many seeds as it takes are not what was asked for.
        line += ["--seeds", str(self.seeds)] if self.seeds and not self.valid else []
        line += ["--valid", str(self.valid)] if self.valid else []
        line += self.playing.options if self.playing else []
        for text in self.sets:
            line += ["--set", text]
        for text in self.sweeps:
            line += ["--sweep", text]
        return shlex.join(line)


@dataclass(frozen=True)
class Session:
    """A request that has been read and checked; nothing has been run or written."""

    request: Request
    plan: Plan
    axes: Mapping[str, tuple[str, ...]]
    """All of the file's axes and names, whatever `only` leaves of them."""
    expected: tuple[Expected, ...] = field(default=())
    sweeps: tuple[Sweep, ...] = field(default=())
    """Which of all axes are sweeps."""


def open_session(request: Request) -> Session:
    """Read the scenario and see what is missing.

    Raises `InputError` for a file that is not there and `ScenarioError` for a mistake in it.
    """
    _core = core()
    if request.seeds is not None and request.seeds < 1:
        raise InputError(f"the number of seeds must be at least 1, not {request.seeds}")
    scenario = read_scenario(
        request.path, request.size, request.sets, request.only, request.seeds, request.sweeps
    )
    # Colours and published values go by all of the file's variants.
    whole = scenario
    if request.only:
        whole = read_scenario(request.path, request.size, request.sets, sweeps=request.sweeps)
    # What was published is of controllers, not of optima.
    backend = "simulate" if request.playing is None else "testbed"
    expected = ()
    if request.utility is None:
        expected = read_expected(request.path.parent, scenario.name, whole.axes, backend)
    plan = make_plan(
        scenario,
        request.root,
        version=_core.version(),
        results_version=_core.results_version(),
        sets=request.sets,
        fresh=request.fresh,
        utility=request.utility,
        routing=request.routing,
        limit=request.problems,
        playing=request.playing,
        shard=request.shard,
    )
    axes = {axis: tuple(names) for axis, names in whole.axes.items()}
    return Session(request, plan, axes, expected, sweeps_of(whole))


def read_scenario(
    path: Path,
    size: str | None = None,
    sets: Sequence[str] = (),
    only: Sequence[str] = (),
    seeds: int | None = None,
    sweeps: Sequence[str] = (),
) -> Scenario:
    """Read a scenario file; controllers in files that it names are executed.

    Raises `InputError` for a file that is not there and `ScenarioError` for a mistake in it.
    """
    _core = core()
    if not path.is_file():
        raise InputError(f"{path} is {_kind(path)}")
    try:
        return _core.load(str(path), size, list(sets), list(only), seeds, list(sweeps))
    except _core.ScenarioError as error:
        raise_interruption()
        refused = ScenarioError(str(error))
        refused.mistakes = getattr(error, "mistakes", ())
        raise refused from error


def _kind(path: Path) -> str:
    """What a path is that is not a file."""
    if path.is_dir():
        return "a folder, not a scenario file"
    return "a pipe or a device, not a scenario file" if path.exists() else "not there"


def check_baseline(session: Session, baseline: str | None) -> None:
    """Refuse a baseline or a question that the results could not answer, before they are made.

    `baseline` goes before the scenario's own. Raises `InputError` with what there is.
    """
    from pathweave.results.measures import parse_measure
    from pathweave.results.merit import compared_axis, stated_baselines

    scenario = session.plan.scenario
    report = json.loads(scenario.variants[0].resolved).get("report", {})
    if "quantity" in report:
        where = _place(session.request, "report", "quantity")
        parse_measure(report["quantity"], scenario.groups, f"{where}report.quantity")
    for wanted in [baseline] if baseline else stated_baselines(report):
        if not session.axes:
            raise InputError(f'"{wanted}" cannot be the baseline: the scenario has no variants')
        compared_axis(session.axes, wanted)


def _place(request: Request, table: str, key: str) -> str:
    """Where the file sets a key of a table: "path:12: "; empty where `--set` or a pipe does."""
    path = request.path
    if not path.is_file() or any(text.startswith(f"{table}.{key}") for text in request.sets):
        return ""
    inside = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        text = line.strip()
        if text.startswith("["):
            inside = text.partition("]")[0] == f"[{table}"
        elif inside and text.partition("=")[0].strip() == key:
            return f"{path}:{number}: "
    return ""


def execute(
    session: Session,
    cores: Cores,
    watcher: Watcher,
    before_kill: Callable[[], None] | None = None,
    run: RunAll = run_all,
) -> Outcome:
    """Run what is missing; an interruption ends it cleanly and keeps what is finished.

    `run` is what runs them, this machine's cores if not given. Raises `PathweaveError` when the
    results cannot be written.
    """
    return execute_all([session], cores, watcher, before_kill, run)


def execute_all(
    sessions: Sequence[Session],
    cores: Cores,
    watcher: Watcher,
    before_kill: Callable[[], None] | None = None,
    run: RunAll = run_all,
) -> Outcome:
    """Run what is missing of several sessions, as `execute` does; shared runs are run once."""
    missing: dict[Path, Task] = {}
    with ExitStack() as folders, Interrupt(before_kill) as interrupt:
        for session in sessions:
            folders.enter_context(writing(session))
            for task in session.plan.missing:
                missing.setdefault(task.folder, task)
        return run(list(missing.values()), cores, watcher, lambda: interrupt.raised)


@contextmanager
def writing(session: Session) -> Iterator[None]:
    """Make the folder of the session's settings and say in it what was asked for.

    Raises `PathweaveError` when something cannot be written there, then or within the context.
    """
    folder = session.plan.folder
    prepare_folder(folder)
    try:
        with locked(folder):
            _claim(session)
        yield
        with locked(folder):
            _claim(session)  # another machine may have written at the same time as this one
    except OSError as error:
        raise PathweaveError(_reason(error, folder)) from error


def _claim(session: Session) -> None:
    """Say in the folder of the session's settings what was asked for.

    Without locks, which some network file systems do not have, two machines can do so at a time:
    the first to make the file has the folder, and who finds that another command has been written
    in between adds its own again. Equal commands write equal files.

    Raises `PathweaveError` when another process has taken the folder since the session was opened.
    """
    folder, settings = session.plan.folder, session.plan.settings
    path = folder / layout.SCENARIO
    for _ in range(_ATTEMPTS):
        if hash_in(folder) not in (None, settings.hash):
            raise PathweaveError(
                f"{folder} has just been taken by a run with other settings; give the command "
                "again, and it uses a folder beside it"
            )
        about = _about(session)
        if not path.exists():
            create_json(path, about)
        elif json_text(about) != read_text(path, JSON_LIMIT):
            write_json(path, about)
        else:
            return


def _about(session: Session) -> dict[str, object]:
    scenario = session.plan.scenario
    resolved = {
        variant.settings_hash: json.loads(variant.resolved) for variant in scenario.variants
    }
    first = next(iter(resolved.values()), {})
    before = _said_before(session.plan.folder)
    return {
        "format": layout.FORMAT,
        "settings": session.plan.settings.to_json(),
        "name": scenario.name,
        "title": scenario.title,
        "size": scenario.size,
        "path": str(session.request.path),
        "command": session.request.command,
        # A list of pairs: the order is what it is for.
        "axes": [[axis, list(names)] for axis, names in session.axes.items()],
        "sweeps": [
            sweep.to_json() for sweep in with_earlier(session.sweeps, before.get("sweeps", []))
        ],
        "groups": list(scenario.groups),
        "asked": _asked(session, before.get("asked", {})),
        "report": first.get("report", {}),
        # By variant: runs that are there already may know their phases by other names.
        "phases": dict(before.get("phases", {}))
        | {name: value.get("measure", {}).get("phases", {}) for name, value in resolved.items()},
        "expected": [entry.to_json() for entry in session.expected],
    }


def _asked(session: Session, before: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """The seeds of each variant that this and earlier commands asked for, by label.

    Variants that the scenario no longer has are left out.
    """
    known = {
        label_of(dict(zip(session.axes, names, strict=True)), session.sweeps)
        for names in product(*session.axes.values())
    }
    asked = {label: set(seeds) for label, seeds in before.items() if label in known}
    # Each shard says it of all runs, so that any of them may be the last to write.
    for task in (*session.plan.tasks, *session.plan.elsewhere):
        asked.setdefault(task.identity.variant.label, set()).add(task.identity.seed)
    return {label: sorted(seeds) for label, seeds in asked.items()}


def _said_before(folder: Path) -> dict[str, Any]:
    """What earlier commands with these settings wrote into the folder."""
    try:
        return read_about(folder)
    except (OSError, ValueError):
        return {}


def _reason(error: OSError, folder: Path) -> str:
    if error.errno == errno.ENOSPC:
        return f"the disk that holds {folder} is full; finished runs are kept"
    return f"cannot write to {error.filename or folder}: {error.strerror or error}"
