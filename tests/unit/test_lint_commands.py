"""Lint rules for commands, images of MPI nodes, and resources: inputs with and without findings, and their places."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from linting import GPUS, MPI, ONE_GPU, env, fires, host, replicated, runtime_of, silent, trainjob, warnings
from manifests import ANCESTOR, write_json
from running import run
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.diagnostics import Location
from trainc.pipeline.lint.triggers import resource_rules

TOKEN = "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"


def on_gpus(*command: str, **trainer: Any) -> tuple[Any, Any]:
    """Return pods with 8 GPUs that run a command."""
    pods, _ = host()
    return pods, trainjob(command=list(command), **trainer)


def two_nodes(*command: str) -> tuple[Any, Any]:
    """Return two nodes with four processes each, and no GPUs."""
    return runtime_of(), trainjob(numNodes=2, numProcPerNode=4, command=list(command))


def mpi(*, image: Any = "other:2", label: Any = None) -> tuple[Any, Any]:
    """Return an MPI runtime whose launcher is the trainer, and a TrainJob with an image."""
    launcher, node = replicated(name="launcher"), replicated()
    launcher["template"]["metadata"] = {"labels": ANCESTOR}
    node["template"]["metadata"] = {"labels": label or {}}
    return runtime_of(launcher, node, policy=MPI), trainjob(**({"image": image} if image else {}))


@pytest.mark.parametrize(("amount", "expected"), [("9999999", ["memory-unit"]), ("10000000", [])])
def test_a_longer_number_of_bytes_is_not_examined(amount: str, expected: list[str]) -> None:
    assert list(resource_rules({"requests": {"memory": amount}})) == expected


def with_resource(kind: str, name: str, amount: Any = 1) -> tuple[Any, Any]:
    return runtime_of(), trainjob(resourcesPerNode={kind: {name: amount}})


RESOURCES = [
    *(
        fires("resource-typo", *with_resource("limits", name), id=name)
        for name in ("nvidia.com/gpus", "nvidia.com/GPU", "amd.com/gpus", "nvida.com/gpu", "habana.ai/guadi")
    ),
    *(
        silent("resource-typo", *with_resource("limits", name), id=name)
        for name in (
            *("amd.com/gpu", "nvidia.com/vgpu", "nvidia.com/mig-1g.5gb", "huawei.com/Ascend710", "acme.io/gpu"),
            *("habana.ai/gaudi2", "x" * 60 + ".io/gpu"),
        )
    ),
    *(
        fires("memory-unit", *with_resource("requests", "memory", amount), id=str(amount))
        for amount in ("64m", "512", 4096, "512Ki", "900k", "1048575")
    ),
    *(
        silent("memory-unit", *with_resource("requests", "memory", amount), id=str(amount))
        for amount in ("64M", "1Mi", "0", "8589934592", "128974848000m", "1048576")
    ),
]
TORCHRUN = [
    *(
        fires("torchrun-flags", *two_nodes("torchrun", *flags, "train.py"), id=" ".join(flags))
        for flags in (
            ["--nnodes=4"],
            ["--nnodes", "4"],
            ["--nnodes=3:4"],
            ["--nproc_per_node=8"],
            ["--nproc-per-node", "2"],
            ["--master_addr=localhost"],
            ["--master-addr", "127.0.0.1"],
            ["--master_addr=10.0.0.7"],
            ["--master_addr=old-master-0"],
            ["--master_addr=other-node-0-0.other"],
            ["--node_rank=0"],
            ["--standalone"],
            ["--rdzv-backend=c10d", "--rdzv_endpoint=localhost:29400"],
            ["--tee", "3", "--nnodes=1"],
            ["--nnodes=2", "--nnodes=1"],
            ["--new-flag=1", "--nnodes=1"],
        )
    ),
    *(
        silent("torchrun-flags", *two_nodes("torchrun", *flags), id=" ".join(flags))
        for flags in (
            ["--nnodes=2", "--nproc-per-node=4", "train.py"],
            ["--nnodes=1:4", "train.py"],
            ["--nnodes=1:$(MAX)", "train.py"],
            ["--nnodes=1:auto", "train.py"],
            ["--nnodes=auto:1", "train.py"],
            ["--nnodes=3:", "train.py"],
            ["--nnodes=1:²", "train.py"],
            ["--nnodes=3:9999999999", "train.py"],
            ["--nnodes=4", "--nnodes=2", "train.py"],
            ["--nnodes=$(PET_NNODES)", "--node-rank=$(JOB_COMPLETION_INDEX)", "train.py"],
            ["--nproc-per-node=gpu", "train.py"],
            ["--master-addr=j-node-0-0.j", "train.py"],
            ["--master-addr=j-node-0-0.j.ml.svc.cluster.local", "train.py"],
            ["--master-addr=rendezvous.ml.svc", "train.py"],
            ["--master-port=29400", "train.py"],
            ["--rdzv-endpoint=etcd:2379", "train.py"],
            ["train.py", "--nnodes=4", "--master_addr=localhost"],
            ["-m", "train", "--nnodes=2", "--node-rank", "x"],
            ["--", "train.py", "--nnodes=4"],
            ["--new-flag", "1", "--nnodes=4", "train.py"],
        )
    ),
    silent(
        "torchrun-flags",
        runtime_of(),
        trainjob(command=["torchrun", "--standalone", "--master_addr=localhost", "--node-rank=0", "train.py"]),
        id="one node",
    ),
    silent(
        "torchrun-flags", runtime_of(), trainjob(command=["torchrun", "--nproc-per-node=2", "train.py"]), id="on CPUs"
    ),
    fires("torchrun-flags", *on_gpus("torchrun", "--nproc-per-node=4", "train.py"), id="fewer than the GPUs"),
    silent("torchrun-flags", *on_gpus("torchrun", "--nproc-per-node=8", "train.py"), id="one per GPU"),
    silent("torchrun-flags", *on_gpus("torchrun", "--nproc-per-node=1", "train.py"), id="one for all GPUs"),
    fires(
        "torchrun-flags",
        runtime_of(),
        trainjob(command=["python3", "-m", "torch.distributed.run", "--nnodes=2", "train.py"]),
        id="as a module",
    ),
    silent(
        "torchrun-flags",
        runtime_of(policy={"jax": {}}),
        trainjob(command=["torchrun", "--nnodes=4", "train.py"]),
        id="another framework",
    ),
    silent("torchrun-flags", runtime_of(), trainjob(args=["torchrun", "--nnodes=4", "train.py"]), id="unknown program"),
    fires(
        "torchrun-flags",
        runtime_of(policy={"torch": {"elasticPolicy": {"minNodes": 2, "maxNodes": 4}}}),
        trainjob(numNodes=2, command=["torchrun", "--nnodes=1", "train.py"]),
        id="elastic",
    ),
    *(
        fires("torchrun-flags", runtime_of(), trainjob(numNodes=2, command=["bash", "-c", text]), id=repr(text))
        for text in (
            "torchrun --nnodes=4 train.py",
            "pip install x && torchrun --nnodes=4 train.py",
            "A=1 exec /opt/bin/torchrun --nnodes=4 train.py",
            "cd /src; torchrun \\\n  --tee 3 \\\n  --nnodes '4' train.py",
        )
    ),
    *(
        silent("torchrun-flags", runtime_of(), trainjob(numNodes=2, command=["bash", "-c", text]), id=repr(text))
        for text in (
            "torchrun --nnodes=2 train.py",
            "torchrun --nnodes=$N train.py",
            "torchrun train.py --nnodes=4",
            "echo torchrun --nnodes=4 train.py",
            'echo "a; torchrun --nnodes=4 train.py"',
            "# torchrun --nnodes=4 train.py",
            "torchrun train.py; echo --nnodes=4",
            "if test $N = 4\nthen\ntorchrun --nnodes=4 train.py\nfi",
            "torchrun --nnodes=4 a.py || torchrun b.py",
            "torchrun-wrapper --nnodes=4",
        )
    ),
    silent("torchrun-flags", runtime_of(), trainjob(numNodes=2, command=["bash", "torchrun --nnodes=4"]), id="a file"),
]
PROCESSES = [
    fires("one-process", *on_gpus("python", "train.py"), id="python"),
    fires("one-process", *on_gpus("/usr/bin/python3.11", "-u", "train.py", "--lr=1"), id="a path and a flag"),
    fires("one-process", *on_gpus("python3", "-c", "import torch; print(1)"), id="a program text"),
    *(
        silent("one-process", *on_gpus(*command), id=" ".join(command))
        for command in (
            ["torchrun", "train.py"],
            ["python", "-m", "torch.distributed.run", "train.py"],
            ["python", "-m", "accelerate.commands.launch", "train.py"],
            ["python", "-c", "import torch.multiprocessing as mp; mp.spawn(main)"],
            ["python", "train_lightning.py"],
            ["python", "--version"],
            ["python"],
            ["bash", "-c", "python train.py"],
        )
    ),
    silent("one-process", runtime_of(), trainjob(resourcesPerNode=ONE_GPU, command=["python", "a.py"]), id="one GPU"),
    silent("one-process", runtime_of(), trainjob(command=["python", "a.py"], numProcPerNode=4), id="no GPU"),
    silent("one-process", *on_gpus("python", "a.py", numProcPerNode=1), id="one process is planned"),
    silent(
        "one-process",
        runtime_of(policy={"jax": {}}),
        trainjob(resourcesPerNode=GPUS, command=["python", "a.py"]),
        id="another framework",
    ),
    fires("mpi-image", *mpi(), id="two images"),
    silent("mpi-image", *mpi(image="i:1"), id="the same image"),
    silent("mpi-image", *mpi(image=None), id="the runtime's image"),
    silent("mpi-image", *mpi(label=ANCESTOR), id="both jobs are trainers"),
]
SHELL = [
    *(
        fires("shell-words", runtime_of(), trainjob(command=command), id=" ".join(command))
        for command in (
            ["cd", "/src", "&&", "train"],
            ["train", "--rank", "$RANK"],
            ["train", "--out=${HOME}/x"],
            ["train", ">", "log"],
            ["train", "|", "tee", "log"],
            ["train", "2>&1"],
        )
    ),
    fires("shell-words", runtime_of(), trainjob(command=["train"], args=["--rank=$RANK"]), id="in args"),
    *(
        silent("shell-words", runtime_of(), trainjob(command=command), id=" ".join(command))
        for command in (
            ["bash", "-c", "cd /src && train $RANK"],
            ["/bin/sh", "-c", "train > log"],
            ["tini", "--", "bash", "-c", "train $RANK"],
            ["train", "--rank=$(RANK)"],
            ["train", "--cost=$5", "--escaped=$$HOME"],
            ["train", "out=${oc.env:HOME}", "dir=${now}"],
            ["python", "-c", "print('$RANK')"],
            ["awk", "{print $NF}"],
            ["expr", "1", ">", "0"],
            ["train", "a&&b", "a|b", "->"],
        )
    ),
    silent("shell-words", runtime_of(), trainjob(args=["&&", "$RANK"]), id="the image's program"),
]
SECRETS = [
    *(
        fires("secret-in-command", runtime_of(), trainjob(command=["train", *args]), id=" ".join(args)[:30])
        for args in (
            ["--api-key=a8f3kk20x1"],
            ["--api-key", "a8f3kk20x1"],
            [TOKEN],
            ["--repo=https://git:p4ssw0rd@example.org/x.git"],
            ["-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"],
            ["-c", "export WANDB_API_KEY=0f9c1e7a55d24b8f; train"],
            ["-c", "curl postgres://u:hunter2@db:5432/x"],
        )
    ),
    *(
        silent("secret-in-command", runtime_of(), trainjob(command=["train", *args]), id=" ".join(args)[:40])
        for args in (
            ["--api-key=$(API_KEY)"],
            ["--api-key", "$(API_KEY)"],
            ["--api-key=EMPTY"],
            ["--api-key=<your-key-1>"],
            ["--token-file=/run/secrets/token1"],
            ["--max-tokens=131072"],
            ["--pad-token", "extra_id_0"],
            ["--tokenizer=llama31tokenizer8b"],
            ["-c", "token = os.environ['HF_TOKEN_2']; login(token=get_token2(x))"],
            ["--repo=https://git@example.org/x.git"],
            ["--repo=https://git:$(PASSWORD)@example.org/x.git"],
            ["--repo=https://user:{password}@example.org/x.git"],
            ["abfss://data@account.dfs.core.windows.net/x"],
            ["image@sha256:" + "0a" * 32],
            ["hf_transfer", "sk-learn-pipeline-of-the-whole-team-2024"],
        )
    ),
    fires("secret-in-env", runtime_of(), trainjob(env=env(DATABASE="postgres://u:hunter2@db/x")), id="in a URI"),
    fires("secret-in-env", runtime_of(), trainjob(env=env(NOTE=TOKEN)), id="by its form"),
    silent(
        "secret-in-env", runtime_of(), trainjob(env=env(DATABASE="postgres://u@db/x", PROXY="http://a:80")), id="none"
    ),
]


@pytest.mark.parametrize(("documents", "rules"), [*RESOURCES, *TORCHRUN, *PROCESSES, *SHELL, *SECRETS])
def test_a_rule(tmp_path: Path, documents: tuple[Any, ...], rules: list[str], snapshot: SnapshotAssertion) -> None:
    beside = {"no-shared-memory", "runtime-request-stays", "env-not-expanded"}
    found = [d for d in warnings(tmp_path, *documents) if d.id not in beside]
    assert [d.id for d in found] == rules
    assert not rules or texts(found) == snapshot


HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: j}\nspec:\n"
BLOCK = (
    HEAD
    + """\
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    command: [bash, -c]
    args:
    - |
      set -e
      torchrun \\
        --nnodes=4 train.py
"""
)
FLOW = HEAD + """  runtimeRef: {name: torch-distributed}\n  trainer: {command: [a, "--x=$B"]}\n"""
ESCAPED = (
    HEAD + """  runtimeRef: {name: torch-distributed}\n  trainer: {command: [a, "-c", "x\\ny://u:\\x68unter2@h"]}\n"""
)
NAME = (
    HEAD
    + """  runtimeRef: {name: torch-distributed}\n  trainer: {resourcesPerNode: {limits: {nvidia.com/gpus: 1}}}\n"""
)


@pytest.mark.parametrize(
    ("text", "rule", "begin", "end"),
    [
        pytest.param(BLOCK, "torchrun-flags", (13, 9), (13, 19), id="a flag in a block"),
        pytest.param(FLOW, "shell-words", (6, 31), (6, 33), id="a variable in a word"),
        pytest.param(ESCAPED, "secret-in-command", (6, 42), (6, 52), id="behind escapes"),
        pytest.param(NAME, "resource-typo", (6, 41), (6, 56), id="a name"),
    ],
)
def test_a_caret(tmp_path: Path, text: str, rule: str, begin: tuple[int, int], end: tuple[int, int]) -> None:
    import trainc

    (tmp_path / "x.yaml").write_text(text)
    done = trainc.compile([str(tmp_path / "x.yaml")])
    (found,) = [d.locate() for d in done.diagnostics if d.id == rule]
    assert isinstance(found, Location)
    assert ((found.line, found.column), (found.end_line, found.end_column)) == (begin, end)


@pytest.mark.parametrize(
    "secret",
    [f"--x={TOKEN}", "--api-key=a8f3kk20x1", "s://u:a8f3kk20x1@h", "-----BEGIN PRIVATE KEY-----a8f3kk20x1-----"],
)
@pytest.mark.parametrize("field", ["command", "env"])
def test_a_secret_is_never_shown(tmp_path: Path, secret: str, field: str) -> None:
    fields = {"command": ["train", secret]} if field == "command" else {"env": env(API_KEY=secret)}
    path = write_json(tmp_path, runtime_of(), trainjob(**fields))
    for form in ("text", "json"):
        printed = run("validate", path, "--format", form).out
        assert f"secret-in-{field}" in printed
        assert "a8f3kk20x1" not in printed
        assert TOKEN not in printed


@pytest.mark.parametrize(
    "unit",
    ["torchrun --nnodes=4 ", "torchrun;", "://a:", "x://a:b@", "-eyJ", "eyJaaaaaaaaaa.", "--token=", "$A", "\\\n", "'",
     "-----BEGIN PRIVATE KEY-----", "A=1 ", "if ", "${A"],
)  # fmt: skip
def test_a_long_command_is_read_in_linear_time(tmp_path: Path, unit: str) -> None:
    text = unit * (100_000 // len(unit)) + "@ torchrun --nnodes=4 x hf_ $A .eyJ"
    begin = time.perf_counter()
    warnings(
        tmp_path, runtime_of(), trainjob(numNodes=2, command=["bash", "-c", text], args=["--api-key=1", text[:9999]])
    )
    assert time.perf_counter() - begin < 5
