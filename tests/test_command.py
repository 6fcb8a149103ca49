"""The command line: quick help, lists, the bench."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, environment, fake_command, run_here
from pathweave.bench import native
from pathweave.bench.cases import CASES, instructions_per_hop, run_cases, to_json
from pathweave.errors import InputError, PathweaveError

HEAVY = ("numpy", "polars", "vl_convert", "jinja2", "rich.live", "pathweave._core")


def test_help_answers_in_half_a_second() -> None:
    """CPU time, as a busy machine makes everybody wait; the quickest of three."""
    taken: list[float] = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "pathweave", "--help"],
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert "run " in done.stdout
        assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert min(taken) < 0.5


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, pathweave\n"
        "from pathweave.cli import app\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("controllers", "beta"),
        ("routings", "ecmp"),
        ("fabrics", "fat-tree"),
        ("patterns", "permutation"),
        ("operations", "all-to-all"),
        ("distributions", "even"),
        ("presets", "xmp-2013"),
        ("quantities", "goodput"),
    ],
)
def test_lists(cli: Command, kind: str, said: str) -> None:
    done = cli("list", kind)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    entries = json.loads(cli("list", kind, "--json").stdout)
    assert entries[0]["name"]


def test_explains_every_controller(cli: Command) -> None:
    for entry in json.loads(cli("list", "controllers", "--json").stdout):
        done = cli("explain", entry["name"])
        assert done.returncode == 0, done.stderr
        assert entry["source"].split()[0] in done.stdout
        for parameter in entry["parameters"]:
            assert parameter["name"] in done.stdout
        assert "`" not in done.stdout
        assert "](" not in done.stdout


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("ecmp", "routing", "Hash of addresses and ports"),
        ("fat-tree", "fabric", "K pods of k switches"),
        ("permutation", "pattern", '[[traffic]] pattern = "permutation"'),
        ("xmp-2013", "preset", "Values of the XMP paper"),
        ("goodput", "quantity", 'Goodput, in bit/s: column "goodput_bps" of the table "flows"'),
        ("FCT", "quantity", "Flow completion time, in seconds"),
    ],
)
def test_explains_other_names(cli: Command, name: str, kind: str, said: str) -> None:
    done = cli("explain", name)
    assert done.returncode == 0, done.stderr
    assert kind in done.stdout.splitlines()[0]
    assert said in done.stdout
    (entry,) = json.loads(cli("explain", name, "--json").stdout)
    assert (entry["kind"], entry["name"]) == (kind, name.lower())


def test_explains_all_that_a_name_stands_for() -> None:
    """With the real core, in which `decn` is a controller and a preset."""
    from pathweave.topics import all_topics, explain

    assert [topic.kind for topic in explain("decn").topics] == ["controller", "preset"]
    for topic in all_topics():
        assert str(explain(topic.name)).startswith(f"{topic.name} (")
        assert max(len(line) for line in topic.explanation.splitlines()) <= 78


@pytest.mark.parametrize(
    ("typo", "said"),
    [
        ("xmpp", 'did you mean "xmp" (controller)'),
        ("permutaton", 'did you mean "permutation" (pattern)?'),
        ("utilization", '"utilisation" (quantity)'),
        ("zzz", "`pathweave list` has"),
    ],
)
def test_explain_says_what_there_is_instead(cli: Command, typo: str, said: str) -> None:
    done = cli("explain", typo)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_schema_and_version(cli: Command) -> None:
    assert json.loads(cli("schema").stdout) == {"title": "scenario"}
    assert cli("--version").stdout == "pathweave 0.0.test (results of 0.0.test)\n"


def test_missing_core_is_one_line(tmp_path: Path) -> None:
    code = (
        "import sys\nsys.modules['pathweave._core'] = None\n"
        "from pathweave.cli.app import main\nsys.argv = ['pathweave', 'schema']\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "`make setup` builds it" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def without_reader(command: list[str]) -> tuple[int, bytes]:
    """The exit code of a command whose output nobody reads, and what it said."""
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=30)
    return process.returncode, said


def test_closed_pipe_is_quiet() -> None:
    _, said = without_reader([sys.executable, "-m", "pathweave", "--help"])
    assert b"Traceback" not in said


@pytest.mark.parametrize("words", [["list", "controllers"], ["explain", "fairness"]])
def test_a_reader_that_has_enough_is_not_what_compare_finds(words: list[str]) -> None:
    assert without_reader(fake_command(words)) == (141, b"")


FAKE_BENCH = """#!/bin/sh
# FILE --until "T ms" --json
t=${3% ms}
hops=$((1000 * ${t%.*}))
printf '{"packet_hops": %s, "cpu_s": 0.01, "peak_rss_mb": 20.5, ' "$hops"
printf '"results_hash": "abc", "goodput_share": 0.93}\\n'
"""
FAKE_VALGRIND = """#!/bin/sh
# --tool=callgrind --callgrind-out-file=X BINARY FILE --until "T ms" --json
shift 2
t=${4% ms}
echo "==1== Collected : $((5000000 + 300000 * ${t%.*}))" >&2
exec "$@"
"""


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bench binary and a valgrind that make their numbers up."""
    script(tmp_path, "valgrind", FAKE_VALGRIND)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    built = script(tmp_path, "pathweave-bench", FAKE_BENCH)
    monkeypatch.setattr(native, "build", lambda _: built)
    (tmp_path / "benches").mkdir()
    for case in CASES:
        (tmp_path / "benches" / f"{case}.toml").touch()
    return built


def test_start_up_cancels_out_of_instructions_per_hop(binary: Path) -> None:
    assert instructions_per_hop(binary, Path("x.toml")) == pytest.approx(300.0)


def test_bench_measures_all_cases(binary: Path) -> None:
    said: list[str] = []
    results = list(run_cases(binary.parent, "20 ms", count=True, said=said.append))
    found = to_json(results)
    assert list(found) == list(CASES)
    assert found["k16-xmp4"] == {
        "packet_hops": 20_000,
        "packet_hops_per_cpu_s": pytest.approx(2e6),
        "instructions_per_packet_hop": pytest.approx(300.0),
        "peak_rss_mb": 20.5,
        "goodput_share": 0.93,
        "results_hash": "abc",
    }
    without = list(run_cases(binary.parent, "20 ms", count=False, said=said.append))
    assert without[0].instructions_per_packet_hop is None


def test_bench_says_what_is_wrong(binary: Path) -> None:
    with pytest.raises(InputError, match="is not a time"):
        list(run_cases(binary.parent, "soon", count=False, said=lambda _: None))
    script(binary.parent, "pathweave-bench", "#!/bin/sh\necho 'no such case' >&2\nexit 3\n")
    with pytest.raises(PathweaveError, match="no such case"):
        list(run_cases(binary.parent, "20 ms", count=False, said=lambda _: None))
    script(binary.parent, "pathweave-bench", "#!/bin/sh\necho fine\n")
    with pytest.raises(PathweaveError, match="no usable JSON"):
        list(run_cases(binary.parent, "20 ms", count=False, said=lambda _: None))


def commands() -> list[tuple[str, ...]]:
    """Every command by its words, groups included."""
    from typer.main import get_command

    from pathweave.cli.app import app

    def below(command: Any, words: tuple[str, ...]) -> list[tuple[str, ...]]:
        found = [words]
        for name, child in getattr(command, "commands", {}).items():
            found += below(child, (*words, name))
        return found

    return below(get_command(app), ())


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_help_has_an_example_that_begins_with_its_verb(words: tuple[str, ...]) -> None:
    code, said, _ = run_here(*words, "--help")
    assert code == 0
    example = re.search(r"Example: (pathweave [^\n]*)", said)
    assert example is not None
    given = shlex.split(example[1])[1:]
    assert tuple(given[: len(words)]) == words
    for word in given:
        if word.startswith("--") and words[:1] not in ((), ("kernel",)):  # their verbs' options
            assert word in said.replace(example[0], "")
        if word.endswith(".toml") and words != ("init",):  # which writes it
            assert (Path(__file__).parent.parent / word).is_file()
    assert max(len(line) for line in said.splitlines()) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "error: missing argument 'SCENARIO'\n  help: pathweave run --help\n"),
        (["frobnicate"], "error: no such command 'frobnicate'\n  help: pathweave --help\n"),
        (["run", "a.toml", "--sizee", "3"], "error: no such option: --sizee (Possible options"),
        (["run", "a.toml", "--seeds", "0"], "for '--seeds': it must be at least 1\n"),
        (["run", "a.toml", "--seeds", "abc"], "for '--seeds': it must be a whole number\n"),
        (["report", "a.file"], "error: a.file is a file, not a folder with results\n"),
        (["list", "things"], 'error: nothing is listed as "things"; there are controllers, '),
        (["list"], "error: missing argument 'KIND'"),
        (["run", "nowhere.toml"], "error: nowhere.toml is not there\n"),
        (["run", "nowhere.toml", "--problems", "3"], "error: --utility and --problems are about"),
        (["report", "nowhere"], "error: there is no folder nowhere\n"),
        (["explain", "xmpp"], "error: nothing is called"),
    ],
)
def test_errors_have_one_style(
    fake: None, arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.file").touch()
    code, printed, errors = run_here(*arguments)
    assert code == 2
    assert not printed
    assert said in errors
    first, *more = errors.splitlines()
    assert first.startswith("error: ")
    assert all(line.startswith("  help: pathweave") for line in more)


def test_mistakes_in_scenarios_begin_as_other_errors(tmp_path: Path) -> None:
    """With the real core, which lays its messages out."""
    path = tmp_path / "x.toml"
    path.write_text(
        '[fabric]\nkind = "star"\nsenders = 1\n[[traffic]]\nsizes = 1\n' + "a = 1\n" * 2
    )
    code, _, errors = run_here("check", str(path))
    assert code == 2
    assert errors.startswith("error: ")
    assert "×" not in errors
    code, _, errors = run_here("check", str(path), "--size", "x" * 150)
    assert code == 2
    assert errors.startswith("error: ")


def test_interruption_before_anything_runs_is_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pathweave.topics.explain", interrupted)
    assert run_here("explain", "xmp") == (1, "", "error: interrupted\n")
