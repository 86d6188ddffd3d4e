"""Commands of launchers, as people write them, and the numbers that a reader of the manifest expects from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from linting import (
    GPUS,
    NO_NAMES,
    clean_container,
    env,
    fires,
    pytorchjob,
    replicated,
    runtime_of,
    silent,
    trainjob,
    warnings,
)
from running import run
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.compilation.run import VALIDATE, Options
from trainc.kubernetes.commands import runs
from trainc.pipeline.lint import literal_node_count, torchrun_flags
from trainc.pipeline.training import TORCHRUN

OPERATOR = {
    "WORLD_SIZE": "16",
    "PET_NNODES": "2",
    "RANK": None,
    "MASTER_ADDR": "j-master-0",
    "NPROC": "8",
    "ARGS": "-a -b",
}
"""Variables of a container; None for a value that only the cluster knows."""
SH, BASH = ("sh", "-c"), ("bash", "-euo", "pipefail", "-c")
NONE: dict[str, str] = {}
TORCH: list[tuple[tuple[str, ...], dict[str, str]]] = [
    (("torchrun", "--nnodes=2", "train.py"), {"nnodes": "2"}),
    (("torchrun", "--nnodes", "2", "--nproc_per_node", "8", "train.py"), {"nnodes": "2", "nproc-per-node": "8"}),
    (("torchrun", "--nnodes=$(PET_NNODES)", "train.py"), {"nnodes": "2"}),
    (("torchrun", "--nnodes=$(WORLD_SIZE)", "train.py"), {"nnodes": "16"}),
    (("torchrun", "--nnodes=1:$(PET_NNODES)", "train.py"), {"nnodes": "1:2"}),
    (("torchrun", "--nnodes=$(UNSET)", "train.py"), NONE),
    (("torchrun", "--node-rank=$(RANK)", "--nnodes=2", "train.py"), {"nnodes": "2"}),
    (("torchrun", "--nnodes=$WORLD_SIZE", "train.py"), NONE),  # no shell
    (("torchrun", "--nnodes=$$(PET_NNODES)", "train.py"), NONE),
    (
        ("/opt/conda/bin/torchrun", "--standalone", "--nproc-per-node=gpu", "t.py"),
        {"standalone": "", "nproc-per-node": "gpu"},
    ),
    (("python", "-m", "torch.distributed.run", "--nnodes=2", "train.py"), {"nnodes": "2"}),
    (("python3", "-u", "-m", "torch.distributed.launch", "--nnodes=2", "train.py"), {"nnodes": "2"}),
    (("python3.11", "-m", "pip", "--nnodes=2"), NONE),
    (("python", "train.py", "-m", "torch.distributed.run", "--nnodes=2"), NONE),
    (("torchrun", "--nnodes=2", "train.py", "--nnodes=3"), {"nnodes": "2"}),
    (("torchrun", "--rdzv_endpoint=$(MASTER_ADDR):29500", "t.py"), {"rdzv-endpoint": "j-master-0:29500"}),
    ((*SH, "torchrun --nnodes=$WORLD_SIZE train.py"), {"nnodes": "16"}),
    ((*SH, "torchrun --nnodes=${WORLD_SIZE} train.py"), {"nnodes": "16"}),
    ((*SH, "torchrun --nnodes=$(WORLD_SIZE) train.py"), {"nnodes": "16"}),
    ((*SH, 'torchrun --nnodes="${PET_NNODES}" train.py'), {"nnodes": "2"}),
    ((*SH, "torchrun --nnodes=${PET_NNODES:-1} train.py"), {"nnodes": "2"}),
    ((*SH, "torchrun --nnodes=${UNSET:-1} train.py"), NONE),
    ((*SH, "torchrun --nnodes='$PET_NNODES' train.py"), NONE),
    ((*SH, r"torchrun --nnodes=\$PET_NNODES train.py"), NONE),
    ((*SH, "torchrun --nnodes=$RANK --nproc_per_node=8 train.py"), {"nproc-per-node": "8"}),
    ((*SH, "torchrun --nnodes=$((WORLD_SIZE / 8)) train.py"), NONE),
    ((*SH, "torchrun --nnodes=$(nproc) --tee 3 train.py"), {"tee": "3"}),
    ((*SH, "torchrun --nnodes=`hostname` train.py"), NONE),
    ((*SH, "WORLD_SIZE=4 && torchrun --nnodes=$WORLD_SIZE train.py"), NONE),
    ((*SH, "export WORLD_SIZE=4; torchrun --nnodes=$WORLD_SIZE train.py"), NONE),
    ((*SH, "read WORLD_SIZE < /etc/size; torchrun --nnodes=$WORLD_SIZE train.py"), NONE),
    ((*SH, ": ${WORLD_SIZE:=4}; torchrun --nnodes=$WORLD_SIZE train.py"), NONE),
    ((*SH, ". ./env.sh && torchrun --nnodes=$WORLD_SIZE --tee=3 train.py"), {"tee": "3"}),
    ((*SH, "source /etc/env; torchrun --nnodes=$WORLD_SIZE --tee=3 train.py"), {"tee": "3"}),
    ((*SH, "eval $SETUP; torchrun --nnodes=$WORLD_SIZE --tee=3 train.py"), {"tee": "3"}),
    ((*SH, "unset WORLD_SIZE; torchrun --nnodes=$WORLD_SIZE --tee=3 train.py"), {"tee": "3"}),
    ((*SH, "pip install . && torchrun --nnodes=$WORLD_SIZE train.py"), {"nnodes": "16"}),
    ((*SH, "torchrun $ARGS --nnodes=2 train.py"), NONE),  # the shell makes two words of it
    ((*SH, "cd /src && OMP_NUM_THREADS=1 exec torchrun --nproc-per-node=$NPROC t.py"), {"nproc-per-node": "8"}),
    ((*SH, "torchrun \\\n  --nnodes $PET_NNODES \\\n  train.py"), {"nnodes": "2"}),
    ((*BASH, "python -m torch.distributed.run --nnodes=4 --node_rank=0 train.py"), {"nnodes": "4", "node-rank": "0"}),
    ((*BASH, "/usr/bin/python3 -u -m torch.distributed.run --nnodes=$WORLD_SIZE t.py"), {"nnodes": "16"}),
    ((*BASH, "echo python -m torch.distributed.run --nnodes=4 train.py"), NONE),
    ((*BASH, "torchrun --nnodes=2 a.py; torchrun --nnodes=2 b.py"), NONE),
    ((*BASH, "for i in 1 2; do torchrun --nnodes=2 a.py; done\nfor i in 1\ndo x\ndone"), NONE),
    ((*BASH, "echo 'torchrun --nnodes=4'"), NONE),
    (("bash", "-c", "torchrun", "--nnodes=4", "train.py"), NONE),  # the words after the script are $0, $1, ...
    (("bash", "train.sh", "--nnodes=4"), NONE),
]
OTHERS: list[tuple[tuple[str, ...], list[int]]] = [
    (("accelerate", "launch", "--num_machines=2", "train.py"), [2]),
    (("accelerate", "launch", "--num_machines", "2", "train.py"), [2]),
    (("accelerate", "launch", "--num-machines=$(PET_NNODES)", "train.py"), [2]),
    (("accelerate", "launch", "--num_processes=16", "train.py"), []),
    (("accelerate", "launch", "train.py", "--num_machines=2"), []),
    (("python", "-m", "accelerate.commands.launch", "--num_machines=2", "train.py"), [2]),
    ((*SH, "accelerate launch --num_machines $WORLD_SIZE --machine_rank $RANK train.py"), [16]),
    ((*SH, "accelerate launch --num_machines ${NODES:-2} train.py"), []),
    ((*SH, "accelerate config default && accelerate launch --num_machines 2 train.py"), []),
    (("deepspeed", "--num_nodes=2", "--num_gpus=8", "train.py"), [2]),
    (("deepspeed", "--hostfile=/etc/mpi/hostfile", "--num_nodes", "2", "train.py"), [2]),
    (("deepspeed", "--num_gpus=8", "train.py"), []),
    ((*SH, "deepspeed --num_nodes=$PET_NNODES train.py --deepspeed_config ds.json"), [2]),
    ((*SH, "ds_report; deepspeed --num_nodes 2 train.py"), [2]),
]


@pytest.mark.parametrize(("command", "expected"), TORCH, ids=[" ".join(command) for command, _ in TORCH])
def test_the_flags_of_torchrun(command: tuple[str, ...], expected: dict[str, str]) -> None:
    found = torchrun_flags.flags(runs({"command": [*command]}, TORCHRUN, OPERATOR.get)[1:])
    assert dict(found.keys()) == expected


@pytest.mark.parametrize(("command", "expected"), OTHERS, ids=[" ".join(command) for command, _ in OTHERS])
def test_the_number_of_nodes_of_other_launchers(command: tuple[str, ...], expected: list[int]) -> None:
    assert [value for _, value, _ in literal_node_count.flags({"command": [*command]}, OPERATOR.get)] == expected


def test_a_word_of_a_script_has_its_own_place() -> None:
    text = "cd /src && torchrun --nnodes=$WORLD_SIZE train.py"
    _, flag, _ = runs({"command": ["sh", "-c", text]}, TORCHRUN, OPERATOR.get)
    assert flag.part is not None
    assert (flag.text, text[slice(*flag.part)]) == ("--nnodes=16", "--nnodes=$WORLD_SIZE")


ADDRESS = {"MASTER_ADDR": "j-node-0-0.j"}


def plain_runtime(*, label: str = "torch", trainer: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a runtime without a policy whose job `node` has these fields in its container."""
    labels = {"trainer.kubeflow.org/framework": label} if label else {}
    return runtime_of(replicated(clean_container(**fields)), policy={}, labels=labels)


def trained(nodes: int, variables: dict[str, str], *command: str, **fields: Any) -> tuple[Any, Any]:
    """Return a TrainJob with so many nodes, variables and a command, of a runtime without a policy."""
    return plain_runtime(), trainjob(
        numNodes=nodes, env=env(**variables), command=list(command or ("train",)), **fields
    )


def two_roles(config: str, *, workers: int = 2) -> tuple[Any, Any]:
    """Return a chief and workers with the same TF_CONFIG, and no policy."""
    jobs = [replicated(clean_container(env=env(TF_CONFIG=config)), name=name) for name in ("chief", "worker")]
    jobs[0]["template"]["metadata"] = jobs[1]["template"]["metadata"] = {}
    jobs[1]["replicas"] = workers
    return runtime_of(*jobs, policy={}, labels={"trainer.kubeflow.org/framework": "tensorflow"}), trainjob()


def without_names() -> tuple[Any, Any]:
    """Return two nodes that look up the first one, without a policy, in a JobSet whose pods have no host names."""
    container = clean_container(env=env(**ADDRESS))
    labels = {"trainer.kubeflow.org/framework": "torch"}
    runtime = runtime_of(replicated(container), policy={}, of_jobset=NO_NAMES, labels=labels)
    return runtime, trainjob(numNodes=2)


def elastic(least: int, most: int) -> dict[str, Any]:
    """Return a PyTorchJob with two workers and an elastic policy."""
    job = pytorchjob()
    job["spec"]["elasticPolicy"] = {"minReplicas": least, "maxReplicas": most}
    return job


CLUSTER = '{"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"index": $(JOB_COMPLETION_INDEX)}}'
COUNTS = [
    fires("literal-node-count", *trained(8, {"WORLD_SIZE": "4"}), id="fewer processes than nodes"),
    fires("literal-node-count", *trained(2, {"WORLD_SIZE": "4"}), id="twice as many processes on CPUs"),
    fires("literal-node-count", *trained(1, {"WORLD_SIZE": "4", **ADDRESS}), id="one node that waits for others"),
    fires("literal-node-count", *trained(8, {"PET_NNODES": "4"}), id="nodes of torchrun"),
    fires("literal-node-count", *trained(8, {"PET_NNODES": "2:4"}), id="a range of nodes"),
    fires("literal-node-count", *trained(2, {"PADDLE_NNODES": "4"}), id="nodes of Paddle"),
    fires(
        "literal-node-count", *trained(4, {}, "accelerate", "launch", "--num_machines=2", "train.py"), id="accelerate"
    ),
    fires("literal-node-count", *trained(4, {}, "sh", "-c", "deepspeed --num_nodes 2 train.py"), id="deepspeed"),
    fires("literal-node-count", *two_roles(CLUSTER, workers=3), id="hosts of TensorFlow"),
    silent(
        "literal-node-count", *trained(4, {"WORLD_SIZE": "4", "PET_NNODES": "4", "NNODES": "1:8"}), id="the same number"
    ),
    silent(
        "literal-node-count", *trained(2, {"WORLD_SIZE": "16", "PET_NPROC_PER_NODE": "8"}), id="processes of torchrun"
    ),
    silent("literal-node-count", *trained(2, {"WORLD_SIZE": "4"}, resourcesPerNode=GPUS), id="one process per GPU"),
    silent("literal-node-count", *trained(1, {"WORLD_SIZE": "4"}), id="one node that starts its processes"),
    silent("literal-node-count", *trained(2, {"WORLD_SIZE": "$(SIZE)", "NNODES": "auto"}), id="unknown"),
    silent("literal-node-count", *trained(2, {"EPOCHS": "4", "WORLD": "4"}), id="other variables"),
    silent("literal-node-count", *two_roles(CLUSTER), id="as many hosts as pods"),
    silent("literal-node-count", *two_roles('{"cluster": {"worker": "b:1"}}'), id="no cluster"),
    silent("literal-node-count", *two_roles("not JSON"), id="not JSON"),
]
REFERENCES = [
    fires("env-not-expanded", *trained(2, {}, "train", "--rank=$(RANK)"), id="nothing sets it"),
    fires("env-not-expanded", *trained(2, {"STEPS": "1"}, "train", "--steps=$(STEP)"), id="a similar name"),
    fires("env-not-expanded", *trained(2, {}, "train", "--host=$(hostname)"), id="a command without a shell"),
    fires("env-not-expanded", *trained(2, {}, "sh", "-c", "train --rank=$(RANK)"), id="in a script"),
    fires("env-not-expanded", runtime_of(), trainjob(command=["train", "--a=$(MASTER_ADDR)"]), id="with a policy"),
    fires("env-not-expanded", runtime_of(), trainjob(args=["--world=$(WORLD_SIZE)"]), id="arguments of an image"),
    silent("env-not-expanded", *trained(2, {"STEPS": "1"}, "train", "--steps=$(STEPS)"), id="a variable"),
    silent("env-not-expanded", *trained(2, {}, "train", "--rank=$(JOB_COMPLETION_INDEX)"), id="of the Job controller"),
    silent("env-not-expanded", *trained(2, {}, "train", "--rank=$$(RANK)"), id="escaped"),
    silent("env-not-expanded", *trained(2, {}, "train", "$(DB_SERVICE_HOST)", "$(AWS_REGION)"), id="of others"),
    silent("env-not-expanded", *trained(2, {}, "train", "${x}", "$(a b)", "$(params.x)"), id="no names"),
    silent("env-not-expanded", *trained(2, {}, "sh", "-c", "train --host=$(hostname)"), id="a command of a shell"),
    silent("env-not-expanded", *trained(2, {}, "sh", "-c", "RANKS() { echo 1; }\ntrain $(RANKS)"), id="a function"),
    silent("env-not-expanded", *trained(2, {}, "sh", "-c", "# $(RANK)\ntrain"), id="a comment"),
    silent(
        "env-not-expanded",
        plain_runtime(envFrom=[{"configMapRef": {"name": "c"}}]),
        trainjob(command=["train", "--rank=$(RANK)"]),
        id="from a ConfigMap",
    ),
]
FLAGS = [
    fires("rendezvous-host", *without_names(), id="without a policy"),
    fires("torchrun-flags", *trained(2, {"N": "4"}, "sh", "-c", "torchrun --nnodes=$N t.py"), id="in a shell"),
    fires("torchrun-flags", *trained(2, {"N": "4"}, "torchrun", "--nnodes=$(N)", "t.py"), id="without a shell"),
    fires("torchrun-flags", *trained(2, {}, "torchrun", "--rdzv-endpoint=localhost:1", "t.py"), id="the loopback"),
    silent("torchrun-flags", *trained(2, {"N": "2"}, "torchrun", "--nnodes=$(N)", "t.py"), id="the right number"),
]


@pytest.mark.parametrize(("documents", "rules"), [*COUNTS, *REFERENCES, *FLAGS])
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    found = [
        each for each in warnings(tmp_path, *documents) if each.id in (*rules, "literal-node-count", "torchrun-flags")
    ]
    assert [each.id for each in found] == rules
    assert not rules or texts(found) == snapshot


@pytest.mark.parametrize(("least", "expected"), [(3, ["literal-node-count"]), (1, [])])
def test_the_range_of_an_elastic_policy(tmp_path: Path, least: int, expected: list[str]) -> None:
    found = warnings(tmp_path, elastic(least, 4), options=Options(legacy=True))
    assert [each.id for each in found] == expected
    for each in found:
        assert each.message == "elasticPolicy allows 3 to 4 nodes, but the PyTorchJob has 2 nodes"
        assert each.help == "change minReplicas and maxReplicas, or change replicas"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({"PET_NNODES": "2", **ADDRESS}, ["no-gang"], id="a fixed number of nodes"),
        pytest.param({"PET_NNODES": "2:4", **ADDRESS}, ["no-gang"], id="two of four nodes"),
        pytest.param({"PET_NNODES": "1:4", **ADDRESS}, [], id="one of four nodes"),
        pytest.param({"PET_NNODES": "2"}, [], id="no address of a rendezvous"),
    ],
)
def test_pods_that_wait_for_one_another(tmp_path: Path, variables: dict[str, str], expected: list[str]) -> None:
    """A runtime without a policy has the rules of the framework in its label."""
    found = warnings(tmp_path, *trained(2, variables), purpose=VALIDATE)
    assert [each.id for each in found if each.id == "no-gang"] == expected


def test_a_faulty_number_of_nodes_is_compared_with_nothing() -> None:
    """Its repair is a number of nodes that the user did not write."""
    pods, job = trained(2, {"WORLD_SIZE": "4"}, "torchrun", "--nnodes=4", "t.py")
    job["spec"]["trainer"]["numNodes"] = "two"
    report = json.loads(
        run("validate", "--format", "json", "-", stdin="\n---\n".join(map(json.dumps, (pods, job))).encode()).out
    )
    assert [each["id"] for each in report if each["severity"] == "error"] == ["wrong-type"]
    assert {each["id"] for each in report}.isdisjoint({"literal-node-count", "torchrun-flags"})
