"""ns-3: the program of validation/ns3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pathweave.bench.against.cases import DELAY_NS, QUEUE_LIMIT, RATE_MBPS, SEED
from pathweave.bench.against.simulator import Simulator

if TYPE_CHECKING:
    from pathweave.bench.against.simulator import Job

_SOCKET_BUFFER_BYTES: Final = 1_000_000
"""More than a path holds, and little enough to be filled quickly when a flow starts."""

_TRANSPORT: Final = """\
preset = "ns3-3.37"
"""


def _arguments(job: Job) -> list[str]:
    given = [
        "--report=cost",
        "--network=routed",
        f"--paths={job.paths}",
        f"--seed={SEED}",
        "--start-jitter=0ns",
        "--measure-from=0ns",
        f"--stop-at={job.until_ns}ns",
        f"--series-bin={job.until_ns}ns",
        f"--link-rate={RATE_MBPS}Mbps",
        f"--link-delay={DELAY_NS}ns",
        "--queue=step-marking",
        f"--queue-limit={QUEUE_LIMIT}",
        f"--marking-threshold={job.case.marking_threshold}",
        f"--controller={job.case.controller}",
        f"--socket-buffer={_SOCKET_BUFFER_BYTES}",
    ]
    return [*given, "--count-hops=true"] if job.count_hops else given


NS3: Final = Simulator(
    name="ns3",
    title="ns-3",
    program="comparison",
    build="validation/ns3/install.sh && make -C validation/ns3",
    folder="validation/ns3/build",
    counted="ns-3's devices reported packets, data and acknowledgements, that had arrived "
    "(PhyRxEnd), in a run of its own that was not timed",
    arguments=_arguments,
    controllers={"dctcp": '{ name = "dctcp", g = 0.0625, alpha = 1 }'},
    transport=_TRANSPORT,
    lacks="has no multipath TCP",
)
