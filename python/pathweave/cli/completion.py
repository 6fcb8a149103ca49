"""What the shell offers after Tab. An answer must be quick: what it needs is loaded when asked."""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer  # noqa: TC002 - Typer reads annotations when it runs

from pathweave.shown import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDERS_LOOKED_INTO = 500
"""Folders searched for scenarios before one counts as holding some."""
_BASH = "complete_bash"
_SPECIAL = re.compile(r"([^\w@%+:,./=-])")


def scenarios(incomplete: str) -> list[str]:
    """Scenario files, and folders that hold some, whose names go on from `incomplete`."""
    folder, _, begun = incomplete.rpartition("/")
    base = f"{folder}/" if "/" in incomplete else ""
    found = _entries(base, begun)
    # Shells put a space after the only answer. What is in a folder that stands alone says more.
    while len(found) == 1 and found[0].endswith("/"):
        found = _entries(found[0], "")
    return found


def _entries(base: str, begun: str) -> list[str]:
    try:
        paths = sorted(Path(base or ".").expanduser().iterdir())
    except OSError:
        return []
    found: list[str] = []
    for path in paths:
        if not path.name.startswith(begun) or path.name.startswith("."):
            continue
        if path.is_dir():
            found += [f"{base}{path.name}/"] if _holds_scenarios(path) else []
        elif path.suffix == ".toml":
            found.append(f"{base}{path.name}")
    return found


def _holds_scenarios(folder: Path) -> bool:
    for looked, (_, folders, files) in enumerate(os.walk(folder)):
        if looked >= _FOLDERS_LOOKED_INTO or any(name.endswith(".toml") for name in files):
            return True
        folders[:] = [name for name in folders if not name.startswith(".")]
    return False


def only(context: typer.Context, incomplete: str) -> list[str]:
    """The scenario's axes and names: "scheme=XMP-4"."""
    scenario = _read(context)
    variants = scenario.get("variants")
    found: list[str] = []
    for axis, names in variants.items() if isinstance(variants, dict) else ():
        found += [f"{axis}={name}" for name in names] if isinstance(names, dict) else []
    if "sweep" in scenario:  # its values are known when the whole of it is read
        found += _swept(context)
    return [text for text in found if text.startswith(incomplete)]


def _swept(context: typer.Context) -> list[str]:
    from pathweave.core import core
    from pathweave.errors import PathweaveError

    if _executes(_read(context)):  # Tab executes nothing
        return []
    try:
        read = core().load(_named(context), None, [], [], None)
    except (PathweaveError, ValueError):  # no core, or a mistake in the scenario
        return []
    return [f"{sweep['axis']}={name}" for sweep in read.sweeps for name in sweep["names"]]


def _executes(value: object) -> bool:
    """Whether loading a scenario with this value executes a controller in a file."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not {"python", "library"}.isdisjoint(str(key).split(".")) or _executes(item):
                return True
    return isinstance(value, list) and any(map(_executes, value))


def sizes(context: typer.Context, incomplete: str) -> list[str]:
    """The sizes that the scenario defines."""
    own = _read(context).get("sizes")
    names = ["quick", *(own if isinstance(own, dict) else ())]
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def listed(incomplete: str) -> list[str]:
    """What can be listed."""
    from pathweave.topics import Kind

    return [kind for kind in Kind if kind.startswith(incomplete)]


def topics(incomplete: str) -> list[str]:
    """Everything that can be explained."""
    from pathweave.errors import PathweaveError
    from pathweave.topics import all_topics

    try:
        names = dict.fromkeys(topic.name for topic in all_topics())
    except PathweaveError:  # there is no core to ask
        return []
    return [name for name in names if name.startswith(incomplete)]


def first_fabrics(incomplete: str) -> list[str]:
    """The fabrics that `pathweave init` writes."""
    from pathweave.starter import FABRICS

    return [name for name in FABRICS if name.startswith(incomplete)]


def first_patterns(incomplete: str) -> list[str]:
    """The traffic patterns that `pathweave init` writes."""
    from pathweave.starter import PATTERNS

    return [name for name in PATTERNS if name.startswith(incomplete)]


def other_simulators(incomplete: str) -> list[str]:
    """The simulators that `pathweave bench --against` compares with."""
    from pathweave.bench.against.simulators import SIMULATORS

    return [name for name in SIMULATORS if name.startswith(incomplete)]


def compared_cases(incomplete: str) -> list[str]:
    """The cases of such a comparison."""
    from pathweave.bench.against.cases import CASES

    return [name for name in CASES if name.startswith(incomplete)]


def _read(context: typer.Context) -> dict[str, Any]:
    """The scenario that the command line names so far, unchecked; empty if it is unreadable."""
    from pathweave.reading import read_toml

    named = _named(context)
    try:
        return read_toml(Path(named)) if named else {}
    except (OSError, ValueError):
        return {}


def _named(context: typer.Context) -> str:
    """The scenario's path; empty where there is none yet."""
    # Before an option without its value the arguments are not told apart yet.
    return str(context.params.get("scenario") or next(iter(context.args), ""))


@contextmanager
def bash_words(variable: str) -> Iterator[None]:
    """Undo what bash does to words with "=", where `variable` says that bash asks.

    Bash takes `scheme=XM` for three words and replaces the last of them alone. Typer neither puts
    them together nor leaves out of its answers what is not replaced, nor escapes blanks.
    """
    if os.environ.get(variable) != _BASH:
        yield
        return
    words, kept = _join(os.environ.get("COMP_WORDS", ""), os.environ.get("COMP_CWORD", ""))
    os.environ["COMP_WORDS"] = "\n".join(words)
    os.environ["COMP_CWORD"] = str(len(words) - 1)
    answer = io.StringIO()
    try:
        with redirect_stdout(answer):
            yield
    finally:
        for line in visible(answer.getvalue()).splitlines():
            sys.stdout.write(_SPECIAL.sub(r"\\\1", line.removeprefix(kept)) + "\n")


def _join(text: str, place: str) -> tuple[list[str], str]:
    """The words up to the one at `place`, and how much of that one stands before its last "="."""
    given = text.split("\n")[: int(place) + 1] if place.isdigit() else text.split("\n")
    if place.isdigit() and len(given) <= int(place):
        given.append("")
    words: list[str] = []
    kept = ""
    for at, word in enumerate(given):
        joins = len(words) > 1 and not words[-1].startswith("=")
        if joins and (word == "=" or given[at - 1] == "="):
            words[-1] += word
            kept = words[-1] if word == "=" else kept
        else:
            words.append(word)
            kept = ""
    return words, kept.replace("\\", "")
