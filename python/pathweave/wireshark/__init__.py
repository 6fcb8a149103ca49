"""A dissector that shows the congestion fields of captures in Wireshark and tshark."""

from __future__ import annotations

from pathlib import Path

DISSECTOR = Path(__file__).with_name("pathweave.lua")
"""The dissector, for `-X lua_script:` or a folder of Wireshark's plugins."""
