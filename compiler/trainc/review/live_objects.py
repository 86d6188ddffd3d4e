"""Objects of a cluster in the form in which a project renders them.

Reads    an object as the API server returns it, without the fields that only the server writes, and the rendered one.
Returns  the object without the fields that it has only because others than the user write them: the defaults of the
         API server, the empty structs of Go clients, the metadata of tools that deliver it, Kueue's admission.
Source   JobSet v0.12; Kueue v0.19; the metadata that Argo CD 3.2, Flux 2.7 and Helm 3 add to what they deliver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBSET
from trainc.kubernetes.gotypes import stored
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import get, put, removed_at
from trainc.kueue.admission import LABEL
from trainc.pipeline.checks.jobset.update import while_suspended
from trainc.pipeline.passes.store import with_defaults, with_zero_replicas
from trainc.review.changes import changes

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Tree

OF_TOOLS: Final = (
    "argocd.argoproj.io/instance",
    "argocd.argoproj.io/installation-id",
    "argocd.argoproj.io/tracking-id",
    "helm.toolkit.fluxcd.io/",
    "kustomize.toolkit.fluxcd.io/",
    "meta.helm.sh/",
)
"""The starts of the labels and annotations that tools of delivery add."""


def as_stored(tree: Tree, release: TrainerRelease) -> Tree:
    """Return a JobSet with the defaults of the cluster, and without the empty fields that Kueue and Trainer write."""
    admitted = load("JobSet", release.jobset).admit(tree) if tree["kind"] == JOBSET.kind and tree.get("spec") else None
    if admitted is None or admitted.violations:
        return tree
    spec = with_defaults(admitted.value["spec"])
    found = tree | {"spec": with_zero_replicas(stored(spec), spec)}
    for unknown in admitted.unknown:  # the cluster may have a newer JobSet, whose fields are differences, too
        found = put(found, unknown.path, get(tree, unknown.path))
    return found


def as_rendered(live: Tree, rendered: Tree) -> Tree:
    """Return an object without the fields that it has only because tools deliver it and Kueue has admitted it."""
    live = without_tools(live, rendered)
    is_queued = live["kind"] == JOBSET.kind and get(live, LABEL)
    suspend = get(live, ("spec", "suspend"))
    if (is_queued or suspend is False) and get(rendered, ("spec", "suspend")) is None:
        live = removed_at(live, ("spec", "suspend"))
    for change in reversed(changes(live, rendered)) if is_queued else ():
        if change.kind == "removed" and change.path[0] == "spec" and while_suspended(change.path[1:]):
            live = removed_at(live, change.old_path)
    return live


def without_tools(live: Tree, rendered: Tree) -> Tree:
    """Return an object without the labels and annotations of the tools that deliver it."""
    if get(rendered, ("metadata", "namespace")) is None:
        live = removed_at(live, ("metadata", "namespace"))
    for key in ("labels", "annotations"):
        path = ("metadata", key)
        for name in get(live, path) or {}:
            if name.startswith(OF_TOOLS) and name not in get(rendered, path, {}):
                live = removed_at(live, (*path, name))
        if get(live, path) == {} and get(rendered, path) is None:
            live = removed_at(live, path)
    return live
