"""The API server's rules for a container's environment variables and their sources.

Names follow the rule of Kubernetes 1.34 and later: any printable ASCII character except an equals sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.kubernetes.trees import path_of
from trainc.kubernetes.validation.combinators import FieldRule, PodViolations, called, field_of
from trainc.kubernetes.violations import INVALID_NAME, listed, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from trainc.kubernetes.trees import At, Tree

ENV_FIELD: Final = Declaration("env-field", ("job",), fix="safe")
ENV_FILE: Final = Declaration("env-file", ("job",))
ENV_RESOURCE: Final = Declaration("env-resource", ("job",), fix="safe")
ENV_SOURCE: Final = Declaration("env-source", ("job",))
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
"""The pod fields that a variable can read."""
INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Nearly every job reads this annotation, so it is accepted without further checks."""
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


def env(violations: PodViolations, at: At, variables: list[Tree]) -> None:
    """Check a container's environment variables."""
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not (name.isidentifier() and name.isascii()):
            _name(violations, ((at, index), "name"), name)
        if "valueFrom" in variable:
            _value_from(violations, (at, index), variable)


def env_from(violations: PodViolations, at: At, sources: list[Tree]) -> None:
    """Check the ConfigMaps and Secrets in envFrom. The API server's error for one without a source has no index."""
    for index, source in enumerate(sources):
        here = (at, index)
        if prefix := source.get("prefix"):
            _name(violations, (here, "prefix"), prefix)
        present = [kind for kind in _OBJECTS if kind in source]
        for kind in present:
            _object(violations, ((here, kind), "name"), source[kind].get("name", ""))
        if len(present) != 1:
            _source_count(violations, here, present, _OBJECTS, field=field_of(at))


def field_ref(violations: PodViolations, at: At, ref: Tree, readable: Collection[str] = FIELDS) -> None:
    """Check a reference to a pod field: one of `readable`, or a single label or annotation."""
    path = ref.get("fieldPath", "")
    version = ref.get("apiVersion") or "v1"
    if version == "v1" and (path == INDEX or _OLD_NAMES.get(path, path) in readable):
        return
    if not path:
        violations.report_missing((at, "fieldPath"), "set a pod field, for example fieldPath: metadata.name")
    elif version != "v1":
        violations.report(
            ENV_FIELD,
            (at, "apiVersion"),
            f'apiVersion must be "v1", not "{version}"',
            "remove apiVersion",
            field=field_of((at, "fieldPath")),
        )
    else:
        _check_subscript(violations, at, path, readable)


def resource_ref(violations: PodViolations, at: At, ref: Tree) -> None:
    """Check a reference to a request or a limit, and its divisor."""
    resource = ref.get("resource", "")
    huge = resource.startswith(HUGE_PAGES)
    if not resource or not (huge or resource in RESOURCES):
        _unsupported_resource(violations, (at, "resource"), resource)
    elif "divisor" in ref:
        divisors = CPU_DIVISORS if resource.endswith(".cpu") and not huge else BYTE_DIVISORS
        _divisor(violations, (at, "divisor"), ref["divisor"], divisors)


def _value_from(violations: PodViolations, at: At, variable: Tree) -> None:
    here, source = (at, "valueFrom"), variable["valueFrom"]
    present = [kind for kind in _SOURCES if kind in source]
    for kind in present:
        _SOURCES[kind](violations, (here, kind), source[kind])
    if len(present) == 1 and not variable.get("value"):
        return
    if present and variable.get("value"):
        violations.report(
            ENV_SOURCE,
            here,
            f"{called(at)} sets both value and valueFrom",
            "remove value or valueFrom",
            related=(("the value", (at, "value")),),
        )
    else:
        _source_count(violations, here, present, tuple(_SOURCES))


def _source_count(
    violations: PodViolations, at: At, present: list[str], possible: tuple[str, ...], *, field: str = ""
) -> None:
    violations.report(
        ENV_SOURCE,
        at,
        f"{called(at)} sets {listed(present)}, but must set exactly one source"
        if present
        else f"{called(at)} sets no source",
        "keep only one of them" if present else f"add one of {listed(list(possible), 'or')}",
        field=field,
        related=tuple((kind, (at, kind)) for kind in present),
    )


def _name(violations: PodViolations, at: At, name: str) -> None:
    """Check a variable name or a variable name prefix."""
    from trainc.kubernetes import names

    if not names.env_var_name_errors(name):
        return
    if not name:
        violations.report_missing(at, "name the variable, for example NCCL_DEBUG")
        return
    invalid = next(character for character in name if not " " <= character <= "~" or character == "=")
    violations.report(
        INVALID_NAME,
        at,
        f"{called(at)} is not a valid variable name: {shown(name)} contains {shown(invalid)}",
        f"use only the name, {name.partition('=')[0]}, and move the rest to value"
        if invalid == "=" and name[0] != "="
        else "use letters, digits and `_`",
    )


def _object(violations: PodViolations, at: At, name: str, *, as_prefix: bool = True) -> None:
    """Check the name of a ConfigMap or a Secret.

    With `as_prefix`, the name may be the beginning of one: a trailing dash and the character before it are not checked.
    """
    from trainc.kubernetes import names

    checked = f"{name[:-2]}a" if as_prefix and len(name) > 1 and name.endswith("-") else name
    if not names.dns1123_subdomain_errors(checked):
        return
    if name:
        violations.bad_name(at, name, "subdomain")
    else:
        violations.report_missing(at, "set the name of the object that has the value")


def _key_ref(violations: PodViolations, at: At, ref: Tree) -> None:
    """Check a reference to a key of a ConfigMap or a Secret."""
    _object(violations, (at, "name"), ref.get("name", ""), as_prefix=False)
    key = ref.get("key", "")
    from trainc.kubernetes import names

    if not names.config_map_key_errors(key):
        return
    if not key:
        violations.report_missing((at, "key"), "set the key that has the value")
        return
    violations.report(
        INVALID_NAME,
        (at, "key"),
        f"key {shown(key)} is not a valid ConfigMap or Secret key",
        "use at most 253 letters, digits, `-`, `_` and `.`, and do not start with two dots",
    )


def _file_ref(violations: PodViolations, at: At, ref: Tree) -> None:
    """Check a variable that an init container writes to a file in an emptyDir volume."""
    _file_volume(violations, (at, "volumeName"), ref.get("volumeName", ""))
    from trainc.kubernetes.validation import mounts

    if not ref.get("path"):
        violations.report_missing((at, "path"), "set the path of the file in the volume")
    elif ".." in ref["path"].split("/"):
        violations.report(
            mounts.SUB_PATH,
            (at, "path"),
            f'path {ref["path"]} contains "..", which leads out of the volume',
            "use a path inside the volume, without ..",
        )
    if not ref.get("key"):
        violations.report_missing((at, "key"), "set the name of the variable in the file")
    else:
        _name(violations, (at, "key"), ref["key"])


def _file_volume(violations: PodViolations, at: At, name: str) -> None:
    """Check a file's volume: it must exist, valid or not, and be an emptyDir, which is the default source."""
    from trainc.kubernetes import names
    from trainc.kubernetes.validation import mounts

    volume = next((v for v in violations.pod.get("volumes") or () if v.get("name") == name), None)
    if not name:
        violations.report_missing(at, "set the name of the emptyDir volume that has the file")
    elif names.dns1123_label_errors(name):
        violations.bad_name(at, name, "label")
    elif volume is None:
        mounts.no_volume(violations, at, name)
    elif "emptyDir" not in volume and volume.keys() != {"name"}:
        violations.report(
            ENV_FILE,
            at,
            f'volume "{name}" is not an emptyDir volume, which fileKeyRef requires',
            "use an emptyDir volume that an init container writes the file to, or configMapKeyRef or secretKeyRef for "
            "a ConfigMap or a Secret",
            related=(("the volume", mounts.volume_at(violations, at, name)),),
        )


def _check_subscript(violations: PodViolations, at: At, path: str, readable: Collection[str]) -> None:
    """Check a path that is not one of the readable fields: it may be a single label or annotation."""
    from trainc.kubernetes import names

    base, bracket, key = path.removesuffix("']").partition("['")
    if not (path.endswith("']") and base and bracket and base in _KEYED):
        _unsupported_field(violations, (at, "fieldPath"), path, readable)
    elif names.qualified_name_errors(key if base == "metadata.labels" else key.lower()):
        from trainc.kubernetes import names

        kind = base.removeprefix("metadata.")[:-1]
        violations.report(
            ENV_FIELD,
            (at, "fieldPath"),
            f"fieldPath has an invalid {kind} key: {shown(key)} {names.fault_of_key(key)}",
            f"use a valid key, as in {base}['app.kubernetes.io/name']",
            field=field_of(at),
        )


def _unsupported_field(violations: PodViolations, at: At, path: str, readable: Collection[str]) -> None:
    from trainc.base.fixes import Fix, replaced_name

    help: str | Fix
    if path in _KEYED:
        help = f"use a single {path.removeprefix('metadata.')[:-1]}: {path}['KEY']"
    elif near := replaced_name(path_of(at), path, readable, likeness=0.8):
        help = near
    else:
        help = f"use one of {listed(sorted(readable))}, or a single label or annotation: metadata.labels['KEY']"
    violations.report(ENV_FIELD, at, f"fieldPath {shown(path)} is not a pod field that can be read here", help)


def _unsupported_resource(violations: PodViolations, at: At, resource: str) -> None:
    from trainc.base.fixes import Fix, replaced_name

    help: str | Fix
    if not resource:
        violations.report_missing(at, "set a resource, for example resource: limits.cpu")
        return
    if "gpu" in resource.lower():
        help = "set the number of GPUs as the variable's value"
    elif near := replaced_name(path_of(at), resource, RESOURCES, likeness=0.75):
        help = near
    else:
        help = f"use one of {listed(list(RESOURCES))}, or huge pages; set any other number as the variable's value"
    violations.report(ENV_RESOURCE, at, f"resource {shown(resource)} cannot be read by a variable", help)


def _divisor(violations: PodViolations, at: At, divisor: Any, allowed: tuple[str, ...]) -> None:
    """Check the divisor of a resource, as Kubernetes prints it; 0 means the default."""
    from trainc.kubernetes.quantity import Quantity

    amount = Quantity.from_json(divisor)
    if amount.is_zero or str(amount) in allowed:
        return
    violations.report(
        ENV_RESOURCE,
        at,
        f"divisor must be {listed(list(allowed), 'or')}, not {divisor}",
        "use one of these values exactly as written",
    )


_SOURCES: Final[dict[str, FieldRule]] = {
    "fieldRef": field_ref,
    "resourceFieldRef": resource_ref,
    "configMapKeyRef": _key_ref,
    "secretKeyRef": _key_ref,
    "fileKeyRef": _file_ref,
}
