"""The API server's rules for the pod of a Job's template: its own fields, and the order in which its parts are checked.

Volumes come first: mounts, devices and variables refer to them. `only_pod` has the rules that the API server applies to
a Pod, but not to a template: it adds up the ports and resources of the containers, with their defaults. The Job
controller sets the pod's name, host name and index, so they are always valid.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation import metadata
from trainc.kubernetes.validation.combinators import (
    SPACES,
    FieldRule,
    PodViolations,
    each_item,
    every_container,
    field_of,
    fields,
    imported_later,
    integer_between,
    label,
    one_of,
    qualified_name,
    subdomain,
)
from trainc.kubernetes.validation.container import containers, ephemeral_containers
from trainc.kubernetes.violations import shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

RESTART_POLICY: Final = Declaration("restart-policy", ("job",))
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
GATED_NODE: Final = Declaration("gated-node", ("job",))
PADDED_IMAGE: Final = Declaration("padded-image", ("job",), fix="safe")
POD_REQUESTS: Final = Declaration("pod-requests", ("job",))


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
    "affinity": imported_later("scheduling", "affinity"),
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
    "resourceClaims": imported_later("podresources", "declared_claims"),
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
    containers(violations, spec, pod)
    if pod.get("ephemeralContainers"):
        ephemeral_containers(violations, spec, pod)
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


def only_pod(violations: PodViolations, at: At, pod: Tree) -> None:
    """Check a whole Pod."""
    spec = (at, "spec")
    for place, container in every_container(spec, violations.pod):
        image = container.get("image", "")
        if image.strip(SPACES) != image:
            _padded(violations, (place, "image"), image)
    if violations.pod.get("nodeName") and violations.pod.get("schedulingGates"):
        message = f"nodeName {violations.pod['nodeName']} bypasses the scheduler, but the pod has scheduling gates"
        related = (("the scheduling gates", (spec, "schedulingGates")),)
        violations.report(
            GATED_NODE, (spec, "nodeName"), message, "remove nodeName or schedulingGates", related=related
        )
    if violations.pod.get("hostNetwork"):
        _host_ports(violations, spec)
    if violations.pod.get("resources"):
        _resources(violations, spec)


def _padded(violations: PodViolations, at: At, image: str) -> None:
    name = image.strip(SPACES)
    message = f"image {shown(image)} has whitespace around it" if name else "image contains only whitespace"
    from trainc.base.fixes import setting

    help = setting(path_of(at), name, f"use {name}", applicability="safe") if name else "set an image name"
    violations.report(PADDED_IMAGE, at, message, help)


def _host_ports(violations: PodViolations, spec: At) -> None:
    """Report host ports that two containers of a pod on the host network share: every port is a port of the host.

    Init containers run one after another, so each is checked separately. The API server's errors use index 0 for every
    init container.
    """
    reserved: dict[tuple[str, str, int], At] = {}
    for index, container in enumerate(violations.pod.get("containers") or ()):
        _reserve(violations, ((spec, "containers"), index), container, reserved, "")
    for index, container in enumerate(violations.pod.get("initContainers") or ()):
        at = (spec, "initContainers")
        _reserve(violations, (at, index), container, {}, f"{field_of(at)}[0]")


def _reserve(
    violations: PodViolations, at: At, container: Tree, reserved: dict[tuple[str, str, int], At], field: str
) -> None:
    for index, port in enumerate(container.get("ports") or ()):
        number = port.get("hostPort") or port.get("containerPort", 0)
        key = (port.get("protocol") or "TCP", port.get("hostIP") or "", number)
        place = ((at, "ports"), index)
        first = reserved.setdefault(key, place)
        if first is not place:
            from trainc.kubernetes.validation.ports import HOST_PORT_TAKEN

            message = f"port {number} is used twice, but with hostNetwork every port is a port of the host"
            violations.report(
                HOST_PORT_TAKEN, (place, "containerPort"), message,
                "change one of the ports, or remove hostNetwork",
                field=f"{field or field_of(at)}.ports[{index}].hostPort", related=(("the first port", first),),
            )  # fmt: skip


def _resources(violations: PodViolations, spec: At) -> None:
    """Check the pod's own resources: a container's limit counts as its request if it sets no request."""
    from trainc.kubernetes import pod_resources

    pod = pod_resources.defaulted(violations.pod)
    container_requests = pod_resources.requests({kind: pod[kind] for kind in pod_resources.CONTAINERS if kind in pod})
    pod_requests, pod_limits = (pod_resources.amounts(pod["resources"].get(kind)) for kind in ("requests", "limits"))
    at = ((spec, "resources"), "requests")
    for name, amount in pod_requests.items():
        total = container_requests.get(name)
        sums = f"the containers request {total} of {name} in total, counting limits as defaults for missing requests,"
        if total is not None and total > amount:
            message = f"{sums} but the pod requests {amount}"
            violations.report(
                POD_REQUESTS, (at, name), message, f"raise the pod's request to {total}, or lower the limits",
                field=f"{field_of(at)}[{name}]",
            )  # fmt: skip
        if name in pod_limits and amount > pod_limits[name]:
            message = f"{sums} but the pod's limit is {pod_limits[name]}"
            related = (("the pod's limit", (((spec, "resources"), "limits"), name)),)
            help = f"raise the pod's limit to {amount}, or lower the containers' requests"
            violations.report(POD_REQUESTS, at, message, help, related=related)
