"""The recipes as data: the leaves of each kind, the steps that each leaf needs, and the texts.

Reads    CONTRIBUTING.md, and the docstrings of the modules in its table of recipes.

An item with a file or a row is a leaf, so that an item that has only one of them lacks a step.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from contracts.steps import (
    PACKAGE,
    Called,
    Cases,
    Declares,
    Defines,
    Example,
    Extension,
    File,
    Manifest,
    Property,
    Reported,
    Row,
    Setting,
    Step,
    Text,
    Tree,
    has_gang,
    has_policy,
    keys,
    settings,
    uses_policy,
)

from trainc.base.kinds import find

ROOT: Final = Path(__file__).parents[2]
CONTRIBUTING: Final = ROOT / "CONTRIBUTING.md"
LISTED: Final = {
    title: next(path for folder in (ROOT / PACKAGE, ROOT) if (path := folder / name).is_file())
    for title, name in re.findall(r"^\| (An? .+) \| `([\w/]+\.py)` \|$", CONTRIBUTING.read_text(), re.M)
}
"""The titles of the recipes in docstrings, each with its module."""


def recipes_of(path: Path) -> dict[str, str]:
    """Return the recipes of a page, or of a module's docstring, by title."""
    text = path.read_text()
    text = (ast.get_docstring(ast.parse(text)) or "") if path.suffix == ".py" else text
    found = re.findall(r"^\*\*(An? .+?)\*\*(.*?)(?=^\*\*An? |^## |^The other recipes|\Z)", text, re.M | re.S)
    return dict(found)


TEXTS: Final = {
    title: " ".join(text.split())
    for path in (CONTRIBUTING, *dict.fromkeys(LISTED.values()))
    for title, text in recipes_of(path).items()
}
"""The recipes by title."""


class Recipe(NamedTuple):
    """A recipe: its title, how its text writes the name of a leaf, its leaves and its steps."""

    title: str
    placeholder: str
    leaves: Callable[[Tree], Iterable[str]]
    steps: dict[Step, str]
    """Each with a leaf that has it, from which a test removes it."""
    but: frozenset[tuple[str, Step]] = frozenset()
    """The leaves that do not need a step."""

    def missing_steps(self, tree: Tree) -> list[str]:
        """Return the steps that leaves lack."""
        return [
            f"{leaf}: {', '.join(step.named).replace('{}', leaf)}"
            for leaf in sorted(self.leaves(tree))
            for step in self.steps
            if (leaf, step) not in self.but and not step.done(tree, leaf)
        ]


def module(folder: str) -> tuple[str, str]:
    """Return the places of a leaf's module: a file, or a package."""
    return (f"{PACKAGE}/{folder}/{{module}}.py", f"{PACKAGE}/{folder}/{{module}}/__init__.py")


def listed(folder: str, row: Row, *others: str) -> Callable[[Tree], set[str]]:
    """Return the leaves of a folder with a list: its modules, except others, and the rows."""

    def leaves(tree: Tree) -> set[str]:
        keys = tree.row(row.path, row.constant)
        modules = {name.replace(".", "_").replace("-", "_") for name in keys}
        return {*keys, *(tree.names(f"{PACKAGE}/{folder}", *others) - modules)}

    return leaves


def ids(folder: str) -> Callable[[Tree], set[str]]:
    """Return the ids that the modules of a folder declare."""

    def leaves(tree: Tree) -> set[str]:
        return {each.id for each in tree.declared if each.path.is_relative_to(tree.root / PACKAGE / folder)}

    return leaves


def checks(tree: Tree) -> set[str]:
    """Return the ids that are checks, without lint rules."""
    return {each.id for each in tree.declared if each.is_check} - ids("pipeline/lint")(tree)


def plain_ids(tree: Tree) -> set[str]:
    """Return the ids that are constants, and those of pages without a declaration."""
    decorated = {each.id for each in tree.declared if each.is_check}
    return ({each.id for each in tree.declared} | {path.stem for path in tree.glob("diagnostics/*.md")}) - decorated


def rules(tree: Tree) -> set[str]:
    """Return the lint rules."""
    names = tree.names(f"{PACKAGE}/pipeline/lint", "triggers")
    return {name.replace("_", "-") for name in names} | ids("pipeline/lint")(tree)


def found(pattern: str, path: str) -> Callable[[Tree], set[str]]:
    """Return the texts in a file that match a pattern."""
    return lambda tree: set(re.findall(pattern, tree.read(path), re.MULTILINE))


def both(*kinds: Callable[[Tree], Iterable[str]]) -> Callable[[Tree], set[str]]:
    """Return the leaves of several kinds."""
    return lambda tree: {leaf for kind in kinds for leaf in kind(tree)}


def named(pattern: str) -> Callable[[Tree], set[str]]:
    """Return the names, without suffix, of the files and folders that match a pattern."""
    return lambda tree: {path.stem if path.is_file() else path.name for path in tree.glob(pattern)}


LINT: Final = f"{PACKAGE}/pipeline/lint"
FIND: Final = Defines((f"{LINT}/{{module}}.py",), ("find",))
TRIGGER: Final = Text(f"{LINT}/triggers.py", '"{}"')
FIRES, SILENT = Cases("fires"), Cases("silent")
PAGE: Final = File(("diagnostics/{}.md",))
INDEX: Final = Text("schemas/diagnostics.json", '"{}": "', by="`make snapshots`")
REFERENCE: Final = Text("docs/diagnostics.md", "(../diagnostics/{}.md)", by="`make snapshots`")
FRAMEWORKS: Final = Row(f"{PACKAGE}/pipeline/frameworks/__init__.py", "FRAMEWORKS")
KINDS: Final = f"{PACKAGE}/base/kinds.py"
KIND: Final = Text(f"{PACKAGE}/legacy/*.py", '"{}"', by="legacy/simple_kinds.py")
SCHEDULERS: Final = Row(f"{PACKAGE}/pipeline/schedulers/__init__.py", "SCHEDULERS")
COMMANDS: Final = Row(f"{PACKAGE}/cli/common/group.py", "COMMANDS")
FORMATS: Final = Row(f"{PACKAGE}/emit/__init__.py", "FORMATS")
REPORTS: Final = Row(f"{PACKAGE}/cli/common/options.py", "REPORTS")
REVIEWS: Final = Row(f"{PACKAGE}/cli/common/options.py", "REVIEWS")
DIALECTS: Final = f"{PACKAGE}/base/trainjob_dialects.py"
STAGES: Final = Row(f"{PACKAGE}/pipeline/stages.py", "STAGES")
LAYER: Final = Text("tests/unit/test_settings_layers.py", '"{}"', by="`LAYERS`")
READER: Final = Text("tests/reports/consumers.py", "\ndef {}(")
OLD_CASE: Final = File(("golden/dialect-{}/upgraded.yaml",))
REVIEW_TEST: Final = File(("tests/review/test_{}.py",))
REVIEW_PAGE: Final = Text("docs/review.md", "--format {}")
RECORDINGS: Final = Text("tests/conformance/test_legacy_jobs.py", '"{}"')
"""The first MXNet operator runs on no cluster of today: `test_mlkubejob` has the pods of its jobs."""
DIFFERENCES: Final = "tests/cluster/differences.py"
UNIT_TEST: Final = File(("tests/unit/test_{}.py",))


def legacy_kinds(tree: Tree) -> set[str]:
    """Return the legacy kinds with a row or a module."""
    texts = (tree.read(path) for path in tree.glob(f"{PACKAGE}/legacy/*.py"))
    return {key for text in texts for key in re.findall(r'^(?:    key=|KEY: Final = )"([^"]+)"', text, re.MULTILINE)}


def has_kind(_: Tree, leaf: str, document: Any) -> bool:
    """Return whether a document is of a legacy kind, by the name of its framework."""
    row = find(document.get("apiVersion"), document.get("kind"))
    return row is not None and row.framework == leaf


def steps_of_id(example: str) -> dict[Step, str]:
    """Return the steps of every id."""
    return dict.fromkeys((Declares(), PAGE, Example(), INDEX, REFERENCE), example)


RECIPES: Final = (
    Recipe(
        "A framework",
        "<key>",
        listed("pipeline/frameworks", FRAMEWORKS),
        {
            File(module("pipeline/frameworks")): "jax",
            Defines(module("pipeline/frameworks"), ("apply", "FRAMEWORK")): "xgboost",
            FRAMEWORKS: "torch",
            UNIT_TEST: "paddle",
            Manifest("golden/*/input.yaml", uses_policy, ("golden case",)): "flux",
            Text("docs/frameworks.md", "`{}`"): "plain",
            Manifest("runtimes/*.yaml", has_policy, ("built-in runtime",)): "mxnet",
            Extension(): "tensorflow",
        },
    ),
    Recipe(
        "A gang scheduler",
        "<key>",
        listed("pipeline/schedulers", SCHEDULERS),
        {
            File(module("pipeline/schedulers")): "volcano",
            Defines(module("pipeline/schedulers"), ("VERSION", "RELEASE", "MARK", "CHECKS", "group")): "coscheduling",
            SCHEDULERS: "volcano",
            UNIT_TEST: "coscheduling",
            Manifest("golden/gang-*/input.yaml", has_gang, ("golden case `gang-<case>`",)): "volcano",
            Text("docs/scheduling.md", "`{}`"): "coscheduling",
        },
    ),
    Recipe(
        "A built-in runtime",
        "<name>",
        both(
            named("runtimes/*.yaml"),
            found(r"(?:^\| |, )`([a-z0-9.-]+)`(?=[^|\n]*\| trainc \|(?:[^|\n]*\|){3}$)", "docs/runtimes.md"),
        ),
        {
            File(("runtimes/{}.yaml",)): "torch-elastic",
            Text("docs/runtimes.md", "`{}`"): "torchtune-llama3.2-1b-shm",
        },
    ),
    Recipe("A check", "<id>", checks, steps_of_id("runtime-container") | {Called(): "launcher-node-missing"}),
    Recipe(
        "A key of `trainc.yaml`",
        "<key>",
        both(settings, found(r"^\| `([A-Za-z.]+)` \|(?:[^|\n]*\|){4}$", "docs/configuration.md")),
        {
            Setting(): "cluster",
            Property(): "delivery.suspend",
            Text("docs/configuration.md", "| `{}` |"): "lint.strict",
            LAYER: "namePrefix",
        },
        frozenset({("requiredVersion", LAYER), ("environments", LAYER)}),
    ),
    Recipe(
        "A lint rule",
        "<id>",
        rules,
        {
            File((f"{LINT}/{{module}}.py",)): "no-resources",
            FIND: "memory-unit",
            Defines((f"{LINT}/{{module}}.py",), ("warning",)): "unknown-rule",
            TRIGGER: "mpi-image",
            FIRES: "one-process",
            SILENT: "deadline-overflow",
            Text("schemas/trainc/Settings.json", '"{}"', by="`make snapshots`"): "shell-words",
            **steps_of_id("image-version"),
        },
        frozenset({("unknown-rule", FIND), ("unknown-rule", FIRES), ("unknown-rule", SILENT)}),
    ),
    Recipe(
        "A diagnostic that no check yields", "<id>", plain_ids, steps_of_id("duplicate-runtime") | {Reported(): "yaml"}
    ),
    Recipe("A CRD rule (CEL)", "<id>", ids("pipeline/checks/cel.py"), steps_of_id("storage-uri")),
    Recipe("A check of the JobSet", "<id>", ids("pipeline/checks/jobset"), steps_of_id("replicated-job-name")),
    Recipe("A check of Kueue's webhook", "<id>", ids("pipeline/checks/kueue_webhook"), steps_of_id("max-exec-time")),
    Recipe("A rule for Jobs and pods", "<id>", ids("kubernetes/validation"), steps_of_id("restart-rules")),
    Recipe(
        "A command",
        "<name>",
        listed("cli", COMMANDS, "common"),
        {
            File(module("cli")): "graph",
            COMMANDS: "upgrade",
            File(("docs/commands/{}.md",)): "secret",
            Text("tests/unit/test_*.py", 'run("{}"', by='`run("{}"'): "schema",
        },
    ),
    Recipe(
        "An output format",
        "<name>",
        listed("emit", FORMATS, "order"),
        {
            File(module("emit")): "json",
            Defines(module("emit"), ("parts",)): "yaml",
            FORMATS: "json",
            Text("tests/unit/test_emit_round_trip.py", '"{}": ', by="`READERS`"): "json",
            Text("docs/commands/build.md", "`--format {}`"): "json",
        },
    ),
    Recipe(
        "A report format",
        "<name>",
        listed("reports", REPORTS, "repository", "catalogue", "repeated"),
        {
            File(module("reports")): "gitlab",
            Defines(module("reports"), ("render",)): "text",
            REPORTS: "junit",
            READER: "sarif",
            File(("tests/reports/formats/{}-faults.txt",)): "github",
            Text("docs/reports.md", "`{}`"): "junit",
            Text("docs/commands/validate.md", "`{}`"): "gitlab",
        },
        frozenset({("text", READER), ("json", READER)}),
    ),
    Recipe(
        "A review format",
        "<name>",
        listed("review/formats", REVIEWS, "html_objects"),
        {
            File(module("review/formats")): "html",
            Defines(module("review/formats"), ("render",)): "text",
            REVIEWS: "markdown",
            REVIEW_PAGE: "json",
            REVIEW_TEST: "html",
        },
        frozenset({("text", REVIEW_PAGE), ("text", REVIEW_TEST), ("json", REVIEW_TEST)}),
    ),
    Recipe(
        "A dialect of TrainJob",
        "<key>",
        both(
            found(r'^    Dialect\(\n        "([^"]+)"', DIALECTS),
            found(r'dialect="([^"]+)"', f"{PACKAGE}/base/releases.py"),
        ),
        {
            Text(DIALECTS, '    Dialect(\n        "{}"'): "v2.1",
            Text("tests/unit/test_dialects.py", '"{}"'): "kep-2170",
            OLD_CASE: "v2.0",
            Text("docs/dialects.md", "`{}`"): "v2.1",
        },
        frozenset({("v2.3", OLD_CASE)}),
    ),
    Recipe(
        "A legacy kind",
        "<kind>",
        lambda tree: both(found(r'^    framework="([^"]+)"', KINDS), legacy_kinds)(tree) - {"jobset"},
        {
            Text(KINDS, 'framework="{}"'): "pytorchjob",
            KIND: "pytorchjob",
            UNIT_TEST: "pytorchjob",
            RECORDINGS: "pytorchjob",
            Manifest("golden/legacy-*/input.yaml", has_kind, ("golden cases `legacy-<case>`",)): "pytorchjob",
            Text("docs/legacy*.md", "(../golden/legacy-{}", by="`docs/legacy.md`"): "pytorchjob",
        },
        frozenset({("mlkubejob", RECORDINGS)}),
    ),
    Recipe(
        "A release",
        "<release>",
        both(
            found(r'^    name="([0-9.]+)",$', f"{PACKAGE}/base/releases.py"),
            found(r"^\| `([0-9.]+)`", "docs/releases.md"),
        ),
        {
            Text(f"{PACKAGE}/base/releases.py", 'name="{}",'): "2.2",
            Text("docs/releases.md", "| `{}`"): "2.4",
        },
    ),
    Recipe(
        "A stage",
        "<name>",
        listed("pipeline/passes", STAGES),
        {
            File(module("pipeline/passes")): "deliver",
            Defines(module("pipeline/passes"), ("{}",)): "gang",
            STAGES: "carry",
        },
    ),
    Recipe(
        "A golden case",
        "<case>",
        both(named("golden/*/"), found(r"^\| \[[^]]*\]\(([^)]*)\)", "golden/README.md")),
        {
            File(("golden/{}/input.yaml",)): "cpu-ranks",
            File(("golden/{}/expected.yaml", "golden/{}/expected.txt")): "deadline",
            Text("golden/README.md", "]({})"): "sweep",
        },
    ),
    Recipe(
        "An integration",
        "<tool>",
        named("integrations/*"),
        {
            Text("docs/*.md", "integrations/{}", by="page in `docs/`"): "kpt",
            Text("tests/*/*.py", '/ "{}"', by="test"): "kustomize",
        },
    ),
    Recipe(
        "A deliberate difference",
        "<id>",
        both(
            found(r"^### `([a-z-]+)`$", "docs/differences.md"),
            lambda tree: keys(tree, DIFFERENCES, "INPUT", "PLACED", "OUTPUT"),
        ),
        {
            Text("docs/differences.md", "### `{}`"): "prte",
            Text(DIFFERENCES, '"{}": '): "gpu-pick",
        },
    ),
)
