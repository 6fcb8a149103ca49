"""`pathweave bench --against`: the same flows in another simulator, and how they compare."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import fake_simulators
from conftest import environment, run_here
from fake_simulators import bench_binary, executable, is_alive, simulator
from pathweave.bench import native
from pathweave.bench.against.cases import CASES, SEED, Case
from pathweave.bench.against.permutation import draw, path_lines
from pathweave.bench.against.scenario import scenario
from pathweave.bench.against.schedule import Durations, Step, steps
from pathweave.bench.against.simulator import Job, Simulator
from pathweave.bench.against.simulators import SIMULATORS

TREE = Path(__file__).parent.parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder beside Pathweave's bench binary; temporary files go to `temporary`."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    built = bench_binary(tmp_path)
    monkeypatch.setattr(native, "build", lambda _: built)
    (tmp_path / "other").mkdir()
    return tmp_path / "other"


def against(name: str, folder: Path | str, *more: str) -> tuple[object, str, str]:
    return run_here(
        "bench", "--against", name, str(folder), "--until", "1 ms", "--turns", "2", *more
    )


# What is compared.


@pytest.mark.parametrize(("k", "subflows"), [(4, 1), (8, 4)])
def test_the_permutation_takes_shortest_paths(k: int, subflows: int) -> None:
    flows = draw(k, subflows, 1)
    hosts = {f"h{number}" for number in range(k**3 // 4)}
    assert {flow.source for flow in flows} == hosts
    assert {flow.destination for flow in flows} == hosts
    assert all(flow.source != flow.destination for flow in flows)
    for flow in flows:
        assert len(flow.subflows) == subflows
        for subflow in flow.subflows:
            assert (subflow.data[0], subflow.data[-1]) == (flow.source, flow.destination)
            assert subflow.acknowledgements[0] == flow.destination
            assert subflow.acknowledgements[-1] == flow.source
            for path in (subflow.data, subflow.acknowledgements):
                assert len(set(path)) == len(path) in (3, 5, 7)
    assert flows == draw(k, subflows, 1) != draw(k, subflows, 2)


def test_paths_are_spread_over_all_cores() -> None:
    used = Counter(
        node
        for flow in draw(8, 4, SEED)
        for subflow in flow.subflows
        for node in subflow.data
        if node.startswith("core")
    )
    assert len(used) == 16
    assert max(used.values()) < 3 * min(used.values())


def test_two_lines_for_each_subflow() -> None:
    lines = path_lines(draw(4, 2, 1)).splitlines()
    assert len(lines) == 16 * 2 * 2
    assert all(re.fullmatch(r"h\d+( (edge|agg|core)\d\.\d)+ h\d+", line) for line in lines)


@pytest.mark.parametrize("other", SIMULATORS.values(), ids=lambda each: each.name)
def test_pathweave_accepts_its_scenarios(other: Simulator, tmp_path: Path) -> None:
    """With the real core, which finds nodes and links that are not there."""
    for case in CASES.values():
        if other.left_out(case) is None:
            path = tmp_path / f"{case.name}.toml"
            path.write_text(scenario(case, draw(case.k, case.subflows, SEED), other))
            code, _, errors = run_here("check", str(path))
            assert (code, errors) == (0, "")


def job(case: Case, *, count_hops: bool) -> Job:
    return Job(case, Path("a/b.paths"), until_ns=20_000_000, count_hops=count_hops)


def test_options_say_what_the_scenario_says() -> None:
    htsim, ns3 = SIMULATORS["htsim"], SIMULATORS["ns3"]
    assert htsim.arguments(job(CASES["k16-lia4"], count_hops=True)) == [
        "--paths=a/b.paths",
        "--controller=lia",
        "--subflows=4",
        "--seed=1",
        "--stop-at-ns=20000000",
        "--link-rate-mbps=1000",
        "--link-delay-ns=10000",
        "--queue-limit=100",
        "--marking-threshold=0",
        "--packet=1500",
        "--count-hops",
    ]
    timed = ns3.arguments(job(CASES["k8-dctcp"], count_hops=False))
    assert "--marking-threshold=15" in timed
    assert "--stop-at=20000000ns" in timed
    assert not any("count-hops" in option for option in timed)


@pytest.mark.parametrize("name", ["htsim", "ns3"])
def test_the_real_programs_know_all_options(name: str) -> None:
    """What the stand-ins accept is what the sources declare."""
    text = (TREE / f"validation/{name}/source/settings.cc").read_text()
    given = SIMULATORS[name].arguments(job(CASES["k8-dctcp"], count_hops=True))
    options = {option.partition("=")[0] for option in given}
    assert options == set(fake_simulators.OPTIONS[name])
    for option in options:
        spelled = option if name == "htsim" else option.removeprefix("--")
        assert f'"{spelled}"' in text


# What comes out.


def test_compares_case_by_case(folder: Path) -> None:
    simulator(folder, "htsim")
    written = folder / "out.json"
    code, printed, said = against("htsim", folder, "--json", str(written))
    assert code == 0
    assert [line.rstrip() for line in printed.splitlines()] == TABLE.splitlines()
    # How long it takes depends on what else the machine does.
    assert re.sub(r"about \d+:\d\d ", "about 0:00 ", said).splitlines() == PROGRESS
    found = json.loads(written.read_text())
    assert found["against"] == "htsim"
    assert found["until"] == "1 ms"
    assert found["turns"] == 2
    assert found["left_out"] == {}
    case = found["cases"]["k8-lia4"]
    assert (case["flows"], case["subflows"]) == (128, 4)
    hops = case["htsim"]["packet_hops"]
    assert case["htsim"]["cpu_s"] == [0.5, 0.5]
    assert case["htsim"]["goodput_share"] == 0.125
    assert case["htsim"]["packet_hops_per_cpu_s"]["median"] == hops / 0.5
    assert case["pathweave"]["packet_hops"] == 128_000
    assert case["ratio"]["most"] == pytest.approx(128_000 / 0.02 / (hops / 0.5))
    assert not list((folder.parent / "temporary").iterdir())


TABLE = """\
                            goodput            packet-hops
              packet-hops     share    CPU s     per CPU-s             range
────────────────────────────────────────────────────────────────────────────
k8-dctcp
  htsim            1.48 M    12.5 %    0.500        2.95 M   2.95 M – 2.95 M
  Pathweave         128 k    93.0 %   0.0200        6.40 M   6.40 M – 6.40 M
  ratio                                               2.17       2.17 – 2.17
k8-lia4
  htsim            5.90 M    12.5 %    0.500        11.8 M   11.8 M – 11.8 M
  Pathweave         128 k    93.0 %   0.0200        6.40 M   6.40 M – 6.40 M
  ratio                                              0.542     0.542 – 0.542

1 ms of simulated time; medians and ranges of 2 runs in turn.
The ratio is Pathweave's packet-hops per CPU-second over the other's, turn by turn.
Packet-hops: htsim's traffic log counted packets, data and acknowledgements, \
that left a pipe (the end of a link), in a run of its own that was not timed.
Pathweave counts packets that arrive at the end of a link.
CPU seconds: setting up is not counted for the other simulator; for Pathweave it is.
"""
PROGRESS = """\
building pathweave-bench
run 1 of 10: k8-dctcp, htsim, counting hops
run 2 of 10: k8-dctcp, htsim, turn 1
run 3 of 10: k8-dctcp, Pathweave, turn 1
run 4 of 10: k8-dctcp, htsim, turn 2, about 0:00 of wall time left
run 5 of 10: k8-dctcp, Pathweave, turn 2, about 0:00 of wall time left
run 6 of 10: k8-lia4, htsim, counting hops, about 0:00 of wall time left
run 7 of 10: k8-lia4, htsim, turn 1, about 0:00 of wall time left
run 8 of 10: k8-lia4, Pathweave, turn 1, about 0:00 of wall time left
run 9 of 10: k8-lia4, htsim, turn 2, about 0:00 of wall time left
run 10 of 10: k8-lia4, Pathweave, turn 2, about 0:00 of wall time left
""".splitlines()


def test_packet_hops_are_counted_once_and_not_in_timed_runs(folder: Path) -> None:
    simulator(folder, "htsim")
    against("htsim", folder, "--case", "k8-dctcp")
    calls = (folder / "calls").read_text().splitlines()
    assert ["--count-hops" in call for call in calls] == [True, False, False]
    ours = (folder.parent / "calls").read_text().splitlines()
    assert ours == ["Pathweave k8-dctcp.toml 1 ms"] * 2


def test_what_ns3_has_not_is_left_out(folder: Path) -> None:
    simulator(folder, "ns3")
    written = folder / "out.json"
    code, printed, said = against("ns3", folder, "--json", str(written))
    assert code == 0
    assert said.splitlines()[0] == "k8-lia4 is left out: ns-3 has no multipath TCP"
    assert printed.splitlines()[-1] == "k8-lia4 is left out: ns-3 has no multipath TCP."
    found = json.loads(written.read_text())
    assert list(found["cases"]) == ["k8-dctcp"]
    assert found["left_out"] == {"k8-lia4": "ns-3 has no multipath TCP"}
    code, _, said = against("ns3", folder, "--case", "k16-lia4", "--case", "k8-lia4")
    assert code == 2
    assert said == (
        "error: k16-lia4, k8-lia4: ns-3 has no multipath TCP; it can run k8-dctcp, k16-dctcp\n"
    )


# What can be wrong.


def test_a_folder_that_is_not_there(folder: Path) -> None:
    code, _, said = against("ns3", "nowhere")
    assert code == 2
    assert said == (
        "error: nowhere is not there: --against ns3 needs the folder that "
        "`validation/ns3/install.sh && make -C validation/ns3` builds into "
        "(validation/ns3/build)\n"
    )
    file = simulator(folder, "htsim")
    code, _, said = against("htsim", file)
    assert code == 2
    assert said.startswith(f"error: {file} is a file, not a folder: --against htsim needs ")
    code, _, said = run_here("bench", "--against", "htsim")
    assert code == 2
    assert said == (
        "error: --against htsim needs a folder: the one that "
        "`make -C validation/htsim HTSIM=FOLDER` builds into (validation/htsim/build)\n"
    )


def test_a_folder_without_the_program(folder: Path) -> None:
    code, _, said = against("htsim", folder)
    assert code == 2
    assert said == (
        f'error: there is no program "permutation" in {folder}: build it with '
        "`make -C validation/htsim HTSIM=FOLDER`\n"
    )
    simulator(folder, "ns3")
    code, _, said = against("htsim", folder)
    assert code == 2
    assert said == (
        f'error: {folder} has "comparison", the program of ns-3, and no "permutation": '
        "say --against ns3, or build it with `make -C validation/htsim HTSIM=FOLDER`\n"
    )


def test_htsims_own_folder(folder: Path) -> None:
    (folder / "sim").mkdir()
    (folder / "sim/libhtsim.a").touch()
    code, _, said = against("htsim", folder)
    assert code == 2
    assert said == (
        f"error: {folder} is htsim itself, whose programs draw their own permutations: build it "
        "with `make -C validation/htsim HTSIM=FOLDER`, where FOLDER has sim/libhtsim.a, and give "
        "validation/htsim/build\n"
    )


def test_a_program_that_cannot_be_run(folder: Path) -> None:
    program = folder / "permutation"
    program.write_text("no program")
    code, _, said = against("htsim", folder)
    assert code == 2
    assert said.splitlines()[-1] == f"error: {program} cannot be run: Permission denied"


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("print('cannot read it', file=sys.stderr); sys.exit(3)", "exit code 3: cannot read it"),
        ("sys.exit(1)", "exit code 1: it said nothing"),
        ("import os; os.kill(os.getpid(), 11)", "ended by SIGSEGV: it said nothing"),
    ],
)
def test_a_program_that_fails(before: str, reason: str, folder: Path) -> None:
    program = simulator(folder, "htsim", before=before)
    code, printed, said = against("htsim", folder)
    assert code == 1
    assert not printed
    assert said.splitlines()[-1] == (
        f"error: htsim ({program}) on k8-dctcp failed, {reason} (if it was built from other "
        "sources, build it again with `make -C validation/htsim HTSIM=FOLDER`)"
    )
    assert not list((folder.parent / "temporary").iterdir())


@pytest.mark.parametrize(
    ("prints", "last"),
    [
        ("", "nothing"),
        ("New: 3 Rtx: 4\n\n", '"New: 3 Rtx: 4"'),
        ('{"simulator": "htsim"}', '"{"simulator": "htsim"}"'),
        ("[1, 2]", '"[1, 2]"'),
    ],
)
def test_output_that_cannot_be_read(prints: str, last: str, folder: Path) -> None:
    program = executable(folder / "permutation", f"print({prints!r})")
    code, _, said = against("htsim", folder)
    assert code == 1
    assert said.splitlines()[-1] == (
        f"error: htsim ({program}) on k8-dctcp printed no figures: its last line should be JSON "
        f"with simulator, flows, cpu_s, delivered_bytes and packet_hops, and is {last}"
    )


def test_a_program_of_another_simulator(folder: Path) -> None:
    program = simulator(folder, "htsim", says="ns3")
    code, _, said = against("htsim", folder)
    assert code == 1
    assert said.splitlines()[-1] == (
        f'error: htsim ({program}) on k8-dctcp says that it is "ns3", not "htsim": build the right '
        "one with `make -C validation/htsim HTSIM=FOLDER`"
    )


def test_figures_that_do_not_belong_together(folder: Path) -> None:
    program = simulator(folder, "htsim", delivered="2_000_000 if counts else 1_999_999")
    code, _, said = against("htsim", folder)
    assert code == 1
    assert said.splitlines()[-1] == (
        "error: htsim on k8-dctcp delivered 1999999 bytes in one run and 2000000 in another: the "
        "packet-hops of one run do not hold for the others"
    )
    simulator(folder, "htsim", delivered="0")
    assert against("htsim", folder)[2].splitlines()[-1] == (
        f"error: htsim ({program}) on k8-dctcp took 9.9 s of CPU time and delivered 0 bytes: "
        "simulate more with --until"
    )
    simulator(folder, "htsim", before="subflows = 1")
    text = program.read_text().replace("len(paths) // 2 // subflows", "16")
    program.write_text(text)
    assert against("htsim", folder)[2].splitlines()[-1] == (
        f"error: htsim ({program}) on k8-dctcp ran 16 flows instead of 128"
    )
    program.write_text(text.replace("16,", "128,").replace("* 1000 if", "* 0 if"))
    assert against("htsim", folder)[2].splitlines()[-1] == (
        f"error: htsim ({program}) on k8-dctcp counted no packet-hops"
    )


def test_a_run_that_takes_too_long(folder: Path) -> None:
    program = simulator(folder, "ns3", before=NOTE_AND_SLEEP)
    code, _, said = against("ns3", folder, "--timeout", "1")
    assert code == 1
    assert said.splitlines()[-1] == (
        f"error: ns-3 ({program}) on k8-dctcp took longer than 1 s for 1 ms of simulated time: "
        "simulate less with --until, or allow more with --timeout"
    )
    assert not is_alive(int((folder / "process").read_text()))
    assert not list((folder.parent / "temporary").iterdir())


NOTE_AND_SLEEP = """\
import os
partial = pathlib.Path(__file__).parent / "process.partial"
partial.write_text(str(os.getpid()))
partial.rename(partial.with_suffix(""))
time.sleep(600)
"""


def test_pathweaves_own_side_can_fail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator(folder, "htsim")
    bench_binary(folder.parent, before="print('no memory', file=sys.stderr); sys.exit(2)")
    code, _, said = against("htsim", folder)
    assert code == 1
    assert said.splitlines()[-1] == ("error: Pathweave on k8-dctcp failed, exit code 2: no memory")
    bench_binary(folder.parent, before="import time; time.sleep(600)")
    assert against("htsim", folder, "--timeout", "1")[2].splitlines()[-1] == (
        "error: Pathweave on k8-dctcp took longer than 1 s: simulate less with --until, or allow "
        "more with --timeout"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing_behind(number: signal.Signals, folder: Path) -> None:
    simulator(folder, "htsim", before=NOTE_AND_SLEEP)
    call = (
        "import pathlib, sys\n"
        "from pathweave.bench import native\n"
        f"native.build = lambda _: pathlib.Path({str(folder.parent / 'pathweave-bench')!r})\n"
        "from pathweave.cli.app import main\nmain()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", call, "bench", "--against", "htsim", str(folder)],
        cwd=TREE,
        env=environment(TMPDIR=str(folder.parent / "temporary")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    noted = folder / "process"
    until = time.monotonic() + 60
    while not noted.exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(process.pid, number)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert not printed
    assert said.splitlines()[-1] == "error: interrupted"
    assert not is_alive(int(noted.read_text()))
    assert not list((folder.parent / "temporary").iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--against", "opnet", "x"], 'there is no simulator "opnet" here; there are htsim, ns3'),
        (["x"], "the folder x goes with --against htsim or --against ns3"),
        (["--case", "k8-dctcp"], "--case goes with --against htsim or --against ns3"),
        (["--turns", "2"], "--turns goes with --against htsim or --against ns3"),
        (["--timeout", "2"], "--timeout goes with --against htsim or --against ns3"),
        (
            ["--against", "htsim", ".", "--check"],
            "--check compares with recorded instructions: leave out --against or it",
        ),
        (
            ["--against", "htsim", ".", "--record", "x"],
            "--record compares with recorded instructions: leave out --against or it",
        ),
        (["--against", "htsim", ".", "--json", "no/x"], "there is no folder no"),
        (["--against", "htsim", ".", "--until", "soon"], '"soon" is not a time; write "20 ms"'),
        (
            ["--against", "htsim", ".", "--until", "0 ms"],
            'the simulated time must be above 0, got "0 ms"; write "20 ms"',
        ),
    ],
)
def test_wrong_command_lines(arguments: list[str], said: str) -> None:
    code, printed, errors = run_here("bench", *arguments)
    assert (code, printed, errors) == (2, "", f"error: {said}\n")


def test_a_case_that_is_not_there(folder: Path) -> None:
    simulator(folder, "htsim")
    code, _, said = against("htsim", folder, "--case", "k9")
    assert code == 2
    assert said == (
        'error: there is no case "k9"; there are k8-dctcp, k8-lia4, k16-dctcp, k16-lia4\n'
    )


# How long it takes.


def test_time_left_follows_from_runs_of_the_same_kind() -> None:
    small, large = CASES["k8-dctcp"], CASES["k16-dctcp"]
    left = steps([small, large], "ns-3", 1)
    assert [(step.case.name, step.simulator, step.turn) for step in left] == [
        ("k8-dctcp", "ns-3", 0),
        ("k8-dctcp", "ns-3", 1),
        ("k8-dctcp", "Pathweave", 1),
        ("k16-dctcp", "ns-3", 0),
        ("k16-dctcp", "ns-3", 1),
        ("k16-dctcp", "Pathweave", 1),
    ]
    took = Durations()
    assert took.left_s(left) is None
    took.add(left[0], 12.0)
    took.add(left[1], 8.0)
    assert took.left_s(left[2:]) is None
    took.add(left[2], 1.0)
    assert took.left_s(left[3:]) == pytest.approx(8 * 10.0 + 8 * 10.0 + 8 * 1.0)
    took.add(left[3], 40.0)
    assert took.left_s(left[4:]) == pytest.approx(40.0 + 8 * 1.0)
    assert took.left_s([]) == 0


def test_a_terminal_shows_what_is_done_and_what_is_left() -> None:
    from pathweave.cli.against import LiveWatch, watch

    written = StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    first, second = Step(CASES["k8-dctcp"], "ns-3", 0), Step(CASES["k8-dctcp"], "ns-3", 1)
    watching = watch(console, [first, second])
    assert isinstance(watching, LiveWatch)
    with watching:
        watching.begins(first)
        watching.ended(first, 75.0)
        watching.begins(second)
        console.print(watching._shown())
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue())
    assert "k8-dctcp, ns-3, turn 1" in shown
    assert "1 of 2 runs, about 1:15 left" in shown
    assert written.getvalue().count("\x1b[?25l") == written.getvalue().count("\x1b[?25h")
