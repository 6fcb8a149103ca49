"""What every controller costs: instructions per packet-hop on the permutation of the bench.

    python benches/controllers.py [--minimum-rto TIME] [--only NAME]... [--json FILE]

Takes benches/permutation-xmp4.toml and changes nothing but the controller: multipath ones with 4
subflows, single-path ones with 1, and each `variant` or `step` that a controller has. Instructions
are those of runs of 10 and 20 ms of simulated time under callgrind, as
(I(20) - I(10)) / (hops(20) - hops(10)).
"controller" is what of them is spent in the controller's answer to acknowledgements, with all that
this calls; the rest is the engine's, for the traffic that the controller makes.

In this scenario a retransmission timeout is 200 ms at least, and controllers that know only losses
stand still for most of 20 ms. `--minimum-rto "2 ms"` lets them go on, all controllers alike.

Needs valgrind, cargo, and Pathweave's own environment: `.venv/bin/python benches/controllers.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pathweave.bench import native
from pathweave.core import core
from pathweave.errors import PathweaveError

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIO = Path(__file__).parent / "permutation-xmp4.toml"
REFERENCE = "xmp"
SHORT_MS = 10
SUBFLOWS = 4
CHOICES = ("variant", "step")
"""Parameters each value of which is a row; their first value is the default."""
SINGLE_PATH = ("reno", "cubic", "dctcp", "bos")
COLLECTED = re.compile(r"Collected\s*:\s*([0-9]+)")
ON_ACK = re.compile(r"^\s*([0-9,]+) .*Controller>::on_ack\b", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A controller as it is run."""

    label: str
    controller: str
    """As TOML."""
    subflows: int


@dataclass(frozen=True)
class Counts:
    """Of one run."""

    instructions: int
    in_controller: int
    packet_hops: int
    goodput_share: float


@dataclass(frozen=True)
class Cost:
    """Instructions per packet-hop, and the share of the hosts' links that goodput fills."""

    total: float
    controller: float
    goodput_share: float


def cases() -> Iterator[Case]:
    """Every controller of the registry, a variant each."""
    for entry in core().controllers():
        name = entry["name"]
        subflows = 1 if name in SINGLE_PATH else SUBFLOWS
        choices = [p for p in entry["parameters"] if p["name"] in CHOICES]
        yield Case(name, f'"{name}"', subflows)
        for choice in choices:
            for value in choice["range"].split(", ")[1:]:
                controller = f'{{ name = "{name}", {choice["name"]} = "{value}" }}'
                yield Case(f"{name}, {value}", controller, subflows)


def scenario(case: Case, minimum_rto: str | None) -> str:
    """The scenario of the bench with this controller."""
    text = SCENARIO.read_text(encoding="utf-8")
    for key, value in (("controller", case.controller), ("subflows", str(case.subflows))):
        text, found = re.subn(rf"(?m)^{key} = .*$", lambda _, k=key, v=value: f"{k} = {v}", text)
        if found != 1:
            raise PathweaveError(f"{SCENARIO} does not have one line {key} = ...")
    if minimum_rto is not None:
        keys = f'minimum_rto = "{minimum_rto}"\ninitial_rto = "{minimum_rto}"\n'
        text = text.replace("[transport]\n", f"[transport]\n{keys}")
    return text


def count(binary: Path, file: Path, milliseconds: int) -> Counts:
    """Run under callgrind."""
    profile = file.with_suffix(".callgrind")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", str(binary)]
    command += [str(file), "--until", f"{milliseconds} ms", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    collected = COLLECTED.search(run.stderr)
    if run.returncode != 0 or collected is None:
        raise PathweaveError(f"callgrind failed on {file.name}:\n{run.stderr}")
    annotate = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(profile)]
    listing = subprocess.run(annotate, capture_output=True, text=True, check=True).stdout  # noqa: S603
    rows = [int(number.replace(",", "")) for number in ON_ACK.findall(listing)]
    said = json.loads(run.stdout)
    return Counts(
        instructions=int(collected[1]),
        # The outermost, where one controller asks another; a function has a row for each file
        # that is inlined into it, of which the largest is the whole.
        in_controller=max(rows, default=0),
        packet_hops=said["packet_hops"],
        goodput_share=said["goodput_share"],
    )


def cost(binary: Path, case: Case, minimum_rto: str | None) -> Cost:
    """Measure a controller."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(scenario(case, minimum_rto), encoding="utf-8")
        short, double = (count(binary, file, ms) for ms in (SHORT_MS, 2 * SHORT_MS))
    hops = double.packet_hops - short.packet_hops
    return Cost(
        total=(double.instructions - short.instructions) / hops,
        controller=(double.in_controller - short.in_controller) / hops,
        goodput_share=double.goodput_share,
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minimum-rto", metavar="TIME", help="also the timeout before any sample")
    parser.add_argument("--only", action="append", metavar="NAME", help="a row of the table")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures")
    arguments = parser.parse_args()
    if not native.has_valgrind():
        print("valgrind is not installed: nothing can be counted", file=sys.stderr)
        return 1
    chosen = [c for c in cases() if not arguments.only or c.label in [REFERENCE, *arguments.only]]
    chosen.sort(key=lambda case: case.label != REFERENCE)
    binary = native.build(native.source_tree())
    costs: dict[str, Cost] = {}
    row = "| {:16} | {:>8} | {:>18} | {:>6} | {:>10} | {:>7} |"
    names = ("controller", "subflows", "instructions a hop", "to XMP", "controller", "goodput")
    print(row.format(*names))
    print("|---|---|---|---|---|---|")
    for case in chosen:
        found = costs[case.label] = cost(binary, case, arguments.minimum_rto)
        ratio = found.total / costs[REFERENCE].total
        cells = (f"{found.total:.0f}", f"{ratio:.2f}", f"{found.controller:.1f}")
        share = f"{100 * found.goodput_share:.0f} %"
        print(row.format(case.label, case.subflows, *cells, share), flush=True)
    if arguments.json is not None:
        figures = {label: asdict(found) for label, found in costs.items()}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
