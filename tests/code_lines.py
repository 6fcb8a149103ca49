"""Count the lines of code of the project: without tests, comments, docstrings and blank lines.

    .venv/bin/python tests/code_lines.py

prints a row for each crate and each package of Python: files, and lines of code.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
_RUST_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[{}]', re.DOTALL
)
_INLINE_TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\n]*\n(?:\s*#\[[^\n]*\n)*\s*mod \w+ \{")


def python_lines(text: str) -> int:
    """Lines on which a token of code stands, docstrings left out."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = node.body if isinstance(node, documented) else []
        # A string of its own behind a definition documents an attribute.
        for each in body if isinstance(node, ast.Module | ast.ClassDef) else body[:1]:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                said.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - said)


def rust_lines(text: str) -> int:
    """Lines with code, inline modules of tests left out; C is counted alike."""
    kept = _without_comments(_without_inline_tests(text))
    return sum(bool(line.strip()) for line in kept.splitlines())


def _without_inline_tests(text: str) -> str:
    while (found := _INLINE_TESTS.search(text)) is not None:
        depth, end = 1, len(text)
        for token in _RUST_TOKEN.finditer(text, found.end()):
            depth += {"{": 1, "}": -1}.get(token[0], 0)
            if depth == 0:
                end = token.end()
                break
        text = text[: found.start()] + text[end:]
    return text


def _without_comments(text: str) -> str:
    def kept(token: re.Match[str]) -> str:
        is_comment = token[0].startswith(("//", "/*"))
        return "\n" * token[0].count("\n") if is_comment else token[0]

    return _RUST_TOKEN.sub(kept, text)


def count(root: Path = ROOT) -> dict[str, tuple[int, int]]:
    """Files and lines of code by crate and Python package."""
    found: dict[str, list[int]] = defaultdict(list)
    for path in sorted(root.glob("crates/*/**/*")):
        place = path.relative_to(root)
        tested = {"tests", "benches", "target"} & set(place.parts) or path.name == "tests.rs"
        if path.suffix in (".rs", ".c", ".h") and not tested:
            name = "/".join(place.parts[:2])
            found[name].append(rust_lines(path.read_text(encoding="utf-8")))
    for path in sorted(root.glob("python/pathweave/**/*.py")):
        place = path.relative_to(root)
        name = "/".join(place.parts[:3]) if len(place.parts) > 3 else "python/pathweave"
        found[name].append(python_lines(path.read_text(encoding="utf-8")))
    return {name: (len(files), sum(files)) for name, files in found.items()}


def main() -> None:
    """Print the table."""
    rows = count(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    for language, start in (("Rust and C", "crates/"), ("Python", "python/")):
        own = {name: row for name, row in rows.items() if name.startswith(start)}
        for name, (files, lines) in sorted(own.items()):
            print(f"{name:32} {files:5} files {lines:7,} lines")
        files, lines = (sum(column) for column in zip(*own.values(), strict=True))
        print(f"{language + ', all':32} {files:5} files {lines:7,} lines\n")


if __name__ == "__main__":
    main()
