"""The CRDs' own rules: what x-kubernetes-validations refuse on creation, each as a function.

Reads    an object as its schema admitted it, faults included: where a rule finds another type than it reads, it keeps
         silent.
Returns  violations. The API server asks its rules only when the schema and the metadata have nothing to say; here they
         are asked always, and keep silent only about a field of which something was said.
Source   the CRDs of kubeflow/trainer v2.3.0 and jobset v0.12.0. Rules that speak of oldSelf are for updates.

A rule is tied to the expression it stands for by a digest, so that a test fails when a schema holds one that nobody
implements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from trainc.kubernetes.trees import Path, Tree
from trainc.kubernetes.violations import Violation, field_of
from trainc.records import NamedTuple

ITEM: Final = "[]"
"""In the path of a rule: every item of a list."""

TITLES: Final = {
    "claim-namespace": "A volume claim template names a namespace",
    "flux-processes": "A Flux policy asks for less than one process a node",
    "managed-by": "A TrainJob is managed by a controller that Trainer does not know",
    "node-container-injected": "The main container is a target of the injection that it gets anyway",
    "one-ml-policy": "A runtime has more than one framework policy",
    "startup-policy-with-depends-on": "A startup order and dependencies exclude each other",
    "storage-uri": "A storage URI has no scheme or no path",
    "trainjob-name": "The name of a TrainJob is not a DNS label",
}
"""The rules by their ids."""

MANAGERS: Final = ("trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue")

_URI: Final = r"[A-Za-z][A-Za-z0-9+.-]*://.+\Z"
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")
_LONGEST_NAME: Final = 63

Check = Callable[[Any, Path], Iterator[Violation]]


class Rule(NamedTuple):
    """One expression of a schema: where it stands, the digest of its text, and what we make of it."""

    at: tuple[str, ...]
    digest: str
    check: Check


def trainjob_name(job: Any, path: Path) -> Iterator[Violation]:
    """The name becomes part of host names: a letter first, then letters, digits and dashes, without dots."""
    name = _name(job)
    if name and not _NAME.match(name):
        yield _violation(
            (*path, "metadata", "name"),
            "trainjob-name",
            f"the TrainJob's name is {_quoted(name)}, which {_misnamed(name)}",
            f"use a lower-case letter first, then lower-case letters, digits and `-`{_example(name)}",
        )


def trainjob_name_length(job: Any, path: Path) -> Iterator[Violation]:
    """A DNS label has at most 63 characters."""
    name = _name(job)
    if len(name) > _LONGEST_NAME:
        yield _violation(
            (*path, "metadata", "name"),
            "trainjob-name",
            f"the TrainJob's name has {len(name)} characters, and may have {_LONGEST_NAME}",
            "shorten it; the jobs and pods that are named after it need room as well",
        )


def storage_uri(uri: Any, path: Path) -> Iterator[Violation]:
    """Empty, or scheme://something."""
    if isinstance(uri, str) and uri and not re.match(_URI, uri):
        yield _violation(
            path,
            "storage-uri",
            # What stands before an @ may be a password.
            f"storageUri is {'no' if '@' in uri else _quoted(uri) + ', which is no'} URI",
            "write scheme://path, such as hf://org/name or s3://bucket/path",
        )


def managed_by(manager: Any, path: Path) -> Iterator[Violation]:
    """One of the two controllers that know TrainJobs."""
    if isinstance(manager, str) and manager not in MANAGERS:
        yield _violation(
            path,
            "managed-by",
            f"managedBy is {_quoted(manager)}, which no controller of TrainJobs is called",
            f"leave it out, or write {MANAGERS[1]} for a job that MultiKueue sends to another cluster",
        )


def one_ml_policy(policy: Any, path: Path) -> Iterator[Violation]:
    """A runtime trains with one framework: one of those that Trainer's rule lists, or of the extensions."""
    found = [name for name in policy if name != "numNodes"] if isinstance(policy, dict) else []
    if len(found) > 1:
        names = f"{', '.join(found[:-1])} and {found[-1]}"
        yield _violation(path, "one-ml-policy", f"mlPolicy has {names}, and may have one framework", "keep one of them")


def flux_processes(count: Any, path: Path) -> Iterator[Violation]:
    """Flux starts at least one process on a node."""
    if type(count) is int and count < 1:
        yield _violation(
            path, "flux-processes", f"numProcPerNode is {count}, and must be at least 1", "write 1, or leave it out"
        )


def node_container_injected(names: Any, path: Path) -> Iterator[Violation]:
    """The variables go to the container `node` without being asked for."""
    if isinstance(names, list) and "node" in names:
        yield _violation(
            (*path, names.index("node")),
            "node-container-injected",
            "containerNames lists node, which gets the variables anyway",
            "remove node from the list; leave the target out when nothing is left",
            at=path,
        )


def startup_policy_with_depends_on(spec: Any, path: Path) -> Iterator[Violation]:
    """A JobSet starts its jobs in the order of the list, or as their dependencies say."""
    policy = spec.get("startupPolicy") if isinstance(spec, dict) else None
    if not isinstance(policy, dict) or policy.get("startupPolicyOrder") != "InOrder":
        return
    jobs = spec.get("replicatedJobs")
    if jobs is None:
        # The rule fails while it looks for the list.
        yield _violation(
            path,
            "startup-policy-with-depends-on",
            "startupPolicyOrder is InOrder, but there are no replicatedJobs to put in order",
            "add the jobs, or remove startupPolicy",
        )
        return
    for index, job in enumerate(jobs if isinstance(jobs, list) else ()):
        if isinstance(job, dict) and "dependsOn" in job:
            yield _violation(
                (*path, "replicatedJobs", index, "dependsOn"),
                "startup-policy-with-depends-on",
                f'replicated job "{job.get("name")}" has dependsOn, but startupPolicyOrder is InOrder',
                "keep one of the two: with dependsOn, leave startupPolicy out",
                at=path,
            )


def claim_namespace(policy: Any, path: Path) -> Iterator[Violation]:
    """A claim lives in the JobSet's namespace. The rule reads templates and their metadata without asking for them."""
    if not isinstance(policy, dict):
        return
    templates = policy.get("templates")
    if templates is None:
        yield _violation(path, "claim-namespace", "the volume claim policy has no templates", "add templates")
        return
    for index, template in enumerate(templates if isinstance(templates, list) else ()):
        if not isinstance(template, dict):
            continue
        at: Path = (*path, "templates", index)
        metadata = template.get("metadata")
        if metadata is None:
            yield _violation(
                at, "claim-namespace", "the volume claim template has no metadata", "add metadata: {name: ...}", at=path
            )
        elif isinstance(metadata, dict) and metadata.get("namespace"):
            yield _violation(
                (*at, "metadata", "namespace"),
                "claim-namespace",
                f"the volume claim template has namespace {_quoted(metadata['namespace'])}",
                "remove the namespace: the claim is made beside the JobSet",
                at=path,
            )


def _runtime() -> tuple[Rule, ...]:
    policy = ("spec", "mlPolicy")
    names = ("torch", "envInjection", "targets", ITEM, "containerNames")
    return (
        Rule(policy, "25356e262c57", one_ml_policy),
        Rule((*policy, "flux", "numProcPerNode"), "db79007bd8f7", flux_processes),
        Rule((*policy, *names), "94d855f7f547", node_container_injected),
        *_jobset("spec", "template", "spec"),
    )


def _jobset(*spec: str) -> tuple[Rule, ...]:
    return (
        Rule(spec, "1d1e35e4455e", startup_policy_with_depends_on),
        Rule((*spec, "volumeClaimPolicies", ITEM), "e921f63d90d0", claim_namespace),
    )


RULES: Final[dict[str, tuple[Rule, ...]]] = {
    "TrainJob": (
        Rule((), "43ba58b4d868", trainjob_name),
        Rule((), "d7c81dd73daa", trainjob_name_length),
        Rule(("spec", "initializer", "dataset", "storageUri"), "8f8719b24ce8", storage_uri),
        Rule(("spec", "initializer", "model", "storageUri"), "8f8719b24ce8", storage_uri),
        Rule(("spec", "managedBy"), "fd68d6fb21f5", managed_by),
    ),
    "TrainingRuntime": _runtime(),
    "ClusterTrainingRuntime": _runtime(),
    "JobSet": _jobset("spec"),
}
"""The rules of a kind, in the order of its schema."""


def broken_rules(kind: str, value: Tree, said: Collection[Violation] = ()) -> Iterator[Violation]:
    """What the rules of a kind refuse in an admitted object; nothing about fields of which something was `said`."""
    silent = {violation.path for violation in said}
    for rule in RULES[kind]:
        for path, found in _places(value, rule.at):
            for violation in rule.check(found, path):
                if violation.path not in silent:
                    yield violation


def _name(job: Any) -> str:
    metadata = job.get("metadata") if isinstance(job, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _places(value: Any, at: tuple[str, ...], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values at the places that a rule speaks of."""
    for depth, step in enumerate(at):
        if step == ITEM:
            for index, item in enumerate(value if isinstance(value, list) else ()):
                yield from _places(item, at[depth + 1 :], (*path, *at[:depth], index))
            return
        if not isinstance(value, dict) or value.get(step) is None:
            return
        value = value[step]
    yield (*path, *at), value


def _quoted(text: str) -> str:
    from trainc.kubernetes.structural.remedies import shown

    return shown(text)


def _misnamed(name: str) -> str:
    from trainc.kubernetes.misnamed import LABEL, fault

    return "begins with a digit" if name[:1].isdigit() else fault(name, LABEL, _LONGEST_NAME)


def _example(name: str) -> str:
    from trainc.kubernetes.misnamed import example

    return example(name, letter_first=True)


def _violation(path: Path, rule: str, message: str, help: str, *, at: Path | None = None) -> Violation:
    """A violation at `path`, which the cluster reports at `at`."""
    return Violation(path=path, field=field_of(path if at is None else at), rule=rule, message=message, help=help)
