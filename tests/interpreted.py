"""Programs in Python that can be called by their path."""

from __future__ import annotations

import sys

# The interpreter's path may have a space, which a first line may not: a shell reads the second line
# as a command, and Python the second and third as a text.
FIRST_LINES = f"""#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
"""
