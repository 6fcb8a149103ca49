"""`pathweave` and `python -m pathweave`."""

from __future__ import annotations

from pathweave.cli.app import main

if __name__ == "__main__":
    main()
