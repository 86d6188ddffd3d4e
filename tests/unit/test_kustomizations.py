"""Folders with kustomizations: patches are not compiled by themselves, and overlays of one base are not duplicates."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from committing import commit, git
from files import write_files
from running import Done, run

pytestmark = pytest.mark.usefixtures("empty_folder")

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: finetune
spec:
  runtimeRef: {name: torch-distributed}
"""
PATCH = JOB.partition("  runtimeRef")[0] + "  suspend: true\n"
JSON_PATCH = "- {op: replace, path: /spec/suspend, value: true}\n"
DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n"
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: ours}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: "registry.example.com/train:1"}]}}}
"""
BASE = {"base/kustomization.yaml": "resources: [job.yaml]\n", "base/job.yaml": JOB}
PROD = "resources: [../../base]\npatches:\n- path: patch.yaml\n"
OVERLAY = {"overlays/prod/kustomization.yaml": PROD, "overlays/prod/patch.yaml": PATCH}


def found(*arguments: str) -> list[tuple[str, str, str]]:
    """Return the severity, id and file of each diagnostic of `validate`."""
    listed = json.loads(run("validate", *arguments, "--format", "json").out)
    return [(each["severity"], each["id"], each["file"]) for each in listed if each["id"] != "built-in-runtime"]


PARTIAL: dict[str, dict[str, str]] = {
    "patches": OVERLAY,
    "patchesStrategicMerge": OVERLAY
    | {"overlays/prod/kustomization.yaml": "resources: [../../base]\npatchesStrategicMerge: [patch.yaml]\n"},
    "patchesJson6902": {
        "overlays/prod/kustomization.yaml": "resources: [../../base]\npatchesJson6902: [{path: a.yaml, target: {}}]\n",
        "overlays/prod/a.yaml": JSON_PATCH,
    },
    "an item of an older release": OVERLAY
    | {"overlays/prod/kustomization.yaml": "bases: [../../base]\npatches: [./patch.yaml]\n"},
    "kustomization.yml": {
        "overlays/prod/kustomization.yml": PROD,
        "overlays/prod/patch.yaml": PATCH,
    },
    "Kustomization": {"overlays/prod/Kustomization": PROD, "overlays/prod/patch.yaml": PATCH},
    "a component": {
        "parts/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        "patches: [{path: patch.yaml}]\n",
        "parts/patch.yaml": PATCH,
        "overlays/prod/kustomization.yaml": "resources: [../../base]\ncomponents: [../../parts]\n",
    },
    "in a folder that is read earlier": {
        "kustomization.yaml": PROD.replace("../../base", "base").replace("patch.yaml", "a/patch.yaml"),
        "a/patch.yaml": PATCH,
    },
    "beside its resource": {
        "base/kustomization.yaml": "resources: [job.yaml]\npatches: [{path: a.yaml}]\n",
        "base/a.yaml": PATCH,
    },
    "not valid by itself": OVERLAY | {"overlays/prod/patch.yaml": "apiVersion: trainer.kubeflow.org/v1\n- a: [\n"},
}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in PARTIAL.items()])
def test_a_patch_is_not_compiled_by_itself(files: dict[str, str]) -> None:
    write_files(BASE | files)
    assert found() == [("note", "kustomize-base", "base/job.yaml")]
    assert run("build").out == run("build", "base/job.yaml").out


WHOLE: dict[str, dict[str, str]] = {
    "listed as a resource": {"kustomization.yaml": "resources: [job.yaml]\n"},
    "listed as both": {"kustomization.yaml": "resources: [job.yaml]\npatches: [{path: job.yaml}]\n"},
    "a patch in another folder": {"kustomization.yaml": "patches: [{path: base/job.yaml}]\n"},
    "a patch of a kustomization beside it": {"other/kustomization.yaml": "patches: [{path: ../job.yaml}]\n"},
    "an inline patch": {"kustomization.yaml": "patches: [{patch: job.yaml}]\n"},
    "not a list": {"kustomization.yaml": "patches: job.yaml\nresources: {a: b}\npatchesStrategicMerge: [1, null]\n"},
    "another file name": {"overlay.yaml": "patches: [{path: job.yaml}]\n"},
    "of Flux": {
        "kustomization.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        "metadata: {name: jobs}\npatches: [{path: job.yaml}]\n"
    },
}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in WHOLE.items()])
def test_a_job_that_is_compiled(files: dict[str, str]) -> None:
    write_files({"job.yaml": JOB} | files)
    assert run("build", ".").code == 0
    assert [each for each in found() if each[0] != "note"] == []


def test_the_note_of_a_base() -> None:
    write_files(BASE | OVERLAY | {"overlays/dev/kustomization.yaml": "resources: [../../base]\nnamePrefix: dev-\n"})
    assert run("validate").out == (
        'base/job.yaml:4:9: note[kustomize-base]: TrainJob "finetune" is compiled without the changes of '
        "overlays/dev/kustomization.yaml and overlays/prod/kustomization.yaml\n"
        "  4 |   name: finetune\n"
        "    |         ^^^^^^^^\n"
        "  overlays/dev/kustomization.yaml:2:1: the changes\n"
        "  2 | namePrefix: dev-\n"
        "    | ----------\n"
        "  overlays/prod/kustomization.yaml:2:1: the changes\n"
        "  2 | patches:\n"
        "    | -------\n"
        "  help: to compile with them, run `kubectl kustomize overlays/dev | trainc build -` (or overlays/prod)\n"
        "\n"
        "1 note in 1 file (checked 5 files)\n"
        "For more: trainc explain kustomize-base\n"
    )


UNCHANGED: dict[str, dict[str, str]] = {
    "no overlay": {},
    "an overlay that only collects": {"all/kustomization.yaml": "resources: [../base]\n"},
    "an overlay of something else": {"other/kustomization.yaml": "resources: [https://example.com/a]\nnamespace: a\n"},
    "files that are generated": {
        "all/kustomization.yaml": "resources: [../base]\nconfigMapGenerator: [{name: a, literals: [a=b]}]\n"
    },
}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in UNCHANGED.items()])
def test_a_base_without_changes_has_no_note(files: dict[str, str]) -> None:
    write_files(BASE | files)
    assert found() == []


def test_the_command_names_the_outermost_overlay() -> None:
    write_files(BASE | OVERLAY | {"clusters/a b/kustomization.yaml": "resources: [../../overlays/prod]\n"})
    assert "run `kubectl kustomize 'clusters/a b' | trainc build -`\n" in run("validate").out


def test_a_base_with_several_jobs_has_one_note() -> None:
    write_files(BASE | OVERLAY | {"base/eval.yaml": JOB.replace("finetune", "eval")})
    write_files({"base/kustomization.yaml": "resources: [eval.yaml, job.yaml]\n"})
    assert 'TrainJob "eval" (and 1 more object) is compiled without' in run("validate").out
    assert len(found()) == 1


def test_a_changed_runtime() -> None:
    write_files(
        {"base/kustomization.yaml": "resources: [runtime.yaml]\nimages: [{name: a}]\n", "base/runtime.yaml": RUNTIME}
    )
    assert (
        "help: to use the changed runtime, render it: `kubectl kustomize base > runtimes.yaml`" in run("validate").out
    )


def test_an_overlay_without_its_base() -> None:
    write_files(BASE | OVERLAY)
    assert found("overlays/prod") == [("note", "kustomize-patch", "overlays/prod/patch.yaml")]
    done = run("build", "overlays/prod")
    assert (done.code, done.out) == (1, "")
    assert (
        "help: pass the folder that contains them, or compile a kustomization: "
        "`kubectl kustomize overlays/prod | trainc build -`\n"
    ) in done.err


def test_a_patch_on_the_command_line_is_compiled() -> None:
    write_files(BASE | OVERLAY)
    assert found("overlays/prod/patch.yaml") == [("error", "required", "overlays/prod/patch.yaml")]


TWO = {
    f"overlays/{name}/{file}": text
    for name in ("dev", "prod")
    for file, text in {"kustomization.yaml": f"resources: [job.yaml]\nlabels: [{{pairs: {{a: {name}}}}}]\n"}.items()
} | {"overlays/dev/job.yaml": JOB, "overlays/prod/job.yaml": JOB}
SAME_NAME: dict[str, dict[str, str]] = {
    "two overlays": TWO,
    "a base and its overlay": BASE
    | {
        "overlays/prod/kustomization.yaml": "resources: [../../base, job.yaml]\nnamespace: a\n",
        "overlays/prod/job.yaml": JOB,
    },
}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in SAME_NAME.items()])
def test_one_name_in_several_kustomizations(files: dict[str, str]) -> None:
    write_files(files)
    assert ("note", "kustomize-overlays", "overlays/prod/job.yaml") in found()
    done = run("build")
    assert (done.code, done.out) == (1, "")
    assert "overlays/prod/job.yaml:4:9: error[kustomize-overlays]" in done.err
    assert "kubectl kustomize overlays/prod | trainc build -" in done.err
    assert "duplicate-trainjob" not in done.err


def test_validate_checks_the_jobs_of_all_overlays() -> None:
    write_files(TWO | {"overlays/prod/job.yaml": JOB + "  trainer: {numNodes: two}\n"})
    assert ("error", "wrong-type", "overlays/prod/job.yaml") in found()
    assert ("error", "wrong-type", "overlays/prod/job.yaml") in found("--among", ".", "overlays/prod/job.yaml")


def test_one_runtime_name_in_several_kustomizations() -> None:
    write_files({name.replace("job", "runtime"): text.replace("job", "runtime") for name, text in TWO.items()})
    write_files(
        {"overlays/dev/runtime.yaml": RUNTIME, "overlays/prod/runtime.yaml": RUNTIME.replace("train:1", "train:2")}
    )
    write_files({"job.yaml": JOB.replace("torch-distributed", "ours")})
    assert ("note", "kustomize-overlays", "job.yaml") in found()
    assert "error[kustomize-overlays]" in run("build").err
    write_files({"overlays/prod/runtime.yaml": RUNTIME})
    assert not {"kustomize-overlays", "duplicate-runtime"} & {id for _, id, _ in found()}
    assert run("build").code == 0


DUPLICATES: dict[str, dict[str, str]] = {
    "of one kustomization": {"kustomization.yaml": "resources: [a.yaml, b.yaml]\n"},
    "of none": {},
    "of one and of none": {"kustomization.yaml": "resources: [a.yaml]\n"},
}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in DUPLICATES.items()])
def test_duplicates_outside_of_several_kustomizations(files: dict[str, str]) -> None:
    write_files({"a.yaml": JOB, "b.yaml": JOB} | files)
    assert ("warning", "duplicate-trainjob", "b.yaml") in found()
    assert "error[duplicate-trainjob]" in run("build").err


def test_passthrough_writes_neither_patches_nor_kustomizations() -> None:
    write_files(
        BASE | OVERLAY | {"overlays/prod/web.yaml": DEPLOYMENT, "claim.yaml": DEPLOYMENT.replace("web", "other")}
    )
    write_files({"overlays/prod/kustomization.yaml": PROD + "- path: web.yaml\n"})
    done = run("build", "--passthrough")
    assert [line for line in done.out.splitlines() if line.startswith("kind:")] == ["kind: JobSet", "kind: Deployment"]
    assert "name: other" in done.out


@pytest.mark.parametrize("below", ["", "apps/training"])
def test_patches_of_a_commit(below: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files({os.path.join(below, name): text for name, text in (BASE | PARTIAL["a component"] | OVERLAY).items()})
    git("init", "--quiet")
    commit()
    git("branch", "team/main")
    monkeypatch.chdir(below or ".")
    write_files({"base/job.yaml": JOB + "  suspend: true\n", "parts/patch.yaml": PATCH + "  labels: {a: b}\n"})
    done = run("diff", "team/main", "--format", "json")
    assert (done.code, [change["name"] for change in json.loads(done.out)["objects"]]) == (0, ["finetune"])


HOSTILE: dict[str, str] = {
    "a cycle": "resources: [., ../base, ../base/]\nnamespace: a\n",
    "the root": "resources: [../../../../../../../../etc, /etc/passwd]\npatches: [{path: /dev/zero}]\n",
    "odd types": "resources: {a: 1}\npatches: [[], {path: [1]}, {path: {a: b}}, 1]\nnamePrefix: [1]\n",
    "control characters": 'resources: ["\\0", "\\e[31m", ""]\npatches: [{path: "a\\nb"}]\n',
    "long paths": f"resources: [{'a/' * 100_000}]\npatches: [{{path: {'../' * 100_000}a}}]\n",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_a_kustomization_reads_no_other_file(text: str) -> None:
    write_files({"base/kustomization.yaml": text, "base/job.yaml": JOB, "kustomization.yaml": "resources: [base]\n"})
    assert [each for each in found() if each[0] != "note"] == []


def test_overlays_that_include_one_another() -> None:
    write_files(
        {
            f"{name}/kustomization.yaml": f"resources: [../{other}, job.yaml]\nnamespace: ml\n"
            for name, other in ("ab", "ba")
        }
        | {"a/job.yaml": JOB, "b/job.yaml": JOB}
    )
    assert {id for _, id, _ in found()} == {"kustomize-base", "kustomize-overlays"}


def test_a_broken_kustomization_is_skipped_like_any_file_of_another_tool() -> None:
    write_files(BASE | {"base/kustomization.yaml": "resources: [job.yaml\nkind: x\n"})
    assert found() == []
    assert "base/kustomization.yaml: skipped\n" in run("validate", "-v").err
    assert "base/kustomization.yaml:2:5: error[yaml]" in run("build", "--passthrough").err


def test_upgrade_leaves_patches_alone() -> None:
    write_files(BASE | OVERLAY)
    before = PATCH
    done: Done = run("upgrade", "--write")
    assert (done.code, Path("overlays/prod/patch.yaml").read_text()) == (0, before)


def test_a_path_to_search_has_no_notes_about_its_jobs() -> None:
    write_files({f"platform/{name}": text for name, text in (BASE | OVERLAY).items()})
    write_files({"platform/base/runtime.yaml": RUNTIME, "job.yaml": JOB})
    write_files({"platform/base/kustomization.yaml": "resources: [job.yaml, runtime.yaml]\n"})
    done = run("validate", "job.yaml", "-r", "platform")
    assert 'note[kustomize-base]: ClusterTrainingRuntime "ours" is compiled' in done.out
    assert 'TrainJob "finetune"' not in done.out


SUBSETS = {
    "overlays/prod/kustomization.yaml": "1 note in 1 file (checked 2 files)\nFor more: trainc explain kustomize-base\n",
    "overlays/prod/patch.yaml": "no problems found: 0 TrainJobs, 0 runtimes\n",
    "base/job.yaml": "1 note in 1 file (checked 1 file)\nFor more: trainc explain kustomize-base\n",
}


@pytest.mark.parametrize(("path", "summary"), SUBSETS.items())
def test_a_subset_of_a_folder_with_overlays(path: str, summary: str) -> None:
    write_files(BASE | OVERLAY)
    done = run("validate", "--among", ".", path)
    assert (done.code, done.out.rpartition("\n\n")[2]) == (0, summary)


IMAGE = JOB + '  trainer: {image: "acme/train:1"}\n'
IMAGES = 'resources: [job.yaml]\nimages: [{name: acme/train, newTag: "2"}]\n'
TFJOB = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: mnist}
spec:
  tfReplicaSpecs:
    Chief:
      replicas: 1
      template: {spec: {containers: [{name: tensorflow, image: "acme/train:1"}]}}
"""


@pytest.mark.parametrize(
    ("files", "message", "help"),
    [
        pytest.param(
            {"job.yaml": IMAGE, "kustomization.yaml": IMAGES},
            'kustomize does not change the image of TrainJob "finetune": kustomization.yaml has no effect on it',
            "set images in trainc.yaml, which changes spec.trainer.image",
            id="images that kustomize does not change",
        ),
        pytest.param(
            {"job.yaml": IMAGE, "kustomization.yaml": IMAGES + "namePrefix: x-\n"},
            'TrainJob "finetune" is compiled without the changes of kustomization.yaml',
            "to compile with them, run `kubectl kustomize . | trainc build -`"
            "; kustomize does not change spec.trainer.image, but images in trainc.yaml does",
            id="another change",
        ),
        pytest.param(
            {"job.yaml": TFJOB, "kustomization.yaml": IMAGES},
            'TFJob "mnist" is compiled without the changes of kustomization.yaml',
            "to compile with them, run `kubectl kustomize . | trainc build --legacy -`",
            id="a legacy job",
        ),
    ],
)
def test_help_to_compile_with_the_changes(files: dict[str, str], message: str, help: str) -> None:
    write_files(files)
    listed = json.loads(run("validate", "--legacy", "--format", "json").out)
    assert [(each["message"], each["help"]) for each in listed if each["id"] == "kustomize-base"] == [(message, help)]
