"""The settings of a project: `trainc.yaml`, and what the command line says over it.

Reads    the given paths, of which the first one's folder and those above it are searched up to the root (the git root,
         else that folder itself); the file, by its schema (schemas/trainc/Settings.json).
Returns  settings, with diagnostics where the file is wrong. Where there is no file, that costs a look at each folder.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc import inputs
from trainc.confine import repository_above, resolved, within
from trainc.inputs import SETTINGS, STDIN, fault
from trainc.library import FLAGS, Spelled
from trainc.objects import NO_PROJECT, Project
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.declarations import Severity
    from trainc.diagnostics import Diagnostic, Document
    from trainc.kubernetes.violations import Violation

SCHEMA: Final = ("Settings", "trainc")
"""The kind, and its folder in `schemas`."""


class Settings(NamedTuple):
    """What a project wants."""

    disable: frozenset[str] = frozenset()
    """The rules that are turned off."""
    strict: str = ""
    """Who makes warnings errors, in words; empty where nobody does."""
    spelled: Spelled = FLAGS
    """What diagnostics call the options of a run."""
    advice: bool = False
    """Whether to say also what is right for most, and worth a thought (`passes.lint.ADVICE`)."""
    project: Project = NO_PROJECT
    """What it says of the objects that are made."""
    file: str = ""
    """The file that was read, with all links resolved; it is no manifest."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with it."""
    follow_links: bool = False
    """Whether links may lead out of the root; only the command line sets it."""

    @property
    def quiet(self) -> frozenset[str]:
        """The rules that nobody wants to hear of."""
        from trainc.lint.signs import ADVICE

        return self.disable if self.advice else self.disable | {ADVICE}


DEFAULT: Final = Settings()


def of(
    paths: Sequence[str],
    *,
    file: str | None = None,
    search: bool = True,
    root: str | None = None,
    follow_links: bool = False,
) -> Settings:
    """The settings for these paths.

    Args:
        paths: files, folders, or `-`: the first one says where to search.
        file: the file to read instead.
        search: whether to read a file at all that is not given.
        root: where the search ends, instead of the git root.
        follow_links: whether links may lead out of the root; a field of the settings.
    """
    if file is None and search:
        file = next(_above(paths[0] if paths else ".", root), None)
    else:
        root = None
    found = DEFAULT if file is None else read(file, root=root, follow_links=follow_links)
    return found._replace(follow_links=True) if follow_links else found


def _above(path: str, root: str | None) -> Iterator[str]:
    """The files of that name in the folder of a path and in those above it, the nearest first, up to the root."""
    start = "." if path == STDIN else path
    folder = os.path.abspath(start if os.path.isdir(start) else os.path.dirname(start) or ".")
    root = repository_above(folder) if root is None else resolved(root)
    at = folder
    while True:
        candidate = os.path.join(at, SETTINGS)
        if os.path.lexists(candidate):
            yield candidate if os.path.isabs(start) else os.path.relpath(candidate)
        if root is None or at == root or not within(at, root):
            return
        at = os.path.dirname(at)


def read(path: str, *, root: str | None = None, follow_links: bool = False) -> Settings:
    """The settings of a file; the defaults, and a diagnostic, where it cannot be read."""
    from trainc.diagnostics import Diagnostic

    file = inputs.settings(path, root=root, follow_links=follow_links)
    if isinstance(file, Diagnostic):
        return Settings(diagnostics=(file,))
    return of_file(file)._replace(file=resolved(path))


def of_file(file: inputs.File) -> Settings:
    """What a file says, wherever it was read."""
    from trainc.diagnostics import Diagnostic
    from trainc.reading import documents_of

    found = list(documents_of(file))
    documents = [document for document in found if not isinstance(document, Diagnostic)]
    faults = [diagnostic for diagnostic in found if isinstance(diagnostic, Diagnostic)]
    if len(documents) > 1:
        message = f"has {len(documents)} documents, and settings are one"
        faults.append(fault(file.path, message, "leave out all but one"))
    if faults or not documents:
        return Settings(diagnostics=tuple(faults))
    return _of_document(documents[0])


def _of_document(document: Document) -> Settings:
    """What a file says, once it has the form that the schema asks for."""
    from trainc.diagnostics import failed
    from trainc.kubernetes.structural import load

    admitted = load(*SCHEMA).admit(document.value)
    found = (*_faults(document, admitted.violations, "error"), *_faults(document, admitted.unknown, "warning"))
    if failed(found):
        return Settings(diagnostics=found)
    lint, project = admitted.value.get("lint") or {}, NO_PROJECT
    if accelerators := admitted.value.get("accelerators"):
        from trainc.checks.accelerators import violations

        project = Project(document=document, value={"accelerators": accelerators})
        found += tuple(_faults(document, violations(accelerators), "error"))
    return Settings(
        disable=frozenset(lint.get("disable") or ()),
        strict=f"lint.strict in {document.file}" if lint.get("strict") else "",
        project=project,
        diagnostics=found,
    )


def _faults(document: Document, violations: Iterable[Violation], severity: Severity) -> Iterator[Diagnostic]:
    """What is wrong with the file, at its lines."""
    from trainc.diagnostics import Diagnostic, Place, Related

    for violation in violations:
        yield Diagnostic(
            id=violation.rule,
            severity=severity,
            stage="read",
            message=violation.message,
            help=_rule_meant(document, violation) or violation.help,
            field=violation.field,
            place=Place(document=document, path=violation.path, key=violation.key),
            related=tuple(Related(what, Place(document=document, path=path)) for what, path in violation.related),
        )


def _rule_meant(document: Document, violation: Violation) -> str:
    """The rule whose id is the most like the one that is not there."""
    if violation.rule != "enum":
        return ""
    from trainc.kubernetes.trees import get
    from trainc.lint.signs import IDS
    from trainc.nearest import nearest

    near = nearest(str(get(document.value, violation.path)), sorted(IDS))
    return f"did you mean {near}?" if near else ""
