"""JSON patches (RFC 6902), applied with the jsonpatch library to trees that others share.

Reads    the operations of a patch, and a tree.
Returns  a new tree that shares every unchanged part, and the steps that led to it. Raises PatchError for an operation
         that is not valid or cannot be applied, with its place in the patch. The library only ever sees containers
         that this module has copied: it changes them in place.
Source   RFC 6902 (JSON Patch), RFC 6901 (JSON Pointer). As the RFC requires, `replace` needs an existing field.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from trainc.kubernetes.trees import get
from trainc.patching.faults import PatchError, TooLargeError
from trainc.patching.sizes import DEEPEST, measured
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.trees import Path

MEMBERS: Final = {
    "add": ("path", "value"),
    "copy": ("from", "path"),
    "move": ("from", "path"),
    "remove": ("path",),
    "replace": ("path", "value"),
    "test": ("path", "value"),
}
"""The members that each operation needs."""
END: Final = "-"
"""The pointer part for the place after the last item of a list."""
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")
_TILDE: Final = re.compile(r"~(?![01])")
_SHOWN: Final = 60


class Operation(NamedTuple):
    """One operation of a patch."""

    number: int
    """Its index in the patch."""
    op: str
    path: tuple[str, ...]
    """The parts of its pointer."""
    source: tuple[str, ...] = ()
    """Those of `from`."""
    value: Any = None
    size: int = 1
    """The number of values in `value`."""
    depth: int = 0
    """Its nesting depth."""
    patch: Any = None
    """The operation as a patch of the library; a move is a removal and an addition, as the RFC defines it."""


class Step(NamedTuple):
    """An applied operation, with the indices of list items as numbers."""

    number: int
    """The index of its operation in the patch."""
    op: str
    path: Path
    is_item: bool
    """Whether the last step of the path is the index of an item that was inserted or removed."""


def parse(given: Sequence[Any]) -> tuple[Operation, ...]:
    """Return the operations of a patch. Raises PatchError."""
    from jsonpatch import JsonPatch

    found: list[Operation] = []
    sizes: dict[int, tuple[int, int]] = {}
    for index, each in enumerate(given):
        op = _checked(index, each)
        path, source = (tuple(_parts(each.get(name, ""), (index, name))) for name in ("path", "from"))
        if op == "move" and path[: len(source)] == source and len(path) > len(source):
            message = f"{_shown(each['from'])} cannot be moved into itself"
            raise PatchError(message, "move it to another field", (index, "path"))
        patch = None if op in ("move", "test") else JsonPatch([{name: each[name] for name in ("op", *MEMBERS[op])}])
        found.append(Operation(index, op, path, source, each.get("value"), *measured(each.get("value"), sizes), patch))
    return tuple(found)


def _checked(index: int, given: Any) -> str:
    """Return the name of an operation that has all its members."""
    if not isinstance(given, dict):
        raise PatchError("an operation must be a mapping", "use {op: add, path: /spec/..., value: ...}", (index,))
    op = given.get("op")
    if not isinstance(op, str) or op not in MEMBERS:
        from trainc.nearest import nearest

        near = nearest(op, MEMBERS) if isinstance(op, str) else None
        help = f"did you mean {near}?" if near else f"use one of {', '.join(MEMBERS)}"
        if "op" not in given:
            raise PatchError("the operation has no op", f"add op: one of {', '.join(MEMBERS)}", (index,))
        raise PatchError(f"unknown operation {_quoted(op)}", help, (index, "op"))
    for name in MEMBERS[op]:
        if name not in given:
            raise PatchError(f'the operation "{op}" has no {name}', f"add {name}", (index,))
    return op


def _parts(pointer: Any, at: Path) -> Iterator[str]:
    """Yield the unescaped parts of a pointer."""
    if not isinstance(pointer, str):
        raise PatchError(f"{at[-1]} must be a string", "use a JSON pointer, such as /spec/suspend", at)
    if not pointer:
        return
    if not pointer.startswith("/"):
        message = f"the pointer {_quoted(pointer)} does not start with a slash"
        raise PatchError(message, f"use /{pointer.replace('.', '/')}", at)
    wrong = _TILDE.search(pointer)
    if wrong:
        message = f"the pointer {_quoted(pointer)} has a ~ that is not ~0 or ~1"
        raise PatchError(message, "write ~0 for ~, and ~1 for /", at, part=wrong.span())
    for part in pointer[1:].split("/"):
        yield part.replace("~1", "/").replace("~0", "~")


def apply(tree: Any, operations: Sequence[Operation], *, most: int | None = None) -> tuple[Any, tuple[Step, ...]]:
    """Return the tree with all operations applied in order, and the steps. Raises PatchError, TooLargeError.

    most     the maximum number of values that the operations compare, copy, move and write; None without a maximum
    """
    edited = _Edited(tree, most)
    steps = tuple(step for operation in operations for step in edited.apply(operation))
    return edited.tree, steps


class _Edited:
    """A tree whose containers are copied before the library changes them."""

    def __init__(self, tree: Any, most: int | None) -> None:
        self.tree = tree
        self.most = most
        self.used = 0
        self.own: dict[int, Any] = {}
        """The copies, which nothing else shares, by identity."""

    def apply(self, operation: Operation) -> Iterator[Step]:
        """Apply one operation and yield its steps."""
        index = operation.number
        size, depth = operation.size, operation.depth
        value = None
        if operation.op in ("copy", "move"):
            value = self._value(operation.source, (index, "from"))
            size, depth = measured(value)
        self.used += size
        if self.most is not None and self.used > self.most:
            raise TooLargeError((index,))
        if len(operation.path) + depth > DEEPEST:
            message = f"the result has more than {DEEPEST} nested mappings and lists"
            raise PatchError(message, "write the value to a field that is less deep", (index, "path"))
        if operation.op == "test":
            self._test(operation)
        elif operation.op != "move":
            yield self._change(operation)
        elif operation.source != operation.path:
            yield self._change(_part(operation._replace(op="remove", path=operation.source)), "from")
            yield self._change(_part(operation._replace(op="add", value=value)))

    def _change(self, operation: Operation, member: str = "path") -> Step:
        """Check that an operation can be applied, copy the containers that it changes, and apply it."""
        index, op, parts = operation.number, operation.op, operation.path
        if not parts and op == "remove":
            raise PatchError("the whole object cannot be removed", "use the pointer of a field", (index, member))
        path = self._resolved(parts, (index, member), adds=op in ("add", "copy"))
        self._copy(path[:-1])
        self.tree = operation.patch.apply(self.tree, in_place=True)
        return Step(index, op, path, bool(path) and isinstance(path[-1], int) and op != "replace")

    def _copy(self, path: Path) -> None:
        """Replace the containers on a path by copies."""
        self.tree = self._copied(self.tree)
        node = self.tree
        for step in path:
            node[step] = self._copied(node[step])
            node = node[step]

    def _copied(self, node: Any) -> Any:
        if id(node) in self.own or not isinstance(node, dict | list):
            return node
        copy: Any = dict(node) if isinstance(node, dict) else list(node)
        self.own[id(copy)] = copy
        return copy

    def _resolved(self, parts: tuple[str, ...], at: Path, *, adds: bool = False) -> Path:
        """Return the path of a pointer. The last part may be missing if the operation adds it."""
        node, path = self.tree, cast("Path", ())
        for number, part in enumerate(parts):
            last = adds and number == len(parts) - 1
            step = _step(node, part, adds=last)
            if step is None:
                raise _missing(node, path, parts, number, at)
            path = (*path, step)
            node = None if last else node[step]
        return path

    def _value(self, parts: tuple[str, ...], at: Path) -> Any:
        """Return the value of a pointer, which must exist."""
        node = self.tree
        for step in self._resolved(parts, at):
            node = node[step]
        return node

    def _test(self, operation: Operation) -> None:
        found = self._value(operation.path, (operation.number, "path"))
        if not equal(found, operation.value):
            message = f"the test fails: {_at(operation.path)} is {_value(found)}, not {_value(operation.value)}"
            raise PatchError(message, "narrow the target, or remove the test", (operation.number, "value"))


def _part(operation: Operation) -> Operation:
    """Return one of the two operations of a move as a patch of the library."""
    from jsonpatch import JsonPatch

    given = {"op": operation.op, "path": "".join(f"/{_escaped(part)}" for part in operation.path)}
    if operation.op == "add":
        given["value"] = operation.value
    return operation._replace(patch=JsonPatch([given]))


def _step(node: Any, part: str, *, adds: bool) -> str | int | None:
    """Return the key or index of a pointer's part in a container; None if it is missing."""
    if isinstance(node, dict):
        return part if adds or part in node else None
    if isinstance(node, list):
        if adds and part == END:
            return len(node)
        if _INDEX.fullmatch(part) and int(part) < len(node) + adds:
            return int(part)
    return None


def _missing(node: Any, path: Path, parts: tuple[str, ...], number: int, at: Path) -> PatchError:
    """Return the error for the first part of a pointer that does not exist."""
    from trainc.nearest import nearest
    from trainc.plural import plural

    part, above = parts[number], _at(parts[:number])
    begin = sum(len(_escaped(earlier)) + 1 for earlier in parts[:number]) + 1
    span = (begin, max(begin + len(_escaped(part)), begin + 1))
    if isinstance(node, dict):
        near = nearest(part, [key for key in node if isinstance(key, str)])
        names = ", ".join(list(map(str, node))[:8])
        message = f"{above} has no field {_quoted(part)}"
        help = f"did you mean {near}?" if near else f"use add to create it; {above} has {names or 'no fields'}"
    elif isinstance(node, list):
        message = f"{above} has {plural(len(node), 'item')}, so there is no item {_quoted(part)}"
        help = f"use an index below {len(node)}, or add with /- to append" if node else "append an item: add with /-"
    else:
        message, help = f"{above} is neither a mapping nor a list", f"remove /{_shown(part)} from the pointer"
    return PatchError(message, help, at, part=span)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _at(parts: Sequence[str]) -> str:
    return "/" + "/".join(map(_escaped, parts)) if parts else "the object"


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal as RFC 6902 compares them: numbers by value, and true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _value(value: Any) -> str:
    import json

    return _shown(json.dumps(value, ensure_ascii=False))


def _quoted(value: Any) -> str:
    return f'"{_shown(value)}"' if isinstance(value, str) else _value(value)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def written(steps: Sequence[Step], path: Path) -> tuple[Step, Path] | Path:
    """Return the step that wrote a field of the result, with the path below its value; or the path before all steps."""
    for step in reversed(steps):
        length = len(step.path)
        if step.op != "remove" and path[:length] == step.path:
            return step, path[length:]
        if step.op == "remove" and path == step.path and not step.is_item:
            return step, ()
        if step.is_item and len(path) >= length and path[: length - 1] == step.path[:-1]:
            index, changed = path[length - 1], step.path[-1]
            if isinstance(index, int) and isinstance(changed, int):
                shift = 1 if step.op == "remove" and index >= changed else 0
                shift = -1 if step.op != "remove" and index > changed else shift
                path = (*path[: length - 1], index + shift, *path[length:])
    return path


def value_at(given: Any, step: Step, rest: Path) -> Path:
    """Return the path in a patch of the field that a step wrote: in the operation's value, or its pointer."""
    has = "value" in given[step.number] and get(given, (step.number, "op")) in ("add", "replace")
    return (step.number, "value", *rest) if has else (step.number, "from" if "from" in given[step.number] else "path")
