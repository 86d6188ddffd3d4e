"""Store: create the JobSet in the form in which the cluster stores it.

Reads    the JobSetSpec, the JobSet's labels and annotations, the other objects.
Returns  the plan with its objects, with the defaults of the CRDs and of JobSet's webhook, converted to Go types, so
         that another apply of the manifest changes nothing; or diagnostics of JobSet's schema.
Source   JobSet v0.12.0: its CRD, and the defaults of its webhook. The CRDs of the PodGroups (`schedulers`).
"""

from __future__ import annotations

from _thread import get_ident
from functools import lru_cache
from typing import TYPE_CHECKING

from trainc.base.kinds import JOBSET
from trainc.diagnostics import ObjectId
from trainc.kubernetes import objectmeta
from trainc.kubernetes.gotypes import stored
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import cleared_each_run
from trainc.pipeline.checks.cel import broken_rules

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan


def store(plan: Plan) -> Plan:
    """Create the JobSet of the plan."""
    whole = jobset(plan)
    admitted = load("JobSet", plan.release.jobset).admit(whole)
    violations = [*objectmeta.check(whole["metadata"], namespaced=True), *admitted.violations]
    violations += broken_rules("JobSet", admitted.value, plan.release, tuple(violations))
    if violations:
        return plan.refuse("jobset-schema", ObjectId.from_manifest(whole), violations)
    if plan.runtime.gang:
        from trainc.pipeline import schedulers

        plan = plan._replace(others=tuple(other.value for other in schedulers.admitted(plan)))
    whole_spec = with_defaults(admitted.value["spec"])
    spec = stored(whole_spec)
    if plan.job.is_jobset:
        spec = with_zero_replicas(spec, whole_spec)
    metadata = admitted.value["metadata"]  # without the unknown fields of patches
    return plan._replace(objects=(whole | {"metadata": metadata, "spec": spec}, *plan.others))


def with_zero_replicas(spec: Tree, written: Tree) -> Tree:
    """Return a spec with `replicas: 0`, which Go types drop and the API server keeps."""
    pairs = zip(spec.get("replicatedJobs") or (), written.get("replicatedJobs") or (), strict=True)
    jobs = [{"replicas": each["replicas"]} | job if each.get("replicas") == 0 else job for job, each in pairs]
    return spec | {"replicatedJobs": jobs} if jobs else spec


def jobset(plan: Plan) -> Tree:
    """Return the plan's JobSet before defaults are filled in."""
    metadata: Tree = {"name": plan.name}
    if plan.job.namespace:
        metadata["namespace"] = plan.job.namespace
    if plan.labels:
        metadata["labels"] = plan.labels
    if plan.annotations:
        metadata["annotations"] = plan.annotations
    if plan.metadata:
        metadata |= plan.metadata
    return {"apiVersion": JOBSET.versions[0], "kind": JOBSET.kind, "metadata": metadata, "spec": plan.spec}


def with_defaults(spec: Tree) -> Tree:
    """Return the spec with the defaults that JobSet's webhook sets on creation."""
    policies, network = _defaults(get_ident())
    given = spec.get("network")
    spec = policies | spec
    spec["network"] = network | given if given else network
    if jobs := spec.get("replicatedJobs"):
        spec["replicatedJobs"] = [job_defaults(job) for job in jobs]
    if rules := (spec.get("failurePolicy") or {}).get("rules"):
        named = [rule if rule.get("name") else rule | {"name": f"failurePolicyRule{i}"} for i, rule in enumerate(rules)]
        spec["failurePolicy"] = spec["failurePolicy"] | {"rules": named}
    if claims := spec.get("volumeClaimPolicies"):
        kept: Tree = {"retentionPolicy": {"whenDeleted": "Delete"}}
        spec["volumeClaimPolicies"] = [claim_defaults(kept | claim) for claim in claims]
    return spec


@lru_cache(maxsize=64)
def _defaults(thread: int) -> tuple[Tree, Tree]:
    """Return the default policies of a spec and its default network, which all JobSets of a run share."""
    return (
        {"successPolicy": {"operator": "All"}, "startupPolicy": {"startupPolicyOrder": "AnyOrder"}},
        {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    )


cleared_each_run(_defaults.cache_clear)


def claim_defaults(policy: Tree) -> Tree:
    """Return a volume claim policy with an empty status in each claim template.

    A webhook that sends the JobSet back as Go types write it, such as Kueue's, adds the empty status. The list is
    immutable, so that an apply without the status would be rejected.
    """
    templates = policy.get("templates")
    return policy | {"templates": [{"status": {}} | template for template in templates]} if templates else policy


def job_defaults(job: Tree) -> Tree:
    """Return a replicated job with the default completion mode, Indexed, and restart policy, OnFailure."""
    job_template = job["template"]
    job_spec = job_template["spec"]
    pod_template = job_spec["template"]
    pod = pod_template.get("spec") or {}
    if "completionMode" in job_spec and pod.get("restartPolicy"):
        return job
    if not pod.get("restartPolicy"):
        pod_template = pod_template | {"spec": pod | {"restartPolicy": "OnFailure"}}
    job_spec = {"completionMode": "Indexed"} | job_spec | {"template": pod_template}
    return job | {"template": job_template | {"spec": job_spec}}
