"""What is surveyed: `survey.toml` and the scenarios beside it, composed with all schemes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError
from pathweave.reading import read_text, read_toml
from pathweave.results.wholefile import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FILE = "survey.toml"
AXIS = "scheme"
_MARKS = {
    "step": None,
    "none": {"kind": "none"},
    "proportional": {"kind": "proportional", "high": 0.8},
}
"""What ports mark under a scheme; None leaves it to the workload."""
_SURVEY_KEYS = {"baseline", "same_burst", "schemes", "workload"}
_SCHEME_KEYS = {"controller", "subflows", "marks", "routing"}
_BURST_KEYS = {"like", "burst_of"}
_WORKLOAD_KEYS = {"name", "title", "groups", "of", "jobs", "controllers", "optimum"}


@dataclass(frozen=True)
class Scheme:
    """A controller with its subflows, and what switches do for it."""

    name: str
    controller: Any
    """As a scenario writes it: a name, or a table."""
    subflows: int
    marks: str
    routing: Mapping[str, Any] | None
    burst_of: str = ""
    """The scheme whose subflows open with as many packets together as this one; empty for none."""
    like: str = ""
    """The scheme that it is in all else, if it has `burst_of`."""


@dataclass(frozen=True)
class Workload:
    """A scenario without variants, and which of its traffic is under the schemes."""

    name: str
    title: str
    scenario: Path
    groups: tuple[str, ...]
    of: str
    """The group whose goodput, RTT, fairness and timeouts are compared."""
    jobs: str
    """The group whose jobs or collective operations are compared; empty for none."""
    controllers: Mapping[str, Any]
    """Controllers whose parameters depend on the fabric, by scheme."""
    has_optimum: bool
    """Whether the optimum is solved beside its runs."""
    timers: str
    """In words, what a timeout takes on its hosts."""


@dataclass(frozen=True)
class Survey:
    """All of it."""

    baseline: str
    same_burst: str
    """The baseline of schemes with several subflows that opens with as many packets as they do;
    empty for none."""
    schemes: tuple[Scheme, ...]
    workloads: tuple[Workload, ...]


def read_survey(folder: Path) -> Survey:
    """Read `survey.toml` in a folder. Raises `InputError` for a mistake in it."""
    path = folder / FILE
    try:
        content = read_toml(path)
    except FileNotFoundError:
        raise InputError(
            f"there is no {path}; the survey is in Pathweave's source tree: run the command there"
        ) from None
    try:
        _known("", content, _SURVEY_KEYS)
        schemes = tuple(_scheme(name, each) for name, each in content["schemes"].items())
        workloads = tuple(_workload(folder, each) for each in content["workload"])
        same_burst = str(content.get("same_burst", ""))
        survey = Survey(str(content["baseline"]), same_burst, schemes, workloads)
    except KeyError as error:
        raise InputError(f"{path}: {error} is missing") from error
    except (AttributeError, TypeError) as error:
        raise InputError(f"{path}: a table or a list is not one: {error}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    wrong = _unknown_scheme(survey)
    if wrong:
        raise InputError(f"{path}: {wrong}")
    return survey


def _unknown_scheme(survey: Survey) -> str:
    """What is wrong where a name is of no scheme; empty where every name is."""
    names = {scheme.name for scheme in survey.schemes}
    for baseline in (survey.baseline, survey.same_burst):
        if baseline and baseline not in names:
            return f'there is no scheme "{baseline}" for a baseline'
    for scheme in survey.schemes:
        for name in (scheme.like, scheme.burst_of):
            if name and name not in names:
                return f'scheme "{scheme.name}": there is no scheme "{name}"'
    for workload in survey.workloads:
        for name in workload.controllers:
            if name not in names:
                return f'workload "{workload.name}": no scheme "{name}"'
    return ""


def compose(survey: Survey, workload: Workload, out: Path) -> Path:
    """Write the workload's scenario with a variant for each scheme to `out`; its path.

    It is a scenario like any other: `pathweave run` takes it.
    """
    text = read_text(workload.scenario).rstrip()
    lines = [text, "", "[report]", f"baseline = {_toml(survey.baseline)}"]
    lines.append(f'quantity = "goodput of {workload.of}"')
    for scheme in survey.schemes:
        lines += ["", f"[variants.{AXIS}.{_toml(scheme.name)}]"]
        if scheme.burst_of:
            lines += [f"like = {_toml(scheme.like)}", f"burst_of = {_toml(scheme.burst_of)}"]
            continue
        controller = workload.controllers.get(scheme.name, scheme.controller)
        for group in workload.groups:
            lines.append(f"{_toml(f'traffic.{group}.controller')} = {_toml(controller)}")
            lines.append(f"{_toml(f'traffic.{group}.subflows')} = {scheme.subflows}")
        mark = _MARKS[scheme.marks]
        if mark is not None:
            lines.append(f'"fabric.queue.mark" = {_toml(mark)}')
        if scheme.routing is not None:
            lines.append(f"routing = {_toml(scheme.routing)}")
    path = out / f"{workload.name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, ("\n".join(lines) + "\n").encode())
    return path


def _scheme(name: str, entry: Any) -> Scheme:
    where = f'scheme "{name}"'
    if not isinstance(entry, dict):
        raise InputError(f"{where} must be a table with a controller, not {entry!r}")
    if "burst_of" in entry:
        _known(where, entry, _BURST_KEYS)
        return Scheme(name, None, 1, "step", None, str(entry["burst_of"]), str(entry["like"]))
    _known(where, entry, _SCHEME_KEYS)
    marks = str(entry.get("marks", "step"))
    if marks not in _MARKS:
        raise InputError(f"{where}: marks must be one of {', '.join(_MARKS)}, not {marks!r}")
    subflows = entry.get("subflows", 1)
    if type(subflows) is not int or subflows < 1:
        raise InputError(f"{where}: subflows must be a whole number from 1 on, not {subflows!r}")
    return Scheme(name, entry["controller"], subflows, marks, entry.get("routing"))


def _workload(folder: Path, entry: Mapping[str, Any]) -> Workload:
    name = str(entry["name"])
    _known(f'workload "{name}"', entry, _WORKLOAD_KEYS)
    scenario = folder / f"{name}.toml"
    if not scenario.is_file():
        raise InputError(f'workload "{name}": there is no {scenario.name}')
    loaded = core().load(str(scenario), None, [], [], None)
    there = loaded.groups
    groups, of, jobs = entry["groups"], str(entry["of"]), str(entry.get("jobs", ""))
    if not isinstance(groups, list):
        raise InputError(f'workload "{name}": groups must be a list of names, not {groups!r}')
    for group in (*groups, of, *([jobs] if jobs else [])):
        if group not in there:
            known = f"{scenario.name} has {_list(there)}"
            raise InputError(f'workload "{name}": no traffic group is called "{group}"; {known}')
    return Workload(
        name=name,
        title=str(entry["title"]),
        scenario=scenario,
        groups=tuple(groups),
        of=of,
        jobs=jobs,
        has_optimum=_flag(entry, "optimum"),
        controllers=entry.get("controllers", {}),
        timers=_timers(json.loads(loaded.variants[0].resolved)["traffic"], of),
    )


def _flag(entry: Mapping[str, Any], key: str) -> bool:
    value = entry.get(key, True)
    if not isinstance(value, bool):
        raise InputError(f"{key} must be true or false, not {value!r}")
    return value


def _timers(groups: Sequence[Mapping[str, Any]], of: str) -> str:
    """What a timeout takes in a traffic group."""
    transport = next(group["transport"] for group in groups if group["name"] == of)
    least, first = transport["minimum_rto"], transport["initial_rto"]
    return f"A timeout takes {least} or more, that of a first packet {first}."


def _known(where: str, entry: Mapping[str, Any], keys: set[str]) -> None:
    unknown = sorted(set(entry) - keys)
    if unknown:
        said = f'unknown key "{unknown[0]}"; known are {_list(sorted(keys))}'
        raise InputError(f"{where}: {said}" if where else said)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _toml(value: Any) -> str:
    """A value as TOML writes it: strings, numbers, booleans, lists and inline tables."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # A JSON string is a TOML string, and so are numbers and booleans.
    return json.dumps(value, ensure_ascii=False)
