"""The API server's validation of a Job and of the Pods created from its template.

Reads    a Job or a Pod as it was sent, with the right types (the JobSet's schema has checked them). Absent fields have
         their defaults, so nothing is filled in.
Returns  violations; paths and fields are relative to the object.
Source   Kubernetes 1.36: the validation of Jobs and Pods, with that release's default feature gates; verified against
         its recorded answers.

Each module covers one part of a Job: its table maps fields to rules. A part that most pods lack is imported when it is
first needed.

**A rule for Jobs and pods** (the API server's validation). Copy from `kubernetes/validation/probes.py`.
1. Add the field to a table of `kubernetes/validation/<part>.py`, with a rule from `combinators.py` if one fits, or
   with a function that calls `report`. Use `late(module, name)` for fields that few pods have.
2. Declare an id in the same module. If Jobs did not use a general id of `kubernetes/violations.py` before, add the
   phase `job` to it there. Then follow steps 3 and 4 of a check.
3. Add rows for valid and invalid values to `tests/unit/kubernetes/validation/`, and the field to the generated pods
   of `tests/differential/`, which compares with the Go code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.kubernetes.validation.combinators import PodViolations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation


def job_violations(job: Tree, *, claims: Sequence[Tree] = ()) -> list[Violation]:
    """Return the violations of a Job on creation; `claims` are volumes that are added to its pods."""
    from trainc.kubernetes.validation import job as rules

    found = PodViolations(job["spec"]["template"])
    found.claims = claims
    rules.job(found, None, job)
    return found.violations


def pod_violations(pod: Tree) -> list[Violation]:
    """Return the violations of a Job's Pod that the API server does not report for the pod template."""
    from trainc.kubernetes.validation.pod import only_pod

    found = PodViolations(pod, of_job=False)
    only_pod(found, None, pod)
    return found.violations
