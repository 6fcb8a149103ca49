"""Everything that has a name in a scenario or in results, and what it means."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from pathweave.absent import Absent, absent
from pathweave.core import core
from pathweave.errors import InputError
from pathweave.reading import CONTROLLER_LIMIT, require_regular
from pathweave.running.loaded import raise_interruption
from pathweave.scenario_keys import Key, keys_called, scenario_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

_WIDTH = 78
_WHERE = {
    "routing": '[routing] kind = "{}"',
    "fabric": '[fabric] kind = "{}"',
    "pattern": '[[traffic]] pattern = "{}"',
    "operation": '[[traffic]] operation = "{}"',
    "distribution": '[[traffic]] size = {{ kind = "cdf", name = "{}" }}',
    "preset": '[transport] preset = "{}"',
}
"""By kind, where a scenario names it."""


class Kind(enum.StrEnum):
    """What can be listed."""

    CONTROLLERS = "controllers"
    ROUTINGS = "routings"
    FABRICS = "fabrics"
    PATTERNS = "patterns"
    OPERATIONS = "operations"
    DISTRIBUTIONS = "distributions"
    PRESETS = "presets"
    QUANTITIES = "quantities"


@dataclass(frozen=True)
class Topic:
    """One thing that has a name."""

    kind: str
    """controller, routing, fabric, pattern, operation, distribution, preset, quantity, key or
    "not implemented"."""
    name: str
    about: Mapping[str, Any] = field(repr=False)
    """All that is known of it, as it goes into JSON."""
    explanation: str = field(repr=False)
    """The same for people: plain text of at most 78 columns."""


@dataclass(frozen=True, repr=False)
class Explained:
    """What is known by one name; shown as text."""

    topics: tuple[Topic, ...]

    def __str__(self) -> str:
        return "\n\n".join(
            f"{topic.name} ({topic.kind})\n{topic.explanation}" for topic in self.topics
        )

    def __repr__(self) -> str:
        return str(self)


def explain(name: str) -> Explained:
    """What controller, routing, fabric, pattern, preset, key of a scenario and so on `name` is.

    Some names stand for two of them. A controller in a file is called as scenarios call it, such as
    "mine.py:MyController", and a key by its name or with tables before it: "k", "mark.k". Of what
    other simulators have and Pathweave has not, it says what is nearest. Raises `InputError` with
    near names for one that stands for nothing.
    """
    if in_file := _in_file(name.strip()):
        return Explained((in_file,))
    topics = all_topics()
    wanted = name.strip().lower()
    found = tuple(topic for topic in topics if topic.kind != "key" and topic.name == wanted)
    found += tuple(_key(key) for key in keys_called(name.strip()) or keys_called(wanted))
    if found:
        return Explained(found)
    if missing := absent(wanted):
        return Explained((_absent(wanted, missing),))
    raise InputError(f'nothing is called "{name}"; {_instead(name, topics)}')


def _in_file(name: str) -> Topic | None:
    """The controller that `name` says where to find; None where it names no file."""
    file, _, item = name.rpartition(":") if ":" in name else (name, "", "")
    form = {".py": "python", ".so": "library"}.get(Path(file).suffix)
    if form is None:
        return None
    known = core()
    try:
        require_regular(Path(file), CONTROLLER_LIMIT)
        entry = known.controller_in_file(form, file, file, item or None)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    except known.ScenarioError as error:
        raise_interruption()
        raise InputError(str(error)) from error
    return Topic("controller", entry["name"], entry, plain_text(entry["explanation"]))


def all_topics() -> list[Topic]:
    """Everything that has a name, by kinds."""
    from pathweave.results.derived import DERIVED
    from pathweave.results.quantities import QUANTITIES

    known = core()
    topics = [
        Topic("controller", entry["name"], entry, plain_text(entry["explanation"]))
        for entry in known.controllers()
    ]
    lists = {
        "routing": known.routings(),
        "fabric": known.fabrics(),
        "pattern": known.patterns(),
        "operation": known.operations(),
        "distribution": known.distributions(),
        "preset": known.presets(),
    }
    for kind, entries in lists.items():
        for entry in entries:
            texts = [_sentence(entry["help"]), entry.get("source", "")]
            lines = [fill(text, _WIDTH) for text in texts if text]
            use = f"In a scenario: {_WHERE[kind].format(entry['name'])}"
            topics.append(Topic(kind, entry["name"], entry, "\n".join([*lines, use])))
    for name, quantity in QUANTITIES.items():
        unit = _unit(quantity.column)
        where = f'column "{quantity.column}" of the table "{quantity.table}"'
        about = {
            "name": name,
            "title": quantity.title,
            "table": quantity.table,
            "column": quantity.column,
            "unit": unit,
        }
        from_where = (
            "worked out from a run's results."
            if quantity.table in DERIVED
            else f"{where} of a run's results."
        )
        text = f"{quantity.title}{f', in {unit}' if unit else ''}: {from_where}"
        topics.append(Topic("quantity", name, about, fill(text, _WIDTH)))
    return topics + [_key(key) for key in scenario_keys()]


@cache
def _key(key: Key) -> Topic:
    """What a key of a scenario is, and where it may stand."""
    required = all(place.required for place in key.places)
    said = key.help.removesuffix(".")
    if required:
        default = "none: it has to be given"
    elif key.default:
        default = key.default
    elif "default" in said.lower():
        default = ""  # the text says it
    else:
        default = "left out"
    facts = {"Type": key.type, "Range": key.range, "Default": default}
    lines = [
        fill(f"{label}: {text}", _WIDTH, subsequent_indent="  ")
        for label, text in facts.items()
        if text
    ]
    places = [str(place) for place in key.places]
    lines += [fill(f"In a scenario: {places[0]}", _WIDTH, subsequent_indent="  ")]
    lines += [
        fill(f"or {place}", _WIDTH, initial_indent="  ", subsequent_indent="    ")
        for place in places[1:]
    ]
    about = {
        "name": key.name,
        "help": key.help,
        "type": key.type,
        "range": key.range,
        "default": default,
        "required": required,
        "places": places,
    }
    text = "\n".join([plain_text(_sentence(key.help)), *lines] if key.help else lines)
    return Topic("key", key.name, about, text)


def _absent(name: str, missing: Absent) -> Topic:
    text = f"{missing.what} Not implemented."
    about = {"name": name, "help": missing.what, "nearest": missing.nearest}
    lines = [fill(text, _WIDTH), fill(f"Nearest: {missing.nearest}", _WIDTH)]
    return Topic("not implemented", name, about, "\n".join(lines))


def plain_text(documentation: str) -> str:
    """Write the source's documentation for a terminal: 78 columns, no links, no code marks."""
    lines: list[str] = []
    for line in documentation.strip().splitlines():
        begins = not line or line.startswith(("- ", "> "))
        if begins or not lines or not lines[-1] or lines[-1].startswith("> "):
            lines.append(line)
        else:
            lines[-1] += " " + line.strip()
    text: list[str] = []
    for line in lines:
        plain = re.sub(r"\[`([^`]*)`\](?:\([^)]*\))?", r"\1", line).replace("`", "")
        if plain.startswith("> "):
            quoted = fill(plain[2:], _WIDTH, initial_indent="    ", subsequent_indent="      ")
            text.append(quoted)
        else:
            indent = "  " if plain.startswith("- ") else ""
            text.append(fill(plain, _WIDTH, subsequent_indent=indent))
    return "\n".join(text)


def _instead(name: str, topics: list[Topic]) -> str:
    from difflib import get_close_matches

    kinds: dict[str, list[str]] = {}
    for topic in topics:
        own = kinds.setdefault(topic.name, [])
        if topic.kind not in own:
            own.append(topic.kind)
    near = get_close_matches(name.strip().lower(), kinds, n=3)
    if not near:
        return f"`pathweave list` has {', '.join(Kind)}"
    meant = [f'"{other}" ({" and ".join(kinds[other])})' for other in near]
    return f"did you mean {' or '.join(meant)}?"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def _unit(column: str) -> str:
    """The unit in which results keep a column."""
    for ending, unit in (("_bps", "bit/s"), ("_s", "seconds"), ("_bytes", "bytes")):
        if column.endswith(ending):
            return unit
    return {"queue_mean": "packets"}.get(column, "")
