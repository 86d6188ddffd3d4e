"""Variables of a container that a later variable of the same name shadows.

Reads    a list of variables, in which names can repeat.
Returns  variables with unique names, as JobSet's schema requires, that give every process the same environment.
Source   Kubernetes 1.36, the kubelet: it expands `$(NAME)` to the value so far. The last variable of a name applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainc.kubernetes.trees import Tree


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
