"""Files that are none, that never end or that no parser survives: an error in a line, at once."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from conftest import Command, environment, write_scenario
from pathweave.errors import InputError
from pathweave.reading import DEPTH, read_json_value, read_text, read_toml
from pathweave.shown import cut, json_escaped, message, visible, visible_json

AXES = 'scheme = ["DCTCP", "XMP-4"]'
QUICK = "results/tab1/quick"
RUN = f"{QUICK}/xmp-4-s1"
PATIENCE_S = 60
ESCAPES = "\x1b[2J\u202etxt.\x9b1A"
SHOWN = "\\x1b[2J\\u202etxt.\\x9b1A"


@pytest.fixture
def made(cli: Command, tmp_path: Path) -> Path:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    return tmp_path


def alone(folder: Path, *arguments: str, limit: int | None = None) -> tuple[int, str]:
    """Run `pathweave` in a process of its own, which is killed if it hangs."""
    limited = None
    if limit is not None:
        limited = partial(resource.setrlimit, resource.RLIMIT_AS, (limit, limit))
    done = subprocess.run(
        [sys.executable, "-m", "pathweave", *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE_S,
        preexec_fn=limited,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def in_place_of(path: Path, kind: str) -> None:
    """A pipe, or a link to a device that never ends, in place of a file."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize(
    ("file", "verb"),
    [
        (f"{RUN}/manifest.json", ("verify", "results", "--hashes")),
        (f"{RUN}/flows.parquet", ("verify", "results", "--hashes")),
        (f"{RUN}/timing.json", ("verify", "results", "--hashes")),
        (f"{QUICK}/scenario.json", ("verify", "results", "--hashes")),
        (f"{RUN}/flows.parquet", ("merge", "results", "--into", "all")),
    ],
)
def test_what_is_no_file_is_named(made: Path, file: str, verb: tuple[str, ...], kind: str) -> None:
    in_place_of(made / file, kind)
    code, said = alone(made, *verb)
    assert code == 1
    what = "a pipe, not a file" if kind == "pipe" else "a link, and no file"
    assert f"{file} is {what}" in said.replace(f"{made}/", "")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_scenario_and_published_values_that_are_no_files(tmp_path: Path, kind: str) -> None:
    (tmp_path / "one.toml").write_text('title = "One"')
    in_place_of(tmp_path / "two.toml", kind)
    code, said = alone(tmp_path, "check", "two.toml")
    assert (code, said) == (2, "error: two.toml is a pipe or a device, not a scenario file\n")
    in_place_of(tmp_path / "expected.toml", kind)
    with pytest.raises(InputError, match=rf"expected\.toml is a {kind}, not a file"):
        read_toml(tmp_path / "expected.toml")


def test_a_pipe_beside_a_run_is_not_copied(cli: Command, made: Path) -> None:
    os.mkfifo(made / RUN / "pipe")
    (made / RUN / "timing.json").unlink()
    os.mkfifo(made / RUN / "timing.json")
    (made / RUN / "secret").symlink_to("/etc/hostname")
    (made / RUN / "notes.txt").write_text("mine")
    assert alone(made, "merge", "results", "--into", "all")[0] in (0, 1)
    assert cli("merge", "results", "--into", "all").returncode == 0
    copied = made / RUN.replace("results", "all", 1)
    assert (copied / "notes.txt").read_text() == "mine"
    assert not (copied / "pipe").exists()
    assert not (copied / "secret").exists()


def test_a_large_file_beside_a_run_is_not_copied(cli: Command, made: Path) -> None:
    with (made / RUN / "hole").open("wb") as file:
        file.truncate(1 << 40)
    (made / RUN / "folder").mkdir()
    assert cli("merge", "results", "--into", "all").returncode == 0
    copied = {each.name for each in (made / RUN.replace("results", "all", 1)).iterdir()}
    assert "manifest.json" in copied
    assert not copied & {"hole", "folder"}


@pytest.mark.parametrize("link", ["report", "report/report.html", "report/charts"])
def test_a_report_is_not_written_through_links(made: Path, link: str) -> None:
    """Who has made the folder could name any file of the user."""
    mine = made / "mine"
    mine.mkdir()
    (mine / "kept").write_text("mine")
    path = made / "results" / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(mine / "kept" if link.endswith("html") else mine)
    code, said = alone(made, "report", "results")
    if link.endswith("html"):  # the page takes the place of the link
        assert code == 0
        assert not path.is_symlink()
    else:
        assert (code, said.count("is a link, through which nothing is written")) == (2, 1), said
    assert [each.name for each in mine.iterdir()] == ["kept"]
    assert (mine / "kept").read_text() == "mine"


@pytest.mark.parametrize(
    "verb",
    [("results",), ("report",), ("verify", "--hashes"), ("merge", "--into", "all"), ("export",)],
    ids=lambda verb: verb[0],
)
def test_links_are_not_followed_out_of_a_folder(made: Path, verb: tuple[str, ...]) -> None:
    (made / "results/everything").symlink_to("/")
    (made / "elsewhere").mkdir()
    (made / RUN).rename(made / "elsewhere/run")
    (made / RUN).symlink_to(made / "elsewhere/run")
    code, said = alone(made, verb[0], "results", *verb[1:])
    assert code in (0, 1), said
    assert "elsewhere" not in said or "is a link out of results" in said
    for copied in made.glob("all/**/manifest.json"):
        assert "xmp" not in str(copied)


def test_a_run_whose_file_is_a_link_is_left_out(made: Path) -> None:
    path = made / RUN / "flows.parquet"
    path.rename(made / "flows.parquet")
    path.symlink_to(made / "flows.parquet")
    code, said = alone(made, "merge", "results", "--into", "all")
    assert "is a link, and no file of a run is one" in " ".join(said.split())
    assert not list(made.glob("all/*/*/xmp*"))
    assert code == 1


def test_names_are_no_markup(cli: Command, tmp_path: Path) -> None:
    name = "a[/b][link=http://evil]x"
    write_scenario(tmp_path, axes=f'scheme = ["DCTCP", "{name}"]')
    for arguments in (("run", "tab1.toml"), ("results", "results"), ("report", "results")):
        done = cli(*arguments, *(["--out", "o[/b]y"] if arguments[0] == "report" else []))
        assert done.returncode == 0, done.stderr
    fresh = cli("run", "tab1.toml", "--dry-run", "--out", "o[/b]z")
    assert name in fresh.stdout
    assert (tmp_path / "o[/b]y/report.html").exists()


def test_links_that_lead_back_end(cli: Command, made: Path) -> None:
    for name in ("a", "b"):
        (made / "results" / name).symlink_to(made / "results")
    done = cli("results", "results")
    assert done.returncode == 0
    assert "tab1" in done.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[" * 100_000, "is nested too deeply: 64 levels are allowed"),
        ('{"a":' * 100_000, "is nested too deeply"),
        ("[" * (DEPTH + 1) + "1" + "]" * (DEPTH + 1), "is nested too deeply"),
        ("9" * 10_000, "is not a JSON file"),
        ("9" * 30, "has a whole number of more than 64 bits"),
        ("1e999", "has a number that is too large"),
        ("NaN", "is not a JSON file: NaN is not a number of JSON"),
        ('"\\ud800"', "has a text with half of a character"),
        ("", "is not a JSON file"),
    ],
)
def test_json_that_is_made_to_break_readers(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=said):
        read_json_value(tmp_path / "a.json")


def test_as_deep_as_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[" * DEPTH + "1" + "]" * DEPTH)
    assert read_json_value(tmp_path / "a.json")


@pytest.mark.parametrize("content", ["a = " + "[" * 100_000, "a = " + "9" * 10_000, "a = inf"])
def test_toml_that_is_made_to_break_readers(tmp_path: Path, content: str) -> None:
    (tmp_path / "expected.toml").write_text(content)
    with pytest.raises(InputError, match=r"expected\.toml"):
        read_toml(tmp_path / "expected.toml")


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 11)
    with pytest.raises(InputError, match="a is too large"):
        read_text(tmp_path / "a", 10)
    assert read_text(tmp_path / "a", 11) == 11 * "x"


def test_standard_input_that_never_ends(tmp_path: Path) -> None:
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run(
            [sys.executable, "-m", "pathweave", "check", "-"],
            cwd=tmp_path,
            env=environment(),
            stdin=endless,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: standard input is too large: it may have 64 MiB at most\n"


@pytest.mark.parametrize("content", ["[" * 100_000, '{"seed": ' + "9" * 10_000 + "}"])
def test_a_manifest_that_is_made_to_break_readers(cli: Command, made: Path, content: str) -> None:
    (made / RUN / "manifest.json").write_text(content)
    for verb in (("verify",), ("report", "--no-pictures"), ("merge", "--into", "all"), ("export",)):
        done = cli(verb[0], "results", *verb[1:])
        assert done.returncode in (0, 1)
        assert "Traceback" not in done.stderr
    assert cli("run", "tab1.toml").returncode == 0


def test_what_would_act_on_a_terminal_is_shown_as_escapes() -> None:
    assert visible(f"a\tb\n{ESCAPES}") == f"a\tb\n{SHOWN}"
    assert visible("größer – 你好 😀") == "größer – 你好 😀"
    assert json.loads(visible_json(json.dumps([ESCAPES, "\\u001b"]))) == [SHOWN, "\\u001b"]
    assert json.loads(visible_json(json.dumps([ESCAPES], ensure_ascii=False))) == [SHOWN]
    text = json_escaped(json.dumps([ESCAPES], ensure_ascii=False))
    assert json.loads(text) == [ESCAPES]
    assert visible(text) == text


def test_long_messages_are_cut_with_a_note() -> None:
    assert cut("x" * 2048) == "x" * 2048
    assert message("x" * 10_000) == f"{'x' * 2048} ... (7,952 more characters)"


def test_texts_of_results_are_shown_as_escapes(cli: Command, made: Path) -> None:
    """In the terminal and on the page: titles, labels, notes, counters, commands."""
    for name in ("dctcp-s1", "xmp-4-s1"):
        path = made / QUICK / name / "manifest.json"
        said = json.loads(path.read_text())
        said["variant"]["label"] += ESCAPES
        said["variant"]["axes"]["scheme"] += ESCAPES
        said["notes"] = [ESCAPES]
        said["scenario"]["title"] = ESCAPES
        path.write_text(json.dumps(said))
    about = made / QUICK / "scenario.json"
    said = json.loads(about.read_text())
    said |= {"title": ESCAPES, "command": ESCAPES, "path": ESCAPES, "axes": []}
    about.write_text(json.dumps(said))
    verbs = [
        ("results",),
        ("results", "--json"),
        ("verify", "results"),
        ("report", "results", "--no-pictures"),
        ("report", "results", "--no-pictures", "--json"),
        ("compare", "results", "results"),
        ("merge", "results", "--into", "all"),
    ]
    for verb in verbs:
        done = cli(*verb)
        text = done.stdout + done.stderr
        assert not _hidden(text), verb
        if "--json" in verb:
            json.loads(done.stdout)
    page = (made / "results/report/report.html").read_text()
    assert not _hidden(page)
    there = [text in page for text in (SHOWN, SHOWN.replace("\\", "\\\\"))]
    assert there == [True, True]  # in texts, and in the data of charts


def _hidden(text: str) -> list[str]:
    """What in a text acts on a terminal; a whole page in a message would take minutes."""
    return sorted({each for each in text if visible(each) != each})


def test_a_long_text_of_results_is_cut(cli: Command, made: Path) -> None:
    path = made / RUN / "manifest.json"
    said = json.loads(path.read_text())
    said["tables"] = {"x" * 100_000: {}}
    path.write_text(json.dumps(said))
    done = cli("verify", "results")
    assert done.returncode == 1
    assert max(map(len, done.stdout.splitlines())) < 2300


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"m\xff.toml")
    (tmp_path / name).write_text('title = "One"')
    code, said = alone(tmp_path, "check", name)
    assert code == 2
    assert said == "error: m\\xff.toml is not UTF-8, which names of files must be: rename it\n"


@pytest.mark.parametrize("verb", ["results", "verify", "report", "export", "merge"])
def test_a_folder_whose_name_is_not_utf_8(made: Path, verb: str) -> None:
    folder = made / os.fsdecode(b"r\xff")
    (made / "results").rename(folder)
    more = ["--into", "../all"] if verb == "merge" else []
    code, said = alone(folder, verb, ".", *more)
    assert code in (0, 1, 2)
    assert "Traceback" not in said
    if code == 2:
        assert "is not UTF-8" in said


@pytest.mark.parametrize("mebibytes", [500, 1200])
@pytest.mark.parametrize("verb", [("verify", "results"), ("report", "results"), ("results",)])
def test_too_little_address_space(tmp_path: Path, verb: tuple[str, ...], mebibytes: int) -> None:
    code, said = alone(tmp_path, *verb, limit=mebibytes << 20)
    assert code == 1
    assert said.startswith(f"error: the address space is limited to {mebibytes} MiB (ulimit -v)")
    assert len(said.splitlines()) == 1
