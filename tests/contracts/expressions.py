"""Every regular expression of the package, with the methods that use it, and texts on which it may take long.

`python expressions.py` runs each expression in a child process of its own, on its worst texts of 1 MB under RLIMIT_CPU,
and prints a line of JSON for each: its names, and the signal that ended it, or 0.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import json
import os
import pkgutil
import random
import re
import resource
import time
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

import trainc

SECONDS = 10
"""The processor time of one expression, for all its texts."""
LONG = 10**6
PROBE = 5_000
"""The length of a text when the worst ones are chosen: a quadratic expression takes milliseconds, a linear one less."""
WORST = 3
CASES = 250
METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")
ENDS = ("", "\0", "\n", " @", "!")


class Use(NamedTuple):
    """An expression and the name of the method that a module calls."""

    pattern: str | bytes
    flags: int
    method: str


def modules() -> Iterator[ModuleType]:
    """Yield all modules of the package."""
    for found in pkgutil.walk_packages(trainc.__path__, "trainc."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def uses() -> dict[Use, str]:
    """Return all uses of expressions, each with the name of one module."""
    loaded = list(modules())
    trees = [(module, ast.parse(inspect.getsource(module))) for module in loaded]
    found: dict[Use, str] = {}
    named: dict[tuple[str | bytes, int], str] = {}
    for module, tree in trees:
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                named.setdefault((value.pattern, value.flags), f"{module.__name__}.{name}")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
                value = vars(module).get(node.value.id)
                if isinstance(value, re.Pattern):
                    where = named[value.pattern, value.flags]
                    found.setdefault(Use(value.pattern, value.flags, node.attr), where)
        for use, where in inline(module, tree):
            found.setdefault(use, where)
    used = {(use.pattern, use.flags) for use in found}
    for (pattern, flags), where in named.items():
        if (pattern, flags) not in used:  # it is passed on, as in a tuple: take it for one that is searched everywhere
            found[Use(pattern, flags, "finditer")] = where
    return found


def inline(module: ModuleType, tree: ast.Module) -> Iterator[tuple[Use, str]]:
    """Yield the expressions in calls such as `re.match(EXPRESSION, text)` that do not depend on the input."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
            continue
        first = ast.Expression(node.args[0])
        try:
            pattern = eval(compile(first, module.__name__, "eval"), dict(vars(module)))
        except NameError:
            continue  # it depends on a local variable
        yield Use(pattern, 0, node.func.attr), f"{module.__name__}:{node.lineno}"


def words(use: Use) -> list[str]:
    """Return characters and literal texts of an expression: the parts that its worst texts consist of."""
    text = use.pattern if isinstance(use.pattern, str) else use.pattern.decode("latin-1")
    found: dict[str, None] = {}
    literal: list[str] = []

    def visit(parsed: Any) -> None:  # noqa: PLR0912 (one branch per kind of node)
        for code, argument in parsed:
            if code is codes.LITERAL:
                literal.append(chr(argument))
                continue
            if literal:
                found.setdefault("".join(literal))
                found.setdefault(literal[0])
                literal.clear()
            if code is codes.IN:
                for kind, value in argument:
                    if kind is codes.LITERAL:
                        found.setdefault(chr(value))
                    elif kind is codes.RANGE:
                        found.setdefault(chr(value[0]))
            elif code is codes.NOT_LITERAL:
                found.setdefault(chr(argument))
            elif isinstance(argument, parser.SubPattern):
                visit(argument)
            elif isinstance(argument, tuple | list):
                for part in argument:
                    if isinstance(part, parser.SubPattern):
                        visit(part)
                    elif isinstance(part, list):
                        for inner in part:
                            if isinstance(inner, parser.SubPattern):
                                visit(inner)
        if literal:
            found.setdefault("".join(literal))
            literal.clear()

    visit(parser.parse(text, use.flags & ~re.DEBUG if isinstance(use.pattern, str) else 0))
    return [*dict.fromkeys([*found, "a", "1", " ", "-", "."])][:24]


def texts(use: Use) -> list[tuple[str, str, str]]:
    """Return beginnings, parts to repeat and ends."""
    parts = words(use)
    pumped = [*parts, *map("".join, itertools.permutations(parts, 2))]
    cases = [("", part, end) for part in pumped for end in ENDS]
    cases += [(begin, part, end) for begin in parts for part in parts for end in ENDS]
    chosen = random.Random(1).sample(cases, min(len(cases), CASES))
    return [*chosen, *(("", part, end) for part in parts for end in ENDS), ("token: a", " ", "b"), ("", "://a:b", " @")]


def text_of(case: tuple[str, str, str], length: int) -> str:
    begin, part, end = case
    return begin + part * (length // len(part)) + end


def took(use: Use, case: tuple[str, str, str], length: int) -> float:
    """Return the processor time of an expression for a text."""
    text: Any = text_of(case, length)
    if isinstance(use.pattern, bytes):
        text = text.encode("latin-1", "replace")
    compiled: Any = re.compile(use.pattern, use.flags)
    start = time.process_time()
    if use.method == "sub":
        compiled.sub("" if isinstance(text, str) else b"", text)
    elif use.method == "finditer":
        for _ in compiled.finditer(text):
            pass
    else:
        getattr(compiled, use.method)(text)
    return time.process_time() - start


def run(use: Use, length: int = LONG, seconds: int = SECONDS) -> None:
    """Run an expression on its worst texts of a length."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    worst = sorted(texts(use), key=lambda case: took(use, case, PROBE), reverse=True)
    for case in worst[:WORST]:
        took(use, case, length)


def ended(use: Use, length: int = LONG, seconds: int = SECONDS) -> int:
    """Return the exit code of a process that runs an expression; it is negative if the processor time was too long."""
    child = os.fork()
    if not child:
        run(use, length, seconds)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    """Run all expressions, each in its own process; a quadratic one first, which must not end."""
    print(json.dumps(["quadratic", "search", ended(Use("a*b", 0, "search"), seconds=1)]), flush=True)
    for use, name in uses().items():
        print(json.dumps([name, use.method, ended(use)]), flush=True)


if __name__ == "__main__":
    main()
