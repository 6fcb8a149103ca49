"""What a paper says and what answers each statement: `ledger.toml` beside `expected.toml`.

    [[entry]]
    at = "section 2.2, equation 1"  # where the paper says it
    kind = "equation"               # or mechanism, theorem, encoding, parameter, claim, experiment
    says = "A marked window shrinks by a factor of 1/beta, once a round."
    claims = ["fig1/utilisation"]   # claims of expected.toml; "fig1" for the whole row
    tests = ["crates/control/tests/bos.rs::cuts_once_a_round"]
    files = ["docs/cuts.md"]        # where neither a claim nor a test answers it

An entry that nothing answers has `not_modelled` instead, with the reason, or `not_yet`, with what
would answer it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeGuard

from pathweave.errors import InputError
from pathweave.reading import read_text, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pathweave.reproducing.paper import Paper

FILE = "ledger.toml"
KINDS = ("mechanism", "equation", "theorem", "encoding", "parameter", "claim", "experiment")
_ANSWERS = ("claims", "tests", "files")
_REASONS = ("not_yet", "not_modelled")
_TEST = re.compile(r"(?P<file>[^:]+)::(?P<name>\w+)")


class Answer(StrEnum):
    """What answers an entry; the first of several counts."""

    CLAIM = "claim"
    TEST = "test"
    FILE = "file"
    NOT_YET = "not yet"
    NOT_MODELLED = "not modelled"


@dataclass(frozen=True)
class Entry:
    """One statement of the paper."""

    at: str
    """Section, equation, table or figure."""
    kind: str
    """One of `KINDS`."""
    says: str
    claims: tuple[str, ...]
    """Each "row" or "row/claim"."""
    tests: tuple[str, ...]
    """Each "file::name", from the root of the repository."""
    files: tuple[str, ...]
    """From the root of the repository."""
    not_modelled: str
    """The reason why nothing answers it; empty where something does or could."""
    not_yet: str
    """What would answer it; empty where something does or nothing can."""

    @property
    def answer(self) -> Answer:
        """The first that there is."""
        if self.claims:
            return Answer.CLAIM
        if self.tests:
            return Answer.TEST
        if self.files:
            return Answer.FILE
        return Answer.NOT_YET if self.not_yet else Answer.NOT_MODELLED

    @property
    def answers(self) -> tuple[str, ...]:
        """All of them, or why there is none."""
        return (*self.claims, *self.tests, *self.files) or (self.not_yet or self.not_modelled,)


def read_ledger(paper: Paper) -> tuple[Entry, ...]:
    """The entries of a paper's ledger, in the file's order.

    Raises `InputError` with the file and the entry where one has a mistake, or where a claim is not
    in `expected.toml`.
    """
    path = paper.folder / FILE
    try:
        content = read_toml(path)
    except FileNotFoundError as error:
        raise InputError(f"{paper.name} has no ledger: no such file: {path}") from error
    except (OSError, InputError) as error:
        raise InputError(f"{path}: {error}") from error
    entries = content.get("entry")
    if set(content) != {"entry"} or not _are_tables(entries):
        raise InputError(f"{path}: a ledger has tables [[entry]] and nothing else")
    known = {row.name for row in paper.rows}
    known |= {f"{row.name}/{claim.name}" for row in paper.rows for claim in row.claims}
    found: list[Entry] = []
    for place, entry in enumerate(entries, start=1):
        try:
            found.append(_entry(entry, known))
        except InputError as error:
            where = entry.get("at", "")
            raise InputError(f"{path}: entry {place} ({where}): {error}") from error
    return tuple(found)


def nowhere(entry: Entry, root: Path) -> list[str]:
    """The answers of an entry that do not exist in the repository at `root`."""
    lost = [file for file in entry.files if not (root / file).exists()]
    return lost + [test for test in entry.tests if not _is_test(test, root)]


def _are_tables(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _is_test(test: str, root: Path) -> bool:
    match = _TEST.fullmatch(test)
    if match is None or not (root / match["file"]).is_file():
        return False
    text = read_text(root / match["file"])
    return re.search(rf"\b(fn|def) {match['name']}\b", text) is not None


def _entry(entry: Mapping[str, Any], claims: set[str]) -> Entry:
    texts = {key: " ".join(str(entry.get(key, "")).split()) for key in ("at", "says")}
    for key, text in texts.items():
        if not text:
            raise InputError(f"{key} is missing")
    if entry.get("kind") not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, not {entry.get('kind')!r}")
    unknown = set(entry) - {"at", "kind", "says", *_ANSWERS, *_REASONS}
    if unknown:
        raise InputError(f"unknown key {min(unknown)!r}")
    lists: dict[str, tuple[str, ...]] = {}
    for key in _ANSWERS:
        if not isinstance(entry.get(key, []), list):
            raise InputError(f"{key} must be a list")
        lists[key] = tuple(str(each) for each in entry.get(key, []))
    for claim in lists["claims"]:
        if claim not in claims:
            raise InputError(f"expected.toml has no claim {claim!r}")
    reasons = {key: " ".join(str(entry.get(key, "")).split()) for key in _REASONS}
    if [any(lists.values()), *map(bool, reasons.values())].count(True) != 1:
        raise InputError(
            "give what answers it: claims, tests or files; or else not_yet or not_modelled"
        )
    return Entry(
        at=texts["at"],
        kind=str(entry["kind"]),
        says=texts["says"],
        not_modelled=reasons["not_modelled"],
        not_yet=reasons["not_yet"],
        **lists,
    )
