"""Files with controllers are programs: the command line says which ones it loads."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.running.loaded import listening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pathweave._core import Variant


class Said:
    """The files that have been named; each is named once."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()

    def say(self, path: Path, content: bytes) -> None:
        """Print the path and the hash of a file on standard error."""
        from pathweave.cli.console import messages, say

        digest = hashlib.sha256(content).hexdigest()
        key = str(path), digest
        if key not in self._known:
            self._known.add(key)
            say(messages(), f"controller: {path}, SHA-256 {digest}")

    def say_all(self, variants: Iterable[Variant], folder: Path) -> None:
        """The same of all files of these variants. Shared libraries are only known here."""
        for variant in variants:
            for name, content in variant.files.items():
                self.say(folder / name, content)


@contextmanager
def named() -> Iterator[Said]:
    """Within the context files with controllers are named as they are loaded."""
    said = Said()
    with listening(said.say):
        yield said
