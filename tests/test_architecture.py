"""ARCHITECTURE.md and CONTRIBUTING.md against the tree that they describe."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)


def dependencies(crate: str) -> set[str]:
    """The crates of the workspace that a crate uses outside its tests."""
    text = (ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8")
    names = tomllib.loads(text).get("dependencies", {})
    return {name.removeprefix("pathweave-") for name in names if name.startswith("pathweave-")}


def crates_of_the_page() -> dict[str, set[str]]:
    there = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    rows = {name: set(re.findall(r"`(\w+)`", uses)) for name, uses in ROW.findall(ARCHITECTURE)}
    return {name: uses for name, uses in rows.items() if name in there}


def test_the_page_has_every_crate_with_what_it_uses() -> None:
    assert crates_of_the_page() == {
        path.parent.name: dependencies(path.parent.name)
        for path in ROOT.glob("crates/*/Cargo.toml")
    }


def test_a_crate_uses_only_crates_above_it() -> None:
    above: set[str] = set()
    for name, uses in crates_of_the_page().items():
        assert uses <= above, name
        above.add(name)


def test_paths_that_the_pages_name_are_there() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"(?:crates|python|docs|papers|benches|tests)/[\w./-]*\w", ARCHITECTURE)
    named += re.findall(r"(?:docs|benches|tests)/[\w./-]*\w", contributing)
    missing = {path for path in named if not (ROOT / path).exists()}
    assert not missing


def test_packages_that_the_page_names_are_there() -> None:
    table = ARCHITECTURE.split("## Python")[1].split("## ")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {
        name.removeprefix("pathweave.")
        for cell in first_cells
        for name in re.findall(r"`([\w.]+)`", cell)
    }
    assert named
    missing = {name for name in named if not (ROOT / "python" / "pathweave" / name).is_dir()}
    assert not missing
