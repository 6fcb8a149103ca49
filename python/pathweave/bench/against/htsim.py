"""htsim: the program of validation/htsim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pathweave.bench.against.cases import DELAY_NS, QUEUE_LIMIT, RATE_MBPS, SEED
from pathweave.bench.against.simulator import Simulator

if TYPE_CHECKING:
    from pathweave.bench.against.simulator import Job

PACKET_BYTES: Final = 1500

_TRANSPORT: Final = """\
preset = "htsim"
"""


def _arguments(job: Job) -> list[str]:
    given = [
        f"--paths={job.paths}",
        f"--controller={job.case.controller}",
        f"--subflows={job.case.subflows}",
        f"--seed={SEED}",
        f"--stop-at-ns={job.until_ns}",
        f"--link-rate-mbps={RATE_MBPS}",
        f"--link-delay-ns={DELAY_NS}",
        f"--queue-limit={QUEUE_LIMIT}",
        f"--marking-threshold={job.case.marking_threshold or 0}",
        f"--packet={PACKET_BYTES}",
    ]
    return [*given, "--count-hops"] if job.count_hops else given


HTSIM: Final = Simulator(
    name="htsim",
    title="htsim",
    program="permutation",
    build="make -C validation/htsim HTSIM=FOLDER",
    folder="validation/htsim/build",
    counted="htsim's traffic log counted packets, data and acknowledgements, that left a pipe "
    "(the end of a link), in a run of its own that was not timed",
    arguments=_arguments,
    controllers={
        "dctcp": '{ name = "dctcp", g = 0.0625, alpha = 0 }',
        "lia": '"lia"',
    },
    transport=_TRANSPORT,
    lacks="has no such controller",
)
