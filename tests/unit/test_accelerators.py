"""Accelerators: the settings of trainc.yaml by resource, the containers that get them, and their provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from manifests import cluster_runtime, replicated_job, train_job
from purposes import internal
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc import settings
from trainc.compilation import Compiled
from trainc.compilation.run import Options
from trainc.kubernetes.trees import get
from trainc.pipeline.passes.accelerate import accelerate, requests

pytestmark = pytest.mark.usefixtures("empty_root")

GPU = "nvidia.com/gpu"
DRIVER = {"name": "driver", "hostPath": "/opt/driver", "mountPath": "/usr/local/driver"}
MOUNT = {"name": "driver", "mountPath": "/usr/local/driver"}
VOLUME = {"name": "driver", "hostPath": {"path": "/opt/driver"}}
PATH = {"name": "LD_LIBRARY_PATH", "value": "/usr/local/driver"}
CARD: dict[str, Any] = {"volumes": [DRIVER], "env": [PATH]}
POD = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec")


def with_accelerators(accelerators: Any, pod: dict[str, Any]) -> Compiled:
    """Compile a job on a runtime with this pod, in a project with these accelerators."""
    runtime = cluster_runtime(replicated_job("node", pod=pod), name="cards")
    Path("job.yaml").write_text(yaml.safe_dump_all([runtime, train_job(name="draw", runtime="cards")]))
    Path("trainc.yaml").write_text(yaml.safe_dump({"accelerators": accelerators}))
    found = internal(trainc.compile(["job.yaml"], options=Options(settings=settings.load(["job.yaml"]))))
    assert not found.failed, found.diagnostics
    return found.jobs[0]


def pod_spec(accelerators: Any, pod: dict[str, Any]) -> dict[str, Any]:
    """Return the compiled pod spec."""
    found: dict[str, Any] = get(with_accelerators(accelerators, pod).objects[0], POD)
    return found


def node(**more: Any) -> dict[str, Any]:
    return {"name": "node", "image": "ghcr.io/acme/draw:1.0", "resources": {"limits": {GPU: 1}}, **more}


@pytest.mark.parametrize(
    ("resources", "requested"),
    [
        pytest.param({"limits": {GPU: 1}}, True, id="limit"),
        pytest.param({"requests": {GPU: "2"}}, True, id="request"),
        pytest.param({"limits": {GPU: 0}, "requests": {GPU: 1}}, True, id="one of both"),
        pytest.param({"limits": {GPU: 0}}, False, id="zero"),
        pytest.param({"limits": {GPU: "0"}, "requests": {GPU: "0m"}}, False, id="zeros"),
        pytest.param({"limits": {"amd.com/gpu": 1}}, False, id="another"),
        pytest.param({"limits": {"NVIDIA.com/gpu": 1}}, False, id="in another case"),
        pytest.param({}, False, id="nothing"),
        pytest.param({"claims": [{"name": GPU}]}, False, id="a claim"),
    ],
)
def test_requested_resources(resources: dict[str, Any], requested: bool) -> None:
    assert requests({"name": "node", "resources": resources}, GPU) is requested


@pytest.mark.parametrize(
    ("of_node", "of_pod", "mounts", "env", "volumes"),
    [
        pytest.param({}, {}, [MOUNT], [PATH], [VOLUME], id="nothing there"),
        pytest.param(
            {"volumeMounts": [{"name": "own", "mountPath": "/usr/local/driver/"}]},
            {"volumes": [{"name": "own", "emptyDir": {}}]},
            [{"name": "own", "mountPath": "/usr/local/driver/"}],
            [PATH],
            [{"name": "own", "emptyDir": {}}],
            id="a mount at the path",
        ),
        pytest.param(
            {},
            {"volumes": [{"name": "driver", "emptyDir": {}}]},
            [MOUNT],
            [PATH],
            [{"name": "driver", "emptyDir": {}}],
            id="a volume of the name",
        ),
        pytest.param(
            {"env": [{"name": "LD_LIBRARY_PATH", "value": "/own"}]},
            {},
            [MOUNT],
            [{"name": "LD_LIBRARY_PATH", "value": "/own"}],
            [VOLUME],
            id="a variable of the name",
        ),
        pytest.param(
            {"env": [PATH], "volumeMounts": [MOUNT]}, {"volumes": [VOLUME]}, [MOUNT], [PATH], [VOLUME], id="the same"
        ),
    ],
)
def test_what_is_there_stays(of_node: Any, of_pod: Any, mounts: Any, env: Any, volumes: Any) -> None:
    pod = pod_spec({GPU: CARD}, {"containers": [node(**of_node)], **of_pod})
    container = pod["containers"][0]
    assert (container["volumeMounts"], container["env"], pod["volumes"]) == (mounts, env, volumes)


def test_one_volume_for_all_containers_of_a_pod() -> None:
    load = {**node(), "name": "load"}
    pod = pod_spec(
        {GPU: CARD}, {"containers": [node(), {**load, "name": "log", "resources": {}}], "initContainers": [load]}
    )
    assert pod["volumes"] == [VOLUME]
    assert [c.get("volumeMounts") for c in (*pod["initContainers"], *pod["containers"])] == [[MOUNT], [MOUNT], None]


def test_of_two_accelerators_the_first_in_the_file_wins() -> None:
    other = {"env": [{"name": "LD_LIBRARY_PATH", "value": "/other"}], "envVars": [{"name": "RAIL", "value": "1"}]}
    resources = {"limits": {GPU: 1, "rdma/hca": 1}}
    pod = pod_spec({"rdma/hca": other, GPU: CARD}, {"containers": [node(resources=resources)]})
    names = {"LD_LIBRARY_PATH": "/usr/local/driver", "RAIL": "1"}  # safe_dump sorts: nvidia.com/gpu comes first
    assert {variable["name"]: variable["value"] for variable in pod["containers"][0]["env"]} == names


def test_done_twice_it_is_done_once() -> None:
    plan = with_accelerators({GPU: CARD}, {"containers": [node()]}).plan
    assert accelerate(plan).spec == plan.spec


@pytest.mark.parametrize("accelerators", [{}, None, {GPU: None}, {GPU: {}}, {"amd.com/gpu": CARD}])
def test_a_resource_without_requests_changes_nothing(accelerators: Any) -> None:
    assert pod_spec(accelerators, {"containers": [node()]}) == pod_spec({}, {"containers": [node()]})


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        pytest.param(
            "gpu: {}",
            "2:3",
            'error[resource-name]: "gpu" is not a resource that a container can request',
            id="a resource",
        ),
        pytest.param(f"{GPU}: {{volums: []}}", "2:20", "error[unknown-field]", id="a key"),
        pytest.param(f"{GPU}: []", "2:19", "error[wrong-type]", id="no mapping"),
        pytest.param(f"{GPU}: {{volumes: [{{name: a, hostPath: /a}}]}}", "2:30", "error[required]", id="no mount path"),
        pytest.param(
            f"{GPU}: {{volumes: [{{name: A_b, hostPath: /a, mountPath: /b}}]}}", "2:37", "error[pattern]", id="a name"
        ),
        pytest.param(
            f"{GPU}: {{volumes: [{{name: a, hostPath: a, mountPath: /b}}]}}", "2:50", "error[pattern]", id="no root"
        ),
        pytest.param(
            f"{GPU}: {{volumes: [{{name: a, hostPath: /a/../b, mountPath: /b}}]}}",
            "2:50",
            'error[path-leads-out]: hostPath "/a/../b" must not contain ..',
            id="upwards",
        ),
        pytest.param(
            f"{GPU}: {{volumes: [{{name: a, hostPath: /a, mountPath: /b}}]}}\n"
            "  amd.com/gpu: {volumes: [{name: a, hostPath: /c, mountPath: /d}]}",
            "3:47",
            'error[duplicate-item]: hostPath differs from the first volume "a", which has "/a"',
            id="one name for two",
        ),
        pytest.param(
            f"{GPU}: {{env: [{{name: A}}], envVars: [{{name: A}}]}}",
            "2:48",
            'error[duplicate-item]: variable "A" is set twice',
            id="in both spellings",
        ),
        pytest.param(f"{GPU}: {{env: [{{name: A, value: 1}}]}}", "2:43", "error[wrong-type]", id="a number"),
    ],
)
def test_a_wrong_entry(text: str, place: str, expected: str, snapshot: SnapshotAssertion) -> None:
    Path("trainc.yaml").write_text(f"accelerators:\n  {text}\n")
    done = run("validate")
    assert f"trainc.yaml:{place}: {expected}" in done.out
    assert done.code == int(expected.startswith("error"))
    assert done.out.rpartition("\n\n")[0] == snapshot


@pytest.mark.parametrize(
    ("path", "line", "value"),
    [
        (("containers", 0, "volumeMounts", 0, "mountPath"), "5:20", "/usr/local/driver"),
        (("containers", 0, "volumeMounts", 0, "name"), "6:15", "driver"),
        (("containers", 0, "env", 0, "value"), "8:33", "/usr/local/driver"),
        (("volumes", 0, "hostPath", "path"), "4:19", "/opt/driver"),
    ],
)
def test_where_it_comes_from(path: tuple[str | int, ...], line: str, value: str) -> None:
    with_accelerators({}, {"containers": [node()]})
    Path("trainc.yaml").write_text(LINES)
    job = internal(trainc.compile(["job.yaml"], options=Options(settings=settings.load(["job.yaml"])))).jobs[0]
    origin = job.trace().origin(0, (*POD, *path))
    assert (str(origin.place.locate()), origin.by, origin.stage) == (
        f"trainc.yaml:{line}",
        "trainc.yaml",
        "accelerate",
    )
    assert origin.value == value


def test_a_rejected_setting_is_reported_at_its_line() -> None:
    Path("job.yaml").write_text(JOB)
    Path("trainc.yaml").write_text(
        f"accelerators:\n  {GPU}:\n    env:\n      - {{name: BIG, value: {'x' * 140_000}}}\n"
    )
    done = run("build", "job.yaml")
    assert "trainc.yaml:4:28: error[argument-too-long]" in done.err


LINES = """\
accelerators:
  nvidia.com/gpu:
    volumes:
      - hostPath: /opt/driver
        mountPath: /usr/local/driver
        name: driver
    env: [
      {name: PATH_OF_IT, value: /usr/local/driver}]
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: draw}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {image: "ghcr.io/acme/draw:1.0", resourcesPerNode: {limits: {nvidia.com/gpu: 1}}}
"""
