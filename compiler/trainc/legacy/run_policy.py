"""The fields of the run policy that earlier API versions have directly in the spec.

Reads    a job that the schema of its version has admitted. Only the schemas of earlier versions have these fields.
Returns  the job with all fields in `runPolicy`; its lowered form with the fields where their author wrote them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.frontends.lowering import Lowered

POLICY: Final = ("spec", "runPolicy")
TOP_FIELDS: Final = ("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy", "ttlSecondsAfterFinished")

SETTING_TWICE: Final = Declaration("setting-twice", ("schema",), "Setting in two fields of a legacy job")


def double_settings(job: Tree) -> Iterator[Violation]:
    """Yield the violation of each field that the job has in both places."""
    for key in TOP_FIELDS:
        inner = (*POLICY, key)
        if key in get(job, ("spec",), {}) and get(job, inner) is not None:
            message = f"{key} is set in spec and in spec.runPolicy"
            related = (("the other one", ("spec", key)),)
            yield Violation.at(inner, SETTING_TWICE, message, "remove one of them", key=True, related=related)


def with_run_policy(job: Tree) -> Tree:
    """Return a job whose top fields are in its run policy."""
    top = {key: value for key, value in job["spec"].items() if key in TOP_FIELDS}
    if not top:
        return job
    spec = {key: value for key, value in job["spec"].items() if key not in TOP_FIELDS}
    return job | {"spec": spec | {POLICY[-1]: spec.get(POLICY[-1], {}) | top}}


def with_top_fields(job: Tree, lowered: Lowered) -> Lowered:
    """Return the lowered form of `with_run_policy(job)` with the paths of the fields of `job`."""
    places: dict[Path, Path] = {(*POLICY, key): ("spec", key) for key in TOP_FIELDS if key in job["spec"]}
    if not places:
        return lowered
    return lowered._replace(
        of_job=tuple(move._replace(source=places.get(move.source, move.source)) for move in lowered.of_job),
        of_runtime=tuple(move._replace(source=places.get(move.source, move.source)) for move in lowered.of_runtime),
        losses=tuple(loss._replace(path=places.get(loss.path, loss.path)) for loss in lowered.losses),
    )
