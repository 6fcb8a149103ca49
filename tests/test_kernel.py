"""`pathweave kernel`: what is handed on to the binary, and where that is looked for."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

import fake_linux
from pathweave import linux
from pathweave.cli.kernel import kernel
from pathweave.errors import InputError

if TYPE_CHECKING:
    from conftest import Command


def calls(folder: Path) -> list[list[str]]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines()]


def test_arguments_and_exit_status_are_the_binarys(process: Command, tmp_path: Path) -> None:
    program = str(fake_linux.install(tmp_path))
    done = process("kernel", "load", "--set", "beta=4", "xmp", PATHWEAVE_LINUX=program)
    assert (done.returncode, done.stdout) == (0, "kernel load --set beta=4 xmp\n")
    done = process("kernel", "unload", "xmp", "--force", PATHWEAVE_LINUX=program)
    assert done.returncode == 3
    # An option that only the binary knows is its own business.
    process("kernel", "status", "--json", PATHWEAVE_LINUX=program)
    assert calls(tmp_path)[1:] == [
        ["kernel", "unload", "xmp", "--force"],
        ["kernel", "status", "--json"],
    ]


def test_the_binary_is_called_by_the_name_that_users_have_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it can name the next command as they would type it."""
    program = str(fake_linux.install(tmp_path))
    monkeypatch.setenv(linux.VARIABLE, program)
    called: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(os, "execv", lambda path, arguments: called.append((path, arguments)))
    CliRunner().invoke(kernel, ["status", "--json"])
    assert called == [(program, ["pathweave", "kernel", "status", "--json"])]


@pytest.mark.parametrize("verb", ["load", "set", "unload", "status", "watch", "use", "check"])
def test_help_has_an_example_and_needs_no_binary(cli: Command, verb: str) -> None:
    done = cli("kernel", verb, "--help", PATHWEAVE_LINUX="")
    assert done.returncode == 0
    assert f"Example: pathweave kernel {verb}" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_missing_binary_says_what_to_install(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    # Where `make linux` has been run, the real binary is the interpreter's neighbour.
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    done = cli("kernel", "status", PATHWEAVE_LINUX="", PATH="/nowhere")
    said = " ".join(done.stderr.split())
    assert done.returncode == 1
    assert "`make linux` builds it" in said
    assert "apt install clang libelf-dev zlib1g-dev" in said
    assert "dnf install clang elfutils-libelf-devel zlib-devel" in said
    assert "Traceback" not in done.stderr


def test_where_the_binary_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: tmp_path / name for name in ("named", "beside", "path")}
    for folder in folders.values():
        folder.mkdir()
        fake_linux.install(folder)
    python = folders["beside"] / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", f"{folders['path']}{os.pathsep}/bin")
    monkeypatch.setenv(linux.VARIABLE, str(folders["named"] / linux.NAME))
    assert linux.binary() == folders["named"] / linux.NAME
    monkeypatch.delenv(linux.VARIABLE)
    assert linux.binary() == folders["beside"] / linux.NAME
    (folders["beside"] / linux.NAME).chmod(0o644)
    assert linux.binary() == folders["path"] / linux.NAME
    monkeypatch.setenv(linux.VARIABLE, str(tmp_path))
    with pytest.raises(InputError, match="is not a program"):
        linux.binary()
