"""Everything that has a name in a scenario or in results, and what it means."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from pathweave.core import core
from pathweave.errors import InputError

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
    """controller, routing, fabric, pattern, operation, distribution, preset or quantity."""
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
    """What controller, routing, fabric, pattern, operation, preset and so on `name` is.

    Some names stand for two of them. A controller in a file is called as scenarios call it, such as
    "mine.py:MyController". Raises `InputError` with near names for one that stands for nothing.
    """
    if in_file := _in_file(name.strip()):
        return Explained((in_file,))
    topics = all_topics()
    found = tuple(topic for topic in topics if topic.name == name.strip().lower())
    if found:
        return Explained(found)
    raise InputError(f'nothing is called "{name}"; {_instead(name, topics)}')


def _in_file(name: str) -> Topic | None:
    """The controller that `name` says where to find; None where it names no file."""
    file, _, item = name.rpartition(":") if ":" in name else (name, "", "")
    form = {".py": "python", ".so": "library"}.get(Path(file).suffix)
    if form is None:
        return None
    known = core()
    try:
        entry = known.controller_in_file(form, file, file, item or None)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from error
    except known.ScenarioError as error:
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
    return topics


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
        kinds.setdefault(topic.name, []).append(topic.kind)
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
