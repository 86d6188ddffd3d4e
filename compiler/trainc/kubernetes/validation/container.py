"""The containers of a pod: their names and images, and which fields each kind of container may have.

An init container with `restartPolicy: Always` is a sidecar, which keeps running and may have what others have. A
template cannot have ephemeral containers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, Rule, fields, label, late, one_of
from trainc.kubernetes.violations import DUPLICATE_ITEM

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

INIT_CONTAINER_FIELD: Final = Declaration("init-container-field", ("job",), "An init container has a probe or a hook")


def _resources(found: Findings, at: At, value: Tree) -> None:
    """A container's resources."""
    from trainc.kubernetes.validation.resources import faults

    limits, requests = value.get("limits") or {}, value.get("requests") or {}
    if wrong := faults(tuple(limits.items()), tuple(requests.items())):
        from trainc.kubernetes.validation import amounts

        amounts.complain(found, at, value, wrong)
    if "claims" in value:
        from trainc.kubernetes.validation import claims

        claims.used(found, (at, "claims"), value["claims"])


FIELDS: Final[dict[str, Rule]] = {
    "env": late("env", "env"),
    "envFrom": late("env", "env_from"),
    "imagePullPolicy": one_of("Always", "IfNotPresent", "Never"),
    "ports": late("ports", "ports"),
    "resizePolicy": late("restarts", "resize_policy"),
    "resources": _resources,
    "securityContext": late("security", "of_container"),
    "terminationMessagePolicy": one_of("File", "FallbackToLogsOnError"),
}
"""The fields that a container of any kind can have, as far as they can be looked at one by one."""
DROPPED: Final = {"stopSignal"}
"""Hooks with nothing but a stop signal, which is behind a gate, are dropped before anyone looks at them."""
_RESTARTED: Final[dict[str, Rule]] = {"restartPolicy": one_of("Always", "OnFailure", "Never")}
_RUNNING: Final[dict[str, Rule]] = {
    "lifecycle": late("probes", "lifecycle"),
    "livenessProbe": late("probes", "liveness"),
    "readinessProbe": late("probes", "readiness"),
    "startupProbe": late("probes", "startup"),
}


def _not_in_init(found: Findings, at: At, value: Tree) -> None:
    """A probe or a hook of an init container."""
    if value.keys() == DROPPED:
        return
    from trainc.kubernetes.validation import complaints

    found.complain(
        INIT_CONTAINER_FIELD,
        at,
        f"{complaints.called(at)} is for containers that keep running, and an init container ends",
        "remove it, or write restartPolicy: Always into the container, which makes it a sidecar",
    )


_fields: Final = fields(FIELDS)
_fields_of_running: Final = fields(FIELDS | _RESTARTED | _RUNNING)
_fields_of_init: Final = fields(
    FIELDS
    | _RESTARTED
    | dict.fromkeys(_RUNNING, _not_in_init)
    | {"resizePolicy": late("restarts", "resize_policy_of_init")}
)
_mounts: Final = late("mounts", "of_container")
_on_the_host: Final = late("ports", "on_the_host")
_restart_rules: Final = late("restarts", "rules")


def containers(found: Findings, at: At, pod: Tree) -> None:
    """All containers of a pod, whose spec is at `at`."""
    named: dict[str, At] = {}
    with_ports = False
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(pod.get(kind) or ()):
            here = ((at, kind), index)
            of_any_kind(found, here, container, named)
            running = kind == "containers" or container.get("restartPolicy") == "Always"
            (_fields_of_running if running else _fields_of_init)(found, here, container)
            if "restartPolicyRules" in container:
                _restart_rules(found, here, container)
            with_ports = with_ports or "ports" in container
    if with_ports:
        _on_the_host(found, at, pod)
    if not pod.get("containers"):
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "containers"), "add one: `- {name: node, image: ...}`")


def of_any_kind(found: Findings, at: At, container: Tree, named: dict[str, At]) -> None:
    """A container's name, image and mounts; `named` has the places of the names before, and gets this one."""
    name = container.get("name")
    if not name or not container.get("image"):
        _incomplete(found, at, container)
    if name:
        label(found, (at, "name"), name)
        if name in named:
            _same_name(found, (at, "name"), name, named[name])
        else:
            named[name] = (at, "name")
    if "volumeMounts" in container or "volumeDevices" in container:
        _mounts(found, at, container)


def one_by_one(found: Findings, at: At, container: Tree) -> None:
    """The fields that any kind of container can have."""
    _fields(found, at, container)


def _incomplete(found: Findings, at: At, container: Tree) -> None:
    from trainc.kubernetes.validation import complaints

    if not container.get("name"):
        complaints.missing(found, (at, "name"), "give the container a name, such as main")
    if not container.get("image"):
        complaints.missing(found, (at, "image"), "say which image the container runs, with its tag")


def _same_name(found: Findings, at: At, name: str, first: At) -> None:
    found.complain(
        DUPLICATE_ITEM,
        at,
        f'two containers of the pod are called "{name}"',
        "give one of them another name: containers and init containers share theirs",
        related=(("the first one", first),),
    )
