"""Prints where the dissector is: `tshark -X lua_script:$(python -m pathweave.wireshark)`."""

from __future__ import annotations

import sys

from pathweave.wireshark import DISSECTOR

sys.stdout.write(f"{DISSECTOR}\n")
