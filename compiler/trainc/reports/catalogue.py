"""The catalogue of every id that trainc can report, with its page.

Reads    the generated index of ids (schemas/diagnostics.json), the declarations in the modules that it names, and
         diagnostics/<id>.md.
Returns  declarations, and pages as text. `trainc explain ID`, docs/diagnostics.md, the SARIF report and the tests use
         it; no stage imports it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from trainc.base.data import data_path, declared_in
from trainc.base.declarations import Declaration
from trainc.pipeline.checks import Check

if TYPE_CHECKING:
    from types import ModuleType

LINK: Final = re.compile(r"\[(`[a-z0-9-]+`)\]\([a-z0-9-]+\.md\)")
"""A link from a page to another one, which works only beside it."""


def entry(id: str) -> Declaration:
    """Return the declaration of an id. Raise KeyError if there is none."""
    return declarations(import_module(declared_in()[id]))[id]


def declarations(module: ModuleType) -> dict[str, Declaration]:
    """Return the declarations of a module and of its checks by id, including imported ones."""
    values = (value.declared if isinstance(value, Check) else value for value in vars(module).values())
    return {value.id: value for value in values if isinstance(value, Declaration)}


def page(id: str) -> str:
    """Return the Markdown page of an id, with the names of other pages in place of links. Raise OSError for no page."""
    with open(data_path("diagnostics", f"{id}.md"), encoding="utf-8") as file:
        return LINK.sub(r"\1", file.read())


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
