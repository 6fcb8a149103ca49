"""Scenarios that are not in a file: text from a pipe, TOML or a dictionary in a notebook."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError, ScenarioError
from pathweave.results.sweeps import sweeps_of
from pathweave.running.loaded import raise_interruption
from pathweave.running.plan import make_plan
from pathweave.running.session import Request, Session

if TYPE_CHECKING:
    from collections.abc import Mapping

STDIN = Path("-")
"""The path that stands for standard input."""

_LONGEST_NAME = 100
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def open_text(request: Request, text: str, name: str) -> Session:
    """Read a scenario from `text` and see what is missing; results are under `name`.

    Files that it names are looked for in the working folder. The request's path is not read.

    Raises `ScenarioError` for a mistake in it and `InputError` for a name that no folder can have.
    """
    _check_name(name)
    known = core()
    sets, only = list(request.sets), list(request.only)
    try:
        sweeps = list(request.sweeps)
        size, seeds = request.size, request.seeds
        scenario = known.load_text(text, name, ".", size, sets, only, seeds, sweeps)
        # Colours go by all of its variants.
        whole = scenario
        if only:
            whole = known.load_text(text, name, ".", size, sets, [], None, sweeps)
    except known.ScenarioError as error:
        raise_interruption()
        refused = ScenarioError(str(error))
        refused.mistakes = getattr(error, "mistakes", ())
        raise refused from None
    plan = make_plan(
        scenario,
        request.root,
        version=known.version(),
        results_version=known.results_version(),
        sets=request.sets,
        fresh=request.fresh,
        utility=request.utility,
        routing=request.routing,
        limit=request.problems,
        shard=request.shard,
    )
    axes = {axis: tuple(names) for axis, names in whole.axes.items()}
    return Session(request, plan, axes, sweeps=sweeps_of(whole))


def _check_name(name: str) -> None:
    fits = 0 < len(name) <= _LONGEST_NAME and name == name.strip() and name.isprintable()
    if not fits or "/" in name or name.startswith("."):
        raise InputError(
            f'{name!r} cannot name results; give 1 to {_LONGEST_NAME} characters without "/", not'
            ' beginning with "."'
        )


def to_toml(scenario: Mapping[str, Any]) -> str:
    """A scenario as the text of its file, in the order of the dictionary.

    Raises `InputError` for what no scenario file can hold, such as None.
    """
    plain: list[str] = []
    tables: list[str] = []
    for key, value in scenario.items():
        if _is_table(value):
            tables += ["", f"[{_key(key)}]", *_lines(value, key)]
        elif isinstance(value, list | tuple) and value and all(map(_is_table, value)):
            for place, entry in enumerate(value):
                tables += ["", f"[[{_key(key)}]]", *_lines(entry, f"{key}[{place}]")]
        else:
            plain.append(f"{_key(key)} = {toml_value(value, key)}")
    return "\n".join([*plain, *tables]).strip() + "\n"


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _lines(table: Mapping[str, Any], where: str) -> list[str]:
    return [f"{_key(key)} = {toml_value(value, f'{where}.{key}')}" for key, value in table.items()]


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise InputError(f"{key!r} is not a key of a scenario: keys are texts")
    return key if _BARE.fullmatch(key) else toml_text(key)


def toml_text(text: str) -> str:
    """A text as TOML writes it, in quotes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_value(value: object, where: str) -> str:
    """A value as TOML writes it; `where` is what messages call it.

    Raises `InputError` for what no scenario file can hold.
    """
    if isinstance(value, range):
        value = list(value)
    elif (plain := getattr(value, "tolist", None)) is not None:
        value = plain()  # a number or an array of NumPy
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case str():
            return toml_text(value)
        case dict():
            entries = ", ".join(_lines(value, where))
            return f"{{ {entries} }}" if entries else "{}"
        case list() | tuple():
            items = (toml_value(item, f"{where}[{at}]") for at, item in enumerate(value))
            return f"[{', '.join(items)}]"
        case _:
            raise InputError(
                f"{where} is {value!r}; a scenario holds texts, numbers, truth values, lists and"
                " dictionaries of them"
            )
