"""The API server's rules for the pod of a Job's template: its own fields, and the order in which its parts are checked.

Volumes come first: mounts, devices and variables refer to them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation import container, metadata
from trainc.kubernetes.validation.combinators import (
    FieldRule,
    PodViolations,
    each_item,
    fields,
    imported_later,
    integer_between,
    label,
    one_of,
    qualified_name,
    subdomain,
)

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

RESTART_POLICY: Final = Declaration("restart-policy", ("job",), "Restart policy Always in Job")

DNS_POLICIES: Final = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
RESTART_POLICIES: Final = ("OnFailure", "Never")
"""The policies that a Job allows: a pod that always restarts never ends."""

_READ_KEYS: Final = frozenset(
    {
        "controller.kubernetes.io/pod-deletion-cost",
        "kubernetes.io/config.mirror",
        "scheduler.alpha.kubernetes.io/tolerations",
        "seccomp.security.alpha.kubernetes.io/pod",
    }
)
_READ_PREFIXES: Final = ("container.apparmor.security.", "container.seccomp.security.")
_restart: Final = one_of(*RESTART_POLICIES)
_dns: Final = one_of(*DNS_POLICIES)
_no_dns: Final = imported_later("network", "dns_policy_none")


def _restart_policy(violations: PodViolations, at: At, value: str) -> None:
    if value == "Always":
        message = "restartPolicy must be OnFailure or Never in a Job, not Always"
        help = "use Never, so that each failure counts against the Job's backoffLimit, or OnFailure"
        violations.report(RESTART_POLICY, at, message, help)
    else:
        _restart(violations, at, value)


def _dns_policy(violations: PodViolations, at: At, value: str) -> None:
    _dns(violations, at, value)
    if value == "None":
        _no_dns(violations, at, value)


FIELDS: Final[dict[str, FieldRule]] = {
    "activeDeadlineSeconds": integer_between(1, 2**31 - 1),
    "affinity": imported_later("affinity", "affinity"),
    "dnsConfig": imported_later("network", "dns_config"),
    "dnsPolicy": _dns_policy,
    "hostAliases": imported_later("network", "host_aliases"),
    "hostUsers": imported_later("network", "host_users"),
    "hostname": label,
    "hostnameOverride": imported_later("network", "hostname_override"),
    "nodeName": subdomain,
    "nodeSelector": imported_later("scheduling", "node_selector"),
    "os": imported_later("windows", "system"),
    "overhead": imported_later("podresources", "overhead"),
    "preemptionPolicy": one_of("PreemptLowerPriority", "Never"),
    "priorityClassName": subdomain,
    "readinessGates": each_item(fields({"conditionType": qualified_name})),
    "resourceClaims": imported_later("device_claims", "declared"),
    "resources": imported_later("podresources", "pod_level_resources"),
    "restartPolicy": _restart_policy,
    "runtimeClassName": subdomain,
    "schedulingGates": imported_later("scheduling", "scheduling_gates"),
    "securityContext": imported_later("security", "pod_security"),
    "serviceAccountName": subdomain,
    "shareProcessNamespace": imported_later("network", "share_process_namespace"),
    "subdomain": label,
    "tolerations": imported_later("scheduling", "tolerations"),
    "topologySpreadConstraints": imported_later("scheduling", "spread_constraints"),
}
"""The fields that can be checked independently; `volumes`, `containers` and `initContainers` are checked elsewhere."""
_fields: Final = fields(FIELDS)


def template(violations: PodViolations, at: At, template: Tree) -> None:
    """Check a pod template: its metadata and its spec."""
    spec = (at, "spec")
    pod = violations.pod
    if violations.metadata:
        _metadata(violations, at, violations.metadata)
    if "volumes" in pod:
        from trainc.kubernetes.validation import volumes

        volumes.volumes(violations, (spec, "volumes"), pod["volumes"])
    if violations.claims:
        from trainc.kubernetes.validation import volumes

        volumes.added(violations, (spec, "volumes"), violations.claims)
    container.containers(violations, spec, pod)
    if pod.get("ephemeralContainers"):
        from trainc.kubernetes.validation import ephemeral

        ephemeral.ephemeral_containers(violations, spec, pod)
    _fields(violations, spec, pod)
    if "serviceAccount" in pod and "serviceAccountName" not in pod:
        _old_service_account(violations, (spec, "serviceAccount"), pod["serviceAccount"])
    if _has_windows_options(pod):
        from trainc.kubernetes.validation import windows

        windows.host_processes(violations, spec)


@lru_cache(maxsize=1024)
def _is_read(key: str) -> bool:
    """Return whether Kubernetes reads the annotation."""
    return key in _READ_KEYS or key.startswith(_READ_PREFIXES)


def _metadata(violations: PodViolations, at: At, template_metadata: Tree) -> None:
    """Check the metadata of the pod template at `at`; the API server's errors omit `metadata`."""
    for key, rule in (("labels", metadata.labels), ("annotations", metadata.annotation_keys)):
        if values := template_metadata.get(key):
            rule(violations, ((at, "metadata"), key), values, field=f"spec.template.{key}")
    if any(map(_is_read, template_metadata.get("annotations") or ())):
        from trainc.kubernetes.validation import podannotations

        podannotations.template_annotations(violations, at)


def _old_service_account(violations: PodViolations, at: At, value: str) -> None:
    """Check the deprecated name of serviceAccountName; the API server's errors use the new name."""
    from trainc.kubernetes import names

    if names.dns1123_subdomain_errors(value):
        from trainc.kubernetes.validation.combinators import field_of

        violations.bad_name(at, value, "subdomain", field=f"{field_of(at)}Name")


def _has_windows_options(pod: Tree) -> bool:
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        for container_spec in pod.get(kind, ()):
            if "windowsOptions" in container_spec.get("securityContext", ()):
                return True
    return "windowsOptions" in pod.get("securityContext", ())
