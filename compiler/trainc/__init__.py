"""trainc compiles TrainJobs offline to the JobSets that the Kubeflow Trainer controller would create.

    import trainc

    result = trainc.compile(["jobs/"], runtimes=["platform/runtimes"])
    for diagnostic in result.diagnostics:
        print(diagnostic.locate(), diagnostic.message)
    print(trainc.render(result.objects))

Names are imported on first use, so that `import trainc` costs almost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.version import __version__

if TYPE_CHECKING:
    from trainc.compilation import Compilation, Compiled, compile
    from trainc.delivery import Delivery
    from trainc.diagnostics import Diagnostic, Document, Location, ObjectId, Place
    from trainc.emit.yaml import render
    from trainc.tracing import Origin, Trace

__all__ = [
    "Compilation",
    "Compiled",
    "Delivery",
    "Diagnostic",
    "Document",
    "Location",
    "ObjectId",
    "Origin",
    "Place",
    "Trace",
    "__version__",
    "compile",
    "render",
]

_HOME = {
    "Compilation": "trainc.compilation",
    "Compiled": "trainc.compilation",
    "compile": "trainc.compilation",
    "Delivery": "trainc.delivery",
    "Diagnostic": "trainc.diagnostics",
    "Document": "trainc.diagnostics",
    "Location": "trainc.diagnostics",
    "ObjectId": "trainc.diagnostics",
    "Place": "trainc.diagnostics",
    "Origin": "trainc.tracing",
    "Trace": "trainc.tracing",
    "render": "trainc.emit.yaml",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'trainc' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
