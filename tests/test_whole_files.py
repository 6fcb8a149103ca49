"""Pages and pictures are on disk either whole or not at all."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pathweave.results.jsonfile import write_json
from pathweave.results.wholefile import whole_file, write_whole

if TYPE_CHECKING:
    from pathlib import Path


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_whole(path, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as failed:
            write_whole(path, b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert failed.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_drafts_of_killed_processes_are_cleared(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    (tmp_path / f".report.html.{ended.pid}").write_bytes(b"half")
    living = tmp_path / f".report.html.{os.getppid()}"
    living.write_bytes(b"another process writes")
    other = tmp_path / ".report.html.old"
    other.write_bytes(b"somebody's")
    write_whole(tmp_path / "report.html", b"new")
    assert set(tmp_path.iterdir()) == {living, other, tmp_path / "report.html"}


def test_an_error_names_the_file_that_it_is_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "nowhere/a.json", tmp_path / "file/a.json"):
        with pytest.raises(OSError, match="director") as failed:
            write_json(path, {})
        assert failed.value.filename == str(path)
    source = tmp_path / "not there"
    with pytest.raises(FileNotFoundError) as failed, whole_file(tmp_path / "copy") as draft:
        draft.write_bytes(source.read_bytes())
    assert failed.value.filename == str(source)
    with pytest.raises(FileNotFoundError) as failed, whole_file(tmp_path / "copy"):
        pass
    assert failed.value.filename == str(tmp_path / "copy"), "nothing was written"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
