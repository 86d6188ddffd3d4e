"""What the API server refuses in a Job, and in the Pod that is made of its template.

Reads    a Job or a Pod as it was sent, with the right types (the schema of the JobSet has seen to that). What is absent
         is as its default, so nothing is filled in.
Returns  violations; paths and fields are relative to the object.
Source   Kubernetes 1.36: the validation of Jobs and Pods, with the feature gates of that release as they are by
         default; proved against its recorded answers.

One module for each part of a Job: its table says which rule a field has. A part that most pods lack is imported when
one has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.validation.combinators import PodViolations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation


def of_job(job: Tree, *, claims: Sequence[Tree] = ()) -> list[Violation]:
    """Everything that is wrong with a Job on its creation; `claims` are volumes that its pods are given besides."""
    from trainc.kubernetes.validation import job as rules

    found = PodViolations(job["spec"]["template"])
    found.claims = claims
    rules.job(found, None, job)
    return found.violations


def of_pod(pod: Tree) -> list[Violation]:
    """What is wrong with the Pod of a Job's template, and was forgiven the template."""
    from trainc.kubernetes.validation import bare

    found = PodViolations(pod, of_job=False)
    bare.pod(found, None, pod)
    return found.violations
