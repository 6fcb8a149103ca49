"""What docs/many-machines.md shows: scripts that are run, options and names that there are."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from dask_jobqueue.core import Job
from dask_jobqueue.slurm import SLURMCluster, SLURMJob

import one_node_slurm
import pathweave
from pathweave.results import layout

PAGE = Path(__file__).parent.parent / "docs" / "many-machines.md"
COMMAND = Path(sys.executable).parent


def block(language: str) -> str:
    """The page's block of code in this language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    return found


def commands() -> list[str]:
    """All command lines of Pathweave on the page, without comments."""
    text = PAGE.read_text()
    lines = re.findall(
        r"^ *(?:- run: )?(?:.venv/bin/)?(pathweave [^\n#]*)", text, flags=re.MULTILINE
    )
    return [line.strip() for line in lines]


def keywords(tree: ast.AST, function: str) -> dict[str, Any]:
    """The keyword arguments of the one call of this function."""
    (call,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function
    )
    return {
        keyword.arg: keyword.value.value
        for keyword in call.keywords
        if keyword.arg is not None and isinstance(keyword.value, ast.Constant)
    }


def test_options_of_commands_exist() -> None:
    import typer.main

    from pathweave.cli.app import app

    verbs: Any = typer.main.get_command(app)
    found = commands()
    assert len(found) >= 8
    for line in found:
        _, verb, *words = line.split()
        known = {option for each in verbs.commands[verb].params for option in each.opts}
        for word in words:
            if word.startswith("--"):
                assert word in known, line


def test_the_matrix_is_yaml_and_has_as_many_shards_as_it_says() -> None:
    jobs = yaml.safe_load(block("yaml"))["jobs"]
    shards = jobs["simulate"]["strategy"]["matrix"]["shard"]
    (line,) = (
        step["run"] for step in jobs["simulate"]["steps"] if "pathweave run" in step.get("run", "")
    )
    assert line.endswith(f"/{len(shards)}")
    assert shards == list(range(1, len(shards) + 1))


def test_the_script_for_jobqueue_uses_names_that_there_are() -> None:
    tree = ast.parse(block("python"))
    compile(tree, str(PAGE), "exec")
    of_cluster = keywords(tree, "SLURMCluster")
    known = {
        name
        for each in (SLURMCluster.__init__, SLURMJob.__init__, Job.__init__)
        for name in inspect.signature(each).parameters
    }
    assert set(of_cluster) <= known
    assert set(keywords(tree, "cluster.scale")) <= set(
        inspect.signature(SLURMCluster.scale).parameters
    )
    given = {"seeds", "dask"}
    assert given <= set(inspect.signature(pathweave.run).parameters)
    # The job that dask-jobqueue makes of it.
    script = SLURMJob("tcp://node1:8786", name="worker", **of_cluster).job_script()
    assert "#SBATCH -p all" in script
    assert "#SBATCH --cpus-per-task=1" in script
    assert "--nthreads 1" in script


def test_the_script_for_an_array_is_of_shares() -> None:
    script = block("sh")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert "--shard auto" in script
    assert "#SBATCH --array=1-4" in script


on_slurm = pytest.mark.skipif(
    os.environ.get("PATHWEAVE_SLURM") != "yes", reason="takes a minute: make test-slurm"
)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    assert not one_node_slurm.missing()
    with one_node_slurm.one_node(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment | {"PATH": f"{COMMAND}:{environment['PATH']}"}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    bench = PAGE.parent.parent / "benches" / "short-runs.toml"
    path = tmp_path / "tab1.toml"
    path.write_bytes(bench.read_bytes())
    pathweave.run(path, seeds=20, out=tmp_path / "one", progress=False)
    return path


@on_slurm
def test_the_array(slurm: dict[str, str], scenario: Path) -> None:
    folder = scenario.parent
    (folder / "job.sh").write_text(block("sh"))
    subprocess.run(["sbatch", "--wait", "job.sh"], cwd=folder, env=slurm, check=True)
    logs = [path.read_text() for path in sorted(folder.glob("pathweave-*.log"))]
    assert len(logs) == 4
    assert [f"shard {index}/4: 20 of 80 runs" in logs[index - 1] for index in range(1, 5)] == [
        True
    ] * 4
    assert contents(folder / "results") == contents(folder / "one")


@on_slurm
def test_jobqueue(slurm: dict[str, str], scenario: Path) -> None:
    folder = scenario.parent
    (folder / "cluster.py").write_text(block("python"))
    subprocess.run([sys.executable, "cluster.py"], cwd=folder, env=slurm, check=True, timeout=120)
    assert contents(folder / "results") == contents(folder / "one")


def contents(root: Path) -> dict[str, bytes]:
    """All files of runs but those that say what they have cost."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name not in (layout.TIMING, layout.SCENARIO)
    }
