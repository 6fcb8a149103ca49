"""docs/adding-a-controller.md: its example passes what every controller must pass."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/adding-a-controller.md"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
PLACE = "with-the-example"
CRATES = ("units", "control")


def blocks(text: str) -> dict[str, str]:
    """The page's pieces of code by the file that each goes to."""
    found = re.findall(r"```\w[^\n]*\n(.*?)```", text, flags=re.DOTALL)
    whole, line, module, settings = (block for block in found)
    return {
        "example.rs": whole,
        "registry.rs": line.strip(),
        "lib.rs": module.strip(),
        "settings.rs": settings,
    }


@pytest.fixture
def workspace() -> Path:
    """The crate and what it needs, in a workspace of their own, with the page's example in it.

    It stands in the target folder, always at one place: what cargo built for it last time is used.
    Cargo knows a workspace's crates by their paths in it. Under the same paths as here, the crates
    with the example would take the place of this tree's own in the shared folder.
    """
    folder = TARGET / "adding-a-controller"
    shutil.rmtree(folder, ignore_errors=True)
    for name in CRATES:
        shutil.copytree(ROOT / "crates" / name, folder / PLACE / name)
    for name in ("Cargo.lock", "clippy.toml", "rustfmt.toml"):
        shutil.copy2(ROOT / name, folder)
    manifest = (ROOT / "Cargo.toml").read_text()
    manifest = manifest.replace('path = "crates/', f'path = "{PLACE}/')
    members = ", ".join(f'"{PLACE}/{name}"' for name in CRATES)
    for key in ("members", "default-members"):
        manifest = re.sub(rf"(?ms)^{key} = \[.*?\]", f"{key} = [{members}]", manifest)
    (folder / "Cargo.toml").write_text(manifest)

    source = folder / PLACE / "control/src"
    pasted = blocks(PAGE.read_text())
    (source / "example.rs").write_text(pasted["example.rs"])
    before = "crate::dcm::ENTRY,"
    replace(source / "registry.rs", before, before + pasted["registry.rs"])
    replace(source / "lib.rs", "mod fcc;", pasted["lib.rs"] + "mod fcc;")
    tests = "#[cfg(test)]\n"
    replace(source / "controllers/settings.rs", tests, pasted["settings.rs"] + tests)
    cargo(folder, "fmt", "--all")
    return folder


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def cargo(folder: Path, *arguments: str) -> str:
    """What cargo says; what it compiles for other crates is shared with this tree's builds."""
    done = subprocess.run(
        ["cargo", *arguments],
        cwd=folder,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not on the path")
def test_the_example_passes_clippy_and_the_tests_of_every_controller(workspace: Path) -> None:
    example = workspace / PLACE / "control/src/example.rs"
    assert example.read_text() == blocks(PAGE.read_text())["example.rs"], "it is formatted"
    package = ("--offline", "--package", "pathweave-control")
    cargo(workspace, "clippy", *package, "--all-targets", "--quiet", "--", "-D", "warnings")
    said = cargo(workspace, "test", *package, "--lib", "example::")
    assert "example::tests::windows_grow_by_their_sum_and_are_cut_by_themselves ... ok" in said
    said = cargo(workspace, "test", *package, "--test", "control", "every_controller::")
    assert "every_controller::windows_stay_finite_and_at_least_one_packet ... ok" in said
