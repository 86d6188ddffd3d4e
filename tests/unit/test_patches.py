"""Patches of trainc.yaml: what they change, in which order, where their fields come from, and what invalid ones get."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from committing import commit, git
from files import write
from purposes import internal
from running import run
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.compilation import Compilation
from trainc.compilation.run import Options
from trainc.diagnostics import Document, Place
from trainc.edits.environment import Environment, Setting
from trainc.kubernetes.documents import parse
from trainc.kubernetes.trees import get
from trainc.provenance.tracing.correspondence import leaves
from trainc.settings import load

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
JOB = f"""\
{HEAD}kind: TrainJob
metadata:
  name: llama
  namespace: ml
  labels: {{team: nlp}}
spec:
  runtimeRef: {{name: torch-distributed}}
  trainer:
    numNodes: 2
    env:
    - {{name: A, value: a}}
"""
RUNTIME = f"""\
{HEAD}kind: ClusterTrainingRuntime
metadata: {{name: NAME}}
spec:
  mlPolicy: {{numNodes: 1, torch: {{}}}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {{spec: {{containers: [{{name: node, image: "acme/train:1"}}]}}}}}}
"""
PRIORITY = """\
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {spec: {template: {spec: {priorityClassName: research}}}}
"""
SPEC = "spec.replicatedJobs.0.template.spec.template.spec"
ENV = f"{SPEC}.containers.0.env"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    (root / "jobs").mkdir(parents=True)
    monkeypatch.chdir(root)
    git("init", "--quiet")
    write("jobs/llama.yaml", JOB)
    return root


def patches(text: str) -> None:
    write("trainc.yaml", f"lint: {{disable: [no-resources]}}\npatches:\n{text}")


def compiled_project(*paths: str, environment: Environment | None = None, **options: Any) -> Compilation:
    settings = load(paths or ("jobs",))
    if environment is not None:
        assert settings.environment is not None
        kept = settings.environment
        settings = settings._replace(environment=environment._replace(patches=kept.patches, root=kept.root))
    return internal(trainc.compile(list(paths) or ["jobs"], options=Options(settings=settings, **options)))


def field(tree: Any, path: str) -> Any:
    return get(tree, tuple(int(step) if step.isdecimal() else step for step in path.split(".")))


def only_jobset(**options: Any) -> Any:
    """Return the JobSet of a compilation without errors."""
    result = compiled_project(**options)
    assert [each.message for each in result.diagnostics if each.severity != "note"] == []
    return result.objects[0]


# What they change

MERGED = [
    ("- patch: {spec: {trainer: {numNodes: 4}}}", f"{ENV}.1", {"name": "PET_NNODES", "value": "4"}),
    ("- patch: {spec: {trainer: {env: [{name: B, value: b}]}}}", f"{ENV}.0", {"name": "B", "value": "b"}),
    ("- patch: {spec: {trainer: {env: [{name: A, value: b}]}}}", f"{ENV}.0", {"name": "A", "value": "b"}),
    ("- patch: {spec: {trainer: {env: [{name: A, $patch: delete}]}}}", f"{ENV}.0.name", "PET_NNODES"),
    (
        "- patch: {spec: {trainer: {$setElementOrder/env: [{name: A}, {name: B}], env: [{name: B, value: b}]}}}",
        f"{ENV}.1.name",
        "B",
    ),
    ("- patch: {spec: {trainer: {numNodes: null}}}", "spec.replicatedJobs.0.template.spec.parallelism", 1),
    ("- patch: {spec: {trainer: {$patch: replace, numNodes: 3}}}", f"{ENV}.0.name", "PET_NNODES"),
    ("- patch: [{op: add, path: /spec/trainer/numNodes, value: 4}]", f"{ENV}.1.value", "4"),
    ("- patch: [{op: remove, path: /spec/trainer/env/0}]", f"{ENV}.0.name", "PET_NNODES"),
    ("- patch: |\n    spec:\n      trainer: {numNodes: 4}\n", f"{ENV}.1.value", "4"),
    ("- patch: |-\n    - op: replace\n      path: /spec/trainer/numNodes\n      value: 4\n", f"{ENV}.1.value", "4"),
    ("- path: platform/nodes.yaml", f"{ENV}.1.value", "4"),
    ("- path: platform/nodes.json", f"{ENV}.1.value", "5"),
    (
        "- {target: {kind: ClusterTrainingRuntime}, path: platform/priority.yaml}",
        f"{SPEC}.priorityClassName",
        "research",
    ),
    (
        "- target: {kind: JobSet}\n  patch: {spec: {ttlSecondsAfterFinished: 60}, metadata: {finalizers: [acme.io/x]}}",
        "metadata.finalizers",
        ["acme.io/x"],
    ),
    (
        "- target: {kind: JobSet}\n  patch: [{op: add, path: /spec/replicatedJobs/0/replicas, value: 2}]",
        "spec.replicatedJobs.0.replicas",
        2,
    ),
    (
        "- target: {kind: JobSet}\n"
        "  patch: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: "
        "{containers: [{name: node, env: [{name: A, value: z}]}]}}}}}]}}",
        f"{ENV}.0.value",
        "z",
    ),
    (
        "- patch: {spec: {runtimePatches: [{manager: acme.io/pool, trainingRuntimeSpec: {template: {spec: "
        "{replicatedJobs: [{name: node, template: {spec: {template: {spec: {nodeSelector: {pool: h100}}}}}}]}}}}]}}",
        f"{SPEC}.nodeSelector",
        {"pool": "h100"},
    ),
]


@pytest.mark.parametrize(("text", "path", "value"), MERGED)
def test_a_patch_changes_a_field(text: str, path: str, value: object) -> None:
    write("platform/nodes.yaml", "spec: {trainer: {numNodes: 4}}\n")
    write("platform/nodes.json", '[{"op": "replace", "path": "/spec/trainer/numNodes", "value": 5}]')
    write("platform/priority.yaml", PRIORITY)
    patches(text)
    assert field(only_jobset(), path) == value


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("{}", ["llama", "vit"]),
        ("{labelSelector: team=nlp}", ["llama"]),
        ('{labelSelector: "team notin (nlp)"}', ["vit"]),
        ("{annotationSelector: acme.io/ttl}", ["vit"]),
        ('{name: "ll*"}', ["llama"]),
        ("{namespace: ml}", ["llama"]),
        ('{namespace: "?*"}', ["llama"]),
        ("{kind: TrainJob, group: trainer.kubeflow.org, version: v1alpha1}", ["llama", "vit"]),
        ('{kind: JobSet, name: "[a-l]*", labelSelector: team}', ["llama"]),
        ("{kind: JobSet, group: jobset.x-k8s.io}", ["llama", "vit"]),
    ],
)
def test_targets(target: str, names: list[str]) -> None:
    vit = JOB.replace("llama", "vit").replace("  namespace: ml\n", "")
    write("jobs/vit.yaml", vit.replace("labels: {team: nlp}", "annotations: {acme.io/ttl: x}"))
    patches(f"- target: {target}\n  patch: {{metadata: {{labels: {{patched: x}}}}}}\n")
    result = compiled_project()
    assert not result.failed
    assert sorted(job.name for job in result.jobs if "patched" in job.objects[0]["metadata"].get("labels", {})) == names


@pytest.mark.parametrize("where", ["jobs", "platform", "built-in"])
def test_runtimes_of_all_levels_are_patched(where: str) -> None:
    if where != "built-in":
        write(f"{where}/runtime.yaml", RUNTIME.replace("NAME", "torch-distributed"))
    write("platform/priority.yaml", PRIORITY)
    patches("- {target: {kind: ClusterTrainingRuntime, name: torch-*}, path: platform/priority.yaml}")
    options = {"runtimes": ["platform/runtime.yaml"]} if where == "platform" else {}
    assert field(only_jobset(**options), f"{SPEC}.priorityClassName") == "research"


def test_patches_apply_in_their_order() -> None:
    patches(
        "- target: {kind: JobSet}\n  patch: [{op: replace, path: /spec/ttlSecondsAfterFinished, value: 2}]\n"
        "- patch: {spec: {trainer: {numNodes: 4}}}\n"
        "- patch: [{op: test, path: /spec/trainer/numNodes, value: 4}, {op: remove, path: /spec/trainer/numNodes}]\n"
    )
    result = compiled_project()
    assert [each.id for each in result.diagnostics if each.severity == "error"] == ["patch-failed"]
    patches(
        "- target: {kind: JobSet}\n  patch: {spec: {ttlSecondsAfterFinished: 1}}\n"
        "- target: {kind: JobSet}\n  patch: [{op: replace, path: /spec/ttlSecondsAfterFinished, value: 2}]\n"
    )
    assert only_jobset()["spec"]["ttlSecondsAfterFinished"] == 2


def test_shared_trees_are_not_changed() -> None:
    runtime = RUNTIME.replace("NAME", "torch-distributed")
    write("jobs/runtime.yaml", runtime)
    for name in "abc":
        write(f"jobs/{name}.yaml", JOB.replace("llama", name))
    patches(
        "- target: {kind: JobSet, name: b}\n"
        "  patch: [{op: add, path: /spec/replicatedJobs/0/template/spec/template/spec/priorityClassName, value: x}]\n"
    )
    result = compiled_project()
    found = [field(job.objects[0], f"{SPEC}.priorityClassName") for job in result.jobs]
    assert found == [None, "x", None, None]
    assert result.jobs[0].plan.runtime.document.value == parse(runtime)


def test_the_labels_of_the_environment_win() -> None:
    patches(
        "- target: {kind: JobSet}\n"
        "  patch: {metadata: {labels: {env: mine, own: mine}, annotations: {note: mine}}}\n"
        "- target: {kind: JobSet}\n  patch: [{op: remove, path: /metadata/labels/env}]\n"
    )
    place = Place(Document("trainc.yaml", 1, "", {}))
    environment = Environment(labels={"env": Setting("dev", place)}, annotations={"note": Setting("dev", place)})
    metadata = only_jobset(environment=environment)["metadata"]
    assert metadata["labels"] == {"team": "nlp", "env": "dev", "own": "mine"}
    assert metadata["annotations"] == {"note": "dev"}


def test_jobset_patches_keep_the_rules_of_delivery() -> None:
    queue = "kueue.x-k8s.io/queue-name"
    text = f"- target: {{kind: JobSet}}\n  patch: {{metadata: {{labels: {{{queue}: gpu}}}}, spec: {{suspend: true}}}}\n"
    patches(text)
    result = compiled_project()
    assert "suspend" not in result.objects[0]["spec"]  # difference suspend-unset
    assert [each.id for each in result.diagnostics if each.severity != "note"] == ["suspended-with-queue"]
    patches("- target: {kind: JobSet}\n  patch: {spec: {suspend: true}}\n")
    assert only_jobset()["spec"]["suspend"] is True
    patches(f"- target: {{kind: JobSet}}\n  patch: {{metadata: {{labels: {{{queue}: null}}}}}}\n")
    write("jobs/llama.yaml", JOB.replace("{team: nlp}", f"{{{queue}: gpu}}"))
    assert only_jobset(suspend=True)["spec"]["suspend"] is True


def test_the_name_suffix_covers_patches_of_immutable_fields() -> None:
    names = []
    for patch in (
        "{metadata: {labels: {a: b}}}",
        "{spec: {ttlSecondsAfterFinished: 60}}",
        "{spec: {successPolicy: {operator: Any}}}",
    ):
        patches(f"- target: {{kind: JobSet, name: llama}}\n  patch: {patch}\n")
        names.append(only_jobset(name_suffix_hash=True)["metadata"]["name"])
    assert names[0] == names[1] != names[2]
    assert all(re.fullmatch("llama-[a-z0-9]{8}", name) for name in names)


def test_older_dialects_have_their_own_lists() -> None:
    override = "podSpecOverrides: [{targetJobs: [{name: node}], nodeSelector: {pool: h100}}]"
    write("jobs/llama.yaml", f"{JOB}  {override}\n")
    patches("- patch: {spec: {trainer: {env: [{name: B, value: b}]}}}\n")
    assert [each["name"] for each in field(compiled_project().objects[0], ENV)][:2] == ["B", "A"]


# Where fields come from

WRITTEN = [
    (MERGED[0][0], f"{ENV}.1.value", "trainc.yaml:3 the torch framework, from spec.trainer.numNodes"),
    (MERGED[1][0], f"{ENV}.0.value", "trainc.yaml:3 patch 1 of trainc.yaml"),
    (MERGED[2][0], f"{ENV}.0.value", "trainc.yaml:3 patch 1 of trainc.yaml"),
    (MERGED[1][0], f"{ENV}.1.value", "jobs/llama.yaml:12 the TrainJob"),
    (
        "- patch:\n  - op: add\n    path: /spec/trainer/env/0\n    value: {name: B, value: b}\n",
        f"{ENV}.0.value",
        "trainc.yaml:6 patch 1 of trainc.yaml",
    ),
    (
        "- patch: [{op: add, path: /spec/trainer/env/0, value: {name: B}}]",
        f"{ENV}.1.value",
        "jobs/llama.yaml:12 the TrainJob",
    ),
    (
        "- target: {kind: ClusterTrainingRuntime}\n  path: platform/priority.yaml",
        f"{SPEC}.priorityClassName",
        'platform/priority.yaml:6 patch "platform/priority.yaml"',
    ),
    (
        "- patch: {spec: {suspend: true}}\n- target: {kind: JobSet}\n"
        "  patch:\n    spec:\n      ttlSecondsAfterFinished: 60",
        "spec.ttlSecondsAfterFinished",
        "trainc.yaml:7 patch 2 of trainc.yaml",
    ),
    (
        "- target: {kind: JobSet}\n"
        "  patch: |\n    - op: add\n      path: /spec/ttlSecondsAfterFinished\n      value: 60\n",
        "spec.ttlSecondsAfterFinished",
        "trainc.yaml:7 patch 1 of trainc.yaml",
    ),
    (
        "- target: {kind: JobSet}\n  patch: {metadata: {labels: {a: b}}}",
        "metadata.labels.a",
        "trainc.yaml:4 patch 1 of trainc.yaml",
    ),
    (
        "- target: {kind: JobSet}\n  patch: {metadata: {labels: {a: b}}}",
        "metadata.labels.team",
        "jobs/llama.yaml:6 the TrainJob",
    ),
]


@pytest.mark.parametrize(("text", "path", "expected"), WRITTEN)
def test_provenance(text: str, path: str, expected: str) -> None:
    write("platform/priority.yaml", PRIORITY)
    patches(text)
    (job,) = compiled_project().jobs
    steps = tuple(int(step) if step.isdecimal() else step for step in path.split("."))
    origin = job.trace().origin(0, steps)
    at = origin.place.locate()
    assert f"{at.file}:{at.line} {origin.by}" == expected


@pytest.mark.parametrize("text", [text for text, *_ in MERGED])
def test_every_field_has_an_origin_in_a_file(text: str) -> None:
    write("platform/nodes.yaml", "spec: {trainer: {numNodes: 4}}\n")
    write("platform/nodes.json", '[{"op": "replace", "path": "/spec/trainer/numNodes", "value": 5}]')
    write("platform/priority.yaml", PRIORITY)
    patches(text)
    (job,) = compiled_project().jobs
    trace = job.trace()
    for path in leaves(job.objects[0]):
        for origin in trace.origins(0, path):
            assert origin.place.locate().line
    assert run("explain", "jobs").code == 0
    assert json.loads(run("explain", "jobs", "--patches").out)


def test_explain_names_the_line() -> None:
    patches("- patch:\n    spec:\n      trainer:\n        env: [{name: HTTPS_PROXY, value: proxy}]\n")
    assert run("explain", "jobs", "**.env[HTTPS_PROXY].value").out == (
        "JobSet llama in namespace ml, of TrainJob llama (jobs/llama.yaml:1)\n\n"
        "spec.replicatedJobs[node].template.spec.template.spec.containers[node].env[HTTPS_PROXY].value: proxy\n"
        "  trainc.yaml:6:42: framework: patch 1 of trainc.yaml\n"
        "  6 |         env: [{name: HTTPS_PROXY, value: proxy}]\n"
        "    |                                          ^^^^^\n"
    )


def test_diff_names_the_patch_and_the_jobs_that_it_reaches() -> None:
    write("jobs/vit.yaml", JOB.replace("llama", "vit"))
    write("platform/priority.yaml", PRIORITY)
    text = (
        "- patch: {spec: {trainer: {env: [{name: PROXY, value: old}]}}}\n"
        "- target: {kind: JobSet}\n  patch: [{op: add, path: /spec/ttlSecondsAfterFinished, value: 60}]\n"
        "- {target: {kind: ClusterTrainingRuntime}, path: platform/priority.yaml}\n"
    )
    patches(text)
    commit()
    patches(text.replace("old", "new").replace("60", "90"))
    write("platform/priority.yaml", PRIORITY.replace("research", "prod"))
    out = run("diff", "HEAD", "jobs").out
    for cause in (
        "trainc.yaml:3: setting patches[0].patch.spec.trainer.env[PROXY].value: old -> new\n  changes 2 jobs: ",
        'platform/priority.yaml:6: patch "platform/priority.yaml", ',
        "trainc.yaml:5: setting patches[1].patch[0].value: 60 -> 90\n  changes 2 jobs: ",
    ):
        assert cause in out, out
    patches("")
    os.remove("trainc.yaml")
    out = run("diff", "HEAD", "jobs").out
    assert "trainc.yaml:2 (before): setting patches is removed" in out, out
    assert out.count("changes 2 jobs") == 2, out


# Invalid patches

TTL = "spec: {ttlSecondsAfterFinished: 60}"
OF_THE_SCHEMA = frozenset({"enum", "yaml"})
"""The faults of trainc.yaml itself, whose settings then do not apply."""
INVALID: dict[str, tuple[str, str, str]] = {
    "unknown kind": ("- {target: {kind: trainjob}, patch: {spec: {}}}", "enum 3:19", 'did you mean "TrainJob"?'),
    "both": ("- {path: a.yaml, patch: {spec: {}}}", "invalid-patch 3:10", "has both patch and path"),
    "neither": ("- target: {name: a}", "invalid-patch 3:3", "has neither patch nor path"),
    "empty mapping": ("- patch: {}", "invalid-patch 3:10", "the patch is empty"),
    "empty list": ("- patch: []", "invalid-patch 3:10", "the patch is empty"),
    "empty string": ('- patch: ""', "invalid-patch 3:10", "the patch is empty"),
    "null": ("- patch: null", "invalid-patch 3:3", "has neither patch nor path"),
    "scalar": ("- patch: 5", "invalid-patch 3:10", "must be a mapping or a list"),
    "invalid YAML": ("- patch: |\n    spec: [\n", "invalid-patch 5:1", "not valid YAML"),
    "two documents": ('- patch: "a: 1\\n---\\nb: 2"', "invalid-patch 3:10", "2 documents instead of one"),
    "directive": ("- patch: {spec: {$retainkeys: [a]}}", "invalid-patch 3:18", "did you mean $retainKeys?"),
    "directive of a list": ("- patch: {spec: {$setElementOrder: []}}", "invalid-patch 3:18", "$setElementOrder/<list>"),
    "value of a directive": ("- patch: {spec: {$patch: Replace}}", "invalid-patch 3:26", "did you mean replace?"),
    "merge": ("- patch: {spec: {$patch: merge}}", "invalid-patch 3:26", "remove it"),
    "deletion": ("- patch: {$patch: delete}", "invalid-patch 3:19", "cannot delete an object"),
    "operation": ("- patch: [{op: ad, path: /spec/suspend, value: true}]", "invalid-patch 3:16", "did you mean add?"),
    "no value": ("- patch: [{op: add, path: /spec/suspend}]", "invalid-patch 3:11", 'operation "add" has no value'),
    "two values (RFC 6902, A.13)": ("- patch: [{op: add, path: /a, value: 1, op: remove}]", "yaml 3:41", "op"),
    "pointer": ("- patch: [{op: remove, path: spec.suspend}]", "invalid-patch 3:30", "use /spec/suspend"),
    "selector": ("- {target: {labelSelector: 'a=b,,c'}, patch: {spec: {}}}", "invalid-patch 3:33", "must have a key"),
    "missing field": (
        "- patch:\n  - {op: replace, path: /spec/trainer/numnodes, value: 4}",
        "patch-failed 4:39",
        "did you mean numNodes?",
    ),
    "missing item": (
        "- patch: [{op: remove, path: /spec/trainer/env/1}]",
        "patch-failed 3:48",
        'has 1 item, so there is no item "1"',
    ),
    "failed test": (
        "- patch: [{op: test, path: /spec/trainer/numNodes, value: 4}]",
        "patch-failed 3:59",
        "/spec/trainer/numNodes is 2, not 4",
    ),
    "name": ("- patch: {metadata: {name: x}}", "patch-failed 3:28", 'cannot be changed to "x"'),
    "namespace": ("- patch: [{op: remove, path: /metadata/namespace}]", "patch-failed 3:30", "cannot be removed"),
    "kind": ("- patch: {kind: JobSet}", "patch-failed 3:17", "kind cannot be changed"),
    "name of a JobSet": (
        "- target: {kind: JobSet}\n  patch: {metadata: {name: x}}",
        "patch-failed 4:28",
        'cannot be changed to "x"',
    ),
    "status of a JobSet": (
        "- target: {kind: JobSet}\n  patch: {status: {}}",
        "patch-failed 4:11",
        'unknown field "status"',
    ),
    "list without a key": ("- patch: {spec: {trainer: {env: [{value: x}]}}}", "patch-failed 3:33", "has no name"),
    "wrong type": ("- patch: {spec: {trainer: {numNodes: x}}}", "wrong-type 3:38", "must be an integer"),
    "unknown field": ("- patch: {spec: {trainer: {numnodes: 4}}}", "unknown-field 3:28", "did you mean numNodes"),
    "removed field": ("- patch: {spec: {runtimeRef: null}}", "required 3:30", "has no runtimeRef"),
    "unknown field of a JobSet": (
        "- target: {kind: JobSet}\n  patch: {spec: {ttlSecondsAfterFinish: 60}}",
        "unknown-field 4:18",
        "did you mean ttlSecondsAfterFinished?",
    ),
    "wrong type in a JobSet": (
        "- target: {kind: JobSet}\n  patch: [{op: add, path: /spec/replicatedJobs/-, value: x}]",
        "wrong-type 4:58",
        "must be a mapping",
    ),
    "priority class of a runtime": (
        "- target: {kind: ClusterTrainingRuntime}\n  path: platform/wrong.yaml",
        "invalid-name 6:64",
        "priorityClassName is not a valid DNS subdomain",
    ),
    "path": ("- path: ../x.yaml", "settings-path 3:9", "inside the root"),
    "absolute path": ("- path: /etc/passwd", "settings-path 3:9", "must be relative"),
    "link": ("- path: platform/link.yaml", "link-out 3:9", "link to a target outside"),
    "missing file": ("- path: nope.yaml", "unreadable 3:9", "No such file"),
    "folder": ("- path: jobs", "unreadable 3:9", "is not a file"),
    "empty file": ("- path: platform/empty.yaml", "invalid-patch 3:9", "0 documents instead of one"),
    "broken file": ("- path: platform/broken.yaml", "yaml 1:7", ""),
}


@pytest.mark.parametrize(("text", "expected", "words"), INVALID.values(), ids=INVALID)
def test_invalid_patches(text: str, expected: str, words: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    write("platform/wrong.yaml", PRIORITY.replace("research", "RESEARCH"))
    write("platform/empty.yaml", "# nothing\n")
    write("platform/broken.yaml", "spec: [a")
    (tmp_path / "outside.yaml").write_text("spec: {suspend: true}\n")
    os.symlink(tmp_path / "outside.yaml", "platform/link.yaml")
    patches(text)
    done = run("build", "jobs", "-o", "out")
    id, _, place = expected.partition(" ")
    assert re.search(rf"^\S+:{place}: error\[{id}\]: ", done.err, re.MULTILINE), done.err
    assert words in done.err
    assert done.code == 1
    assert not Path("out").exists()
    result = compiled_project()
    assert result.failed
    assert not result.jobs or id in OF_THE_SCHEMA
    assert texts(result.diagnostics) == snapshot


def test_a_patch_that_matches_nothing() -> None:
    patches("- {target: {name: vit}, patch: {spec: {}}}\n- {target: {kind: TrainingRuntime}, patch: {spec: {}}}\n")
    done = run("validate")
    assert done.code == 0
    assert (
        "trainc.yaml:3:12: warning[unused-patch]: patch 1 of trainc.yaml matches no TrainJob\n" in done.err + done.out
    )
    assert run("validate", "--strict").code == 1
    assert "unused-patch" not in run("validate", "jobs/llama.yaml").out  # its target may be in another file
    write("trainc.yaml", "lint: {strict: true}\n" + Path("trainc.yaml").read_text().partition("\n")[2])
    assert run("validate").code == 1


def test_a_fault_of_many_jobs_is_reported_once() -> None:
    for name in "abcdef":
        write(f"jobs/{name}.yaml", JOB.replace("llama", name))
    patches("- patch: [{op: remove, path: /spec/nope}]\n- {target: {kind: JobSet}, patch: [{op: remove, path: /a}]}\n")
    err = run("build", "jobs").err
    assert err.count("error[patch-failed]") == 2, err
    assert err.count("(and 6 more TrainJobs)") == 2, err
    assert 'jobs/b.yaml:4:9: TrainJob "b", too\n' in err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("- patch: {spec: {trainer: {numNode: 3}}}", "3:28: error[unknown-field]", id="unknown field"),
        pytest.param("- patch: {spec: {trainer: {numNodes: '3'}}}", "3:38: error[wrong-type]", id="wrong type"),
        pytest.param("- patch: {metadata: {name: x}}", "3:28: error[patch-failed]", id="name"),
        pytest.param("- path: nodes.yaml", "nodes.yaml:1:18: error[unknown-field]", id="file"),
    ],
)
def test_a_fault_of_a_patch_in_many_jobs_is_reported_once(text: str, expected: str) -> None:
    for name in "abcdef":
        write(f"jobs/{name}.yaml", JOB.replace("llama", name))
    write("nodes.yaml", "spec: {trainer: {numNode: 3}}")
    patches(text)
    err = run("build", "jobs").err
    assert expected in err
    assert err.count(": error[") == 1, err
    assert err.count("(and 6 more TrainJobs)") == 1, err


def test_a_fault_of_a_patch_counts_runtimes() -> None:
    for name in "abc":
        write(f"runtimes/{name}.yaml", RUNTIME.replace("NAME", name))
    patches("- {target: {kind: ClusterTrainingRuntime}, patch: {spec: {mlPolicy: {numNode: 3}}}}")
    out = run("validate", "runtimes").out
    assert "3:70: error[unknown-field]: unknown field spec.mlPolicy.numNode" in out
    assert out.count("in ClusterTrainingRuntime (and 2 more runtimes)") == 1, out
    assert out.count(": error[") == 1, out


def test_patch_files_are_no_manifests() -> None:
    write(
        "jobs/patches/nodes.yaml",
        f"{HEAD}kind: TrainJob\nmetadata: {{name: llama}}\nspec: {{trainer: {{numNodes: 4}}}}\n",
    )
    write("jobs/patches/name.json", '[{"op": "add", "path": "/spec/suspend", "value": true}]')
    patches("- path: jobs/patches/nodes.yaml\n- path: jobs/patches/name.json\n")
    assert only_jobset()["spec"]["suspend"] is True
    assert run("validate", ".").code == 0
    assert run("diff", "jobs", "jobs").code == 0
    assert run("build", "jobs", "--passthrough").reported == ""
