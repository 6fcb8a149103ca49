"""Which source files need which others, in the crates and in the Python package.

An arrow goes to the file that defines a name, not to those that pass it on: `pub use` and imports
in an `__init__.py` are no arrows of their own. Imports for types only count. A Rust file with
methods of a type that a module above it or a file beside it defines continues that file: both are
one here.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

Arrows = dict[str, set[str]]
"""Of each file, by its path, the files that it needs."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'r(#*)".*?"\1|"(?:\\.|[^"\\])*"', re.DOTALL)
_TESTS = re.compile(
    r"#\[cfg\((?:all\()?test\b[^\n]*\n(?:\s*#\[[^\n]*\n)*"
    r"\s*(?:pub(?:\([^)]*\))? )?(?:mod|use) "
)
_USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
_PATH = re.compile(r"(?<![\w:])[a-z]\w*(?:::\w+)+")
_METHODS = re.compile(
    r"\bimpl(?:<[^{;]*?>)?\s+(?:[\w:<>, ]+\s+for\s+)?((?:\w+::)*\w+)\s*(?:<[^{;]*>)?"
    r"\s*(?:where[^{]*)?\{"
)


def circles(arrows: Arrows) -> list[list[str]]:
    """The groups of files that need each other, the largest first (Tarjan's components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(start: str) -> None:
        work = [(start, iter(sorted(arrows.get(start, ()))))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(arrows.get(other, ())))))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    group = stack[at:]
                    del stack[at:]
                    if len(group) > 1:
                        found.append(sorted(group))

    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


def rust_arrows(crate: Path) -> Arrows:
    """The arrows between the files of a crate's `src`, tests and binaries left out."""
    root = crate / "src"
    modules: dict[tuple[str, ...], Path] = {}
    for path in sorted(root.rglob("*.rs")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] in ("bin", "main") or "tests" in parts:
            continue
        if parts[-1] in ("lib", "mod"):
            parts = parts[:-1]
        modules[parts] = path
    texts = {place: _code(path.read_text(encoding="utf-8")) for place, path in modules.items()}
    uses = {place: _uses(text) for place, text in texts.items()}
    whole = {place: place for place in modules}

    def first(place: tuple[str, ...]) -> tuple[str, ...]:
        while whole[place] != place:
            place = whole[place]
        return place

    for place, text in texts.items():
        for other in _continued(modules, uses, place, text):
            parts = sorted((first(place), first(other)))
            whole[parts[1]] = parts[0]

    def file_of(place: tuple[str, ...]) -> str:
        return str(modules[first(place)].relative_to(root))

    arrows: Arrows = {}
    for place in modules:
        here = file_of(place)
        own = arrows.setdefault(here, set())
        body = _USE.sub("", texts[place])
        wanted = [each for passed_on, each, _ in uses[place] if not passed_on]
        wanted += [tuple(found.split("::")) for found in _PATH.findall(body)]
        for each in wanted:
            target = _defined(modules, uses, place, each, set())
            if target is not None and file_of(target) != here:
                own.add(file_of(target))
    return arrows


def _continued(
    modules: dict[tuple[str, ...], Path],
    uses: dict[tuple[str, ...], list[Use]],
    place: tuple[str, ...],
    text: str,
) -> list[tuple[str, ...]]:
    """The modules above or beside this one whose types have methods here."""
    found: list[tuple[str, ...]] = []
    for name in _METHODS.findall(text):
        parts = tuple(name.split("::"))
        path = parts if parts[0] in _HERE else ("self", *parts)
        target = _defined(modules, uses, place, path, set())
        if target is None or target == place:
            continue
        if place[: len(target)] == target or (len(place) > 1 and target[:-1] == place[:-1]):
            found.append(target)
    return found


def _code(text: str) -> str:
    text = _STRING.sub('""', _COMMENT.sub("", text))
    found = _TESTS.search(text)
    while found is not None:
        end = _end_of_item(text, found.end())
        text = text[: found.start()] + text[end:]
        found = _TESTS.search(text)
    return text


def _end_of_item(text: str, at: int) -> int:
    depth = 0
    for place in range(at, len(text)):
        if text[place] == "{":
            depth += 1
        elif text[place] == "}":
            depth -= 1
            if depth == 0:
                return place + 1
        elif text[place] == ";" and depth == 0:
            return place + 1
    return len(text)


_HERE = ("crate", "self", "super")
"""What a path within a crate begins with."""
Use = tuple[bool, tuple[str, ...], str]
"""Whether a name is passed on, its path, and what it is called here (`*` for all names)."""


def _uses(text: str) -> list[Use]:
    found: list[Use] = []
    for public, tree in _USE.findall(text):
        for path in _flat("".join(tree.split("\n"))):
            segments, _, alias = path.partition(" as ")
            parts = tuple(part.strip() for part in segments.strip().split("::") if part.strip())
            if parts:
                found.append((bool(public), parts, alias.strip() or parts[-1]))
    return found


def _flat(tree: str) -> list[str]:
    """The paths of a tree of `use`: `a::{b, c::d}` has `a::b` and `a::c::d`."""
    tree = tree.strip()
    at = tree.find("{")
    if at < 0:
        return [tree]
    prefix, inner = tree[:at], tree[at + 1 : tree.rindex("}")]
    parts: list[str] = []
    depth = start = 0
    for place, character in enumerate(inner):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(inner[start:place])
            start = place + 1
    parts.append(inner[start:])
    return [prefix + each for part in parts if part.strip() for each in _flat(part)]


def _defined(
    modules: dict[tuple[str, ...], Path],
    uses: dict[tuple[str, ...], list[Use]],
    here: tuple[str, ...],
    path: tuple[str, ...],
    seen: set[tuple[tuple[str, ...], str]],
) -> tuple[str, ...] | None:
    """The module that defines what a path names; None for other crates."""
    at = () if path[0] == "crate" else here
    rest = list(path)
    # A bare name is a crate, or was brought in here.
    if rest[0] not in _HERE and (*here, rest[0]) not in modules:
        return None
    while rest and rest[0] in _HERE:
        at = at[:-1] if rest[0] == "super" else at
        rest = rest[1:]
    while rest and (*at, rest[0]) in modules:
        at, rest = (*at, rest[0]), rest[1:]
    if not rest or rest[0] == "self":
        return at
    name = rest[0]
    if (at, name) in seen:
        return None
    seen.add((at, name))
    for _, source, called in uses.get(at, []):
        passes_on = called == name and source[-1] != "*"
        if not passes_on and called != "*":
            continue
        whole = (*source, *rest[1:]) if passes_on else (*source[:-1], *rest)
        found = _defined(modules, uses, at, whole, seen)
        if passes_on and (found is not None or source[0] not in _HERE):
            return found
        if not passes_on and found is not None and found != at:
            return found
    return at


def python_arrows(package: Path) -> Arrows:
    """The arrows between the modules of a Python package."""
    modules: dict[str, Path] = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    imports = {name: _imports(path) for name, path in modules.items()}
    arrows: Arrows = {}
    for name, path in modules.items():
        own = arrows.setdefault(str(path.relative_to(package)), set())
        if path.name == "__init__.py":
            continue
        for module, imported in imports[name]:
            target = _python_defined(modules, imports, module, imported)
            if target is not None and target != name:
                own.add(str(modules[target].relative_to(package)))
    return arrows


def _imports(path: Path) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
    return found


def _python_defined(
    modules: dict[str, Path], imports: dict[str, list[tuple[str, str]]], module: str, name: str
) -> str | None:
    if f"{module}.{name}" in modules:
        return f"{module}.{name}"
    if module not in modules:
        return None
    if modules[module].name == "__init__.py":
        for source, imported in imports[module]:
            if imported == name and source != module:
                return _python_defined(modules, imports, source, imported)
    return module
