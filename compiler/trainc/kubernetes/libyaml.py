"""Load libyaml's parser without the rest of PyYAML: 3 ms at startup instead of 25.

PyYAML's package imports its loaders, constructors and representers and compiles their regular expressions; reading
events needs none of them. `load_alone` gives the C extension the modules that it imports by name (for their error
classes). If that fails, it reverts everything, so that PyYAML is then imported as a whole.

Only trainc's command calls it, in its own process: the `yaml` module that it leaves behind is of no use to other code,
so the library must not call it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Final

PLAIN: Final = ("error", "tokens", "events", "nodes")
"""The PyYAML modules that only define classes; the extension creates its events from them."""
ERRORS: Final = {
    "scanner": "ScannerError",
    "parser": "ParserError",
    "composer": "ComposerError",
    "constructor": "ConstructorError",
    "emitter": "EmitterError",
    "serializer": "SerializerError",
    "representer": "RepresenterError",
}
"""The PyYAML modules that the extension imports for one class each."""


def load_alone() -> bool:
    """Import yaml._yaml and its dependencies; return False if PyYAML is already imported or only works as a whole."""
    spec = None if "yaml" in sys.modules else PathFinder.find_spec("yaml")
    if spec is None or spec.submodule_search_locations is None:
        return False
    package = ModuleType("yaml")
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules["yaml"] = package
    try:
        _placeholder_modules(package)
        for module in (*PLAIN, "_yaml"):
            import_module(f"yaml.{module}")
    except Exception:  # a future PyYAML may raise anything here
        for name in [name for name in sys.modules if name == "yaml" or name.startswith("yaml.")]:
            del sys.modules[name]
        return False
    return True


def _placeholder_modules(package: ModuleType) -> None:
    """Add modules to the package that contain only the error classes."""
    from yaml.error import MarkedYAMLError, YAMLError

    class ReaderError(YAMLError):
        """A character that YAML does not allow, or bytes that are not valid text."""

        def __init__(self, name: str, position: int, character: object, encoding: str, reason: str) -> None:
            self.name = name
            self.position = position
            self.character = character
            self.encoding = encoding
            self.reason = reason

    classes: dict[str, type[Exception]] = {"reader": ReaderError}
    classes |= {module: type(error, (MarkedYAMLError,), {}) for module, error in ERRORS.items()}
    for module, error in classes.items():
        placeholder = ModuleType(f"yaml.{module}")
        setattr(placeholder, error.__name__, error)
        sys.modules[placeholder.__name__] = placeholder
        setattr(package, module, placeholder)
