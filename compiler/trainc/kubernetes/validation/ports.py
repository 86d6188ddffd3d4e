"""The ports of containers, and the host ports that they use on their node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation.combinators import PodViolations, called, field_of, integer_between, one_of
from trainc.kubernetes.violations import DUPLICATE_ITEM, INVALID_NAME, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOST_PORT_DIFFERS: Final = Declaration("host-port-differs", ("job",))
HOST_PORT_TAKEN: Final = Declaration("host-port-taken", ("job",))
_number: Final = integer_between(1, 65535)
_protocol: Final = one_of("TCP", "UDP", "SCTP")


def ports(violations: PodViolations, at: At, ports: list[Tree]) -> None:
    """Check the ports of one container."""
    named: dict[str, At] = {}
    for index, port in enumerate(ports):
        here = (at, index)
        name = port.get("name")
        if name and name in named:
            _same_name(violations, (here, "name"), name, named[name])
        elif name and is_port_name(violations, (here, "name"), name):
            named[name] = (here, "name")
        if port.get("containerPort"):
            _number(violations, (here, "containerPort"), port["containerPort"])
        else:
            violations.report_missing((here, "containerPort"), "set the number that the container listens on")
        if port.get("hostPort"):
            _number(violations, (here, "hostPort"), port["hostPort"])
        if "protocol" in port:
            _protocol(violations, (here, "protocol"), port["protocol"])


def is_port_name(violations: PodViolations, at: At, name: str) -> bool:
    """Return whether a text is a valid port name, and report it if not."""
    from trainc.kubernetes import names

    reasons = names.port_name_errors(name)
    if reasons:
        _bad_name(violations, at, name)
    return not reasons


def number_or_name(violations: PodViolations, at: At, port: int | str) -> None:
    """Check the port of a probe or a hook. A name need not be the name of a container port."""
    if isinstance(port, int):
        _number(violations, at, port)
    else:
        is_port_name(violations, at, port)


def on_the_host(violations: PodViolations, at: At, pod: Tree) -> None:
    """Check the host ports of a pod, whose spec is at `at`.

    Init containers run one after another, so ports conflict only within one init container. The API server's errors use
    index 0 for every init container.
    """
    reserved: dict[tuple[str, str, int], At] = {}
    for index, container in enumerate(pod.get("containers") or ()):
        for place, port in enumerate(container.get("ports") or ()):
            if "hostPort" in port:
                here = ((((at, "containers"), index), "ports"), place)
                _reserve(violations, here, port, reserved)
                if pod.get("hostNetwork") and port["hostPort"] != port.get("containerPort", 0):
                    _differing_number(violations, here, port, (at, "hostNetwork"))
    for index, container in enumerate(pod.get("initContainers") or ()):
        reserved = {}
        for place, port in enumerate(container.get("ports") or ()):
            if "hostPort" in port:
                here, first = (((((at, "initContainers"), i), "ports"), place) for i in (index, 0))
                _reserve(violations, here, port, reserved, field=field_of((first, "hostPort")))


def _reserve(
    violations: PodViolations, at: At, port: Tree, reserved: dict[tuple[str, str, int], At], *, field: str = ""
) -> None:
    protocol, address, number = port.get("protocol", "TCP"), port.get("hostIP", ""), port["hostPort"]
    first = reserved.setdefault((protocol, address, number), at)
    if first is at:
        return
    on = f" at {address}" if address else ""
    violations.report(
        HOST_PORT_TAKEN,
        (at, "hostPort"),
        f"two ports of the pod use port {number} ({protocol}) of the node{on}",
        "change or remove one hostPort; pods reach each other without it",
        field=field,
        related=(("the first port", (first, "hostPort")),),
    )


def _differing_number(violations: PodViolations, at: At, port: Tree, network: At) -> None:
    inside = port.get("containerPort", 0)
    violations.report(
        HOST_PORT_DIFFERS,
        (at, "hostPort"),
        f"hostPort {port['hostPort']} must equal containerPort {inside} on the host network",
        "remove hostPort, or make it equal to containerPort",
        related=(("containerPort", (at, "containerPort")), ("hostNetwork", network)),
    )


def _same_name(violations: PodViolations, at: At, name: str, first: At) -> None:
    violations.report(
        DUPLICATE_ITEM,
        at,
        f'two ports of the container are named "{name}"',
        "rename one of them",
        related=(("the first one", first),),
    )


def _bad_name(violations: PodViolations, at: At, name: str) -> None:
    from trainc.kubernetes import names

    help = "use at most 15 lowercase letters, digits and single dashes between them, with at least one letter"
    if name.isascii() and name.isdigit():
        why = "is a number"
        if at is not None and at[1] != "name":
            help = f"remove the quotes: {name}"
    elif "--" in name:
        why = "has two dashes in a row"
    elif len(name) <= 15 and not any("a" <= character <= "z" for character in name):
        why = "contains no lowercase letter"
    else:
        why = names.fault(name, names.LABEL, 15)
    violations.report(INVALID_NAME, at, f"{called(at)} is not a valid port name: {shown(name)} {why}", help)
