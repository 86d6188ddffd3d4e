"""The layers of the settings: built-in < file < environment < flags, each value with the line or option that set it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from running import run

from trainc import settings
from trainc.base.kinds import LEGACY
from trainc.compilation.run import Options, start
from trainc.diagnostics import Place
from trainc.pipeline.objects import Delivery
from trainc.settings import DEFAULT, Settings, in_environment, load, with_flags
from trainc.settings.keys import KEYS

pytestmark = pytest.mark.usefixtures("empty_root")

ROOT = Path(__file__).parents[2]
DIGEST = "0" * 64
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec: {runtimeRef: {name: torch-distributed}}
"""


def write_settings(text: str) -> None:
    Path("trainc.yaml").write_text(text)


Shown = list[tuple[Any, str]]
"""The values of a key, one per item of a list, each with its source."""


def shown(key: str, *arguments: str) -> Shown:
    """Return the values of a key that `trainc settings` prints, and of the keys and items in it."""
    done = run("settings", *arguments, "--format", "json")
    assert (done.code, done.err) == (0, "")
    (found,) = json.loads(done.out)
    listed = [each for each in found["settings"] if re.match(rf"{re.escape(key)}(?![A-Za-z])", each["key"])]
    return [(each["value"], each["flag"] or (f"{each['line']}" if each["file"] else each["layer"])) for each in listed]


BUILT_IN = "built-in"


# Each row: a key; its value in the file (line 1) and in the environment (line 4), as YAML; an option; the values after
# each layer, with their sources.
LAYERS = [
    pytest.param(
        *("exclude", "[a/]", "[b/]", ("--exclude", "c/")),
        [([], BUILT_IN)],
        [("a/", "1")],
        [("a/", "1"), ("b/", "4")],
        [("a/", "1"), ("b/", "4"), ("c/", "--exclude")],
        id="exclude",
    ),
    pytest.param(
        *("lint.paths", "{a/: [no-gang], b/: [no-gang]}", "{b/: [], c/: [no-gang]}", ()),
        [({}, BUILT_IN)],
        [("no-gang", "1"), ("no-gang", "1")],
        [("no-gang", "1"), ([], "4"), ("no-gang", "4")],
        None,
        id="lint.paths",
    ),
    pytest.param(
        *("runtimes.paths", "[a]", "[b]", ("-r", "c")),
        [([], BUILT_IN)],
        [("a", "1")],
        [("b", "4")],
        [("c", "--runtimes")],
        id="runtimes.paths",
    ),
    pytest.param(
        *("runtimes.builtin", "forbid", "allow", ()),
        [("allow", BUILT_IN)],
        [("forbid", "1")],
        [("allow", "4")],
        None,
        id="runtimes.builtin",
    ),
    pytest.param(
        *("trainerVersion", '"2.1"', '"2.2"', ("--trainer-version", "2.4")),
        [("2.3", BUILT_IN)],
        [("2.1", "1")],
        [("2.2", "4")],
        [("2.4", "--trainer-version")],
        id="trainerVersion",
    ),
    pytest.param(
        *("kueueVersion", "0.18", '"0.19"', ("--kueue-version", "0.20")),
        [],
        [("0.18", "1")],
        [("0.19", "4")],
        [("0.20", "--kueue-version")],
        id="kueueVersion",
    ),
    pytest.param(
        *("fieldValidation", "warn", "ignore", ("--field-validation", "strict")),
        [("strict", BUILT_IN)],
        [("warn", "1")],
        [("ignore", "4")],
        [("strict", "--field-validation")],
        id="fieldValidation",
    ),
    pytest.param(
        *("jobsetVersion", '"0.8"', '"0.11"', ()),
        [],
        [("0.8", "1")],
        [("0.11", "4")],
        None,
        id="jobsetVersion",
    ),
    pytest.param(
        *("passthrough", "false", "[claims/, '*.pvc.yaml']", ("--passthrough",)),
        [],
        [(False, "1")],
        [("claims/", "4"), ("*.pvc.yaml", "4")],
        [(True, "--passthrough")],
        id="passthrough",
    ),
    pytest.param(
        *("lint.disable", "[no-gang]", "[one-process]", ()),
        [([], BUILT_IN)],
        [("no-gang", "1")],
        [("no-gang", "1"), ("one-process", "4")],
        None,
        id="lint.disable",
    ),
    pytest.param(
        *("lint.strict", "true", "false", ("--strict",)),
        [(False, BUILT_IN)],
        [(True, "1")],
        [(False, "4")],
        [(True, "--strict")],
        id="lint.strict",
    ),
    pytest.param(
        *("legacy.kinds", "[PyTorchJob]", "[]", ("--legacy",)),
        [([], BUILT_IN)],
        [("PyTorchJob", "1")],
        [([], "4")],
        [(row.name, "--legacy") for row in LEGACY],
        id="legacy.kinds",
    ),
    pytest.param(
        *("legacy.gang", "volcano", "coscheduling", ("--gang", "kai-scheduler")),
        [],
        [("volcano", "1")],
        [("coscheduling", "4")],
        [("kai-scheduler", "--gang")],
        id="legacy.gang",
    ),
    *(
        pytest.param(
            *(key, "true", "false", (flag,)),
            [(False, BUILT_IN)],
            [(True, "1")],
            [(False, "4")],
            [(True, flag)],
            id=key,
        )
        for key, flag in (
            ("delivery.nameSuffixHash", "--name-suffix-hash"),
            ("delivery.argocdReplace", "--argocd-replace"),
            ("delivery.suspend", "--suspend"),
        )
    ),
    *(
        pytest.param(*(key, "a", "b", ()), [], [("a", "1")], [("b", "4")], None, id=key)
        for key in ("cluster", "namespace", "namespacePrefix", "namespaceSuffix", "namePrefix", "nameSuffix")
    ),
    *(
        pytest.param(
            *(key, "{a: x, b: x}", "{b: z, c: z}", ()),
            [({}, BUILT_IN)],
            [("x", "1"), ("x", "1")],
            [("x", "1"), ("z", "4"), ("z", "4")],
            None,
            id=key,
        )
        for key in ("labels", "annotations")
    ),
    pytest.param(
        *(
            "images",
            "[{name: a, newName: m/a, newTag: v1}, {name: c, newTag: v3}]",
            f"[{{name: b, newTag: v2}}, {{name: a, digest: sha256:{DIGEST}}}]",
            (),
        ),
        [([], BUILT_IN)],
        [({"name": "a", "newName": "m/a", "newTag": "v1"}, "1"), ({"name": "c", "newTag": "v3"}, "1")],
        [
            ({"name": "a", "newName": "m/a", "digest": f"sha256:{DIGEST}"}, "4"),
            ({"name": "c", "newTag": "v3"}, "1"),
            ({"name": "b", "newTag": "v2"}, "4"),
        ],
        None,
        id="images",
    ),
    pytest.param(
        *("patches", "[{patch: {spec: {}}}]", "[{patch: []}]", ()),
        [([], BUILT_IN)],
        [({"patch": {"spec": {}}}, "1")],
        [({"patch": {"spec": {}}}, "1"), ({"patch": []}, "4")],
        None,
        id="patches",
    ),
    pytest.param(
        "accelerators",
        "{a.com/x: {env: [{name: A}], volumes: []}, b.com/x: {}}",
        "{a.com/x: {env: [{name: B}]}, c.com/x: {}}",
        (),
        [({}, BUILT_IN)],
        [({"name": "A"}, "1"), ([], "1"), ({}, "1")],
        [({"name": "B"}, "4"), ([], "1"), ({}, "1"), ({}, "4")],
        None,
        id="accelerators",
    ),
    pytest.param(
        *("sources", "[a, b]", None, ("c",)),
        [(".", BUILT_IN)],
        [("a", "1"), ("b", "1")],
        None,
        [("c", "PATH")],
        id="sources",
    ),
    pytest.param(*("output", "a", None, ()), [], [("a", "1")], None, None, id="output"),
    pytest.param(
        *("shared", "[{kind: A}]", None, ()),
        [([], BUILT_IN)],
        [({"kind": "A"}, "1")],
        None,
        None,
        id="shared",
    ),
    pytest.param(*("keep", "[a, b/]", None, ()), [([], BUILT_IN)], [("a", "1"), ("b/", "1")], None, None, id="keep"),
]


@pytest.mark.parametrize(("key", "file", "environment", "flags", "built_in", "of_file", "of_both", "of_all"), LAYERS)
def test_a_higher_layer_changes_a_lower_one(
    key: str,
    file: str,
    environment: str | None,
    flags: tuple[str, ...],
    built_in: Shown,
    of_file: Shown,
    of_both: Shown | None,
    of_all: Shown | None,
) -> None:
    parts = key.split(".")
    opened, closed = "".join(f"{part}: {{" for part in parts[:-1]) + parts[-1], "}" * (len(parts) - 1)
    top = f"{opened}: {file}{closed}\n"
    assert shown(key) == built_in
    write_settings("lint: {}\n")
    assert shown(key) == built_in
    write_settings(top)
    assert shown(key) == of_file
    inside = "" if environment is None else f"    {opened}: {environment}{closed}\n"
    write_settings(f"{top}environments:\n  prod:\n{inside}")
    in_prod = ("--env", "prod")
    assert shown(key, *in_prod) == (of_file if of_both is None else of_both)
    if of_all is not None:
        Path("c").mkdir()
        assert shown(key, *flags, *in_prod, *(["--config", "trainc.yaml"] if key == "sources" else [])) == of_all


def test_every_key_is_in_the_table() -> None:
    """`requiredVersion`, `extends` and `environments` are no settings of a run."""
    assert {row.values[0] for row in LAYERS} == {key.name for key in KEYS} - {
        "requiredVersion",
        "extends",
        "environments",
    }


@pytest.mark.parametrize("row", [row.values for row in LAYERS if row.values[3]], ids=lambda row: str(row[0]))
def test_an_option_has_the_same_effect_without_a_file(row: tuple[Any, ...]) -> None:
    """Without a file, options are applied without the imports of the layers."""
    key = next(each for each in KEYS if each.name == row[0])
    lists = {"exclude": ["c/"], "runtimes.paths": ["c"], "sources": ["c"], "legacy.kinds": ("PyTorchJob",)}
    texts = {"fieldValidation": "warn", "trainerVersion": "2.1", "kueueVersion": "0.18", "legacy.gang": "volcano"}
    value = {**lists, **texts}.get(key.name, True)
    without = with_flags(DEFAULT, {key.path: value})
    write_settings("lint: {}\n")
    beside = with_flags(load(["."]), {key.path: value})
    assert beside._replace(base=None, document=None, settings_files=(), file="") == without
    read_by_the_command = {"runtimes.paths", "sources"}
    assert (without == DEFAULT) == (key.name in read_by_the_command)


def effective(name: str = "", *, of_file: Settings | None = None) -> Settings:
    found = load(["."]) if of_file is None else of_file
    assert found.diagnostics == ()
    return in_environment(found, name) if name else found


def line(place: object) -> int:
    assert isinstance(place, Place)
    return place.locate().line


def test_the_values_that_a_run_uses() -> None:
    write_settings(
        """\
sources: [jobs, more/jobs]
exclude: [archive/]
runtimes: {paths: [platform], builtin: forbid}
output: rendered
delivery: {suspend: true}
namespace: team
labels: {team: nlp}
images: [{name: a, newTag: v1, digest: "sha256:%s"}]
environments:
  dev:
  prod:
    namespace: ml
    exclude: ["!archive/kept/"]
    runtimes: {builtin: allow, paths: []}
    delivery: {nameSuffixHash: true}
    labels: {env: prod}
    images: [{name: b, newName: c/d}]
    lint: {strict: true, disable: [no-gang]}
    patches: [{patch: {}}]
"""
        % ("0" * 64)
    )
    top, dev, prod = effective(), effective("dev"), effective("prod")
    assert top.environment_names == ("dev", "prod")
    for each in (top, dev, prod):
        assert [path.path for path in each.sources] == ["jobs", "more/jobs"]
        assert each.output is not None
        assert (each.output.path, line(each.output.place)) == ("rendered", 4)
    assert (top.environment_name, dev.environment_name, prod.environment_name) == ("", "dev", "prod")
    assert (top.delivery, prod.delivery) == (Delivery(suspend=True), Delivery(name_suffix_hash=True, suspend=True))
    assert line(top.built_in_forbidden) == 3
    assert prod.built_in_forbidden is None
    assert ([path.path for path in top.runtimes], prod.runtimes) == (["platform"], ())
    assert [patterns.lines for patterns in prod.exclude] == [("archive/", "!archive/kept/")]
    assert [line(place) for place in prod.exclude[0].places] == [2, 13]
    assert prod.strict == "environments.prod.lint.strict in trainc.yaml"
    assert prod.disable == frozenset({"no-gang"})
    assert top.environment is not None
    assert dev.environment == top.environment._replace(name="dev")
    assert prod.environment is not None
    assert prod.environment.namespace is not None
    assert (prod.environment.namespace.value, line(prod.environment.namespace.place)) == ("ml", 12)
    labels = {key: (setting.value, line(setting.place)) for key, setting in prod.environment.labels.items()}
    assert labels == {"team": ("nlp", 7), "env": ("prod", 16)}
    of_prod = [(image.name, image.new_name, line(image.place)) for image in prod.environment.images]
    assert of_prod == [("a", "", 8), ("b", "c/d", 17)]
    assert [(image.new_tag, image.digest[:8]) for image in dev.environment.images] == [("v1", "sha256:0")]
    assert [(patch.value, line(patch.place)) for patch in prod.environment.patches] == [({"patch": {}}, 19)]


def test_an_environment_replaces_an_earlier_one_and_keeps_the_flags() -> None:
    write_settings("environments:\n  dev: {lint: {strict: true}}\n  prod: {fieldValidation: warn}\n")
    options = start(Options(suspend=True, follow_links=True)).with_project(["."])
    dev = options.with_settings(options.settings, "dev")
    prod = dev.with_settings(dev.settings, "prod")
    assert (prod.settings.strict, prod.settings.field_validation) == ("", "warn")
    assert (prod.settings.delivery.suspend, prod.options.follow_links) == (True, True)
    assert prod == options.with_settings(options.settings, "prod")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lint: {}\n",
        "labels: {}\nannotations: {}\n",
        "namePrefix: ''\n",
        "images: []\npatches: []\n",
        "namespace:\n",
    ],
)
def test_a_project_without_such_settings_has_no_environment(text: str) -> None:
    write_settings(text)
    assert effective().environment is None


def test_an_environment_may_clear_a_prefix() -> None:
    write_settings("namePrefix: a-\nenvironments: {prod: {namePrefix: ''}}\n")
    top, prod = effective().environment, effective("prod").environment
    assert top is not None
    assert top.name_prefix is not None
    assert prod is not None
    assert (top.name_prefix.value, prod.name_prefix) == ("a-", None)


def test_accelerators_have_the_line_of_their_layer() -> None:
    write_settings(
        """\
accelerators:
  nvidia.com/gpu:
    env: [{name: A, value: file}]
    volumes: [{name: v, hostPath: /v, mountPath: /v}]
environments:
  prod:
    accelerators:
      nvidia.com/gpu:
        env: [{name: A, value: environment}]
"""
    )
    project = effective("prod").project
    env, volume = ("accelerators", "nvidia.com/gpu", "env", 0), ("accelerators", "nvidia.com/gpu", "volumes", 0, "name")
    assert project.accelerators["nvidia.com/gpu"]["env"][0]["value"] == "environment"
    assert (project.at(*env).locate().line, project.at(*env, "value").locate().line) == (9, 9)
    assert project.at(*volume).locate().line == 4


@pytest.mark.parametrize(("at", "paths"), [(".", ["jobs"]), ("jobs", ["."]), ("other", ["../jobs"])])
def test_paths_are_shown_relative_to_the_current_folder(at: str, paths: list[str], monkeypatch: Any) -> None:
    write_settings("sources: [jobs]\n")
    Path("jobs").mkdir()
    Path("other").mkdir()
    monkeypatch.chdir(at)
    found = effective()
    assert [path.path for path in found.sources] == paths
    assert Path(found.folder).resolve() == Path(paths[0]).resolve().parent


def test_the_folder_of_an_empty_file_is_the_project() -> None:
    write_settings("# Nothing yet.\n")
    Path("jobs").mkdir()
    assert load(["jobs"]).folder == "."
    assert load([str(Path("jobs").absolute())]).folder == str(Path.cwd())


def test_a_file_that_is_already_read_has_the_same_settings() -> None:
    from trainc.files.inputs import File
    from trainc.files.walk import fault
    from trainc.settings.extending import FileSource

    text = "output: out\nenvironments: {prod: {namespace: ml}}\n"
    here = str(Path.cwd())
    nowhere = FileSource(lambda path: fault(path, "is not read"), lambda path: path)
    found = settings.load_file(File("HEAD:trainc.yaml", text.encode()), f"{here}/trainc.yaml", nowhere, root=here)
    assert found.output is not None
    assert found.output.path == str(Path.cwd() / "out")
    assert effective("prod", of_file=found).environment is not None


def test_the_schema_has_every_key_with_its_default() -> None:
    schema = json.loads(run("schema", "settings").out)

    def at(path: tuple[str, ...], root: Any = schema) -> Any:
        for step in path:
            root = root["properties"][step]
            if "$ref" in root:
                root = schema["$defs"][root["$ref"].removeprefix("#/$defs/")] | root
        return root

    for key in KEYS:
        assert (key.name, at(key.path).get("default")) == (key.name, key.default)
    tops = {key.path[0] for key in KEYS}
    assert schema["properties"].keys() == tops
    in_environment = {key.path[0] for key in KEYS if key.in_environment}
    assert schema["$defs"]["Environment"]["properties"].keys() == in_environment


def described(schema: Any, path: str = "") -> list[str]:
    """Return the paths of the properties without a description."""
    found = []
    for name, below in schema.get("properties", {}).items():
        found += [f"{path}.{name}"] * (not below.get("description"))
        found += described(below, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found += described(schema[key], f"{path}.{key}")
    return found


def test_the_schema_describes_every_key() -> None:
    schema = json.loads(run("schema", "settings").out)
    assert described(schema) == []
    assert [described(definition, name) for name, definition in schema["$defs"].items()] == [[]] * len(schema["$defs"])


def test_the_reference_has_every_key_with_its_rule_option_and_default() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in page.splitlines() if row.startswith("| `")]
    listed = {cells[0].strip("`"): cells[1:] for cells in rows if len(cells) == 5}
    assert list(listed) == [key.name for key in KEYS]
    for key in KEYS:
        rule, flag, default, environment = listed[key.name]
        words = {None: "", "allow": "`allow`", "strict": "`strict`", "2.3": "`2.3`"}
        written = words[key.default] if isinstance(key.default, str | None) else f"`{json.dumps(key.default)}`"
        assert (rule, default) == (key.rule, written)
        assert flag == (f"`{key.flag}`" if key.flag else "")
        assert environment == ("yes" if key.in_environment else "no")


def test_secrets_are_masked() -> None:
    write_settings("patches:\n- patch: {spec: {trainer: {env: [{name: HF_TOKEN, value: hf_abcdef}]}}}\n")
    done = run("settings")
    assert "hf_abcdef" not in done.out
    assert "value: '***'" in done.out


def test_the_output_is_yaml_that_sets_the_same_values() -> None:
    write_settings(
        """\
sources: ["a: b", "yes"]
annotations: {"a.com/b": "1", c: "x # y"}
patches:
- patch: |
    spec:
      suspend: true
environments: {dev: , prod: {namespace: ml}}
"""
    )
    done = run("settings")
    dev, prod = yaml.safe_load_all(done.out)
    assert dev["sources"] == ["a: b", "yes"]
    assert dev["annotations"] == {"a.com/b": "1", "c": "x # y"}
    assert dev["patches"] == [{"patch": "spec:\n  suspend: true\n"}]
    assert prod == dev | {"namespace": "ml"}
    assert done.out.count("# environment ") == 2


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_reference_is_valid() -> None:
    write_settings(blocks("configuration.md", "yaml")[0])
    found = effective()
    assert found.environment_names == ("dev", "prod")
    assert [effective(name).environment is not None for name in found.environment_names] == [True, True]


VALID = [
    blocks("configuration.md", "yaml")[0],
    "",
    "environments: {dev: {}}\n",
    "patches: [{patch: {spec: {}}}, {patch: []}, {patch: 'spec: {}'}]\n",
    "patches: [{path: a.yaml, target: {kind: JobSet, name: a*}}]\n",
    "accelerators: {a.com/x: {env: [{name: A, value: b}]}}\ndelivery: {suspend: true}\n",
    "requiredVersion: '>=0.1, <100'\n",
]
INVALID = [
    "foo: 1\n",
    "environments: {dev: {output: a}}\n",
    "environments: {dev: {sources: [a]}}\n",
    "environments: {dev: {lint: {strikt: true}}}\n",
    "environments: {Dev: {}}\n",
    "sources: a\n",
    "lint: {disable: [no-gagn]}\n",
    "images: [{newTag: a}]\n",
    "images: [{name: a, tag: b}]\n",
    "labels: {a: 1}\n",
    "namespace: ''\n",
    "patches: [{target: {knd: a}}]\n",
    "runtimes: {builtin: no}\n",
]


@pytest.mark.parametrize("text", [*VALID, *INVALID])
def test_an_editor_that_uses_the_schema_agrees(text: str) -> None:
    schema = json.loads(run("schema", "settings").out)
    value = yaml.safe_load(text) or {}
    write_settings(text)
    assert jsonschema.Draft202012Validator(schema).is_valid(value) is (text in VALID)
    assert (load(["."]).diagnostics == ()) is (text in VALID)
