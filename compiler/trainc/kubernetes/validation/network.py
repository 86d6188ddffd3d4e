"""The API server's rules for a pod's network and host namespaces: host aliases, name servers, host name, users.

Source   Kubernetes 1.36: the API server's validation of these fields. IP addresses are parsed strictly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import PodViolations, called, every_container, field_of, subdomain
from trainc.kubernetes.violations import INVALID_NAME, REQUIRED, TOO_LONG, TOO_MANY_ITEMS, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At, Tree

HOST_NAMESPACES: Final = Declaration("host-namespaces", ("job",))
INVALID_IP: Final = Declaration("invalid-ip", ("job",), fix="unsafe")
NO_NAME_SERVER: Final = Declaration("no-name-server", ("job",))

_MAX_NAME_SERVERS: Final = 3
_MAX_SEARCHES: Final = 32
_MAX_SEARCH_CHARACTERS: Final = 2048
_MAX_HOST_NAME: Final = 64
_OCTETS: Final = frozenset(map(str, range(256)))
_LABEL: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*")


def ip(violations: PodViolations, at: At, value: str) -> None:
    """Check an IP address."""
    octets = value.split(".")
    if len(octets) == 4 and _OCTETS.issuperset(octets):
        return
    import ipaddress

    from trainc.base.fixes import Fix, replace

    help: str | Fix
    why, help = "is not an IP address", "use an address such as 10.9.8.7 or 2001:db8::1"
    try:
        address = ipaddress.IPv6Address(value)
    except ValueError:
        plain = [octet.lstrip("0") or "0" for octet in octets if octet.isdigit()]
        if len(octets) == len(plain) == 4 and _OCTETS.issuperset(plain):
            fix = replace(path_of(at), ".".join(plain), applicability="unsafe")
            why, help = "has a number with a leading zero", fix._replace(form="name")
        elif not value:
            why = "is empty"
    else:
        if address.ipv4_mapped is None and "%" not in value:
            return
        if address.ipv4_mapped is not None:
            fix = replace(path_of(at), str(address.ipv4_mapped), applicability="unsafe")
            why, help = "is an IPv4 address in IPv6 notation", fix._replace(form="name")
    violations.report(INVALID_IP, at, f"{called(at)} {shown(value)} {why}", help)


def host_aliases(violations: PodViolations, at: At, value: list[Tree]) -> None:
    """Check the entries for the pod's hosts file."""
    for index, alias in enumerate(value):
        place = (at, index)
        ip(violations, (place, "ip"), alias.get("ip", ""))
        for which, name in enumerate(alias.get("hostnames") or ()):
            subdomain(violations, ((place, "hostnames"), which), name)


def dns_policy_none(violations: PodViolations, at: At, value: str) -> None:
    """Check `dnsPolicy: None`, which requires a name server in dnsConfig."""
    assert at is not None
    config = violations.pod.get("dnsConfig")
    if not (config and config.get("nameservers")):
        place = (at[0], "dnsConfig") if config is None else ((at[0], "dnsConfig"), "nameservers")
        message = f"dnsPolicy {value} requires a name server in dnsConfig"
        help = "add dnsConfig.nameservers, or remove dnsPolicy"
        violations.report(NO_NAME_SERVER, place, message, help, related=(("dnsPolicy", at),))


def dns_config(violations: PodViolations, at: At, value: Tree) -> None:
    """Check name servers, search domains and options; if a required name server is missing, check nothing else."""
    servers, searches = value.get("nameservers") or [], value.get("searches") or []
    if violations.pod.get("dnsPolicy") == "None" and not servers:
        return
    _at_most(violations, (at, "nameservers"), len(servers), _MAX_NAME_SERVERS, "name servers")
    for index, server in enumerate(servers):
        ip(violations, ((at, "nameservers"), index), server)
    _at_most(violations, (at, "searches"), len(searches), _MAX_SEARCHES, "search domains")
    length = len(" ".join(searches).encode("utf-8", "surrogatepass"))
    if length > _MAX_SEARCH_CHARACTERS:
        message = f"the search domains have {length} characters in total; the limit is {_MAX_SEARCH_CHARACTERS}"
        violations.report(TOO_LONG, (at, "searches"), message, "remove some of them")
    for index, search in enumerate(searches):
        _search(violations, ((at, "searches"), index), search)
    for index, option in enumerate(value.get("options") or ()):
        if not option.get("name"):
            place = ((at, "options"), index)
            message = f"options[{index}] has no name, which is required"
            violations.report(REQUIRED, (place, "name"), message, "add a name", field=field_of(place))


def _at_most(violations: PodViolations, at: At, count: int, maximum: int, noun: str) -> None:
    if count > maximum:
        message = f"the pod has {count} {noun}; the limit is {maximum}"
        violations.report(TOO_MANY_ITEMS, at, message, "remove some of them")


def _search(violations: PodViolations, at: At, value: str) -> None:
    name = value.removesuffix(".")
    if value != "." and (len(name) > 253 or not _SEARCH.fullmatch(name)):
        from trainc.kubernetes import names

        why = names.fault(name, names.SUBDOMAIN + "_", 253)
        help = "use lowercase letters, digits, `-`, `_` and `.`"
        violations.report(INVALID_NAME, at, f"{called(at)} is not a valid search domain: {shown(value)} {why}", help)


def host_users(violations: PodViolations, at: At, value: bool) -> None:
    """Check `hostUsers: false`, which gives the pod its own users. The API server misspells two of the fields."""
    assert at is not None
    if value:
        return
    spec = at[0]
    related = (("hostUsers", at),)
    for key, cluster_name in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if violations.pod.get(key):
            message = f"{key} cannot be combined with hostUsers: false"
            field = f"{field_of(spec)}.{cluster_name}"
            violations.report(
                HOST_NAMESPACES, (spec, key), message, f"remove {key} or hostUsers", field=field, related=related
            )
    for place, container in every_container(spec, violations.pod):
        if container.get("volumeDevices"):
            message = "volumeDevices cannot be combined with hostUsers: false"
            help = "mount the volume as a file system, or remove hostUsers"
            violations.report(HOST_NAMESPACES, (place, "volumeDevices"), message, help, related=related)


def share_process_namespace(violations: PodViolations, at: At, value: bool) -> None:
    """Check that the containers' shared process namespace is not combined with the host's."""
    assert at is not None
    if value and violations.pod.get("hostPID"):
        message = "shareProcessNamespace cannot be combined with hostPID"
        field = f"{field_of(at[0])}.securityContext.shareProcessNamespace"
        related = (("hostPID", (at[0], "hostPID")),)
        violations.report(
            HOST_NAMESPACES, at, message,
            "remove shareProcessNamespace; with hostPID, the containers see each other's processes",
            field=field, related=related,
        )  # fmt: skip


def hostname_override(violations: PodViolations, at: At, value: str) -> None:
    """Check a host name that may have dots and replaces every other host name of the pod."""
    assert at is not None
    if len(value.encode("utf-8", "surrogatepass")) > _MAX_HOST_NAME:
        message = f"hostnameOverride has {len(value)} characters; the limit is {_MAX_HOST_NAME}"
        violations.report(TOO_LONG, at, message, "shorten it")
    subdomain(violations, at, value)
    for key in ("hostNetwork", "setHostnameAsFQDN"):
        if violations.pod.get(key):
            message = f"hostnameOverride cannot be combined with {key}: true"
            related = ((key, (at[0], key)),)
            violations.report(HOST_NAMESPACES, at, message, f"remove hostnameOverride or {key}", related=related)
