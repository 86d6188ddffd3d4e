"""A pod's network and its host's namespaces: host aliases, name servers, host name, users.

Source   Kubernetes 1.36: the API server's validation of these. Addresses are read strictly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, every_container, field_of, subdomain
from trainc.kubernetes.violations import INVALID_NAME, REQUIRED, TOO_LONG, TOO_MANY_ITEMS

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOST_NAMESPACES: Final = Declaration(
    "host-namespaces", ("job",), "A field does not go with the host's namespaces, or with the pod's own"
)
INVALID_IP: Final = Declaration("invalid-ip", ("job",), "An IP address is not valid")
NO_NAME_SERVER: Final = Declaration("no-name-server", ("job",), "dnsPolicy is None, and there is no name server")

_MOST_NAME_SERVERS: Final = 3
_MOST_SEARCHES: Final = 32
_MOST_SEARCH_CHARACTERS: Final = 2048
_MOST_OF_A_HOST_NAME: Final = 64
_OCTETS: Final = frozenset(map(str, range(256)))
_LABEL: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*")


def ip(found: Findings, at: At, value: str) -> None:
    """The rule of an IP address."""
    octets = value.split(".")
    if len(octets) == 4 and _OCTETS.issuperset(octets):
        return
    import ipaddress

    why, way_out = "is no IP address", "write one such as 10.9.8.7 or 2001:db8::1"
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        plain = [octet.lstrip("0") or "0" for octet in octets if octet.isdigit()]
        if len(octets) == len(plain) == 4 and _OCTETS.issuperset(plain):
            why, way_out = "has a zero in front of a number", f"write {'.'.join(plain)}"
        elif not value:
            why = "is empty"
    else:
        if address.ipv4_mapped is None and "%" not in value:
            return
        if address.ipv4_mapped is not None:
            why, way_out = "is an IPv4 address written as IPv6", f"write {address.ipv4_mapped}"
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation import complaints

    found.complain(INVALID_IP, at, f"{complaints.called(at)} is {shown(value)}, which {why}", way_out)


def host_aliases(found: Findings, at: At, value: list[Tree]) -> None:
    """Lines for the pod's hosts file."""
    for index, alias in enumerate(value):
        place = (at, index)
        ip(found, (place, "ip"), alias.get("ip", ""))
        for which, name in enumerate(alias.get("hostnames") or ()):
            subdomain(found, ((place, "hostnames"), which), name)


def dns_policy_none(found: Findings, at: At, value: str) -> None:
    """A dnsPolicy of None, which leaves all to dnsConfig."""
    assert at is not None
    config = found.pod.get("dnsConfig")
    if not (config and config.get("nameservers")):
        place = (at[0], "dnsConfig") if config is None else ((at[0], "dnsConfig"), "nameservers")
        message = f"dnsPolicy is {value}, and dnsConfig names no name server"
        way_out = "add dnsConfig.nameservers, or remove dnsPolicy"
        found.complain(NO_NAME_SERVER, place, message, way_out, related=(("dnsPolicy", at),))


def dns_config(found: Findings, at: At, value: Tree) -> None:
    """Name servers, search domains and options; without a name server that is needed, nothing else is looked at."""
    servers, searches = value.get("nameservers") or [], value.get("searches") or []
    if found.pod.get("dnsPolicy") == "None" and not servers:
        return
    _at_most(found, (at, "nameservers"), len(servers), _MOST_NAME_SERVERS, "name servers")
    for index, server in enumerate(servers):
        ip(found, ((at, "nameservers"), index), server)
    _at_most(found, (at, "searches"), len(searches), _MOST_SEARCHES, "search domains")
    length = len(" ".join(searches).encode("utf-8", "surrogatepass"))
    if length > _MOST_SEARCH_CHARACTERS:
        message = f"the search domains have {length} characters together, and may have {_MOST_SEARCH_CHARACTERS}"
        found.complain(TOO_LONG, (at, "searches"), message, "remove some of them")
    for index, search in enumerate(searches):
        _search(found, ((at, "searches"), index), search)
    for index, option in enumerate(value.get("options") or ()):
        if not option.get("name"):
            place = ((at, "options"), index)
            message = f"options[{index}] has no name, which is required"
            found.complain(REQUIRED, (place, "name"), message, "add its name", field=field_of(place))


def _at_most(found: Findings, at: At, count: int, most: int, what: str) -> None:
    if count > most:
        message = f"there are {count} {what}, and there may be {most}"
        found.complain(TOO_MANY_ITEMS, at, message, "remove some of them")


def _search(found: Findings, at: At, value: str) -> None:
    name = value.removesuffix(".")
    if value != "." and (len(name) > 253 or not _SEARCH.fullmatch(name)):
        from trainc.kubernetes import misnamed
        from trainc.kubernetes.structural.remedies import shown
        from trainc.kubernetes.validation import complaints

        why = misnamed.fault(name, misnamed.SUBDOMAIN + "_", 253)
        way_out = "use lower-case letters, digits, `-`, `_` and `.`"
        found.complain(INVALID_NAME, at, f"{complaints.called(at)} is {shown(value)}, which {why}", way_out)


def host_users(found: Findings, at: At, value: bool) -> None:
    """`hostUsers: false`, which gives the pod users of its own; two of the three fields have odd names in the error."""
    assert at is not None
    if value:
        return
    spec = at[0]
    related = (("hostUsers", at),)
    for key, spelled in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if found.pod.get(key):
            message = f"{key} does not go with hostUsers: false"
            field = f"{field_of(spec)}.{spelled}"
            found.complain(HOST_NAMESPACES, (spec, key), message, "remove one of them", field=field, related=related)
    for place, container in every_container(spec, found.pod):
        if container.get("volumeDevices"):
            message = "volumeDevices do not go with hostUsers: false"
            way_out = "mount the volume as a file system, or remove hostUsers"
            found.complain(HOST_NAMESPACES, (place, "volumeDevices"), message, way_out, related=related)


def share_process_namespace(found: Findings, at: At, value: bool) -> None:
    """One process namespace for all containers, which cannot be the host's at the same time."""
    assert at is not None
    if value and found.pod.get("hostPID"):
        message = "shareProcessNamespace does not go with hostPID"
        field = f"{field_of(at[0])}.securityContext.shareProcessNamespace"
        related = (("hostPID", (at[0], "hostPID")),)
        found.complain(
            HOST_NAMESPACES, at, message, "remove shareProcessNamespace: with hostPID the containers see one another",
            field=field, related=related,
        )  # fmt: skip


def hostname_override(found: Findings, at: At, value: str) -> None:
    """A host name with dots that replaces every other."""
    assert at is not None
    if len(value.encode("utf-8", "surrogatepass")) > _MOST_OF_A_HOST_NAME:
        message = f"hostnameOverride has {len(value)} characters, and may have {_MOST_OF_A_HOST_NAME}"
        found.complain(TOO_LONG, at, message, "shorten it")
    subdomain(found, at, value)
    for key in ("hostNetwork", "setHostnameAsFQDN"):
        if found.pod.get(key):
            message = f"hostnameOverride does not go with {key}: true"
            related = ((key, (at[0], key)),)
            found.complain(HOST_NAMESPACES, at, message, "remove one of them", related=related)
