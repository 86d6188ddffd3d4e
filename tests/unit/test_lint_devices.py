"""Lint rules for the devices of nodes: inputs with and without findings, and the messages with their carets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from batches import examples
from hypothesis import given
from hypothesis import strategies as st
from linting import (
    MPI,
    SHM,
    clean_container,
    env,
    fires,
    marked,
    pytorchjob,
    replicated,
    runtime_of,
    silent,
    trainjob,
    warnings,
)
from manifests import ANCESTOR, write_json
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.releases import V2_1, V2_2, V2_3, V2_4, TrainerRelease
from trainc.compilation.run import Options
from trainc.diagnostics import Place
from trainc.settings import Settings

MEMORY = {"requests": {"memory": "64Gi"}}
CPUS = {"requests": {"cpu": 8}}
SHARED = {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]}
TORCHRUN = {"command": ["torchrun", "train.py"]}


def node(count: Any = 4, name: str = "nvidia.com/gpu", *, pod: Any = None, **more: Any) -> dict[str, Any]:
    """Return pods with devices and with shared memory; other arguments are further resources."""
    resources = {"limits": {name: count}, **more}
    return replicated(clean_container(resources=resources, volumeMounts=[SHM]), pod={**SHARED, **(pod or {})})


def devices(count: Any = 4, name: str = "nvidia.com/gpu", *, policy: Any = None, **more: Any) -> dict[str, Any]:
    """Return a runtime for pods with devices."""
    return runtime_of(node(count, name, **more), policy=policy)


def mpi(*, limits: Any = None, pods: Any = None, **policy: Any) -> dict[str, Any]:
    """Return an MPI runtime; the launcher is the trainer and comes last, as in Trainer's runtimes."""
    launcher, workers = replicated(name="launcher"), {**node(limits=limits or {"nvidia.com/gpu": 4}), **(pods or {})}
    launcher["template"]["metadata"] = {"labels": ANCESTOR}
    workers["template"]["metadata"] = {}
    numbers = {key: policy.pop(key) for key in ("numNodes",) if key in policy}
    return runtime_of(workers, launcher, policy={"mpi": {**MPI["mpi"], **policy}, **numbers})


def two_launchers(what: str) -> dict[str, Any]:
    """Return a launcher without the trainer's label that runs twice."""
    launcher = replicated(name="launcher")
    if what == "replicas":
        return {**launcher, "replicas": 2}
    launcher["template"]["spec"]["parallelism"] = 2
    return launcher


def without_launcher_as_node() -> dict[str, Any]:
    """Return a policy with which the launcher is no node."""
    return {"mpi": {**MPI["mpi"], "runLauncherAsNode": False}}


PROCESSES = [
    fires("gpu-processes", devices(), trainjob(resourcesPerNode=MEMORY), id="only memory"),
    fires("gpu-processes", devices(), trainjob(resourcesPerNode=CPUS), id="CPUs"),
    fires("gpu-processes", devices(), trainjob(resourcesPerNode={}), id="nothing"),
    silent("gpu-processes", devices(), trainjob(), id="the runtime's"),
    silent("gpu-processes", devices(1), trainjob(resourcesPerNode=MEMORY), id="one GPU"),
    silent(
        "gpu-processes",
        devices(),
        trainjob(resourcesPerNode={**MEMORY, "limits": {"nvidia.com/gpu": 4}}),
        id="the GPUs are repeated",
    ),
    fires("gpu-processes", devices(1, "nvidia.com/mig-3g.40gb", **CPUS), trainjob(), id="a MIG instance and 8 CPUs"),
    silent("gpu-processes", devices(8, "nvidia.com/mig-1g.5gb", **CPUS), trainjob(), id="8 MIG instances and 8 CPUs"),
    fires("gpu-processes", devices(8, "habana.ai/gaudi", requests={"cpu": 96}), trainjob(), id="Gaudi"),
    silent("gpu-processes", devices(8, "habana.ai/gaudi"), trainjob(numProcPerNode=8), id="Gaudi, written"),
    fires("gpu-processes", mpi(), trainjob(numNodes=2, resourcesPerNode=MEMORY), id="slots of MPI"),
    silent(
        "gpu-processes",
        mpi(),
        trainjob(numNodes=2, resourcesPerNode={"limits": {"nvidia.com/gpu": 4}}),
        id="slots of MPI with the GPUs",
    ),
    silent("gpu-processes", mpi(), trainjob(numNodes=2), id="slots of MPI from the runtime"),
    fires("gpu-processes", devices(policy={"xgboost": {}}), trainjob(resourcesPerNode=MEMORY), id="workers of XGBoost"),
    silent("gpu-processes", devices(policy={"xgboost": {}}), trainjob(), id="workers of XGBoost from the runtime"),
    silent("gpu-processes", devices(policy={"jax": {}}), trainjob(resourcesPerNode=MEMORY), id="JAX has no processes"),
    # Written
    fires("gpu-processes", devices(8), trainjob(numProcPerNode=16), id="16 on 8"),
    fires("gpu-processes", devices(8), trainjob(numProcPerNode=4), id="4 on 8"),
    fires("gpu-processes", devices(1), trainjob(numProcPerNode=2), id="2 on 1"),
    silent("gpu-processes", devices(8), trainjob(numProcPerNode=8), id="8 on 8"),
    silent("gpu-processes", devices(8), trainjob(numProcPerNode=1), id="a written 1"),
    silent("gpu-processes", mpi(), trainjob(numNodes=2, numProcPerNode=8), id="a written count in MPI"),
    silent("gpu-processes", mpi(numProcPerNode=8), trainjob(numNodes=2), id="a written count of the runtime in MPI"),
    # Devices of which the number of processes does not follow
    *(
        silent("gpu-processes", devices(2, name), trainjob(numProcPerNode=8), id=name)
        for name in ("nvidia.com/gpu.shared", "nvidia.com/vgpu", "volcano.sh/vgpu-number", "google.com/tpu")
    ),
    silent("gpu-processes", devices(2, "acme.io/gpu"), trainjob(numProcPerNode=8), id="an unknown device"),
    silent("gpu-processes", runtime_of(), trainjob(numProcPerNode=8), id="no device"),
    silent(
        "gpu-processes",
        runtime_of(
            node(1, claims=[{"name": "a"}], pod={"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "a"}]})
        ),
        trainjob(numProcPerNode=8),
        id="a claim",
    ),
    silent(
        "gpu-processes",
        runtime_of(node(1, limits={"nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 2})),
        trainjob(numProcPerNode=2),
        id="two kinds of devices",
    ),
    *(
        silent(
            "gpu-processes", devices(2, "aws.amazon.com/neuron"), trainjob(numProcPerNode=2 * cores), id=f"{cores} each"
        )
        for cores in (2, 4, 8)
    ),
    fires("gpu-processes", devices(16, "aws.amazon.com/neuron"), trainjob(numProcPerNode=12), id="fewer than devices"),
    silent("gpu-processes", devices(16, "aws.amazon.com/neuron", requests={"cpu": 128}), trainjob(), id="by CPUs"),
    # Commands
    fires("gpu-processes", devices(), trainjob(resourcesPerNode=MEMORY, **TORCHRUN), id="torchrun"),
    fires(
        "gpu-processes", devices(), trainjob(resourcesPerNode=MEMORY, command=["sh", "-c", "torchrun a.py"]), id="sh"
    ),
    silent(
        "gpu-processes",
        devices(),
        trainjob(resourcesPerNode=MEMORY, command=["torchrun", "--nproc-per-node=4", "train.py"]),
        id="torchrun's own count",
    ),
    silent(
        "gpu-processes",
        devices(),
        trainjob(resourcesPerNode=MEMORY, command=["accelerate", "launch", "train.py"]),
        id="another launcher",
    ),
    fires(
        "one-process", devices(), trainjob(resourcesPerNode=MEMORY, command=["python", "train.py"]), id="a computed 1"
    ),
    silent("one-process", devices(), trainjob(numProcPerNode=1, command=["python", "train.py"]), id="a written 1"),
    silent("gpu-processes", devices(), trainjob(numNodes=0, resourcesPerNode=MEMORY), id="no pods"),
]
NODES = [
    fires("mpi-nodes", mpi(), trainjob(numNodes=1), id="the launcher is a node"),
    silent("mpi-nodes", mpi(), trainjob(numNodes=2), id="two nodes"),
    silent("mpi-nodes", mpi(runLauncherAsNode=False), trainjob(numNodes=1), id="the launcher is no node"),
    fires("mpi-nodes", mpi(numNodes=2), trainjob(numNodes=4), id="two launchers"),
    silent("mpi-nodes", mpi(numNodes=1), trainjob(numNodes=4), id="one launcher"),
    silent("mpi-nodes", mpi(numNodes=1), trainjob(), id="the runtime's count, which is that of launchers"),
    fires("mpi-nodes", mpi(numNodes=2), trainjob(), id="two launchers by the runtime alone"),
    silent("mpi-nodes", mpi(), trainjob(), id="no count"),
    fires(
        "mpi-nodes", runtime_of(node(), two_launchers("replicas"), policy=MPI), trainjob(), id="replicas of a launcher"
    ),
    fires("mpi-nodes", runtime_of(node(), two_launchers("pods"), policy=MPI), trainjob(), id="pods of a launcher"),
    fires(
        "mpi-nodes",
        runtime_of(replicated(name="launcher"), policy=without_launcher_as_node()),
        trainjob(numNodes=2),
        id="no job of nodes",
    ),
    silent(
        "mpi-nodes",
        runtime_of(replicated(name="launcher"), policy=without_launcher_as_node()),
        trainjob(numNodes=1),
        id="a launcher alone",
    ),
    silent("mpi-nodes", mpi(numNodes=2), trainjob(numNodes=0), id="no nodes"),
    fires("mpi-nodes", mpi(pods={"replicas": 2}), trainjob(numNodes=2), id="replicas"),
    silent("mpi-nodes", runtime_of(policy={"torch": {}, "numNodes": 2}), trainjob(numNodes=4), id="another framework"),
]
COUNTS = [
    silent("device-count", devices(8), trainjob(), id="8 GPUs"),
    silent("device-count", devices(999_999, "acme.io/credits"), trainjob(), id="fewer than a million"),
    silent("device-count", devices("8Gi", "nvidia.com/gpumem"), trainjob(), id="a resource with mem"),
    silent("device-count", runtime_of(), trainjob(resourcesPerNode={"limits": {"memory": "8Gi"}}), id="no domain"),
]
EFA = "vpc.amazonaws.com/efa"


OTHERS = ("no-gang", "rdma-memory-lock")
"""The rules that also apply to the manifests of other rules."""
LOCKING = {"capabilities": {"add": ["IPC_LOCK"]}}


def fabric(
    *,
    count: int = 2,
    others: Any = None,
    pod: Any = None,
    of_pods: Any = None,
    privileged: bool = False,
    **variables: str,
) -> Any:
    """Return pods with 8 GPUs and other devices on several nodes, with variables."""
    limits, context = {"nvidia.com/gpu": 8, **(others or {})}, {"privileged": privileged, **LOCKING}
    eight = clean_container(resources={"limits": limits}, volumeMounts=[SHM], securityContext=context)
    pods = replicated(eight, pod={**SHARED, **(pod or {})}, of_pods=of_pods)
    return runtime_of(pods), trainjob(numNodes=count, env=env(**variables))


FABRIC = [
    fires("fabric-device", *fabric(FI_PROVIDER="efa"), id="EFA without a device"),
    silent("fabric-device", *fabric(FI_PROVIDER="efa", others={EFA: 4}), id="EFA with a device"),
    silent("fabric-device", *fabric(FI_PROVIDER="efa", count=1), id="one node"),
    silent("fabric-device", *fabric(FI_PROVIDER="efa,tcp"), id="EFA or TCP"),
    fires("fabric-device", *fabric(NCCL_IB_HCA="mlx5"), id="InfiniBand without a device"),
    silent("fabric-device", *fabric(NCCL_IB_HCA="mlx5", others={"rdma/hca": 1}), id="InfiniBand with a device"),
    silent("fabric-device", *fabric(NCCL_IB_HCA="mlx5", others={"acme.io/nic": 1}), id="InfiniBand, perhaps"),
    silent(
        "fabric-device", runtime_of(), trainjob(numNodes=2, env=env(NCCL_IB_HCA="mlx5")), id="InfiniBand without a GPU"
    ),
    fires("fabric-device", *fabric(FI_PROVIDER="tcp", others={EFA: 4}), id="TCP with EFA's device"),
    fires("fabric-device", *fabric(FI_PROVIDER="^efa", others={EFA: 4}), id="all but EFA with its device"),
    silent("fabric-device", *fabric(FI_PROVIDER="tcp"), id="TCP"),
    fires("fabric-device", *fabric(NCCL_NET="Socket", others={EFA: 4}), id="sockets with EFA's device"),
    silent("fabric-device", *fabric(NCCL_NET="AWS Libfabric", others={EFA: 4}), id="EFA's plugin"),
    fires("fabric-device", *fabric(NCCL_IB_DISABLE="1", others={"rdma/hca": 1}), id="InfiniBand off with a device"),
    silent("fabric-device", *fabric(NCCL_IB_DISABLE="0", others={"rdma/hca": 1}), id="InfiniBand on"),
    silent("fabric-device", *fabric(NCCL_IB_DISABLE="1", others={EFA: 4}), id="InfiniBand off beside EFA"),
    silent(
        "fabric-device", *fabric(NCCL_IB_DISABLE="1", others={EFA: 4, "rdma/hca": 1}), id="InfiniBand off beside both"
    ),
    silent("fabric-device", *fabric(FI_PROVIDER="efa", NVIDIA_MOFED="enabled"), id="mounted by the container runtime"),
    silent(
        "fabric-device",
        *fabric(
            FI_PROVIDER="efa",
            pod={"volumes": [*SHARED["volumes"], {"name": "ib", "hostPath": {"path": "/dev/infiniband"}}]},
        ),
        id="a hostPath below /dev",
    ),
    fires(
        "fabric-device",
        *fabric(
            FI_PROVIDER="efa", pod={"volumes": [*SHARED["volumes"], {"name": "d", "hostPath": {"path": "/devices"}}]}
        ),
        id="another hostPath",
    ),
    silent(
        "fabric-device",
        *fabric(FI_PROVIDER="efa", pod={"resourceClaims": [{"name": "efa", "resourceClaimTemplateName": "efa"}]}),
        id="a claim",
    ),
    silent(
        "fabric-device",
        *fabric(FI_PROVIDER="efa", of_pods={"annotations": {"k8s.v1.cni.cncf.io/networks": "roce"}}),
        id="an annotation for networks",
    ),
    silent(
        "fabric-device",
        *fabric(FI_PROVIDER="efa", privileged=True),
        id="privileged",
    ),
    silent(
        "fabric-device",
        mpi(limits={"nvidia.com/gpu": 8, EFA: 4}),
        trainjob(numNodes=2, env=env(FI_PROVIDER="efa")),
        id="the launcher of MPI, which passes the variable on",
    ),
]


@pytest.mark.parametrize(("documents", "rules"), [*PROCESSES, *NODES, *COUNTS, *FABRIC])
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    found = [d for d in warnings(tmp_path, *documents) if d.stage == "lint"]
    assert [d.id for d in found] == rules
    assert not rules or texts(found) == snapshot


@pytest.mark.parametrize(
    ("documents", "rules"),
    [
        fires("device-count", devices("8Gi"), trainjob(), id="a suffix for memory"),
        fires("device-count", devices(1_000_000, "acme.io/credits"), trainjob(), id="a million"),
        fires("device-count", devices("1M"), trainjob(), id="1M"),
        fires("device-count", devices("9" * 400), trainjob(), id="400 digits"),
        fires("device-count", devices("8Gi"), trainjob(numProcPerNode=4), id="no other rule counts them"),
    ],
)
def test_an_error_without_objects(tmp_path: Path, documents: tuple[Any, ...], rules: list[str]) -> None:
    done = trainc.compile([write_json(tmp_path, *documents)])
    assert [(d.id, d.severity) for d in done.diagnostics if d.stage == "lint"] == [(rule, "error") for rule in rules]
    assert done.objects == ()
    off = Options(settings=Settings(disable=frozenset(rules)))
    assert len(trainc.compile([write_json(tmp_path, *documents)], options=off).objects) == 1


def manifest(trainer: str, resources: str = "{}", policy: str = "{torch: {}}") -> str:
    """Return a runtime and a TrainJob."""
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: j}}
spec:
  runtimeRef: {{name: r}}
  trainer: {trainer}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {{name: r}}
spec:
  mlPolicy: {policy}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: i:1
                  resources: {resources}
                  volumeMounts: [{{name: shm, mountPath: /dev/shm}}]
                volumes: [{{name: shm, emptyDir: {{}}}}]
"""


FOUR, EIGHT = "{limits: {nvidia.com/gpu: 4}}", "{limits: {nvidia.com/gpu: 8}}"
ONLY = "Trainer counts only those of resourcesPerNode"
NAMED = 'Trainer counts only resources with "gpu" in the name'


@pytest.mark.parametrize(
    ("text", "id", "mark", "message"),
    [
        pytest.param(
            manifest("{resourcesPerNode: {requests: {memory: 64Gi}}}", FOUR),
            "gpu-processes",
            "{requests: {memory: 64Gi}}",
            f"torchrun starts 1 process on each node with 4 nvidia.com/gpu: {ONLY}",
            id="only memory",
        ),
        pytest.param(
            manifest("{resourcesPerNode: {requests: {cpu: 8}}}", FOUR),
            "gpu-processes",
            "{requests: {cpu: 8}}",
            f"torchrun starts 8 processes on each node with 4 nvidia.com/gpu: {ONLY}",
            id="CPUs",
        ),
        pytest.param(
            manifest("{numNodes: 1}", "{limits: {nvidia.com/mig-3g.40gb: 1}, requests: {cpu: 8}}"),
            "gpu-processes",
            "1",
            f"torchrun starts 8 processes on each node with 1 nvidia.com/mig-3g.40gb: {NAMED}",
            id="a MIG instance",
        ),
        pytest.param(
            manifest("{numNodes: 1}", "{limits: {habana.ai/gaudi: 8}, requests: {cpu: 96}}"),
            "gpu-processes",
            "8",
            f"torchrun starts 96 processes on each node with 8 habana.ai/gaudi: {NAMED}",
            id="Gaudi",
        ),
        pytest.param(
            manifest("{numProcPerNode: 16}", EIGHT),
            "gpu-processes",
            "16",
            "torchrun starts 16 processes on each node with 8 nvidia.com/gpu: NCCL rejects two processes on one GPU",
            id="16 on 8",
        ),
        pytest.param(
            manifest("{numProcPerNode: 4}", EIGHT),
            "gpu-processes",
            "4",
            "torchrun starts 4 processes on each node with 8 nvidia.com/gpu: the other devices are idle",
            id="4 on 8",
        ),
        pytest.param(
            manifest("{resourcesPerNode: {limits: {nvidia.com/gpu: 8Gi}}}"),
            "device-count",
            "8Gi",
            "8Gi of nvidia.com/gpu is 8,589,934,592 devices, more than any node has: the pods stay pending",
            id="8Gi",
        ),
        pytest.param(
            manifest("{numNodes: 2, env: [{name: FI_PROVIDER, value: efa}]}", EIGHT),
            "fabric-device",
            "{name: FI_PROVIDER, value: efa}",
            "FI_PROVIDER=efa, but the container requests no vpc.amazonaws.com/efa: libfabric finds no device, and NCCL "
            "uses sockets",
            id="EFA",
        ),
        pytest.param(
            manifest("{numNodes: 2, env: [{name: NCCL_IB_HCA, value: mlx5}]}", EIGHT),
            "fabric-device",
            "{name: NCCL_IB_HCA, value: mlx5}",
            "NCCL_IB_HCA=mlx5, but the container requests only accelerators: without a device of the network, NCCL "
            "uses sockets",
            id="InfiniBand",
        ),
        pytest.param(
            manifest(
                "{numNodes: 2, env: [{name: NCCL_NET, value: Socket}]}",
                "{limits: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4}}",
            ),
            "fabric-device",
            "{name: NCCL_NET, value: Socket}",
            "NCCL_NET=Socket, but the container requests vpc.amazonaws.com/efa: NCCL then uses sockets, and the "
            "devices are idle",
            id="sockets",
        ),
        pytest.param(
            manifest(
                '{numNodes: 2, env: [{name: NCCL_IB_DISABLE, value: "1"}]}',
                "{limits: {nvidia.com/gpu: 8, rdma/hca: 1}}",
            ),
            "fabric-device",
            '{name: NCCL_IB_DISABLE, value: "1"}',
            "NCCL_IB_DISABLE=1, but the container requests a device of InfiniBand or RoCE: NCCL then uses sockets, and "
            "the device is idle",
            id="InfiniBand off",
        ),
    ],
)
def test_text_and_caret(tmp_path: Path, text: str, id: str, mark: str, message: str) -> None:
    severity = "error" if id == "device-count" else "warning"
    assert [row for row in marked(tmp_path, text) if row[0] not in OTHERS] == [(id, severity, mark, message)]


LAUNCHER = "the launcher and at least one pod of job"


@pytest.mark.parametrize(
    ("documents", "message", "field"),
    [
        pytest.param(
            (mpi(), trainjob(numNodes=1)),
            f'mpirun starts ranks on 2 hosts, but numNodes is 1: with runLauncherAsNode, {LAUNCHER} "node" train',
            ("spec", "trainer", "numNodes"),
            id="one node",
        ),
        pytest.param(
            (mpi(numNodes=2), trainjob(numNodes=4)),
            "2 launchers run, and each starts mpirun over 5 hosts: mlPolicy.numNodes is the number of pods of job "
            '"launcher"',
            ("spec", "mlPolicy", "numNodes"),
            id="two launchers",
        ),
        pytest.param(
            (mpi(pods={"replicas": 2}), trainjob(numNodes=3)),
            'mpirun starts ranks on 5 hosts, but numNodes is 3: job "node" has replicas: 2',
            ("spec", "template", "spec", "replicatedJobs", 0, "replicas"),
            id="replicas",
        ),
        pytest.param(
            (mpi(), trainjob(numNodes=2, resourcesPerNode=MEMORY)),
            f"mpirun starts 1 process on each node with 4 nvidia.com/gpu: {ONLY}",
            ("spec", "trainer", "resourcesPerNode"),
            id="slots",
        ),
        pytest.param(
            (devices(policy={"xgboost": {}}), trainjob(resourcesPerNode=MEMORY)),
            f"XGBoost starts 1 process on each node with 4 nvidia.com/gpu: {ONLY}",
            ("spec", "trainer", "resourcesPerNode"),
            id="workers",
        ),
    ],
)
def test_text_and_field(tmp_path: Path, documents: tuple[Any, ...], message: str, field: tuple[str, ...]) -> None:
    (found,) = warnings(tmp_path, *documents)
    assert isinstance(found.place, Place)
    assert (found.message, found.place.path) == (message, field)


@pytest.mark.parametrize(
    ("processes", "rules"),
    [
        ("8", []),
        ("4", ["gpu-processes"]),
        ("16", ["gpu-processes"]),
        ("1", []),
        ("auto", []),
        pytest.param("9" * 400, ["gpu-processes"], id="400 digits"),
    ],
)
def test_the_processes_of_a_pytorchjob(tmp_path: Path, processes: str, rules: list[str]) -> None:
    job = pytorchjob()
    job["spec"]["nprocPerNode"] = processes
    pod = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    pod["containers"][0] |= {"resources": {"limits": {"nvidia.com/gpu": 8}}, "volumeMounts": [SHM]}
    pod |= SHARED
    found = warnings(tmp_path, job, options=Options(legacy=True))
    assert [d.id for d in found] == rules
    assert [d.place.written_path for d in found if isinstance(d.place, Place)] == [
        ("spec", "nprocPerNode") for _ in rules
    ]


def test_a_built_in_runtime_with_one_node_runs_two_pods(tmp_path: Path) -> None:
    (found,) = warnings(tmp_path, trainjob(runtime="deepspeed-distributed", numNodes=1))
    assert found.id == "mpi-nodes"


@pytest.mark.parametrize(
    ("release", "rules"),
    [
        pytest.param(V2_1, [], id="v2.1: resourcesPerNode replaces the resources"),
        pytest.param(V2_2, [], id="v2.2: resourcesPerNode replaces the resources"),
        pytest.param(V2_3, ["gpu-processes"], id="v2.3: they are merged"),
        pytest.param(V2_4, ["gpu-processes"], id="v2.4: they are merged"),
    ],
)
def test_the_resources_of_a_release(tmp_path: Path, release: TrainerRelease, rules: list[str]) -> None:
    options = Options(settings=Settings(release=release))
    documents = devices(), trainjob(resourcesPerNode=MEMORY)
    documents[1]["spec"].pop("runtimePatches")
    found = warnings(tmp_path, *documents, options=options)
    assert [d.id for d in found if d.stage == "lint"] == rules


@examples(50)
@given(
    gpus=st.integers(1, 16),
    policy=st.sampled_from([{"torch": {}}, {"xgboost": {}}, {"jax": {}}]),
    more=st.fixed_dictionaries({}, optional={"cpu": st.integers(1, 64), "memory": st.sampled_from(["1Gi", "64Gi"])}),
    key=st.sampled_from(["limits", "requests"]),
)
def test_repeated_gpus_are_counted(tmp_path_factory: Any, gpus: int, policy: Any, more: Any, key: str) -> None:
    requested = {"nvidia.com/gpu": gpus} if key == "requests" else {}
    both = {"limits": {"nvidia.com/gpu": gpus}, "requests": more | requested}
    for job in (devices(gpus, policy=policy), mpi(limits={"nvidia.com/gpu": gpus})):
        found = warnings(tmp_path_factory.mktemp("x"), job, trainjob(numNodes=2, resourcesPerNode=both))
        assert "gpu-processes" not in {d.id for d in found}
