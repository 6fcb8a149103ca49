"""Programs of the source tree that are no part of the package, as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent


def script(path: str) -> ModuleType:
    """The module of a file, named from the root of the sources: `release/notes.py`."""
    name = path.removesuffix(".py").replace("/", "_")
    specification = importlib.util.spec_from_file_location(name, ROOT / path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    # Data classes look their module up.
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module
