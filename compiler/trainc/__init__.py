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

from trainc.base.version import __version__

if TYPE_CHECKING:
    from trainc.budget import OverBudgetError
    from trainc.compilation import Compilation, Compiled, Options
    from trainc.compilation.api import compile
    from trainc.diagnostics import Diagnostic, Document, Error, Location, ObjectId, Place, Related
    from trainc.emit.yaml import render
    from trainc.pipeline.delivery import Delivery
    from trainc.provenance.tracing import Origin, Trace
    from trainc.settings import Settings

__all__ = [
    "Compilation",
    "Compiled",
    "Delivery",
    "Diagnostic",
    "Document",
    "Error",
    "Location",
    "ObjectId",
    "Options",
    "Origin",
    "OverBudgetError",
    "Place",
    "Related",
    "Settings",
    "Trace",
    "__version__",
    "compile",
    "render",
]

_HOME = {
    "Compilation": "trainc.compilation",
    "Compiled": "trainc.compilation",
    "Delivery": "trainc.pipeline.delivery",
    "Diagnostic": "trainc.diagnostics",
    "Document": "trainc.diagnostics",
    "Error": "trainc.diagnostics",
    "Location": "trainc.diagnostics",
    "ObjectId": "trainc.diagnostics",
    "Options": "trainc.compilation",
    "Origin": "trainc.provenance.tracing",
    "OverBudgetError": "trainc.budget",
    "Place": "trainc.diagnostics",
    "Related": "trainc.diagnostics",
    "Settings": "trainc.settings",
    "Trace": "trainc.provenance.tracing",
    "compile": "trainc.compilation.api",
    "render": "trainc.emit.yaml",
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
