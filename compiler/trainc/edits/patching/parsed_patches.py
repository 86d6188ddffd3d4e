"""The patches of an environment, parsed: each item of `patches` once for all objects.

Reads    the items of trainc.yaml, and the files that they name, which must be inside the root.
Returns  patches in their order, and a diagnostic for each item that is not valid.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.budget import Meter
from trainc.diagnostics import Diagnostic, Document, Place
from trainc.edits.patching import merges, operations
from trainc.edits.patching.patch_faults import INVALID_PATCH, PatchError, name_of
from trainc.edits.patching.targets import SelectorError, Target
from trainc.edits.patching.targets import read as read_target
from trainc.files.walk import fault
from trainc.frontends import configmaps
from trainc.frontends.reading import documents_of
from trainc.kubernetes.documents import read_stream
from trainc.kubernetes.trees import measured, repeated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.base.fixes import Fix
    from trainc.budget import Budget
    from trainc.diagnostics import Path
    from trainc.edits.environment import Environment, Setting
    from trainc.edits.patching.operations import Operation
    from trainc.frontends.reading import Reader

ONE: Final = "set either patch or path"


class Patch(NamedTuple):
    """One item of `patches`."""

    setting: Setting
    """The item."""
    target: Target
    document: Document
    """The patch, with its place in trainc.yaml or in its own file."""
    size: int = 1
    """The number of values in the patch."""
    operations: tuple[Operation, ...] | None = None
    """The operations of a JSON patch; None for a strategic merge patch."""

    @property
    def name(self) -> str:
        """The name for messages: `patch 2 of trainc.yaml`."""
        return name_of(Place(self.document))

    def at(self, path: Path, *, key: bool = False, part: tuple[int, int] | None = None) -> Place:
        """Return the place of a field of the patch."""
        return Place(self.document, path, key, part)


def read(
    environment: Environment, files_of: Reader, *, meter: Meter | None = None, follow_links: bool = False
) -> Iterator[Patch | Diagnostic]:
    """Yield the patches of an environment, and a diagnostic for each one that is not valid.

    Args:
        environment: the environment.
        files_of: the function that reads files: from the disk, or from a commit.
        meter: the work of the run, to which the files count. Beyond its budget, no further patch is read.
        follow_links: whether links may lead out of the root.
    """
    meter = meter or Meter()
    for setting in environment.patches:
        found = _document(setting, environment, files_of, meter, follow_links=follow_links)
        if meter.over is not None:
            return
        yield found if isinstance(found, Diagnostic) else _patch(setting, found, meter.budget)


def _patch(setting: Setting, document: Document, budget: Budget) -> Patch | Diagnostic:
    value = document.value
    try:
        target = read_target(setting.value.get("target") or {})
    except SelectorError as error:
        place = _setting_place(setting, "target", error.key)._replace(part=error.part)
        return _invalid(setting, f"target.{error.key} is not valid: {error}", error.help, place)
    if not value:
        help = "write the fields to change, or remove the patch"
        return _invalid(setting, "the patch is empty", help, Place(document))
    if not isinstance(value, dict | list):
        help = "write a mapping of fields, or a list of operations"
        return _invalid(setting, "a patch must be a mapping or a list", help, Place(document))
    patch = Patch(setting, target, document, measured(value)[0])
    try:
        if isinstance(value, dict):
            merges.check(value)
            return patch
        over = budget.excess("operations of a patch", len(value))
        if over is not None:
            help = over.help.replace("pass fewer files or folders", "use a strategic merge patch")
            return over._replace(place=Place(document), field=_field(setting), help=help)
        return patch._replace(operations=operations.parse(value))
    except PatchError as error:
        return _invalid(setting, str(error), error.help, patch.at(error.path, key=error.key, part=error.part))


def _document(
    setting: Setting, environment: Environment, files_of: Reader, meter: Meter, *, follow_links: bool
) -> Document | Diagnostic:
    """Return the patch of an item as a document, which has the patch's own place."""
    item: dict[str, Any] = setting.value
    given = item.get("patch")
    if given is None and "path" not in item:
        return _invalid(setting, "the item has neither patch nor path", ONE, setting.place)
    if given is not None and "path" in item:
        return _invalid(setting, "the item has both patch and path", ONE, _setting_place(setting, "path"))
    if given is None:
        return _document_in_file(setting, environment, files_of, meter, follow_links=follow_links)
    whole, path = setting.place.document, (*setting.place.path, "patch")
    if isinstance(given, str):
        return _document_in_string(setting, given)
    return whole._replace(value=given, within=(*whole.within, *path))


def _document_in_string(setting: Setting, text: str) -> Document | Diagnostic:
    """Return the document in a string."""
    whole, path = setting.place.document, (*setting.place.path, "patch")
    found, errors = read_stream(text)
    if errors:
        broken = configmaps.broken_value(whole, path, text, errors[0])
        return _invalid(setting, f"the patch is not valid YAML: {broken.error.message}", broken.error.help)._replace(
            place=broken.place
        )
    if len(found) > 1:
        message = f"the patch has {len(found)} documents instead of one"
        return _invalid(setting, message, "write one item for each document", _setting_place(setting, "patch"))
    if not found:
        return whole._replace(value=None, within=(*whole.within, *path))
    return configmaps.document(whole, path, text, found[0].chunk, found[0].value)


def _document_in_file(
    setting: Setting, environment: Environment, files_of: Reader, meter: Meter, *, follow_links: bool
) -> Document | Diagnostic:
    """Return the document of a file."""
    written, place = setting.value["path"], _setting_place(setting, "path")
    path = os.path.normpath(os.path.join(setting.folder, written))
    if not os.path.isabs(setting.place.document.file):
        path = os.path.relpath(path)  # messages show the path as they show that of trainc.yaml
    files = list(files_of([path], root=environment.root or None, follow_links=follow_links))
    if len(files) != 1 or os.path.isdir(path):
        missing = fault(path, f"{written} is not a file", "use the path of a file with one patch")
        return missing._replace(place=place, field=f"{_field(setting)}.path")
    if isinstance(files[0], Diagnostic):
        return files[0]._replace(message=f"{written} {files[0].message}", place=place)
    if not files[0].revision:  # the reader of commits has charged it
        meter.charge("input bytes", len(files[0].data))
    if meter.over is not None:
        return meter.over
    found = list(documents_of(files[0]))
    faults = [each for each in found if isinstance(each, Diagnostic)]
    if faults:
        return faults[0]
    documents = [each for each in found if isinstance(each, Document)]
    if len(documents) != 1:
        message = f"{written} has {len(documents)} documents instead of one"
        return _invalid(setting, message, "use one file for each patch", place)
    meter.charge("input bytes", repeated(documents[0].text, documents[0].value))
    return documents[0]


def _invalid(setting: Setting, message: str, help: str | Fix, place: Place | None = None) -> Diagnostic:
    return Diagnostic.declared(INVALID_PATCH, message, help, field=_field(setting), place=place)


def _field(setting: Setting) -> str:
    from trainc.kubernetes.violations import field_of

    return field_of(setting.place.path)


def _setting_place(setting: Setting, *path: str) -> Place:
    return setting.place._replace(path=(*setting.place.path, *path))
