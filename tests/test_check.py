"""`pathweave check`: what would be run, or what is wrong, without running anything."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conftest import Command, faked, real, run_here, write_scenario


def test_says_what_would_be_run(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = cli("check", "tab1.toml", "--size", "paper", "--seeds", "3", "--out", "elsewhere")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    for said in (
        "tab1.toml is valid: Made up",
        "size paper",
        "scheme DCTCP, XMP-4",
        "pattern Permutation, Incast",
        "variants 4",
        "seeds 1 to 3",
        "runs 12",
        "results elsewhere/tab1/paper",
    ):
        assert said in words
    assert [path.name for path in tmp_path.iterdir()] == ["tab1.toml"]


def test_knows_what_is_there(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    assert cli("run", "tab1.toml", "--only", "scheme=DCTCP").returncode == 0
    found = json.loads(cli("check", "tab1.toml", "--json").stdout)
    assert (found["runs"], found["present"]) == (4, 2)
    assert found["folder"] == "results/tab1/quick"
    only = json.loads(cli("check", "tab1.toml", "--json", "--only", "scheme=XMP-4").stdout)
    assert (only["runs"], only["present"]) == (2, 0)
    assert [variant["axes"]["scheme"] for variant in only["variants"]] == ["XMP-4", "XMP-4"]


@pytest.mark.parametrize("top", ["broken = 1", None])
def test_mistakes(cli: Command, tmp_path: Path, top: str | None) -> None:
    said = "is not there"
    if top is not None:
        write_scenario(tmp_path, top=top)
        said = "unknown key `broken`"
    done = cli("check", "tab1.toml")
    assert done.returncode == 2
    assert said in done.stderr
    assert not done.stdout
    as_json = cli("check", "tab1.toml", "--json")
    assert as_json.returncode == 2
    found = json.loads(as_json.stdout)
    assert found["valid"] is False
    assert said in found["error"]


def with_input(
    folder: Path, text: str, *arguments: str, compiled: bool = False
) -> subprocess.CompletedProcess[str]:
    return (real if compiled else faked)(folder, *arguments, given=text)


def test_standard_input(tmp_path: Path) -> None:
    text = write_scenario(tmp_path).read_text()
    done = with_input(tmp_path, text, "run", "-", "--only", "scheme=DCTCP")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/stdin/quick/dctcp-incast-s1/manifest.json").is_file()
    about = json.loads((tmp_path / "results/stdin/quick/scenario.json").read_text())
    assert dict(about["axes"])["scheme"] == ["DCTCP", "XMP-4"]
    named = with_input(tmp_path, text, "check", "-", "--name", "mine", "--json")
    assert json.loads(named.stdout)["folder"] == "results/mine/quick"
    broken = with_input(tmp_path, f"broken = 1\n{text}", "check", "-")
    assert (broken.returncode, broken.stdout) == (2, "")
    assert "stdin:1:1: unknown key" in broken.stderr
    wrong = with_input(tmp_path, text, "run", "tab1.toml", "--name", "x")
    assert wrong.returncode == 2
    assert "--name is for a scenario from standard input" in wrong.stderr


def test_files_are_those_of_the_working_folder(tmp_path: Path) -> None:
    """With the real core; `solve` reads standard input too."""
    (tmp_path / "sizes.csv").write_text("1000,0.5\n2000,1\n")
    text = (
        '[fabric]\nkind = "dumbbell"\nleft = 1\nbottleneck_rate = "10 Mbps"\n'
        'bottleneck_delay = "1 ms"\n[[traffic]]\nname = "a"\npattern = "flows"\n'
        'controller = "reno"\nsize = { kind = "cdf", file = "sizes.csv" }\n'
        'flows = [{ from = "S1", to = "D1" }]\n'
    )
    done = with_input(tmp_path, text, "run", "-", compiled=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/stdin/quick/base-s1/manifest.json").is_file()
    done = with_input(tmp_path, text, "solve", "-", "--name", "mine", compiled=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/mine/quick-optimum/base-s1/manifest.json").is_file()
    wrong = text.replace('"reno"', '"renoo"')
    found = with_input(tmp_path, wrong, "check", "-", "--json", compiled=True)
    assert found.returncode == 2
    (mistake,) = json.loads(found.stdout)["mistakes"]
    assert (mistake["file"], mistake["line"]) == ("stdin", 9)
    assert "reno" in mistake["help"]


def test_says_which_variants_a_setting_makes_the_same() -> None:
    fig1 = str(Path(__file__).parent.parent / "papers/xmp/fig1.toml")
    code, _, said = run_here("check", fig1)
    assert code == 0
    assert "note:" not in said
    code, _, said = run_here("check", fig1, "--set", "fabric.queue.mark.k=40")
    assert code == 0
    assert 'note: variants "DCTCP, K = 10" and "DCTCP, K = 20" have the same settings' in said
    assert 'variants "Halving, K = 10" and "Halving, K = 20"' in said
    assert "--set replaces what variants set" in said


def test_warnings_name_key_variants_and_a_value() -> None:
    """Halving with K = 10 leaves the link idle, as the XMP paper says; K = 20 does not."""
    fig1 = str(Path(__file__).parent.parent / "papers/xmp/fig1.toml")
    code, _, said = run_here("check", fig1)
    assert code == 0
    words = " ".join(said.split())
    assert words.startswith("warning: fabric.queue.mark.k (in Halving, K = 10): K is 10 packets")
    assert words.endswith("help: k = 19")
    assert run_here("check", fig1, "--strict")[0] == 1
    assert run_here("check", fig1, "--strict", "--only", "threshold=K = 20")[0] == 0
    (found,) = json.loads(run_here("check", fig1, "--json")[1])["warnings"]
    assert (found["key"], found["variants"]) == ("fabric.queue.mark.k", ["Halving, K = 10"])
    assert found["advice"] == "k = 19"


@pytest.mark.parametrize("folder", ["examples", "survey"])
def test_our_own_scenarios_are_not_warned_of(folder: str) -> None:
    """But for loads that are meant: the end of a sweep, and that of a paper."""
    meant = {"load-sweep": "traffic.web.load", "data-mining": "traffic.long."}
    paths = sorted((Path(__file__).parent.parent / folder).glob("*.toml"))
    checked = 0
    for path in paths:
        if path.name == "survey.toml":  # not a scenario
            continue
        found = json.loads(run_here("check", str(path), "--json")[1])["warnings"]
        said = [each for each in found if not each["key"].startswith(meant.get(path.stem, "-"))]
        assert not said, path
        checked += 1
    assert checked >= 4


def test_a_run_prints_few_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The AMP paper's incast has many variants whose windows are too many for the queue."""
    from pathweave.cli.source import open_scenario
    from pathweave.cli.warned import MOST_AT_START, warn_before_run, warnings_of
    from pathweave.running.session import Request

    path = Path(__file__).parent.parent / "papers/amp/fig8.toml"
    session = open_scenario(Request(path=path, root=tmp_path), None)
    scenario = session.plan.scenario
    more = len(warnings_of(scenario, scenario.variants)) - MOST_AT_START
    assert more > 0
    warn_before_run(session)
    said = capsys.readouterr().err
    assert said.count("warning: ") == MOST_AT_START
    assert f"{more} more warnings: pathweave check has them all" in said
