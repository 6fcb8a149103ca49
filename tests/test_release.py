"""What a release needs: one version everywhere, and notes from the changelog."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts_of_tree import script

ROOT = Path(__file__).resolve().parent.parent


NOTES = script("release/notes.py")
VERSION = NOTES.version()

CHANGELOG = """# Changelog

Words.

## 0.2.0

### Added

- A verb ([docs](docs/verb.md)), see [the list](https://example.org/list).

## 0.1.0 (2026-01-01)

### Added

- All.
"""


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_one_version_everywhere() -> None:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    dependencies = manifest["workspace"]["dependencies"].values()
    own = [each for each in dependencies if isinstance(each, dict) and "path" in each]
    assert {each["version"] for each in own if "version" in each} == {VERSION}
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heads[0] == VERSION
    assert len(set(heads)) == len(heads)


def test_results_are_of_a_version_that_the_changelog_has() -> None:
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert NOTES.results_version() in heads
    assert numbers(NOTES.results_version()) <= numbers(VERSION)


def test_every_crate_that_is_published_has_a_version_for_its_users() -> None:
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    for member in manifest["members"]:
        package = tomllib.loads((ROOT / member / "Cargo.toml").read_text())["package"]
        published = package.get("publish", True)
        named = manifest["dependencies"].get(package["name"], {})
        assert published == ("version" in named), package["name"]


def test_notes_are_the_part_of_the_version() -> None:
    assert NOTES.notes(CHANGELOG, "0.2.0", "0.1.0") == (
        "# Pathweave 0.2.0\n\n"
        "Results are those of 0.1.0: finished runs since then stay.\n\n"
        "### Added\n\n- A verb (docs), see [the list](https://example.org/list).\n"
    )
    assert NOTES.notes(CHANGELOG, "0.1.0", "0.1.0") == (
        "# Pathweave 0.1.0\n\nResults changed: runs of earlier versions are run again.\n\n"
        "### Added\n\n- All.\n"
    )
    with pytest.raises(ValueError, match=r"no version 0\.3\.0; it has 0\.2\.0, 0\.1\.0"):
        NOTES.notes(CHANGELOG, "0.3.0", "0.1.0")


def test_notes_of_this_version_can_be_printed() -> None:
    command = [sys.executable, ROOT / "release/notes.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"# Pathweave {VERSION}\n")
    done = subprocess.run([*command, "0.0.0"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: CHANGELOG.md has no version 0.0.0; it has ")
