"""An Application's parameters in Argo CD's variables: each row is an environment and the expected result."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

from trainc.argocd import parameters, plugin_environment
from trainc.compilation.run import Options

FILES = Path(__file__).parents[2] / "integrations" / "argocd"


def options(runtimes: tuple[str, ...] = (), **given: Any) -> Options:
    return Options(runtimes=runtimes, **given)


def read_options(variables: dict[str, str]) -> tuple[Options, list[str]]:
    found, diagnostics = parameters.read_options(plugin_environment.read(variables, parameters.PARAMETERS))
    return found, [f"{diagnostic.message}; {diagnostic.help}" for diagnostic in diagnostics]


def plugin_parameters(*given: dict[str, Any]) -> dict[str, str]:
    """Return the variables that Argo CD sets from `spec.source.plugin.parameters`."""
    return {"ARGOCD_APP_PARAMETERS": json.dumps(given, sort_keys=True)}


UNDERSTOOD: dict[str, tuple[dict[str, str], Options]] = {
    "no section at all": ({}, options()),
    "no parameters": ({"ARGOCD_APP_PARAMETERS": "null"}, options()),
    "an empty list": (plugin_parameters(), options()),
    "each of them": (
        plugin_parameters(
            {"name": "runtimes", "array": ["../../platform", "runtimes/gpu.yaml"]},
            {"name": "only", "string": "finetune"},
            {"name": "strict", "string": "true"},
            {"name": "suspend", "string": "true"},
            {"name": "name-suffix-hash", "string": "true"},
            {"name": "argocd-replace", "string": "true"},
        ),
        options(
            ("../../platform", "runtimes/gpu.yaml"),
            only="finetune",
            strict=True,
            name_suffix_hash=True,
            argocd_replace=True,
            suspend=True,
        ),
    ),
    "values as the forms leave them": (
        plugin_parameters(
            {"name": "runtimes", "array": []}, {"name": "only", "string": ""}, {"name": "strict", "string": "false"}
        ),
        options(),
    ),
    "only a name": (plugin_parameters({"name": "strict"}, {"name": "only"}, {"name": "runtimes"}), options()),
    "one path as a string": (
        plugin_parameters({"name": "runtimes", "string": "../../platform"}),
        options(("../../platform",)),
    ),
    "a path of that name, not standard input": (
        plugin_parameters({"name": "runtimes", "array": ["-"]}),
        options(("./-",)),
    ),
    "the repository itself": (plugin_parameters({"name": "runtimes", "array": ["../.."]}), options(("../..",))),
    "field validation": (
        plugin_parameters({"name": "field-validation", "string": "warn"}),
        options(field_validation="warn"),
    ),
    "no field validation": (plugin_parameters({"name": "field-validation", "string": ""}), options()),
    "field validation without a value": (plugin_parameters({"name": "field-validation"}), options()),
    "capitals": (plugin_parameters({"name": "strict", "string": "True"}), options(strict=True)),
    "variables, where there is no JSON": (
        {"PARAM_RUNTIMES_0": "a", "PARAM_RUNTIMES_1": "b c", "PARAM_NAME_SUFFIX_HASH": "true", "PARAM_OTHER": "x"},
        options(("a", "b c"), name_suffix_hash=True),
    ),
    "variables beside JSON": (
        {**plugin_parameters({"name": "only", "string": "a"}), "PARAM_ONLY": "b", "PARAM_STRICT": "true"},
        options(only="a"),
    ),
    "plugin env": (
        {"ARGOCD_ENV_TRAINC_RUNTIMES": "a:../b", "ARGOCD_ENV_TRAINC_STRICT": "true", "ARGOCD_ENV_STRICT": "no"},
        options(("a", "../b"), strict=True),
    ),
    "plugin env beside a parameter": (
        {
            **plugin_parameters({"name": "only", "string": "a"}),
            "ARGOCD_ENV_TRAINC_ONLY": "b",
            "ARGOCD_ENV_TRAINC_SUSPEND": "true",
        },
        options(only="a", suspend=True),
    ),
}


@pytest.mark.parametrize(("variables", "expected"), [pytest.param(*row, id=name) for name, row in UNDERSTOOD.items()])
@pytest.mark.usefixtures("application")
def test_what_is_understood(variables: dict[str, str], expected: Options) -> None:
    assert read_options({"ARGOCD_APP_SOURCE_PATH": "apps/training", **variables}) == (expected, [])


REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "a name nearly right": (
        plugin_parameters({"name": "runtime"}),
        'the parameter "runtime" is unknown; did you mean runtimes?',
    ),
    "a name like no other": (
        plugin_parameters({"name": "values"}),
        'the parameter "values" is unknown; use one of runtimes, only, strict, field-validation, '
        "trainer-version, kueue-version, legacy, gang, suspend, name-suffix-hash, argocd-replace, environment",
    ),
    "plugin env": (
        {"ARGOCD_ENV_TRAINC_SUFFIX_HASH": "true"},
        "TRAINC_SUFFIX_HASH in spec.source.plugin.env is unknown; did you mean name-suffix-hash?",
    ),
    "no field validation": (
        plugin_parameters({"name": "field-validation", "string": "Warn"}),
        'the parameter "field-validation" must be strict, warn or ignore, not "Warn"; set string to one of them',
    ),
    "field validation as a list": (
        plugin_parameters({"name": "field-validation", "array": ["warn"]}),
        'the parameter "field-validation" must be strict, warn or ignore; set string to one of them',
    ),
    "no switch": (
        plugin_parameters({"name": "strict", "string": "1"}),
        'the parameter "strict" must be "true" or "false", not "1"; set it to "true" or "false"',
    ),
    "a switch as a list": (
        plugin_parameters({"name": "strict", "array": ["true"]}),
        'the parameter "strict" must be "true" or "false"; set it to "true" or "false"',
    ),
    "a name as a map": (
        plugin_parameters({"name": "only", "map": {"a": "b"}}),
        'the parameter "only" must be a string; set string to one name',
    ),
    "paths as a map": (
        plugin_parameters({"name": "runtimes", "map": {"a": "b"}}),
        'the parameter "runtimes" must be an array, not a map; set array to a list of paths',
    ),
    "twice": (
        plugin_parameters({"name": "only"}, {"name": "only"}),
        'the parameter "only" is set twice; remove one of them',
    ),
    "a path out": (
        plugin_parameters({"name": "runtimes", "array": ["../../../else"]}),
        'the parameter "runtimes": "../../../else" is outside the repository; use a path relative to the '
        "application's folder: trainc reads only the repository",
    ),
    "an absolute path": (
        plugin_parameters({"name": "runtimes", "array": ["/etc"]}),
        'the parameter "runtimes": "/etc" is outside the repository; use a path relative to the application\'s '
        "folder: trainc reads only the repository",
    ),
    "a hidden path": (
        plugin_parameters({"name": "runtimes", "array": ["../.git/config"]}),
        'the parameter "runtimes": "../.git/config" is hidden; use a name without a dot at its start',
    ),
    "an empty path": (
        plugin_parameters({"name": "runtimes", "array": [""]}),
        'the parameter "runtimes" has an empty path; remove it',
    ),
    "no JSON": (
        {"ARGOCD_APP_PARAMETERS": "{"},
        "ARGOCD_APP_PARAMETERS is not valid JSON; set spec.source.plugin.parameters: Argo CD derives it from them",
    ),
    "endless JSON": (
        {"ARGOCD_APP_PARAMETERS": "[" * 100_000},
        "ARGOCD_APP_PARAMETERS is not valid JSON; set spec.source.plugin.parameters: Argo CD derives it from them",
    ),
    "no list": (
        {"ARGOCD_APP_PARAMETERS": "{}"},
        'ARGOCD_APP_PARAMETERS must be a list of parameters; use a list: [{"name": "only", "string": "finetune"}]',
    ),
    **{
        name: (
            {"ARGOCD_APP_PARAMETERS": text},
            "a parameter has no name, or a value that is not a string; set name, and string or an array of "
            "strings",
        )
        for name, text in {
            "no object": "[1]",
            "no name": '[{"string":"a"}]',
            "a number": '[{"name":"only","string":1}]',
            "a list of numbers": '[{"name":"runtimes","array":[1]}]',
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize(("variables", "expected"), [pytest.param(*row, id=name) for name, row in REFUSED.items()])
@pytest.mark.usefixtures("application")
def test_what_is_refused(variables: dict[str, str], expected: str) -> None:
    assert read_options({"ARGOCD_APP_SOURCE_PATH": "apps/training", **variables})[1] == [expected]


@pytest.mark.parametrize(
    ("path", "root"),
    [
        pytest.param("apps/training", ".", id="its suffix"),
        pytest.param("./apps//training/", ".", id="its suffix, spelt otherwise"),
        pytest.param("training", "apps", id="a part of it"),
        pytest.param(".", "apps/training", id="the root itself"),
        pytest.param("", "apps/training", id="nothing"),
        pytest.param(None, "apps/training", id="not set"),
        pytest.param("other/training", "apps/training", id="another path: a link"),
        pytest.param("raining", "apps/training", id="the end of a name"),
        pytest.param("..", "apps/training", id="upwards"),
        pytest.param("../training", "apps/training", id="upwards, and back"),
        pytest.param("/apps/training", "apps/training", id="an absolute one"),
    ],
)
def test_the_root(path: str | None, root: str, application: Path) -> None:
    variables = {} if path is None else {"ARGOCD_APP_SOURCE_PATH": path}
    assert plugin_environment.root(variables) == os.path.realpath(application / root)


def test_the_root_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/usr")
    assert plugin_environment.root({"ARGOCD_APP_SOURCE_PATH": "usr"}) == "/usr"


@pytest.mark.parametrize(
    ("version", "older"),
    [
        *(("1.35", True), ("1.4", True), ("v1.9", True)),
        *(("1.36", False), ("1.36.2", False), ("1.37", False), ("2.0", False)),
        *(("", False), ("1", False), ("one.two", False), ("1.x", False)),
    ],
)
def test_the_cluster(version: str, older: bool) -> None:
    assert plugin_environment.is_older(version) == older


def test_the_rules_that_are_checked_are_those_of_the_documentation() -> None:
    versions = (FILES.parents[1] / "docs" / "versions.md").read_text()
    assert f"| Kubernetes | v{'.'.join(map(str, plugin_environment.CHECKED))} and " in versions


def test_plugin_yaml_announces_them_too() -> None:
    plugin = yaml.safe_load((FILES / "plugin.yaml").read_text())
    assert plugin["spec"]["parameters"]["static"] == parameters.announcement()


def test_the_announcement_names_the_trainjobs_that_there_are(application: Path) -> None:
    jobs = ("b", "a", "", "{}")
    head = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
    for number, name in enumerate(jobs):
        (application / "apps" / "training" / f"{number}.yaml").write_text(f"{head}metadata: {{name: {name}}}\n")
    (application / "apps" / "training" / "broken.yaml").write_text("TrainJob: a: b")
    (application / "other.yaml").write_text(f"{head}metadata: {{name: elsewhere}}\n")
    done = run("cmp", "parameters")
    assert (done.code, done.err) == (0, "")
    announced = json.loads(done.out)
    assert [parameter["name"] for parameter in announced] == list(parameters.PARAMETERS)
    assert announced[1]["tooltip"] == "Compile only TrainJobs with this name: a, b"


def test_a_form_does_not_name_a_thousand_trainjobs() -> None:
    said = parameters.announcement([f"job-{number}" for number in range(1000)])[1]["tooltip"]
    assert said.endswith("job-18, job-19 and 980 more")
