"""What a Pod is refused for, and the template of a Job is not.

Reads    a pod template that is good as such.
Source   Kubernetes 1.36: the API server's defaults for Pods and its validation of them, and what the Job controller
         makes of a template. The pod's name, host name and index are the controller's, so nobody can get them wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import SPACES, every_container, field_of

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree
    from trainc.kubernetes.validation.findings import Findings

GATED_NODE: Final = Declaration("gated-node", ("job",), "A pod is put on a node, and waits for scheduling gates")
PADDED_IMAGE: Final = Declaration("padded-image", ("job",), "An image's name has blanks around it")
POD_REQUESTS: Final = Declaration(
    "pod-requests", ("job",), "Requests that are filled in from limits do not fit into those of the whole pod"
)


def pod(found: Findings, at: At, pod: Tree) -> None:
    """A whole Pod."""
    spec = (at, "spec")
    for place, container in every_container(spec, found.pod):
        image = container.get("image", "")
        if image.strip(SPACES) != image:
            _padded(found, (place, "image"), image)
    if found.pod.get("nodeName") and found.pod.get("schedulingGates"):
        message = f"nodeName puts the pod on node {found.pod['nodeName']}, and it has scheduling gates to wait for"
        related = (("the gates", (spec, "schedulingGates")),)
        found.complain(GATED_NODE, (spec, "nodeName"), message, "remove one of them", related=related)
    if found.pod.get("hostNetwork"):
        _host_ports(found, spec)
    if found.pod.get("resources"):
        _resources(found, spec)


def _padded(found: Findings, at: At, image: str) -> None:
    from trainc.kubernetes.structural.remedies import shown

    name = image.strip(SPACES)
    message = f"image is {shown(image)}, which has blanks around it" if name else "image has nothing but blanks"
    found.complain(PADDED_IMAGE, at, message, f"write {name}" if name else "name an image")


def _host_ports(found: Findings, spec: At) -> None:
    """With the host's network each port is one of the host, so no two containers may have the same one.

    Init containers run one after another, and the cluster takes each of them for the first.
    """
    taken: dict[tuple[str, str, int], At] = {}
    for index, container in enumerate(found.pod.get("containers") or ()):
        _take(found, ((spec, "containers"), index), container, taken, "")
    for index, container in enumerate(found.pod.get("initContainers") or ()):
        at = (spec, "initContainers")
        _take(found, (at, index), container, {}, f"{field_of(at)}[0]")


def _take(found: Findings, at: At, container: Tree, taken: dict[tuple[str, str, int], At], field: str) -> None:
    for index, port in enumerate(container.get("ports") or ()):
        number = port.get("hostPort") or port.get("containerPort", 0)
        key = (port.get("protocol") or "TCP", port.get("hostIP") or "", number)
        place = ((at, "ports"), index)
        first = taken.setdefault(key, place)
        if first is not place:
            from trainc.kubernetes.validation.ports import HOST_PORT_TAKEN

            message = f"port {number} is asked for twice, and with hostNetwork it is one of the host"
            found.complain(
                HOST_PORT_TAKEN, (place, "containerPort"), message,
                "give one of them another port, or remove hostNetwork",
                field=f"{field or field_of(at)}.ports[{index}].hostPort", related=(("the first one", first),),
            )  # fmt: skip


def _resources(found: Findings, spec: At) -> None:
    """What the pod as a whole asks for: a container that only has limits requests as much, which counts here."""
    from trainc.kubernetes import pods

    pod = pods.defaulted(found.pod)
    of_containers = pods.requests({kind: pod[kind] for kind in pods.CONTAINERS if kind in pod})
    own, most = (pods.amounts(pod["resources"].get(kind)) for kind in ("requests", "limits"))
    at = ((spec, "resources"), "requests")
    for name, amount in own.items():
        together = of_containers.get(name)
        sums = f"the containers, whose limits count as requests where they have none, request {together} of {name}"
        if together is not None and together > amount:
            message = f"{sums}, and the pod {amount}"
            found.complain(
                POD_REQUESTS, (at, name), message, f"raise the pod's request to {together}, or lower the limits",
                field=f"{field_of(at)}[{name}]",
            )  # fmt: skip
        if name in most and amount > most[name]:
            message = f"{sums}, and the pod's limit is {most[name]}"
            related = (("the pod's limit", (((spec, "resources"), "limits"), name)),)
            way_out = f"raise the pod's limit to {amount}, or give the containers smaller requests"
            found.complain(POD_REQUESTS, at, message, way_out, related=related)
