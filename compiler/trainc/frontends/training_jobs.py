"""Training jobs of other kinds, which a run does not compile.

Reads    the apiVersion and the kind of a document.
Returns  the number of jobs of Training Operator v1, of its predecessors and of Volcano by kind.
Source   kubeflow/trainer v1.9, kubeflow/mpi-operator, kubeflow/xgboost-operator and deepinsight/mxnet-operator: their
         groups and kinds; volcano-sh/volcano 1.12.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trainc.base.kinds import LEGACY, OLD_GROUP
from trainc.base.texts import plural
from trainc.kubernetes.violations import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.base.kinds import Kind
    from trainc.diagnostics import Document


def not_compiled(documents: Iterable[Document], option: str) -> str:
    """Return a sentence with the number of training jobs of each kind that the run does not compile; empty if none.

    option   the option that compiles those of the supported kinds
    """
    supported: Counter[str] = Counter()
    others: Counter[Kind] = Counter()
    for document in documents:
        if row := training_job(document):
            if is_supported(row, document):
                supported[row.word] += 1
            else:
                others[row] += 1
    parts = []
    if supported:
        parts.append(
            f"{_counted(supported)} not compiled ({option} compiles {'it' if supported.total() == 1 else 'them'})"
        )
    for row, count in sorted(others.items(), key=lambda item: (-item[1], item[0].word)):
        parts.append(f"{_counted(Counter({row.word: count}))} not compiled ({_support(row)})")
    return "; ".join(parts)


def training_job(document: Document) -> Kind | None:
    """Return the row of a training job of another kind, in whatever version; None for any other document."""
    kind, version = document.value.get("kind"), document.value.get("apiVersion")
    group, slash, _ = version.partition("/") if isinstance(version, str) else ("", "", "")
    if not slash:
        return None
    return next((row for row in LEGACY if row.kind == kind and _is_group_of(row, group)), None)


def is_supported(row: Kind, document: Document) -> bool:
    """Return whether trainc compiles a training job if a setting enables its kind."""
    return document.value.get("apiVersion") in row.versions and row.has_plugin(document.value)


def _is_group_of(row: Kind, group: str) -> bool:
    """Return whether a kind is one of an API group. Kubeflow's operators had several groups."""
    return group == row.group or (row.group == OLD_GROUP and group.endswith(f".{OLD_GROUP}"))


def _support(row: Kind) -> str:
    """Return what trainc supports of a kind."""
    if row.plugin:
        return f"only the plugin {row.plugin} is supported"
    return f"only {listed(list(row.versions))} {'is' if len(row.versions) == 1 else 'are'} supported"


def _counted(counts: Counter[str]) -> str:
    """Return the beginning of a sentence: `2 PyTorchJobs and 1 TFJob are`."""
    named = [plural(count, kind) for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return f"{listed(named)} {'is' if counts.total() == 1 else 'are'}"
