"""Files with controllers that a resolved scenario names: they are not in it themselves."""

from __future__ import annotations

from typing import Any

_FORMS = ("python", "library")


def controller_files(resolved: Any) -> list[str]:
    """What a resolved scenario, or a part of one, names as files with controllers, in order."""
    found: dict[str, None] = {}
    if isinstance(resolved, dict):
        controller = resolved.get("controller")
        if isinstance(controller, dict):
            names = [controller[form] for form in _FORMS if isinstance(controller.get(form), str)]
            found.update(dict.fromkeys(names))
    parts = resolved.values() if isinstance(resolved, dict) else resolved
    for part in parts if isinstance(resolved, dict | list) else ():
        found.update(dict.fromkeys(controller_files(part)))
    return list(found)
