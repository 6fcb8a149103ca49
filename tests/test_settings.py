"""Results of different settings stand side by side and never share a table."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pathweave
from conftest import Command, environment, fake_command, write_scenario
from pathweave.errors import PathweaveError
from pathweave.results.differences import differences, sentences
from pathweave.results.lock import locked
from pathweave.results.read import find_runs, search
from pathweave.results.settings import Settings
from pathweave.running.session import Request, open_session, writing

if TYPE_CHECKING:
    from pathlib import Path

AXES = 'scheme = ["DCTCP", "XMP-4"]'


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_an_edited_scenario_mixes_with_nothing(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    write_scenario(tmp_path, axes=AXES, fake="flows = 20")
    done = cli("run", "tab1.toml", "--only", "scheme=DCTCP")
    assert done.returncode == 0, done.stderr
    first, second = names(tmp_path / "results/tab1")
    assert first == "quick"
    assert second.startswith("quick-")
    assert f"Results are in results/tab1/{second}" in done.stdout
    # What differs from the settings that have the plain name is said at once.
    assert "quick beside it has other settings (these / those):" in done.stdout
    assert "  flows: 20 / 40" in done.stdout
    for command in (("report", "results/tab1", "--no-pictures"), ("results", "results/tab1")):
        assert cli(*command).returncode == 0
    page = (tmp_path / "results/tab1/report/report.html").read_text()
    assert "tab1 was run with different settings" in page
    assert "flows: 40 / 20" in page
    scenarios = find_runs([tmp_path / "results"])
    assert [scenario.labels() for scenario in scenarios] == [["DCTCP", "XMP-4"], ["DCTCP"]]
    assert [scenario.apart for scenario in scenarios] == [first, second]
    with pytest.warns(UserWarning, match=f"{first} / {second}; flows: 40 / 20"):
        results = pathweave.load(tmp_path / "results")
    assert results.flows.group_by("settings", "variant").len().height == 3
    assert results.summary()["settings"].to_list() == [first, first, second]
    assert results.where(settings=second).flows.height == 20


def test_set_replaces_nothing(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    plain = tmp_path / "results/tab1/quick"
    (plain / "dctcp-s1/notes.txt").write_text("mine")
    before = {path: path.read_bytes() for path in plain.rglob("*") if path.is_file()}
    set_rate = ("--set", "fabric.bottleneck_rate=100 Mbps")
    assert cli("run", "tab1.toml", *set_rate).returncode == 0
    assert names(tmp_path / "results/tab1") == ["quick", "quick-bottleneck_rate=100Mbps"]
    assert {path: path.read_bytes() for path in plain.rglob("*") if path.is_file()} == before
    # It is there already, whichever command asks.
    again = cli("run", "tab1.toml", *set_rate)
    assert "2 of 2 runs are there already" in again.stderr


def test_fresh_leaves_what_others_wrote(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    run = tmp_path / "results/tab1/quick/dctcp-s1"
    (run / "notes.txt").write_text("mine")
    pl.DataFrame({"a": [1]}).write_parquet(run / "mine.parquet")
    (run / "plots").mkdir()
    assert cli("run", "tab1.toml", "--fresh").returncode == 0
    assert (run / "notes.txt").read_text() == "mine"
    assert (run / "mine.parquet").is_file()
    assert (run / "plots").is_dir()
    assert len(find_runs([tmp_path / "results"])[0].runs) == 2


def test_variants_of_one_name_are_two_rows_that_say_what_differs(
    cli: Command, tmp_path: Path
) -> None:
    own = '[own."XMP-4"]\nbeta = {}\nk = 10'
    write_scenario(tmp_path, axes=AXES, more=own.format(4))
    assert cli("run", "tab1.toml").returncode == 0
    write_scenario(tmp_path, axes=AXES, more=own.format(2))
    done = cli("run", "tab1.toml")
    assert "1 of 2 runs are there already" in done.stderr
    assert names(tmp_path / "results/tab1") == ["quick"]
    (scenario,) = find_runs([tmp_path / "results"])
    labels = ["DCTCP", "XMP-4 [beta=4]", "XMP-4 [beta=2]"]
    assert sorted(scenario.labels()) == sorted(labels)
    assert set(scenario.axes["scheme"]) >= set(labels)
    summary = pathweave.load(tmp_path / "results").summary()
    assert summary.height == 3
    assert summary["seeds"].to_list() == [1, 1, 1]
    # Back again, both are there.
    write_scenario(tmp_path, axes=AXES, more=own.format(4))
    assert "2 of 2 runs are there already" in cli("run", "tab1.toml").stderr


def test_names_are_not_settings(cli: Command, tmp_path: Path) -> None:
    more = '[phases]\nalone = ["0 s", "1 s"]\nshared = ["1 s", "2 s"]\nafter = ["2 s", "3 s"]'
    fake = "flows = 8\nphases = true"
    write_scenario(tmp_path, axes=AXES, fake=fake, more=more)
    assert cli("run", "tab1.toml").returncode == 0
    path = write_scenario(
        tmp_path, axes=AXES, fake=fake,
        more=more.replace("shared", "together") + '\n[report]\nquestion = "Which?"',
    )  # fmt: skip
    path.write_text(path.read_text().replace("Made up", "Renamed"))
    done = cli("run", "tab1.toml")
    assert "2 of 2 runs are there already" in done.stderr
    assert "Renamed" in done.stdout
    results = pathweave.load(tmp_path / "results")
    assert set(results.phases["phase"]) == {"alone", "together", "after"}
    assert results.scenarios[0].title == "Renamed"
    assert results.scenarios[0].report == {"question": "Which?"}


def test_runs_of_an_earlier_layout_are_left_out_by_name(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    manifest = tmp_path / "results/tab1/quick/dctcp-s1/manifest.json"
    old = tmp_path / "results/tab1/dctcp-s1"
    old.mkdir()
    (old / "manifest.json").write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 1}))
    found = search([tmp_path / "results"])
    assert [run.label for run in found.scenarios[0].runs] == ["DCTCP", "XMP-4"]
    (unusable,) = found.unusable
    assert "was written by another version of Pathweave (layout 1, not 3)" in unusable.reason
    assert "run the scenario again" in unusable.reason
    page = cli("report", "results/tab1", "--no-pictures")
    assert page.returncode == 0, page.stderr
    done = cli("report", "results/tab1/dctcp-s1")
    assert done.returncode == 2
    assert "another version of Pathweave" in done.stderr


def test_results_lists_what_is_there(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml", "--seeds", "2").returncode == 0
    assert cli("run", "tab1.toml", "--set", "a.k=10").returncode == 0
    (tmp_path / "results/tab1/quick/dctcp-s2/flows.parquet").write_bytes(b"PAR1 PAR1")
    done = cli("results")
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith("tab1/")}
    assert rows["tab1/quick"].endswith("3 of 4 runs, 1 unusable")
    assert rows["tab1/quick-k=10"].endswith("complete")
    assert "tab1 was run with different settings:" in done.stdout
    assert "dctcp-s2/flows.parquet is damaged" in done.stdout
    listed = json.loads(cli("results", "--json").stdout)
    assert [entry["settings"] for entry in listed["results"]] == ["quick", "quick-k=10"]
    assert listed["results"][0]["runs"] == 3
    assert cli("results", "nothing").returncode == 2


def test_verify_runs_again_or_checks_files(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    done = cli("verify", "results")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 runs: the same to the last bit" in done.stdout
    # A manifest that asks for something else gives something else.
    manifest = tmp_path / "results/tab1/quick/xmp-4-s1/manifest.json"
    said = json.loads(manifest.read_text())
    said["resolved"]["fake"]["flows"] = 30
    manifest.write_text(json.dumps(said))
    done = cli("verify", "results")
    assert done.returncode == 1
    assert "differs: tab1/quick/xmp-4-s1" in done.stdout
    assert "flows: 40 rows, 30 in the repetition" in done.stdout
    assert cli("verify", "results", "--hashes").returncode == 0
    # Equal tables with another hash are not the same.
    said["resolved"]["fake"]["flows"] = 40
    results_hash = said["results_hash"]
    manifest.write_text(json.dumps(said | {"results_hash": "0" * len(results_hash)}))
    done = cli("verify", "results")
    assert done.returncode == 1
    assert "the hash of its results differs" in done.stdout
    # A hash of another length was computed in another way: tables are compared in its place.
    manifest.write_text(json.dumps(said | {"results_hash": results_hash[:-1]}))
    done = cli("verify", "results")
    assert done.returncode == 0, done.stdout
    told = " ".join(done.stderr.split())
    assert "its hash is computed otherwise now: tables and captures were compared" in told
    said["resolved"]["fake"]["flows"] = 30
    manifest.write_text(json.dumps(said | {"results_hash": results_hash[:-1]}))
    done = cli("verify", "results")
    assert done.returncode == 1
    assert "flows: 40 rows, 30 in the repetition" in done.stdout
    (manifest.parent / "links.parquet").write_bytes(b"")
    done = cli("verify", "results", "--hashes")
    assert done.returncode == 1
    assert "links.parquet is damaged" in done.stdout
    assert "1 of 2 runs: files as written" in done.stdout


def test_a_run_that_was_being_replaced_is_not_lost(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    folder = tmp_path / "results/tab1/quick"
    gone = 2**22 + 1  # no process has such a number
    # The process died between the two renames.
    (folder / "dctcp-s1/notes.txt").write_text("mine")
    (folder / "dctcp-s1").rename(folder / f".dctcp-s1.replaced-{gone}")
    # The process died before it gave back what others had written.
    (folder / f".xmp-4-s1.replaced-{gone}").mkdir()
    (folder / f".xmp-4-s1.replaced-{gone}/notes.txt").write_text("mine too")
    (folder / f".xmp-4-s1.partial-{gone}").mkdir()
    assert cli("run", "tab1.toml").returncode == 0
    assert (folder / "dctcp-s1/notes.txt").read_text() == "mine"
    assert (folder / "xmp-4-s1/notes.txt").read_text() == "mine too"
    assert sorted(path.name for path in folder.iterdir()) == [
        "dctcp-s1", "scenario.json", "xmp-4-s1",
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"settings": 1}'])
def test_one_bad_file_stops_nothing_else(cli: Command, tmp_path: Path, content: str) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    folder = tmp_path / "results/tab1/quick"
    (folder / "scenario.json").write_text(content)
    assert len(find_runs([folder])[0].runs) == 2
    (folder / "dctcp-s1/manifest.json").write_text(content.replace("{}", '{"format": 3}'))
    found = search([folder])
    assert [run.label for run in found.scenarios[0].runs] == ["XMP-4"]
    assert len(found.unusable) == 1


def test_variants_that_differ_beyond_their_names_are_rows_of_their_own(
    cli: Command, tmp_path: Path
) -> None:
    own = '[own."XMP-4"]\na = {}\nb = {}\nc = {}\nd = {}'
    for values in ((1, 1, 1, 1), (2, 2, 2, 1), (2, 2, 2, 2)):
        write_scenario(tmp_path, axes=AXES, more=own.format(*values))
        assert cli("run", "tab1.toml").returncode == 0
    (scenario,) = find_runs([tmp_path / "results"])
    labels = scenario.labels()
    assert len(labels) == len(scenario.runs) == 4
    assert not any("title" in label for label in labels)


@pytest.mark.parametrize(
    ("size", "sets", "backend", "name"),
    [
        ("quick", (), (), "quick"),
        ("", (), (), "quick"),
        ("paper", ("fabric.k=8",), (), "paper-k=8"),
        ("quick", ("a.rate=1 Gbps", "b.rate=2 Gbps"), (), "quick-a.rate=1Gbps-b.rate=2Gbps"),
        ("quick", ('a.c={ name = "amp", beta = 2 }',), (), "quick-c=-name-=-amp-beta-=-2"),
        ("quick", (), ("testbed", "stretch10", "no-gso"), "quick-testbed-stretch10-no-gso"),
        ("quick", (), ("optimum", "routing"), "quick-optimum-routing"),
    ],
)
def test_folders_are_named_by_their_settings(
    size: str, sets: tuple[str, ...], backend: tuple[str, ...], name: str
) -> None:
    assert Settings("0123456789", "h", {}, size, sets, "0", backend).name == name


def test_a_long_name_ends_with_a_hash() -> None:
    sets = tuple(f"traffic.group-{i}.subflows={i}" for i in range(20))
    name = Settings("0123456789", "h", {}, "quick", sets, "0").name
    assert len(name) == 80
    assert name.endswith("-01234567")


def test_differences_go_by_the_shortest_name() -> None:
    one = {
        "a": {"rate": "1 Gbps", "k": 1},
        "b": {"rate": "1 Gbps"},
        "groups": [{"name": "x", "n": 1}],
    }
    two = {"a": {"rate": "2 Gbps", "k": 1}, "b": {"rate": "3 Gbps"}, "groups": [{"name": "x"}]}
    found = differences([one, two])
    assert sentences(found) == [
        "a.rate: 1 Gbps / 2 Gbps", "b.rate: 1 Gbps / 3 Gbps", "n: 1 / –",
    ]  # fmt: skip
    assert differences([one, one]) == []
    assert sentences(found, most=1) == ["a.rate: 1 Gbps / 2 Gbps", "and 2 more"]


def test_copies_are_counted_once(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml", "--seeds", "2").returncode == 0
    folder = tmp_path / "results/tab1/quick"
    shutil.copytree(folder, folder.with_name("quick-copy"))
    shutil.copytree(folder / "dctcp-s1", folder / "mine")
    found = search([tmp_path / "results"])
    assert [len(scenario.runs) for scenario in found.scenarios] == [4]
    reasons = [unusable.reason for unusable in found.unusable]
    assert len(reasons) == 2
    assert "mine is a copy of a run in" in " ".join(reasons)
    assert "4 runs in" in " ".join(reasons)
    listed = cli("results").stdout
    assert "different settings" not in listed
    assert "are copies of runs in" in " ".join(listed.split())


def test_runs_without_the_file_that_names_their_settings_stay_known(
    cli: Command, tmp_path: Path
) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml").returncode == 0
    (tmp_path / "results/tab1/quick/scenario.json").unlink()
    assert "2 of 2 runs are there already" in cli("run", "tab1.toml").stderr
    # Other settings do not take the folder over.
    (tmp_path / "results/tab1/quick/scenario.json").unlink()
    write_scenario(tmp_path, axes=AXES, fake="flows = 20")
    assert cli("run", "tab1.toml").returncode == 0
    assert len(names(tmp_path / "results/tab1")) == 2


def test_a_variant_finds_its_run_under_either_name(cli: Command, tmp_path: Path) -> None:
    own = '[own."XMP-4"]\na = {}'
    write_scenario(tmp_path, axes=AXES, more=own.format(1))
    assert cli("run", "tab1.toml").returncode == 0
    write_scenario(tmp_path, axes=AXES, more=own.format(2))
    assert cli("run", "tab1.toml").returncode == 0
    folder = tmp_path / "results/tab1/quick"
    shutil.rmtree(folder / "xmp-4-s1")
    assert len(names(folder)) == 2
    assert "2 of 2 runs are there already" in cli("run", "tab1.toml").stderr


def test_what_was_asked_for_is_not_forgotten(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    assert cli("run", "tab1.toml", "--seeds", "3").returncode == 0
    assert cli("run", "tab1.toml", "--only", "scheme=DCTCP").returncode == 0
    (entry,) = json.loads(cli("results", "--json").stdout)["results"]
    assert (entry["runs"], entry["asked"], entry["state"]) == (6, 6, "complete")
    shutil.rmtree(tmp_path / "results/tab1/quick/xmp-4-s2")
    (entry,) = json.loads(cli("results", "--json").stdout)["results"]
    assert entry["state"] == "5 of 6 runs"
    # A variant that the scenario no longer has is not missed.
    shutil.rmtree(tmp_path / "results/tab1/quick/xmp-4-s1")
    write_scenario(tmp_path, axes='scheme = ["DCTCP"]')
    assert cli("run", "tab1.toml", "--seeds", "3").returncode == 0
    (entry,) = json.loads(cli("results", "--json").stdout)["results"]
    assert (entry["runs"], entry["asked"]) == (4, 3)


def test_two_commands_at_once_share_a_folder(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    command = ("run", "tab1.toml", "--seeds", "6", "--fresh", "--jobs", "1")
    both = [
        subprocess.Popen(
            fake_command(command),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    folder = tmp_path / "results/tab1/quick"
    assert len(find_runs([folder])[0].runs) == 12
    assert len([*folder.iterdir()]) == 13
    assert cli("verify", "results").returncode == 0


def test_a_lock_keeps_others_out(tmp_path: Path) -> None:
    entered = threading.Event()

    def enter() -> None:
        with locked(tmp_path):
            entered.set()

    with locked(tmp_path):
        other = threading.Thread(target=enter)
        other.start()
        assert not entered.wait(0.2)
    other.join(timeout=10)
    assert entered.is_set()
    assert not [*tmp_path.iterdir()]


@pytest.mark.usefixtures("fake")
def test_a_folder_that_others_took_meanwhile_is_left_to_them(tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    request = Request(path=tmp_path / "tab1.toml", root=tmp_path / "results")
    ours = open_session(request)
    write_scenario(tmp_path, axes=AXES, fake="flows = 20")
    with writing(open_session(request)):
        pass
    before = (ours.plan.folder / "scenario.json").read_bytes()
    taken = pytest.raises(PathweaveError, match="has just been taken by a run with other settings")
    with taken, writing(ours):
        pass
    assert (ours.plan.folder / "scenario.json").read_bytes() == before
    assert open_session(request).plan.folder == ours.plan.folder


def test_a_long_value_is_shown_by_its_length_and_hash() -> None:
    rows = [f"{place} ps,S1,S2,1500\n" * 3_000 for place in (0, 1)]
    settings = [{"traffic": [{"name": "t", "content": text}]} for text in rows]
    ((name, values),) = differences(settings)
    assert name == "content"
    assert len(set(values)) == 2
    assert all(re.fullmatch(r"48,000 characters \(SHA-256 [0-9a-f]{8}\.\.\.\)", v) for v in values)
