"""`pathweave` and `python -m pathweave`."""

from __future__ import annotations

import signal

# While modules are imported nothing handles Ctrl-C: it ends the process without a traceback.
# `pathweave.cli.exits.guarded` takes over. Who ignores the signal goes on to do so.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from pathweave.cli.app import main

if __name__ == "__main__":
    main()
