"""The CRDs' own rules on creation (x-kubernetes-validations), one function each.

Reads    an object as its schema admitted it, faults included. A rule ignores values of another type than it expects.
Returns  violations. The API server evaluates its rules only after the schema and the metadata checks pass. trainc
         always evaluates them, and skips only the fields that already have a violation.
Source   the CRDs of kubeflow/trainer v2.3.0 and jobset v0.12.0. Rules that use oldSelf apply to updates.

A digest ties each rule to the expression that it implements, so that a test fails if a schema has an expression that
trainc does not implement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.kinds import EACH
from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import PROCESSES_FIELD, TrainJobForm
from trainc.kubernetes.names import LONGEST_LABEL
from trainc.kubernetes.trees import Path, Tree, values_at
from trainc.kubernetes.violations import Violation, field_of, listed, shown

if TYPE_CHECKING:
    from trainc.base.releases import TrainerRelease

CLAIM_NAMESPACE: Final = Declaration("claim-namespace", ("schema", "jobset-schema"), fix="unsafe")
MINIMUM_COUNT: Final = Declaration("minimum-count", ("schema",))
FLUX_PROCESSES: Final = Declaration("flux-processes", ("schema",))
MANAGED_BY: Final = Declaration("managed-by", ("schema",))
NODE_CONTAINER_INJECTED: Final = Declaration("node-container-injected", ("schema",), fix="unsafe")
ONE_ML_POLICY: Final = Declaration("one-ml-policy", ("schema",))
STARTUP_POLICY_WITH_DEPENDS_ON: Final = Declaration("startup-policy-with-depends-on", ("schema", "jobset-schema"))
STORAGE_URI: Final = Declaration("storage-uri", ("schema",))
TRAINJOB_NAME: Final = Declaration("trainjob-name", ("schema",))

MANAGERS: Final = ("trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue")

_URI: Final = r"[A-Za-z][A-Za-z0-9+.-]*://.+\Z"
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")

CelCheck = Callable[[Any, Path], Iterator[Violation]]


class CelRule(NamedTuple):
    """One rule of a schema: its path, the digests of its texts in the releases, and the function that implements it."""

    at: tuple[str, ...]
    digests: frozenset[str]
    check: CelCheck
    optional: bool = False
    """Whether only the releases have it whose `rules` contain the function's name."""


def _rule(at: tuple[str, ...], check: CelCheck, *digests: str) -> CelRule:
    """Return a rule of all releases whose schema has the field."""
    return CelRule(at, frozenset(digests), check)


def _rule_of_releases(at: tuple[str, ...], check: CelCheck, *digests: str) -> CelRule:
    """Return a rule of some releases. Without a digest, it is known from release notes."""
    return CelRule(at, frozenset(digests), check, optional=True)


def trainjob_name(job: Any, path: Path) -> Iterator[Violation]:
    """Require a letter first, then letters, digits and dashes, without dots: the name becomes part of host names."""
    name = _name(job)
    if name and not _NAME.match(name):
        yield Violation.at(
            (*path, "metadata", "name"),
            TRAINJOB_NAME,
            f"{shown(name)} is not a valid TrainJob name: it {_name_help(name)}",
            f"use lowercase letters, digits and `-`, and start with a letter{_example(name)}",
        )


def trainjob_name_length(job: Any, path: Path) -> Iterator[Violation]:
    """Require at most 63 characters, as in any DNS label."""
    name = _name(job)
    if len(name) > LONGEST_LABEL:
        yield Violation.at(
            (*path, "metadata", "name"),
            TRAINJOB_NAME,
            f"the TrainJob name has {len(name)} characters; the limit is {LONGEST_LABEL}",
            "shorten it, and leave room for the suffixes of job and pod names",
        )


def storage_uri(uri: Any, path: Path) -> Iterator[Violation]:
    """Require an empty string or scheme://something."""
    if isinstance(uri, str) and uri and not re.match(_URI, uri):
        yield Violation.at(
            path,
            STORAGE_URI,
            # The text before an @ may be a password.
            f"storageUri {'' if '@' in uri else shown(uri) + ' '}is not a valid URI",
            "use scheme://path, such as hf://org/name or s3://bucket/path",
        )


def managed_by(manager: Any, path: Path) -> Iterator[Violation]:
    """Require one of the two controllers that manage TrainJobs."""
    if isinstance(manager, str) and manager not in MANAGERS:
        yield Violation.at(
            path,
            MANAGED_BY,
            f"managedBy {shown(manager)} is not a TrainJob controller",
            f"remove it, or use {MANAGERS[1]} for a job that MultiKueue runs in another cluster",
        )


def one_ml_policy(policy: Any, path: Path) -> Iterator[Violation]:
    """Allow one framework: one that Trainer's rule lists, or one of the extensions."""
    found = [name for name in policy if name != "numNodes"] if isinstance(policy, dict) else []
    if len(found) > 1:
        message = f"mlPolicy must have only one framework policy, not {listed(found)}"
        yield Violation.at(path, ONE_ML_POLICY, message, "keep one of them")


def nodes_of_elastic(policy: Any, path: Path) -> Iterator[Violation]:
    """Reject numNodes beside torch.elasticPolicy."""
    torch = policy.get("torch") if isinstance(policy, dict) else None
    if isinstance(torch, dict) and "elasticPolicy" in torch and "numNodes" in policy:
        message = "mlPolicy must not have both numNodes and torch.elasticPolicy"
        yield Violation.at(path, ONE_ML_POLICY, message, "remove numNodes, or set it in the TrainJob")


def nodes_below_zero(count: Any, path: Path) -> Iterator[Violation]:
    """Require no negative number of nodes."""
    if type(count) is int and count < 0:
        yield Violation.at(path, MINIMUM_COUNT, f"numNodes must be at least 0, not {count}", "set the number of nodes")


def processes_below_one(count: Any, path: Path) -> Iterator[Violation]:
    """Require at least one process per node."""
    if type(count) is int and count < 1:
        message = f"{PROCESSES_FIELD} must be at least 1, not {count}"
        yield Violation.at(path, MINIMUM_COUNT, message, "set 1 or more, or remove the field")


def flux_processes(count: Any, path: Path) -> Iterator[Violation]:
    """Require at least one process per node."""
    if type(count) is int and count < 1:
        yield Violation.at(
            path, FLUX_PROCESSES, f"{PROCESSES_FIELD} must be at least 1, not {count}", "use 1, or remove the field"
        )


def node_container_injected(names: Any, path: Path) -> Iterator[Violation]:
    """Reject the container `node` as a target: it gets the variables in any case."""
    if isinstance(names, list) and "node" in names:
        from trainc.base.fixes import removal

        there = (*path, names.index("node"))
        yield Violation.at(
            there,
            NODE_CONTAINER_INJECTED,
            "containerNames must not list node, which always gets the variables",
            removal(there, "remove node from the list") if len(names) > 1 else "remove the whole target",
            field=field_of(path),
        )


def startup_policy_with_depends_on(spec: Any, path: Path) -> Iterator[Violation]:
    """Allow either a startup order or dependencies between the replicated jobs, not both."""
    policy = spec.get("startupPolicy") if isinstance(spec, dict) else None
    if not isinstance(policy, dict) or policy.get("startupPolicyOrder") != "InOrder":
        return
    jobs = spec.get("replicatedJobs")
    if jobs is None:
        # CEL raises an error when the list is missing, which counts as a failed rule.
        yield Violation.at(
            path,
            STARTUP_POLICY_WITH_DEPENDS_ON,
            "startupPolicyOrder is InOrder, but there are no replicatedJobs",
            "add replicatedJobs, or remove startupPolicy",
        )
        return
    for index, job in enumerate(jobs if isinstance(jobs, list) else ()):
        if isinstance(job, dict) and "dependsOn" in job:
            yield Violation.at(
                (*path, "replicatedJobs", index, "dependsOn"),
                STARTUP_POLICY_WITH_DEPENDS_ON,
                f'replicated job "{job.get("name")}" has dependsOn, but startupPolicyOrder is InOrder',
                "remove startupPolicy, or remove dependsOn",
                field=field_of(path),
            )


def claim_namespace(policy: Any, path: Path) -> Iterator[Violation]:
    """Reject a namespace: a claim is in the JobSet's namespace.

    The rule reads `templates` and their `metadata` without a test for them, so it also fails if they are missing.
    """
    if not isinstance(policy, dict):
        return
    templates = policy.get("templates")
    if templates is None:
        yield Violation.at(path, CLAIM_NAMESPACE, "the volume claim policy sets no templates", "add templates")
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
                "the volume claim template sets no metadata",
                "add metadata: {name: ...}",
                field=field_of(path),
            )
        elif isinstance(metadata, dict) and metadata.get("namespace"):
            from trainc.base.fixes import removal

            there = (*at, "metadata", "namespace")
            yield Violation.at(
                there,
                CLAIM_NAMESPACE,
                f"the volume claim template must not set namespace {shown(metadata['namespace'])}",
                removal(there, "remove the namespace: the claim is created in the JobSet's namespace"),
                field=field_of(path),
            )


def _runtime() -> tuple[CelRule, ...]:
    policy = ("spec", "mlPolicy")
    names = ("torch", "envInjection", "targets", EACH, "containerNames")
    return (
        _rule(policy, one_ml_policy, "25356e262c57", "b7d6884678ef"),
        _rule_of_releases(policy, nodes_of_elastic, "4b3f685dcb91"),
        _rule_of_releases((*policy, "numNodes"), nodes_below_zero),
        _rule_of_releases((*policy, "mpi", PROCESSES_FIELD), processes_below_one),
        _rule((*policy, "flux", PROCESSES_FIELD), flux_processes, "db79007bd8f7"),
        _rule_of_releases((*policy, *names), node_container_injected, "94d855f7f547"),
        *_jobset("spec", "template", "spec"),
    )


def _jobset(*spec: str) -> tuple[CelRule, ...]:
    return (
        _rule(spec, startup_policy_with_depends_on, "1d1e35e4455e"),
        _rule((*spec, "volumeClaimPolicies", EACH), claim_namespace, "e921f63d90d0"),
    )


RULES: Final[dict[str, tuple[CelRule, ...]]] = {
    "TrainJob": (
        _rule((), trainjob_name, "43ba58b4d868"),
        _rule((), trainjob_name_length, "d7c81dd73daa"),
        _rule_of_releases(("spec", "initializer", "dataset", "storageUri"), storage_uri, "8f8719b24ce8"),
        _rule_of_releases(("spec", "initializer", "model", "storageUri"), storage_uri, "8f8719b24ce8"),
        _rule(("spec", "managedBy"), managed_by, "fd68d6fb21f5"),
        _rule_of_releases(("spec", "trainer", "numNodes"), nodes_below_zero),
        _rule_of_releases(TrainJobForm.PROCESSES, processes_below_one),
    ),
    "TrainingRuntime": _runtime(),
    "ClusterTrainingRuntime": _runtime(),
    "JobSet": _jobset("spec"),
}
"""Each kind's rules, in the order of its schema."""


def broken_rules(
    kind: str, value: Tree, release: TrainerRelease, reported: Collection[Violation] = ()
) -> Iterator[Violation]:
    """Return the violations of a kind's rules in an admitted object, except at fields that are already `reported`."""
    return violations_of(RULES[kind], value, release, reported)


def violations_of(
    rules: Iterable[CelRule], value: Tree, release: TrainerRelease, reported: Collection[Violation] = ()
) -> Iterator[Violation]:
    """Yield the violations of some rules in an admitted object, except at fields that are already `reported`."""
    known = {violation.path for violation in reported}
    for rule in rules:
        if rule.optional and rule.check.__name__ not in release.rules:
            continue
        for path, found in values_at(value, rule.at):
            for violation in rule.check(found, path):
                if violation.path not in known:
                    yield violation


def _name(job: Any) -> str:
    metadata = job.get("metadata") if isinstance(job, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _name_help(name: str) -> str:
    from trainc.kubernetes.names import LABEL, fault

    return "starts with a digit" if name[:1].isdigit() else fault(name, LABEL, LONGEST_LABEL)


def _example(name: str) -> str:
    from trainc.kubernetes.names import example

    return example(name, letter_first=True)
