"""Controllers in Python files that do what no controller should."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from abuse.attempt import Attempt, finished_runs
from controller_scenario import RENO, scenario

_BEFORE = "        if ack.lets_window_grow:\n"
_LINES = {
    "loop": "while True: pass",
    "sleep": "import time; time.sleep(10**6)",
    "wait": "import threading; threading.Event().wait()",
    "hold the interpreter": "sum(range(10**15))",
    "power": "10 ** 10 ** 9",
    "catch all": "exec('while True:\\n try:\\n  while True: pass\\n except BaseException: pass')",
    "read a pipe": "import os; os.read(os.pipe()[0], 1)",
    "exit 0": "import os; os._exit(0)",
    "exit 3": "import os; os._exit(3)",
    "leave": "import sys; sys.exit(0)",
    "interrupt": "raise KeyboardInterrupt",
    "base exception": "raise BaseException('mine')",
    "generator": "raise StopIteration",
    "kill": "import os; os.kill(os.getpid(), 9)",
    "terminate": "import os; os.kill(os.getpid(), 15)",
    "crash": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
    "fork": "import os; os.fork()",
    "fork by C": "import ctypes; ctypes.CDLL(None).fork() if ack.now % 7 == 0 else None",
    "processes": "import subprocess; subprocess.Popen(['sleep', '100'])",
    "threads": "import threading; threading.Thread(target=threading.Event().wait).start()",
    "recursion": "(f := lambda: f())()",
    "deep recursion": "import sys; sys.setrecursionlimit(10**9); (f := lambda: f())()",
    "infinite window": "paths[r].window = float('inf')",
    "no number": "paths[r].window = float('nan')",
    "negative": "paths[r].window = -1.0",
    "huge window": "paths[r].window = 1e300",
    "text": "paths[r].window = 'x'",
    "ssthresh": "paths[r].ssthresh = -1.0",
    "another subflow": "paths[99].window = 1.0",
    "delete": "del paths[r].window",
    "keep a path": "globals().setdefault('kept', paths[r]).window",
    "close standard output": "import os; os.close(1)",
    "close all": "import os; os.closerange(0, 100)",
    "no standard output": "import sys; sys.stdout = None",
    "print": "print('\\x1b[2J')",
    "signals": "import signal; signal.signal(2, signal.SIG_IGN)",
    "another folder": "import os; os.chdir('/')",
    "warn": "import warnings; warnings.warn('x')",
}
_FILES = {
    "loops when loaded": f"while True: pass\n{RENO}",
    "ignores Ctrl-C": f"import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass\n{RENO}",
    "exits when loaded": f"import os\nos._exit(0)\n{RENO}",
    "empty": "",
    "no syntax": "class",
    "no text": "\udcff",
    "null bytes": "x = '\0'",
    "no class": "x = 1",
    "many levels": "(" * 100_000,
    "exception without a text": (
        "class Mute(Exception):\n    def __str__(self):\n        raise Mute\n"
        f"{RENO.replace(_BEFORE, f'        raise Mute{chr(10)}{_BEFORE}')}"
    ),
}
COUNT = len(_LINES) + len(_FILES)


def attempts(seed: int) -> Iterator[Attempt]:
    """The attempts, always the same."""
    files = {
        name: RENO.replace(_BEFORE, f"        {line}\n{_BEFORE}") for name, line in _LINES.items()
    }
    for name, content in {**files, **_FILES}.items():
        yield Attempt(
            "controllers",
            name,
            ("run", "test.toml", "--jobs", "1"),
            partial(_write, content),
            partial(finished_runs, count=1),
            may_go_on=True,
        )


def _write(content: str, folder: Path) -> None:
    (folder / "mine.py").write_bytes(content.encode(errors="surrogateescape"))
    text = scenario('{ python = "mine.py:Reno" }').replace('at = "150 ms"', 'at = "20 ms"')
    (folder / "test.toml").write_text(text.partition("[[events]]")[0] + '[stop]\nat = "20 ms"\n')
