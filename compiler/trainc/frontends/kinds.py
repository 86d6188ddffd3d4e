"""Kinds of training jobs that trainc does not compile, and API groups that are probably misspelt.

Reads    the apiVersion and the kind of a document.
Returns  whether a group is meant to be Trainer's; the number of jobs of Training Operator v1 and Volcano by kind.
Source   kubeflow/trainer v1.9, kubeflow/mpi-operator and kubeflow/xgboost-operator: their groups and kinds;
         volcano-sh/volcano 1.12: the plugins of a Job that prepare a framework's processes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from trainc.frontends import GROUP, OLD_GROUP
from trainc.kubernetes.trees import get
from trainc.plural import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.diagnostics import Document

TRAINING_OPERATOR: Final = frozenset({"PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob", "MXJob"})
"""The kinds of Training Operator v1 and its predecessors."""
VOLCANO_GROUP: Final = "batch.volcano.sh"
VOLCANO_PLUGINS: Final = frozenset({"pytorch", "tensorflow", "mpi"})
"""The plugins that make Volcano's Job a training job."""
VOLCANO_JOB: Final = "Volcano Job"
"""The name of Volcano's Job in messages."""


def is_meant(version: str) -> bool:
    """Return whether an apiVersion with one of Trainer's kinds is probably misspelt, not another project's.

    The core group and the groups of other projects than Kubeflow have none of these kinds; a group that differs from
    Trainer's in one edit is a typing error.

    >>> [is_meant(text) for text in ("kubeflow.org/v1", "v1", "trainer.kubflow.org/v1alpha1", "train.acme.io/v1")]
    [True, True, True, False]
    """
    group, slash, _ = version.lower().partition("/")
    return not slash or group.endswith(OLD_GROUP) or _is_one_edit(group, GROUP)


def _is_one_edit(text: str, other: str) -> bool:
    """Return whether one inserted, removed or replaced character, or two swapped ones, turn a text into another.

    >>> [_is_one_edit(text, "abc") for text in ("ab", "abcd", "axc", "acb", "abc", "cab")]
    [True, True, True, True, False, False]
    """
    same = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    left, right = text[same:], other[same:]
    swapped = left[1::-1] + left[2:] if len(left) > 1 else left
    return left != right and (left[1:] == right or left == right[1:] or left[1:] == right[1:] or swapped == right)


def not_compiled(documents: Iterable[Document]) -> str:
    """Return a sentence with the number of training jobs of each kind that trainc does not compile; empty if none."""
    counts = Counter(filter(None, map(training_job, documents)))
    named = [plural(count, kind) for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    if not named:
        return ""
    listed = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    return f"{listed} {'is' if counts.total() == 1 else 'are'} not compiled yet"


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
