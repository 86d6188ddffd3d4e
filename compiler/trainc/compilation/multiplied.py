"""Work that input multiplies: what each TrainJob gets from its runtime and from the settings.

Reads    the TrainJobs of a run, the runtimes that they refer to, and the settings.
Returns  nothing: the products are charged before the work starts, so that a small input stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import CLUSTER_RUNTIME
from trainc.kubernetes.trees import get
from trainc.pipeline.library import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.budget import Meter
    from trainc.edits.environment import Environment
    from trainc.kubernetes.trees import Path
    from trainc.pipeline.library import Key, Library, LibraryEntry
    from trainc.pipeline.objects import TrainJob

TRAINJOBS: Final = "TrainJobs"
METADATA: Final = ("labels", "annotations")
TEMPLATE: Final = ("spec", "template")


def charge_settings(environment: Environment, jobs: int, meter: Meter) -> bool:
    """Charge the labels and annotations that the settings add to TrainJobs. Return whether the run may continue."""
    return all(
        meter.charge_product("labels and annotations", (len(settings), key), (jobs, TRAINJOBS))
        for key, settings in (("labels", environment.labels), ("annotations", environment.annotations))
    )


def charge_runtimes(jobs: Iterable[TrainJob], library: Library, meter: Meter) -> bool:
    """Charge the runtimes of files for each TrainJob that refers to them. Return whether the run may continue.

    Built-in runtimes are small. The largest one of several runtimes of one name counts, and all of them are compared.
    """
    counts: dict[Key, int] = {}
    for job in jobs:
        if (key := _requested(job)) is not None:
            counts[key] = counts.get(key, 0) + 1
    sizes: dict[tuple[int, Path], int] = {}
    for key, count in counts.items():
        entry = library.find(*key)
        if entry is None or entry.level == BUILT_IN:
            continue
        named, factor = [entry, *entry.namesakes], (count, TRAINJOBS)
        if entry.namesakes:
            meter.charge_product("runtimes of one name", (len(named), "runtimes"), factor)
        for kind in METADATA:
            most = max(_size(each, (*TEMPLATE, "metadata", kind), sizes) for each in named)
            meter.charge_product("labels and annotations", (most, kind), factor)
        most = max(_size(each, TEMPLATE, sizes) for each in named)
        meter.charge_product("values of runtimes", (most, f'values of runtime "{entry.id.name}"'), factor)
        if meter.over is not None:
            return False
    return True


def _requested(job: TrainJob) -> Key | None:
    """Return the kind, namespace and name of the runtime that a TrainJob refers to; None without a valid reference."""
    for field in ("runtimeRef", "trainingRuntimeRef"):
        name = get(job.value, ("spec", field, "name"))
        if isinstance(name, str):
            kind = get(job.value, ("spec", field, "kind"))
            return kind if isinstance(kind, str) else CLUSTER_RUNTIME.kind, job.namespace, name
    return None


def _size(entry: LibraryEntry, path: Path, sizes: dict[tuple[int, Path], int]) -> int:
    """Return the number of values below a path of a runtime."""
    from trainc.kubernetes.trees import measured

    key = id(entry), path
    if key not in sizes:
        tree = get(entry.document.value, path)
        sizes[key] = measured(tree)[0] - 1 if isinstance(tree, dict) else 0
    return sizes[key]
