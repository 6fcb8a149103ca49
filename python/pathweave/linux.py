"""The binary `pathweave-linux`, which does what only a Linux host can: where it is."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from pathweave.errors import InputError, PathweaveError

NAME = "pathweave-linux"
VARIABLE = "PATHWEAVE_LINUX"
"""Environment variable that names another binary."""


def binary() -> Path:
    """The binary: the one that `PATHWEAVE_LINUX` names, the interpreter's neighbour, or on `PATH`.

    Raises `InputError` when the variable names no program, and `PathweaveError` with what to
    install when there is none.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = Path(named)
        if not _is_program(path):
            raise InputError(f"{VARIABLE} is {named}, which is not a program")
        return path
    # Not resolved: in a virtual environment the interpreter is a link to one elsewhere.
    beside = Path(sys.executable).parent / NAME
    if _is_program(beside):
        return beside
    found = shutil.which(NAME)
    if found is None:
        raise PathweaveError(
            f"there is no {NAME}: `make linux` builds it, and needs clang and the headers of libelf"
            " and zlib (Debian, Ubuntu: apt install clang libelf-dev zlib1g-dev; Fedora: dnf"
            " install clang elfutils-libelf-devel zlib-devel)"
        )
    return Path(found)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
