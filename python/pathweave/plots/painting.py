"""The program of a process that draws; `painters` starts it and talks to it.

It reads one request a line (JSON) and answers each with a line (JSON) and the bytes that the line
announces. A chart comes as `{"chart": specification, "config": configuration, "scale": pixels}` and
goes as its SVG and its PNG; `{"library": true}` is answered with the script that draws charts in
pages. It ends when its input does.

It imports nothing of Pathweave, so that it is ready while others still import.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any


def main() -> None:
    """Answer requests until there are no more."""
    # Ctrl-C goes to all processes of a terminal: the one that asked decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import vl_convert

    # The engine takes its time to start; a first chart makes it start now.
    vl_convert.vegalite_to_svg({"mark": "point", "data": {"values": []}})
    for line in sys.stdin.buffer:
        try:
            found = _answer(json.loads(line))
        except ValueError as error:
            _send({"error": str(error)}, [])
        else:
            _send({"sizes": [len(part) for part in found]}, found)


def _answer(request: dict[str, Any]) -> list[bytes]:
    import vl_convert

    if "library" in request:
        # Its stub asks for an argument that may be left out.
        library = vl_convert.javascript_bundle()  # pyright: ignore[reportCallIssue]
        return [library.encode()]
    svg = vl_convert.vegalite_to_svg(request["chart"], config=request["config"])
    return [svg.encode(), vl_convert.svg_to_png(svg, scale=request["scale"])]


def _send(head: dict[str, Any], parts: list[bytes]) -> None:
    out = sys.stdout.buffer
    out.write(json.dumps(head).encode() + b"\n")
    for part in parts:
        out.write(part)
    out.flush()


if __name__ == "__main__":
    main()
