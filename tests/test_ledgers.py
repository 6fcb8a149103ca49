"""The ledgers of the papers, and `pathweave reproduce --ledger`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import run_here
from pathweave.errors import InputError
from pathweave.reproducing.ledger import FILE, Answer, nowhere, read_ledger
from pathweave.reproducing.work import read_papers

ROOT = Path(__file__).parent.parent
NAMES = sorted(path.parent.name for path in ROOT.glob("papers/*/expected.toml"))
EXPECTED = """
[fig1]
title = "One flow"
setup = "None."
program = "fig1.py"

[[fig1.number]]
name = "rate"
values = 1
"""


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_is_somewhere(name: str) -> None:
    ((paper, _),) = read_papers(ROOT / "papers", [name])
    entries = read_ledger(paper)
    assert entries
    assert [(entry.at, lost) for entry in entries if (lost := nowhere(entry, ROOT))] == []
    said = [(entry.at, entry.says) for entry in entries]
    assert len(set(said)) == len(said)


def made_up(folder: Path, ledger: str) -> Path:
    """A folder of papers with one paper that has this ledger."""
    paper = folder / "papers" / "made-up"
    paper.mkdir(parents=True)
    (paper / "expected.toml").write_text(EXPECTED)
    (paper / "fig1.py").write_text("")
    (paper / FILE).write_text(ledger)
    return paper.parent


def test_a_list_of_statements_by_what_answers_them(tmp_path: Path) -> None:
    folder = made_up(
        tmp_path,
        """
[[entry]]
at = "section 1"
kind = "claim"
says = "A flow has its rate."
claims = ["fig1/rate"]
files = ["docs/results.md"]

[[entry]]
at = "section 2"
kind = "mechanism"
says = "Cards have four ports."
not_modelled = "Hardware."

[[entry]]
at = "section 3"
kind = "claim"
says = "It works with any card."
not_yet = "A run with another card."
""",
    )
    asked = ("reproduce", "--ledger", "--papers", str(folder))
    code, printed, _ = run_here(*asked)
    assert code == 0
    assert "Of 3 statements: 1 by a claim, 1 not yet, 1 not modelled." in printed
    found = json.loads(run_here(*asked, "--json")[1])
    assert [each["answer"] for each in found] == ["claim", "not modelled", "not yet"]
    assert found[0]["answers"] == ["fig1/rate", "docs/results.md"]
    assert [each["answers"] for each in found[1:]] == [["Hardware."], ["A run with another card."]]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('claims = ["fig1/speed"]', "expected.toml has no claim 'fig1/speed'"),
        ("", "give what answers it: claims, tests or files; or else not_yet or not_modelled"),
        ('files = ["a"]\nnot_modelled = "b"', "give what answers it"),
        ('not_yet = "a"\nnot_modelled = "b"', "give what answers it"),
        ('files = ["a"]\nfile = "b"', "unknown key 'file'"),
        ('files = "a"', "files must be a list"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, entry: str, message: str) -> None:
    folder = made_up(
        tmp_path, f'[[entry]]\nat = "section 1"\nkind = "claim"\nsays = "It works."\n{entry}\n'
    )
    ((paper, _),) = read_papers(folder, [])
    with pytest.raises(InputError, match=r"ledger\.toml: entry 1 \(section 1\): ") as raised:
        read_ledger(paper)
    assert message in str(raised.value)


@pytest.mark.parametrize("ledger", ["", "entry = 3", 'entry = ["a"]', "[entry]", "[[entri]]"])
def test_a_file_without_entries_is_refused(tmp_path: Path, ledger: str) -> None:
    ((paper, _),) = read_papers(made_up(tmp_path, ledger), [])
    with pytest.raises(InputError, match=r"ledger\.toml: a ledger has tables \[\[entry\]\]"):
        read_ledger(paper)


def test_a_paper_without_a_ledger_is_named(tmp_path: Path) -> None:
    folder = made_up(tmp_path, "")
    (folder / "made-up" / FILE).unlink()
    code, _, said = run_here("reproduce", "--ledger", "--papers", str(folder))
    assert code == 2
    assert "made-up has no ledger: no such file" in " ".join(said.split())


def test_answers_that_do_not_exist_are_found(tmp_path: Path) -> None:
    folder = made_up(
        tmp_path,
        """
[[entry]]
at = "section 1"
kind = "claim"
says = "It works."
tests = ["tests/test_it.py::test_it", "tests/test_it.py::test_more", "tests/test_it.py"]
files = ["docs/it.md"]
""",
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text("def test_it() -> None: ...\n")
    ((paper, _),) = read_papers(folder, [])
    (entry,) = read_ledger(paper)
    assert entry.answer is Answer.TEST
    assert nowhere(entry, tmp_path) == [
        "docs/it.md",
        "tests/test_it.py::test_more",
        "tests/test_it.py",
    ]
