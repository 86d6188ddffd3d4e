"""trainc compiles TrainJobs offline to the JobSets that the Kubeflow Trainer controller would create.

    import trainc

    result = trainc.compile("jobs", environment="prod")
    for diagnostic in result.diagnostics:
        print(diagnostic)
    print(trainc.render(result.objects))

Names are imported on first use, so that `import trainc` costs almost nothing. docs/python.md describes them. Other
names and all modules of the package are private.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.api.compiling import Session, check, compile
    from trainc.api.editors import (
        FileEdit,
        QuickFix,
        Utf16Range,
        address_of,
        code_point,
        fix_of,
        page_of,
        path_at,
        utf16_range,
    )
    from trainc.api.public_results import CompiledJob, Documents, FieldOrigin, JobRuntime, Result, SetField
    from trainc.api.reviews import ChangedField, ChangedJob, ChangedObject, ReviewResult, diff
    from trainc.api.views import Rewriting, built_in_runtimes, graph_of, migrate, pods_of, queues_of, schema, upgrade
    from trainc.base.releases import __version__
    from trainc.budget import OverBudgetError
    from trainc.compilation.run import Options
    from trainc.diagnostics import Diagnostic, Document, Error, Location, ObjectId, Place, Related
    from trainc.emit.yaml import render
    from trainc.settings import Settings

__all__ = [
    "ChangedField",
    "ChangedJob",
    "ChangedObject",
    "CompiledJob",
    "Diagnostic",
    "Document",
    "Documents",
    "Error",
    "FieldOrigin",
    "FileEdit",
    "JobRuntime",
    "Location",
    "ObjectId",
    "Options",
    "OverBudgetError",
    "Place",
    "QuickFix",
    "Related",
    "Result",
    "ReviewResult",
    "Rewriting",
    "Session",
    "SetField",
    "Settings",
    "Utf16Range",
    "__version__",
    "address_of",
    "built_in_runtimes",
    "check",
    "code_point",
    "compile",
    "diff",
    "fix_of",
    "graph_of",
    "migrate",
    "page_of",
    "path_at",
    "pods_of",
    "queues_of",
    "render",
    "schema",
    "upgrade",
    "utf16_range",
]

_HOME = {
    name: module
    for module, names in {
        "trainc.api.compiling": "Session check compile",
        "trainc.api.editors": "FileEdit QuickFix Utf16Range address_of code_point fix_of page_of path_at utf16_range",
        "trainc.api.public_results": "CompiledJob Documents FieldOrigin JobRuntime Result SetField",
        "trainc.api.reviews": "ChangedField ChangedJob ChangedObject ReviewResult diff",
        "trainc.api.views": "Rewriting built_in_runtimes graph_of migrate pods_of queues_of schema upgrade",
        "trainc.base.releases": "__version__",
        "trainc.budget": "OverBudgetError",
        "trainc.compilation.run": "Options",
        "trainc.diagnostics": "Diagnostic Document Error Location ObjectId Place Related",
        "trainc.emit.yaml": "render",
        "trainc.settings": "Settings",
    }.items()
    for name in names.split()
}


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)


if not TYPE_CHECKING:  # type checkers report a name that does not exist

    def __getattr__(name: str) -> object:
        """Import a public name on first use."""
        if name not in _HOME:
            raise AttributeError(f"module 'trainc' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)
