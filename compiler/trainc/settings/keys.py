"""The keys of trainc.yaml: how a layer changes each one, and the option that sets it.

The layers, from the lowest to the highest: built-in, files, environment, flags. A file has a layer above those of the
files that it extends. docs/configuration.md has this table.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from trainc.base.records import NamedTuple

Rule = Literal["merge", "merge by name", "append", "replace", "replace together"]
"""How a higher layer changes a key: mappings merge, some lists append, other lists and scalars are replaced.

Of `images`, the items with one name merge, and others are appended. A layer that sets one of the keys with the rule
`replace together` replaces all of them.
"""


class Key(NamedTuple):
    """A key that has a value of its own; its parents are mappings, which merge."""

    path: tuple[str, ...]
    rule: Rule = "replace"
    flag: str = ""
    """The option that sets it; empty without one."""
    default: Any = None
    """The built-in value; None if the key has none."""
    in_environment: bool = True
    """Whether an environment may set it."""

    @property
    def name(self) -> str:
        """The path in the notation of messages: `runtimes.paths`."""
        return ".".join(self.path)


KEYS: Final = (
    Key(("requiredVersion",), in_environment=False),
    Key(("extends",), in_environment=False),
    Key(("sources",), flag="PATH", default=["."], in_environment=False),
    Key(("exclude",), "append", "--exclude", []),
    Key(("runtimes", "paths"), flag="--runtimes", default=[]),
    Key(("runtimes", "builtin"), default="allow"),
    Key(("accelerators",), "merge", default={}),
    Key(("output",), flag="--output", in_environment=False),
    Key(("keep",), "append", default=[], in_environment=False),
    Key(("trainerVersion",), flag="--trainer-version", default="2.3"),
    Key(("kueueVersion",), flag="--kueue-version"),
    Key(("passthrough",), flag="--passthrough"),
    Key(("fieldValidation",), flag="--field-validation", default="strict"),
    Key(("jobsetVersion",)),
    Key(("lint", "disable"), "append", default=[]),
    Key(("lint", "paths"), "merge", default={}),
    Key(("lint", "strict"), flag="--strict", default=False),
    Key(("legacy", "kinds"), flag="--legacy", default=[]),
    Key(("legacy", "gang"), flag="--gang"),
    Key(("delivery", "nameSuffixHash"), flag="--name-suffix-hash", default=False),
    Key(("delivery", "argocdReplace"), flag="--argocd-replace", default=False),
    Key(("delivery", "suspend"), flag="--suspend", default=False),
    Key(("cluster",)),
    Key(("namespace",), "replace together"),
    Key(("namespacePrefix",), "replace together"),
    Key(("namespaceSuffix",), "replace together"),
    Key(("shared",), "append", default=[], in_environment=False),
    Key(("namePrefix",)),
    Key(("nameSuffix",)),
    Key(("labels",), "merge", default={}),
    Key(("annotations",), "merge", default={}),
    Key(("images",), "merge by name", default=[]),
    Key(("patches",), "append", default=[]),
    Key(("environments",), "merge", default={}, in_environment=False),
)
"""All keys, in the order of the reference."""
BY_PATH: Final = {key.path: key for key in KEYS}
TOGETHER: Final = tuple(key.name for key in KEYS if key.rule == "replace together")
"""The keys that a layer replaces together."""
ENVIRONMENTS: Final = "environments"
OF_RENDERED: Final = (
    "accelerators",
    "keep",
    "delivery",
    "namespacePrefix",
    "namespaceSuffix",
    "shared",
    "namePrefix",
    "nameSuffix",
    "labels",
    "annotations",
    "images",
    "patches",
)
"""The keys that change only what trainc renders: they have no effect with `output: none`."""
FORBIDDEN: Final = tuple(key.name for key in KEYS if not key.in_environment)
"""The keys that no environment may set."""
