"""The API server's rules for operating systems: fields that a Windows pod may not set, and fields that only it may set.

Source   Kubernetes 1.36: the API server's validation of a pod's os, of Windows options, and of host processes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.validation.combinators import PodViolations, every_container, field_of, fields, subdomain
from trainc.kubernetes.violations import PATTERN, TOO_LONG, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOST_PROCESS: Final = Declaration("host-process", ("job",))
OTHER_OS: Final = Declaration("other-os", ("job",))

_SYSTEMS: Final = ("linux", "windows")
_NOT_IN_PODS: Final = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_NOT_IN_POD_CONTEXTS: Final = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser"),
    *("runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_NOT_IN_CONTEXTS: Final = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"),
    *("allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)
_MAX_SPEC: Final = 64 * 1024
_MAX_DOMAIN: Final = 256
_MAX_USER: Final = 104
_NET_BIOS: Final = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_LABEL: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NOT_IN_USERS: Final = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def system(violations: PodViolations, at: At, value: Tree) -> None:
    """Check a pod's os, and report the fields that it forbids anywhere in the pod."""
    assert at is not None
    name, spec = value.get("name", ""), at[0]
    if name not in _SYSTEMS:
        if name:
            violations.not_allowed((at, "name"), name, _SYSTEMS, field=field_of(at))
        else:
            violations.report_missing((at, "name"), "use name: linux, or remove os")
        return
    context, here = violations.pod.get("securityContext") or {}, (spec, "securityContext")
    if name == "windows":
        _forbid(violations, spec, violations.pod, _NOT_IN_PODS, at)
    _forbid(violations, here, context, _NOT_IN_POD_CONTEXTS if name == "windows" else ("windowsOptions",), at)
    for place, container in every_container(spec, violations.pod):
        not_here = _NOT_IN_CONTEXTS if name == "windows" else ("windowsOptions",)
        _forbid(violations, (place, "securityContext"), container.get("securityContext") or {}, not_here, at)


def _forbid(violations: PodViolations, at: At, value: Tree, keys: tuple[str, ...], os: At) -> None:
    for key in keys:
        if key in value:
            only = "Linux" if key != "windowsOptions" else "Windows"
            message = f"{key} is only for {only}, but the pod's os is {'windows' if only == 'Linux' else 'linux'}"
            related = (("os", (os, "name")),)
            violations.report(OTHER_OS, (at, key), message, f"remove {key}, or change os.name", related=related)


def _spec(violations: PodViolations, at: At, value: str) -> None:
    size = len(value.encode("utf-8", "surrogatepass"))
    if not value:
        violations.report(PATTERN, at, "gmsaCredentialSpec is empty", "set its content, or remove the line")
    elif size > _MAX_SPEC:
        message = f"gmsaCredentialSpec has {size} bytes; the limit is {_MAX_SPEC}"
        violations.report(
            TOO_LONG, at, message, "refer to a credential spec in the cluster with gmsaCredentialSpecName"
        )


def _user(violations: PodViolations, at: At, value: str) -> None:
    """Check a Windows user: a name, optionally after a domain and a backslash."""
    if why := _fault_of_user(value):
        message = f"runAsUserName {shown(value)} {why}"
        violations.report(PATTERN, at, message, r"use a user, or a domain and a user such as CONTOSO\trainer")


def _fault_of_user(value: str) -> str:
    domain, backslash, user = value.rpartition("\\")
    if re.search("[\x00-\x1f\x7f]", value):
        return "contains control characters"
    if "\\" in domain:
        return "contains more than one backslash"
    if len(domain.encode("utf-8", "surrogatepass")) >= _MAX_DOMAIN:
        return f"has a domain with {len(domain)} characters; the limit is {_MAX_DOMAIN - 1}"
    if backslash and not (_NET_BIOS.fullmatch(domain) or _DNS.fullmatch(domain)):
        return "has a domain that is neither a NetBIOS nor a DNS name"
    if not user:
        return "has no user"
    if len(user.encode("utf-8", "surrogatepass")) > _MAX_USER:
        return f"has a user with {len(user)} characters; the limit is {_MAX_USER}"
    if not user.strip(". "):
        return "has a user with only dots and spaces"
    if invalid := _NOT_IN_USERS.search(user):
        return f"has a user that contains {invalid[0]}"
    return ""


options: Final = fields({"gmsaCredentialSpecName": subdomain, "gmsaCredentialSpec": _spec, "runAsUserName": _user})
"""The rule for the Windows options of a security context."""


def host_processes(violations: PodViolations, spec: At) -> None:
    """Check host processes: either all containers of a pod are host processes, or none."""
    of_pod = _host_process(violations.pod)
    in_pod = (((spec, "securityContext"), "windowsOptions"), "hostProcess")
    others: list[At] = []
    some = False
    for place, container in every_container(spec, violations.pod):
        of_container = _host_process(container)
        at = (((place, "securityContext"), "windowsOptions"), "hostProcess")
        if of_pod is not None and of_container is not None and of_pod != of_container:
            message = f"hostProcess is {_word(of_container)} for the container, but {_word(of_pod)} for the pod"
            violations.report(
                HOST_PROCESS, at, message, "remove it from the container", related=(("the pod's hostProcess", in_pod),)
            )
        if of_container or (of_container is None and of_pod):
            some = True
        else:
            others.append(place)
    if some and others:
        message = "some containers are host processes, but others are not"
        help = "set hostProcess: true once, in the pod's securityContext.windowsOptions"
        violations.report(HOST_PROCESS, spec, message, help, related=(("a container that is not", others[0]),))
    if some and not violations.pod.get("hostNetwork"):
        message = "a pod of host processes requires hostNetwork: true"
        violations.report(HOST_PROCESS, (spec, "hostNetwork"), message, "set hostNetwork: true")


def _host_process(pod_or_container: Tree) -> bool | None:
    context = pod_or_container.get("securityContext") or {}
    answer: bool | None = (context.get("windowsOptions") or {}).get("hostProcess")
    return answer


def _word(value: bool) -> str:
    return "true" if value else "false"
