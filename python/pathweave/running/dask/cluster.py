"""The cluster that runs go to: one that lives with this process, or one that is there already."""

from __future__ import annotations

import logging
import signal
import socket
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pathweave.errors import InputError, PathweaveError
from pathweave.results.jsonfile import read_json
from pathweave.running.cores import available
from pathweave.running.interrupt import Interrupt, ended_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client

LOCAL = "local"
ALLOWED_FAILURES = 2
"""Workers that may die of a task of a local cluster before the task is given up, less one."""
_CONNECT_S = 10.0
_LOOPBACK = "127.0.0.1"


@contextmanager
def connected(where: str | Client, jobs: int | None = None) -> Iterator[Client]:
    """A client of the cluster: "local", the address of a scheduler, its file, or itself a client.

    A local cluster has `jobs` workers, one for each core if None, and ends with the context; a
    client that was given stays open. Raises `InputError` for a place that is none, and
    `PathweaveError` where Dask is missing or nothing answers.
    """
    distributed = _distributed()
    if not isinstance(where, str):
        yield _checked(where, distributed.Client)
        return
    if jobs is not None and where != LOCAL:
        raise InputError(
            "--jobs says how many workers --dask local has; another cluster has its own"
        )
    with _silent():
        if where == LOCAL:
            with _local(distributed, jobs or available()) as client:
                yield client
        else:
            client = _connect(distributed, where)
            try:
                yield client
            finally:
                client.close()


def threads(client: Client) -> int:
    """Threads of all workers: how many runs go on at a time."""
    return sum(cast("dict[str, int]", client.nthreads()).values())


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise PathweaveError(
            f"--dask needs Dask ({error}): pip install 'pathweave[dask]'"
        ) from error
    return distributed


def _checked(client: object, kind: type[Client]) -> Client:
    if not isinstance(client, kind):
        name = type(client).__name__
        raise InputError(
            f'dask takes "local", the address of a scheduler or a dask.distributed.Client, not'
            f" {name}"
        )
    if client.asynchronous:
        raise InputError("dask takes a synchronous Client, and this one is asynchronous")
    if client.status != "running":
        raise InputError(f"the Client of dask is {client.status}, not running")
    return client


@contextmanager
def _local(distributed: Any, workers: int) -> Iterator[Client]:
    with _undisturbed() as interrupt:
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host=_LOOPBACK,  # who connects can run programs
            silence_logs=logging.CRITICAL,
            memory_limit=0,  # runs may have what they may have without Dask
            preload=["pathweave.running.dask.preload"],
            scheduler_kwargs={
                "allowed_failures": ALLOWED_FAILURES,
                "dashboard": False,
                # Without a dashboard, too, it serves its state.
                "dashboard_address": f"{_LOOPBACK}:0",
            },
        )
        client = distributed.Client(cluster, set_as_default=False)
    try:
        if interrupt.raised:
            raise KeyboardInterrupt
        yield client
    finally:
        with ended_at_once():  # the workers end with this process, however it ends
            client.close()
            cluster.close()


@contextmanager
def _undisturbed() -> Iterator[Interrupt]:
    """Within the context an interruption is noted and no more: a cluster cannot end half begun.

    Threads and processes that begin in it never hear of a terminal's Ctrl-C, which is for the
    process that watches the runs.
    """
    # Where it begins by itself it gives Ctrl-C back to the thread that it begins in.
    resource_tracker.ensure_running()
    with Interrupt() as interrupt:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield interrupt
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connect(distributed: Any, where: str) -> Client:
    """A client of the scheduler at an address or of a file."""
    if "://" in where:
        address, what = where, where
    elif Path(where).exists():
        address, what = _address_in(Path(where)), f"the address in {where}"
    elif Path(where).suffix == ".json":
        raise InputError(f"there is no file {where}; dask scheduler --scheduler-file makes it")
    else:
        raise InputError(
            f"--dask takes local, the address of a scheduler, such as tcp://node1:8786, or the"
            f' file that `dask scheduler --scheduler-file` makes, not "{where}"'
        )
    try:
        return distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    # A wrong address is a ValueError, TLS without certificates a TypeError.
    except (OSError, TypeError, ValueError) as error:
        reason = _unknown_name(address) or str(error)
        raise PathweaveError(f"no Dask scheduler answers at {what}: {reason}") from error


def _address_in(path: Path) -> str:
    """The address in the file of a scheduler. Raises `InputError` for another file."""
    try:
        address = read_json(path)["address"]
    except KeyError:
        address = None
    if not isinstance(address, str) or "://" not in address:
        raise InputError(
            f"{path} does not say the address of a scheduler, as the file that"
            " `dask scheduler --scheduler-file` makes"
        )
    return address


def _unknown_name(where: str) -> str | None:
    """Says so if an address has a host name that nobody knows: Dask tries it until time is up."""
    host = urlsplit(where).hostname if "://" in where else None
    if host is None:
        return None
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        return f"the name {host} cannot be resolved: {error.strerror}"
    return None


@contextmanager
def _silent() -> Iterator[None]:
    """What Dask logs of workers that come and go is said by us where it matters."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
