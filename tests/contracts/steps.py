"""The kinds of steps in the recipes: a file, a row in a list, a text on a page ...

A step tells whether a leaf, such as the framework `jax`, has it, and removes it from a copy of the checkout. The
modules of the checkout are read as text and not imported.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import yaml

PACKAGE: Final = "compiler/trainc"
SETTINGS: Final = f"{PACKAGE}/settings/keys.py"
DIAGNOSTICS: Final = "tests/contracts/test_diagnostics.py"
SNAPSHOTS: Final = "tests/contracts/__snapshots__/test_diagnostics.ambr"


DECORATORS: Final = ("check", "lint_rule")
"""The functions that declare the id of the function that they decorate."""


class Declared(NamedTuple):
    """A declaration of an id."""

    id: str
    path: Path
    module: str
    name: str
    """The constant, or the decorated function."""
    is_check: bool


Changes = dict[Path, str | None]
"""The changed files of a checkout with their texts; None for a removed file."""


class Tree:
    """A checkout, with changes that are not on disk."""

    def __init__(self, root: Path, changes: Changes | None = None) -> None:
        self.root = root
        self._changes = changes or {}

    def read(self, path: str | Path) -> str:
        """Return the text of a file; empty if there is none."""
        path = self.root / path
        return self._changes[path] or "" if path in self._changes else on_disk(path)

    def exists(self, path: str | Path) -> bool:
        """Return whether there is such a file."""
        path = self.root / path
        return self._changes[path] is not None if path in self._changes else path.is_file()

    def glob(self, pattern: str) -> list[Path]:
        """Return the files and folders that match a pattern, without the removed ones."""
        return [path for path in on_disk_glob(self.root, pattern) if self._changes.get(path, "") is not None]

    def names(self, folder: str, *others: str) -> set[str]:
        """Return the names of a folder's modules and packages, except others."""
        packages = {path.parent.name for path in self.glob(f"{folder}/*/__init__.py")}
        return ({path.stem for path in self.glob(f"{folder}/*.py")} | packages) - {"__init__", *others}

    def row(self, path: str, constant: str) -> list[str]:
        """Return the texts and names in a constant of a module."""
        value = constants(self.read(path)).get(constant)
        return [] if value is None else [word(part) for part in words(value)]

    @cached_property
    def sources(self) -> dict[str, Path]:
        """The modules of trainc by name."""
        paths = self.glob(f"{PACKAGE}/**/*.py")
        return {module_of(path.relative_to(self.root / PACKAGE)): path for path in paths}

    @cached_property
    def declared(self) -> list[Declared]:
        """All declarations."""
        return [
            Declared(id, path, module, name, is_check)
            for module, path in self.sources.items()
            for id, name, is_check in declarations(self.read(path))
        ]

    @cached_property
    def by_id(self) -> dict[str, list[Declared]]:
        """The declarations of each id."""
        found: dict[str, list[Declared]] = {}
        for each in self.declared:
            found.setdefault(each.id, []).append(each)
        return found

    @cached_property
    def checks(self) -> frozenset[str]:
        """The functions that modules call as checks, whose first argument is the subject."""
        return frozenset().union(*(called_checks(self.read(path)) for path in self.sources.values()))

    @cached_property
    def used(self) -> frozenset[str]:
        """The full names that modules pass on: not those of which they read only an attribute."""
        return frozenset().union(*(passed_on(module, self.read(path)) for module, path in self.sources.items()))


@lru_cache(maxsize=1024)
def on_disk_glob(root: Path, pattern: str) -> list[Path]:
    """Return the files and folders that match a pattern."""
    return sorted(root.glob(pattern))


@lru_cache(maxsize=8192)
def on_disk(path: Path) -> str:
    """Return the text of a file; empty if there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def module_of(path: Path) -> str:
    """Return the name of a module of trainc, from its path in the package."""
    return ".".join(part for part in ("trainc", *path.with_suffix("").parts) if part != "__init__")


@lru_cache(maxsize=4096)
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree in the order of `ast.walk`, in half its time: the package has a million."""
    waiting = deque([tree])
    while waiting:
        node = waiting.popleft()
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [each for each in value if isinstance(each, ast.AST)]
        yield node


def constants(text: str) -> dict[str, ast.expr]:
    """Return the values that a module assigns."""
    found: dict[str, ast.expr] = {}
    for node in parsed(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name) and node.value is not None:
            found[target.id] = node.value
    return found


def words(node: ast.AST) -> Iterator[ast.Constant | ast.Name]:
    """Yield the texts and names in an expression."""
    for part in walk(node):
        if (isinstance(part, ast.Constant) and isinstance(part.value, str)) or isinstance(part, ast.Name):
            yield part


def word(node: ast.Constant | ast.Name) -> str:
    return node.id if isinstance(node, ast.Name) else str(node.value)


def called(node: ast.AST | None) -> str:
    """Return the name of the called function; empty for a node that is not a call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def first_text(call: ast.AST | None) -> str:
    """Return the first argument of a call."""
    given = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return str(given.value) if isinstance(given, ast.Constant) else ""


@lru_cache(maxsize=4096)
def declarations(text: str) -> tuple[tuple[str, str, bool], ...]:
    """Return the ids that a module declares: each with its constant or function, and whether it is a check."""
    if "Declaration(" not in text and "@check(" not in text and "@lint_rule(" not in text:
        return ()
    functions = [node for node in parsed(text).body if isinstance(node, ast.FunctionDef)]
    checks = ((call, f.name, True) for f in functions for call in f.decorator_list if called(call) in DECORATORS)
    plain = ((value, name, False) for name, value in constants(text).items() if called(value) == "Declaration")
    return tuple((first_text(call), name, is_check) for call, name, is_check in (*checks, *plain))


@lru_cache(maxsize=4096)
def passed_on(module: str, text: str) -> frozenset[str]:
    """Return the full names that a module uses, except to read an attribute such as `.id`."""
    tree = parsed(text)
    imports = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    read = {id(node.value) for node in walk(tree) if isinstance(node, ast.Attribute)}
    found = set()
    for node in walk(tree):
        if id(node) in read:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(imports.get(node.id, f"{module}.{node.id}"))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imports:
            found.add(f"{imports[node.value.id]}.{node.attr}")
    return frozenset(found)


@lru_cache(maxsize=4096)
def documents(text: str) -> list[Any]:
    """Return the objects of a manifest."""
    return [document for document in yaml.load_all(text, yaml.CSafeLoader) if isinstance(document, dict)]


# Steps


class Step(Protocol):
    """A step of a recipe."""

    @property
    def named(self) -> tuple[str, ...]:
        """The words by which the recipe names it, with `{}` for the leaf."""
        ...

    def done(self, tree: Tree, leaf: str) -> bool:
        """Return whether a leaf has it."""
        ...

    def undo(self, tree: Tree, leaf: str) -> Changes:
        """Return the changes that remove it."""
        ...


def filled(text: str, leaf: str) -> str:
    """Return a text with the leaf for `{}`, and the name of its module for `{module}`."""
    return text.replace("{}", leaf).replace("{module}", leaf.replace(".", "_").replace("-", "_"))


class File(NamedTuple):
    """A file, in one of several places."""

    paths: tuple[str, ...]

    @property
    def named(self) -> tuple[str, ...]:
        return (self.paths[0].replace("{module}", "{}"),)

    def done(self, tree: Tree, leaf: str) -> bool:
        return any(tree.exists(filled(path, leaf)) for path in self.paths)

    def undo(self, tree: Tree, leaf: str) -> Changes:
        return {tree.root / filled(path, leaf): None for path in self.paths}


class Defines(NamedTuple):
    """Functions and constants of the leaf's module."""

    paths: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def named(self) -> tuple[str, ...]:
        return tuple("a function of that name" if name == "{}" else f"`{name}" for name in self.names)

    def done(self, tree: Tree, leaf: str) -> bool:
        texts = [tree.read(filled(path, leaf)) for path in self.paths]
        return all(any(self._line(name, leaf).search(text) for text in texts) for name in self.names)

    def undo(self, tree: Tree, leaf: str) -> Changes:
        paths = [tree.root / filled(path, leaf) for path in self.paths if tree.exists(filled(path, leaf))]
        return {path: self._line(self.names[-1], leaf).sub(r"\1another", tree.read(path)) for path in paths}

    def _line(self, name: str, leaf: str) -> re.Pattern[str]:
        return re.compile(rf"^((?:def )?){re.escape(filled(name, leaf))}\b", re.MULTILINE)


class Row(NamedTuple):
    """A text or a name in a constant of a module."""

    path: str
    constant: str

    @property
    def named(self) -> tuple[str, ...]:
        return (f"`{self.constant}`", self.path)

    def done(self, tree: Tree, leaf: str) -> bool:
        return leaf in tree.row(self.path, self.constant)

    def undo(self, tree: Tree, leaf: str) -> Changes:
        lines = tree.read(self.path).splitlines(keepends=True)
        for part in words(constants(tree.read(self.path))[self.constant]):
            if word(part) == leaf and part.end_col_offset is not None:
                line, length = lines[part.lineno - 1], part.end_col_offset - part.col_offset
                new = f"{'_' * length}" if isinstance(part, ast.Name) else f'"{"_" * (length - 2)}"'
                lines[part.lineno - 1] = line[: part.col_offset] + new + line[part.end_col_offset :]
        return {tree.root / self.path: "".join(lines)}


class Text(NamedTuple):
    """A text in a file, or in one of the files that match a pattern."""

    path: str
    text: str
    by: str = ""
    """The words of the recipe, if they are not the file's path."""
    heading: str = ""
    """The heading of the section; empty for the whole file."""

    @property
    def named(self) -> tuple[str, ...]:
        return (self.by or self.path,)

    def done(self, tree: Tree, leaf: str) -> bool:
        return any(filled(self.text, leaf) in self._section(tree.read(path)) for path in tree.glob(self.path))

    def undo(self, tree: Tree, leaf: str) -> Changes:
        old, new = filled(self.text, leaf), filled(self.text, "another")
        texts = {path: (tree.read(path), self._section(tree.read(path))) for path in tree.glob(self.path)}
        return {path: text.replace(part, part.replace(old, new)) for path, (text, part) in texts.items() if old in part}

    def _section(self, text: str) -> str:
        return text if not self.heading else text.partition(f"\n## {self.heading}\n")[2].partition("\n## ")[0]


class Manifest(NamedTuple):
    """A manifest of a folder, other than one that must fail, with a document that fits."""

    pattern: str
    fits: Callable[[Tree, str, Any], bool]
    named: tuple[str, ...]

    def done(self, tree: Tree, leaf: str) -> bool:
        return any(self._matching(tree, leaf))

    def undo(self, tree: Tree, leaf: str) -> Changes:
        return dict.fromkeys(self._matching(tree, leaf))

    def _matching(self, tree: Tree, leaf: str) -> Iterator[Path]:
        for path in tree.glob(self.pattern):
            found = documents(tree.read(path)) if not path.parent.name.startswith("wrong-") else []
            if any(self.fits(tree, leaf, document) for document in found):
                yield path


def has_policy(tree: Tree, key: str, document: Any) -> bool:
    """Return whether a runtime has a framework's policy."""
    is_runtime = str(document.get("kind")).endswith("Runtime")
    return is_runtime and key in ((document["spec"].get("mlPolicy") or {}).keys() - {"numNodes"} or {"plain"})


def uses_policy(tree: Tree, key: str, document: Any) -> bool:
    """Return whether a runtime has a framework's policy, or a TrainJob uses a built-in runtime that does."""
    name = document.get("spec", {}).get("runtimeRef", {}).get("name")
    files = (f"runtimes/{name}.yaml", f"runtimes/trainer-2.3/{name}.yaml")
    built_in = [document for file in files if tree.exists(file) for document in documents(tree.read(file))]
    return has_policy(tree, key, document) or any(has_policy(tree, key, runtime) for runtime in built_in)


def has_gang(tree: Tree, key: str, document: Any) -> bool:
    """Return whether a runtime has a scheduler's policy."""
    return key in (document.get("spec", {}).get("podGroupPolicy") or {})


class Extension(NamedTuple):
    """A section of docs/extensions.md for a framework with a schema of trainc's own: its heading has the key."""

    named: tuple[str, ...] = ("docs/extensions.md", "schemas/extensions/{}.json")

    def done(self, tree: Tree, leaf: str) -> bool:
        extended = tree.exists(f"schemas/extensions/{leaf}.json")
        return not extended or self._heading(leaf).search(tree.read("docs/extensions.md")) is not None

    def undo(self, tree: Tree, leaf: str) -> Changes:
        path = tree.root / "docs/extensions.md"
        return {path: self._heading(leaf).sub("## another", tree.read(path))}

    def _heading(self, leaf: str) -> re.Pattern[str]:
        return re.compile(rf"^## .*`{re.escape(leaf)}[.`]", re.MULTILINE)


class Declares(NamedTuple):
    """One declaration of the id."""

    named: tuple[str, ...] = ("id",)

    def done(self, tree: Tree, leaf: str) -> bool:
        return len(tree.by_id.get(leaf, ())) == 1

    def undo(self, tree: Tree, leaf: str) -> Changes:
        (each,) = tree.by_id[leaf]
        return {each.path: tree.read(each.path).replace(f'"{leaf}"', '"another-id"')}


class Called(NamedTuple):
    """A check's place in a list of checks, or the call of it in a stage."""

    named: tuple[str, ...] = ("`CHECKS`",)

    def done(self, tree: Tree, leaf: str) -> bool:
        (each,) = tree.by_id[leaf]
        lists = (value for name, value in constants(tree.read(each.path)).items() if name.isupper())
        listed = any(word(part) == each.name for value in lists for part in words(value))
        return listed or each.name in tree.checks

    def undo(self, tree: Tree, leaf: str) -> Changes:
        (each,) = tree.by_id[leaf]
        lists = {name: value for name, value in constants(tree.read(each.path)).items() if name.isupper()}
        name = next(name for name, value in lists.items() if any(word(part) == each.name for part in words(value)))
        return Row(str(each.path.relative_to(tree.root)), name).undo(tree, each.name)


@lru_cache(maxsize=4096)
def called_checks(text: str) -> frozenset[str]:
    """Return the functions that a module calls as checks, whose first argument is the subject."""
    return frozenset(re.findall(r"(?<!def )\b(\w+)\((?:plan\.job\.id|subject),", text))


class Reported(NamedTuple):
    """A use of the constant of a declaration."""

    named: tuple[str, ...] = ("`Diagnostic.declared(",)

    def done(self, tree: Tree, leaf: str) -> bool:
        return any(each.is_check or f"{each.module}.{each.name}" in tree.used for each in tree.by_id.get(leaf, ()))

    def undo(self, tree: Tree, leaf: str) -> Changes:
        (each,) = tree.by_id[leaf]
        use = re.compile(rf"\b{each.name}\b(?!:)")
        return {path: use.sub("ANOTHER", tree.read(path)) for path in tree.sources.values()}


class Example(NamedTuple):
    """The recorded report of the page's wrong example; for an example of commands, the files that they read."""

    named: tuple[str, ...] = ("`make snapshots`", "`CONSOLES`")

    def done(self, tree: Tree, leaf: str) -> bool:
        if "\nWrong:\n\n```console\n" in tree.read(f"diagnostics/{leaf}.md"):
            return leaf in tree.row(DIAGNOSTICS, "CONSOLES")
        return f"test_the_wrong_example[{leaf}]\n" in tree.read(SNAPSHOTS)

    def undo(self, tree: Tree, leaf: str) -> Changes:
        if leaf in tree.row(DIAGNOSTICS, "CONSOLES"):
            return Row(DIAGNOSTICS, "CONSOLES").undo(tree, leaf)
        return Text(SNAPSHOTS, "test_the_wrong_example[{}]").undo(tree, leaf)


class Cases(NamedTuple):
    """Rows of a lint rule in the unit tests: of reported jobs (`fires`) or of others (`silent`)."""

    function: str

    @property
    def named(self) -> tuple[str, ...]:
        return (f"`{self.function}`", "tests/unit/test_lint.py")

    def done(self, tree: Tree, leaf: str) -> bool:
        return any(
            leaf in first_texts(tree.read(path), self.function) for path in tree.glob("tests/unit/test_lint*.py")
        )

    def undo(self, tree: Tree, leaf: str) -> Changes:
        row = re.compile(rf'\b{self.function}\(\s*"{leaf}"')
        paths = tree.glob("tests/unit/test_lint*.py")
        return {path: row.sub(f'{self.function}("another"', tree.read(path)) for path in paths}


@lru_cache(maxsize=256)
def first_texts(text: str, function: str) -> frozenset[str]:
    """Return the first arguments of the calls of a function."""
    return frozenset(first_text(node) for node in walk(parsed(text)) if called(node) == function)


class Setting(NamedTuple):
    """A key of trainc.yaml in `KEYS`."""

    named: tuple[str, ...] = ("`KEYS`", "settings/keys.py")

    def done(self, tree: Tree, leaf: str) -> bool:
        return leaf in settings(tree)

    def undo(self, tree: Tree, leaf: str) -> Changes:
        text = tree.read(SETTINGS)
        return {tree.root / SETTINGS: text.replace(f'"{leaf.rpartition(".")[2]}"', '"another"')}


def keys(tree: Tree, path: str, *names: str) -> set[str]:
    """Return the keys of mappings that a module assigns."""
    values = constants(tree.read(path))
    parts = [key for name in names if isinstance(mapping := values.get(name), ast.Dict) for key in mapping.keys]
    return {word(part) for part in parts if isinstance(part, ast.Constant)}


def settings(tree: Tree) -> set[str]:
    """Return the keys of trainc.yaml in `KEYS`: `lint.disable`."""
    calls = [node for node in walk(constants(tree.read(SETTINGS))["KEYS"]) if called(node) == "Key"]
    return {".".join(word(part) for part in words(call.args[0])) for call in calls if isinstance(call, ast.Call)}


class Property(NamedTuple):
    """A property of the schema of trainc.yaml."""

    named: tuple[str, ...] = ("schemas/trainc/Settings.json",)

    def done(self, tree: Tree, leaf: str) -> bool:
        return self._text(leaf) in tree.read(self.named[0])

    def undo(self, tree: Tree, leaf: str) -> Changes:
        path = tree.root / self.named[0]
        return {path: tree.read(path).replace(self._text(leaf), '"another": {')}

    def _text(self, leaf: str) -> str:
        return f'"{leaf.rpartition(".")[2]}": {{'
