"""The schema of trainc.yaml: unknown keys and wrong types.

Reads    a document, and schemas/trainc/Settings.json, which editors use too. Only its constraints apply here: its
         defaults are the built-in layer (`keys`), and would become values of each layer.
Returns  a diagnostic at the line of each fault.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.data import data_path
from trainc.base.declarations import Declaration
from trainc.diagnostics import Diagnostic, Place, Related
from trainc.files.selection import SETTINGS
from trainc.kubernetes.structural.nodes import Compiler, Faults, Object
from trainc.kubernetes.violations import ENUM, UNKNOWN_FIELD, Violation, shortened
from trainc.settings.keys import ENVIRONMENTS, FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.diagnostics import Document
    from trainc.kubernetes.trees import Tree

ENVIRONMENT_KEY: Final = Declaration("environment-key", ("read",), trainc_only=True)

PATH: Final = ("trainc", "Settings.json")
_LISTS_OF_PATCHES: Final = ("patchesJson6902", "patchesStrategicMerge")
"""The keys of patches in older files of kustomize."""
_NO_RULE: Final = "remove it: "
_FOR_EDITORS: Final = frozenset({"default", "maxProperties", "propertyNames"})
_ANY: Final[Tree] = {"x-kubernetes-preserve-unknown-fields": True}


def faults(document: Document) -> Iterator[Diagnostic]:
    """Yield an error for each unknown key and each value that the schema rejects."""
    if isinstance(document.value, dict) and {"apiVersion", "kind"} <= document.value.keys():
        yield diagnostic(document, _manifest(document.value["kind"]))
        return
    root = _root()
    found = Faults()
    root.admit(document.value, None, found)
    if not found.count:
        return
    from trainc.kubernetes.structural.homes import causes
    from trainc.kubernetes.structural.schema_messages import violations_of

    violations, unknown = violations_of(found, root.schema, document.value)
    for violation in (*causes(violations, unknown), *unknown):
        yield diagnostic(document, _explained(violation))


def diagnostic(document: Document, violation: Violation, place: Place | None = None) -> Diagnostic:
    """Return a violation as an error at its line, or at another place."""
    from trainc.source.fix_edits import as_written

    at = place or Place(document, violation.path, key=violation.key)
    help, fix = as_written(violation.help, violation.fix, document)
    suggested = None if help.startswith(_NO_RULE) else _suggested_rule(document, violation)
    if suggested is not None:
        help, fix = suggested.title, suggested
    return Diagnostic(
        id=violation.rule,
        severity="error",
        stage="read",
        message=violation.message,
        help=help,
        field=violation.field,
        place=at,
        related=tuple(Related(label, Place(document, path)) for label, path in violation.related),
        fix=fix,
    )


def _manifest(kind: object) -> Violation:
    """Return the violation of a manifest in a file for settings."""
    is_kustomization = kind == "Kustomization"
    help = "rename the file to kustomization.yaml" if is_kustomization else "move it to another file"
    message = f"this is a {shortened(str(kind))}, but {SETTINGS} has the settings of trainc"
    return Violation.at(("kind",), UNKNOWN_FIELD, message, help)


def _explained(violation: Violation) -> Violation:
    """Return a violation with a better reason: for a key of the file in an environment, for an unknown lint rule."""
    path = violation.path
    if violation.rule == UNKNOWN_FIELD.id and path[:1] == (ENVIRONMENTS,) and len(path) == 3 and path[2] in FORBIDDEN:
        message = f"an environment cannot set {path[2]}: it applies to the whole project"
        help = "move it to the top level of the file, or remove it"
        return Violation.at(path, ENVIRONMENT_KEY, message, help, key=True)
    if not path:
        message = violation.message.replace("the object", SETTINGS)
        return violation._replace(message=message, help="use a mapping with one `key: value` per line", fix=None)
    if violation.rule == UNKNOWN_FIELD.id and path[-1] in _LISTS_OF_PATCHES:
        help = "use patches: an item has the path of a file, and a target, which is all TrainJobs by default"
        return violation._replace(help=help, fix=None)
    if violation.rule == ENUM.id and "lint" in path and (help := _error_id(violation)):
        return violation._replace(help=help, fix=None)
    if len(path) == 1 and violation.fix is None:
        return violation._replace(help=violation.help.replace("the object has the fields", f"{SETTINGS} has the keys"))
    return violation


def _error_id(violation: Violation) -> str:
    """Return the hint for the id of an error in a list of lint rules; empty for another value."""
    from trainc.base.data import declared_in, lint_rules

    name = violation.message.rpartition('the unsupported value "')[2].rstrip('"')
    if name not in declared_in() or name in lint_rules():
        return ""
    more = "; set fieldValidation to drop unknown fields" if name == UNKNOWN_FIELD.id else ""
    return f"{_NO_RULE}an error cannot be disabled{more}"


def _suggested_rule(document: Document, violation: Violation) -> Fix | None:
    """Return the fix with the lint rule whose id is most similar to the unknown one."""
    if violation.rule != ENUM.id or "lint" not in violation.path:
        return None
    from trainc.base.data import lint_rules
    from trainc.base.fixes import replaced_name
    from trainc.kubernetes.trees import get

    return replaced_name(violation.path, str(get(document.value, violation.path)), lint_rules())


@cache  # one value
def _root() -> Object:
    with open(data_path("schemas", *PATH), encoding="utf-8") as file:
        schema = constraints(json.load(file)) | {"title": SETTINGS}
    return Object(schema, Compiler(schema))


def constraints(schema: Any) -> Any:
    """Return a schema without the keywords for editors."""
    if isinstance(schema.get("type"), list):
        return _ANY  # `trainc.edits.patching` reads patches
    found = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            found[key] = {name: constraints(below) for name, below in value.items()}
        elif key in ("items", "additionalProperties"):
            if value is not False:
                found[key] = constraints(value)
        elif key not in _FOR_EDITORS:
            found[key] = value
    return found
