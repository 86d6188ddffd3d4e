"""integrations/argocd/application.yaml: its plugin parameters, and the options that leave Kueue's fields alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml

import trainc
from trainc.argocd import parameters, plugin_environment
from trainc.base.kinds import JOBS_OF_JOBSET, POD_TEMPLATE
from trainc.base.kueue_releases import KUEUE_RELEASES
from trainc.base.releases import RELEASES
from trainc.compilation.run import Options
from trainc.kubernetes.trees import get
from trainc.pipeline.checks.jobset.update import WHILE_SUSPENDED

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "argo-cd.md").read_text()
ARGOCD = ROOT / "integrations" / "argocd"
APPLICATION = yaml.safe_load((ARGOCD / "application.yaml").read_text())
SPEC = APPLICATION["spec"]
PLUGIN = yaml.safe_load((ARGOCD / "plugin.yaml").read_text())
JOBSET = trainc.compile([str(ROOT / "golden" / "kueue-queue" / "input.yaml")]).objects[0]


def test_the_parameters_are_valid() -> None:
    plugin = SPEC["source"]["plugin"]
    assert plugin["name"] == PLUGIN["metadata"]["name"]
    variables = {
        "ARGOCD_APP_PARAMETERS": json.dumps(plugin["parameters"]),
        "ARGOCD_APP_SOURCE_PATH": SPEC["source"]["path"],
    }
    found, diagnostics = parameters.read_options(plugin_environment.read(variables, parameters.PARAMETERS))
    # The folder here is not the Application's, so its path leads out.
    assert [diagnostic.message for diagnostic in diagnostics] == [
        'the parameter "runtimes": "../../platform/runtimes" is outside the repository'
    ]
    assert found == Options(strict=True, name_suffix_hash=True)


def test_the_page_has_the_parameters_of_the_plugin() -> None:
    table = PAGE.partition("## Parameters")[2].partition("Set them in")[0]
    rows = dict(re.findall(r"^\| `(.+?)` \| (.+?) \|", table, re.MULTILINE))
    values = {
        "paths": "array of paths",
        "text": "string",
        "names": "string",
        "gang": "string",
        "switch": '"true" or "false"',
    }
    releases = [f'"{release.name}"' for release in RELEASES]
    values |= {"validation": '"strict", "warn" or "ignore"', "release": f"{', '.join(releases[:-1])} or {releases[-1]}"}
    wanted = {name: values[row.form] for name, row in parameters.PARAMETERS.items()}
    wanted["kueue-version"] = f'"{KUEUE_RELEASES[0].name}" to "{KUEUE_RELEASES[-1].name}"'
    assert rows == wanted


def test_self_heal_leaves_the_fields_of_kueue() -> None:
    """Server-side, only fields in git are compared and written, and trainc's output has none of Kueue's fields."""
    annotations = APPLICATION["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/compare-options"] == "ServerSideDiff=true"
    assert "ServerSideApply=true" in SPEC["syncPolicy"]["syncOptions"]
    assert SPEC["syncPolicy"]["automated"]["selfHeal"] is True
    assert "ignoreDifferences" not in SPEC


def test_the_output_has_no_field_that_kueue_writes() -> None:
    assert "suspend" not in JOBSET["spec"]
    pod = get(JOBSET, (*JOBS_OF_JOBSET, 0, *POD_TEMPLATE))
    assert [field for field in WHILE_SUSPENDED if get(pod, field) is not None] == []


def test_each_environment_has_an_application_with_its_parameter() -> None:
    found = yaml.safe_load((ARGOCD / "applicationset.yaml").read_text())["spec"]
    [generator] = found["generators"]
    elements = generator["list"]["elements"]
    assert [element["environment"] for element in elements] == ["dev", "prod"]
    source = found["template"]["spec"]["source"]
    given = [
        {**each, "string": each["string"].replace("{{.environment}}", "prod")}
        for each in source["plugin"]["parameters"]
    ]
    variables = {"ARGOCD_APP_PARAMETERS": json.dumps(given), "ARGOCD_APP_SOURCE_PATH": source["path"]}
    assert parameters.read_options(plugin_environment.read(variables, parameters.PARAMETERS)) == (
        Options(environments=("prod",)),
        (),
    )


def test_the_source_hydrator_runs_the_plugin_with_the_environment() -> None:
    found = yaml.safe_load((ARGOCD / "hydrator.yaml").read_text())["spec"]["sourceHydrator"]
    assert found["drySource"]["path"] == found["syncSource"]["path"]
    variables = {"ARGOCD_APP_PARAMETERS": json.dumps(found["drySource"]["plugin"]["parameters"])}
    assert parameters.read_options(plugin_environment.read(variables, parameters.PARAMETERS)) == (
        Options(environments=("prod",)),
        (),
    )
