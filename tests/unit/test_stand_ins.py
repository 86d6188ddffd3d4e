"""Runtimes that no TrainJob uses, checked with stand-in TrainJobs: what is an error, a warning, and no fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from batches import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from linting import clean_container, replicated, runtime_of, trainjob
from manifests import write_json
from purposes import compile_for
from running import run

import trainc
from trainc.compilation.run import NO_OPTIONS, Options, Purpose
from trainc.diagnostics import Diagnostic, Place

CHECK = Purpose(others="read", all_rules=True, check_only=True, stand_ins="check")
REFUSED = "no TrainJob can use this runtime: "
OTHERS = "; a TrainJob that does not replace it is rejected"


def reported(folder: Path, *documents: Any, options: Options = NO_OPTIONS) -> list[Diagnostic]:
    return list(compile_for(CHECK, [write_json(folder, *documents)], options).diagnostics)


def outline(folder: Path, *documents: Any) -> list[tuple[str, str, str]]:
    """Return severity and id of each diagnostic, and the last step of its place."""
    return [
        (each.severity, each.id, str(each.place.path[-1]) if isinstance(each.place, Place) else "")
        for each in reported(folder, *documents)
    ]


MOUNT = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
GPU = {"limits": {"gpu": 8}}
LONG = "n" * 51


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        pytest.param(runtime_of(), [], id="a runtime without faults"),
        pytest.param(runtime_of(replicated({"name": "node"})), [], id="image and resources are left to TrainJobs"),
        pytest.param(
            runtime_of(replicated(clean_container(image="bad image"))),
            [("warning", "image-reference", "image")],
            id="an image that a TrainJob can replace",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(image=""))),
            [],
            id="an empty image",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(resources={"limits": {"nvidia.com/gpu": "8Gi"}}))),
            [("warning", "device-count", "nvidia.com/gpu")],
            id="an amount that a TrainJob can replace",
        ),
        pytest.param(
            runtime_of(
                replicated(), replicated(clean_container(resources={"limits": {"nvidia.com/gpu": "8Gi"}}), name="a")
            ),
            [("error", "device-count", "nvidia.com/gpu")],
            id="an amount that no TrainJob can replace",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(**MOUNT))),
            [("error", "volume-missing", "name")],
            id="a mount without a volume",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(resources=GPU))),
            [("error", "resource-name", "gpu")],
            id="a name that is no resource stays in the merge",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(resources={"limits": {"cpu": 1}, "requests": {"cpu": 2}}))),
            [("warning", "request-above-limit", "cpu")],
            id="amounts that a TrainJob can replace",
        ),
        pytest.param(
            runtime_of(replicated({"name": "node", **MOUNT})),
            [("error", "volume-missing", "name")],
            id="a mount without a volume beside a missing image",
        ),
        pytest.param(
            runtime_of(replicated(), replicated({"name": "side"}, name="side")),
            [("error", "required", "0")],
            id="an image that no TrainJob can set",
        ),
        pytest.param(
            runtime_of(replicated(name="Node"), policy={}),
            [("error", "replicated-job-name", "name")],
            id="the name of a replicated job",
        ),
        pytest.param(
            runtime_of(replicated(), replicated(clean_container(name="side"), name=LONG)),
            [],
            id="a long name that is valid with a short TrainJob name",
        ),
        pytest.param(
            runtime_of(replicated(), replicated(clean_container(name="side"), name=f"{LONG}nnn")),
            [("error", "generated-name-too-long", "name")],
            id="a name that is too long with every TrainJob name",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(image="train"))),
            [("warning", "image-version", "image")],
            id="a lint finding",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(command=["train", "&&", "ls"]))),
            [("warning", "shell-words", "1")],
            id="a lint finding in the command",
        ),
        pytest.param(
            runtime_of(replicated(clean_container(image="{{ .Values.image }}"))),
            [("error", "template-not-rendered", "image")],
            id="a placeholder",
        ),
        pytest.param(runtime_of(replicated(clean_container(resources={}))), [], id="resources are left to TrainJobs"),
        pytest.param(
            runtime_of(replicated(of_pods={"annotations": {"kueue.x-k8s.io/podset-slice-size": "1"}})),
            [("error", "topology-slices", "kueue.x-k8s.io/podset-slice-size")],
            id="Kueue's webhook",
        ),
        pytest.param(
            runtime_of(policy={"numNodes": 2, "torch": {}}),
            [],
            id="several nodes without a gang depend on the TrainJob",
        ),
    ],
)
def test_a_runtime_alone(tmp_path: Path, given: Any, wanted: list[tuple[str, str, str]]) -> None:
    assert outline(tmp_path, given) == wanted


def test_the_messages(tmp_path: Path) -> None:
    error, warning = reported(tmp_path, runtime_of(replicated(clean_container(image="bad image", **MOUNT))))
    assert (error.severity, error.message) == ("error", f'{REFUSED}the pod has no volume named "data"')
    assert warning.message.startswith('image "bad image" ')
    assert warning.message.endswith(OTHERS)
    assert {each.object.kind for each in (error, warning)} == {"ClusterTrainingRuntime"}
    assert error.field == (
        "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0].volumeMounts[0].name"
    )


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(
            runtime_of(replicated(), replicated(clean_container(name="side"), name=f"{LONG}nnn")), id="a long name"
        ),
        pytest.param(
            runtime_of(
                replicated(clean_container(env=[{"name": "HOST", "value": "trainc-stand-in-x-0-0.a"}])), policy={}
            ),
            id="a host name",
        ),
        pytest.param(
            runtime_of(of_jobset={"volumeClaimPolicies": [{"templates": [{"metadata": {"name": "c" * 62}}]}]}),
            id="the name of a claim",
        ),
    ],
)
def test_no_message_has_the_name_of_a_stand_in(tmp_path: Path, given: Any) -> None:
    found = reported(tmp_path, given)
    texts = [text for each in found for text in (each.message, each.help, each.object.name, each.field)]
    assert not [text for text in texts if "stand-in" in text or "a-n" in text or text.endswith("-a")]
    rendered = run("validate", write_json(tmp_path, given), "--format", "json").out
    assert "stand-in" not in rendered.replace("trainc-stand-in-x", "")


def test_a_used_runtime_is_checked_by_its_trainjobs_only(tmp_path: Path) -> None:
    bad = runtime_of(replicated(clean_container(image="bad image")))
    assert outline(tmp_path, bad, trainjob(image="acme/train:1", numNodes=1)) == []
    unused = runtime_of(replicated(clean_container(image="train:latest"))) | {
        "metadata": {"name": "unused"},
    }
    assert outline(tmp_path, bad, unused, trainjob(image="acme/train:1", numNodes=1)) == [
        ("warning", "image-version", "image")
    ]


def test_other_commands_check_no_runtimes_alone(tmp_path: Path) -> None:
    bad = runtime_of(replicated(clean_container(**MOUNT)))
    assert trainc.compile([write_json(tmp_path, bad)]).diagnostics == ()
    done = run("build", write_json(tmp_path, bad))
    assert (done.code, "no-trainjob" in done.err) == (1, True)


def test_a_runtime_with_errors_is_reported_as_before(tmp_path: Path) -> None:
    wrong = runtime_of()
    wrong["spec"]["template"]["spec"]["replicatedJobs"] = "x"
    assert [each.id for each in reported(tmp_path, wrong)] == ["wrong-type"]


def test_the_namespace_of_a_runtime(tmp_path: Path) -> None:
    named = runtime_of(replicated(clean_container(**MOUNT)), namespace="team") | {"kind": "TrainingRuntime"}
    (error,) = reported(tmp_path, named)
    assert (error.object.kind, error.object.namespace, error.object.name) == ("TrainingRuntime", "team", "r")


def test_rules_can_be_disabled(tmp_path: Path) -> None:
    latest = runtime_of(
        replicated(clean_container(image="train")), annotations={"trainc.dev/lint-ignore": "image-version"}
    )
    assert reported(tmp_path, latest) == []


@pytest.mark.parametrize(
    ("runtimes", "jobs", "summary"),
    [
        (1, 0, "0 TrainJobs, 1 runtime, checked with a stand-in TrainJob"),
        (2, 0, "0 TrainJobs, 2 runtimes, checked with stand-in TrainJobs"),
        (2, 1, "1 TrainJob, 2 runtimes, 1 checked with a stand-in TrainJob"),
        (1, 1, "1 TrainJob, 1 runtime"),
    ],
)
def test_the_summary(tmp_path: Path, runtimes: int, jobs: int, summary: str) -> None:
    documents = [runtime_of() | {"metadata": {"name": f"r{number}"}} for number in range(runtimes)]
    documents += [trainjob(f"j{number}", runtime=f"r{number}", numNodes=1) for number in range(jobs)]
    assert run("validate", write_json(tmp_path, *documents)).out == f"no problems found: {summary}\n"


def test_the_summary_of_environments(empty_folder: Path) -> None:
    write_json(empty_folder, runtime_of())
    (empty_folder / "trainc.yaml").write_text("environments: {dev: {}, prod: {}}\n")
    assert run("validate").out == (
        "no problems found: 0 TrainJobs, 1 runtime, checked with a stand-in TrainJob in dev, prod\n"
    )


def test_a_patch_of_the_settings_does_not_match_a_stand_in(empty_folder: Path) -> None:
    write_json(empty_folder, runtime_of())
    (empty_folder / "trainc.yaml").write_text(
        "patches:\n- target: {kind: JobSet}\n  patch: {spec: {ttlSecondsAfterFinished: 60}}\n"
    )
    assert "warning[unused-" in run("validate").out


def test_a_fix_is_applied_to_the_runtime(tmp_path: Path) -> None:
    path = write_json(tmp_path, runtime_of(replicated(clean_container(resources=GPU))))
    assert run("validate", "--fix", path).code == 0
    (limits,) = [each["resources"]["limits"] for each in containers(json.loads(Path(path).read_text()))]
    assert limits == {"nvidia.com/gpu": 8}


def containers(tree: Any) -> list[Any]:
    """Return the containers of a runtime's first replicated job."""
    found: list[Any] = tree["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"][
        "containers"
    ]
    return found


# Output for stand-ins


def test_the_pods_of_a_stand_in(tmp_path: Path) -> None:
    done = run("pods", write_json(tmp_path, runtime_of(replicated({"name": "node"}))), "--format", "json")
    assert done.err == "no TrainJob in the given paths: this is the output for a stand-in TrainJob\n"
    (pod,) = json.loads(done.out)
    assert pod["name"] == "stand-in-node-0-0"


def test_the_explanation_of_a_stand_in(tmp_path: Path) -> None:
    done = run("explain", write_json(tmp_path, runtime_of(replicated({"name": "node"}))), "**.image")
    assert "this is the output for a stand-in TrainJob\n" in done.err
    assert done.out.startswith("JobSet stand-in, of TrainJob stand-in (<stand-in>:1)\n")
    assert "<stand-in>:" in done.out.partition("image")[2]


def test_stand_ins_of_several_runtimes_have_the_names_of_the_runtimes(tmp_path: Path) -> None:
    documents = [runtime_of() | {"metadata": {"name": name}} for name in ("plain", "with.dot")]
    done = run("pods", write_json(tmp_path, *documents), "--format", "json")
    assert [pod["jobSet"] for pod in json.loads(done.out)] == ["stand-in-plain", "stand-in-2"]


def test_a_trainjob_is_shown_instead_of_stand_ins(tmp_path: Path) -> None:
    unused = runtime_of() | {"metadata": {"name": "unused"}}
    done = run("pods", write_json(tmp_path, runtime_of(), unused, trainjob(numNodes=1)), "--format", "json")
    assert [pod["jobSet"] for pod in json.loads(done.out)] == ["j"]
    assert "stand-in" not in done.err


@pytest.mark.parametrize("command", ["pods", "explain"])
def test_a_runtime_that_no_trainjob_can_use_is_not_shown(tmp_path: Path, command: str) -> None:
    done = run(command, write_json(tmp_path, runtime_of(replicated(clean_container(**MOUNT)))))
    assert (done.code, done.out) == (1, "")
    assert REFUSED in done.err


# A refused runtime is refused with every TrainJob

IMAGES = st.sampled_from(["acme/train:1", "bad image"])
FAULTS = st.lists(
    st.sampled_from(
        [
            {"image": "bad image"},
            MOUNT,
            {"resources": GPU},
            {"resources": {"limits": {"cpu": 1}, "requests": {"cpu": 2}}},
            {"command": ["python", "train.py"]},
            {"ports": [{"containerPort": 99999}]},
            {"workingDir": ""},
        ]
    ),
    max_size=3,
)
TRAINERS = st.fixed_dictionaries(
    {},
    optional={
        "image": IMAGES,
        "command": st.just(["train"]),
        "args": st.just(["--fast"]),
        "numNodes": st.integers(1, 4),
        "resourcesPerNode": st.sampled_from([{"limits": {"cpu": 4}}, {"limits": {"cpu": 4}, "requests": {"cpu": 4}}]),
        "env": st.just([{"name": "A", "value": "b"}]),
    },
)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(faults=FAULTS, trainer=TRAINERS, has_image=st.booleans(), is_trainer=st.booleans())
def test_a_refused_runtime_is_refused_with_every_trainjob(
    tmp_path: Path, faults: list[Any], trainer: Any, has_image: bool, is_trainer: bool
) -> None:
    fields = {key: value for fault in faults for key, value in fault.items()}
    node = {"name": "node", **({"image": "i:1"} if has_image else {}), **fields}
    alone = runtime_of(replicated(node, name="node" if is_trainer else "other"), policy={})
    if any(each.severity == "error" for each in reported(tmp_path, alone)):
        used = reported(tmp_path, alone, trainjob(**trainer))
        assert any(each.severity == "error" for each in used)
