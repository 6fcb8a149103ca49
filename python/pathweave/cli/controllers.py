"""Files with controllers are programs: the command line says which ones it loads."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.running.loaded import hearing_of_programs, listening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pathweave._core import Variant


class Said:
    """The files that have been named; each is named once."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()

    def say(self, path: Path, content: bytes, kind: str = "controller") -> None:
        """Print the path and the hash of a file on standard error."""
        from pathweave.cli.console import messages, say

        digest = hashlib.sha256(content).hexdigest()
        key = str(path), digest
        if key not in self._known:
            self._known.add(key)
            say(messages(), f"{kind}: {path}, SHA-256 {digest}")

    def say_all(self, variants: Iterable[Variant], folder: Path) -> None:
        """The same of all files of these variants. Shared libraries are only known here."""
        for variant in variants:
            for name, content in variant.files.items():
                self.say(folder / name, content)


@contextmanager
def named() -> Iterator[Said]:
    """Within the context files that are executed are named: controllers, programs of papers."""
    said = Said()
    with (
        listening(said.say),
        hearing_of_programs(lambda path, content: said.say(path, content, "program")),
    ):
        yield said
