"""The labels by which a Job finds its pods: those that the API server makes, or a selector of the Job's own.

Nearly no Job says anything of this; nearly all that do are a copy of what was in a cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.structural.remedies import shown
from trainc.kubernetes.validation.metadata import GENERATED
from trainc.kubernetes.validation.selectors import label_selector

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.findings import Findings

JOB_SELECTOR: Final = Declaration("job-selector", ("job",), "A Job would not find its own pods")

NEW_UID: Final = "made by the API server"
"""Stands for the uid of a Job that is not there yet: nobody can have written it."""


def selector(found: Findings, at: At, job: Tree) -> None:
    """The Job's selector and its template's labels; `at` is the Job's spec."""
    spec = job["spec"]
    metadata = ((at, "template"), "metadata")
    labels = dict(found.metadata.get("labels") or {})
    wanted: Tree = dict(spec.get("selector") or {})
    place = (at, "selector")
    if "selector" in spec:
        label_selector(found, place, spec["selector"])
    if spec.get("manualSelector"):
        if "selector" not in spec:
            found.complain(
                JOB_SELECTOR, place, "manualSelector is true, and there is no selector", "remove manualSelector"
            )
    else:
        generated = {key: job["metadata"]["name"] if key.endswith("job-name") else NEW_UID for key in GENERATED}
        for key in GENERATED:
            if labels.setdefault(key, generated[key]) != generated[key]:
                found.complain(
                    JOB_SELECTOR,
                    ((metadata, "labels"), key),
                    f"the pods are labelled {key}: {shown(labels[key])}, and the API server makes this label itself",
                    "remove it",
                    field=f"spec.template.metadata.labels[{key}]",
                )
        wanted["matchLabels"] = (wanted.get("matchLabels") or {}) | {GENERATED[0]: NEW_UID}
        if not matches(wanted, generated):
            found.complain(
                JOB_SELECTOR,
                place,
                "the Job has a selector of its own, and the API server makes one",
                "remove the selector",
            )
    if ("selector" in spec or not spec.get("manualSelector")) and matches(wanted, labels):
        return
    found.complain(
        JOB_SELECTOR,
        (metadata, "labels"),
        "the Job's selector does not match the labels of its pods"
        if wanted
        else "without a selector the Job matches no pods",
        "remove selector and manualSelector" if "selector" in spec else "remove the label that the API server makes",
        field="spec.template.metadata.labels",
        related=(("the selector", place),) if "selector" in spec else (),
    )


def matches(selector: Tree, labels: Tree) -> bool:
    """Whether a selector takes what has these labels; one that cannot be read takes nothing."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for expression in selector.get("matchExpressions") or ():
        there, values = labels.get(expression.get("key", "")), expression.get("values") or ()
        match expression.get("operator"):
            case "In":
                taken = there in values
            case "NotIn":
                taken = bool(values) and there not in values
            case "Exists":
                taken = there is not None and not values
            case "DoesNotExist":
                taken = there is None and not values
            case _:
                taken = False
        if not taken:
            return False
    return True
