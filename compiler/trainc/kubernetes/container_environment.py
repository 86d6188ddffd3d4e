"""A container's environment as the kubelet builds it: `envFrom`, then `env`, with `$(VAR)` expanded.

Reads    a container, the known parts of its pod, and manifests of ConfigMaps and Secrets.
Returns  a value for each variable, the command and the arguments; the values of the downward API. A value that is not
         known before the pod runs is Unknown, with the reason, and so is every value that refers to it.
         `without_shadowed` returns variables with unique names, as JobSet's schema requires, that give a process the
         same environment.
Source   Kubernetes 1.36: how the kubelet builds variables and expands references in variables, commands and arguments.
         The last variable of a name applies. Service variables are not generated, because only the cluster knows its
         Services. Resource values are divided and rounded up; a missing limit falls back to the pod's limit, then to
         the node's capacity.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.quantity import Quantity
from trainc.kubernetes.trees import get
from trainc.kubernetes.validation.projections import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trainc.kubernetes.trees import Tree

    Shown = Callable[[str, str], str]
    """Returns the value of a variable, by its name, as the user sees it."""

__all__ = ["ContainerEnvironment", "Sources", "Unknown", "Value", "environment", "expand", "sources"]


class Unknown(NamedTuple):
    """A value that is not known before the pod runs."""

    reason: str
    """The reason, for the user."""


Value = str | Unknown
Data = dict[str, Value]
Sources = dict[tuple[str, str], Data]
"""The data of ConfigMaps and Secrets, by kind and name."""
_REFERENCE: Final = re.compile(r"\$[$(]")
"""An escaped dollar sign, or the beginning of a reference."""
LONGEST: Final = 128 * 1024 - 1
"""The maximum length of an argument or a variable with its name, which a process can be started with."""
_SERVICE_VARIABLES: Final = re.compile(r"KUBERNETES_(SERVICE|PORT)(_|$)")
"""Variables that every pod has."""
_KINDS: Final = {
    "configMapRef": "ConfigMap",
    "secretRef": "Secret",
    "configMapKeyRef": "ConfigMap",
    "secretKeyRef": "Secret",
}
_LATER: Final = {
    "metadata.uid": "the API server generates it when the pod is created",
    "spec.nodeName": "the scheduler chooses the node",
    "status.hostIP": "the scheduler chooses the node",
    "status.hostIPs": "the scheduler chooses the node",
    "status.podIP": "the node assigns the pod's address",
    "status.podIPs": "the node assigns the pod's address",
}
"""Fields that are only set in the cluster, with the reason."""
_NODE_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""Resources for which a container without a limit may use the node's capacity."""


class ContainerEnvironment(NamedTuple):
    """The variables of a container's processes."""

    variables: dict[str, Value]
    missing: dict[int, tuple[str, Unknown]]
    """The `envFrom` items whose data is unknown, by index, each with its variable prefix."""

    def lookup(self, name: str) -> Value:
        """Return the value of `$(name)`; the reference itself if there is no such variable."""
        found = self.variables.get(name)
        if found is not None:
            return Unknown(f"{name} is not known: {found.reason}") if isinstance(found, Unknown) else found
        for prefix, unknown in self.missing.values():
            if name.startswith(prefix):
                return Unknown(f"{name} may be set by envFrom: {unknown.reason}")
        if _SERVICE_VARIABLES.match(name):
            return Unknown(f"{name} is set from a Service of the cluster")
        return f"$({name})"

    def known(self, name: str) -> str | None:
        """Return the value of a variable; None if it is not known, or not set."""
        found = self.variables.get(name)
        return found if isinstance(found, str) else None

    def expanded(self, texts: list[str]) -> list[Value]:
        """Return a command or arguments with their variables expanded."""
        return [expand(text, self.lookup) for text in texts]


def expand(text: str, lookup: Callable[[str], Value]) -> Value:
    """Return the text with every `$(NAME)` replaced by its value in `lookup`.

    `$$` is a `$`. Replacement text is not expanded again. A result longer than `LONGEST` is Unknown: variables that
    refer to others twice double their length with each step.

    >>> [expand(text, {"A": "1"}.get) for text in ("$(A)$$(A)", "$A $$A $(A", "$$$(A)")]
    ['1$(A)', '$A $A $(A', '$1']
    """
    parts: list[str] = []
    end = size = 0
    last = text.rfind(")")
    for match in _REFERENCE.finditer(text):
        begin, after = match.span()
        if begin < end or (match[0] == "$(" and last < after):
            continue
        closed = text.index(")", after) if match[0] == "$(" else after
        value = lookup(text[after:closed]) if match[0] == "$(" else "$"
        if isinstance(value, Unknown):
            return value
        parts += [text[end:begin], value]
        end = closed + (match[0] == "$(")
        size += len(parts[-2]) + len(value)
        if size > LONGEST:
            return Unknown(f"it is longer than {LONGEST} bytes, Linux's limit for one string")
    return "".join((*parts, text[end:]))


def environment(
    container: Tree, pod: Known, sources: Mapping[tuple[str, str], Data], shown: Shown | None = None
) -> ContainerEnvironment:
    """Return a container's variables in the order of their definition; a later one overrides an earlier one.

    With `shown`, each variable has the value that this function returns, also in the variables that refer to it. A
    value that is written in the container stays as it is.
    """
    result = ContainerEnvironment({}, {})
    for index, source in enumerate(container.get("envFrom") or ()):
        prefix = source.get("prefix") or ""
        for key, ref in source.items():
            if key not in _KINDS:
                continue
            data = sources.get((_KINDS[key], ref.get("name", "")))
            if data is None:
                result.missing[index] = (prefix, _not_given(_KINDS[key], ref))
            else:
                result.variables.update(_shown(f"{prefix}{name}", data[name], shown) for name in sorted(data))
    for variable in container.get("env") or ():
        value: Value | None = ""
        if text := variable.get("value"):
            value = expand(text, result.lookup)
        elif source := variable.get("valueFrom"):
            value = _resolved(source, container, pod, sources)
        if value is not None:
            result.variables.update([_shown(variable["name"], value, None if value == text else shown)])
    return result


def _shown(name: str, value: Value, shown: Shown | None) -> tuple[str, Value]:
    return name, value if shown is None or isinstance(value, Unknown) else shown(name, value)


def _resolved(source: Tree, container: Tree, pod: Known, sources: Mapping[tuple[str, str], Data]) -> Value | None:
    """Return the value of a `valueFrom`; None if the variable is not set."""
    if "fieldRef" in source:
        return field_value(pod, source["fieldRef"]["fieldPath"])
    if "resourceFieldRef" in source:
        return resource_value(pod.spec, container, source["resourceFieldRef"])
    key = next((key for key in _KINDS if key in source), None)
    if key is None:
        return Unknown("it is read from a file when the container starts")
    ref = source[key]
    data = sources.get((_KINDS[key], ref.get("name", "")))
    if data is None:
        return _not_given(_KINDS[key], ref)
    if ref["key"] in data:
        return data[ref["key"]]
    if ref.get("optional"):
        return None
    return Unknown(f'{_KINDS[key]} "{ref.get("name", "")}" has no key "{ref["key"]}": the container will not start')


def _not_given(kind: str, ref: Tree) -> Unknown:
    maybe = ", and may not exist in the cluster" if ref.get("optional") else ""
    return Unknown(f'{kind} "{ref.get("name", "")}" is not in the given documents{maybe}')


def sources(manifests: Iterable[Any], namespace: str) -> Sources:
    """Return the data of the ConfigMaps and Secrets in some manifests that may be in the namespace.

    A manifest without a namespace matches every namespace; one of exactly this namespace takes precedence.
    """
    exact: Sources = {}
    unspecified: Sources = {}
    for tree in manifests:
        metadata = tree.get("metadata") if isinstance(tree, dict) else None
        if not isinstance(metadata, dict) or tree.get("kind") not in ("ConfigMap", "Secret"):
            continue
        its = metadata.get("namespace") or ""
        if its == namespace or not (its and namespace):
            (exact if its == namespace else unspecified).setdefault(
                (tree["kind"], str(metadata.get("name"))), usable_data(tree)
            )
    return unspecified | exact


def usable_data(tree: Tree) -> Data:
    """Return the data of a ConfigMap or Secret that variables can use."""
    data, plain = (tree[key] if isinstance(tree.get(key), dict) else {} for key in ("data", "stringData"))
    if tree["kind"] == "ConfigMap":
        return {key: text(value) for key, value in data.items()}
    return {key: decoded(value) for key, value in data.items()} | {key: text(value) for key, value in plain.items()}


def text(value: Any) -> Value:
    """Return the value of a ConfigMap key."""
    return value if isinstance(value, str) else Unknown("it is not a string in the given document")


def decoded(value: Any) -> Value:
    """Return the decoded value of a Secret key in base64."""
    try:
        return b64decode(value, validate=True).decode()
    except (TypeError, ValueError):
        return Unknown("it is not base64-encoded text in the given document")


class Known(NamedTuple):
    """The parts of a pod that are known before it runs."""

    name: Value
    namespace: Value
    labels: dict[str, Value]
    annotations: dict[str, Value]
    spec: Tree
    others: Value = ""
    """The value of any other label or annotation."""


def field_value(pod: Known, path: str) -> Value:
    """Return the value of a `fieldRef`."""
    name, subscript = split(path)
    if subscript is not None:
        return (pod.labels if name == "metadata.labels" else pod.annotations).get(subscript, pod.others)
    if name in ("metadata.name", "metadata.namespace"):
        return pod.name if name == "metadata.name" else pod.namespace
    if name == "spec.serviceAccountName":
        return str(pod.spec.get("serviceAccountName") or "default")
    if name == "spec.nodeName" and pod.spec.get("nodeName"):
        return str(pod.spec["nodeName"])
    return Unknown(_LATER.get(name, f"{path} is only set in the cluster"))


def resource_value(pod: Tree, container: Tree, ref: Tree) -> Value:
    """Return the value of a `resourceFieldRef`: for `container`, unless the reference names another one."""
    if named := ref.get("containerName"):
        containers = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
        container = next((found for found in containers if found["name"] == named), container)
    kind, _, resource = ref["resource"].partition(".")
    amount = get(container, ("resources", kind, resource))
    quantity = Quantity.from_json(amount)
    if kind == "limits" and resource in _NODE_RESOURCES and quantity.is_zero:
        pod_limit = Quantity.from_json(get(pod, ("resources", "limits", resource)))
        if pod_limit.is_zero:
            return Unknown(f"without a limit it is the node's {resource}, and the scheduler chooses the node")
        quantity = pod_limit
    divisor = Quantity.from_json(ref.get("divisor"))
    if divisor.is_zero:
        divisor = Quantity(1)
    if resource == "cpu":
        return _ratio(quantity.milli_value(), divisor.milli_value())
    return _ratio(quantity.value(), divisor.value())


def _ratio(amount: int, divisor: int) -> str:
    """Return the amount in units of the divisor, rounded up; the division uses floating point, as in Kubernetes."""
    return str(math.ceil(float(amount) / float(divisor)))


def without_shadowed(variables: Sequence[Tree]) -> list[Tree]:
    """Return the variables without the shadowed ones, whose values replace the references to them.

    A shadowed variable whose value only the cluster knows gets another name if there is a reference to it.

    >>> without_shadowed([{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}, {"name": "A", "value": "2"}])
    [{'name': 'B', 'value': '1'}, {'name': 'A', 'value': '2'}]
    """
    last = {variable.get("name"): index for index, variable in enumerate(variables)}
    if len(last) == len(variables):
        return [*variables]
    result: list[Tree] = []
    shadowed: dict[str, Tree] = {}
    for index, written in enumerate(variables):
        name = str(written.get("name"))
        variable = _expanded(written, shadowed, result)
        if last[written.get("name")] == index:
            shadowed.pop(name, None)
            result.append(variable)
        else:
            shadowed[name] = variable
    return result


def _expanded(variable: Tree, shadowed: dict[str, Tree], result: list[Tree]) -> Tree:
    """Return a variable with the values of shadowed variables in place of the references to them."""
    text = variable.get("value")
    if not shadowed or not isinstance(text, str) or "$(" not in text or "valueFrom" in variable:
        return variable

    def value(name: str) -> str | None:
        earlier = shadowed.get(name)
        if earlier is None:
            return None
        if "valueFrom" not in earlier:
            return str(earlier.get("value") or "")
        return f"$({_renamed_variable(earlier, result)})"

    return variable | {"value": _with_references(text, value)}


def _with_references(text: str, value: Callable[[str], str | None]) -> str:
    """Return a text in which each reference has its value, unless that is None. `$$` is an escaped dollar sign."""
    parts, end, at = list[str](), 0, text.find("$")
    while at >= 0:
        after = at + 2
        if text.startswith("$(", at):
            closed = text.find(")", after)
            if closed < 0:
                break
            replaced = value(text[after:closed])
            after = closed + 1
            if replaced is not None:
                parts += text[end:at], replaced
                end = after
        elif not text.startswith("$$", at):
            after = at + 1
        at = text.find("$", after)
    return "".join((*parts, text[end:]))


def _renamed_variable(earlier: Tree, result: list[Tree]) -> str:
    """Return the new name of a shadowed variable that is kept, and add it to the result on the first call."""
    name = f"{earlier['name']}_"
    if all(variable.get("name") != name for variable in result):
        result.append(earlier | {"name": name})
    return name
