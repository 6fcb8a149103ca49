"""A Slurm cluster of one node, this machine, for as long as a test needs it."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "sinfo")
_CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName={host} NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
_WAIT_S = 30.0


def missing() -> list[str]:
    """Programs of Slurm that are not installed."""
    return [name for name in PROGRAMS if _program(name) is None]


@contextmanager
def one_node(folder: Path) -> Iterator[dict[str, str]]:
    """The cluster, with all of its files in `folder`; the environment of its commands."""
    import pwd

    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    configuration = folder / "slurm.conf"
    configuration.write_text(
        _CONFIGURATION.format(
            host=socket.gethostname().partition(".")[0],
            user=pwd.getpwuid(os.getuid()).pw_name,
            folder=folder,
            ports=_free_ports(2),
        )
    )
    environment = os.environ | {"SLURM_CONF": str(configuration)}
    try:
        _start(
            "munged",
            "--force",
            f"--key-file={key}",
            f"--socket={folder}/munge.socket",
            f"--pid-file={folder}/munged.pid",
            f"--log-file={folder}/munged.log",
            f"--seed-file={folder}/munge.seed",
            environment=environment,
        )
        _start("slurmctld", environment=environment)
        _wait(lambda: _answer("sinfo", environment) != "", "slurmctld does not answer")
        _start("slurmd", environment=environment)
        _wait(
            lambda: "idle" in _answer("sinfo", environment, "--noheader", "--format=%t"),
            "the node does not become idle",
        )
        yield environment
    finally:
        _answer("scancel", environment, "--me")
        # The last steps of jobs end as long as there is a controller to tell.
        with suppress(TimeoutError):
            _wait(lambda: not _answer("squeue", environment, "--noheader"), "jobs do not end")
        for name in ("slurmd", "slurmctld", "munged"):
            _end(folder / f"{name}.pid")


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _start(name: str, *arguments: str, environment: dict[str, str]) -> None:
    """Start a program that goes on in the background by itself."""
    subprocess.run([_program(name) or name, *arguments], env=environment, check=True)


def _end(file: Path) -> None:
    """End the program whose number is in the file, and wait until it has ended."""
    if not file.exists():
        return
    process = int(file.read_text())
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGTERM)
        try:
            _wait(lambda: not Path(f"/proc/{process}").exists(), f"{file.stem} does not end")
        except TimeoutError:
            os.kill(process, signal.SIGKILL)


def _answer(name: str, environment: dict[str, str], *arguments: str) -> str:
    command = [_program(name) or name, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    ).stdout


def _wait(condition: Callable[[], bool], what: str) -> None:
    """Slurm tells nobody when it is ready: it is asked until it is."""
    deadline = time.monotonic() + _WAIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.1)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
