"""The faults of a trainc.yaml: of requiredVersion, else of the schema, else of values that no schema can express.

Reads    each layer: the file and those that it extends, and every environment, selected or not.
Returns  diagnostics at the line of the layer that set the value.
Source   Kubernetes 1.36 for names, labels and annotations; kustomize v5.7 for images, where newTag and digest may be
         combined.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.option_rows import RELEASE_ROWS
from trainc.budget import Meter
from trainc.diagnostics import Diagnostic, Place, Related
from trainc.kubernetes import names, objectmeta
from trainc.kubernetes.violations import INVALID_NAME, TOO_MANY_ITEMS, WRONG_TYPE, Violation, field_of, shortened, shown
from trainc.settings import schema
from trainc.settings.effective import NOT_A_LAYER, layers
from trainc.settings.keys import ENVIRONMENTS, OF_RENDERED
from trainc.settings.layers import file_layer, find, items, leaf, merged, named, value_of
from trainc.settings.model import NO_FLAGS
from trainc.settings.paths import faults as path_faults
from trainc.settings.paths import pattern_faults as pattern_path_faults
from trainc.settings.schema import diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.budget import Budget
    from trainc.diagnostics import Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.settings.layers import Branch, Leaf
    from trainc.settings.model import Base


IMAGE_CHANGE: Final = Declaration("image-change", ("read",), trainc_only=True)

MOST_PATTERNS: Final = 250
"""The most patterns of one list."""
_PASSTHROUGH_HELP: Final = "use true, false, or a list of .gitignore patterns of the files to copy"
_METADATA: Final = ("namespace", "labels", "annotations")
_AFFIXES: Final = ("namePrefix", "nameSuffix")
"""The keys of parts of a TrainJob's name."""
_MERGED: Final = (*_AFFIXES, "accelerators", *RELEASE_ROWS)
"""The keys whose values can be invalid only after the merge of layers."""
_NAMESPACE_AFFIXES: Final = ("namespacePrefix", "namespaceSuffix")
CONFLICTING_SETTINGS: Final = Declaration("conflicting-settings", ("read",), trainc_only=True)
_IMAGE_HELP: Final = {
    "newName": "use a name such as ghcr.io/acme/app, without tag and digest",
    "newTag": "use letters, digits, `_`, `.` and `-`, at most 128 characters",
    "digest": "use sha256: and 64 hexadecimal digits, as the registry shows it",
}
SETTING_WITHOUT_EFFECT: Final = Declaration("setting-without-effect", ("read",), "warning", trainc_only=True)
REQUIRED_VERSION: Final = Declaration("required-version", ("read",), trainc_only=True)


def faults_of_values(base: Base, *, complete: bool = True) -> Iterator[Diagnostic]:
    """Yield the faults of the layers of each file; if all files are read, also those of merged layers."""
    for file in base.files:
        document = file.document
        environments = document.value.get(ENVIRONMENTS) or {}
        for path in ((), *((ENVIRONMENTS, name) for name in environments)):
            layer = file_layer(document, path, NOT_A_LAYER)
            if document is base.document and base.renders_nothing:
                yield from _without_effect(base, layer)
            yield from _paths(base, layer)
            yield from _patterns(base, layer)
            for violation in chain(_violations(path, layer), _passthrough(path, layer)):
                yield diagnostic(document, violation)
        for name in environments:
            for violation in _environment_name(name):
                yield diagnostic(document, violation)
    if not complete or not any(key in file.document.text for file in base.files for key in _MERGED):
        return
    merges = {name: merged(layers(base, name, NO_FLAGS)) for name in ("", *base.environment_names)}
    yield from _distinct_diagnostics(_long_affixes(base, tree) for tree in merges.values())
    if any(key in file.document.text for file in base.files for key in RELEASE_ROWS):
        from trainc.settings.versions import environment_faults

        yield from environment_faults(base, {name: merges[name] for name in base.environment_names})
    yield from _distinct_diagnostics(_accelerators(tree) for tree in merges.values() if tree.get("accelerators"))


def _distinct_diagnostics(groups: Iterable[Iterable[Diagnostic]]) -> Iterator[Diagnostic]:
    """Yield the diagnostics of some merges, each once: a fault of the file is one of every environment."""
    seen = set()
    for each in chain.from_iterable(groups):
        assert isinstance(each.place, Place)
        key = each.place.document.file, each.place.path, each.message
        if key not in seen:
            seen.add(key)
            yield each


def _without_effect(base: Base, layer: Branch) -> Iterator[Diagnostic]:
    """Yield a warning for each key of the project's own file that changes only what trainc renders."""
    output = base.document_with("output")
    for key in OF_RENDERED:
        if key not in layer or not (value := value_of(layer[key])) or (key == "delivery" and not any(value.values())):
            continue
        place = layer[key].source
        assert isinstance(place, Place)
        yield Diagnostic.declared(
            SETTING_WITHOUT_EFFECT,
            f"{field_of(place.path)} has no effect: the cluster gets the TrainJobs as they are in git",
            "remove it, and write the change into the TrainJobs; or set `output` to a folder, and apply what trainc "
            "renders",
            field=field_of(place.path),
            place=place._replace(key=True),
            related=(Related("the setting", Place(output, ("output",))),),
        )


def _paths(base: Base, layer: Branch) -> Iterator[Diagnostic]:
    of_output = leaf(layer, "output")
    keys = {
        "sources": items(layer, "sources"),
        "output": () if of_output is None else (of_output,),
        "runtimes.paths": items(layer, "runtimes", "paths"),
    }
    for key, leaves in keys.items():
        yield from path_faults(
            base, key, ((each.value, each.source) for each in leaves if isinstance(each.source, Place))
        )
    keep = ((each.value, each.source) for each in _texts(leaf(layer, "keep")) if isinstance(each.source, Place))
    yield from pattern_path_faults("keep", keep, root=base.root)
    yield from path_faults(
        base,
        "patches.path",
        (
            (each.value["path"], each.source._replace(path=(*each.source.path, "path")))
            for each in items(layer, "patches")
            if isinstance(each.source, Place) and "path" in each.value
        ),
    )


def _patterns(base: Base, layer: Branch) -> Iterator[Diagnostic]:
    """Yield the faults of the patterns in `exclude`, `keep`, `passthrough` and `lint.paths`."""
    listed = [item for key in ("exclude", "keep", "passthrough") for item in _texts(leaf(layer, key))]
    lines = [(item.value, item.source) for item in listed if isinstance(item.source, Place)]
    lines += [(pattern, place) for pattern, _, place in named(layer, "lint", "paths")]
    if not lines:
        return
    from trainc.files.exclude import Patterns
    from trainc.files.exclude import faults as pattern_faults

    texts, places = zip(*lines, strict=True)
    yield from pattern_faults(Patterns(base.folder, texts, places))


def _texts(listed: Leaf | None) -> tuple[Leaf, ...]:
    """Return the items of a list of texts; none for another value, which another check reports."""
    items = listed.value if listed is not None and isinstance(listed.value, tuple) else ()
    return items if all(isinstance(item.value, str) for item in items) else ()


def _violations(path: Path, layer: Branch) -> Iterator[Violation]:
    """Yield the faults of names, labels, annotations, images and the gang scheduler."""
    metadata = {key: value_of(layer[key]) for key in _METADATA if key in layer}
    if isinstance(mapping := metadata.get("namespace"), dict):
        del metadata["namespace"]
        yield from _namespaces((*path, "namespace"), mapping)
    elif metadata.get("namespace") == "":
        from trainc.kubernetes.structural.schema_messages import too_short

        yield too_short((*path, "namespace"), "", 1)
    yield from _metadata(path, metadata)
    for key in (*_AFFIXES, *_NAMESPACE_AFFIXES):
        found = leaf(layer, key)
        if found is None or not found.value:
            continue
        yield from _affix((*path, key), found.value)
        if key in _NAMESPACE_AFFIXES and "namespace" in layer and value_of(layer["namespace"]):
            message = f"namespace and {key} exclude each other"
            help = "keep namespace, which is one namespace or a mapping, or keep the prefix and the suffix"
            yield Violation.at((*path, key), CONFLICTING_SETTINGS, message, help, key=True)
    if (count := len([*named(layer, "lint", "paths")])) > MOST_PATTERNS:
        from trainc.kubernetes.structural.schema_messages import too_many_items

        yield too_many_items((*path, "lint", "paths"), count, MOST_PATTERNS)
    for index, item in enumerate(items(layer, "images")):
        yield from _image((*path, "images", index), item.value)
    if not RELEASE_ROWS.keys().isdisjoint(layer):
        from trainc.settings.versions import faults as version_faults

        yield from version_faults(path, layer)
    gang = leaf(layer, "legacy", "gang")
    if gang is not None:
        from trainc.frontends.gangs import name_fault

        if fault := name_fault(gang.value):
            yield Violation.at((*path, "legacy", "gang"), INVALID_NAME, *fault)


def _passthrough(path: Path, layer: Branch) -> Iterator[Violation]:
    """Yield the faults of `passthrough`, which is a boolean or a list of patterns."""
    found = leaf(layer, "passthrough")
    if "passthrough" not in layer or (found is not None and isinstance(found.value, bool)):
        return
    there = (*path, "passthrough")
    lines = found.value if found is not None and isinstance(found.value, tuple) else None
    if lines is None:
        yield Violation.at(there, WRONG_TYPE, "passthrough must be a boolean or a list of patterns", _PASSTHROUGH_HELP)
        return
    for index, line in enumerate(lines):
        if not isinstance(line.value, str):
            yield Violation.at((*there, index), WRONG_TYPE, "a pattern must be a string", _PASSTHROUGH_HELP)
    if len(lines) > MOST_PATTERNS:
        yield Violation.at(there, TOO_MANY_ITEMS, f"passthrough has more than {MOST_PATTERNS} patterns", "use folders")


def _metadata(path: Path, metadata: Tree) -> Iterator[Violation]:
    """Yield the faults of metadata, of which some keys are settings."""
    for violation in objectmeta.check({"name": "a", **metadata}, namespaced=True):
        there = (*path, *violation.path[1:])
        yield violation._replace(path=there, field=field_of(there))


def _namespaces(path: Path, mapping: Tree) -> Iterator[Violation]:
    """Yield the faults of a mapping of namespaces."""
    for old, new in mapping.items():
        if names.dns1123_label_errors(old):
            from trainc.kubernetes.names import LABEL, example, fault

            message = f'"{old}" is not a valid namespace: it {fault(old, LABEL, names.LONGEST_LABEL)}'
            help = f"use lowercase letters, digits and `-`{example(old)}"
            yield Violation.at((*path, old), INVALID_NAME, message, help, key=True)
        if new == "":
            from trainc.kubernetes.structural.schema_messages import too_short

            yield too_short((*path, old), "", 1)
        for violation in objectmeta.check({"name": "a", "namespace": new}, namespaced=True):
            there = (*path, old)
            yield violation._replace(path=there, field=field_of(there))


def _affix(path: Path, value: str) -> Iterator[Violation]:
    """Yield the fault of a prefix or suffix with which no name of a TrainJob, or no namespace, is valid."""
    key = str(path[-1])
    is_prefix, of_name = key.endswith("Prefix"), key in _AFFIXES
    shortest = f"{value}a" if is_prefix else f"a{value}"
    if not (names.dns1035_label_errors if of_name else names.dns1123_label_errors)(shortest):
        return
    from trainc.kubernetes.names import LABEL, fault

    why = fault(shortest, LABEL, names.LONGEST_LABEL)
    help = f"use lowercase letters, digits and `-`, and {'start' if is_prefix else 'end'} with a letter or digit"
    if is_prefix and of_name:
        why = f"starts with {shown(value[0])}" if why.endswith("dash") else why
        help = "start with a lowercase letter, and use lowercase letters, digits and `-`"
    subject = "TrainJob name" if of_name else "namespace"
    yield Violation.at(path, INVALID_NAME, f'no {subject} can have the {key} "{value}": it {why}', help)


def _image(path: Path, item: Tree) -> Iterator[Violation]:
    """Yield the faults of one change of an image."""
    from trainc.kubernetes.image_grammar import is_reference

    name = item["name"]
    if not is_reference(f"{name}:a") or "@" in name:
        help = (
            "remove tag and digest: every tag matches" if is_reference(name) else "use a name such as ghcr.io/acme/app"
        )
        yield Violation.at((*path, "name"), IMAGE_CHANGE, f'"{name}" is not the name of an image', help)
        return
    changes = [key for key in ("newName", "newTag", "digest") if key in item]
    if not changes:
        message = f'the entry for the image "{name}" changes nothing'
        yield Violation.at(path, IMAGE_CHANGE, message, "set newName, newTag or digest, or remove the entry")
    new = {"newName": "{}:a", "newTag": "a:{}", "digest": "a@{}"}
    for key in changes:
        if not is_reference(new[key].format(item[key])):
            yield Violation.at((*path, key), IMAGE_CHANGE, f'"{item[key]}" is not a valid {key}', _IMAGE_HELP[key])


def _environment_name(name: str) -> Iterator[Violation]:
    """Yield the fault of a name that cannot be a folder and a label."""
    if names.dns1123_label_errors(name):
        from trainc.kubernetes.names import LABEL, example, fault

        message = f'"{name}" is not a valid name of an environment: it {fault(name, LABEL, names.LONGEST_LABEL)}'
        help = f"use lowercase letters, digits and `-`{example(name)}"
        yield Violation.at((ENVIRONMENTS, name), INVALID_NAME, message, help, key=True)


def _long_affixes(base: Base, tree: Branch) -> Iterator[Diagnostic]:
    """Yield the fault of a prefix and a suffix that leave no character for a name, at the last one that is set."""
    affixes = [found for key in _AFFIXES if (found := leaf(tree, key)) is not None]
    if (length := sum(len(affix.value) for affix in affixes)) < names.LONGEST_LABEL:
        return
    files = [file.document.file for file in base.files]
    places = [affix.source for affix in affixes if isinstance(affix.source, Place)]
    last = max(places, key=lambda place: (len(place.path), files.index(place.document.file)))
    message = f"namePrefix and nameSuffix have {length} characters; a TrainJob name has at most 63"
    yield diagnostic(last.document, Violation.at(last.path, INVALID_NAME, message, "shorten one of them"))


def _accelerators(tree: Branch) -> Iterator[Diagnostic]:
    """Yield the faults of merged accelerators, each in the file that has the value."""
    from trainc.pipeline.checks.accelerators import violations

    for violation in violations(value_of(tree["accelerators"])):
        place = _source(tree, violation.path)
        if place is None:
            continue
        found = diagnostic(place.document, violation._replace(related=()), place._replace(key=violation.key))
        related = ((label, _source(tree, other)) for label, other in violation.related)
        yield found._replace(
            field=field_of(place.path),
            related=tuple(Related(label, other) for label, other in related if other is not None),
        )


def _source(tree: Branch, path: Path) -> Place | None:
    """Return the place in a file of a path in merged layers; None if no file sets it."""
    node, rest = find(tree, path)
    return node.source._replace(path=(*node.source.path, *rest)) if isinstance(node.source, Place) else None


def faults(base: Base, limits: Budget, *, complete: bool = True) -> Iterator[Diagnostic]:
    """Yield an error for each fault of the files.

    `complete` is false if a file is missing: the faults of merged values are then unknown.
    """
    wrong = list(_faults_of_keys(base, limits))
    yield from wrong
    if not wrong:
        yield from faults_of_values(base, complete=complete)


def _faults_of_keys(base: Base, limits: Budget) -> Iterator[Diagnostic]:
    """Yield the faults of requiredVersion; else of the number of environments; else of the schema."""
    documents = [file.document for file in base.files]
    read = [(document, document.value if isinstance(document.value, dict) else {}) for document in documents]
    required = (_required_version(document, value.get("requiredVersion")) for document, value in read)
    if excluded := [each for each in required if each is not None]:
        yield from excluded
        return
    if (over := _excess(read, limits)) is not None:
        yield over
        return
    for document in documents:
        yield from schema.faults(document)


def _excess(files: list[tuple[Document, dict[str, Any]]], limits: Budget) -> Diagnostic | None:
    """Return the error for too many environments, or for too many values for each of them; None within the budget."""
    own = [(document, found) for document, value in files if isinstance(found := value.get(ENVIRONMENTS), dict)]
    names = {name for _, environments in own for name in environments}
    if not names:
        return None
    from trainc.kubernetes.trees import measured

    place = Place(own[-1][0], (ENVIRONMENTS,), key=True)
    if (over := limits.excess("environments", len(names))) is not None:
        return over._replace(place=place)
    meter = Meter(limits)
    values = sum(measured(value)[0] for _, value in files) - sum(measured(environments)[0] for _, environments in own)
    meter.charge_product("values of settings", (values, "values"), (len(names), "environments"))
    meter.charge("values of settings", sum(measured(environments)[0] for _, environments in own))
    return None if meter.over is None else meter.over._replace(place=place)


def _required_version(document: Document, specifiers: Any) -> Diagnostic | None:
    """Return the error for a requiredVersion that excludes this trainc or is invalid."""
    if not isinstance(specifiers, str):
        return None
    from trainc.base.releases import __version__
    from trainc.settings.versions import accepts

    try:
        if accepts(specifiers, __version__):
            return None
    except ValueError as error:
        message = f"requiredVersion {shown(specifiers)} is not valid: {shown(str(error))} is not a version specifier"
        help = 'use an operator and a version, such as ">=0.2" or ">=0.2,<1"'
    else:
        message = f"the project requires trainc {shortened(specifiers)}, but this is trainc {__version__}"
        help = "check out such a version in a clone of trainc, and run pip install . there"
    return Diagnostic.declared(
        REQUIRED_VERSION, message, help, field="requiredVersion", place=Place(document, ("requiredVersion",))
    )
