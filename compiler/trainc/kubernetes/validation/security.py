"""The API server's rules for the security contexts of a pod and its containers.

Source   Kubernetes 1.36: the API server's validation of security contexts, with the SELinux mount feature disabled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation.combinators import (
    SPACES,
    FieldRule,
    PodViolations,
    called,
    each_item,
    field_of,
    fields,
    imported_later,
    integer_between,
    one_of,
)
from trainc.kubernetes.violations import PATTERN, TOO_LONG, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

PRIVILEGE_ESCALATION: Final = Declaration("privilege-escalation", ("job",))
SECURITY_PROFILE: Final = Declaration("security-profile", ("job",))

PROFILES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_MAX_PATH: Final = 4095
_MAX_SYSCTL: Final = 253
_SYSCTL: Final = re.compile(r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_IPC_SYSCTLS: Final = frozenset(
    f"kernel.{name}"
    for name in ("msg", "msgmax", "msgmnb", "msgmni", "sem", "shm", "shm_rmid_forced", "shmall", "shmmax", "shmmni")
)

_id: Final = integer_between(0, 2**31 - 1)
_profile: Final = one_of(*PROFILES)


def seccomp(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a seccomp profile: its type, and the file of a Localhost profile."""
    kind = value.get("type", "")
    if not kind:
        violations.report_missing((at, "type"), "use type: RuntimeDefault")
    else:
        _profile(violations, (at, "type"), kind)
    if kind == "Localhost" and "localhostProfile" not in value:
        _no_profile(violations, at)
    elif kind == "Localhost":
        local_path(violations, (at, "localhostProfile"), value["localhostProfile"])
    elif "localhostProfile" in value:
        _superfluous_profile(violations, at, kind)


def local_path(violations: PodViolations, at: At, value: str, *, field: str = "") -> None:
    """Check a path below the node's profile directory."""
    if value.startswith("/") or ".." in value.split("/"):
        fault = "starts with a slash" if value.startswith("/") else 'contains ".."'
        message = f"{called(at)} {shown(value)} {fault}"
        violations.report(PATTERN, at, message, "use a path relative to the node's profile directory", field=field)


def app_armor(violations: PodViolations, at: At, value: Tree) -> None:
    """Check an AppArmor profile: its type, and the name of a Localhost profile."""
    kind, name, place = value.get("type", ""), value.get("localhostProfile"), (at, "localhostProfile")
    if not kind:
        violations.report_missing((at, "type"), "use type: RuntimeDefault")
    elif kind not in PROFILES:
        _profile(violations, (at, "type"), kind)
    elif kind != "Localhost":
        if name is not None:
            _superfluous_profile(violations, at, kind)
    elif not name:
        _no_profile(violations, at)
    elif name.strip(SPACES) != name:
        message = "localhostProfile has whitespace around it"
        violations.report(PATTERN, place, message, "remove the whitespace")
    elif len(name.encode("utf-8", "surrogatepass")) > _MAX_PATH:
        message = f"localhostProfile has {len(name)} characters; the limit is {_MAX_PATH}"
        violations.report(TOO_LONG, place, message, "shorten the profile's name")


def _no_profile(violations: PodViolations, at: At) -> None:
    message = "type Localhost requires localhostProfile"
    violations.report(
        SECURITY_PROFILE, (at, "localhostProfile"), message,
        "add localhostProfile with the profile's name on the node, or use type: RuntimeDefault",
        related=(("the type", (at, "type")),),
    )  # fmt: skip


def _superfluous_profile(violations: PodViolations, at: At, kind: str) -> None:
    message = f"localhostProfile requires type Localhost, but the type is {kind or 'missing'}"
    violations.report(
        SECURITY_PROFILE, (at, "localhostProfile"), message,
        "use type: Localhost, or remove localhostProfile", related=(("the type", (at, "type")),) if kind else (),
    )  # fmt: skip


def sysctls(violations: PodViolations, at: At, value: list[Tree]) -> None:
    """Check the kernel parameters that the pod sets, which must belong to its own namespaces."""
    assert at is not None
    assert at[0] is not None
    spec = at[0][0]
    first: dict[str, int] = {}
    for index, sysctl in enumerate(value):
        place, name = ((at, index), "name"), sysctl.get("name", "")
        if not name:
            violations.report_missing(place)
        elif len(name) > _MAX_SYSCTL or not _SYSCTL.fullmatch(name):
            message = f"{shown(name)} is not a valid sysctl name"
            violations.report(PATTERN, place, message, "use a name such as net.core.somaxconn")
        elif name in first:
            violations.duplicate(place, name, ((at, first[name]), "name"), "sysctl")
        if violations.pod.get(shared := _namespace(name)):
            from trainc.kubernetes.validation.network import HOST_NAMESPACES

            message = f"sysctl {name} would change the host because the pod sets {shared}"
            related = ((shared, (spec, shared)),)
            violations.report(HOST_NAMESPACES, place, message, f"remove it, or remove {shared}", related=related)
        first.setdefault(name, index)


def _namespace(name: str) -> str:
    """Return the pod field that makes the sysctl the host's; empty for one of the whole kernel."""
    separator = re.search("[./]", name)
    if separator and separator[0] == "/":  # with slashes as separators, dots are part of a name
        name = name.translate({ord("/"): ".", ord("."): "/"})
    if name.startswith("net."):
        return "hostNetwork"
    return "hostIPC" if name in _IPC_SYSCTLS or name.startswith("fs.mqueue.") else ""


def _proc_mount(violations: PodViolations, at: At, value: str) -> None:
    _mounts(violations, at, value)
    if value == "Unmasked" and violations.pod.get("hostUsers") is not False:
        from trainc.kubernetes.validation.network import HOST_NAMESPACES

        message = "procMount Unmasked is not allowed in a pod with the host's users"
        violations.report(HOST_NAMESPACES, at, message, "set hostUsers: false on the pod, or remove procMount")


_mounts: Final = one_of("Default", "Unmasked")


_common: Final[dict[str, FieldRule]] = {
    "appArmorProfile": app_armor,
    "runAsGroup": _id,
    "runAsUser": _id,
    "seccompProfile": seccomp,
}
_container: Final = fields(
    {**_common, "procMount": _proc_mount, "windowsOptions": imported_later("windows", "options")}
)


def _selinux_change_policy(violations: PodViolations, at: At, value: str) -> None:
    if value == "MountOption":
        message = "Kubernetes 1.36 rejects seLinuxChangePolicy MountOption, and Kubernetes 1.37 accepts it"
        violations.report_difference(at, message, "use Recursive, or remove it")
    else:
        one_of("Recursive")(violations, at, value)


pod_security: Final = fields(
    {
        **_common,
        "fsGroup": _id,
        "fsGroupChangePolicy": one_of("Always", "OnRootMismatch"),
        "seLinuxChangePolicy": _selinux_change_policy,
        "supplementalGroups": each_item(_id),
        "supplementalGroupsPolicy": one_of("Merge", "Strict"),
        "sysctls": sysctls,
        "windowsOptions": imported_later("windows", "options"),
    }
)
"""The rule for a pod's security context."""


def container_security(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a container's security context."""
    _container(violations, at, value)
    if value.get("allowPrivilegeEscalation") is False:
        _check_escalation(violations, at, value)


def _check_escalation(violations: PodViolations, at: At, value: Tree) -> None:
    """Report privileges of a container that must not gain any; the API server's errors name the whole context."""
    setting = ("allowPrivilegeEscalation", (at, "allowPrivilegeEscalation"))
    if value.get("privileged"):
        message = "allowPrivilegeEscalation: false cannot be combined with privileged: true"
        violations.report(
            PRIVILEGE_ESCALATION,
            (at, "privileged"),
            message,
            "remove one of them",
            field=field_of(at),
            related=(setting,),
        )
    for index, name in enumerate((value.get("capabilities") or {}).get("add") or ()):
        if name == "CAP_SYS_ADMIN":
            message = f"allowPrivilegeEscalation: false cannot be combined with capability {name}"
            place = (((at, "capabilities"), "add"), index)
            violations.report(
                PRIVILEGE_ESCALATION, place, message, "remove one of them", field=field_of(at), related=(setting,)
            )
