"""Quantities: the fields of an object whose values Kubernetes compares by amount.

Reads    the schema of the object's kind. A kind without one, such as ConfigMap, has no quantities.
Returns  whether a field is a quantity: `requests.cpu` of a container is one, an annotation of that name is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBSET, RUNTIMES, TRAINJOB
from trainc.base.releases import RELEASES
from trainc.kubernetes.structural import load

if TYPE_CHECKING:
    from trainc.kubernetes.structural import StructuralSchema

TRAINER: Final = "trainer.kubeflow.org"
DIALECTS: Final = {
    **{(TRAINER, row.kind): RELEASES[-1].crds for row in (TRAINJOB, *RUNTIMES)},
    ("jobset.x-k8s.io", JOBSET.kind): RELEASES[-1].jobset,
    ("scheduling.x-k8s.io", "PodGroup"): "scheduler-plugins-0.35",
    ("scheduling.volcano.sh", "PodGroup"): "volcano",
}
"""The folder of the newest schema, by API group and kind; older ones have no other quantities."""


def schema_of(tree: Any) -> StructuralSchema | None:
    """Return the schema of a manifest; None for another value, and for a kind without a schema."""
    if not isinstance(tree, dict):
        return None
    kind = str(tree.get("kind"))
    dialect = DIALECTS.get((str(tree.get("apiVersion")).partition("/")[0], kind))
    return None if dialect is None else load(kind, dialect)
