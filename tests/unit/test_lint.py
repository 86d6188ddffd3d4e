"""Lint rules: inputs with and without findings; how findings are combined and rules disabled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from linting import (
    GPUS,
    MPI,
    NO_NAMES,
    ONE_GPU,
    POD,
    TEMPLATE,
    WITH_HOST_NET,
    clean_container,
    env,
    fires,
    host,
    patch,
    pytorchjob,
    replicated,
    runtime_of,
    silent,
    trainjob,
    warnings,
)
from manifests import write_json
from purposes import ALL_RULES, internal
from running import run
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.base.data import lint_rules
from trainc.base.releases import DEFAULT_RELEASE
from trainc.compilation.run import Options
from trainc.diagnostics import Place
from trainc.pipeline.lint.triggers import IGNORE
from trainc.pipeline.runtime_owners import installed, origin
from trainc.settings import Settings

ROOT = Path(__file__).parents[2]


def waiting(name: str, *others: str) -> dict[str, Any]:
    """Return a replicated job that waits for other jobs."""
    return {**replicated(name=name), "dependsOn": [{"name": other, "status": "Complete"} for other in others]}


def due(seconds: int) -> dict[str, Any]:
    """Return a replicated job with a deadline."""
    job = replicated()
    job["template"]["spec"]["activeDeadlineSeconds"] = seconds
    return job


RULES = [
    # Images
    fires("image-version", runtime_of(), trainjob(image="train"), id="no tag"),
    fires("image-version", runtime_of(), trainjob(image="train:latest"), id="latest"),
    fires("image-version", runtime_of(), trainjob(image="localhost:5000/train"), id="a port is no tag"),
    fires("image-version", runtime_of(replicated(clean_container(image="train"))), trainjob(), id="of the runtime"),
    fires(
        "image-version",
        runtime_of(replicated(clean_container(), pod={"initContainers": [{"name": "fetch", "image": "curl"}]})),
        trainjob(),
        id="of an init container",
    ),
    silent("image-version", runtime_of(), trainjob(image="train:2"), id="a tag"),
    silent("image-version", runtime_of(), trainjob(image="localhost:5000/train@sha256:" + "0" * 64), id="a digest"),
    silent("image-version", runtime_of(), trainjob(image="train:latest@sha256:" + "0" * 64), id="a tag and a digest"),
    silent(
        "image-version",
        runtime_of(replicated(clean_container(image="train"))),
        trainjob(image="train:2"),
        id="another one",
    ),
    silent(
        "image-version",
        runtime_of(replicated(clean_container(image="train", imagePullPolicy="Never"))),
        trainjob(),
        id="put on the node",
    ),
    # Legacy jobs
    fires("legacy-losses", pytorchjob(cleanPodPolicy="All"), id="a field"),
    silent("legacy-losses", pytorchjob(), id="only defaults"),
    silent("legacy-losses", pytorchjob(cleanPodPolicy="Running"), id="the same in a JobSet"),
    silent("legacy-losses", pytorchjob(restart="Never", backoffLimit=3), id="without effect"),
    fires("legacy-host", pytorchjob("mnist-worker-2:80"), id="beyond the last worker"),
    silent("legacy-host", pytorchjob("mnist-worker-2-cache"), id="a longer word"),
    fires("gang-too-large", pytorchjob(schedulingPolicy={"minAvailable": 3}), id="one more than the pods"),
    silent("gang-too-large", pytorchjob(schedulingPolicy={"minAvailable": 2}), id="all pods"),
    # Jobs that never run
    fires("depends-on-itself", runtime_of(replicated(), waiting("eval", "eval")), trainjob(), id="one job"),
    fires(
        "depends-on-itself", runtime_of(replicated(), waiting("eval", "node", "eval")), trainjob(), id="beside another"
    ),
    silent("depends-on-itself", runtime_of(replicated(), waiting("eval", "node")), trainjob(), id="an earlier one"),
    fires(
        "overhead-without-runtime-class",
        runtime_of(replicated(pod={"overhead": {"cpu": "250m"}})),
        trainjob(),
        id="no RuntimeClass",
    ),
    silent(
        "overhead-without-runtime-class",
        runtime_of(replicated(pod={"overhead": {"cpu": "250m"}, "runtimeClassName": "kata"})),
        trainjob(),
        id="a RuntimeClass",
    ),
    silent(
        "overhead-without-runtime-class", runtime_of(replicated(pod={"overhead": {}})), trainjob(), id="no overhead"
    ),
    silent(
        "overhead-without-runtime-class",
        runtime_of(replicated(pod={"overhead": {"cpu": "250m"}})),
        trainjob(numNodes=0),
        id="no pods",
    ),
    fires("deadline-overflow", runtime_of(due(9_223_372_037)), trainjob(), id="fails at once"),
    fires("deadline-overflow", runtime_of(due(20_000_000_000)), trainjob(), id="another deadline"),
    silent("deadline-overflow", runtime_of(due(9_223_372_036)), trainjob(), id="292 years"),
    silent("deadline-overflow", runtime_of(due(2**63 - 1)), trainjob(numNodes=0), id="no pods"),
    # Resources
    fires("no-resources", runtime_of(replicated(clean_container(resources={}))), trainjob(), id="nothing"),
    fires("no-resources", runtime_of(replicated(clean_container(resources={})), policy={}), trainjob(), id="plain"),
    silent(
        "no-resources",
        runtime_of(replicated(clean_container(resources={}))),
        trainjob(resourcesPerNode={"requests": {"cpu": 1}}),
        id="the TrainJob's",
    ),
    silent("no-resources", runtime_of(replicated(clean_container(resources=ONE_GPU))), trainjob(), id="only limits"),
    silent(
        "no-resources",
        runtime_of(replicated(clean_container(resources={}), pod={"resources": {"requests": {"cpu": 1}}})),
        trainjob(),
        id="of the pod",
    ),
    silent(
        "no-resources",
        runtime_of(replicated(clean_container(), pod={"initContainers": [{"name": "fetch", "image": "curl:8"}]})),
        trainjob(),
        id="an init container",
    ),
    silent(
        "no-resources",
        runtime_of(replicated(), replicated(clean_container(resources={}), name="ps")),
        trainjob(),
        id="not training",
    ),
    fires(
        "runtime-request-stays", runtime_of(), trainjob(resourcesPerNode={"limits": {"cpu": 8}}), id="a larger limit"
    ),
    silent("runtime-request-stays", runtime_of(), trainjob(resourcesPerNode={"limits": {"cpu": 1}}), id="the same"),
    silent(
        "runtime-request-stays", runtime_of(), trainjob(resourcesPerNode={"limits": {"memory": "1Gi"}}), id="another"
    ),
    silent(
        "runtime-request-stays",
        runtime_of(),
        trainjob(resourcesPerNode={"limits": {"cpu": 8}, "requests": {"cpu": 2}}),
        id="a request of its own",
    ),
    silent("runtime-request-stays", runtime_of(), trainjob(resourcesPerNode={"requests": {"cpu": 8}}), id="no limit"),
    silent("runtime-request-stays", runtime_of(), trainjob(resourcesPerNode=ONE_GPU), id="a GPU"),
    # Shared memory
    fires("no-shared-memory", runtime_of(), trainjob(resourcesPerNode=GPUS), id="two GPUs"),
    fires(
        "no-shared-memory",
        runtime_of(),
        trainjob(resourcesPerNode={"limits": {"nvidia.com/gpu.shared": 1}}, numProcPerNode=2),
        id="a shared GPU",
    ),
    fires(
        "no-shared-memory",
        runtime_of(
            replicated(
                clean_container(volumeMounts=[{"name": "d", "mountPath": "/data"}]),
                pod={"volumes": [{"name": "d", "emptyDir": {}}]},
            )
        ),
        trainjob(resourcesPerNode=GPUS),
        id="mounted elsewhere",
    ),
    silent("no-shared-memory", runtime_of(), trainjob(resourcesPerNode=ONE_GPU), id="one GPU"),
    silent("no-shared-memory", runtime_of(), trainjob(numProcPerNode=4), id="processes on CPUs"),
    silent("no-shared-memory", runtime_of(), trainjob(resourcesPerNode=GPUS, numProcPerNode=1), id="one process"),
    silent("no-shared-memory", runtime_of(policy={"jax": {}}), trainjob(resourcesPerNode=GPUS), id="another framework"),
    silent("no-shared-memory", *host(), id="a volume"),
    silent(
        "no-shared-memory", runtime_of(replicated(pod={"hostIPC": True})), trainjob(resourcesPerNode=GPUS), id="hostIPC"
    ),
    silent(
        "no-shared-memory",
        runtime_of(
            replicated(
                clean_container(volumeMounts=[{"name": "shm", "mountPath": "/dev/shm/"}]),
                pod={"volumes": [{"name": "shm", "hostPath": {"path": "/dev/shm"}}]},
            )
        ),
        trainjob(resourcesPerNode=GPUS),
        id="the host's",
    ),
    # Secrets
    fires("secret-in-env", runtime_of(), trainjob(env=env(HF_TOKEN="hf_Zq8vLm2Rk1")), id="a token"),
    fires(
        "secret-in-env",
        runtime_of(replicated(clean_container(env=env(DB_PASSWORD="correct horse")))),
        trainjob(),
        id="of the runtime",
    ),
    *(
        silent("secret-in-env", runtime_of(), trainjob(env=env(**{name: value})), id=f"{name}={value}")
        for name, value in (
            ("HF_TOKEN", ""),
            ("HF_TOKEN_PATH", "/var/run/secrets/token"),
            ("AWS_WEB_IDENTITY_TOKEN", "/var/run/secrets/token"),
            ("TOKENIZERS_PARALLELISM", "parallel"),
            ("MAX_TOKENS", "1048576"),
            ("USE_AUTH_TOKEN", "true"),
            ("WANDB_API_KEY", "offline"),
            ("PAD_TOKEN", "<|endoftext|>"),
            ("KEYBOARD", "qwertyuiop"),
        )
    ),
    silent(
        "secret-in-env",
        runtime_of(),
        trainjob(env=[{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]),
        id="in a Secret",
    ),
    silent(
        "secret-in-env",
        runtime_of(),
        trainjob(
            env=[
                {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}},
                *env(HF_TOKEN="$(TOKEN)"),
            ]
        ),
        id="a reference",
    ),
    # Rendezvous by host name
    fires("rendezvous-host", *host(hostNetwork=True), id="only hostNetwork"),
    fires("rendezvous-host", *host(hostNetwork=True, dnsPolicy="ClusterFirst"), id="ClusterFirst with hostNetwork"),
    fires("rendezvous-host", *host(dnsPolicy="Default"), id="Default"),
    fires("rendezvous-host", *host(dnsPolicy="None", dnsConfig={"nameservers": ["10.0.0.10"]}), id="None"),
    fires(
        "rendezvous-host",
        runtime_of(of_jobset={"network": {"enableDNSHostnames": False}}),
        trainjob(numNodes=2),
        id="no names",
    ),
    fires(
        "rendezvous-host",
        runtime_of(
            replicated(of_pods={}),
            replicated(name="launcher"),
            policy=MPI,
            of_jobset={"network": {"enableDNSHostnames": False}},
        ),
        trainjob(numNodes=2),
        id="no names for mpirun",
    ),
    fires(
        "rendezvous-host",
        runtime_of(
            replicated(clean_container(readinessProbe={"httpGet": {"port": 8080}})),
            of_jobset={"network": {"publishNotReadyAddresses": False}},
        ),
        trainjob(numNodes=2),
        id="names of ready pods",
    ),
    silent(
        "rendezvous-host",
        runtime_of(policy={"torch": {"elasticPolicy": {"rdzvHost": "etcd"}}}, of_jobset=NO_NAMES),
        trainjob(numNodes=2),
        id="a rendezvous on another host",
    ),
    fires(
        "rendezvous-host",
        runtime_of(policy={"torch": {"elasticPolicy": {}}}, of_jobset=NO_NAMES),
        trainjob(numNodes=2),
        id="an elastic rendezvous",
    ),
    silent("rendezvous-host", *host(**WITH_HOST_NET), id="ClusterFirstWithHostNet"),
    silent("rendezvous-host", *host(dnsPolicy="ClusterFirst"), id="the default"),
    silent("rendezvous-host", *host(hostNetwork=True, count=1), id="one node"),
    silent(
        "rendezvous-host",
        *host(dnsPolicy="None", dnsConfig={"searches": ["ml.svc.cluster.local"], "nameservers": ["10.0.0.10"]}),
        id="None with the cluster's domain",
    ),
    silent(
        "rendezvous-host",
        runtime_of(of_jobset={"network": {"publishNotReadyAddresses": False}}),
        trainjob(numNodes=2),
        id="ready at once",
    ),
    silent(
        "rendezvous-host",
        runtime_of(policy={}, of_jobset={"network": {"enableDNSHostnames": False}}),
        trainjob(numNodes=2),
        id="no rendezvous",
    ),
    *(
        fires("rendezvous-host", runtime_of(policy={}), trainjob(numNodes=2, env=env(HOST=host)), id=f"no pod: {host}")
        for host in ("j-worker-0-0.j", "j-node-0-2.j", "j-master-0", "tcp://j-node-1-0.j:29500")
    ),
    *(
        silent("rendezvous-host", runtime_of(policy={}), trainjob(numNodes=2, env=env(HOST=host)), id=f"a host: {host}")
        for host in ("j-node-0-1.j", "j-redis.ml.svc", "j-data", "my-j-node-0-7.j")
    ),
    silent(
        "rendezvous-host", runtime_of(), trainjob(numNodes=2, env=env(HOST="j-master-0")), id="a policy has the host"
    ),
    # The host's ports
    fires("host-network-port", *host(few=ONE_GPU, **WITH_HOST_NET), id="one GPU each"),
    silent("host-network-port", *host(**WITH_HOST_NET), id="the whole node"),
    silent("host-network-port", *host(few=ONE_GPU, count=1, **WITH_HOST_NET), id="one pod"),
    silent("host-network-port", *host(few=ONE_GPU, dnsPolicy="ClusterFirstWithHostNet"), id="pods' network"),
    silent(
        "host-network-port",
        runtime_of(replicated(pod=WITH_HOST_NET), policy={}),
        trainjob(numNodes=2),
        id="no port",
    ),
    silent(
        "host-network-port",
        *host(
            few=ONE_GPU,
            topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
            ],
            **WITH_HOST_NET,
        ),
        id="spread on purpose",
    ),
    # NCCL and Gloo
    *(
        fires("nccl-settings", runtime_of(), trainjob(numNodes=2, env=env(**values)), id=id)
        for id, values in {
            "no InfiniBand, and which": {"NCCL_IB_DISABLE": "1", "NCCL_IB_HCA": "mlx5"},
            "no P2P, and how far": {"NCCL_P2P_DISABLE": "1", "NCCL_P2P_LEVEL": "NVL"},
            "the loopback": {"NCCL_SOCKET_IFNAME": "=lo"},
            "Gloo's loopback": {"GLOO_SOCKET_IFNAME": "lo"},
            "Gloo reads no ^": {"GLOO_SOCKET_IFNAME": "^docker0"},
            "two interfaces of one": {"NCCL_SOCKET_IFNAME": "eth0", "GLOO_SOCKET_IFNAME": "ens5"},
            "the excluded one": {"NCCL_SOCKET_IFNAME": "^eth", "GLOO_SOCKET_IFNAME": "eth0"},
        }.items()
    ),
    *(
        silent("nccl-settings", runtime_of(), trainjob(numNodes=2, env=env(**values)), id=id)
        for id, values in {
            "InfiniBand": {"NCCL_IB_DISABLE": "0", "NCCL_IB_HCA": "mlx5"},
            "no InfiniBand": {"NCCL_IB_DISABLE": "1", "NCCL_DEBUG": "INFO"},
            "no P2P, twice": {"NCCL_P2P_DISABLE": "1", "NCCL_P2P_LEVEL": "LOC"},
            "the same": {"NCCL_SOCKET_IFNAME": "eth0", "GLOO_SOCKET_IFNAME": "eth0"},
            "a prefix": {"NCCL_SOCKET_IFNAME": "eth", "GLOO_SOCKET_IFNAME": "eth0"},
            "a whole name": {"NCCL_SOCKET_IFNAME": "=eth0,eth1", "GLOO_SOCKET_IFNAME": "eth1"},
            "all but the loopback": {"NCCL_SOCKET_IFNAME": "^lo,docker", "GLOO_SOCKET_IFNAME": "eth0"},
            "empty": {"NCCL_SOCKET_IFNAME": "", "GLOO_SOCKET_IFNAME": ""},
        }.items()
    ),
    silent("nccl-settings", runtime_of(), trainjob(env=env(NCCL_SOCKET_IFNAME="lo")), id="the loopback of one node"),
    silent(
        "nccl-settings",
        host(**WITH_HOST_NET)[0],
        trainjob(numNodes=2, env=env(NCCL_SOCKET_IFNAME="ib0", GLOO_SOCKET_IFNAME="eth0")),
        id="the host's interfaces",
    ),
    silent(
        "nccl-settings",
        runtime_of(replicated(of_pods={"annotations": {"k8s.v1.cni.cncf.io/networks": "rdma"}})),
        trainjob(numNodes=2, env=env(NCCL_SOCKET_IFNAME="net1", GLOO_SOCKET_IFNAME="eth0")),
        id="a second network",
    ),
]


@pytest.mark.parametrize(("documents", "rules"), RULES)
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    options = Options(legacy=True, gang="volcano")
    found = [d for d in warnings(tmp_path, *documents, options=options) if d.stage == "lint"]
    assert [d.id for d in found] == rules
    assert not rules or texts(found).replace(f"{tmp_path}/", "") == snapshot


@pytest.mark.parametrize(
    ("documents", "place", "related"),
    [
        pytest.param(
            (runtime_of(), trainjob(image="train")), ("spec", "trainer", "image"), [], id="the trainer's image"
        ),
        pytest.param(
            (runtime_of(), trainjob(env=[*env(A="1"), *env(HF_TOKEN="hf_Zq8vLm2Rk1")])),
            ("spec", "trainer", "env", 1),
            [],
            id="its variable",
        ),
        pytest.param(
            (runtime_of(replicated(clean_container(image="train"))), trainjob()),
            ("spec", "template", "spec", "replicatedJobs", 0, *("template", "spec") * 2, "containers", 0, "image"),
            [],
            id="the runtime",
        ),
        pytest.param(
            (
                runtime_of(replicated(clean_container(), clean_container(name="metrics"))),
                trainjob(patches=[patch({"containers": [{"name": "metrics", "env": env(API_TOKEN="Zq8vLm2Rk1")}]})]),
            ),
            (*("spec", "runtimePatches", 0, *TEMPLATE, "spec", "replicatedJobs", 0), *POD, "containers", 0, "env", 0),
            [],
            id="a patch",
        ),
    ],
)
def test_where_it_points(tmp_path: Path, documents: Any, place: Any, related: Any) -> None:
    (found,) = warnings(tmp_path, *documents)
    assert isinstance(found.place, Place)
    assert (found.place.path, [r.place.path for r in found.related if isinstance(r.place, Place)]) == (place, related)


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    path = write_json(tmp_path, runtime_of(), trainjob(env=env(HF_TOKEN="hf_Zq8vLm2Rk1")))
    for form in ("text", "json"):
        printed = run("validate", path, "--format", form).out
        assert "secret-in-env" in printed
        assert "Zq8vLm2Rk1" not in printed


THREE = [trainjob(name, numNodes=2) for name in "abc"]


def latest(image: str) -> str:
    effect = "each node runs the version that is current when it pulls the image"
    return f'image "{image}" has no tag, which means latest: {effect}'


@pytest.mark.parametrize(
    ("documents", "messages"),
    [
        pytest.param(
            [runtime_of(replicated(clean_container(image="train"))), *THREE],
            [latest("train")],
            id="the runtime's fault is reported once",
        ),
        pytest.param(
            [runtime_of(replicated(clean_container(image="a"), clean_container(name="b", image="a"))), THREE[0]],
            [latest("a")],
            id="so is an image of two containers",
        ),
        pytest.param(
            [runtime_of(), trainjob("a", image="x"), trainjob("b", image="y")],
            [latest("x"), latest("y")],
            id="a TrainJob's own is its own",
        ),
    ],
)
def test_one_cause_is_one_warning(tmp_path: Path, documents: Any, messages: list[str]) -> None:
    assert [d.message for d in warnings(tmp_path, *documents)] == messages


def test_a_fault_of_a_thousand_jobs_is_reported_once(tmp_path: Path) -> None:
    jobs = [trainjob(f"j{number}", numNodes=2) for number in range(1000)]
    bad = clean_container(image="train", resources={}, env=env(HF_TOKEN="hf_Zq8vLm2Rk1"))
    found = warnings(tmp_path, runtime_of(replicated(bad, pod={"hostNetwork": True})), *jobs)
    rules = ["host-network-port", "image-version", "no-resources", "rendezvous-host", "secret-in-env"]
    assert sorted(d.id for d in found) == rules
    assert [len(d.users.names) for d in found if d.users and d.users.all] == [1000] * len(rules)


@pytest.mark.parametrize(
    ("of_runtime", "of_job", "rules"),
    [
        pytest.param("", "", ["image-version", "no-resources"], id="nothing"),
        pytest.param("", "image-version", ["no-resources"], id="by the TrainJob"),
        pytest.param("image-version", "no-resources", [], id="by both"),
        pytest.param(" image-version , no-resources,", "", [], id="two, with blanks"),
    ],
)
def test_turned_off_by_an_annotation(tmp_path: Path, of_runtime: str, of_job: str, rules: list[str]) -> None:
    r = runtime_of(replicated(clean_container(image="train", resources={})), annotations={IGNORE: of_runtime})
    assert sorted(d.id for d in warnings(tmp_path, r, trainjob(annotations={IGNORE: of_job}))) == rules


@pytest.mark.parametrize(("quiet", "rules"), [("", ["torchtune-config"]), ("torchtune-config", [])])
def test_a_rule_of_another_stage_can_be_disabled(tmp_path: Path, quiet: str, rules: list[str]) -> None:
    tune = {"runtime": "torchtune-llama3.3-70b", "command": ["tune", "run"], "resourcesPerNode": ONE_GPU}
    assert [d.id for d in warnings(tmp_path, trainjob(**tune, annotations={IGNORE: quiet}))] == rules


@pytest.mark.parametrize(
    ("document", "annotated"),
    [
        pytest.param(0, "the runtime", id="of a runtime, once for all its jobs"),
        pytest.param(1, "a TrainJob", id="of a TrainJob"),
    ],
)
def test_an_annotation_that_silences_nothing(tmp_path: Path, document: int, annotated: str) -> None:
    documents = [runtime_of(), trainjob("a"), trainjob("b")]
    documents[document]["metadata"]["annotations"] = {IGNORE: "image-versoin"}
    (found,) = warnings(tmp_path, *documents)
    assert (found.id, found.help) == ("unknown-rule", "did you mean image-version?")
    assert found.object.kind == documents[document]["kind"], annotated


def test_the_annotation_does_not_reach_the_jobset(tmp_path: Path) -> None:
    (jobset,) = trainc.compile([write_json(tmp_path, runtime_of(), trainjob(annotations={IGNORE: "no-gang"}))]).objects
    assert "annotations" not in jobset["metadata"]


def test_every_rule_can_be_turned_off(tmp_path: Path) -> None:
    bad = clean_container(image="train", resources={}, env=env(HF_TOKEN="hf_Zq8vLm2Rk1", GLOO_SOCKET_IFNAME="^lo"))
    documents = [runtime_of(replicated(bad, pod={"hostNetwork": True})), trainjob(numNodes=2)]
    assert len(warnings(tmp_path, *documents, purpose=ALL_RULES)) == 7
    disabled = Options(settings=Settings(disable=frozenset(lint_rules())))
    assert warnings(tmp_path, *documents, options=disabled, purpose=ALL_RULES) == []


def test_the_first_job_of_init_has_no_warnings(empty_folder: Path) -> None:
    run("init")
    assert "warning" not in run("validate").out


BUILT_IN = [*(ROOT / "runtimes").glob("*.yaml"), *(ROOT / "runtimes" / DEFAULT_RELEASE.runtimes).iterdir()]


@pytest.mark.parametrize("name", sorted(path.stem for path in BUILT_IN))
def test_a_built_in_runtime_has_no_findings(tmp_path: Path, name: str) -> None:
    (path,) = (path for path in BUILT_IN if path.stem == name)
    (document,) = yaml.safe_load_all(path.read_text())
    eight = {"numNodes": 2, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}
    findings = [found.id for found in warnings(tmp_path, document, trainjob(runtime=name, **eight))]
    assert findings == ([] if name not in installed(DEFAULT_RELEASE) else findings)
    (tmp_path / "w.yaml").write_text(yaml.safe_dump(trainjob(runtime=name, **eight)))
    built_in = internal(trainc.compile([str(tmp_path / "w.yaml")]))
    assert [d.id for d in built_in.diagnostics if d.severity != "note"] == []
    assert built_in.built_in is not None
    listed = f"; lint findings: {', '.join(sorted({*findings}))}" if findings else ""
    assert built_in.built_in.message == f"built-in runtime: {name} ({origin(name, DEFAULT_RELEASE)}{listed})"


def test_a_good_job_loads_no_rule() -> None:
    program = "import sys; from trainc import compile; compile(sys.argv[1:]); print(*sys.modules)"
    case = ROOT / "golden" / "llm-finetune-4x8" / "input.yaml"
    done = subprocess.run([sys.executable, "-c", program, case], capture_output=True, text=True, check=True)
    assert {
        "trainc.pipeline.lint.triggers",
        "trainc.provenance.placing.lint_findings",
        "trainc.masking.secret_names",
    } & {*done.stdout.split()} == {"trainc.pipeline.lint.triggers"}
