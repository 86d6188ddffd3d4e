"""The settings of an environment as causes of faults: one name of two objects, a long name, a value of a setting.

Reads    diagnostics, and the edited documents of their places.
Returns  the diagnostics with the names in the source files and the lines of the settings. Imported only with an
         environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import TRAINJOB, find
from trainc.base.texts import and_others, plural
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related
from trainc.edits.environment import described
from trainc.edits.transforming import NAME, WrittenValue
from trainc.edits.transforming.namespaces import NAMESPACE, is_namespaced, named_namespaces, namespaced_kinds
from trainc.kubernetes.objectmeta import invalid_namespace
from trainc.kubernetes.violations import INVALID_NAMESPACE, field_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
    from typing import Any

    from trainc.diagnostics import Document, Path
    from trainc.edits.environment import Environment, Setting
    from trainc.edits.transforming.namespaces import Namespaces
    from trainc.kubernetes.trees import Tree

OTHER_NAMESPACE: Final = Declaration("other-namespace", ("read",), "warning", trainc_only=True)

MOVED_NAMESPACE: Final = Declaration("moved-namespace", ("read",), "warning", trainc_only=True)
UNMATCHED_SHARED: Final = Declaration("unmatched-shared", ("read",), trainc_only=True)
NO_NAMESPACE: Final = Declaration("no-namespace", ("read",), trainc_only=True)
UNUSED_SETTING: Final = Declaration("unused-setting", ("read",), "warning", trainc_only=True)

SAME_NAME: Final = frozenset({"duplicate-object", "duplicate-runtime", "duplicate-trainjob"})
"""The diagnostics that are about an object's identity, not about the text of its name."""
REFERENCES: Final = ("namespace", "namespaces")
"""The ends of the names of fields that probably have a namespace, in lower case."""
NAMED_DOCUMENTS: Final = 3
"""The documents without a namespace whose places are shown."""
NAMED: Final = frozenset({"patch-failed"})
"""The diagnostics that name some of the TrainJobs that have them (`repeated`)."""


def duplicate_sources(diagnostic: Diagnostic, document: Document, first: Document) -> Diagnostic:
    """Return the error for two objects with one name; if their source files have two, with both of them."""
    names = [source_name(each) for each in (first, document)]
    if names[0] == names[1]:
        return diagnostic
    setting, help, related = Place(document, NAMESPACE).in_text(), diagnostic.help, diagnostic.related
    if by := described(setting, document):
        help = f"rename one of them: {by} puts both into one namespace"
        related = (*related, Related("the namespace", setting))
    return diagnostic._replace(message=f"{diagnostic.message}: {' and '.join(names)}", help=help, related=related)


def source_name(document: Document) -> str:
    """Return the namespace and name of an object in its file: `team/train`."""
    id = ObjectId.from_manifest(document.unedited)
    return id.qualified_name


def merge_by_setting(
    diagnostics: Iterable[Diagnostic], environment: Environment, patches: Set[int] = frozenset()
) -> list[Diagnostic]:
    """Return the diagnostics of a run: those of one setting once, those of a name with its prefix and suffix.

    patches   the identities of the texts of the patches
    """
    texts = {id(place.document.text) for place in places(environment)} | patches
    groups: dict[Hashable, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        groups.setdefault(_setting(diagnostic, texts) or id(diagnostic), []).append(diagnostic)
    return [_with_affix_lines(_merged_setting_faults(*group)) for group in groups.values()]


def _merged_setting_faults(first: Diagnostic, *more: Diagnostic) -> Diagnostic:
    """Return the diagnostics of one setting as one, with the number of further objects that have it."""
    names = {(each.object.namespace, each.object.name) for each in (first, *more)}
    # Any other object is compiled from a TrainJob.
    row = find(first.object.apiVersion, first.object.kind)
    word = TRAINJOB.word if row is None or row.role == "other" else row.word
    return first._replace(message=first.message + and_others(len(names) - 1, f"more {word}"))


def places(environment: Environment) -> Iterator[Place]:
    """Yield the places of all settings."""
    single = (environment.namespace, environment.namespace_prefix, environment.namespace_suffix)
    affixes = (environment.name_prefix, environment.name_suffix)
    for setting in (
        *single,
        *environment.namespaces.values(),
        *environment.shared,
        *affixes,
        *environment.labels.values(),
        *environment.annotations.values(),
        *environment.images,
    ):
        if setting is not None:
            yield setting.place


def _setting(diagnostic: Diagnostic, texts: Set[int]) -> Hashable:
    """Return a key that the diagnostics of one setting or patch share; None for one of a document's own field.

    texts   the identities of the texts of the settings
    """
    place = diagnostic.place
    if not isinstance(place, Place):
        return None
    written = place.in_text()
    text = written.document.text
    if diagnostic.id in NAMED or (text is place.document.text and id(text) not in texts):
        return None
    return diagnostic.id, diagnostic.message, id(text), written.document.within, written.path, written.key


def _with_affix_lines(diagnostic: Diagnostic) -> Diagnostic:
    """Return a fault of a TrainJob's name with the lines of the settings that make the name longer."""
    place = diagnostic.place
    if (
        diagnostic.severity == "note"
        or diagnostic.id in SAME_NAME
        or not isinstance(place, Place)
        or place.path != NAME
    ):
        return diagnostic
    more = (
        Related(f"{key} adds {plural(len(str(setting.value)), 'character')}", setting.place)
        for key, setting in additions(place.document)
    )
    return diagnostic._replace(related=(*diagnostic.related, *more))


def additions(document: Document) -> Iterator[tuple[str, Setting]]:
    """Yield the prefix and the suffix that settings add to a TrainJob's name, each with its key."""
    for edit in document.edits:
        source = edit.source
        if isinstance(source, WrittenValue) and source.renames:
            environment = source.environment
            for key, setting in (("namePrefix", environment.name_prefix), ("nameSuffix", environment.name_suffix)):
                if setting is not None:
                    yield key, setting


def other_namespaces(others: Iterable[Document], moves: Namespaces, setting: Setting) -> Iterator[Diagnostic]:
    """Yield a warning for each document of another kind that sets another namespace than the settings."""
    documents = list(others)
    scopes = namespaced_kinds(documents)
    for document in documents:
        id = ObjectId.from_manifest(document.value)
        if id.namespace in ("", setting.value) or not is_namespaced(id, scopes) or moves.is_shared(document.unedited):
            continue
        yield Diagnostic.declared(
            OTHER_NAMESPACE,
            f'{id.kind} "{id.name}" stays in its own namespace "{id.namespace}", not in "{setting.value}"',
            "remove its namespace, or exclude the file from the environment",
            object=id,
            field=field_of(NAMESPACE),
            place=Place(document, NAMESPACE),
            related=(Related("the setting", setting.place),),
        )


def unmoved(others: Iterable[Document], moves: Namespaces) -> Iterator[Diagnostic]:
    """Yield a warning for each field of a document that probably names a moved namespace and still has the old name."""
    for document in others:
        if not moves.moved or moves.is_shared(document.unedited):
            continue
        known = {path for path, _ in named_namespaces(document.value)}
        id = ObjectId.from_manifest(document.value)
        for path, name in _probable_namespaces(document.value):
            if path in known or name not in moves.moved:
                continue
            yield Diagnostic.declared(
                MOVED_NAMESPACE,
                f'{id.kind} "{id.name}" still names the namespace "{name}", whose documents move to '
                f'"{moves.moved[name]}"',
                "exclude the file, and write one for the environment; or add the object to `shared` if it is right",
                object=id,
                field=field_of(path),
                place=Place(document, path),
            )


def invalid_moves(others: Iterable[Document], moves: Namespaces, known: Set[str]) -> Iterator[Diagnostic]:
    """Yield an error for each invalid name that a namespace gets, unless its message is `known` from a TrainJob."""
    violations = {name: invalid_namespace(name) for name in {*moves.moved.values()}}
    faults = {name: found for name, found in violations.items() if found is not None and found.message not in known}
    for document in others if faults else ():
        for path, name in named_namespaces(document.value):
            if name in faults:
                violation = faults.pop(name)
                yield Diagnostic.declared(
                    INVALID_NAMESPACE,
                    violation.message,
                    violation.help,
                    object=ObjectId.from_manifest(document.value),
                    field=field_of(path),
                    place=Place(document, path),
                )


def _probable_namespaces(tree: Tree) -> Iterator[tuple[Path, str]]:
    """Yield the strings of the fields whose names end with `namespace` or `namespaces`."""
    rest: list[tuple[Path, Any]] = [((), tree)]
    while rest:
        at, value = rest.pop()
        if isinstance(value, str):
            yield at, value
        elif isinstance(value, list):
            rest += (((*at, index), item) for index, item in enumerate(value) if _is_within(at) or not _is_text(item))
        elif isinstance(value, dict):
            found = (((*at, key), below) for key, below in value.items())
            rest += ((path, below) for path, below in found if _is_within(path) or not _is_text(below))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_within(path: Path) -> bool:
    """Return whether the field of a path probably has namespaces."""
    return bool(path) and str(path[-1]).lower().endswith(REFERENCES)


def without_namespace(documents: Sequence[Document], environment: Environment) -> Iterator[Diagnostic]:
    """Yield the error for TrainJobs and TrainingRuntimes without the namespace that a prefix or suffix changes."""
    setting = environment.namespace_suffix or environment.namespace_prefix
    if not documents or setting is None:
        return
    first = ObjectId.from_source(documents[0].value)
    key = str(setting.place.path[-1])
    others = and_others(len(documents) - 1, "more document")
    yield Diagnostic.declared(
        NO_NAMESPACE,
        f'{key} needs a namespace, which {first.kind} "{first.name}" does not set{others}',
        "set metadata.namespace, or use -n NS",
        object=first,
        field=field_of(setting.place.path),
        place=setting.place,
        related=tuple(
            Related("without a namespace", Place(each, ("metadata",))) for each in documents[:NAMED_DOCUMENTS]
        ),
    )


def unused_namespaces(moves: Namespaces) -> Iterator[Diagnostic]:
    """Yield a warning for each key of the mapping `namespace` that no document names."""
    for key, setting in moves.environment.namespaces.items():
        if key not in moves.seen:
            place = setting.place._replace(key=True)
            yield Diagnostic.declared(
                UNUSED_SETTING,
                f'no document is in namespace "{key}" or refers to it',
                "correct the namespace, or remove it",
                field=field_of(place.path),
                place=place,
            )


def unmatched_shared(moves: Namespaces) -> Iterator[Diagnostic]:
    """Yield an error for each item of `shared` that matches no document."""
    for setting in moves.unmatched_items():
        selected = ", ".join(f"{key}: {value}" for key, value in setting.value.items())
        yield Diagnostic.declared(
            UNMATCHED_SHARED,
            f"the item {{{selected}}} of shared matches no document",
            "correct it, or remove it: an object that no item matches moves",
            field=field_of(setting.place.path),
            place=setting.place,
        )
