"""The effective settings of a project or of one of its environments.

Reads    the layers: the file, the selected environment, the flags. `values` has found no fault that prevents reading.
Returns  the fields of `Settings` that they decide, for an environment that is selected by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.declarations import Declaration
from trainc.base.kueue_releases import find_kueue
from trainc.base.records import NamedTuple
from trainc.base.releases import DEFAULT_RELEASE, find_release, with_jobset
from trainc.base.suggestions import KnownNames, nearest_name
from trainc.diagnostics import Diagnostic, Edit, Place
from trainc.edits.environment import Environment, Image, Setting
from trainc.kubernetes.violations import field_of, shown
from trainc.masking.masked_values import masked
from trainc.pipeline.objects import NO_PROJECT, Delivery, Project
from trainc.settings.keys import BY_PATH, ENVIRONMENTS, KEYS, OF_RENDERED
from trainc.settings.layers import (
    BUILT_IN,
    Branch,
    Leaf,
    file_layer,
    find,
    items,
    key_layer,
    leaf,
    merged,
    named,
    sources,
    value_of,
)
from trainc.settings.model import DEFAULT, DELIVERY_KEYS, NO_FLAGS, NO_OUTPUT
from trainc.settings.paths import paths_in_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document, Location, Path
    from trainc.files.exclude import Patterns
    from trainc.settings.layers import Node
    from trainc.settings.lint_paths import PathRules
    from trainc.settings.model import Base, Flags, Settings


NOT_A_LAYER: Final = ("requiredVersion", "extends", ENVIRONMENTS)
"""The keys that are not settings of an environment or a run."""


def layers(base: Base | None, name: str, flags: Flags) -> list[Branch]:
    """Return the layers above the built-in one: of the files, of an environment if it is named, of the flags.

    A file has a layer above those of the files that it extends, and its environment one above theirs. Those of a
    project that renders nothing lack the keys that change what is rendered.
    """
    found = []
    if base is not None:
        ignored = OF_RENDERED if base.renders_nothing else ()
        found += [file_layer(file.document, (), (*NOT_A_LAYER, *ignored)) for file in base.files]
        if name:
            found += [file_layer(file.document, (ENVIRONMENTS, name), ignored) for file in base.files]
    return [*found, *(key_layer(path, value, BY_PATH[path].flag) for path, value in flags.items())]


def places_in_effect(settings: Settings) -> list[Place]:
    """Return the places of the values of the files that are in effect in an environment, which may replace some."""
    return [*sources(merged(layers(settings.base, settings.environment_name, NO_FLAGS)))]


def has_setting(places: Iterable[Place], place: Place) -> bool:
    """Return whether a setting has a value that is in effect; `places` are those of `places_in_effect`."""
    return any(
        each.document.file == place.document.file and each.path[: len(place.path)] == place.path[: len(each.path)]
        for each in places
    )


def effective(settings: Settings, base: Base, name: str, flags: Flags) -> Settings:
    """Return the settings in an environment; in the project's own one if the name is empty."""
    tree = merged(layers(base, name, flags))
    return settings._replace(
        disable=frozenset(item.value for item in items(tree, "lint", "disable")),
        lint_paths=_lint_paths(base, tree),
        strict=_strict(leaf(tree, "lint", "strict")),
        field_validation=_value(leaf(tree, "fieldValidation"), DEFAULT.field_validation),
        legacy_field_validation=_value(leaf(tree, "fieldValidation"), DEFAULT.legacy_field_validation),
        release=_release(tree),
        release_stated=leaf(tree, "trainerVersion") is not None,
        kueue=find_kueue(_value(leaf(tree, "kueueVersion"))),
        legacy_kinds=tuple(item.value for item in items(tree, "legacy", "kinds")),
        legacy_gang=_value(leaf(tree, "legacy", "gang"), DEFAULT.legacy_gang),
        runtimes=paths_in_root(base, items(tree, "runtimes", "paths")),
        built_in_forbidden=_forbidden(leaf(tree, "runtimes", "builtin")),
        built_in_allowed=_value(leaf(tree, "runtimes", "builtin")) == "allow",
        project=_project(base, tree, name),
        environment=_environment(tree, name, base),
        exclude=_exclude(base, items(tree, "exclude")),
        passthrough=_passthrough(base, leaf(tree, "passthrough")),
        delivery=_delivery(tree),
        sources=paths_in_root(base, items(tree, "sources")),
        output=next(iter(paths_in_root(base, _folder(leaf(tree, "output")))), None),
        renders_nothing=base.renders_nothing,
        keep=tuple(item.value for item in items(tree, "keep")),
        keep_places=tuple(item.source for item in items(tree, "keep") if isinstance(item.source, Place)),
        environment_name=name,
        cluster=_value(leaf(tree, "cluster"), ""),
    )


def _release(tree: Branch) -> TrainerRelease:
    """Return the release of Trainer, with the version of JobSet that the settings name."""
    release = find_release(_value(leaf(tree, "trainerVersion")), DEFAULT_RELEASE)
    version = _value(leaf(tree, "jobsetVersion"))
    return release if version is None else with_jobset(release, version)


def _folder(leaf: Leaf | None) -> tuple[Leaf, ...]:
    return () if leaf is None or leaf.value == NO_OUTPUT else (leaf,)


def _value(leaf: Leaf | None, default: Any = None) -> Any:
    return default if leaf is None else leaf.value


def _strict(leaf: Leaf | None) -> str:
    """Return the name of the option or setting that turns warnings into errors, for messages."""
    if leaf is None or not leaf.value:
        return ""
    source = leaf.source
    return f"{field_of(source.path)} in {source.document.file}" if isinstance(source, Place) else source


def _forbidden(leaf: Leaf | None) -> Place | None:
    return leaf.source if leaf is not None and leaf.value == "forbid" and isinstance(leaf.source, Place) else None


def _delivery(tree: Branch) -> Delivery:
    return Delivery(*(bool(_value(leaf(tree, "delivery", key), False)) for key in DELIVERY_KEYS))


def _exclude(base: Base, lines: tuple[Leaf, ...]) -> tuple[Patterns, ...]:
    """Return the file's patterns as one list, so that a `!` of an environment applies, and those of the flags."""
    if not lines:
        return ()
    import os

    from trainc.files.exclude import Patterns

    flags = tuple(line.value for line in lines if not isinstance(line.source, Place))
    of_files = [(line.value, line.source) for line in lines if isinstance(line.source, Place)]
    found = []
    if of_files:
        texts, places = zip(*of_files, strict=True)
        found.append(Patterns(base.folder, texts, places, tuple(map(base.folder_of, places))))
    if flags:
        found.append(Patterns(os.getcwd(), flags))
    return tuple(found)


def _passthrough(base: Base, own: Leaf | None) -> Patterns | bool | None:
    """Return the files whose documents of other kinds are copied."""
    if own is None or isinstance(own.value, bool):
        return None if own is None else bool(own.value)
    from trainc.files.exclude import Patterns

    folder = base.folder_of(own.source) if isinstance(own.source, Place) else base.folder
    return Patterns(folder, tuple(line.value for line in own.value))


def _lint_paths(base: Base, tree: Branch) -> PathRules | None:
    """Return the rules that are disabled for some files; None without any."""
    found = [*named(tree, "lint", "paths")]
    if not found:
        return None
    from trainc.settings.lint_paths import PathRule, PathRules

    return PathRules(
        PathRule(base.folder_of(place), pattern, frozenset(item.value for item in each.value), place)
        for pattern, each, place in found
    )


def _project(base: Base, tree: Branch, name: str) -> Project:
    """Return the settings that affect the compiled objects, with the places where the layers set them."""
    accelerators = tree.get("accelerators")
    leaves = {name: leaf(tree, "delivery", key) for name, key in zip(Delivery._fields, DELIVERY_KEYS, strict=True)}
    delivery = {name: found.source for name, found in leaves.items() if found and isinstance(found.source, Place)}
    if not accelerators and not delivery:
        return NO_PROJECT
    value = {"accelerators": value_of(accelerators)} if accelerators else {}
    document = base.document_with("accelerators")
    if accelerators and (name or len(base.files) > 1):
        document = _sourced(document, tree, value)
    return Project(document, value, delivery)


def _sourced(document: Document, tree: Branch, value: Any) -> Document:
    """Return the document with a merged value, whose fields have the places that the layers have."""

    def source(path: Path) -> Place | Path:
        node, rest = find(tree, path)
        return node.source._replace(path=(*node.source.path, *rest)) if isinstance(node.source, Place) else path

    return document._replace(value=value, edits=(Edit(document.value, source),))


def _environment(tree: Branch, name: str, base: Base) -> Environment | None:
    """Return the settings that change documents; None for a project without environments that has none."""
    found = Environment(
        name=name,
        namespace=_setting(leaf(tree, "namespace")),
        namespaces=_settings(tree.get("namespace")),
        namespace_prefix=_setting(leaf(tree, "namespacePrefix")),
        namespace_suffix=_setting(leaf(tree, "namespaceSuffix")),
        shared=tuple(setting for item in items(tree, "shared") if (setting := _setting(item)) is not None),
        name_prefix=_setting(leaf(tree, "namePrefix")),
        name_suffix=_setting(leaf(tree, "nameSuffix")),
        labels=_settings(tree.get("labels")),
        annotations=_settings(tree.get("annotations")),
        images=tuple(_image(item) for item in items(tree, "images")),
        patches=tuple(
            setting._replace(folder=base.folder_of(setting.place))
            for item in items(tree, "patches")
            if (setting := _setting(item)) is not None
        ),
    )
    return None if found == Environment() else found._replace(root=base.root)


def _setting(leaf: Leaf | None) -> Setting | None:
    """Return a value with its place; None for a missing or empty one."""
    if leaf is None or leaf.value == "":
        return None
    assert isinstance(leaf.source, Place)  # no flag sets it
    return Setting(leaf.value, leaf.source)


def _settings(branch: Leaf | Branch | None) -> dict[str, Setting]:
    if not isinstance(branch, Branch):
        return {}
    return {
        key: Setting(item.value, item.source)
        for key, item in branch.items()
        if isinstance(item, Leaf) and isinstance(item.source, Place)
    }


def _image(item: Leaf) -> Image:
    value = item.value
    assert isinstance(item.source, Place)
    new_name, new_tag, digest = (value.get(key) or "" for key in ("newName", "newTag", "digest"))
    lower = tuple(each.source for each in item.merged if isinstance(each.source, Place))
    return Image(value["name"], item.source, new_name, new_tag, digest, lower)


UNKNOWN_ENVIRONMENT: Final = Declaration("unknown-environment", ("read",), trainc_only=True)

_MANY: Final = 20
"""The maximum number of names in a message."""


def unknown_environment(settings: Settings, name: str) -> Diagnostic:
    """Return the error for a name that is not an environment."""
    names = settings.environment_names
    message = f"{shown(name)} is not an environment"
    if settings.base is None:
        return Diagnostic.declared(
            UNKNOWN_ENVIRONMENT, f"{message}: no trainc.yaml is read", f"add it to {ENVIRONMENTS} of a trainc.yaml"
        )
    document = settings.base.document_with(ENVIRONMENTS)
    if not names:
        message, help = f"{message}: {document.file} has no environments", f"add it to {ENVIRONMENTS}"
        return Diagnostic.declared(UNKNOWN_ENVIRONMENT, message, help, place=Place(document))
    near = nearest_name(name, names)
    help = KnownNames(names).use(" or ")
    help = f"did you mean {near}? {document.file} has the environments {listed(names)}" if near else help
    place = Place(document, (ENVIRONMENTS,), key=True)
    return Diagnostic.declared(UNKNOWN_ENVIRONMENT, message, help, field=ENVIRONMENTS, place=place)


def listed(names: tuple[str, ...]) -> str:
    """Return the names of environments for a message; only the first ones if there are many."""
    return ", ".join(names[:_MANY]) + (" ..." if len(names) > _MANY else "")


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
