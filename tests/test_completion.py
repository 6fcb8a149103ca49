"""Completion in shells: what is offered, through the scripts that Typer makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import environment
from interpreted import FIRST_LINES

SCENARIO = """
[variants.scheme."DCTCP"]
"traffic.flows.controller" = "dctcp"
[variants.scheme."XMP-2"]
"traffic.flows.subflows" = 2
[variants.scheme."XMP 4"]
"traffic.flows.subflows" = 4
[variants.threshold."K10"]
"fabric.queue.mark.k" = 10
[sizes.paper]
seeds = 10
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Scenarios, and a `pathweave` on the path that cannot load the core."""
    (tmp_path / "papers/xmp").mkdir(parents=True)
    (tmp_path / "papers/xmp/tab1.toml").write_text(SCENARIO)
    (tmp_path / "papers/xmp/tab2.toml").touch()
    (tmp_path / "papers/xmp/notes.md").touch()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/a.png").touch()
    program = tmp_path / "bin/pathweave"
    program.parent.mkdir()
    program.write_text(
        f"{FIRST_LINES}"
        "import sys\nsys.modules['pathweave._core'] = None\n"
        "from pathweave.cli.app import main\nmain()\n"
    )
    program.chmod(0o755)
    return tmp_path


def ask(folder: Path, shell: str, script: str) -> list[str]:
    path = f"{folder / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(
        [shell, "-c", script],
        cwd=folder,
        env=environment(PATH=path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.stderr
    return done.stdout.splitlines()


def bash(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of `words`, split as bash splits them."""
    quoted = " ".join(f"'{word}'" for word in words)
    return ask(
        folder,
        "bash",
        'eval "$(_PATHWEAVE_COMPLETE=source_bash pathweave)"\n'
        f"COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}\n"
        '_pathweave_completion pathweave\nprintf "%s\\n" "${COMPREPLY[@]}"',
    )


def test_offers_verbs_and_options(folder: Path) -> None:
    assert {"run", "report"} <= set(bash(folder, "pathweave", "r"))
    assert bash(folder, "pathweave", "run", "--on") == ["--only"]
    assert bash(folder, "pathweave", "list", "ro") == ["routings"]


def test_offers_scenarios(folder: Path) -> None:
    """The only folder that holds some is gone through to the files."""
    files = ["papers/xmp/tab1.toml", "papers/xmp/tab2.toml"]
    assert bash(folder, "pathweave", "run", "p") == files
    assert bash(folder, "pathweave", "solve", "papers/xmp/tab2") == files[1:]
    assert bash(folder, "pathweave", "run", "./papers/x") == [f"./{file}" for file in files]
    (folder / "own.toml").touch()
    assert bash(folder, "pathweave", "run", "") == ["own.toml", "papers/"]


def test_offers_the_scenarios_axes_and_sizes(folder: Path) -> None:
    start = ("pathweave", "run", "papers/xmp/tab1.toml")
    everything = ["scheme=DCTCP", "scheme=XMP-2", "scheme=XMP\\ 4", "threshold=K10"]
    assert bash(folder, *start, "--only", "") == everything
    assert bash(folder, *start, "--size", "p") == ["paper"]


def test_bash_splits_words_at_equals_signs(folder: Path) -> None:
    start = ("pathweave", "run", "papers/xmp/tab1.toml", "--only")
    assert bash(folder, *start, "scheme", "=", "X") == ["XMP-2", "XMP\\ 4"]
    assert bash(folder, *start, "scheme", "=") == ["DCTCP", "XMP-2", "XMP\\ 4"]
    assert bash(folder, *start, "scheme", "=", "DCTCP", "--only", "t") == ["threshold=K10"]


def test_a_file_that_cannot_be_read_offers_nothing(folder: Path) -> None:
    (folder / "broken.toml").write_text("[variants")
    assert bash(folder, "pathweave", "run", "broken.toml", "--only", "s") == [""]
    assert bash(folder, "pathweave", "run", "missing.toml", "--only", "s") == [""]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(folder: Path, shell: str) -> None:
    """What their scripts call, without the shells; they take words with "=" for one."""
    line = "pathweave run papers/xmp/tab1.toml --only scheme=X"
    said = ask(
        folder,
        "sh",
        f"_PATHWEAVE_COMPLETE=complete_{shell} _TYPER_COMPLETE_FISH_ACTION=get-args"
        f" _TYPER_COMPLETE_ARGS='{line}' pathweave",
    )
    assert "scheme=XMP-2" in "\n".join(said)
    assert "DCTCP" not in "\n".join(said)


def test_offers_what_can_be_explained(folder: Path) -> None:
    program = folder / "bin/pathweave"
    assert bash(folder, "pathweave", "explain", "perm") == [""]  # there is no core
    program.write_text(program.read_text().replace("sys.modules['pathweave._core'] = None\n", ""))
    assert bash(folder, "pathweave", "explain", "perm") == ["permutation"]


def test_help_says_how_to_install_it(folder: Path) -> None:
    assert any("--install-completion" in line for line in ask(folder, "sh", "pathweave --help"))


def test_offers_other_simulators_and_their_cases(folder: Path) -> None:
    assert bash(folder, "pathweave", "bench", "--against", "") == ["htsim", "ns3"]
    assert bash(folder, "pathweave", "bench", "--against", "n") == ["ns3"]
    assert bash(folder, "pathweave", "bench", "--case", "k16") == ["k16-dctcp", "k16-lia4"]
    assert bash(folder, "pathweave", "bench", "--tu") == ["--turns"]
