"""Controllers in Python files: their bits, their mistakes, and what is left of them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from controller_scenario import (
    EXAMPLES,
    RENO,
    broken,
    command,
    counter,
    failure,
    finished,
    mistakes,
    played,
    scenario,
)
from pathweave.core import core


def told(text: str, folder: Path) -> list[tuple[int, int, str, str | None]]:
    """Line, column, message and remedy of what is wrong with a scenario."""
    found = mistakes(text, folder)
    return [(each["line"], each["column"], each["message"], each["help"]) for each in found]


def declaration(tmp_path: Path, body: str, controller: str = "python = 'mine.py:Mine'") -> str:
    """What is wrong with a file."""
    (tmp_path / "mine.py").write_text(body)
    found = told(scenario(f"{{ {controller} }}"), tmp_path)
    assert len(found) == 1
    line, _, message, remedy = found[0]
    assert line == 27, "the scenario's line"
    return message if remedy is None else f"{message}; {remedy}"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ('{ python = "lia.py:Lia" }', '"lia"'),
        ('{ python = "xmp.py:Xmp", beta = 6 }', '{ name = "xmp", beta = 6 }'),
        ('{ python = "dctcp.py:Dctcp", alpha = 0.5 }', '{ name = "dctcp", alpha = 0.5 }'),
        ('{ python = "lia_compiled.py:Lia" }', '"lia"'),
    ],
)
def test_the_examples_give_the_bits_of_pathweaves_own(theirs: str, ours: str) -> None:
    expected, found = played(ours), played(theirs)
    assert found.results_hash == expected.results_hash
    # There was something to be wrong about.
    assert counter(expected, "dropped") > 0 or counter(expected, "marked") > 1000
    assert any(expected.tables["subflows"]["timeouts"])
    assert expected.tables["flows"]["controller"] == found.tables["flows"]["controller"]


def test_the_scenario_has_losses_and_marks() -> None:
    assert counter(played('"lia"'), "dropped") > 100
    assert counter(played('"xmp"'), "marked") > 1000
    assert played('"xmp"').results_hash != played('{ name = "xmp", beta = 6 }').results_hash


def test_any_number_of_threads_and_of_runs_at_a_time_gives_the_same_bits() -> None:
    text = scenario('{ python = "xmp.py" }')
    expected = finished(text, EXAMPLES).results_hash
    assert finished(text, EXAMPLES, threads=2).results_hash == expected
    loaded = core().load_text(text, "test", str(EXAMPLES), None, [], [], 1)
    runs = [loaded.variants[0].prepare(1) for _ in range(3)]
    for run in runs:
        assert run.most_threads == 1
        run.start()
    while any(run.poll()["state"] == "running" for run in runs):
        time.sleep(0.005)
    assert [run.take().results_hash for run in runs] == [expected] * 3


def test_parameters_are_checked_as_those_of_pathweaves_own() -> None:
    text = scenario('{ python = "xmp.py:Xmp", beta = 1 }')
    (line, column, message, _) = told(text, EXAMPLES)[0]
    assert text.splitlines()[line - 1][column - 1 :].startswith("1 }")
    assert message == "xmp cannot have beta = 1: beta takes an integer from 2 to 1024"
    (_, _, message, remedy) = told(scenario('{ python = "xmp.py", bta = 4 }'), EXAMPLES)[0]
    assert message == 'xmp has no parameter "bta"'
    assert remedy == 'did you mean "beta"? Accepted: beta'


def test_the_object_has_its_parameters_and_a_choice_is_a_word(tmp_path: Path) -> None:
    line = 'assert (self.n, self.mode, type(self.n)) == (3, "slow", int), (self.n, self.mode)'
    text = broken(tmp_path, line)
    source = (tmp_path / "mine.py").read_text()
    declared = (
        '    n = Parameter(default=2, minimum=1, maximum=9, help="A number.")\n'
        '    mode = Parameter(default="fast", choices=["slow", "fast"], help="A mode.")\n'
    )
    (tmp_path / "mine.py").write_text(source.replace('    name = "reno"\n', declared))
    with_values = text.replace('"mine.py:Reno"', '"mine.py:Reno", n = 3, mode = "slow"')
    found = finished(with_values, tmp_path)
    assert set(found.tables["flows"]["controller"]) == {"Reno"}
    failed = failure(text, tmp_path)
    assert "AssertionError: (2, 'fast')" in failed
    (_, _, message, _) = told(text.replace(":Reno", ':Reno", mode = "odd'), tmp_path)[0]
    assert message == 'Reno cannot have mode = "odd": mode takes one of "fast", "slow"'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = (", "mine.py, line 1: SyntaxError: '(' was never closed"),
        ("\nimport nothing_of_this_name", "mine.py, line 2, in <module>: ModuleNotFoundError: No"),
        ("x = 1", "mine.py has no class Mine; a controller is a class that derives from"),
        ("Mine = 1", "mine.py: Mine is not a controller; a controller is a class that derives"),
        ("class Mine: pass", "mine.py: Mine is not a controller; a controller is a class that"),
        (
            RENO,
            'mine.py has no class Mine; write "mine.py:Reno"',
        ),
        (
            RENO.replace("Reno", "Mine").replace("def on_loss", "def on_lost"),
            "mine.py, line 5: Mine has no on_loss; write def on_loss(self, paths, r, loss, now)",
        ),
        (
            RENO.replace("Reno", "Mine").replace("loss, now):", "loss):"),
            "mine.py, line 16: Mine has on_loss without the arguments paths, r, loss, now; write",
        ),
        (
            RENO.replace("Reno", "Mine").replace('name = "reno"', "cuts = {}"),
            "mine.py, line 5: Mine has cuts = {}, which all connections would share; make it in",
        ),
        (
            RENO.replace("Reno", "Mine").replace('name = "reno"', "ecn = 300"),
            'mine.py, line 5: Mine has ecn = 300; ecn is "off" or a number from 1 to 255',
        ),
        (
            RENO.replace("Reno", "Mine").replace(
                'name = "reno"', 'gain = Parameter(default=2.0, maximum=1, help="A gain.")'
            ),
            'mine.py, line 5: Mine has a parameter "gain" that needs a default between -inf and',
        ),
        (
            RENO.replace("Reno", "Mine").replace(
                'name = "reno"', 'python = Parameter(default=2.0, help="A gain.")'
            ),
            'mine.py, line 5: Mine cannot have a parameter "python", a key of its own; use another',
        ),
        (
            RENO.replace("Reno", "Mine").replace(
                'name = "reno"', "def __init__(self, **parameters):\n        1 / 0"
            ),
            "mine.py, line 9, in __init__: ZeroDivisionError: division by zero (raised when",
        ),
        ("raise SystemExit(3)\n", "mine.py, line 1, in <module>: SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_own_line(
    tmp_path: Path, body: str, expected: str
) -> None:
    assert declaration(tmp_path, body).startswith(expected)


def test_a_file_with_one_class_needs_no_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(RENO)
    assert finished(scenario('{ python = "mine.py" }'), tmp_path).results_hash
    two = RENO + "\nclass Other(Reno):\n    pass\n"
    told = declaration(tmp_path, two, "python = 'mine.py'")
    assert told == ('mine.py has 2 classes of controllers; write "mine.py:Reno" or "mine.py:Other"')


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 / (ack.now < 20_000_000_000)", "mine.py, line 11, in on_ack: ZeroDivisionError: "),
        ('paths[r].window = float("nan")', "ValueError: window must be a finite number of packets"),
        ('paths[r].window = float("inf")', "got inf"),
        ('paths[r].ssthresh = float("nan")', "ssthresh must be a number of packets from 0"),
        ("paths[r].window = 0.25; return", "on_ack left subflow 0 a window of 0.25 packets"),
        ("paths[r].acked = 3", "AttributeError: "),
        ("paths[7]", "IndexError: "),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("slow_start(paths[r], -1)", "OverflowError: "),
        ("slow_start(paths[r], -1)", " (while processing 'packets')"),
        ("respond_to_loss(paths[r], 'lost')", 'loss must be "fast-retransmit" or "timeout"'),
    ],
)
def test_an_exception_names_file_line_flow_and_time(
    tmp_path: Path, line: str, expected: str
) -> None:
    message = failure(broken(tmp_path, line), tmp_path)
    assert message.startswith("the controller of flow ")
    assert '(group "web", h' in message
    assert " failed at " in message
    assert "mine.py" in message
    assert expected in message
    if "now" in line:
        assert "failed at 20." in message, "within a millisecond of what it was made for"


def test_a_path_that_is_kept_says_so(tmp_path: Path) -> None:
    keep = "self.kept = getattr(self, 'kept', None) or paths; self.kept is paths and None"
    assert finished(broken(tmp_path, keep), tmp_path).results_hash  # the same object each time
    use = "self.first = getattr(self, 'first', None) or paths[r]; keep.append((paths[r], ack))"
    text = broken(tmp_path, use)
    source = (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text("import builtins\nkeep = builtins.kept_paths\n" + source)
    kept: list = []
    import builtins

    builtins.kept_paths = kept  # type: ignore[attr-defined]
    finished(text, tmp_path)
    path, ack = kept[0]
    for read in (lambda: path.window, lambda: path.may_grow_by(ack), lambda: ack.packets):
        with pytest.raises(RuntimeError, match="was lent for a call that is over"):
            read()
    with pytest.raises(RuntimeError, match="was lent for a call that is over"):
        path.window = 3.0
    assert repr(path) == "<Path of a call that is over>"


def test_explain_knows_a_controller_in_a_file() -> None:
    done = command(EXAMPLES, "explain", "xmp.py:Xmp")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "xmp BOS on every subflow; shifts traffic" in text
    assert "beta 4 whole numbers 2 to 1024 A marked round costs 1/beta of the window." in text
    assert "At the end of each round of subflow r" in text
    told = command(EXAMPLES, "explain", "xmp.py:Lia")
    assert told.returncode == 2
    assert 'xmp.py has no class Lia; write "xmp.py:Xmp"' in " ".join(told.stderr.split())
    assert command(EXAMPLES, "explain", "none.py:Lia").returncode == 2


def test_the_schema_knows_files_with_controllers() -> None:
    import jsonschema

    schema = json.loads(core().schema())
    group = jsonschema.Draft202012Validator(
        {"$ref": "#/$defs/Controller", "$defs": schema["$defs"]}
    )
    assert group.is_valid({"python": "mine.py:Mine", "gain": 0.5, "mode": "fast"})
    assert group.is_valid({"library": "mine.so", "sha256": "0" * 64})
    assert not group.is_valid({"python": "mine.py", "name": "lia"})
    assert not group.is_valid({"python": "mine.py", "library": "mine.so"})
    assert not group.is_valid({"python": 3})
    assert not group.is_valid({"gain": 0.5})
    assert group.is_valid({"name": "xmp", "beta": 4})
    assert group.is_valid("lia")
