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
_SURVEY_KEYS = {"baseline", "schemes", "workload"}
_SCHEME_KEYS = {"controller", "subflows", "marks", "routing"}
_WORKLOAD_KEYS = {"name", "title", "groups", "of", "short", "controllers"}


@dataclass(frozen=True)
class Scheme:
    """A controller with its subflows, and what switches do for it."""

    name: str
    controller: Any
    """As a scenario writes it: a name, or a table."""
    subflows: int
    marks: str
    routing: Mapping[str, Any] | None


@dataclass(frozen=True)
class Workload:
    """A scenario without variants, and which of its traffic is under the schemes."""

    name: str
    title: str
    scenario: Path
    groups: tuple[str, ...]
    of: str
    """The group whose goodput, RTT, fairness and timeouts are compared."""
    short: str
    """The group of short flows or jobs whose completion times are compared; empty for none."""
    controllers: Mapping[str, Any]
    """Controllers whose parameters depend on the fabric, by scheme."""


@dataclass(frozen=True)
class Survey:
    """All of it."""

    baseline: str
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
        survey = Survey(str(content["baseline"]), schemes, workloads)
    except KeyError as error:
        raise InputError(f"{path}: {error} is missing") from error
    except (AttributeError, TypeError) as error:
        raise InputError(f"{path}: a table or a list is not one: {error}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    names = {scheme.name for scheme in schemes}
    if survey.baseline not in names:
        raise InputError(f'{path}: there is no scheme "{survey.baseline}" for a baseline')
    for workload in workloads:
        for name in workload.controllers:
            if name not in names:
                raise InputError(f'{path}: workload "{workload.name}": no scheme "{name}"')
    return survey


def compose(survey: Survey, workload: Workload, out: Path) -> Path:
    """Write the workload's scenario with a variant for each scheme to `out`; its path.

    It is a scenario like any other: `pathweave run` takes it.
    """
    text = read_text(workload.scenario).rstrip()
    lines = [text, "", "[report]", f"baseline = {_toml(survey.baseline)}"]
    lines.append(f'quantity = "goodput of {workload.of}"')
    for scheme in survey.schemes:
        lines += ["", f"[variants.{AXIS}.{_toml(scheme.name)}]"]
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
    there = core().load(str(scenario), None, [], [], None).groups
    groups, of, short = entry["groups"], str(entry["of"]), str(entry.get("short", ""))
    if not isinstance(groups, list):
        raise InputError(f'workload "{name}": groups must be a list of names, not {groups!r}')
    for group in (*groups, of, *([short] if short else [])):
        if group not in there:
            known = f"{scenario.name} has {_list(there)}"
            raise InputError(f'workload "{name}": no traffic group is called "{group}"; {known}')
    return Workload(
        name=name,
        title=str(entry["title"]),
        scenario=scenario,
        groups=tuple(groups),
        of=of,
        short=short,
        controllers=entry.get("controllers", {}),
    )


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
