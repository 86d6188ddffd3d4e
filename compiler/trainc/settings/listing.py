"""The effective settings as a list of values, each with the layer and the line that set it.

Reads    the settings of a project or of one of its environments.
Returns  one entry per value, in the order of the reference; an item of a list is an entry of its own. Secrets in
         variables and patches are masked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from trainc.base.records import NamedTuple
from trainc.diagnostics import Place
from trainc.masking.masked_values import masked
from trainc.settings.effective import layers
from trainc.settings.keys import ENVIRONMENTS, KEYS
from trainc.settings.layers import BUILT_IN, Branch, Leaf, key_layer, merged, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Location, Path
    from trainc.settings.layers import Node
    from trainc.settings.model import Flags, Settings

Layer = Literal["built-in", "file", "environment", "flag"]


class SettingEntry(NamedTuple):
    """A value of the effective settings: a scalar, an item of a list, or an empty list or mapping."""

    path: Path
    """The path in the effective settings."""
    value: Any
    layer: Layer
    flag: str = ""
    """The option that set it, if the layer is `flag`."""
    location: Location | None = None
    """The position in trainc.yaml, if the file or an environment set it."""
    lower: tuple[Location, ...] = ()
    """The positions in lower layers of the items with which an item of `images` was merged."""

    @property
    def source(self) -> str:
        """The source as text: `trainc.yaml:3`, `built-in`, an option; a merged item has several."""
        if self.location is None:
            return self.flag or self.layer
        return ", ".join(f"{at.file}:{at.line}" for at in (*self.lower, self.location))


def entries(settings: Settings, flags: Flags) -> Iterator[SettingEntry]:
    """Yield the effective settings; `flags` are the options that override them."""
    built_in = [key_layer(key.path, key.default, BUILT_IN) for key in KEYS if key.default is not None]
    tree = merged([*built_in, *layers(settings.base, settings.environment_name, flags)])
    tree.pop(ENVIRONMENTS, None)
    shown = masked(value_of(tree))
    for key in dict.fromkeys(key.path[0] for key in KEYS):
        if key in tree:
            yield from _entries(tree[key], shown[key], (key,))


def _entries(node: Node, shown: Any, path: Path) -> Iterator[SettingEntry]:
    if isinstance(node, Branch) and node:
        for key, below in node.items():
            yield from _entries(below, shown[key], (*path, key))
    elif isinstance(node, Leaf) and isinstance(node.value, tuple) and node.value:
        for index, item in enumerate(node.value):
            lower = tuple(each.source.locate() for each in item.merged if isinstance(each.source, Place))
            yield _entry((*path, index), shown[index], item.source)._replace(lower=lower)
    else:
        yield _entry(path, shown, node.source)


def _entry(path: Path, value: Any, source: Place | str) -> SettingEntry:
    if isinstance(source, Place):
        layer: Layer = "environment" if source.path[:1] == (ENVIRONMENTS,) else "file"
        return SettingEntry(path, value, layer, location=source.locate())
    return (
        SettingEntry(path, value, "built-in") if source == BUILT_IN else SettingEntry(path, value, "flag", flag=source)
    )
