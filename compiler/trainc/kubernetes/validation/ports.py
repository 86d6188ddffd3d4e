"""The ports of containers, and the ones that they take of their node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, between, field_of, one_of
from trainc.kubernetes.violations import DUPLICATE_ITEM, INVALID_NAME

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOST_PORT_DIFFERS: Final = Declaration(
    "host-port-differs", ("job",), "A port of a pod on the host's network has another number on the host"
)
HOST_PORT_TAKEN: Final = Declaration("host-port-taken", ("job",), "Two ports of a pod want the same port of its node")
_number: Final = between(1, 65535)
_protocol: Final = one_of("TCP", "UDP", "SCTP")


def ports(found: Findings, at: At, ports: list[Tree]) -> None:
    """The ports of one container."""
    named: dict[str, At] = {}
    for index, port in enumerate(ports):
        here = (at, index)
        name = port.get("name")
        if name and name in named:
            _same_name(found, (here, "name"), name, named[name])
        elif name and is_port_name(found, (here, "name"), name):
            named[name] = (here, "name")
        if port.get("containerPort"):
            _number(found, (here, "containerPort"), port["containerPort"])
        else:
            from trainc.kubernetes.validation import complaints

            complaints.missing(found, (here, "containerPort"), "write the number at which the container listens")
        if port.get("hostPort"):
            _number(found, (here, "hostPort"), port["hostPort"])
        if "protocol" in port:
            _protocol(found, (here, "protocol"), port["protocol"])


def is_port_name(found: Findings, at: At, name: str) -> bool:
    """Whether a text can be the name of a port; complains if not."""
    from trainc.kubernetes import names

    reasons = names.is_port_name(name)
    if reasons:
        _bad_name(found, at, name)
    return not reasons


def number_or_name(found: Findings, at: At, port: int | str) -> None:
    """The port of a probe or a hook; that a container has one of this name is not asked for."""
    if isinstance(port, int):
        _number(found, at, port)
    else:
        is_port_name(found, at, port)


def on_the_host(found: Findings, at: At, pod: Tree) -> None:
    """The ports that the containers of a pod, whose spec is at `at`, take of their node.

    Init containers run one after another: only the ports of a single one can be in each other's way. The cluster says
    of any that it is the first.
    """
    taken: dict[tuple[str, str, int], At] = {}
    for index, container in enumerate(pod.get("containers") or ()):
        for place, port in enumerate(container.get("ports") or ()):
            if "hostPort" in port:
                here = ((((at, "containers"), index), "ports"), place)
                _take(found, here, port, taken)
                if pod.get("hostNetwork") and port["hostPort"] != port.get("containerPort", 0):
                    _another_number(found, here, port, (at, "hostNetwork"))
    for index, container in enumerate(pod.get("initContainers") or ()):
        taken = {}
        for place, port in enumerate(container.get("ports") or ()):
            if "hostPort" in port:
                here, first = (((((at, "initContainers"), i), "ports"), place) for i in (index, 0))
                _take(found, here, port, taken, field=field_of((first, "hostPort")))


def _take(found: Findings, at: At, port: Tree, taken: dict[tuple[str, str, int], At], *, field: str = "") -> None:
    protocol, address, number = port.get("protocol", "TCP"), port.get("hostIP", ""), port["hostPort"]
    first = taken.setdefault((protocol, address, number), at)
    if first is at:
        return
    on = f" at {address}" if address else ""
    found.complain(
        HOST_PORT_TAKEN,
        (at, "hostPort"),
        f"two ports of the pod want port {number} ({protocol}) of the node{on}",
        "give one of them another hostPort, or none: pods reach each other without",
        field=field,
        related=(("the first one", (first, "hostPort")),),
    )


def _another_number(found: Findings, at: At, port: Tree, network: At) -> None:
    inside = port.get("containerPort", 0)
    found.complain(
        HOST_PORT_DIFFERS,
        (at, "hostPort"),
        f"hostPort is {port['hostPort']} and containerPort {inside}, and on the host's network they are the same",
        "remove hostPort, or write the number of containerPort",
        related=(("containerPort", (at, "containerPort")), ("the host's network", network)),
    )


def _same_name(found: Findings, at: At, name: str, first: At) -> None:
    found.complain(
        DUPLICATE_ITEM,
        at,
        f'two ports of the container are called "{name}"',
        "give one of them another name",
        related=(("the first one", first),),
    )


def _bad_name(found: Findings, at: At, name: str) -> None:
    from trainc.kubernetes import misnamed
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation import complaints

    help = "use at most 15 lower-case letters, digits and single dashes between them, a letter among them"
    if name.isascii() and name.isdigit():
        why = "is a number"
        if at is not None and at[1] != "name":
            help = f"write the number without quotes: {name}"
    elif "--" in name:
        why = "has two dashes in a row"
    elif len(name) <= 15 and not any("a" <= character <= "z" for character in name):
        why = "has no lower-case letter in it"
    else:
        why = misnamed.fault(name, misnamed.LABEL, 15)
    found.complain(INVALID_NAME, at, f"{complaints.called(at)} is {shown(name)}, which {why}", help)
