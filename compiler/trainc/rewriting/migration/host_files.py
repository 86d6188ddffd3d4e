"""ConfigMaps with the host names of a job's pods, which its TrainJob has beside it.

Reads    the plan of a compiled legacy job; the settings of a project, and its kustomizations.
Returns  the ConfigMaps that the framework of the job writes and that no public policy would write; and the settings
         that give the JobSet another name or namespace: a text in a file has no `$(JOBSET_NAME)`, so it cannot follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.emit import objects_of_a_job
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.compilation import Compiled
    from trainc.diagnostics import Document
    from trainc.frontends.kustomizations import Kustomizations
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan
    from trainc.settings import Settings

CONFIG_MAP: Final = "ConfigMap"


def host_files(plan: Plan) -> tuple[Tree, ...]:
    """Return the ConfigMaps of a job. They have a namespace only if the job has one in its file."""
    found = (tree for tree in plan.objects if tree["kind"] == CONFIG_MAP)
    if get(plan.job.document.unedited, ("metadata", "namespace")):
        return tuple(found)
    return tuple(
        tree | {"metadata": {key: field for key, field in tree["metadata"].items() if key != "namespace"}}
        for tree in found
    )


def named_files(files: Iterable[Tree]) -> str:
    """Return the names of some ConfigMaps in words: `ConfigMap "a"`."""
    return listed([f'{tree["kind"]} "{tree["metadata"]["name"]}"' for tree in files])


def renaming(
    document: Document, plan: Plan, projects: Iterable[Settings], kustomizations: Kustomizations | None
) -> Iterator[str]:
    """Yield the settings with which the JobSet of a job gets another name or namespace than in its own file.

    plan   the job without settings
    """
    for settings in projects:
        environment = settings.environment
        where = f" of environment {settings.environment_name}" if settings.environment_name else ""
        if settings.delivery.name_suffix_hash:
            yield f"delivery.nameSuffixHash{where}"
        if environment is None:
            continue
        for key, setting in (("namePrefix", environment.name_prefix), ("nameSuffix", environment.name_suffix)):
            if setting is not None and setting.value:
                yield f"{key}{where}"
        if environment.namespace is not None and environment.namespace.value != plan.job.namespace:
            yield f"namespace{where}"
    for kustomization in kustomizations.changed(document).by if kustomizations is not None else ():
        if (field := kustomization.change(("namePrefix", "nameSuffix"))) is not None:
            yield f"{field} of {kustomization.document.file}"
    if plan.job.letters_at is not None:
        yield "metadata.generateName"


def with_files(job: Compiled, files: Iterable[Tree], old: Sequence[Tree]) -> Compiled:
    """Return a compiled TrainJob with the ConfigMaps beside it among its objects.

    old   the objects of the legacy job, whose metadata the ConfigMaps get: labels of settings have no effect on files
    """
    metadata = {(tree["kind"], tree["metadata"]["name"]): tree["metadata"] for tree in old}
    beside = (
        tree | {"metadata": metadata.get((tree["kind"], tree["metadata"]["name"]), tree["metadata"])} for tree in files
    )
    objects = (*job.plan.objects, *beside)
    return job._replace(plan=job.plan._replace(objects=objects), objects=tuple(objects_of_a_job(objects)))
