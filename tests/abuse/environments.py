"""Surroundings and command lines in which the command cannot do its work, or only just."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from abuse.attempt import DOCUMENTED, Attempt, finished_runs
from abuse.scenarios import SOUND

_RUN = ("run", "test.toml", "--jobs", "1")
_MEBIBYTE = 1 << 20
_CASES: dict[str, dict[str, Any]] = {
    "unknown locale": {"variables": {"LANG": "xx_XX.weird", "LC_ALL": "xx_XX.weird"}},
    "C locale": {"variables": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}},
    "ascii streams": {"variables": {"PYTHONIOENCODING": "ascii"}},
    "unknown terminal": {"variables": {"TERM": "\x1b[2J"}},
    "no columns": {"variables": {"COLUMNS": "0"}},
    "negative columns": {"variables": {"COLUMNS": "-5"}},
    "many columns": {"variables": {"COLUMNS": "9" * 30}},
    "words as columns": {"variables": {"COLUMNS": "many"}},
    "colours": {"variables": {"FORCE_COLOR": "1"}},
    "no home": {"variables": {"HOME": None}},
    "a home that is not there": {"variables": {"HOME": "/nowhere"}},
    "a cache that is a file": {"variables": {"XDG_CACHE_HOME": "/etc/passwd"}},
    "no folder for temporary files": {"variables": {"TMPDIR": "/nowhere"}},
    "no path": {"variables": {"PATH": ""}},
    "no threads of Polars": {"variables": {"POLARS_MAX_THREADS": "1"}},
    "words as threads": {"variables": {"OMP_NUM_THREADS": "many", "RAYON_NUM_THREADS": "many"}},
    "a line that is a word": {"variables": {"PATHWEAVE_LINE": "x"}},
    "a line that is closed": {"variables": {"PATHWEAVE_LINE": "999"}},
    "a line that is the output": {"variables": {"PATHWEAVE_LINE": "1"}},
    "a line of another parent": {"variables": {"PATHWEAVE_LINE": "1 1"}},
    "a line that is too long": {"variables": {"PATHWEAVE_LINE": "9" * 30}},
    "a word to complete": {"variables": {"_PATHWEAVE_COMPLETE": "x"}},
    "closed input": {"streams": {0: None}},
    "closed output": {"streams": {1: None}},
    "closed errors": {"streams": {2: None}},
    "a full output": {"streams": {1: "/dev/full"}},
    "full errors": {"streams": {2: "/dev/full"}},
    "address space of 400 MiB": {"limits": {resource.RLIMIT_AS: 400 * _MEBIBYTE}},
    "address space of 1200 MiB": {"limits": {resource.RLIMIT_AS: 1200 * _MEBIBYTE}},
    "data of 100 MiB": {"limits": {resource.RLIMIT_DATA: 100 * _MEBIBYTE}},
    "20 open files": {"limits": {resource.RLIMIT_NOFILE: 20}},
    "files of 0 bytes": {"limits": {resource.RLIMIT_FSIZE: 0}},
    "files of 1 KiB": {"limits": {resource.RLIMIT_FSIZE: 1024}},
    "a stack of 256 KiB": {"limits": {resource.RLIMIT_STACK: 256 * 1024}},
    "no core files": {"limits": {resource.RLIMIT_CORE: 0}},
    "results in a device": {"arguments": (*_RUN, "--out", "/dev/null")},
    "results in a file": {"arguments": (*_RUN, "--out", "test.toml")},
    "results in /proc": {"arguments": (*_RUN, "--out", "/proc/results")},
    "a file as cluster": {"arguments": (*_RUN[:2], "--dask", "/etc/passwd")},
    "no cluster": {"arguments": (*_RUN[:2], "--dask", "")},
    "nobody's cluster": {"arguments": (*_RUN[:2], "--dask", "tcp://127.0.0.1:1")},
    "a cluster by escapes": {"arguments": (*_RUN[:2], "--dask", "\x1b[2J\u202e")},
    "no jobs": {"arguments": (*_RUN[:2], "--jobs", "0")},
    "many threads": {"arguments": (*_RUN, "--threads", "9" * 30)},
    "many seeds": {"arguments": (*_RUN, "--seeds", "9" * 30)},
    "no shard": {"arguments": (*_RUN, "--shard", "0/0")},
    "a long setting": {"arguments": (*_RUN, "--set", "title=" + "x" * 100_000)},
    "settings with escapes": {"arguments": (*_RUN, "--set", "\x1b[2J=\u202e")},
    "a variant that is not there": {"arguments": (*_RUN, "--only", "scheme=\u202e")},
    "an empty name": {"arguments": ("run", "")},
    "a name that is not UTF-8": {"arguments": ("run", b"m\xff.toml")},
    "a long name": {"arguments": ("run", "x" * 5000)},
    "a verb that is none": {"arguments": ("\x1b[2J",)},
}
COUNT = len(_CASES)


def attempts(seed: int) -> Iterator[Attempt]:
    """The attempts, always the same."""
    for name, case in _CASES.items():
        done = None if "_PATHWEAVE_COMPLETE" in case.get("variables", {}) else 2
        yield Attempt(
            "environments",
            name,
            case.get("arguments", _RUN),
            _write,
            partial(finished_runs, count=done) if done else _nothing,
            variables=case.get("variables", {}),
            limits=case.get("limits", {}),
            streams=case.get("streams", {}),
            # The kernel ends who writes too much, unless it is told not to.
            statuses=(*DOCUMENTED, -signal.SIGXFSZ),
        )


def _nothing(_folder: Path) -> None:
    return None


def _write(folder: Path) -> None:
    (folder / "test.toml").write_text(SOUND)
    (folder / os.fsdecode(b"m\xff.toml")).write_text(SOUND)
