"""The catalogue of every id that trainc can report, with its page.

Reads    the generated index of ids (schemas/diagnostics.json), the declarations in the modules that it names, and
         diagnostics/<id>.md.
Returns  declarations, and pages as text. `trainc explain ID`, docs/diagnostics.md, the SARIF report and the tests use
         it; no stage imports it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_path, declared_in
from trainc.base.declarations import Declaration
from trainc.pipeline.checks import Check

if TYPE_CHECKING:
    from types import ModuleType

    from trainc.base.declarations import Phase

BY: Final[dict[Phase, str]] = {
    "read": "kubectl or the API server, when it parses the text",
    "schema": "the API server, from the kind's schema",
    "runtime": "Trainer's runtime webhook",
    "trainjob": "Trainer's TrainJob webhook",
    "build": "the Trainer controller, after the TrainJob is stored",
    "jobset-schema": "the API server, from JobSet's schema, when the controller creates the JobSet",
    "jobset": "JobSet's webhook, when the controller creates the JobSet",
    "kueue": "Kueue's webhook, at `kubectl apply` of the JobSet",
    "queue": "Kueue, in the condition QuotaReserved of the JobSet's Workload",
    "job": "the API server, when JobSet creates the Jobs",
    "lint": "trainc only: the cluster accepts it",
}
"""The component that reports a fault, by admission phase."""


def entry(id: str) -> Declaration:
    """Return the declaration of an id. Raise KeyError if there is none."""
    return declarations(import_module(declared_in()[id]))[id]


def declarations(module: ModuleType) -> dict[str, Declaration]:
    """Return the declarations of a module and of its checks by id, including imported ones."""
    values = (value.declared if isinstance(value, Check) else value for value in vars(module).values())
    return {value.id: value for value in values if isinstance(value, Declaration)}


def component(declared: Declaration) -> str:
    """Return the component that reports the fault."""
    return "trainc only" if declared.trainc_only else BY[declared.phases[0]]


def page(id: str) -> str:
    """Return the Markdown page of an id. Raise OSError if there is none."""
    with open(data_path("diagnostics", f"{id}.md"), encoding="utf-8") as file:
        return file.read()


def address(id: str) -> str:
    """Return the address of the page of an id: the public one, or else the file of the package."""
    from pathlib import Path

    return public_address(id) or Path(data_path("diagnostics", f"{id}.md")).resolve().as_uri()


def public_address(id: str) -> str:
    """Return the public address of the page of an id; empty if the package names no site with the pages."""
    pages = published("Diagnostics")
    return f"{pages.rstrip('/')}/{id}.md" if pages else ""


@cache  # as many values as there are labels
def published(label: str) -> str:
    """Return a URL of the installed package's metadata, `project.urls` of pyproject.toml; empty if it has none."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("trainc").get_all("Project-URL") or []
    except PackageNotFoundError:  # a checkout that is not installed
        return ""
    return next((url.strip() for name, _, url in (each.partition(",") for each in urls) if name == label), "")


def explained(declared: Declaration) -> str:
    """Return a declaration and its page, for a terminal."""
    first, *others = declared.phases
    stage = f"stage: {first}" + (f" (or {', '.join(others)})" if others else "")
    heading = f"{declared.severity}[{declared.id}]: {declared.title}\nreported by {component(declared)}\n{stage}\n"
    return f"{heading}\n{page(declared.id)}"
