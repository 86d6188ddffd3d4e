"""Effects per object: one change that the API server rejects holds back the others; MPI's hostfile; Kueue's labels."""

from __future__ import annotations

import json
import re
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
import yaml
from pages import ROOT
from running import run

from trainc.reports import catalogue

pytestmark = pytest.mark.usefixtures("empty_folder")

JOB: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "a", "namespace": "ns"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 2, "image": "acme/ft:1"}},
}
QUEUE, CLASS, SECONDS = (f"kueue.x-k8s.io/{name}" for name in ("queue-name", "priority-class", "max-exec-time-seconds"))


def changed_job(
    *, runtime: str = "", labels: dict[str, str] | None = None, patch: Any = None, **spec: Any
) -> dict[str, Any]:
    """Return the TrainJob with other fields of its trainer, labels, runtime or pods."""
    found: dict[str, Any] = json.loads(json.dumps(JOB))
    found["metadata"]["labels"] = labels or {}
    found["spec"]["trainer"] |= {key: value for key, value in spec.items() if key != "suspend"}
    found["spec"] |= {"suspend": spec["suspend"]} if "suspend" in spec else {}
    found["spec"]["runtimeRef"]["name"] = runtime or "torch-distributed"
    if patch is not None:
        template = {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": patch}}}]}}
        found["spec"]["runtimePatches"] = [
            {"manager": "acme.io/pool", "trainingRuntimeSpec": {"template": template}},
        ]
    return found


def reviewed(old: Any, new: Any, *options: str) -> tuple[dict[str, Any], str]:
    for name, value in (("old", old), ("new", new)):
        Path(f"{name}.yaml").write_text(yaml.safe_dump(value))
    done = run("diff", "old.yaml", "new.yaml", "--format", "json", *options)
    assert done.code == 0, done.err
    return json.loads(done.out), done.err


def effects(old: Any, new: Any, *options: str) -> dict[str, str]:
    """Return the effect of each changed field, by its last step."""
    found, _ = reviewed(old, new, *options)
    return {
        line["field"].rpartition(".")[2]: line["effect"]
        for each in found["objects"]
        for line in each.get("changes", [])
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            {},
            {"labels": {"team": "a"}, "image": "acme/ft:2"},
            {"labels": "withheld", "image": "new-object"},
            id="a label beside an image",
        ),
        pytest.param({}, {"labels": {"team": "a"}}, {"labels": "in-place"}, id="a label alone"),
        pytest.param(
            {"suspend": True},
            {"suspend": False, "image": "acme/ft:2"},
            {"suspend": "withheld", "image": "new-object"},
            id="a start beside an image",
        ),
        pytest.param(
            {},
            {"labels": {"team": "a"}, "patch": {"spec": {"nodeSelector": {"pool": "a"}}}},
            {"labels": "while-suspended", "nodeSelector": "while-suspended"},
            id="a label beside a node selector",
        ),
        pytest.param(
            {"suspend": True},
            {"suspend": True, "labels": {"team": "a"}, "patch": {"spec": {"nodeSelector": {"pool": "a"}}}},
            {"labels": "in-place", "nodeSelector": "in-place"},
            id="a label beside a node selector, suspended",
        ),
        pytest.param(
            {"labels": {QUEUE: "a"}},
            {"labels": {QUEUE: "b", "team": "a"}},
            {f'labels["{QUEUE}"]'.rpartition(".")[2]: "while-suspended", "team": "while-suspended"},
            id="the queue",
        ),
        pytest.param(
            {},
            {"labels": {QUEUE: "b"}},
            {"labels": "while-suspended"},
            id="a new queue",
        ),
        pytest.param(
            {"labels": {QUEUE: "a", CLASS: "low", SECONDS: "60"}},
            {"labels": {QUEUE: "a", CLASS: "high", SECONDS: "90"}},
            {
                f'labels["{CLASS}"]'.rpartition(".")[2]: "while-suspended",
                f'labels["{SECONDS}"]'.rpartition(".")[2]: "while-suspended",
            },
            id="the other labels of Kueue",
        ),
    ],
)
def test_the_effects_on_one_object(old: Any, new: Any, expected: dict[str, str]) -> None:
    found = effects(changed_job(**old), changed_job(**new))
    assert found == expected


def test_what_holds_back_the_label_is_named_first() -> None:
    Path("old.yaml").write_text(yaml.safe_dump(changed_job()))
    Path("new.yaml").write_text(yaml.safe_dump(changed_job(labels={"team": "a"}, image="acme/ft:2")))
    out = run("diff", "old.yaml", "new.yaml").out
    assert out.splitlines()[2] == "1 JobSet must be recreated: a running one loses its training"
    assert "not applied: the cluster rejects the JobSet because of another change" in out


def test_a_hostfile_that_changes_before_its_jobset() -> None:
    found, _ = reviewed(
        changed_job(runtime="openmpi-distributed"), changed_job(runtime="openmpi-distributed", numNodes=4)
    )
    assert [(each["kind"], each["effect"]) for each in found["objects"]] == [
        ("JobSet", "new-object"),
        ("ConfigMap", "ahead"),
    ]


def test_rendered_hostfiles_have_the_same_effect() -> None:
    for name, nodes in (("old", 2), ("new", 4)):
        Path(f"{name}.yaml").write_text(yaml.safe_dump(changed_job(runtime="openmpi-distributed", numNodes=nodes)))
        Path(name).mkdir()
        Path(name, "a.yaml").write_text(run("build", f"{name}.yaml").out)
    done = run("diff", "old", "new", "--format", "json")
    assert [each["effect"] for each in json.loads(done.out)["objects"]] == ["new-object", "ahead"]


def test_a_hostfile_whose_name_has_a_hash() -> None:
    old, new = changed_job(runtime="openmpi-distributed"), changed_job(runtime="openmpi-distributed", numNodes=4)
    found, _ = reviewed(old, new, "--name-suffix-hash")
    assert [each["effect"] for each in found["objects"]] == ["new-name", "new-name"]


def test_a_jobset_that_argo_cd_replaces_is_not_behind() -> None:
    old, new = changed_job(runtime="openmpi-distributed"), changed_job(runtime="openmpi-distributed", numNodes=4)
    found, _ = reviewed(old, new, "--argocd-replace")
    assert [each["effect"] for each in found["objects"]] == ["restarts", "in-place"]


@pytest.mark.parametrize(("suspend", "allowed"), [(False, False), (True, True)])
def test_kueue_rejects_another_queue_of_a_running_jobset(suspend: bool, allowed: bool) -> None:
    jobs = [changed_job(labels={"x": "a", QUEUE: name}) for name in ("a", "b")]
    for name, tree in zip(("old", "new"), jobs, strict=True):
        Path(f"{name}-job.yaml").write_text(yaml.safe_dump(tree))
        (jobset,) = filter(None, yaml.safe_load_all(run("build", f"{name}-job.yaml").out))
        Path(f"{name}.yaml").write_text(yaml.safe_dump(jobset | {"spec": jobset["spec"] | {"suspend": suspend}}))
    [found] = json.loads(run("diff", "old.yaml", "new.yaml", "--format", "json").out)["objects"]
    assert found["allowed"] is allowed
    assert [each["field"] for each in found["refused"]] == ([] if allowed else [f"metadata.labels.{QUEUE}"])


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_package_with_public_pages_links_to_the_ways_to_deliver_a_change(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("old.yaml").write_text(yaml.safe_dump(JOB))
    Path("new.yaml").write_text(yaml.safe_dump(changed_job(numNodes=3)))
    words = "diff", "old.yaml", "new.yaml", "--format", form
    link = "https://example.com/trainc/update-a-jobset.md#the-cluster-has-jobsets"
    assert "update-a-jobset" not in run(*words).out
    metadata = Message()
    metadata["Project-URL"] = "Documentation, https://example.com/trainc/"
    monkeypatch.setattr("importlib.metadata.metadata", lambda _: metadata)
    catalogue.published.cache_clear()
    shown = run(*words).out
    catalogue.published.cache_clear()
    assert shown.count(link) == 1
    page, _, section = link.rpartition("/")[2].partition("#")
    headings = re.findall("^#+ (.*)", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    assert section in [heading.lower().replace(" ", "-") for heading in headings]


def test_a_hash_does_not_cover_the_queue() -> None:
    old, new = (changed_job(labels={QUEUE: name}) for name in ("a", "b"))
    [found] = reviewed(old, new, "--name-suffix-hash")[0]["objects"]
    assert (found["allowed"], found.get("newName")) == (False, None)
