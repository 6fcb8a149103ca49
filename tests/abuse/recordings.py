"""Traces, schedules and size distributions that are not what they should be."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from abuse.attempt import Attempt, finished_runs
from abuse.scenarios import SOUND

COUNT = 70
_TRACE = "start,source,destination,bytes\n0,0,1,1000\n0.001,1,2,2000\n0.002,2,3,3000\n"
_GOAL = (
    "num_ranks 2\nrank 0 {\na: send 100b to 1\nb: calc 5\nb requires a\n}\n"
    "rank 1 {\nrecv 100b from 0\n}\n"
)
_CDF = "100,0\n1000,0.5\n10000,0.9\n100000,1\n"
_FORMS = {
    "trace": ('pattern = "trace"\nfile = "FILE"', "flows.csv", _TRACE),
    "goal": ('pattern = "goal"\nfile = "FILE"', "jobs.goal", _GOAL),
    "cdf": ('pattern = "permutation"\nsize = { kind = "cdf", file = "FILE" }', "sizes.csv", _CDF),
}
_BYTES = (
    b"\0", b"\xff", b",", b"\n", b"-", b"nan", b"inf", b"1e400", b"9" * 400, b"\x1b[2J", b"#",
    b"//", b"/*", b"*/", b"{", b"}", b"\xef\xbb\xbf", b";", b'"', b"0x", b" ", b"\r",
)  # fmt: skip


def attempts(seed: int) -> Iterator[Attempt]:
    """The attempts of this seed, always the same."""
    for number in range(COUNT):
        chance = random.Random(f"recordings {seed} {number}")
        form = list(_FORMS)[number % len(_FORMS)]
        keys, name, sound = _FORMS[form]
        kind = _KINDS[number // len(_FORMS) % len(_KINDS)]
        yield Attempt(
            "traces and CDFs",
            f"{form}: {kind} {number}",
            ("run", "test.toml", "--jobs", "1"),
            partial(_write, keys, name, sound, kind, chance),
            partial(finished_runs, count=1),
        )


_KINDS = (
    "bytes", "bytes", "bytes", "bytes", "bytes", "bytes", "bytes", "pipe", "device", "folder",
    "empty", "hole", "long line", "many lines", "many comments", "loop", "missing", "binary",
    "parquet", "huge numbers", "backwards", "words", "link to itself", "memory",
)  # fmt: skip


def _write(
    keys: str, name: str, sound: str, kind: str, chance: random.Random, folder: Path
) -> None:
    head = SOUND.partition("[[traffic]]")[0]
    named = {"parquet": f"{name}.parquet", "memory": "/proc/self/mem"}.get(kind, name)
    traffic = f'[[traffic]]\nname = "web"\ncontroller = "dctcp"\n{keys.replace("FILE", named)}\n'
    (folder / "test.toml").write_text(f'{head}{traffic}[stop]\nat = "5 ms"\n')
    path = folder / Path(named).name
    if kind in _CONTENTS:
        path.write_bytes(_CONTENTS[kind](sound, chance).encode(errors="surrogateescape"))
    elif kind in _OTHERS:
        _OTHERS[kind](path)


def _bytes(sound: str, chance: random.Random) -> str:
    content = sound.encode()
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content))
        behind = content[at + chance.randint(0, 9) :]
        content = content[:at] + chance.choice(_BYTES) + behind
    return content.decode(errors="surrogateescape")


def _binary(_sound: str, chance: random.Random) -> str:
    return (b"PAR1" + chance.randbytes(5000) + b"PAR1").decode(errors="surrogateescape")


def _many_lines(sound: str, _chance: random.Random) -> str:
    *first, last = sound.splitlines(keepends=True)
    return "".join(first) + last * 100_000


def _backwards(sound: str, _chance: random.Random) -> str:
    first, *rest = sound.splitlines(keepends=True)
    return "".join([first, *reversed(rest)])


def _waits_for_itself(sound: str, _chance: random.Random) -> str:
    return sound.replace("b requires a", "b requires a\na requires b")


def _hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


_CONTENTS: dict[str, Callable[[str, random.Random], str]] = {
    "bytes": _bytes,
    "empty": lambda _sound, _chance: "",
    "long line": lambda sound, _chance: sound + "1" * 10_000_000,
    "many lines": _many_lines,
    "many comments": lambda sound, _chance: "/* */ " * 100_000 + sound,
    "loop": _waits_for_itself,
    "binary": _binary,
    "parquet": _binary,
    "huge numbers": lambda sound, _chance: sound.replace("1", "9" * 25),
    "backwards": _backwards,
    "words": lambda sound, _chance: sound.replace("0", "zero"),
}
_OTHERS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": lambda path: path.mkdir(),
    "hole": _hole,
    "link to itself": lambda path: path.symlink_to(path.name),
}
