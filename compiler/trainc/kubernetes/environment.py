"""The environment of a container as the kubelet makes it: `envFrom`, then `env`, with `$(VAR)` replaced.

Reads    a container, its pod as far as it is known, and manifests of ConfigMaps and Secrets.
Returns  a value for each variable, the command and the arguments. What nobody can know before the pod runs is Unknown,
         and so is whatever refers to it.
Source   Kubernetes 1.36: how the kubelet makes variables, and the expansion of references in variables, commands and
         arguments. Variables of services are not made: which there are, the cluster knows.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.downward import Unknown, Value, field_value, resource_value
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainc.kubernetes.downward import Known
    from trainc.kubernetes.trees import Tree

__all__ = ["Environment", "Sources", "Unknown", "Value", "environment", "expand", "sources"]

Data = dict[str, Value]
Sources = dict[tuple[str, str], Data]
"""What is in a ConfigMap or a Secret, by kind and name."""

_REFERENCE: Final = re.compile(r"\$(?:\$|\(([^)]*)\))", re.DOTALL)
_OF_SERVICES: Final = re.compile(r"KUBERNETES_(SERVICE|PORT)(_|$)")
"""The variables that every pod has."""
_KINDS: Final = {
    "configMapRef": "ConfigMap",
    "secretRef": "Secret",
    "configMapKeyRef": "ConfigMap",
    "secretKeyRef": "Secret",
}


class Environment(NamedTuple):
    """What a container's processes find."""

    variables: dict[str, Value]
    missing: dict[int, tuple[str, Unknown]]
    """The items of `envFrom` of which nothing is known, each with the prefix of its variables."""

    def lookup(self, name: str) -> Value:
        """What `$(name)` stands for: itself, where there is no such variable."""
        found = self.variables.get(name)
        if found is not None:
            return Unknown(f"{name} is not known: {found.reason}") if isinstance(found, Unknown) else found
        for prefix, unknown in self.missing.values():
            if name.startswith(prefix):
                return Unknown(f"{name} may come from envFrom: {unknown.reason}")
        if _OF_SERVICES.match(name):
            return Unknown(f"{name} is a variable of the cluster's service")
        return f"$({name})"

    def expanded(self, texts: list[str]) -> list[Value]:
        """A command, or arguments, with the variables in it replaced."""
        return [expand(text, self.lookup) for text in texts]


def expand(text: str, lookup: Callable[[str], Value]) -> Value:
    """The text with every `$(NAME)` replaced by what `lookup` says; `$$` is a `$`, and nothing is replaced twice.

    >>> [expand(text, {"A": "1"}.get) for text in ("$(A)$$(A)", "$A $$A $(A", "$$$(A)")]
    ['1$(A)', '$A $A $(A', '$1']
    """
    unknown: list[Unknown] = []

    def replaced(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        value = lookup(match[1])
        if isinstance(value, Unknown):
            unknown.append(value)
            return ""
        return value

    expanded = _REFERENCE.sub(replaced, text)
    return unknown[0] if unknown else expanded


def environment(container: Tree, pod: Known, sources: Mapping[tuple[str, str], Data]) -> Environment:
    """The variables of a container, in the order in which they are said; a later one takes an earlier one's place."""
    made = Environment({}, {})
    for index, source in enumerate(container.get("envFrom") or ()):
        prefix = source.get("prefix") or ""
        for key, ref in source.items():
            if key not in _KINDS:
                continue
            data = sources.get((_KINDS[key], ref.get("name", "")))
            if data is None:
                made.missing[index] = (prefix, _not_given(_KINDS[key], ref))
            else:
                made.variables.update({f"{prefix}{name}": data[name] for name in sorted(data)})
    for variable in container.get("env") or ():
        value: Value | None = ""
        if text := variable.get("value"):
            value = expand(text, made.lookup)
        elif source := variable.get("valueFrom"):
            value = _resolved(source, container, pod, sources)
        if value is not None:
            made.variables[variable["name"]] = value
    return made


def _resolved(source: Tree, container: Tree, pod: Known, sources: Mapping[tuple[str, str], Data]) -> Value | None:
    """What a source says; None where there is no such variable."""
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
    maybe = ", and may not be in the cluster" if ref.get("optional") else ""
    return Unknown(f'{kind} "{ref.get("name", "")}" is not among the given documents{maybe}')


def sources(manifests: Iterable[Any], namespace: str) -> Sources:
    """What the ConfigMaps and Secrets among some manifests hold; one without a namespace may be of any."""
    in_it: Sources = {}
    elsewhere: Sources = {}
    for tree in manifests:
        metadata = tree.get("metadata") if isinstance(tree, dict) else None
        if not isinstance(metadata, dict) or tree.get("kind") not in ("ConfigMap", "Secret"):
            continue
        its = metadata.get("namespace") or ""
        if its == namespace or not (its and namespace):
            (in_it if its == namespace else elsewhere).setdefault((tree["kind"], str(metadata.get("name"))), held(tree))
    return elsewhere | in_it


def held(tree: Tree) -> Data:
    """What a ConfigMap or a Secret holds for variables."""
    data, plain = (tree[key] if isinstance(tree.get(key), dict) else {} for key in ("data", "stringData"))
    if tree["kind"] == "ConfigMap":
        return {key: text(value) for key, value in data.items()}
    return {key: decoded(value) for key, value in data.items()} | {key: text(value) for key, value in plain.items()}


def text(value: Any) -> Value:
    """What a ConfigMap says of a key."""
    return value if isinstance(value, str) else Unknown("it is no text in the given document")


def decoded(value: Any) -> Value:
    """What a Secret says of a key, in base64."""
    try:
        return b64decode(value, validate=True).decode()
    except (TypeError, ValueError):
        return Unknown("it is no text in base64 in the given document")
