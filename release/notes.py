"""Print the release notes of a version: its part of CHANGELOG.md, and what it changes of results.

Example: python release/notes.py 0.1.0
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version() -> str:
    """The version of the workspace."""
    with (ROOT / "Cargo.toml").open("rb") as file:
        return str(tomllib.load(file)["workspace"]["package"]["version"])


def results_version() -> str:
    """The first version that gives the results of this one."""
    text = (ROOT / "crates/scenario/src/results_version.rs").read_text(encoding="utf-8")
    found = re.search(r'RESULTS_VERSION: &str = "([^"]+)"', text)
    if found is None:
        raise ValueError("crates/scenario/src/results_version.rs has no RESULTS_VERSION")
    return found[1]


def notes(changelog: str, wanted: str, results: str) -> str:
    """The notes of the version `wanted`, whose results are those of the version `results`.

    Links to files of the project lose their target, which a page of releases does not have. Raises
    `ValueError` where the changelog has no such version.
    """
    heads = list(re.finditer(r"^## (\S+).*$", changelog, re.MULTILINE))
    for place, head in enumerate(heads):
        if head[1] != wanted:
            continue
        end = heads[place + 1].start() if place + 1 < len(heads) else len(changelog)
        body = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", changelog[head.end() : end])
        if results == wanted:
            said = "Results changed: runs of earlier versions are run again."
        else:
            said = f"Results are those of {results}: finished runs since then stay."
        return f"# Pathweave {wanted}\n\n{said}\n\n{body.strip()}\n"
    known = ", ".join(head[1] for head in heads)
    raise ValueError(f"CHANGELOG.md has no version {wanted}; it has {known}")


def main() -> int:
    """Print the notes of the version named on the command line, or of the workspace's own."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else version()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    results = results_version() if wanted == version() else wanted
    try:
        sys.stdout.write(notes(changelog, wanted, results))
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
