"""docs/glossary.md against the sources whose terms it explains."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
TERMS, FORBIDDEN = PAGE.split("\n## Names that types do not have\n")
ROW = re.compile(r"^\| (?!---|term |name )(.+?) \| (.+?) \|(.*)\|$", re.MULTILINE)
RUST = re.compile(
    r"^\s*(?P<shared>pub(?:\([^)]*\))? )?(?:unsafe |const )*"
    r"(?P<kind>struct|enum|trait|type|mod|fn) (?P<name>\w+)",
    re.MULTILINE,
)
PYTHON = re.compile(r"^(?P<kind>class|def|type) (?P<name>[a-zA-Z]\w*)", re.MULTILINE)


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@cache
def text_of(folder: Path, suffix: str) -> str:
    files = sorted(folder.rglob(f"*.{suffix}"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def is_declared(name: str) -> bool:
    """Whether others can use the name: `crate::Name` in that crate, `Name` in the package."""
    crate, _, item = name.rpartition("::")
    if not crate:
        text = text_of(ROOT / "python/pathweave", "py")
        return any(found["name"] == item for found in PYTHON.finditer(text))
    text = text_of(ROOT / "crates" / crate / "src", "rs")
    return any(found["shared"] and found["name"] == item for found in RUST.finditer(text))


def types() -> set[str]:
    """Every type that the sources declare, private ones too."""
    rust = [text_of(source, "rs") for source in ROOT.glob("crates/*/src")]
    found = [each for text in rust for each in RUST.finditer(text)]
    found += PYTHON.finditer(text_of(ROOT / "python/pathweave", "py"))
    return {each["name"] for each in found if each["kind"] not in {"fn", "def", "mod"}}


def test_terms_are_sorted_and_have_one_line_each() -> None:
    terms = [row[1] for row in ROW.finditer(TERMS)]
    assert len(terms) > 50
    assert terms == sorted(set(terms), key=str.casefold)


def test_every_line_is_a_row_that_is_read() -> None:
    for part in (TERMS, FORBIDDEN):
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        assert len(lines) == len(ROW.findall(part)) + 1  # the head of the table


def test_names_of_the_code_are_there() -> None:
    rows = [*ROW.finditer(TERMS), *ROW.finditer(FORBIDDEN)]
    named = {name for row in rows for name in quoted(row[3])}
    assert len(named) > 50
    missing = {name for name in named if not is_declared(name)}
    assert not missing


def test_no_type_has_a_name_that_means_something_else() -> None:
    forbidden = {name for row in ROW.finditer(FORBIDDEN) for name in quoted(row[1])}
    assert forbidden >= {"LinkMark", "LookAhead", "Marks", "Texts", "TurnWindow"}
    assert not forbidden & types()
