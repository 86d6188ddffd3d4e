#!/usr/bin/env python3
"""Compare the generated models of two releases of Trainer, field by field.

    pip download --no-deps -d DIR kubeflow-trainer-api==VERSION     for each version
    compare_models.py OLD.whl NEW.whl

Reads    two wheels of kubeflow-trainer-api, without importing their code: the classes of Trainer's own kinds.
Prints   each class and each field that only one has, and each field whose type, requirement, limits or enumeration
         differ. Models have no rules (CEL) and no defaults: read those in the CRDs.
Exits    with 1 if there is a difference.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import zipfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELS: Final = re.compile(r"kubeflow_trainer_api/models/trainer_v1alpha1_\w+\.py")
Fields = dict[str, str]
"""The type, the limits and the enumeration of each field, as text."""


def models(wheel: str) -> dict[str, Fields]:
    """Return the fields of each class of a wheel."""
    found: dict[str, Fields] = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(filter(MODELS.fullmatch, archive.namelist())):
            for node in ast.parse(archive.read(name)).body:
                if isinstance(node, ast.ClassDef):
                    found[node.name] = fields(node)
    return found


def fields(model: ast.ClassDef) -> Fields:
    """Return the fields of a class: those with a pydantic `Field`, and the values that validators allow.

    >>> text = "class A:\\n  num: Optional[Annotated[int, Field(ge=0)]] = Field(default=None, alias='numNodes')"
    >>> fields(ast.parse(text).body[0])
    {'numNodes': 'Optional[Annotated[int, Field(ge=0)]]'}
    """
    found, names = {}, {}
    for node in model.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call) and isinstance(node.target, ast.Name):
            alias = next((ast.literal_eval(each.value) for each in node.value.keywords if each.arg == "alias"), None)
            names[node.target.id] = alias or node.target.id
            found[names[node.target.id]] = ast.unparse(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "field_validator":
                    allowed = [ast.unparse(test) for test in ast.walk(node) if isinstance(test, ast.Compare)]
                    for argument in decorator.args:
                        found[names[ast.literal_eval(argument)]] += f", {'; '.join(allowed)}"
    return found


def differences(old: dict[str, Fields], new: dict[str, Fields]) -> Iterator[str]:
    """Yield a line for each difference.

    >>> list(differences({"A": {"x": "int"}}, {"A": {"x": "str", "y": "int"}, "B": {}}))
    ['A.x: int -> str', 'A.y: added, int', 'B: added']
    """
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            yield f"{name}: {'added' if name in new else 'removed'}"
            continue
        before, after = old[name], new[name]
        for field in sorted(before.keys() | after.keys()):
            if field not in before:
                yield f"{name}.{field}: added, {after[field]}"
            elif field not in after:
                yield f"{name}.{field}: removed"
            elif before[field] != after[field]:
                yield f"{name}.{field}: {before[field]} -> {after[field]}"


def main(argv: list[str] | None = None) -> int:
    """Print the differences."""
    parser = argparse.ArgumentParser(description="Compare the generated models of two releases of Trainer.")
    parser.add_argument("old", metavar="OLD.whl")
    parser.add_argument("new", metavar="NEW.whl")
    args = parser.parse_args(argv)
    found = [*differences(models(args.old), models(args.new))]
    print("".join(f"{line}\n" for line in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
