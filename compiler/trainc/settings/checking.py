"""The faults of a trainc.yaml.

Reads    the documents: that of the file, and those of the files that it extends.
Returns  a diagnostic at the line of each fault: those of requiredVersion, else of the schema, else of the values
         in the files and in every environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.budget import Meter
from trainc.diagnostics import Diagnostic, Place
from trainc.kubernetes.violations import shortened, shown
from trainc.settings import schema, values
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.budget import Budget
    from trainc.diagnostics import Document
    from trainc.settings.model import Base

REQUIRED_VERSION: Final = Declaration(
    "required-version", ("read",), "Version that the project excludes", trainc_only=True
)


def faults(base: Base, limits: Budget, *, complete: bool = True) -> Iterator[Diagnostic]:
    """Yield an error for each fault of the files.

    `complete` is false if a file is missing: the faults of merged values are then unknown.
    """
    wrong = list(_faults_of_keys(base, limits))
    yield from wrong
    if not wrong:
        yield from values.faults(base, complete=complete)


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
    from trainc.base.version import __version__
    from trainc.settings.required import accepts

    try:
        if accepts(specifiers, __version__):
            return None
    except ValueError as error:
        message = f"requiredVersion {shown(specifiers)} is not valid: {shown(str(error))} is not a version specifier"
        help = 'use an operator and a version, such as ">=0.2" or ">=0.2,<1"'
    else:
        message = f"the project requires trainc {shortened(specifiers)}, but this is trainc {__version__}"
        help = f'install such a version: pip install "trainc{shortened(_pip(specifiers))}"'
    return Diagnostic.declared(
        REQUIRED_VERSION, message, help, field="requiredVersion", place=Place(document, ("requiredVersion",))
    )


def _pip(specifiers: str) -> str:
    """Return specifiers as pip needs them: a version without an operator is exact."""
    return specifiers if specifiers.strip()[:1] in "=!<>~" else f"=={specifiers.strip()}"
