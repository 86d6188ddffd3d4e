"""integrations/argocd/application.yaml: its plugin parameters, and the fields that it ignores for Kueue.

Argo CD compares objects without the paths in `jqPathExpressions`, as after `jq 'del(...)'`. Requires `jq` on the PATH;
otherwise its test is skipped.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import trainc
from trainc.argocd import environment, parameters
from trainc.argocd.parameters import Wanted
from trainc.checks.jobset.update import POD, WHILE_SUSPENDED, refused
from trainc.kubernetes.trees import Path as TreePath
from trainc.kubernetes.trees import put

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gitops.md").read_text()
ARGOCD = ROOT / "integrations" / "argocd"
SPEC = yaml.safe_load((ARGOCD / "application.yaml").read_text())["spec"]
PLUGIN = yaml.safe_load((ARGOCD / "plugin.yaml").read_text())
JOBSET = trainc.compile([str(ROOT / "golden" / "kueue-queue" / "input.yaml")]).objects[0]
AT: TreePath = ("spec", "replicatedJobs", 0, *POD)


def fields_of_kueue() -> set[str]:
    """Return the jq paths in a pod template that may change while the JobSet is suspended."""
    pod = ".".join(map(str, POD))
    return {f".spec.replicatedJobs[]?.{pod}.{'.'.join(map(str, field))}" for field in WHILE_SUSPENDED}


def ignored() -> list[str]:
    (rule,) = SPEC["ignoreDifferences"]
    assert {key: rule[key] for key in ("group", "kind")} == {"group": "jobset.x-k8s.io", "kind": "JobSet"}
    expressions: list[str] = rule["jqPathExpressions"]
    return expressions


def admitted(jobset: dict[str, Any]) -> dict[str, Any]:
    """Return a JobSet that Kueue has started."""
    started = put(jobset, ("spec", "suspend"), False)
    started = put(started, (*AT, "metadata"), {"labels": {"a": "b"}, "annotations": {"a": "b"}})
    started = put(started, (*AT, "spec", "nodeSelector"), {"pool": "a"})
    started = put(started, (*AT, "spec", "tolerations"), [{"key": "a"}])
    whole: dict[str, Any] = put(started, (*AT, "spec", "schedulingGates"), [{"name": "a.io/b"}])
    return whole


def compared(jobset: dict[str, Any]) -> Any:
    """Return the object that Argo CD compares, without ignored fields and the mappings that they leave empty."""
    del_all = f"del({', '.join(ignored())}) | del(.. | select(. == {{}}))"
    done = subprocess.run(
        ["jq", del_all], input=json.dumps(jobset), capture_output=True, text=True, timeout=10, check=True
    )
    return json.loads(done.stdout)


def test_the_parameters_are_valid() -> None:
    plugin = SPEC["source"]["plugin"]
    assert plugin["name"] == PLUGIN["metadata"]["name"]
    variables = {
        "ARGOCD_APP_PARAMETERS": json.dumps(plugin["parameters"]),
        "ARGOCD_APP_SOURCE_PATH": SPEC["source"]["path"],
    }
    found, diagnostics = parameters.wanted(environment.read(variables, parameters.NAMES))
    # The folder here is not the Application's, so its path leads out.
    assert [diagnostic.message for diagnostic in diagnostics] == [
        'the parameter "runtimes": "../../platform/runtimes" is outside the repository'
    ]
    assert found == Wanted(strict=True, name_suffix_hash=True)


def test_the_page_has_the_parameters_of_the_plugin() -> None:
    table = PAGE.partition("### Parameters")[2].partition("Set them in")[0]
    rows = dict(re.findall(r"^\| `(.+?)` \| (.+?) \|", table, re.MULTILINE))
    values = {"paths": "array of paths", "text": "string", "switch": '"true" or "false"'}
    values |= {"validation": '"strict", "warn" or "ignore"'}
    assert rows == {parameter.name: values[parameter.form] for parameter in parameters.PARAMETERS}


def test_it_ignores_what_kueue_sets() -> None:
    assert set(ignored()) == {".spec.suspend"} | fields_of_kueue()
    assert SPEC["syncPolicy"]["automated"]["selfHeal"] is True
    assert "RespectIgnoreDifferences=true" in SPEC["syncPolicy"]["syncOptions"]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not on the PATH")
def test_a_jobset_that_kueue_has_started_is_in_sync() -> None:
    started = admitted(JOBSET)
    assert refused(JOBSET, started) == []
    assert started != JOBSET
    assert compared(started) == compared(JOBSET)
    assert compared(put(JOBSET, (*AT, "spec", "containers", 0, "image"), "x:2")) != compared(JOBSET)
