"""The selection of an environment by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.suggestions import nearest_name, use
from trainc.diagnostics import Diagnostic, Place
from trainc.kubernetes.violations import shown
from trainc.settings.keys import ENVIRONMENTS

if TYPE_CHECKING:
    from trainc.settings.model import Settings

UNKNOWN_ENVIRONMENT: Final = Declaration("unknown-environment", ("read",), "Unknown environment", trainc_only=True)

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
    help = use(names[:_MANY], " or ") if len(names) <= _MANY else f"use one of {', '.join(names[:_MANY])} ..."
    help = f"did you mean {near}? {document.file} has the environments {listed(names)}" if near else help
    place = Place(document, (ENVIRONMENTS,), key=True)
    return Diagnostic.declared(UNKNOWN_ENVIRONMENT, message, help, field=ENVIRONMENTS, place=place)


def listed(names: tuple[str, ...]) -> str:
    """Return the names of environments for a message; only the first ones if there are many."""
    return ", ".join(names[:_MANY]) + (" ..." if len(names) > _MANY else "")
