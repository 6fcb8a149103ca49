"""Prints the paths of a scenario's listed flows for ns-3.

    listed_paths.py SCENARIO

Two lines for each flow: the names of the nodes that its data pass, and of those that its
acknowledgements pass, both with the two hosts. Needs nothing but Python.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def main() -> int:
    """Print the paths and return the exit code."""
    if len(sys.argv) != 2:
        print("usage: listed_paths.py SCENARIO", file=sys.stderr)
        return 2
    scenario = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for group in scenario["traffic"]:
        for flow in group["flows"]:
            source, destination = flow["from"], flow["to"]
            print(source, *flow["paths"][0], destination)
            print(destination, *flow["ack_paths"][0], source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
