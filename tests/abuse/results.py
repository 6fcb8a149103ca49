"""Folders of results that somebody has damaged, under each verb that reads them."""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from abuse.attempt import Attempt
from abuse.scenarios import SOUND
from conftest import environment

_SETTINGS = "results/test/quick"
_RUN = f"{_SETTINGS}/a-s1"
_MANIFEST = f"{_RUN}/manifest.json"
_TABLE = f"{_RUN}/flows.parquet"
_TIMING = f"{_RUN}/timing.json"
_SCENARIO = f"{_SETTINGS}/scenario.json"
_LOAD = """
import sys, pathweave
try:
    pathweave.load("results").flows
except (pathweave.PathweaveError, OSError) as error:
    print(error)
    sys.exit(2)
"""
VERBS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "verify": (("-m", "pathweave"), ("verify", "results")),
    "merge": (("-m", "pathweave"), ("merge", "results", "--into", "all")),
    "report": (("-m", "pathweave"), ("report", "results")),
    "compare": (("-m", "pathweave"), ("compare", "results", "sound")),
    "export": (("-m", "pathweave"), ("export", "results", "--out", "out.csv")),
    "load": (("-c", _LOAD), ()),
}
"""The program and the command line of each."""
_HARMLESS = (
    "no manifest",
    "code",
    "timing: other seconds",
    "scenario: escapes in the title",
    "a link back",
)
"""What `verify` calls no difference: nothing in it is computed from the scenario, a run without a
manifest is one that has not been finished, and one with code is said not to have been run again."""

Damage = Callable[[Path, random.Random], None]


@cache
def made() -> Path:
    """Sound results, made once."""
    folder = Path(tempfile.mkdtemp(prefix="abuse-results-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "test.toml").write_text(SOUND)
    subprocess.run(
        [sys.executable, "-m", "pathweave", "run", "test.toml", "--jobs", "1"],
        cwd=folder,
        env=environment(),
        check=True,
        capture_output=True,
    )
    return folder


def attempts(seed: int) -> Iterator[Attempt]:
    """The attempts of this seed, always the same."""
    for name, damage in DAMAGES.items():
        for verb, (program, arguments) in VERBS.items():
            chance = random.Random(f"results {seed} {name}")
            believed = verb == "verify" and name not in _HARMLESS
            yield Attempt(
                "results folders",
                f"{name}, {verb}",
                arguments,
                partial(_prepare, damage, chance),
                _not_noticed if believed else _nothing,
                program=program,
            )


def _nothing(_folder: Path) -> None:
    return None


def _not_noticed(_folder: Path) -> str:
    return "verify says nothing of it"


def _prepare(damage: Damage, chance: random.Random, folder: Path) -> None:
    shutil.copytree(made() / "results", folder / "results")
    shutil.copytree(made() / "results", folder / "sound")
    damage(folder, chance)


def _content(path: str, content: bytes) -> Damage:
    return lambda folder, _chance: _put(folder / path, content)


def _put(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def _pipe(path: str) -> Damage:
    def damage(folder: Path, _chance: random.Random) -> None:
        (folder / path).unlink()
        os.mkfifo(folder / path)

    return damage


def _link(path: str, target: str) -> Damage:
    def damage(folder: Path, _chance: random.Random) -> None:
        (folder / path).unlink(missing_ok=True)
        (folder / path).symlink_to(target)

    return damage


def _folder(path: str) -> Damage:
    def damage(folder: Path, _chance: random.Random) -> None:
        (folder / path).unlink()
        (folder / path).mkdir()

    return damage


def _gone(path: str) -> Damage:
    return lambda folder, _chance: (folder / path).unlink()


def _bits(path: str) -> Damage:
    def damage(folder: Path, chance: random.Random) -> None:
        content = bytearray((folder / path).read_bytes())
        for _ in range(8):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        _put(folder / path, bytes(content))

    return damage


def _half(path: str) -> Damage:
    def damage(folder: Path, _chance: random.Random) -> None:
        content = (folder / path).read_bytes()
        _put(folder / path, content[: len(content) // 2])

    return damage


def _hole(path: str) -> Damage:
    def damage(folder: Path, _chance: random.Random) -> None:
        with (folder / path).open("r+b") as file:
            file.truncate(1 << 40)

    return damage


def _changed(path: str, change: Callable[[dict[str, Any]], None]) -> Damage:
    def damage(folder: Path, _chance: random.Random) -> None:
        value = json.loads((folder / path).read_text())
        change(value)
        _put(folder / path, json.dumps(value).encode())

    return damage


def _texts(value: dict[str, Any]) -> None:
    value["counters"] = {name: str(number) for name, number in value["counters"].items()}


def _tripled(value: dict[str, Any]) -> None:
    value["counters"] = {
        name: number * 3 if isinstance(number, int) else number
        for name, number in value["counters"].items()
    }


def _outside(value: dict[str, Any]) -> None:
    value["tables"]["../../../../../etc/passwd"] = value["tables"]["flows"]


def _rows(value: dict[str, Any]) -> None:
    value["tables"]["flows"]["rows"] += 1


def _code(value: dict[str, Any]) -> None:
    value["resolved"]["traffic"][0]["controller"] = {
        "python": "/nowhere/mine.py:Mine",
        "sha256": "0" * 64,
    }


def _another_hash(value: dict[str, Any]) -> None:
    value["results_hash"] = "0" * len(value["results_hash"])


def _seconds(value: dict[str, Any]) -> None:
    for name, number in value.items():
        if isinstance(number, float):
            value[name] = number + 1.0


DAMAGES: dict[str, Damage] = {
    "no manifest": _gone(_MANIFEST),
    "an empty manifest": _content(_MANIFEST, b""),
    "half a manifest": _half(_MANIFEST),
    "bits of the manifest": _bits(_MANIFEST),
    "a list as manifest": _content(_MANIFEST, b"[]"),
    "null as manifest": _content(_MANIFEST, b"null"),
    "a deep manifest": _content(_MANIFEST, b'{"a":' * 100_000),
    "a long number": _content(_MANIFEST, b'{"seed": ' + b"9" * 10_000 + b"}"),
    "an infinite number": _content(_MANIFEST, b'{"seed": 1e999}'),
    "not a number": _content(_MANIFEST, b'{"seed": NaN}'),
    "half a character": _content(_MANIFEST, b'{"label": "\\ud800"}'),
    "a manifest that is no text": _content(_MANIFEST, b"\xff\xfe\x00"),
    "a pipe as manifest": _pipe(_MANIFEST),
    "a device as manifest": _link(_MANIFEST, "/dev/zero"),
    "a folder as manifest": _folder(_MANIFEST),
    "a manifest of 1 TiB": _hole(_MANIFEST),
    "counters as texts": _changed(_MANIFEST, _texts),
    "tripled counters": _changed(_MANIFEST, _tripled),
    "no counters": _changed(_MANIFEST, lambda value: value.pop("counters")),
    "a table outside": _changed(_MANIFEST, _outside),
    "other numbers of rows": _changed(_MANIFEST, _rows),
    "another verdict": _changed(_MANIFEST, lambda value: value.update(verdict="stalled")),
    "another hash": _changed(_MANIFEST, _another_hash),
    "notes with escapes": _changed(_MANIFEST, lambda value: value.update(notes=["\x1b[2J\u202e"])),
    "a negative seed": _changed(_MANIFEST, lambda value: value.update(seed=-1)),
    "nothing resolved": _changed(_MANIFEST, lambda value: value.update(resolved={})),
    "code": _changed(_MANIFEST, _code),
    "no variant": _changed(_MANIFEST, lambda value: value.pop("variant")),
    "half a table": _half(_TABLE),
    "an empty table": _content(_TABLE, b""),
    "bits of a table": _bits(_TABLE),
    "a pipe as table": _pipe(_TABLE),
    "a device as table": _link(_TABLE, "/dev/zero"),
    "no table": _gone(_TABLE),
    "a table that is another": lambda folder, _chance: _put(
        folder / _TABLE, (folder / _RUN / "waits.parquet").read_bytes()
    ),
    "bits of the scenario": _half(_SCENARIO),
    "axes of another shape": _changed(_SCENARIO, lambda value: value.update(axes={"a": 1})),
    "scenario: escapes in the title": _changed(
        _SCENARIO, lambda value: value.update(title="\x1b[2J\u202e", name="<script>")
    ),
    "timing: a list": _content(_TIMING, b"[]"),
    "timing: other seconds": _changed(_TIMING, _seconds),
    "a link back": _link(f"{_SETTINGS}/back", ".."),
}
