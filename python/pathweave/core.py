"""The compiled core, imported when first needed.

`from pathweave.core import _core`-style imports would make `pathweave --help` load the extension
and numpy; `core()` puts that off, and says what to do when the extension has not been built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from pathweave.errors import PathweaveError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from pathweave._core import ControllerInfo, Entry, Scenario


class Core(Protocol):
    """What the extension offers; `_core.pyi` describes it."""

    ScenarioError: type[ValueError]

    def version(self) -> str: ...
    def results_version(self) -> str: ...
    def schema(self) -> str: ...
    def controllers(self) -> list[ControllerInfo]: ...
    def routings(self) -> list[Entry]: ...
    def fabrics(self) -> list[Entry]: ...
    def patterns(self) -> list[Entry]: ...
    def operations(self) -> list[Entry]: ...
    def distributions(self) -> list[Entry]: ...
    def presets(self) -> list[Entry]: ...
    def controller_in_file(
        self, form: str, path: str, shown: str, item: str | None = None
    ) -> ControllerInfo: ...
    def from_resolved(
        self,
        resolved: str,
        folder: str | os.PathLike[str] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> Scenario: ...
    def hash_of_resolved(self, resolved: str, seed: int) -> str: ...
    def hash_of_settings(self, settings: str) -> str: ...
    def load(
        self,
        path: str,
        size: str | None,
        sets: Sequence[str],
        only: Sequence[str],
        seeds: int | None,
        sweeps: Sequence[str] = (),
    ) -> Scenario: ...
    def load_text(
        self,
        text: str,
        name: str,
        folder: str,
        size: str | None,
        sets: Sequence[str],
        only: Sequence[str],
        seeds: int | None,
        sweeps: Sequence[str] = (),
    ) -> Scenario: ...


def core() -> Core:
    """Import the extension; raises `PathweaveError` when it has not been built."""
    try:
        from pathweave import _core
    except ImportError as error:
        raise PathweaveError(
            f"the compiled core cannot be imported ({error}); `make setup` builds it"
        ) from error
    return cast("Core", _core)
