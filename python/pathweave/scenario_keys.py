"""The keys of a scenario, as the JSON Schema has them: types, ranges, defaults, help and places."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pathweave.core import core

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Schema = Mapping[str, Any]

ANY = "NAME"
"""In a place, what stands for a name that the scenario chooses."""

_OVERRIDES = ("variants", "sweep", "sizes")
"""What holds keys of its own choice, and not new ones."""

_TYPES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "a text",
    "array": "a list",
    "object": "a table",
}


@dataclass(frozen=True)
class Place:
    """Where a key may stand."""

    path: tuple[str, ...]
    """Tables and the key; `ANY` for a name that the scenario chooses."""
    condition: str
    """What the table has to say for it, such as 'kind = "step"'; empty for nothing."""
    required: bool

    def __str__(self) -> str:
        return ".".join(self.path) + (f" (with {self.condition})" if self.condition else "")


@dataclass(frozen=True)
class Key:
    """One meaning of a key, which may stand in several places."""

    name: str
    help: str
    type: str
    """What a value is, with its unit."""
    range: str
    default: str
    places: tuple[Place, ...] = field(default=())


def scenario_keys() -> tuple[Key, ...]:
    """All keys, in the order of their first places in the schema."""
    parameters = (
        (f'name = "{entry["name"]}"', parameter["name"], parameter["default"])
        for entry in core().controllers()
        for parameter in entry["parameters"]
    )
    return _keys(core().schema(), tuple(parameters))


@lru_cache(maxsize=2)
def _keys(text: str, parameters: tuple[tuple[str, str, str], ...]) -> tuple[Key, ...]:
    root = json.loads(text)
    defaults = {(condition, name): default for condition, name, default in parameters}
    found: dict[tuple[str, ...], list[Place]] = {}
    for place, schema in _walk(root, root, (), "", frozenset()):
        *said, default = _described(schema, root)
        default = default or defaults.get((place.condition, place.path[-1]), "")
        if "transport" in place.path[:-1] and not default:
            default = "the preset's"
        places = found.setdefault((place.path[-1], *said, default), [])
        if place not in places:
            places.append(place)
    return tuple(
        Key(name, said, kind, limits, default, tuple(places))
        for (name, said, kind, limits, default), places in found.items()
    )


def keys_called(name: str) -> list[Key]:
    """The keys that `name` means: "load", "mark.k", "traffic.web.load"."""
    parts = [part.strip() for part in name.split(".")]
    found = [
        (key, place, _fits(place.path, parts)) for key in scenario_keys() for place in key.places
    ]
    # "stop.limit" is the run's, though a layer might be called "stop", too.
    best = max((fit for *_, fit in found), default=0)
    places: dict[Key, list[Place]] = {}
    for key, place, fit in found:
        if fit == best > 0:
            places.setdefault(key, []).append(place)
    return [replace(key, places=tuple(own)) for key, own in places.items()]


def _fits(path: Sequence[str], parts: Sequence[str]) -> int:
    """Whether a path ends so: 2, 1 where a part is a name that the scenario chooses, 0 if not."""
    if len(parts) > len(path) or parts[-1] != path[-1]:
        return 0
    last = path[len(path) - len(parts) :]
    if last == tuple(parts):
        return 2
    return int(all(own in (part, ANY) for own, part in zip(last, parts, strict=True)))


def _walk(
    schema: Schema, root: Schema, path: tuple[str, ...], condition: str, within: frozenset[str]
) -> Iterator[tuple[Place, Schema]]:
    """The keys in a table of this schema, each with its own schema."""
    if reference := schema.get("$ref"):
        if reference in within:
            return
        yield from _walk(_target(reference, root), root, path, condition, within | {reference})
    required = schema.get("required", ())
    for name, own in schema.get("properties", {}).items():
        if not isinstance(own, dict) or (not path and name in _OVERRIDES):
            # `false` forbids; what overrides other keys is a key, and has none of its own.
            if isinstance(own, dict):
                yield Place((name,), "", required=False), own
                yield from _of_variants(own if name == "variants" else {})
            continue
        here = (*path, name)
        yield Place(here, condition, name in required), own
        yield from _walk(own, root, here, "", within)
    for case in schema.get("allOf", ()):
        if "then" in case:
            tests = case["if"].get("properties", {})
            said = [f"{key} = {_toml(test['const'])}" for key, test in tests.items() if _is(test)]
            yield from _walk(case["then"], root, path, " and ".join(said) or condition, within)
        else:
            yield from _walk(case, root, path, condition, within)
    if isinstance(items := schema.get("items"), dict):
        # Lists of tables: groups and flows have names, and other tables none.
        named = path[-1:] in (("traffic",), ("flows",))
        yield from _walk(items, root, (*path, ANY) if named else path, condition, within)
    if path and isinstance(others := schema.get("additionalProperties"), dict):
        yield from _walk(others, root, (*path, ANY), condition, within)


def _of_variants(schema: Schema) -> Iterator[tuple[Place, Schema]]:
    """The keys of a variant that override nothing: they name another variant."""
    axis = schema.get("additionalProperties", {})
    variant = axis.get("additionalProperties", {})
    for name, own in variant.get("properties", {}).items():
        yield Place(("variants", ANY, ANY, name), "", required=False), own


def _is(test: object) -> bool:
    return isinstance(test, dict) and "const" in test


def _target(reference: str, root: Schema) -> Schema:
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found


def _described(schema: Schema, root: Schema) -> tuple[str, str, str, str]:
    """Help, type, range and default."""
    said = schema.get("description") or ""
    if not said and "$ref" in schema:
        said = _target(schema["$ref"], root).get("description", "")
    if not said and "enum" in schema:
        said = "Which of several kinds it is."
    default = _toml(schema["default"]) if "default" in schema else ""
    return said, _type(schema, root), _range(schema, root), default


def _type(schema: Schema, root: Schema) -> str:
    if reference := schema.get("$ref"):
        target = _target(reference, root)
        if target.get("type") in ("object", None) and "examples" not in target:
            return _type(target, root)
        said = str(target.get("description", "")).rstrip(".")
        scalar = "enum" not in target and said
        return (
            _with_examples(said[:1].lower() + said[1:], target) if scalar else _type(target, root)
        )
    if "const" in schema:
        return _toml(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(_toml(value) for value in schema["enum"])
    cases = [case["then"] for case in schema.get("allOf", ()) if "type" in case.get("if", {})]
    if cases:
        return ", or ".join(dict.fromkeys(_type(case, root) for case in cases))
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        return ", or ".join(dict.fromkeys(_type(case, root) for case in alternatives))
    kind = schema.get("type", "object")
    kinds = kind if isinstance(kind, list) else [kind]
    items = schema.get("items")
    if kinds == ["array"] and isinstance(items, dict):
        return f"a list, each {_type(items, root)}"
    return " or ".join(_TYPES[each] for each in kinds if each in _TYPES)


def _with_examples(said: str, schema: Schema) -> str:
    examples = [_toml(example) for example in schema.get("examples", ())]
    return f"{said}, such as {' or '.join(examples)}" if examples else said


def _range(schema: Schema, root: Schema) -> str:
    if reference := schema.get("$ref"):
        return _range(_target(reference, root), root)
    limits = [
        (said, schema[key])
        for key, said in (
            ("minimum", "from"),
            ("exclusiveMinimum", "above"),
            ("maximum", "to"),
            ("exclusiveMaximum", "below"),
        )
        if key in schema
    ]
    return " ".join(
        f"{said} {value:g}" if abs(value) < 1e5 else f"{said} {value}" for said, value in limits
    )


def _toml(value: object) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{key} = {_toml(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_toml(each) for each in value)}]"
    return json.dumps(value, ensure_ascii=False)
