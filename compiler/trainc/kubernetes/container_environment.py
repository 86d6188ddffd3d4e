"""A container's environment as the kubelet builds it: `envFrom`, then `env`, with `$(VAR)` expanded.

Reads    a container, the known parts of its pod, and manifests of ConfigMaps and Secrets.
Returns  a value for each variable, the command and the arguments. A value that is not known before the pod runs is
         Unknown, and so is every value that refers to it.
Source   Kubernetes 1.36: how the kubelet builds variables and expands references in variables, commands and arguments.
         Service variables are not generated, because only the cluster knows its Services.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.downward import Unknown, Value, field_value, resource_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainc.kubernetes.downward import Known
    from trainc.kubernetes.trees import Tree

    Shown = Callable[[str, str], str]
    """Returns the value of a variable, by its name, as the user sees it."""

__all__ = ["ContainerEnvironment", "Sources", "Unknown", "Value", "environment", "expand", "sources"]

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
