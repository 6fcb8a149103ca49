"""What a process would compute with: versions, and the results of a small run."""

from __future__ import annotations

import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from pathweave.core import core
from pathweave.results import layout
from pathweave.running.dask.payload import Facts

_PROBE = """
title = "Probe"

[fabric]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 3
host_rate = "10 Gbps"
uplink_rate = "10 Gbps"
host_delay = "2 us"
uplink_delay = "5 us"
queue = { limit = 20, mark = { kind = "step", k = 8 } }

[[traffic]]
name = "large"
pattern = "permutation"
controller = "xmp"
subflows = 2
size = "500 KB"

[[traffic]]
name = "small"
pattern = "poisson"
controller = "cubic"
layer = "uplink"
load = 0.5
size = { kind = "cdf", name = "web-search" }

[stop]
at = "2 ms"
"""
"""A scenario of a few milliseconds with what most runs have in them: several paths, queues that
mark and overflow, coupled windows, random starts."""

_POLL_S = 0.001


@cache
def facts() -> Facts:
    """The facts of this process, which do not change while it lives."""
    try:
        package = version("pathweave")
    except PackageNotFoundError:  # run from its sources
        package = core().version()
    known = core()
    return Facts(package, known.version(), known.results_version(), layout.FORMAT, _probe())


def _probe() -> str:
    scenario = core().load_text(_PROBE, "probe", ".", None, [], [], None)
    run = scenario.variants[0].prepare(scenario.seeds[0])
    run.start()
    while run.poll()["state"] == "running":
        time.sleep(_POLL_S)
    return run.take().results_hash


def differences(worker: Facts, client: Facts) -> list[str]:
    """What a worker has otherwise than the client, in words; empty where all is the same."""
    found = [
        f"{what} {theirs}, and here it is {ours}"
        for what, theirs, ours in (
            ("Pathweave's version is", worker.pathweave, client.pathweave),
            ("the version of the compiled core is", worker.core, client.core),
            ("the version of its results is", worker.results, client.results),
            ("the version of their layout is", worker.layout, client.layout),
        )
        if theirs != ours
    ]
    if not found and worker.probe != client.probe:
        found.append(
            f"a probe run has the results {worker.probe}, and here {client.probe}: the cores were"
            " built from different sources, or its processor computes otherwise"
        )
    return found
