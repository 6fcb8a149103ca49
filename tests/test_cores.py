"""How runs share the processor's cores."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from pathweave.running.cores import Cores, share


@pytest.mark.parametrize(
    ("cores", "left", "threads"),
    [(2, 5, 1), (2, 2, 1), (2, 1, 2), (8, 9, 1), (8, 3, 2), (8, 2, 4), (8, 1, 8), (1, 1, 1)],
)
def test_runs_share_all_cores(cores: int, left: int, threads: int) -> None:
    with patch("pathweave.running.cores.available", return_value=cores):
        shared = share()
        assert shared.jobs == cores
        assert shared.threads_of(left) == threads
        # All that begin now have a core for each of their threads.
        assert min(shared.jobs, left) * threads <= cores


def test_what_is_said_is_done() -> None:
    with patch("pathweave.running.cores.available", return_value=8):
        assert share(jobs=3) == Cores(3, 1)
        assert share(jobs=3, threads=2) == Cores(3, 2)
        assert share(threads=3) == Cores(2, 3)
        assert share(threads=16) == Cores(1, 16)
    assert Cores(3, 2).threads_of(1) == 2
