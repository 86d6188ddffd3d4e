"""Training jobs of other kinds, which a run does not compile.

Reads    the apiVersion and the kind of a document.
Returns  the number of jobs of Training Operator v1 and Volcano by kind.
Source   kubeflow/trainer v1.9, kubeflow/mpi-operator and kubeflow/xgboost-operator: their groups and kinds;
         volcano-sh/volcano 1.12: the plugins of a Job that prepare a framework's processes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import LEGACY, OLD_GROUP
from trainc.base.plural import plural
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import Document

TRAINING_OPERATOR: Final = frozenset({"PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "MXJob"})
"""The kinds of Training Operator v1 and its predecessors."""
SUPPORTED: Final = {row.kind: row for row in LEGACY}
"""The kinds that trainc compiles if a setting enables them, most of them in all versions."""
VOLCANO_GROUP: Final = "batch.volcano.sh"
VOLCANO_PLUGINS: Final = frozenset({"pytorch", "tensorflow", "mpi"})
"""The plugins that make Volcano's Job a training job."""
VOLCANO_JOB: Final = "Volcano Job"
"""The name of Volcano's Job in messages."""


def not_compiled(documents: Iterable[Document], option: str) -> str:
    """Return a sentence with the number of training jobs of each kind that the run does not compile; empty if none.

    option   the option that compiles those of the supported kinds
    """
    supported, others = Counter[str](), Counter[str]()
    for document in documents:
        if kind := training_job(document):
            (supported if is_supported(kind, document.value["apiVersion"]) else others)[kind] += 1
    parts = []
    if supported:
        parts.append(
            f"{_counted(supported)} not compiled ({option} compiles {'it' if supported.total() == 1 else 'them'})"
        )
    if others:
        parts.append(f"{_counted(others)} not compiled yet")
    return "; ".join(parts)


def is_supported(kind: str, version: str) -> bool:
    """Return whether trainc reads a version of a kind if a setting enables the kind.

    >>> [is_supported("MPIJob", f"kubeflow.org/{version}") for version in ("v2beta1", "v1")]
    [True, False]
    """
    return kind in SUPPORTED and version not in SUPPORTED[kind].not_compiled


def _counted(counts: Counter[str]) -> str:
    """Return the beginning of a sentence: `2 PyTorchJobs and 1 TFJob are`."""
    named = [plural(count, kind) for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return f"{listed(named)} {'is' if counts.total() == 1 else 'are'}"


def training_job(document: Document) -> str:
    """Return the kind of a training job that trainc does not compile, or an empty string for any other document."""
    kind, version = document.value.get("kind"), document.value.get("apiVersion")
    group, slash, _ = version.partition("/") if isinstance(version, str) else ("", "", "")
    if not slash or not isinstance(kind, str):
        return ""
    if kind in TRAINING_OPERATOR and (group == OLD_GROUP or group.endswith(f".{OLD_GROUP}")):
        return kind
    plugins = get(document.value, ("spec", "plugins"))
    is_training = isinstance(plugins, dict) and not VOLCANO_PLUGINS.isdisjoint(plugins)
    return VOLCANO_JOB if group == VOLCANO_GROUP and kind == "Job" and is_training else ""
