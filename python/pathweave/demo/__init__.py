"""A scenario that comes with the package, so that a first table needs no checkout."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from pathweave.errors import InputError, PathweaveError

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = "demo.toml"
"""What the file is called, here and where it is written."""


def write_scenario(folder: Path) -> Path:
    """Write the scenario into `folder`, for a user to change; one that is there already is kept.

    Raises `InputError` where something else has its name and `PathweaveError` where it cannot be
    written.
    """
    path = folder / SCENARIO
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is not a file; run the demo in another folder")
    text = files("pathweave.demo").joinpath(SCENARIO).read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        pass
    except OSError as error:
        raise PathweaveError(f"cannot write {path}: {error.strerror or error}") from error
    return path
