"""`extends`: each key over three levels, two projects that extend one file, reviews, and faults at their lines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from committing import commit
from files import write
from running import run

from trainc.settings.keys import KEYS

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: %s, namespace: team}
spec:
  runtimeRef: {name: own}
  trainer: {image: "acme/train:v1"}
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: own}
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                containers: [{name: node, image: "acme/train:v1", resources: {requests: {cpu: 1, memory: 1Gi}}}]
"""


@pytest.fixture(autouse=True)
def project(empty_repository: Path) -> Path:
    """Return a repository with a platform and two teams, whose settings extend those of the platform."""
    write("platform/runtimes/own.yaml", RUNTIME)
    for team in ("nlp", "vision"):
        write(f"teams/{team}/jobs/{team}.yaml", JOB % team)
        write(f"teams/{team}/trainc.yaml", "extends: ../../platform/trainc.yaml\n")
    write("platform/trainc.yaml", "runtimes: {paths: [runtimes]}\n")
    return empty_repository


def shown(key: str, *arguments: str) -> list[tuple[Any, str]]:
    """Return the values of a key, each with the file and line that it comes from."""
    done = run("settings", "--config", OWN, "--format", "json", *arguments)
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)
    listed = [row for row in found["settings"] if row["key"] == key or row["key"].startswith((f"{key}.", f"{key}["))]
    return [(row["value"], ", ".join(places(row))) for row in listed]


def places(row: dict[str, Any]) -> list[str]:
    return [f"{at['file'] or at['layer']}:{at['line']}" for at in (*row.get("lower", ()), row)]


LOW, MIDDLE, OWN = "base/trainc.yaml", "platform/trainc.yaml", "teams/nlp/trainc.yaml"

# Each row: a key; its values in base/, platform/ and teams/nlp/, on line 2, each of which extends the one before; and
# the result.
LEVELS = [
    pytest.param("sources", "[a]", "[b]", "[c]", [("c", f"{OWN}:2")]),
    pytest.param("exclude", "[a/]", "[b/]", "[c/]", [("a/", f"{LOW}:2"), ("b/", f"{MIDDLE}:2"), ("c/", f"{OWN}:2")]),
    pytest.param("runtimes.paths", "[a]", "[b, c]", None, [("b", f"{MIDDLE}:2"), ("c", f"{MIDDLE}:2")]),
    pytest.param("runtimes.builtin", "allow", "forbid", None, [("forbid", f"{MIDDLE}:2")]),
    pytest.param(
        "accelerators",
        "{a/x: {env: [{name: A, value: '1'}]}}",
        "{b/x: {env: [{name: B, value: '1'}]}}",
        "{a/x: {env: [{name: A, value: '2'}]}}",
        [({"name": "A", "value": "2"}, f"{OWN}:2"), ({"name": "B", "value": "1"}, f"{MIDDLE}:2")],
    ),
    pytest.param("output", "a", None, "c", [("c", f"{OWN}:2")]),
    pytest.param(
        "shared", "[{kind: A}]", None, "[{kind: B}]", [({"kind": "A"}, f"{LOW}:2"), ({"kind": "B"}, f"{OWN}:2")]
    ),
    pytest.param("keep", "[a]", None, "[c/]", [("a", f"{LOW}:2"), ("c/", f"{OWN}:2")]),
    pytest.param("trainerVersion", "2.1", "2.2", None, [("2.2", f"{MIDDLE}:2")]),
    pytest.param("jobsetVersion", "'0.8'", "'0.10'", None, [("0.10", f"{MIDDLE}:2")]),
    pytest.param("kueueVersion", "0.18", "0.20", None, [("0.20", f"{MIDDLE}:2")]),
    pytest.param("passthrough", "true", "[claims/]", None, [("claims/", f"{MIDDLE}:2")]),
    pytest.param("fieldValidation", "warn", None, "ignore", [("ignore", f"{OWN}:2")]),
    pytest.param(
        *("lint.disable", "[no-gang]", "[one-process]", None),
        [("no-gang", f"{LOW}:2"), ("one-process", f"{MIDDLE}:2")],
    ),
    pytest.param(
        *("lint.paths", "{a/: [no-gang], b/: [no-gang]}", "{b/: [one-process]}", "{c/: [no-gang]}"),
        [("no-gang", f"{LOW}:2"), ("one-process", f"{MIDDLE}:2"), ("no-gang", f"{OWN}:2")],
    ),
    pytest.param("lint.strict", "true", None, None, [(True, f"{LOW}:2")]),
    pytest.param("legacy.kinds", "[PyTorchJob]", "[TFJob]", None, [("TFJob", f"{MIDDLE}:2")]),
    pytest.param("legacy.gang", "volcano", None, None, [("volcano", f"{LOW}:2")]),
    pytest.param("delivery.nameSuffixHash", "true", "false", None, [(False, f"{MIDDLE}:2")]),
    pytest.param("delivery.argocdReplace", "true", None, None, [(True, f"{LOW}:2")]),
    pytest.param("delivery.suspend", "false", None, "true", [(True, f"{OWN}:2")]),
    pytest.param("cluster", "a", "b", "c", [("c", f"{OWN}:2")]),
    pytest.param("namespace", "{a: x, b: x}", "{b: w}", None, [("w", f"{MIDDLE}:2")]),
    pytest.param("namespacePrefix", "a-", None, "c-", [("c-", f"{OWN}:2")]),
    pytest.param("namespaceSuffix", "-a", "-b", None, [("-b", f"{MIDDLE}:2")]),
    pytest.param("namePrefix", "a-", "''", None, [("", f"{MIDDLE}:2")]),
    pytest.param("nameSuffix", "-a", None, "-c", [("-c", f"{OWN}:2")]),
    pytest.param(
        *("labels", "{a: x, b: x}", "{b: w}", "{c: z}"),
        [("x", f"{LOW}:2"), ("w", f"{MIDDLE}:2"), ("z", f"{OWN}:2")],
    ),
    pytest.param("annotations", "{a: x}", None, "{a: z}", [("z", f"{OWN}:2")]),
    pytest.param(
        *("images", "[{name: a, newName: m/a}]", "[{name: b, newTag: v1}]", "[{name: a, newTag: v2}]"),
        [
            ({"name": "a", "newName": "m/a", "newTag": "v2"}, f"{LOW}:2, {OWN}:2"),
            ({"name": "b", "newTag": "v1"}, f"{MIDDLE}:2"),
        ],
    ),
    pytest.param(
        *("patches", "[{path: a.yaml}]", "[{path: b.yaml}]", "[{path: c.yaml}]"),
        [({"path": f"{name}.yaml"}, f"{file}:2") for name, file in (("a", LOW), ("b", MIDDLE), ("c", OWN))],
    ),
]


def nested(key: str, value: str | None) -> str:
    """Return a key with a value on one line of YAML; an empty comment without a value."""
    if value is None:
        return "#"
    *above, last = key.split(".")
    return "".join(f"{part}: {{" for part in above) + f"{last}: {value}" + "}" * len(above)


@pytest.mark.parametrize(("key", "low", "middle", "own", "expected"), LEVELS)
def test_a_key_over_three_levels(
    key: str, low: str | None, middle: str | None, own: str | None, expected: list[tuple[Any, str]]
) -> None:
    write(LOW, f"#\n{nested(key, low)}\n")
    write(MIDDLE, f"extends: ../base/trainc.yaml\n{nested(key, middle)}\n")
    write(OWN, f"extends: ../../platform/trainc.yaml\n{nested(key, own)}\n")
    found = shown(key)
    assert len(found) == len(expected)
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_every_key_is_over_three_levels() -> None:
    no_settings = {"requiredVersion", "extends", "environments"}
    assert {row.values[0] for row in LEVELS} == {key.name for key in KEYS} - no_settings


def test_environments_merge_by_name_above_all_files() -> None:
    write(LOW, "environments: {dev: {labels: {a: low, b: low}}, prod: {namespaceSuffix: -p}}\n")
    write(MIDDLE, "extends: ../base/trainc.yaml\nenvironments: {dev: {labels: {b: middle}}, canary: }\n")
    write(OWN, "extends: ../../platform/trainc.yaml\nnamespace: own\nlabels: {a: own, c: own}\n")
    assert [each for each, _ in shown("labels", "--env", "dev")] == ["low", "own", "middle"]
    assert shown("namespace", "--env", "canary") == [("own", f"{OWN}:2")]
    assert shown("namespace", "--env", "prod") == []
    assert shown("namespaceSuffix", "--env", "prod") == [("-p", f"{LOW}:1")]
    done = run("validate", "teams/nlp", "--env", "tset")
    assert "use one of dev, prod or canary" in done.out


def test_the_files_of_a_list_are_layers_in_its_order_and_a_shared_one_is_a_layer_once() -> None:
    write(LOW, "labels: {a: low, b: low, c: low}\npatches: [{path: low.yaml}]\n")
    write("gpu.yaml", "extends: base/trainc.yaml\nlabels: {b: gpu, c: gpu}\n")
    write(MIDDLE, "extends: ../base/trainc.yaml\nlabels: {c: middle}\n")
    write(OWN, "extends: [../../gpu.yaml, ../../platform/trainc.yaml]\n")
    assert [value for value, _ in shown("labels")] == ["low", "gpu", "middle"]
    assert len(shown("patches")) == 1


def test_paths_patterns_and_patches_are_relative_to_their_file() -> None:
    write("trainc.yaml", "exclude: ['*.tmpl.yaml', 'drafts/']\nlint: {paths: {'teams/nlp/': [no-resources]}}\n")
    write("platform/patch.yaml", "spec: {trainer: {env: [{name: A, value: platform}]}}\n")
    patch = "patches: [{target: {kind: TrainJob}, path: patch.yaml}]"
    write(MIDDLE, f"extends: ../trainc.yaml\nruntimes: {{paths: [runtimes]}}\n{patch}\nexclude: ['nlp.yaml']\n")
    write(OWN, "extends: ../../platform/trainc.yaml\nexclude: ['!keep.tmpl.yaml']\noutput: rendered\n")
    for name in ("drop.tmpl", "keep.tmpl", "drafts/d"):
        write(f"teams/nlp/jobs/{name}.yaml", JOB % name.partition(".")[0].replace("/", "-"))
    done = run("build", "teams/nlp")
    assert done.code == 0, done.err
    assert [line for line in done.out.splitlines() if line.startswith("  name: ")] == ["  name: keep", "  name: nlp"]
    assert done.out.count("value: platform") == 2
    os.chdir("teams/nlp")
    assert run("build").code == 0
    assert sorted(path.name for path in Path("rendered").rglob("*.yaml")) == ["keep.yaml", "nlp.yaml"]


def test_two_projects_extend_one_file() -> None:
    write(MIDDLE, "runtimes: {paths: [runtimes]}\nimages: [{name: acme/train, newName: m/train}]\n")
    write(OWN, "extends: ../../platform/trainc.yaml\nimages: [{name: acme/train, newTag: v2}]\n")
    for team, image in (("nlp", "m/train:v2"), ("vision", "m/train:v1")):
        done = run("build", f"teams/{team}")
        assert (done.code, done.out.count(f"image: {image}")) == (0, 1), done.err


def test_a_setting_that_another_project_uses_is_not_reported() -> None:
    unused = "images: [{name: acme/%s, newTag: v2}]\npatches: [{target: {name: %s}, patch: {spec: {suspend: true}}}]\n"
    rules = "lint: {strict: true, paths: {'vision/': [no-gang]}}\nnamespace: {vision: cv}\n"
    write(MIDDLE, f"runtimes: {{paths: [runtimes]}}\n{rules}{unused % ('vision', 'vision')}")
    assert run("validate", "teams/nlp").code == 0
    write(OWN, f"extends: ../../platform/trainc.yaml\n{unused % ('nlpp', 'nlpp')}")
    out = run("validate", "teams/nlp").out
    assert [line.partition(": ")[0] for line in out.splitlines() if "error[" in line] == [f"{OWN}:2:17", f"{OWN}:3:20"]


def test_a_settings_file_of_another_name_is_not_a_manifest() -> None:
    write("teams/nlp/common.yaml", "labels: {a: b}\n")
    write(OWN, "extends: [../../platform/trainc.yaml, common.yaml]\npassthrough: true\n")
    done = run("build", "teams/nlp")
    assert (done.code, "a: b" in done.out, "labels: {a: b}" in done.out) == (0, True, False)
    assert "settings, not manifests" in run("validate", "teams/nlp/common.yaml", "--config", OWN).out


@pytest.mark.parametrize("arguments", [("HEAD~1..HEAD",), ("HEAD~1",)])
def test_a_review_reads_extended_files_from_each_side(arguments: tuple[str, ...]) -> None:
    write(MIDDLE, "runtimes: {paths: [runtimes]}\nimages: [{name: acme/train, newTag: v1}]\n")
    commit()
    write(MIDDLE, "runtimes: {paths: [runtimes]}\nimages: [{name: acme/train, newTag: v2}]\nlint: {disable: [no-gang]}")
    commit()
    done = run("diff", *arguments, "--", "teams/nlp")
    assert done.code == 0, done.err
    assert "platform/trainc.yaml:3: setting lint.disable: no-gang is added" in done.out
    assert "platform/trainc.yaml:2: setting images[acme/train].newTag: v1 -> v2\n  changes team/nlp" in done.out
    assert "acme/train:v1 -> acme/train:v2" in done.out


def test_a_file_that_only_one_side_extends() -> None:
    write(OWN, "runtimes: {paths: [../../platform/runtimes]}\n")
    commit()
    write(MIDDLE, "labels: {a: b}\n")
    write(OWN, "extends: ../../platform/trainc.yaml\nruntimes: {paths: [../../platform/runtimes]}\n")
    out = run("diff", "HEAD", "--", "teams/nlp").out
    assert "teams/nlp/trainc.yaml:1: setting extends: ../../platform/trainc.yaml is added" in out
    assert "platform/trainc.yaml:1: setting labels is added" in out


def test_the_settings_of_a_review_extend_files_of_their_revision() -> None:
    job = RUNTIME.replace("requests: {cpu: 1, memory: 1Gi}", "limits: {}")
    write("platform/runtimes/own.yaml", job)
    commit()
    write(MIDDLE, "runtimes: {paths: [runtimes]}\nlint: {disable: [no-resources]}\n")
    write("teams/nlp/jobs/nlp.yaml", (JOB % "nlp").replace("v1", "v2"))
    commit()

    def warned(*config: str) -> bool:
        done = run("diff", "HEAD~1..HEAD", *config, "--", "teams/vision", "teams/nlp/jobs")
        assert done.code == 0, done.err
        return "no-resources" in done.err + done.out.replace("setting lint.disable: no-resources", "")

    write(MIDDLE, "extends: trainc.yaml\n")
    assert not warned("--review-config", "HEAD:teams/nlp/trainc.yaml")
    assert run("diff", "HEAD~1..HEAD", "--review-config", OWN, "--", "teams/nlp").code == 2


def test_explain_shows_the_line_of_the_extended_file() -> None:
    write(MIDDLE, "runtimes: {paths: [runtimes]}\nlabels: {tier: x}\nenvironments: {dev: {labels: {env: dev}}}\n")
    out = run("explain", "teams/nlp", "--env", "dev", "metadata.labels.*").out
    assert "platform/trainc.yaml:2" in out
    assert "platform/trainc.yaml:3" in out
    assert "environment dev" in out


# Each row: the text of teams/nlp/trainc.yaml, the place of the error, its id, and a part of the message.
FAULTS = [
    ("extends: missing.yaml", f"{OWN}:1:10", "unreadable", "missing.yaml cannot be read: No such file"),
    ("extends: ../../platform", f"{OWN}:1:10", "unreadable", "../../platform is a folder"),
    ('extends: ""', f"{OWN}:1:10", "unreadable", '"" is a folder'),
    ("extends: [../../../out.yaml]", f"{OWN}:1:11", "settings-path", "must be a relative path inside the root"),
    ("extends: /out.yaml", f"{OWN}:1:10", "settings-path", "must be a relative path inside the root"),
    ("extends: link.yaml", f"{OWN}:1:10", "link-out", "link.yaml is a link to a target outside"),
    ("extends: trainc.yaml", f"{OWN}:1:10", "circular-extends", f"{OWN} extends itself: {OWN} -> {OWN}"),
    ("extends: same.yaml", f"{OWN}:1:10", "circular-extends", f"{OWN} extends itself: {OWN} -> {OWN}"),
    ("extends: circle.yaml", "teams/nlp/circle.yaml:1:10", "circular-extends", f"-> teams/nlp/circle.yaml -> {OWN}"),
    ("extends: {a: b}", f"{OWN}:1:10", "wrong-type", "extends must be a path or a list of paths"),
    ("extends: [1]", f"{OWN}:1:11", "wrong-type", "extends must be a path or a list of paths"),
    ("extends: wrong.yaml", "teams/nlp/wrong.yaml:1:1", "unknown-field", "namespaces"),
    ("extends: broken.yaml", "teams/nlp/broken.yaml:2:1", "yaml", ""),
    ("extends: newer.yaml", "teams/nlp/newer.yaml:1:18", "required-version", "the project requires trainc >=1000"),
    (
        "environments: {dev: {extends: a.yaml}}",
        f"{OWN}:1:22",
        "environment-key",
        "cannot set extends",
    ),
    ("extends: long.yaml\nnameSuffix: -" + "b" * 40, f"{OWN}:2:13", "invalid-name", "have 82 characters"),
]


@pytest.mark.parametrize(("text", "place", "id", "message"), FAULTS)
@pytest.mark.parametrize("side", ["disk", "commit"])
def test_a_fault_at_its_line(
    text: str, place: str, id: str, message: str, side: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "trainc.yaml"
    outside.write_text("labels: {a: b}\n")
    Path("teams/nlp/link.yaml").symlink_to(outside)
    Path("teams/nlp/same.yaml").symlink_to("trainc.yaml")
    write("teams/nlp/circle.yaml", "extends: trainc.yaml\n")
    write("teams/nlp/wrong.yaml", "namespaces: a\n")
    write("teams/nlp/broken.yaml", "labels: {\n")
    write("teams/nlp/newer.yaml", "requiredVersion: '>=1000'\nnew: true\n")
    write("teams/nlp/long.yaml", f"namePrefix: {'a' * 40}-\n")
    write(OWN, f"{text}\n")
    if side == "disk":
        done = run("validate", "teams/nlp")
    else:
        commit()
        done = run("diff", "HEAD..HEAD", "--", "teams/nlp")
        place, message = f"HEAD:{place}", message.replace("teams/", "HEAD:teams/")
    assert done.code == 1
    lines = [line for line in (done.out + done.err).splitlines() if line.startswith(f"{place}: error[{id}]: ")]
    assert len(lines) == 1
    assert message in lines[0]
    if side == "disk":
        assert "\n1 error" in done.out


def test_the_number_of_extended_files_is_limited() -> None:
    for index in range(110):
        write(f"many/{index}.yaml", f"extends: {index + 1}.yaml\n" if index < 109 else "{}\n")
    write(OWN, "extends: ../../many/0.yaml\n")
    assert "error[too-many-items]: the project extends more than 100 files" in run("validate", "teams/nlp").out


def test_explain_names_the_file_of_merged_accelerators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apart" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "apart")
    volume = "{name: v, hostPath: /a, mountPath: /a}"
    Path("base.yaml").write_text(f"accelerators: {{nvidia.com/gpu: {{volumes: [{volume}]}}}}\n")
    Path("trainc.yaml").write_text("extends: [base.yaml]\naccelerators: {amd.com/gpu: {env: [{name: B, value: x}]}}\n")
    Path("job.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\nspec:\n"
        "  runtimeRef: {name: torch-distributed}\n  trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 1}}}\n"
    )
    assert "  base.yaml:1:50: accelerate: base.yaml\n" in run("explain", ".", "**.volumes[v].name").out
