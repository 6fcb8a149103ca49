"""Scenarios with mistakes, from slips of the finger to texts that are made to break readers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from abuse.attempt import Attempt, finished_runs

COUNT = 200
SOUND = """title = "Abuse"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_rate = "1 Gbps"
uplink_rate = "1 Gbps"
host_delay = "10 us"
uplink_delay = "10 us"
queue = { limit = 50, mark = { kind = "step", k = 10 } }

[routing]
kind = "ecmp"

[[traffic]]
name = "web"
pattern = "permutation"
size = "200 KB"
subflows = 2
controller = { name = "xmp", beta = 4 }

[[traffic]]
name = "listed"
pattern = "flows"
size = "10 KB"
controller = "dctcp"
flows = [{ from = "h0", to = "h2" }, { from = "h1", to = "h3", start = "1 ms" }]

[[events]]
at = "2 ms"
link = "leaf0-spine0"
down = true

[stop]
at = "5 ms"

[variants.scheme.a]

[variants.scheme.b]
"traffic.web.controller" = "lia"
"""
_PIECES = (
    '"', "'", "[", "]", "{", "}", "=", ".", ",", "#", "\\", "\0", "\t", "\x1b[2J", "\u202e", "é",
    "𝄞", "-", "-1", "0", "1e400", "nan", "inf", "9" * 30, "true", '"""', "\r", "\n\n", "null", "::",
    "%s", "../", "/dev/zero", "$(id)", " Gbps", " us", "1 ms", "[[traffic]]\n", "[stop]\n",
)  # fmt: skip
_VALUES = (
    "-1", "0", "1e308", "-1e308", "nan", "inf", "9223372036854775807", "-9223372036854775808",
    "true", '""', '"x"', "[]", "{}", "[[[[]]]]", '"1 Gbps"', '"1 us"', '"0 us"', '"-1 us"',
    '"1e300 Gbps"',
    "1979-05-27", '"all"', '"unlimited"', '"../../etc/passwd"', '"/dev/zero"', '"\\u0000"',
    '"\\u202etxt"', "0.5", "1000000", '"999999999 TB"', '{ python = "mine.py" }',
)  # fmt: skip


def attempts(seed: int) -> Iterator[Attempt]:
    """The attempts of this seed, always the same."""
    for number in range(COUNT):
        chance = random.Random(f"scenarios {seed} {number}")
        text = SOUND
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            text = chance.choice(_CHANGES)(text, chance)
        # Every other one is run; whatever is sound takes a moment.
        verb = ("run", "test.toml", "--jobs", "1") if number % 2 else ("check", "test.toml")
        yield Attempt(
            "scenarios",
            f"{number}",
            verb,
            partial(_write, text),
            partial(finished_runs, count=1) if number % 2 else _nothing,
            may_go_on=True,
        )


def _nothing(_folder: Path) -> None:
    return None


def _write(text: str, folder: Path) -> None:
    (folder / "test.toml").write_bytes(text.encode(errors="surrogatepass"))


def _insert(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(_PIECES) + text[at:]


def _remove(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    return text[:at] + text[at + chance.randint(1, 30) :]


def _value(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    at = chance.choice([n for n, line in enumerate(lines) if " = " in line] or [0])
    lines[at] = f"{lines[at].partition(' = ')[0]} = {chance.choice(_VALUES)}"
    return "\n".join(lines)


def _key(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    at = chance.randrange(len(lines))
    key, sign, value = lines[at].partition(" = ")
    lines[at] = f"{chance.choice((key[:-1], key + 's', key * 40, key.upper()))}{sign}{value}"
    return "\n".join(lines)


def _repeat(text: str, chance: random.Random) -> str:
    lines = text.splitlines()
    at = chance.randrange(len(lines))
    return "\n".join([*lines[:at], *[lines[at]] * chance.choice((2, 10_000)), *lines[at:]])


def _shuffle(text: str, chance: random.Random) -> str:
    blocks = text.split("\n\n")
    chance.shuffle(blocks)
    return "\n\n".join(blocks)


def _deep(text: str, chance: random.Random) -> str:
    depth = chance.choice((100, 100_000))
    opening, closing = chance.choice((("[", "]"), ("{a=", "}")))
    return f"x = {opening * depth}1{closing * depth}\n{text}"


def _long(text: str, chance: random.Random) -> str:
    return text.replace("leaf-spine" if chance.random() < 0.5 else "Abuse", "x" * 1_000_000)


def _many(text: str, chance: random.Random) -> str:
    line = chance.choice(
        (
            "unknown{} = 1\n",
            '[variants.scheme.v{}]\n"traffic.web.subflows" = 1\n',
            '[[events]]\nat = "1 ms"\nlink = "nowhere{}"\ndown = true\n',
            '[[traffic]]\nname = "g{}"\npattern = "none"\n',
        )
    )
    return text + "".join(line.format(number) for number in range(chance.choice((100, 20_000))))


def _file(text: str, chance: random.Random) -> str:
    name = chance.choice(("/dev/zero", "/dev/tty", "/proc/self/mem", ".", "nothing", "/etc/shadow"))
    return text.replace('"200 KB"', f'{{ kind = "cdf", file = "{name}" }}')


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


_CHANGES = (
    _insert, _insert, _remove, _value, _value, _value, _key, _repeat, _shuffle, _deep, _long, _many,
    _file, _cut,
)  # fmt: skip
