"""No file of a crate or of the Python package needs itself through others."""

from __future__ import annotations

from pathlib import Path

import pytest

from source_arrows import circles, python_arrows, rust_arrows

ROOT = Path(__file__).parent.parent
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/src"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_files_of_a_crate_need_each_other_one_way(crate: Path) -> None:
    assert circles(rust_arrows(crate)) == []


def test_modules_of_the_package_need_each_other_one_way() -> None:
    assert circles(python_arrows(ROOT / "python" / "pathweave")) == []


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_circle_is_found_through_names_that_are_passed_on(tmp_path: Path) -> None:
    crate = written(
        tmp_path,
        {
            "src/lib.rs": "mod a;\nmod b;\nmod c;\npub use c::Third;\n",
            "src/a.rs": "use crate::b::Second;\npub struct First(Second);\n",
            "src/b.rs": "use crate::{Third, d::Else};\npub struct Second(Third);\n",
            "src/c.rs": "pub struct Third;\nfn f() -> super::a::First { todo!() }\n",
        },
    )
    assert circles(rust_arrows(crate)) == [["a.rs", "b.rs", "c.rs"]]


def test_what_tests_comments_and_strings_name_is_no_need(tmp_path: Path) -> None:
    crate = written(
        tmp_path,
        {
            "src/lib.rs": "mod a;\nmod b;\n",
            "src/a.rs": "use crate::b::Second;\npub struct First(Second);\n",
            "src/b.rs": (
                "//! See crate::a::First.\npub struct Second;\n"
                'const TEXT: &str = "crate::a::First";\n'
                "#[cfg(test)]\nmod tests { use crate::a::First; }\n"
            ),
        },
    )
    arrows = rust_arrows(crate)
    assert arrows["a.rs"] == {"b.rs"}
    assert arrows["b.rs"] == set()


def test_methods_beside_their_type_are_of_one_file_with_it(tmp_path: Path) -> None:
    crate = written(
        tmp_path,
        {
            "src/lib.rs": "mod sending;\n",
            "src/sending/mod.rs": "mod pace;\npub struct Sending;\nfn f() { pace::wait() }\n",
            "src/sending/pace.rs": (
                "use super::Sending;\npub fn wait() {}\nimpl Sending { fn paced(&self) {} }\n"
            ),
        },
    )
    assert circles(rust_arrows(crate)) == []
    (crate / "src/sending/pace.rs").write_text("use super::Sending;\npub fn wait(_: &Sending) {}\n")
    assert circles(rust_arrows(crate)) == [["sending/mod.rs", "sending/pace.rs"]]


def test_imports_for_types_and_in_functions_count(tmp_path: Path) -> None:
    package = written(
        tmp_path / "house",
        {
            "__init__.py": "from house.a import First\n",
            "a.py": "from house.b import second\n\nclass First: ...\n",
            "b.py": (
                "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
                "    from house import First\n\n\ndef second() -> None:\n    from house import c\n"
            ),
            "c.py": "import json\n",
        },
    )
    assert python_arrows(package)["b.py"] == {"a.py", "c.py"}
    assert circles(python_arrows(package)) == [["a.py", "b.py"]]
