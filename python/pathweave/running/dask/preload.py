"""Loaded by the workers of a cluster that lives with this process, when they start."""

from __future__ import annotations

import signal
import threading


def dask_setup(_worker: object) -> None:
    """Leave a terminal's Ctrl-C, which goes to all processes, to the one that watches the runs."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
