"""The requirements of CONTRIBUTING.md for frameworks, checks, commands and formats: a file, an example, docs."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from trainc import passes, reports
from trainc.checks import Check
from trainc.cli.graph import FORMATS as GRAPHS
from trainc.cli.group import COMMANDS
from trainc.frameworks import FRAMEWORKS
from trainc.frontends.dialects import DIALECTS
from trainc.schedulers import SCHEDULERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "compiler" / "trainc"
FURNITURE = {
    *("__init__", "options", "printing", "reporting", "arguments", "codes", "completing", "group"),
    *("copies", "environments", "folder"),
    *(
        "repository",
        "dialects",
        "configmaps",
        "kinds",
        "moves",
        "templates",
    ),
}
"""Modules in the packages of commands, reports, dialects and passes that are not such items."""


DECLARING = {
    f"trainc.{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}".removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if "\n@check(" in path.read_text()
}
"""Yield the modules that declare checks."""
CHECKS = {
    value.declared.id: (value, module)
    for module in DECLARING
    for value in vars(import_module(module)).values()
    if isinstance(value, Check)
}


def modules(folder: Path) -> set[str]:
    """Return the names of a folder's modules and packages."""
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return ({path.stem for path in folder.glob("*.py")} | packages) - FURNITURE


def module_of(dialect: str) -> str:
    return dialect.replace(".", "_").replace("-", "_")


@pytest.mark.parametrize(
    ("folder", "keys"),
    [
        pytest.param("frameworks", FRAMEWORKS, id="frameworks"),
        pytest.param("schedulers", SCHEDULERS, id="schedulers"),
        pytest.param("cli", COMMANDS, id="commands"),
        pytest.param("reports", reports.FORMATS, id="reports"),
        pytest.param("graph", GRAPHS, id="graphs"),
        pytest.param("frontends", tuple(map(module_of, DIALECTS)), id="dialects"),
    ],
)
def test_every_file_is_listed_and_every_key_has_its_file(folder: str, keys: tuple[str, ...]) -> None:
    assert modules(PACKAGE / folder) == set(keys)


@pytest.mark.parametrize("key", FRAMEWORKS)
def test_a_framework_has_a_golden_case(key: str) -> None:
    runtimes = [
        document
        for path in [*ROOT.glob("golden/*/input.yaml"), *ROOT.glob("runtimes/*.yaml")]
        if not path.parent.name.startswith("wrong-")
        for document in yaml.safe_load_all(path.read_text())
        if document and document["kind"].endswith("Runtime")
    ]
    used = {next(iter(set(r["spec"].get("mlPolicy") or {}) - {"numNodes"}), "plain") for r in runtimes}
    assert key in used


@pytest.mark.parametrize("key", SCHEDULERS)
def test_a_scheduler_has_a_golden_case(key: str) -> None:
    documents = [d for path in ROOT.glob("golden/gang-*/input.yaml") for d in yaml.safe_load_all(path.read_text())]
    assert any(key in (document["spec"].get("podGroupPolicy") or {}) for document in documents)


@pytest.mark.parametrize(
    ("page", "keys"),
    [
        pytest.param("docs/frameworks.md", FRAMEWORKS, id="frameworks"),
        pytest.param("docs/scheduling.md", SCHEDULERS, id="schedulers"),
        pytest.param("docs/dialects.md", DIALECTS, id="dialects"),
        pytest.param("docs/commands.md", COMMANDS, id="commands"),
        pytest.param("docs/commands.md", reports.FORMATS, id="reports"),
        pytest.param("docs/commands.md", GRAPHS, id="graphs"),
        pytest.param("docs/reports.md", reports.FORMATS, id="reports in full"),
    ],
)
def test_each_has_an_entry_in_the_documentation(page: str, keys: tuple[str, ...]) -> None:
    text = (ROOT / page).read_text()
    assert [key for key in keys if f"`{key}`" not in text] == []


def test_a_framework_that_trainer_lacks_is_documented_as_an_extension() -> None:
    """The key is in a heading: `mxnet` in "## `mxnet`: ...", `torch` in "## `torch.elasticPolicy`: ..."."""
    page = (ROOT / "docs" / "extensions.md").read_text()
    extended = {path.stem for path in (ROOT / "schemas" / "extensions").glob("*.json")}
    assert extended <= set(FRAMEWORKS), "each schemas/extensions/<key>.json belongs to a framework"
    missing = [key for key in sorted(extended) if not re.search(rf"^## .*`{re.escape(key)}[.`]", page, re.MULTILINE)]
    assert missing == [], f"docs/extensions.md has no section for {', '.join(missing)}: write ## `mlPolicy field`: ..."


def test_the_readme_lists_the_built_in_runtimes() -> None:
    text = (ROOT / "README.md").read_text()
    missing = [path.stem for path in sorted(ROOT.glob("runtimes/*.yaml")) if f"`{path.stem}`" not in text]
    assert missing == [], f"README.md, Usage, does not list the built-in runtime {', '.join(missing)}"


@pytest.mark.parametrize("key", [*FRAMEWORKS, *SCHEDULERS])
def test_a_framework_and_a_scheduler_have_a_unit_test(key: str) -> None:
    assert (ROOT / "tests" / "unit" / f"test_{key}.py").exists(), f"write tests/unit/test_{key}.py"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_run_by_a_test(command: str) -> None:
    ran = [path for path in ROOT.glob("tests/*/test_*.py") if f'run("{command}"' in path.read_text()]
    assert ran, f'write a test in tests/unit with run("{command}", ...)'


@pytest.mark.parametrize("key", DIALECTS)
def test_a_dialect_has_rows_in_a_unit_test(key: str) -> None:
    assert f'"{key}"' in (ROOT / "tests" / "unit" / "test_dialects.py").read_text()


@pytest.mark.parametrize("key", reports.FORMATS)
def test_a_report_has_its_outputs_beside_their_inputs(key: str) -> None:
    outputs = {path.stem for path in (ROOT / "tests" / "reports" / "formats").glob("*.txt")}
    assert {f"{key}-faults", f"{key}-what-is-in-order", f"{key}-attacks"} <= outputs


@pytest.mark.parametrize("key", DIALECTS[1:])
def test_an_older_dialect_has_a_golden_pair(key: str) -> None:
    case = ROOT / "golden" / f"dialect-{key}"
    assert [name for name in ("input.yaml", "upgraded.yaml", "expected.yaml") if not (case / name).exists()] == []


def test_the_gallery_shows_every_golden_case() -> None:
    script = ROOT / "scripts" / "make_gallery.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_difference_has_an_existing_golden_case() -> None:
    text = (ROOT / "docs" / "differences.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows
    for row in rows:
        case = row.rpartition("golden/")[2].partition(")")[0]
        assert (ROOT / "golden" / case / "input.yaml").exists(), row


def test_the_passes_are_the_pipeline() -> None:
    from trainc.pipeline import STAGES

    assert {stage.__name__ for stage in STAGES} == modules(Path(passes.__file__).parent)


@pytest.mark.parametrize("id", CHECKS)
def test_a_check_has_a_page_with_an_example_of_both_ways(id: str) -> None:
    page = ROOT / "diagnostics" / f"{id}.md"
    assert page.exists(), f"write {page}"
    assert [mark for mark in ("\nWrong:\n\n```", "\nRight:\n\n```") if mark not in page.read_text()] == []


@pytest.mark.parametrize("id", CHECKS)
def test_a_check_has_a_title(id: str) -> None:
    docstring = CHECKS[id][0].find.__doc__ or ""
    assert docstring.strip()
    assert "Wrong:" not in docstring, f"examples stand in diagnostics/{id}.md"


@pytest.mark.parametrize("id", CHECKS)
def test_a_check_is_called(id: str) -> None:
    check, module = CHECKS[id]
    listed = [check for name in ("CHECKS", "OF_ITSELF") for check in getattr(import_module(module), name, ())]
    # Checks that a stage calls itself are used there.
    called = re.compile(rf"(?<!def )\b{check.find.__name__}\((plan\.job\.id|subject),")
    assert check in listed or any(called.search(path.read_text()) for path in PACKAGE.rglob("*.py"))


def test_each_recipe_names_a_file_to_copy_from() -> None:
    recipes = (
        (ROOT / "CONTRIBUTING.md").read_text().partition("## Recipes")[2].partition("\n## ")[0].split("\n\n**")[1:]
    )
    assert recipes
    assert [recipe for recipe in recipes if "copy from `" not in recipe.lower()] == []


def test_the_files_that_the_recipes_copy_from_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    sentences = re.findall(r"[Cc]opy from (.*?)(?:[.:,)]\s|$)", text, re.DOTALL)
    files = [name for said in sentences for name in re.findall(r"`([^`]+)`", said) if "/" in name or "." in name]
    tests = (ROOT / "tests" / "unit", ROOT / "tests" / "e2e")
    folders = (ROOT, PACKAGE, *tests, ROOT / "schemas" / "extensions", ROOT / "diagnostics")
    assert [name for name in files if not any((folder / name).exists() for folder in folders)] == []


def test_make_test_runs_every_folder_of_tests_but_those_with_programs_of_their_own() -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["testpaths"]
    there = {f"tests/{path.name}" for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py"))}
    assert set(said) == there - {"tests/cluster", "tests/e2e", "tests/release"}
