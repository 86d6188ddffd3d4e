"""A container's variables, and where their values come from.

Names are taken as Kubernetes takes them since 1.34: anything printable but an equals sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.declarations import Declaration
from trainc.kubernetes.validation.findings import Findings, Rule, field_of
from trainc.kubernetes.violations import INVALID_NAME

if TYPE_CHECKING:
    from collections.abc import Collection

    from trainc.kubernetes.trees import At, Tree

ENV_FIELD: Final = Declaration("env-field", ("job",), "A variable reads a field of the pod that cannot be read")
ENV_FILE: Final = Declaration("env-file", ("job",), "A variable reads a file of a volume that is no emptyDir")
ENV_RESOURCE: Final = Declaration("env-resource", ("job",), "A variable reads a resource that cannot be read")
ENV_SOURCE: Final = Declaration("env-source", ("job",), "A variable has no value, or two")
FIELDS: Final = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
"""The fields of a pod that a variable can have."""
INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""What nearly every job reads, and need not be looked at closely."""
_OBJECTS: Final[tuple[str, ...]] = ("configMapRef", "secretRef")
_OLD_NAMES: Final = {"spec.host": "spec.nodeName"}
_KEYED: Final = ("metadata.annotations", "metadata.labels")
RESOURCES: Final = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "memory", "ephemeral-storage")
)
HUGE_PAGES: Final = ("limits.hugepages-", "requests.hugepages-")
CPU_DIVISORS: Final = ("1m", "1")
BYTE_DIVISORS: Final = (
    "1",
    *(f"1{unit}" for unit in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")),
)


def env(found: Findings, at: At, variables: list[Tree]) -> None:
    """The variables of a container."""
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not (name.isidentifier() and name.isascii()):
            _name(found, ((at, index), "name"), name)
        if "valueFrom" in variable:
            _value_from(found, (at, index), variable)


def env_from(found: Findings, at: At, sources: list[Tree]) -> None:
    """The ConfigMaps and Secrets whose keys all become variables. The cluster says no index of one without a source."""
    for index, source in enumerate(sources):
        here = (at, index)
        if prefix := source.get("prefix"):
            _name(found, (here, "prefix"), prefix)
        given = [kind for kind in _OBJECTS if kind in source]
        for kind in given:
            _object(found, ((here, kind), "name"), source[kind].get("name", ""))
        if len(given) != 1:
            _not_one(found, here, given, _OBJECTS, field=field_of(at))


def field_ref(found: Findings, at: At, ref: Tree, readable: Collection[str] = FIELDS) -> None:
    """A reference to a field of the pod, of which `readable` and single labels and annotations can be read."""
    path = ref.get("fieldPath", "")
    version = ref.get("apiVersion") or "v1"
    if version == "v1" and (path == INDEX or _OLD_NAMES.get(path, path) in readable):
        return
    if not path:
        from trainc.kubernetes.validation import complaints

        complaints.missing(found, (at, "fieldPath"), "name a field of the pod: fieldPath: metadata.name")
    elif version != "v1":
        found.complain(
            ENV_FIELD,
            (at, "apiVersion"),
            f'apiVersion is "{version}", and a pod is read as v1',
            "remove apiVersion",
            field=field_of((at, "fieldPath")),
        )
    else:
        _subscript_or_nothing(found, at, path, readable)


def resource_ref(found: Findings, at: At, ref: Tree) -> None:
    """A reference to a request or a limit, and the unit in which it is read."""
    resource = ref.get("resource", "")
    huge = resource.startswith(HUGE_PAGES)
    if not resource or not (huge or resource in RESOURCES):
        _no_resource(found, (at, "resource"), resource)
    elif "divisor" in ref:
        divisors = CPU_DIVISORS if resource.endswith(".cpu") and not huge else BYTE_DIVISORS
        _divisor(found, (at, "divisor"), ref["divisor"], divisors)


def _value_from(found: Findings, at: At, variable: Tree) -> None:
    here, source = (at, "valueFrom"), variable["valueFrom"]
    given = [kind for kind in _SOURCES if kind in source]
    for kind in given:
        _SOURCES[kind](found, (here, kind), source[kind])
    if len(given) == 1 and not variable.get("value"):
        return
    if given and variable.get("value"):
        found.complain(
            ENV_SOURCE,
            here,
            f"{_called(at)} has a value and valueFrom, and can have one of them",
            "remove value, or valueFrom",
            related=(("its value", (at, "value")),),
        )
    else:
        _not_one(found, here, given, tuple(_SOURCES))


def _not_one(found: Findings, at: At, given: list[str], possible: tuple[str, ...], *, field: str = "") -> None:
    from trainc.kubernetes.structural.remedies import listed

    found.complain(
        ENV_SOURCE,
        at,
        f"{_called(at)} has {listed(given)}, and can have one source"
        if given
        else f"{_called(at)} has no source of its value",
        "keep one of them" if given else f"add one of {listed(list(possible), 'or')}",
        field=field,
        related=tuple((kind, (at, kind)) for kind in given),
    )


def _name(found: Findings, at: At, name: str) -> None:
    """The name of a variable, or what such names begin with."""
    from trainc.kubernetes import names

    if not names.is_relaxed_env_var_name(name):
        return
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation import complaints

    if not name:
        complaints.missing(found, at, "give the variable a name, such as NCCL_DEBUG")
        return
    strange = next(character for character in name if not " " <= character <= "~" or character == "=")
    found.complain(
        INVALID_NAME,
        at,
        f"{complaints.called(at)} is {shown(name)}, which has {shown(strange)} in it",
        f"write the name alone: {name.partition('=')[0]}, and the rest as its value"
        if strange == "=" and name[0] != "="
        else "use letters, digits and `_`",
    )


def _object(found: Findings, at: At, name: str, *, begun: bool = True) -> None:
    """The name of a ConfigMap or a Secret. With `begun` it may be the beginning of one: a dash at its end, and whatever
    is before the dash, is not looked at."""
    from trainc.kubernetes import names

    looked_at = f"{name[:-2]}a" if begun and len(name) > 1 and name.endswith("-") else name
    if not names.is_dns1123_subdomain(looked_at):
        return
    from trainc.kubernetes.validation import complaints

    if name:
        complaints.bad_name(found, at, name, "subdomain")
    else:
        complaints.missing(found, at, "name the object that has the value")


def _key_ref(found: Findings, at: At, ref: Tree) -> None:
    """A key of a ConfigMap or a Secret."""
    _object(found, (at, "name"), ref.get("name", ""), begun=False)
    key = ref.get("key", "")
    from trainc.kubernetes import names

    if not names.is_config_map_key(key):
        return
    from trainc.kubernetes.structural.remedies import shown
    from trainc.kubernetes.validation import complaints

    if not key:
        complaints.missing(found, (at, "key"), "name the key that has the value")
        return
    found.complain(
        INVALID_NAME,
        (at, "key"),
        f"key is {shown(key)}, which no ConfigMap or Secret can have",
        "use at most 253 letters, digits, `-`, `_` and `.`, and no two dots at the beginning",
    )


def _file_ref(found: Findings, at: At, ref: Tree) -> None:
    """A variable that an init container has written into a file of an emptyDir."""
    _file_volume(found, (at, "volumeName"), ref.get("volumeName", ""))
    from trainc.kubernetes.validation import complaints, mounts

    if not ref.get("path"):
        complaints.missing(found, (at, "path"), "say which file of the volume has the variable")
    elif ".." in ref["path"].split("/"):
        found.complain(
            mounts.SUB_PATH,
            (at, "path"),
            f'path is {ref["path"]}, and ".." leads out of the volume',
            "write the path inside the volume, without ..",
        )
    if not ref.get("key"):
        complaints.missing(found, (at, "key"), "say which variable of the file is meant")
    else:
        _name(found, (at, "key"), ref["key"])


def _file_volume(found: Findings, at: At, name: str) -> None:
    """The volume of a file: refused or not, it must be there, and an emptyDir, which one without a source is."""
    from trainc.kubernetes import names
    from trainc.kubernetes.validation import complaints, mounts

    volume = next((v for v in found.pod.get("volumes") or () if v.get("name") == name), None)
    if not name:
        complaints.missing(found, at, "name the emptyDir volume that has the file")
    elif names.is_dns1123_label(name):
        complaints.bad_name(found, at, name, "label")
    elif volume is None:
        mounts.no_volume(found, at, name)
    elif "emptyDir" not in volume and volume.keys() != {"name"}:
        found.complain(
            ENV_FILE,
            at,
            f'the volume "{name}" is no emptyDir, and variables are read from files in an emptyDir only',
            "let an init container write the file into an emptyDir volume; a ConfigMap or a Secret is read with "
            "configMapKeyRef or secretKeyRef",
            related=(("the volume", mounts.volume_at(found, at, name)),),
        )


def _subscript_or_nothing(found: Findings, at: At, path: str, readable: Collection[str]) -> None:
    """A path that is not readable as it stands."""
    from trainc.kubernetes import names

    base, begun, key = path.removesuffix("']").partition("['")
    if not (path.endswith("']") and base and begun and base in _KEYED):
        _no_field(found, (at, "fieldPath"), path, readable)
    elif names.is_qualified_name(key if base == "metadata.labels" else key.lower()):
        from trainc.kubernetes import misnamed
        from trainc.kubernetes.structural.remedies import shown

        kind = base.removeprefix("metadata.")[:-1]
        found.complain(
            ENV_FIELD,
            (at, "fieldPath"),
            f"fieldPath asks for the {kind} {shown(key)}, which {misnamed.fault_of_key(key)}",
            f"write the key of one, as in {base}['app.kubernetes.io/name']",
            field=field_of(at),
        )


def _no_field(found: Findings, at: At, path: str, readable: Collection[str]) -> None:
    from trainc.kubernetes.structural.remedies import listed, shown
    from trainc.nearest import nearest

    if path in _KEYED:
        help = f"a variable can have one of them: {path}['KEY']"
    elif near := nearest(path, readable, likeness=0.8):
        help = f"did you mean {near}?"
    else:
        help = f"what can be read is {listed(sorted(readable))}, and one label or annotation: metadata.labels['KEY']"
    found.complain(ENV_FIELD, at, f"fieldPath is {shown(path)}, which cannot be read from a pod here", help)


def _no_resource(found: Findings, at: At, resource: str) -> None:
    from trainc.kubernetes.structural.remedies import listed, shown
    from trainc.kubernetes.validation import complaints
    from trainc.nearest import nearest

    if not resource:
        complaints.missing(found, at, "say which one: resource: limits.cpu")
        return
    if "gpu" in resource.lower():
        help = "a number of GPUs cannot be read: write it as the value"
    elif near := nearest(resource, RESOURCES, likeness=0.75):
        help = f"did you mean {near}?"
    else:
        help = f"what can be read is {listed(list(RESOURCES))}, and huge pages; write another number as the value"
    found.complain(ENV_RESOURCE, at, f"resource is {shown(resource)}, which no variable can have", help)


def _divisor(found: Findings, at: At, divisor: Any, allowed: tuple[str, ...]) -> None:
    """The unit in which a resource is read, as Kubernetes prints it; 0 stands for the usual one."""
    from trainc.kubernetes.quantity import Quantity

    amount = Quantity.from_json(divisor)
    if amount.is_zero or str(amount) in allowed:
        return
    from trainc.kubernetes.structural.remedies import listed

    found.complain(
        ENV_RESOURCE,
        at,
        f"divisor is {divisor}, and may be {listed(list(allowed), 'or')}",
        "write one of these, as it is spelled here",
    )


_SOURCES: Final[dict[str, Rule]] = {
    "fieldRef": field_ref,
    "resourceFieldRef": resource_ref,
    "configMapKeyRef": _key_ref,
    "secretKeyRef": _key_ref,
    "fileKeyRef": _file_ref,
}


def _called(at: At) -> str:
    from trainc.kubernetes.validation import complaints

    return complaints.called(at)
