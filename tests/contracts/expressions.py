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
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
CHARACTERS = (codes.LITERAL, codes.RANGE)
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
    trees = [(module, _parts(ast.parse(inspect.getsource(module)))) for module in loaded]
    found: dict[Use, str] = {}
    named: dict[tuple[str | bytes, int], str] = {}
    for module, parts in trees:
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                named.setdefault((value.pattern, value.flags), f"{module.__name__}.{name}")
        for node in parts:
            if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
                value = vars(module).get(node.value.id)
                if isinstance(value, re.Pattern):
                    where = named[value.pattern, value.flags]
                    found.setdefault(Use(value.pattern, value.flags, node.attr), where)
        for use, where in inline(module, parts):
            found.setdefault(use, where)
    used = {(use.pattern, use.flags) for use in found}
    for (pattern, flags), where in named.items():
        if (pattern, flags) not in used:  # it is passed on, as in a tuple: take it for one that is searched everywhere
            found[Use(pattern, flags, "finditer")] = where
    return found


def _parts(tree: ast.Module) -> list[ast.Attribute | ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Call)]


def inline(module: ModuleType, parts: list[ast.Attribute | ast.Call]) -> Iterator[tuple[Use, str]]:
    """Yield the expressions in calls such as `re.match(EXPRESSION, text)` that do not depend on the input."""
    for node in parts:
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


def example(code: Any, argument: Any) -> str:
    """Return a short text that a node of an expression matches, or nearly."""
    if code is codes.LITERAL:
        return chr(argument)
    if code is codes.NOT_LITERAL:
        return "b" if argument == ord("a") else "a"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return one_of(argument)[0]
    if code is codes.SUBPATTERN or code is codes.ATOMIC_GROUP:
        return "".join(example(*node) for node in (argument[-1] if code is codes.SUBPATTERN else argument))
    if code is codes.BRANCH:
        branches = ["".join(example(*node) for node in branch) for branch in argument[1]]
        return min(branches, key=len)
    if code in REPEATS:
        least: int = argument[0]
        return "".join(example(*node) for node in argument[2]) * least
    return ""


def one_of(members: list[tuple[Any, Any]]) -> list[str]:
    """Return characters of a class: a usual one if it has one, and those that it names."""
    negated = members[0][0] is codes.NEGATE
    named = [chr(value if kind is codes.LITERAL else value[0]) for kind, value in members if kind in CHARACTERS]
    if negated:
        return [next(character for character in "a1 -/\u00e9" if character not in named)]
    return named + [" " if value is codes.CATEGORY_SPACE else "a1" for kind, value in members if kind is codes.CATEGORY]


def repeats(parsed: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield each part that an expression repeats, after a text that leads to it."""
    for code, argument in parsed:
        if code in REPEATS and argument[1] > 1:
            body = argument[2]
            yield before, example(codes.SUBPATTERN, (body,))
            for kind, members in body:
                yield from ((before, each) for each in (one_of(members) if kind is codes.IN else ()))
        for inner in parts_of(code, argument):
            yield from repeats(inner, before)
        before += example(code, argument)


def parts_of(code: Any, argument: Any) -> list[Any]:
    """Return the expressions in a node."""
    if code in REPEATS:
        return [argument[2]]
    if code is codes.SUBPATTERN:
        return [argument[-1]]
    if code is codes.ATOMIC_GROUP:
        return [argument]
    return list(argument[1]) if code is codes.BRANCH else []


def texts(use: Use) -> list[tuple[str, str, str]]:
    """Return beginnings, parts to repeat and ends."""
    parts = words(use)
    text = use.pattern if isinstance(use.pattern, str) else use.pattern.decode("latin-1")
    parsed = parser.parse(text, use.flags & ~re.DEBUG if isinstance(use.pattern, str) else 0)
    led = [(begin, part, end) for begin, part in dict.fromkeys(repeats(parsed)) if part for end in ENDS]
    pumped = [*parts, *map("".join, itertools.permutations(parts, 2))]
    cases = [("", part, end) for part in pumped for end in ENDS]
    cases += [(begin, part, end) for begin in parts for part in parts for end in ENDS]
    chosen = random.Random(1).sample(cases, min(len(cases), CASES))
    return [
        *led,
        *chosen,
        *(("", part, end) for part in parts for end in ENDS),
        ("token: a", " ", "b"),
        ("", "://a:b", " @"),
    ]


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
