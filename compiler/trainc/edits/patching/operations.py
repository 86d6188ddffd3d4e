"""JSON patches (RFC 6902), applied with the jsonpatch library to trees that others share.

Reads    the operations of a patch, and a tree.
Returns  a new tree that shares every unchanged part, and the steps that led to it. Raises PatchError for an operation
         that is not valid or cannot be applied, with its place in the patch. The library only ever changes containers
         that this module has copied: it changes them in place.
Source   RFC 6902 (JSON Patch), RFC 6901 (JSON Pointer). As the RFC requires, `replace` needs an existing field.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from trainc.base.records import NamedTuple
from trainc.edits.patching.patch_faults import MissingFieldError, MissingPart, PatchError, TooLargeError
from trainc.kubernetes.trees import DEEPEST, get, measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree

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
    given: Tree
    """The operation with all its members."""
    patch: Any
    """The operation as a patch of the library."""
    size: int = 1
    """The number of values in its `value`."""
    depth: int = 0
    """The nesting depth of its `value`."""


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
    found: list[Operation] = []
    sizes: dict[int, tuple[int, int]] = {}
    for index, each in enumerate(given):
        op = _checked(index, each)
        for name in ("path", "from"):
            _check_pointer(each.get(name, ""), (index, name))
        if op == "move" and each["path"].startswith(f"{each['from']}/"):
            message = f"{_shown(each['from'])} cannot be moved into itself"
            raise PatchError(message, "move it to another field", (index, "path"))
        found.append(_operation(index, each, *measured(each.get("value"), sizes)))
    return tuple(found)


def _operation(index: int, given: Tree, size: int = 1, depth: int = 0) -> Operation:
    from jsonpatch import JsonPatch

    return Operation(index, given, JsonPatch([given]), size, depth)


def _checked(index: int, given: Any) -> str:
    """Return the name of an operation that has all its members."""
    if not isinstance(given, dict):
        raise PatchError("an operation must be a mapping", "use {op: add, path: /spec/..., value: ...}", (index,))
    op = given.get("op")
    if not isinstance(op, str) or op not in MEMBERS:
        from trainc.base.fixes import replaced_name

        if "op" not in given:
            raise PatchError("the operation has no op", f"add op: one of {', '.join(MEMBERS)}", (index,))
        near = replaced_name((index, "op"), op, MEMBERS) if isinstance(op, str) else None
        help = near or f"use one of {', '.join(MEMBERS)}"
        raise PatchError(f"unknown operation {_quoted(op)}", help, (index, "op"))
    for name in MEMBERS[op]:
        if name not in given:
            raise PatchError(f'the operation "{op}" has no {name}', f"add {name}", (index,))
    return op


def _check_pointer(pointer: Any, at: Path) -> None:
    if not isinstance(pointer, str):
        raise PatchError(f"{at[-1]} must be a string", "use a JSON pointer, such as /spec/suspend", at)
    if pointer and not pointer.startswith("/"):
        message = f"the pointer {_quoted(pointer)} does not start with a slash"
        raise PatchError(message, f"use /{pointer.replace('.', '/')}", at)
    wrong = _TILDE.search(pointer)
    if wrong:
        message = f"the pointer {_quoted(pointer)} has a ~ that is not ~0 or ~1"
        raise PatchError(message, "write ~0 for ~, and ~1 for /", at, part=wrong.span())


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
        index, given, _, size, depth = operation
        op, value = given["op"], None
        if op in ("copy", "move"):
            value = get(self.tree, self._resolved(given["from"], (index, "from")))
            size, depth = measured(value)
        self.used += size
        if self.most is not None and self.used > self.most:
            raise TooLargeError((index,))
        if given["path"].count("/") + depth > DEEPEST:
            message = f"the result has more than {DEEPEST} nested mappings and lists"
            raise PatchError(message, "write the value to a field that is less deep", (index, "path"))
        if op == "test":
            self._test(operation)
        elif op != "move":
            yield self._change(operation)
        elif given["from"] != given["path"]:
            yield self._change(_operation(index, {"op": "remove", "path": given["from"]}), "from")
            yield self._change(_operation(index, {"op": "add", "path": given["path"], "value": value}))

    def _change(self, operation: Operation, member: str = "path") -> Step:
        """Check that an operation can be applied, copy the containers that it changes, and apply it."""
        index, op, pointer = operation.number, operation.given["op"], operation.given["path"]
        if not pointer and op == "remove":
            raise PatchError("the whole object cannot be removed", "use the pointer of a field", (index, member))
        path = self._resolved(pointer, (index, member), adds=op in ("add", "copy"))
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

    def _resolved(self, pointer: str, at: Path, *, adds: bool = False) -> Path:
        """Return the path of a pointer. The last part may be missing if the operation adds it."""
        node, path, parts = self.tree, cast("Path", ()), pointer.split("/")
        for number, part in enumerate(parts[1:], 1):
            last = adds and number == len(parts) - 1
            step = _step(node, unescaped(part), adds=last)
            if step is None:
                raise _missing_pointer(node, parts, number, at)
            path = (*path, step)
            node = None if last else node[step]
        return path

    def _test(self, operation: Operation) -> None:
        from jsonpatch import JsonPatchTestFailed

        index, pointer = operation.number, operation.given["path"]
        path = self._resolved(pointer, (index, "path"))
        try:
            operation.patch.apply(self.tree, in_place=True)
        except JsonPatchTestFailed:
            from trainc.kubernetes.trees import put
            from trainc.masking.masked_values import masked_at

            trees = (self.tree, put(self.tree, path, operation.given["value"]))
            found, wanted = (_value(masked_at(tree, path)) for tree in trees)
            message = f"the test fails: {pointer or 'the object'} is {found}, not {wanted}"
            raise PatchError(message, "narrow the target, or remove the test", (index, "value")) from None


def unescaped(part: str) -> str:
    """Return the name of a field from a part of a pointer."""
    return part.replace("~1", "/").replace("~0", "~")


def escaped(name: str) -> str:
    """Return the name of a field as a part of a pointer."""
    return name.replace("~", "~0").replace("/", "~1")


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


def _missing_pointer(node: Any, parts: list[str], number: int, at: Path) -> PatchError:
    """Return the error for a pointer whose part of that number, the first missing one, is not in a container."""
    from trainc.base.texts import plural

    above, written = parts[:number], parts[number]
    where, begin = "/".join(above) or "the object", len("/".join(above)) + 1
    span = (begin, begin + max(len(written), 1))
    part = unescaped(written)
    if isinstance(node, dict):
        names = ", ".join(list(map(str, node))[:8]) or "no fields"
        message = f"{where} has no field {_quoted(part)}"
        keys = [key for key in node if isinstance(key, str)]
        help = f"use add to create it; {where} has {names}"
        return MissingFieldError(message, help, at, span, MissingPart(parts, number, keys))
    if isinstance(node, list):
        message = f"{where} has {plural(len(node), 'item')}, so there is no item {_quoted(part)}"
        help = f"use an index below {len(node)}, or add with /- to append" if node else "append an item: add with /-"
    else:
        message, help = f"{where} is neither a mapping nor a list", f"remove /{_shown(part)} from the pointer"
    return PatchError(message, help, at, part=span)


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
