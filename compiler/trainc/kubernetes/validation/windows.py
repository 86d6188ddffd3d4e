"""Operating systems: what a pod of Windows may not have, and what only such a pod may.

Source   Kubernetes 1.36: the API server's validation of a pod's os, of Windows' options, and of host processes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, every_container, field_of, fields, subdomain
from trainc.kubernetes.violations import PATTERN, TOO_LONG

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOST_PROCESS: Final = Declaration(
    "host-process", ("job",), "Host processes of Windows, and something that does not go with them"
)
OTHER_OS: Final = Declaration("other-os", ("job",), "A field is not for the operating system that the pod names")

_SYSTEMS: Final = ("linux", "windows")
_NOT_OF_PODS: Final = ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace")
_NOT_OF_POD_CONTEXTS: Final = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser"),
    *("runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"),
)
_NOT_OF_CONTEXTS: Final = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"),
    *("allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)
_MOST_OF_A_SPEC: Final = 64 * 1024
_DOMAIN_CHARACTERS: Final = 256
_USER_CHARACTERS: Final = 104
_NET_BIOS: Final = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_LABEL: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NOT_OF_USERS: Final = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def system(found: Findings, at: At, value: Tree) -> None:
    """A pod's os: the fields that it rules out, everywhere in the pod."""
    assert at is not None
    name, spec = value.get("name", ""), at[0]
    if name not in _SYSTEMS:
        from trainc.kubernetes.validation import complaints

        if name:
            complaints.not_allowed(found, (at, "name"), name, _SYSTEMS, field=field_of(at))
        else:
            complaints.missing(found, (at, "name"), "write name: linux, or remove os")
        return
    context, here = found.pod.get("securityContext") or {}, (spec, "securityContext")
    if name == "windows":
        _forbid(found, spec, found.pod, _NOT_OF_PODS, at)
    _forbid(found, here, context, _NOT_OF_POD_CONTEXTS if name == "windows" else ("windowsOptions",), at)
    for place, container in every_container(spec, found.pod):
        not_here = _NOT_OF_CONTEXTS if name == "windows" else ("windowsOptions",)
        _forbid(found, (place, "securityContext"), container.get("securityContext") or {}, not_here, at)


def _forbid(found: Findings, at: At, value: Tree, keys: tuple[str, ...], os: At) -> None:
    for key in keys:
        if key in value:
            only = "Linux" if key != "windowsOptions" else "Windows"
            message = f"{key} is for {only} alone, and the pod's os is {'windows' if only == 'Linux' else 'linux'}"
            related = (("the os", (os, "name")),)
            found.complain(OTHER_OS, (at, key), message, f"remove {key}, or correct os.name", related=related)


def _spec(found: Findings, at: At, value: str) -> None:
    size = len(value.encode("utf-8", "surrogatepass"))
    if not value:
        found.complain(PATTERN, at, "gmsaCredentialSpec is empty", "give it its content, or remove the line")
    elif size > _MOST_OF_A_SPEC:
        message = f"gmsaCredentialSpec has {size} bytes, and may have {_MOST_OF_A_SPEC}"
        found.complain(TOO_LONG, at, message, "name one of the cluster's with gmsaCredentialSpecName")


def _user(found: Findings, at: At, value: str) -> None:
    """A user of Windows: a name, maybe behind a domain and a backslash."""
    if why := _fault_of_user(value):
        from trainc.kubernetes.structural.remedies import shown

        message = f"runAsUserName is {shown(value)}, {why}"
        found.complain(PATTERN, at, message, r"write a user, or a domain and a user: CONTOSO\trainer")


def _fault_of_user(value: str) -> str:
    domain, backslash, user = value.rpartition("\\")
    if re.search("[\x00-\x1f\x7f]", value):
        return "which has control characters in it"
    if "\\" in domain:
        return "which has more than one backslash in it"
    if len(domain.encode("utf-8", "surrogatepass")) >= _DOMAIN_CHARACTERS:
        return f"whose domain has {len(domain)} characters, and may have {_DOMAIN_CHARACTERS - 1}"
    if backslash and not (_NET_BIOS.fullmatch(domain) or _DNS.fullmatch(domain)):
        return "whose domain is neither a NetBIOS name nor a DNS one"
    if not user:
        return "which has no user"
    if len(user.encode("utf-8", "surrogatepass")) > _USER_CHARACTERS:
        return f"whose user has {len(user)} characters, and may have {_USER_CHARACTERS}"
    if not user.strip(". "):
        return "whose user has nothing but dots and spaces"
    if strange := _NOT_OF_USERS.search(user):
        return f"whose user has {strange[0]} in it"
    return ""


options: Final = fields({"gmsaCredentialSpecName": subdomain, "gmsaCredentialSpec": _spec, "runAsUserName": _user})
"""Windows' options in a security context."""


def host_processes(found: Findings, spec: At) -> None:
    """Host processes: all containers of a pod are, or none."""
    of_pod = _is_one(found.pod)
    in_pod = (((spec, "securityContext"), "windowsOptions"), "hostProcess")
    others: list[At] = []
    some = False
    for place, container in every_container(spec, found.pod):
        of_container = _is_one(container)
        at = (((place, "securityContext"), "windowsOptions"), "hostProcess")
        if of_pod is not None and of_container is not None and of_pod != of_container:
            message = f"hostProcess is {_word(of_container)} here, and {_word(of_pod)} for the pod"
            found.complain(HOST_PROCESS, at, message, "remove it here", related=(("the pod's", in_pod),))
        if of_container or (of_container is None and of_pod):
            some = True
        else:
            others.append(place)
    if some and others:
        message = "some containers are host processes, and some are not"
        way_out = "write hostProcess: true once, in the pod's securityContext.windowsOptions"
        found.complain(HOST_PROCESS, spec, message, way_out, related=(("one that is not", others[0]),))
    if some and not found.pod.get("hostNetwork"):
        message = "a pod of host processes has the host's network, and hostNetwork is not true"
        found.complain(HOST_PROCESS, (spec, "hostNetwork"), message, "write hostNetwork: true")


def _is_one(pod_or_container: Tree) -> bool | None:
    context = pod_or_container.get("securityContext") or {}
    answer: bool | None = (context.get("windowsOptions") or {}).get("hostProcess")
    return answer


def _word(value: bool) -> str:
    return "true" if value else "false"
