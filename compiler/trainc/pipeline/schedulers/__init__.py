"""The gang schedulers. A policy's key in `podGroupPolicy` is the name of its file; a runtime can have several.

A scheduler has `VERSION`, the apiVersion of its PodGroups; `RELEASE`, the folder of their schema; `MARK`, the label or
annotation by which a pod names its gang; `group`, which returns the gang's PodGroup; and `CHECKS`, the rules of its
part of the webhook.

**A gang scheduler** (`podGroupPolicy.<key>`). Copy from `pipeline/schedulers/coscheduling.py`.
1. Write `pipeline/schedulers/<key>.py` with `VERSION`, `RELEASE`, `MARK`, `CHECKS` and `group(plan, gang) ->
   PodGroup`.
2. Add `<key>` to `SCHEDULERS` in `pipeline/schedulers/__init__.py`.
3. Write a unit test `tests/unit/test_<key>.py` (copy from `test_coscheduling.py`), a golden case `gang-<case>`, and
   a row in `docs/scheduling.md`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

from trainc.base.records import NamedTuple
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import shown
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.kubernetes.pod_resources import Amounts
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Admitted, Violation
    from trainc.pipeline.checks import Check
    from trainc.pipeline.plan import Plan


SCHEDULERS: Final = ("coscheduling", "volcano")


class GangMark(NamedTuple):
    """A label or an annotation of pods whose value is the name of their PodGroup."""

    field: Literal["labels", "annotations"]
    key: str


class Gang(NamedTuple):
    """The pods that start together, or not at all."""

    members: int
    resources: Tree
    """The sum of their requests."""


class Scheduler(Protocol):
    """The interface of a module in this folder."""

    VERSION: str
    """The apiVersion of its PodGroup."""
    RELEASE: str
    """The folder in schemas/ with the PodGroup's schema."""
    MARK: GangMark
    CHECKS: tuple[Check[[Plan]], ...]
    group: Callable[[Plan, Gang], Tree]


def schedulers_of(policy: Tree | None) -> list[Scheduler]:
    """Return the schedulers of a podGroupPolicy."""
    return [cast("Scheduler", import_module(f"{__name__}.{key}")) for key in SCHEDULERS if key in (policy or {})]


def gathered(plan: Plan) -> Gang:
    """Return the number of pods that must start together, and their total requests.

    The gang of a legacy job has all pods, and their requests with the defaults from limits, as that of its operator.
    """
    from trainc.kubernetes.pod_resources import total

    needs: Amounts = {}
    counts = plan.counts
    if plan.job.own_runtime is not None:
        counts = tuple(count * int(job.get("replicas", 1)) for job, count in zip(plan.jobs, counts, strict=True))
    elif plan.needed is not None and plan.trainer is not None:
        counts = plan.with_count(plan.trainer, plan.needed).counts
    spec = plan.spec if plan.gang_spec is None else plan.gang_spec
    for job, count in enumerate(counts):
        one = requests_of(plan, get(spec, pod_spec(job), {}))
        needs = total(needs, {name: quantity.mul(count) for name, quantity in one.items()})
    return Gang(sum(counts), {name: str(quantity) for name, quantity in needs.items()})


def requests_of(plan: Plan, pod: Tree) -> Amounts:
    """Return the requests of a pod of the plan that the gang counts."""
    from trainc.kubernetes.pod_resources import defaulted, requests

    return requests(pod if plan.job.own_runtime is None else defaulted(pod))


def admitted(plan: Plan) -> list[Admitted]:
    """Return the plan's other objects: PodGroups as the schemas of their CRDs admit them, the rest unchanged."""
    from trainc.kubernetes.structural import load
    from trainc.kubernetes.violations import Admitted

    releases = {scheduler.VERSION: scheduler.RELEASE for scheduler in schedulers_of(plan.runtime.gang)}
    return [
        load("PodGroup", releases[other["apiVersion"]]).admit(other)
        if other["kind"] == "PodGroup"
        else Admitted(value=other)
        for other in plan.others
    ]


def refused(plan: Plan) -> Iterator[tuple[Tree, list[Violation]]]:
    """Yield each object beside the JobSet with its violations; only a PodGroup can have some."""
    for group, result in zip(plan.others, admitted(plan), strict=True):
        yield group, [_reworded(group, violation) for violation in result.violations]


def _reworded(group: Tree, violation: Violation) -> Violation:
    """Return a violation with the PodGroup in its message, and for a name with its fault instead of a pattern."""
    from trainc.kubernetes import names
    from trainc.kubernetes.violations import PATTERN

    message, help = violation.message, violation.help
    if violation.rule == PATTERN.id:  # the only pattern of these schemas is that of a DNS subdomain
        name = get(group, violation.path)
        message = f"{violation.path[-1]} is {shown(name)}, which {names.fault(name, names.SUBDOMAIN, 253)}"
        help = "use lowercase letters, digits, `-` and `.`" + names.example(name)
    return violation._replace(message=f"the PodGroup's {message}", help=help)
