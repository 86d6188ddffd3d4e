"""The runtime of a migrated job.

Reads    a JobSetSpec, a policy, and the replicated jobs that spec.trainer applies to.
Returns  a ClusterTrainingRuntime without fields that have their default, named by its framework and a hash of its spec:
         equal runtimes of different jobs are one.
"""

from __future__ import annotations

from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import CLUSTER_RUNTIME, VERSION
from trainc.frontends import extensions
from trainc.frontends.gangs import VOLCANO
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import get
from trainc.pipeline.objects import ANCESTOR
from trainc.pipeline.passes.conform import drop_field
from trainc.pipeline.schedulers.volcano import QUEUE
from trainc.pipeline.training import FRAMEWORK_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import Violation

_COUNTS: Final = ("parallelism", "completions")
_DIGITS: Final = 8
"""The length of the hash in a name."""


def runtime_of(
    spec: Tree,
    release: TrainerRelease,
    *,
    trainers: Sequence[int],
    counted: Sequence[int],
    policy: Tree | None,
    gang: Tree | None,
) -> Tree:
    """Return a runtime without a name.

    trainers   the replicated jobs that spec.trainer applies to
    counted    the replicated jobs whose pods numNodes counts
    policy     the mlPolicy; None without one, so that each Job has its own number of pods
    """
    jobs = [
        _job(job, is_trainer=index in trainers, has_count=index not in counted)
        for index, job in enumerate(spec["replicatedJobs"])
    ]
    template: Tree = {"spec": spec | {"replicatedJobs": jobs}}
    if queue := get(gang, (VOLCANO, "queue")):
        template = {"metadata": {"annotations": {QUEUE: queue}}} | template
    runtime: Tree = {
        "apiVersion": VERSION,
        "kind": CLUSTER_RUNTIME.kind,
        "metadata": {},
        "spec": {
            **({} if policy is None else {"mlPolicy": policy}),
            **({} if gang is None else {"podGroupPolicy": gang}),
            "template": template,
        },
    }
    return without_unknown_fields(runtime, release)


def _job(job: Tree, *, is_trainer: bool, has_count: bool) -> Tree:
    """Return a replicated job with the trainer's label or without it, and without counts that have their default."""
    template = job["template"]
    labels = {key: text for key, text in get(template, ("metadata", "labels"), {}).items() if key != ANCESTOR}
    labels |= {ANCESTOR: "trainer"} if is_trainer else {}
    metadata = {key: field for key, field in template.get("metadata", {}).items() if key != "labels"}
    metadata |= {"labels": labels} if labels else {}
    fields = template["spec"].items()
    spec = {key: field for key, field in fields if key not in _COUNTS or (has_count and field != 1)}
    spec["template"] = spec.pop("template")  # a reader looks for the long part at the end
    rest = {key: field for key, field in job.items() if key != "template" and (key, field) != ("replicas", 1)}
    return rest | {"template": ({"metadata": metadata} if metadata else {}) | {"spec": spec}}


def without_unknown_fields(runtime: Tree, release: TrainerRelease) -> Tree:
    """Return a runtime without the fields of a legacy kind that no runtime of a user can have."""
    for violation in extensions.load(runtime["kind"], release.crds).admit(runtime).unknown:
        runtime = drop_field(runtime, violation.path)
    return runtime


def policy_defaults(framework: str, release: TrainerRelease) -> Tree:
    """Return the settings of a framework's policy that have a default."""
    empty = {"kind": CLUSTER_RUNTIME.kind, "spec": {"mlPolicy": {framework: {}}}}
    found: Tree = get(with_defaults(empty, release), ("spec", "mlPolicy", framework), {})
    return found


def with_defaults(runtime: Tree, release: TrainerRelease) -> Tree:
    """Return a runtime as the API server would store it with the extensions of trainc."""
    found: Tree = extensions.load(runtime["kind"], release.crds).admit(runtime).value
    return found


def violations_of(runtime: Tree, release: TrainerRelease) -> list[Violation]:
    """Return the violations of the schema of runtimes with the extensions of trainc."""
    return [*extensions.load(runtime["kind"], release.crds).admit(runtime).violations]


def named(runtime: Tree, framework: str) -> Tree:
    """Return a runtime with the name of its framework and of its spec."""
    digest = sha256(dumps(runtime["spec"], sort_keys=True).encode()).hexdigest()
    metadata = {"name": f"{framework}-{digest[:_DIGITS]}", "labels": {FRAMEWORK_LABEL: framework}}
    return {key: metadata if key == "metadata" else field for key, field in runtime.items()}


def extension_fields(runtime: Tree, release: TrainerRelease) -> Iterator[str]:
    """Yield the fields and values of a runtime that Trainer's own schema does not have."""
    admitted = load(runtime["kind"], release.crds).admit(runtime)
    yield from (violation.field for violation in admitted.unknown)
    yield from (
        f"{violation.field}: {get(runtime, violation.path)}"
        for violation in admitted.violations
        if violation.path[:2] == ("spec", "mlPolicy")
    )
