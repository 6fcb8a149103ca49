"""Controllers in files that do not do what a controller does: the command ends all the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import environment
from controller_scenario import RENO, broken, scenario
from pathweave.cli.exits import guarded
from pathweave.running import line

PATIENCE_S = 60
SOON_S = 10
LONG = "150 ms"
SHORT = "95 ms"


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """`pathweave` in a process of its own, as a shell starts it: in a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pathweave", *arguments],
        cwd=folder,
        env=environment(COLUMNS="200"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit status, and all that was printed."""
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in said
    return process.returncode, said


def alone(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run `pathweave` and wait for its end."""
    return ended(started(folder, *arguments))


def write(folder: Path, line: str, *, before: str = "") -> None:
    """A scenario whose controller has this line in `on_ack`, and this text before all others."""
    text = broken(folder, line)
    (folder / "test.toml").write_text(text.replace(LONG, SHORT))
    path = folder / "mine.py"
    path.write_text(f"{before}\n{path.read_text()}" if before else path.read_text())


def until(process: subprocess.Popen[str], word: str) -> str:
    """What is printed until a line has `word`."""
    assert process.stdout is not None
    said = ""
    while word not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    return said


def group(process: subprocess.Popen[str]) -> set[int]:
    """The process and all that descend from it."""
    found = {process.pid}
    parents = {}
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                fields = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(each.name)] = int(fields[1])
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(pids: set[int]) -> set[int]:
    """Those that have not ended; what nobody has waited for has."""
    found = set[int]()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z":
            found.add(pid)
    return found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("paths[r].window = float('inf')", "mine.py, line 11, in on_ack: ValueError: window must"),
        ("paths[r].window = float('nan')", "mine.py, line 11, in on_ack: ValueError: window must"),
        ("paths[r].window = -9", "Reno.on_ack left subflow 0 a window of"),
        ("paths[r].window = -9", "(set in line 11); a window is at least 1 packet and at most 1e9"),
        ("paths[r].window = 1e10", "(set in line 11); a window is at least 1 packet and at most"),
        ("paths[r].ssthresh = float('nan')", "mine.py, line 11, in on_ack: ValueError: ssthresh"),
        (
            "import os; os.fork()",
            "mine.py, line 11, in on_ack: RuntimeError: a controller must not",
        ),
        (
            "import os; os.chdir('/')",
            "line 11, in on_ack: RuntimeError: a controller must not change",
        ),
        ("raise SystemExit(0)", "mine.py, line 11, in on_ack: SystemExit: 0"),
    ],
)
def test_what_a_controller_does_wrong_names_its_line(tmp_path: Path, line: str, said: str) -> None:
    write(tmp_path, line)
    status, text = alone(tmp_path, "run", "test.toml")
    assert status == 1
    assert said in " ".join(text.split())
    assert not list(tmp_path.rglob("manifest.json"))


def test_a_window_may_be_brought_within_bounds_before_the_method_returns(tmp_path: Path) -> None:
    write(tmp_path, "w = paths[r].window; paths[r].window = -w; paths[r].window = w")
    assert alone(tmp_path, "run", "test.toml")[0] == 0


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("import os; os._exit(0)", "exit status 0"),
        ("import os; os._exit(7)", "exit status 7"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ],
)
def test_a_controller_that_ends_the_process_is_named(tmp_path: Path, line: str, how: str) -> None:
    write(tmp_path, line)
    status, said = alone(tmp_path, "run", "test.toml")
    assert status == 1
    assert f"error: mine.py has ended the process that executed it ({how})" in said


@pytest.mark.parametrize("verb", [("run",), ("check",), ("run", "--dry-run")])
def test_a_file_that_ends_the_process_when_it_is_loaded(
    tmp_path: Path, verb: tuple[str, ...]
) -> None:
    write(tmp_path, "pass", before="import os; os._exit(0)")
    status, said = alone(tmp_path, *verb, "test.toml")
    assert (status, said.count("mine.py has ended the process")) == (1, 1)
    status, said = alone(tmp_path, "explain", "mine.py")
    assert (status, said.count("mine.py has ended the process")) == (1, 1)


@pytest.mark.parametrize(
    "line",
    [
        "while True: pass",
        "import time; time.sleep(10**6)",
        "sum(range(10**15))",  # holds the interpreter, so that no handler of signals runs
        "import threading; threading.Event().wait()",
    ],
)
def test_the_first_ctrl_c_ends_a_run_that_never_returns(tmp_path: Path, line: str) -> None:
    write(tmp_path, f"print('inside', flush=True)\n        {line}")
    process = started(tmp_path, "run", "test.toml")
    until(process, "inside\n")
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    status, said = ended(process)
    assert (status, said.count(", in on_ack")) == (1, 1), said
    assert "mine.py, line 1" in said
    assert time.monotonic() - began < SOON_S


def test_a_child_says_why_it_was_interrupted_and_its_status_in_one_write(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """After it a thread may keep the interpreter, and its parent must not print a second error."""
    ours, theirs = os.pipe()
    monkeypatch.setattr(line, "_descriptor", theirs)
    written = list[bytes]()
    write_to = os.write

    def watched(descriptor: int, text: bytes) -> int:
        written.append(text)
        return write_to(descriptor, text)

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(line.os, "write", watched)
    with pytest.raises(SystemExit):
        guarded(interrupted)
    for each in (ours, theirs):
        os.close(each)
    assert written == [b"error interrupted\ndone 1\n"]
    assert capfd.readouterr().err == ""


def test_ctrl_c_ends_the_loading_of_a_file_that_never_returns(tmp_path: Path) -> None:
    write(tmp_path, "pass", before="while True: pass")
    process = started(tmp_path, "check", "test.toml")
    until(process, "controller: mine.py")
    process.send_signal(signal.SIGINT)
    status, said = ended(process)
    assert status == 1
    # It may come before the first line.
    where = r"mine\.py(, line 1, in <module>)?"
    assert re.fullmatch(rf"error: interrupted: {where} had not returned\n", said)


def test_a_file_that_ignores_ctrl_c_is_ended(tmp_path: Path) -> None:
    ignores = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('on', flush=True)"
    write(tmp_path, "pass", before=f"{ignores}\nwhile True: pass")
    process = started(tmp_path, "check", "test.toml")
    until(process, "on\n")
    process.send_signal(signal.SIGINT)
    status, said = ended(process)
    assert status == 1
    assert said.startswith("error: interrupted: mine.py, line 2, in <module> does not return")


def test_the_second_ctrl_c_ends_the_whole_group(tmp_path: Path) -> None:
    write(
        tmp_path, "import subprocess, time; subprocess.Popen(['sleep', '1000']); time.sleep(10**6)"
    )
    process = started(tmp_path, "run", "test.toml")
    until(process, "started")
    deadline = time.monotonic() + PATIENCE_S
    while len(pids := group(process)) < 3:  # the command, its child, and what the controller began
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    ended(process)
    assert process.returncode in (1, -signal.SIGINT)
    assert not alive(pids)


def test_nothing_that_a_controller_has_begun_is_left(tmp_path: Path) -> None:
    begins = "import subprocess; sleeping = subprocess.Popen(['sleep', '1000'])"
    write(tmp_path, "pass", before=f"{begins}; open('pid', 'w').write(str(sleeping.pid))")
    assert alone(tmp_path, "run", "test.toml")[0] == 0
    assert not alive({int((tmp_path / "pid").read_text())})


def test_a_scenario_on_standard_input_reaches_the_child(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(RENO)
    text = scenario('{ python = "mine.py:Reno" }').replace(LONG, SHORT)
    done = subprocess.run(
        [sys.executable, "-m", "pathweave", "run", "-"],
        cwd=tmp_path,
        env=environment(),
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "results/stdin").rglob("manifest.json"))) == 1


def test_the_child_ends_when_the_command_is_killed(tmp_path: Path) -> None:
    write(tmp_path, "import time; time.sleep(10**6)")
    process = started(tmp_path, "run", "test.toml")
    until(process, "started")
    pids = group(process)
    assert len(pids) == 2
    process.kill()
    process.communicate()
    deadline = time.monotonic() + PATIENCE_S
    while alive(pids):
        assert time.monotonic() < deadline


def test_commands_without_controllers_in_files_have_no_child(tmp_path: Path) -> None:
    text = scenario('"reno"').replace(LONG, "1000 s")
    (tmp_path / "test.toml").write_text(text)
    process = started(tmp_path, "run", "test.toml")
    until(process, "started")
    assert group(process) == {process.pid}
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 1


def test_completion_executes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "pass", before="open('executed', 'w')")
    text = (tmp_path / "test.toml").read_text()
    (tmp_path / "test.toml").write_text(f'[sweep]\n"seed" = [1, 2]\n{text}')
    words = "pathweave run test.toml --only "
    done = subprocess.run(
        [sys.executable, "-m", "pathweave"],
        cwd=tmp_path,
        env=environment(
            _PATHWEAVE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD="4", TERM="dumb"
        ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "executed").exists()
