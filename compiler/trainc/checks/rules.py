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

from trainc.declarations import Declaration
from trainc.kubernetes.names import LONGEST_LABEL
from trainc.kubernetes.trees import Path, Tree
from trainc.kubernetes.violations import Violation, field_of
from trainc.records import NamedTuple

ITEM: Final = "[]"
"""In the path of a rule: every item of a list."""

CLAIM_NAMESPACE: Final = Declaration(
    "claim-namespace", ("schema", "jobset-schema"), "A volume claim template names a namespace"
)
FLUX_PROCESSES: Final = Declaration(
    "flux-processes", ("schema",), "A Flux policy asks for less than one process a node"
)
MANAGED_BY: Final = Declaration(
    "managed-by", ("schema",), "A TrainJob is managed by a controller that Trainer does not know"
)
NODE_CONTAINER_INJECTED: Final = Declaration(
    "node-container-injected", ("schema",), "The main container is a target of the injection that it gets anyway"
)
ONE_ML_POLICY: Final = Declaration("one-ml-policy", ("schema",), "A runtime has more than one framework policy")
STARTUP_POLICY_WITH_DEPENDS_ON: Final = Declaration(
    "startup-policy-with-depends-on", ("schema", "jobset-schema"), "A startup order and dependencies exclude each other"
)
STORAGE_URI: Final = Declaration("storage-uri", ("schema",), "A storage URI has no scheme or no path")
TRAINJOB_NAME: Final = Declaration("trainjob-name", ("schema",), "The name of a TrainJob is not a DNS label")

MANAGERS: Final = ("trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue")

_URI: Final = r"[A-Za-z][A-Za-z0-9+.-]*://.+\Z"
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")

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
        yield Violation.at(
            (*path, "metadata", "name"),
            TRAINJOB_NAME,
            f"the TrainJob's name is {_quoted(name)}, which {_misnamed(name)}",
            f"use a lower-case letter first, then lower-case letters, digits and `-`{_example(name)}",
        )


def trainjob_name_length(job: Any, path: Path) -> Iterator[Violation]:
    """A DNS label has at most 63 characters."""
    name = _name(job)
    if len(name) > LONGEST_LABEL:
        yield Violation.at(
            (*path, "metadata", "name"),
            TRAINJOB_NAME,
            f"the TrainJob's name has {len(name)} characters, and may have {LONGEST_LABEL}",
            "shorten it; the jobs and pods that are named after it need room as well",
        )


def storage_uri(uri: Any, path: Path) -> Iterator[Violation]:
    """Empty, or scheme://something."""
    if isinstance(uri, str) and uri and not re.match(_URI, uri):
        yield Violation.at(
            path,
            STORAGE_URI,
            # What stands before an @ may be a password.
            f"storageUri is {'no' if '@' in uri else _quoted(uri) + ', which is no'} URI",
            "write scheme://path, such as hf://org/name or s3://bucket/path",
        )


def managed_by(manager: Any, path: Path) -> Iterator[Violation]:
    """One of the two controllers that know TrainJobs."""
    if isinstance(manager, str) and manager not in MANAGERS:
        yield Violation.at(
            path,
            MANAGED_BY,
            f"managedBy is {_quoted(manager)}, which no controller of TrainJobs is called",
            f"leave it out, or write {MANAGERS[1]} for a job that MultiKueue sends to another cluster",
        )


def one_ml_policy(policy: Any, path: Path) -> Iterator[Violation]:
    """A runtime trains with one framework: one of those that Trainer's rule lists, or of the extensions."""
    found = [name for name in policy if name != "numNodes"] if isinstance(policy, dict) else []
    if len(found) > 1:
        names = f"{', '.join(found[:-1])} and {found[-1]}"
        yield Violation.at(path, ONE_ML_POLICY, f"mlPolicy has {names}, and may have one framework", "keep one of them")


def flux_processes(count: Any, path: Path) -> Iterator[Violation]:
    """Flux starts at least one process on a node."""
    if type(count) is int and count < 1:
        yield Violation.at(
            path, FLUX_PROCESSES, f"numProcPerNode is {count}, and must be at least 1", "write 1, or leave it out"
        )


def node_container_injected(names: Any, path: Path) -> Iterator[Violation]:
    """The variables go to the container `node` without being asked for."""
    if isinstance(names, list) and "node" in names:
        yield Violation.at(
            (*path, names.index("node")),
            NODE_CONTAINER_INJECTED,
            "containerNames lists node, which gets the variables anyway",
            "remove node from the list; leave the target out when nothing is left",
            field=field_of(path),
        )


def startup_policy_with_depends_on(spec: Any, path: Path) -> Iterator[Violation]:
    """A JobSet starts its jobs in the order of the list, or as their dependencies say."""
    policy = spec.get("startupPolicy") if isinstance(spec, dict) else None
    if not isinstance(policy, dict) or policy.get("startupPolicyOrder") != "InOrder":
        return
    jobs = spec.get("replicatedJobs")
    if jobs is None:
        # The rule fails while it looks for the list.
        yield Violation.at(
            path,
            STARTUP_POLICY_WITH_DEPENDS_ON,
            "startupPolicyOrder is InOrder, but there are no replicatedJobs to put in order",
            "add the jobs, or remove startupPolicy",
        )
        return
    for index, job in enumerate(jobs if isinstance(jobs, list) else ()):
        if isinstance(job, dict) and "dependsOn" in job:
            yield Violation.at(
                (*path, "replicatedJobs", index, "dependsOn"),
                STARTUP_POLICY_WITH_DEPENDS_ON,
                f'replicated job "{job.get("name")}" has dependsOn, but startupPolicyOrder is InOrder',
                "keep one of the two: with dependsOn, leave startupPolicy out",
                field=field_of(path),
            )


def claim_namespace(policy: Any, path: Path) -> Iterator[Violation]:
    """A claim lives in the JobSet's namespace. The rule reads templates and their metadata without asking for them."""
    if not isinstance(policy, dict):
        return
    templates = policy.get("templates")
    if templates is None:
        yield Violation.at(path, CLAIM_NAMESPACE, "the volume claim policy has no templates", "add templates")
        return
    for index, template in enumerate(templates if isinstance(templates, list) else ()):
        if not isinstance(template, dict):
            continue
        at: Path = (*path, "templates", index)
        metadata = template.get("metadata")
        if metadata is None:
            yield Violation.at(
                at,
                CLAIM_NAMESPACE,
                "the volume claim template has no metadata",
                "add metadata: {name: ...}",
                field=field_of(path),
            )
        elif isinstance(metadata, dict) and metadata.get("namespace"):
            yield Violation.at(
                (*at, "metadata", "namespace"),
                CLAIM_NAMESPACE,
                f"the volume claim template has namespace {_quoted(metadata['namespace'])}",
                "remove the namespace: the claim is made beside the JobSet",
                field=field_of(path),
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

    return "begins with a digit" if name[:1].isdigit() else fault(name, LABEL, LONGEST_LABEL)


def _example(name: str) -> str:
    from trainc.kubernetes.misnamed import example

    return example(name, letter_first=True)
