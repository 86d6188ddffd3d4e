"""The security contexts of a pod and of its containers.

Source   Kubernetes 1.36: the API server's validation of security contexts, with SELinux' mount option switched off.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import SPACES, Findings, Rule, between, each, field_of, fields, late, one_of
from trainc.kubernetes.violations import PATTERN, TOO_LONG

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

PRIVILEGE_ESCALATION: Final = Declaration(
    "privilege-escalation", ("job",), "A container both may and may not gain privileges"
)
SECURITY_PROFILE: Final = Declaration(
    "security-profile", ("job",), "A seccomp or AppArmor profile is incomplete, or what is said of it does not agree"
)

PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_MOST_OF_A_PATH: Final = 4095
_MOST_OF_A_SYSCTL: Final = 253
_SYSCTL: Final = re.compile(r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_IPC_SYSCTLS: Final = frozenset(
    f"kernel.{name}"
    for name in ("msg", "msgmax", "msgmnb", "msgmni", "sem", "shm", "shm_rmid_forced", "shmall", "shmmax", "shmmni")
)

_id: Final = between(0, 2**31 - 1)
_profile: Final = one_of(*PROFILES)


def seccomp(found: Findings, at: At, value: Tree) -> None:
    """A seccomp profile: what type it is, and for one of the node where its file is."""
    kind = value.get("type", "")
    if not kind:
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "type"), "write type: RuntimeDefault")
    else:
        _profile(found, (at, "type"), kind)
    if kind == "Localhost" and "localhostProfile" not in value:
        _no_profile(found, at)
    elif kind == "Localhost":
        local_path(found, (at, "localhostProfile"), value["localhostProfile"])
    elif "localhostProfile" in value:
        _superfluous_profile(found, at, kind)


def local_path(found: Findings, at: At, value: str, *, field: str = "") -> None:
    """The rule of a path below a folder of the node."""
    if value.startswith("/") or ".." in value.split("/"):
        from trainc.kubernetes.structural.remedies import shown
        from trainc.kubernetes.validation import complaints

        wrong = "begins with a slash" if value.startswith("/") else 'has a ".." in it'
        message = f"{complaints.called(at)} is {shown(value)}, which {wrong}"
        found.complain(PATTERN, at, message, "write the path below the node's folder of profiles", field=field)


def app_armor(found: Findings, at: At, value: Tree) -> None:
    """An AppArmor profile: what type it is, and for one of the node its name."""
    kind, name, place = value.get("type", ""), value.get("localhostProfile"), (at, "localhostProfile")
    if not kind:
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "type"), "write type: RuntimeDefault")
    elif kind not in PROFILES:
        _profile(found, (at, "type"), kind)
    elif kind != "Localhost":
        if name is not None:
            _superfluous_profile(found, at, kind)
    elif not name:
        _no_profile(found, at)
    elif name.strip(SPACES) != name:
        message = "localhostProfile has blanks around it"
        found.complain(PATTERN, place, message, "remove them")
    elif len(name.encode("utf-8", "surrogatepass")) > _MOST_OF_A_PATH:
        message = f"localhostProfile has {len(name)} characters, and may have {_MOST_OF_A_PATH}"
        found.complain(TOO_LONG, place, message, "give the profile a shorter name")


def _no_profile(found: Findings, at: At) -> None:
    message = "the type is Localhost, and there is no localhostProfile"
    found.complain(
        SECURITY_PROFILE, (at, "localhostProfile"), message,
        "add the profile's name on the node, or write type: RuntimeDefault", related=(("the type", (at, "type")),),
    )  # fmt: skip


def _superfluous_profile(found: Findings, at: At, kind: str) -> None:
    message = f"localhostProfile goes with the type Localhost alone, and the type is {kind or 'missing'}"
    found.complain(
        SECURITY_PROFILE, (at, "localhostProfile"), message,
        "write type: Localhost, or remove localhostProfile", related=(("the type", (at, "type")),) if kind else (),
    )  # fmt: skip


def sysctls(found: Findings, at: At, value: list[Tree]) -> None:
    """The kernel's parameters that the pod sets, which must be those of its own namespaces."""
    assert at is not None
    assert at[0] is not None
    spec = at[0][0]
    first: dict[str, int] = {}
    for index, sysctl in enumerate(value):
        place, name = ((at, index), "name"), sysctl.get("name", "")
        if not name:
            from trainc.kubernetes.validation import complaints

            complaints.missing(found, place)
        elif len(name) > _MOST_OF_A_SYSCTL or not _SYSCTL.fullmatch(name):
            from trainc.kubernetes.structural.remedies import shown

            message = f"the sysctl {shown(name)} has no valid name"
            found.complain(PATTERN, place, message, "write it as sysctl does: net.core.somaxconn")
        elif name in first:
            from trainc.kubernetes.validation import complaints

            complaints.twice(found, place, name, ((at, first[name]), "name"), "sysctls")
        if found.pod.get(shared := _namespace(name)):
            from trainc.kubernetes.validation.network import HOST_NAMESPACES

            message = f"the sysctl {name} is the host's, since the pod has {shared}"
            related = ((shared, (spec, shared)),)
            found.complain(HOST_NAMESPACES, place, message, f"remove it, or remove {shared}", related=related)
        first.setdefault(name, index)


def _namespace(name: str) -> str:
    """The pod's field with which the sysctl would be its host's; empty for one of the whole kernel."""
    separator = re.search("[./]", name)
    if separator and separator[0] == "/":  # as sysctl has it: with slashes between, dots belong to a name
        name = name.translate({ord("/"): ".", ord("."): "/"})
    if name.startswith("net."):
        return "hostNetwork"
    return "hostIPC" if name in _IPC_SYSCTLS or name.startswith("fs.mqueue.") else ""


def _proc_mount(found: Findings, at: At, value: str) -> None:
    _mounts(found, at, value)
    if value == "Unmasked" and found.pod.get("hostUsers") is not False:
        from trainc.kubernetes.validation.network import HOST_NAMESPACES

        message = "procMount is Unmasked, and the pod has the host's users"
        found.complain(HOST_NAMESPACES, at, message, "write hostUsers: false in the pod, or remove procMount")


_mounts: Final = one_of("Default", "Unmasked")


_common: Final[dict[str, Rule]] = {
    "appArmorProfile": app_armor,
    "runAsGroup": _id,
    "runAsUser": _id,
    "seccompProfile": seccomp,
}
_of_container: Final = fields({**_common, "procMount": _proc_mount, "windowsOptions": late("windows", "options")})
of_pod: Final = fields(
    {
        **_common,
        "fsGroup": _id,
        "fsGroupChangePolicy": one_of("Always", "OnRootMismatch"),
        "seLinuxChangePolicy": one_of("Recursive"),
        "supplementalGroups": each(_id),
        "supplementalGroupsPolicy": one_of("Merge", "Strict"),
        "sysctls": sysctls,
        "windowsOptions": late("windows", "options"),
    }
)
"""A pod's security context."""


def of_container(found: Findings, at: At, value: Tree) -> None:
    """A container's security context."""
    _of_container(found, at, value)
    if value.get("allowPrivilegeEscalation") is False:
        _gains(found, at, value)


def _gains(found: Findings, at: At, value: Tree) -> None:
    """What gives privileges to a container that must not gain any; the cluster reports the whole context."""
    no = ("allowPrivilegeEscalation", (at, "allowPrivilegeEscalation"))
    if value.get("privileged"):
        message = "allowPrivilegeEscalation is false, and privileged is true"
        found.complain(
            PRIVILEGE_ESCALATION, (at, "privileged"), message, "remove one of them", field=field_of(at), related=(no,)
        )
    for index, name in enumerate((value.get("capabilities") or {}).get("add") or ()):
        if name == "CAP_SYS_ADMIN":
            message = f"allowPrivilegeEscalation is false, and the container gets {name}"
            place = (((at, "capabilities"), "add"), index)
            found.complain(
                PRIVILEGE_ESCALATION, place, message, "remove one of them", field=field_of(at), related=(no,)
            )
