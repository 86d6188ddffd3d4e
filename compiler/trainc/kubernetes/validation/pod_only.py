"""Rules that the API server applies to a Pod, but not to a Job's pod template.

Reads    a pod template that is valid as a template.
Source   Kubernetes 1.36: the API server's defaults for Pods and its validation of them, and how the Job controller
         builds a Pod from a template. The controller sets the pod's name, host name and index, so they are always
         valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import SPACES, every_container, field_of
from trainc.kubernetes.violations import shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.combinators import PodViolations

GATED_NODE: Final = Declaration("gated-node", ("job",), "Node name combined with scheduling gates")
PADDED_IMAGE: Final = Declaration("padded-image", ("job",), "Whitespace around image name", fix="safe")
POD_REQUESTS: Final = Declaration(
    "pod-requests", ("job",), "Container requests, including defaults, exceed pod resources"
)


def pod(violations: PodViolations, at: At, pod: Tree) -> None:
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
