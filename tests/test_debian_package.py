"""What `release/deb/build.py` puts into the Debian package, and the checksums of all artifacts."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts_of_tree import script

ROOT = Path(__file__).resolve().parent.parent
WHEN = 1_700_000_000
MACHINES = {"x86-64": 62, "aarch64": 183, "i386": 3}


BUILD = script("release/deb/build.py")


def elf(machine: int, *, bits: int = 64) -> bytes:
    """The head of a program that was compiled for a machine."""
    ident = b"\x7fELF" + bytes([{32: 1, 64: 2}[bits], 1, 1]) + bytes(9)
    return ident + struct.pack("<HHI", 3, machine, 1) + bytes(40)


@pytest.fixture
def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the place of the programs that need a compiled pathweave-linux."""

    def output(*command: str | Path, cwd: Path = ROOT) -> str:
        del cwd
        if command[1] == "manual":
            (Path(command[2]) / "pathweave-linux.1").write_text(".TH")
        return "[Unit]\n"

    monkeypatch.setattr(BUILD, "output", output)
    monkeypatch.setattr(BUILD, "depends", lambda _binary: "libc6")
    monkeypatch.setattr(BUILD, "copyright_text", lambda: "Apache-2.0\n")


@pytest.fixture(params=[0o077, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("without_compiler", "umask")
def test_modes_and_times_are_not_the_callers(tmp_path: Path) -> None:
    binary = tmp_path / "pathweave-linux"
    binary.write_bytes(elf(MACHINES["x86-64"]))
    stage = tmp_path / "stage"
    BUILD.fill(stage, binary, WHEN)
    executable = {
        "usr/bin/pathweave-linux",
        "DEBIAN/postinst",
        "DEBIAN/prerm",
        "DEBIAN/postrm",
    }
    paths = [stage, *stage.rglob("*")]
    assert len([path for path in paths if path.is_dir()]) > 10
    for path in paths:
        name = str(path.relative_to(stage))
        wanted = 0o755 if path.is_dir() or name in executable else 0o644
        assert path.stat().st_mode & 0o7777 == wanted, name
        assert path.stat().st_mtime == WHEN, name
    control = (stage / "DEBIAN/control").read_text()
    assert "\nArchitecture: amd64\n" in control
    assert not re.search(r"@[A-Z]+@", control)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (elf(MACHINES["aarch64"]), "compiled for another machine than x86-64"),
        (elf(MACHINES["i386"], bits=32), "compiled for another machine than x86-64"),
        (elf(MACHINES["x86-64"], bits=32), "compiled for another machine than x86-64"),
        (b"#!/bin/sh\n", "is not an ELF program"),
        (b"", "is not an ELF program"),
    ],
    ids=["aarch64", "i386", "x32", "script", "empty"],
)
def test_a_binary_of_another_machine_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    binary = tmp_path / "pathweave-linux"
    binary.write_bytes(content)
    build = ROOT / "release/deb/build.py"
    done = subprocess.run(
        [sys.executable, build, binary], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done
    assert said in done.stderr
    assert str(binary) in done.stderr
    assert done.stdout == ""


def test_a_dpkg_of_another_architecture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BUILD, "output", lambda *_command: "arm64\n")
    with pytest.raises(SystemExit, match="dpkg of this machine is for arm64"):
        BUILD.refuse_other_hosts()
    monkeypatch.setattr(BUILD, "output", lambda *_command: "amd64\n")
    BUILD.refuse_other_hosts()


def test_checksums_are_of_every_artifact(tmp_path: Path) -> None:
    contents = {
        "pathweave-0.1.0-cp311-abi3-manylinux_2_17_x86_64.whl": b"wheel",
        "pathweave-0.1.0.tar.gz": b"source",
        "pathweave-linux_0.1.0_amd64.deb": b"package",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "SHA256SUMS").write_text("of another time\n")
    (tmp_path / "notes.txt").write_text("no artifact\n")
    command = [sys.executable, ROOT / "release/checksums.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wanted = "".join(
        f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in sorted(contents)
    )
    assert done.stdout == wanted
    assert (tmp_path / "SHA256SUMS").read_text() == wanted


def test_wheels_and_package_leave_each_other_in_dist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("wheels", "deb"):
        found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
        assert found is not None
        recipe = found[1]
        assert "release/checksums.py" in recipe.splitlines()[-1], target
        assert not re.search(r"rm -rf? dist(?!/)", recipe), target
