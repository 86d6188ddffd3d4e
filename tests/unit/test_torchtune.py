"""Torchtune: the recipe and the configuration, the arguments that the command keeps, and rejected jobs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, pods_of, replicated_job, trainer_job

import trainc

TUNE_RUN = ["tune", "run"]
LORA = ["model.lora_attn_modules=[q_proj]"]
QLORA = [*LORA, "model.quantize_base=True"]
RENDEZVOUS = "--rdzv_endpoint=j-node-0-0.j:29500"


def gpus(count: int) -> dict[str, Any]:
    return {"limits": {"nvidia.com/gpu": count}}


def tuned(
    tmp_path: Path,
    trainer: dict[str, Any],
    *jobs: dict[str, Any],
    name: str = "torchtune-llama3.2-1b",
    policy: Any = None,
    **jobset: Any,
) -> trainc.Result:
    of_job, policy = {"command": TUNE_RUN, **trainer}, policy or {"torch": {}}
    return compiled(tmp_path, jobs or replicated_job(), of_job, name=name, jobset=jobset, mlPolicy=policy)


def nodes(compilation: trainc.Result) -> list[dict[str, Any]]:
    """Return the first container of every job."""
    assert [d.message for d in compilation.diagnostics if d.severity == "error"] == []
    return [pod["containers"][0] for pod in pods_of(compilation).values()]


def ids(compilation: trainc.Result) -> list[tuple[str, str]]:
    return [(d.id, d.field) for d in compilation.diagnostics]


@pytest.mark.parametrize(
    ("trainer", "rendezvous", "recipe", "config"),
    [
        pytest.param(gpus(1), False, "full_finetune_single_device", "_full_single_device", id="one GPU"),
        pytest.param(gpus(2), True, "full_finetune_distributed", "_full", id="two GPUs"),
        pytest.param({}, False, "full_finetune_single_device", "_full_single_device", id="one CPU"),
        pytest.param({"requests": {"cpu": 2}}, True, "full_finetune_distributed", "_full", id="two CPUs"),
    ],
)
def test_devices(tmp_path: Path, trainer: dict[str, Any], rendezvous: bool, recipe: str, config: str) -> None:
    expected = [*TUNE_RUN, *([RENDEZVOUS] if rendezvous else []), recipe, "--config", f"llama3_2/1B{config}"]
    assert nodes(tuned(tmp_path, {"resourcesPerNode": trainer}))[0]["command"] == expected
    assert nodes(tuned(tmp_path, {}, trainer_job("node", resources=trainer)))[0]["command"] == expected


@pytest.mark.parametrize(
    ("processes", "count", "rendezvous", "config"),
    [
        pytest.param(1, 2, False, "_full_single_device", id="one process on two GPUs"),
        pytest.param(4, 1, True, "_full_single_device", id="four on one"),
        pytest.param(2, 0, True, "_full", id="two on none"),
        pytest.param(0, 2, False, "_full", id="none on two"),
    ],
)
def test_processes(tmp_path: Path, processes: int, count: int, rendezvous: bool, config: str) -> None:
    command = nodes(tuned(tmp_path, {"numProcPerNode": processes, "resourcesPerNode": gpus(count)}))[0]["command"]
    assert (RENDEZVOUS in command, command[-1]) == (rendezvous, f"llama3_2/1B{config}")


@pytest.mark.parametrize(
    ("args", "one_device", "distributed"),
    [
        pytest.param(["epochs=2"], "_full_single_device", "_full", id="full"),
        pytest.param(LORA, "_lora_single_device", "_lora", id="LoRA"),
        pytest.param(["x model.lora_attn_modules"], "_lora_single_device", "_lora", id="LoRA, anywhere in an argument"),
        pytest.param(["model.lora_rank=8"], "_full_single_device", "_full", id="LoRA's other settings say nothing"),
        pytest.param(QLORA, "_qlora_single_device", "_qlora", id="QLoRA"),
        pytest.param(["model.quantize_base=True"], "_qlora_single_device", "_qlora", id="QLoRA by the quantized base"),
        pytest.param(["my.model.quantize_base= tRUE "], "_qlora_single_device", "_qlora", id="in any key and case"),
        pytest.param([*LORA, "model.quantize_base=1"], "_lora_single_device", "_lora", id="1 is not true"),
        pytest.param([*LORA, "model.quantize_base"], "_lora_single_device", "_lora", id="nor is nothing"),
        pytest.param([*QLORA, "model.use_dora=True"], "_lora_single_device", "_lora", id="DoRA"),
        pytest.param(
            ["model.quantize_base=True", "model.use_dora=True"], "_full_single_device", "_full", id="DoRA of nothing"
        ),
        pytest.param([*QLORA, "model.use_dora=False"], "_qlora_single_device", "_qlora", id="no DoRA"),
    ],
)
def test_methods(tmp_path: Path, args: list[str], one_device: str, distributed: str) -> None:
    for count, config in ((1, one_device), (8, distributed)):
        trainer = {"args": args, "resourcesPerNode": gpus(count)}
        (node,) = nodes(tuned(tmp_path, trainer, name="torchtune-llama3.3-70b"))
        recipe = "full_finetune" if "full" in config else "lora_finetune"
        assert node["command"][-3:] == [
            f"{recipe}_{'single_device' if count == 1 else 'distributed'}",
            "--config",
            f"llama3_3/70B{config}",
        ]
        assert node["args"] == args


@pytest.mark.parametrize(
    ("of_job", "of_runtime", "config"),
    [
        pytest.param({"numNodes": 4}, 1, "_full_multinode", id="the TrainJob's"),
        pytest.param({}, 2, "_full_multinode", id="the runtime's"),
        pytest.param({"numNodes": 1}, 2, "_full", id="the TrainJob's first"),
        pytest.param({"numNodes": 0}, 2, "_full", id="none"),
    ],
)
def test_nodes(tmp_path: Path, of_job: dict[str, Any], of_runtime: int, config: str) -> None:
    trainer = {"resourcesPerNode": gpus(8), **of_job}
    policy = {"torch": {}, "numNodes": of_runtime}
    (node,) = nodes(tuned(tmp_path, trainer, name="torchtune-llama3.3-70b", policy=policy))
    assert node["command"][2:] == [RENDEZVOUS, "full_finetune_distributed", "--config", f"llama3_3/70B{config}"]


@pytest.mark.parametrize(
    ("name", "model"),
    [
        pytest.param("torchtune-llama3.2-1b", "llama3_2/1B", id="1B"),
        pytest.param("torchtune-llama3.2-3b", "llama3_2/3B", id="3B"),
        pytest.param("torchtune-qwen2.5-1.5b", "qwen2_5/1.5B", id="a point in the size"),
        pytest.param("acme-llama3.2-1b", "llama3_2/1B", id="the first word is anybody's"),
        pytest.param("torchtune-llama3.2", None, id="two words"),
        pytest.param("team-torchtune-llama3.2-1b", None, id="four words"),
        pytest.param("torchtune-gemma2-2b", None, id="another model"),
        pytest.param("torchtune-llama3-2-1b", None, id="a dash in the family"),
    ],
)
def test_models(tmp_path: Path, name: str, model: str | None) -> None:
    compilation = tuned(tmp_path, {"resourcesPerNode": gpus(2)}, name=name)
    if model is None:
        assert ids(compilation) == [("torchtune-model", "spec.runtimeRef.name")]
    else:
        assert nodes(compilation)[0]["command"][-1] == f"{model}_full"


def test_the_words_of_the_runtime_that_are_its_own_to_say(tmp_path: Path) -> None:
    command = ["tune", "run", "output_dir=/o", "dataset.source=x", "tokenizer.path=/t=1", "my.output_dir=/p"]
    jobs = [
        trainer_job("node", command=[*command, "tokenizer.merges_file"]),
        trainer_job("more", command=["checkpointer.checkpoint_dir=/c"], args=["output_dir=/args"]),
        replicated_job("other", {"command": ["output_dir=/other"]}),
    ]
    first, second, other = nodes(tuned(tmp_path, {}, *jobs))
    assert first["command"][5:] == [
        "output_dir=/o",
        "tokenizer.path=/t=1",
        "tokenizer.merges_file",
        "checkpointer.checkpoint_dir=/c",
    ]
    assert second["command"] == first["command"]
    assert other["command"] == ["output_dir=/other"]


def test_the_endpoint_follows_the_names(tmp_path: Path) -> None:
    trainer = {"resourcesPerNode": gpus(2)}
    (node,) = nodes(tuned(tmp_path, trainer, trainer_job("work"), network={"subdomain": "s"}))
    assert node["command"][2] == "--rdzv_endpoint=j-work-0-0.s:29500"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["tune", "run", "mine.py"], id="a word more"),
        pytest.param(["tune"], id="a word less"),
        pytest.param(["tune", "ls"], id="another word"),
        pytest.param(["/usr/bin/tune", "run"], id="another tune"),
    ],
)
def test_another_command_is_torchs(tmp_path: Path, command: list[str]) -> None:
    (node,) = nodes(tuned(tmp_path, {"command": command, "args": ["output_dir=/x"]}, name="any-name"))
    assert node["command"] == command
    assert "PET_MASTER_ADDR" in {variable["name"] for variable in node["env"]}


def test_variables(tmp_path: Path) -> None:
    trainer = {"env": [{"name": "A", "value": "1"}]}
    own = trainer_job("node", env=[{"name": "PET_MASTER_PORT", "value": "1"}])
    own["template"]["spec"]["template"]["spec"]["initContainers"] = [{"name": "check", "image": "i:1"}]
    injection = {"targets": [{"jobName": "node", "containerNames": ["check"]}]}
    compilation = tuned(tmp_path, trainer, own, policy={"torch": {"envInjection": injection}})
    (node,) = nodes(compilation)
    names = [variable["name"] for variable in node["env"]]
    assert names == ["PET_MASTER_PORT", "A", "PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK"]
    assert node["env"][0]["value"] == "1"
    assert node["ports"] == [{"containerPort": 29500, "protocol": "TCP"}]
    pod = compilation.objects[0]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert [variable["name"] for variable in pod["initContainers"][0]["env"]] == [
        "PET_NNODES",
        "PET_NPROC_PER_NODE",
        "PET_NODE_RANK",
        "PET_MASTER_ADDR",
        "PET_MASTER_PORT",
    ]


NODES, MODEL = "spec.trainer.numNodes", "spec.runtimeRef.name"
TOO_MANY_DEVICES = [
    ("torchtune-qlora", "spec.trainer.numProcPerNode"),
    ("torchtune-qlora", "spec.trainer.resourcesPerNode"),
]


@pytest.mark.parametrize(
    ("name", "trainer", "expected"),
    [
        pytest.param("llama3.2-1b", {"numNodes": 2}, [("torchtune-nodes", NODES)], id="1B on two nodes"),
        pytest.param("llama3.3-70b", {"numNodes": 2}, [], id="70B on two nodes"),
        pytest.param(
            "gemma2-2b", {"numNodes": 2}, [("torchtune-model", MODEL), ("torchtune-nodes", NODES)], id="both at once"
        ),
        pytest.param(
            "llama3.3-70b", {"numNodes": 2, "args": LORA}, [("torchtune-lora-nodes", NODES)], id="LoRA on two nodes"
        ),
        pytest.param(
            "llama3.3-70b",
            {"numNodes": 2, "args": ["model.quantize_base=true"]},
            [("torchtune-lora-nodes", NODES)],
            id="QLoRA on two nodes",
        ),
        pytest.param(
            "llama3.3-70b",
            {"numNodes": 2, "args": ["model.quantize_base=true", "model.use_dora=true"]},
            [],
            id="DoRA of nothing on two nodes",
        ),
        pytest.param("llama3.2-3b", {"args": QLORA}, TOO_MANY_DEVICES, id="QLoRA on two GPUs"),
        pytest.param("llama3.2-3b", {"args": QLORA, "numProcPerNode": 1}, [], id="on one process"),
        pytest.param("llama3.2-3b", {"args": QLORA, "resourcesPerNode": gpus(1)}, [], id="on one GPU"),
        pytest.param("llama3.2-3b", {"args": QLORA, "resourcesPerNode": {}}, TOO_MANY_DEVICES, id="on a CPU"),
        pytest.param("llama3.3-70b", {"args": QLORA}, [], id="70B's QLoRA on two GPUs"),
        pytest.param("qwen2.5-1.5b", {"args": QLORA}, [("torchtune-qlora", MODEL)], id="Qwen's on two GPUs"),
        pytest.param(
            "qwen2.5-1.5b", {"args": QLORA, "numProcPerNode": 1}, [("torchtune-qlora", MODEL)], id="Qwen's on one"
        ),
        pytest.param("qwen2.5-1.5b", {"args": QLORA, "numNodes": 0}, [], id="with no nodes no configuration is needed"),
        pytest.param(
            "llama3.2-1b",
            {"args": ["a=output_dir", "output_dir=/x", "tokenizer.path", "my.output_dir=/y"]},
            [("torchtune-managed", "spec.trainer.args[1]"), ("torchtune-managed", "spec.trainer.args[2]")],
            id="managed keys",
        ),
    ],
)
def test_refused(tmp_path: Path, name: str, trainer: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    compilation = tuned(tmp_path, trainer, trainer_job("node", resources=gpus(2)), name=f"torchtune-{name}")
    assert sorted(found for found in ids(compilation) if found[0] != "node-count") == sorted(expected)


@pytest.mark.parametrize(
    ("name", "trainer", "policy", "config"),
    [
        pytest.param("llama3.2-1b", {}, {"numNodes": 2}, "llama3_2/1B_full_multinode", id="the runtime's two nodes"),
        pytest.param("llama3.2-1b", {"numNodes": 1}, {"numNodes": 2}, None, id="of which the TrainJob takes one"),
        pytest.param("llama3.3-70b", {"numProcPerNode": 1}, {}, "llama3_3/70B_full_single_device", id="70B on one"),
        pytest.param("llama3.3-70b", {}, {}, None, id="70B on eight"),
    ],
)
def test_a_configuration_that_torchtune_does_not_have(
    tmp_path: Path, name: str, trainer: dict[str, Any], policy: dict[str, Any], config: str | None
) -> None:
    name, policy = f"torchtune-{name}", {"torch": {}, **policy}
    compilation = tuned(tmp_path, trainer, trainer_job("node", resources=gpus(8)), name=name, policy=policy)
    assert [(d.id, d.severity) for d in compilation.diagnostics] == (
        [("torchtune-config", "warning")] if config else []
    )
    assert all(f"configuration {config}:" in d.message for d in compilation.diagnostics)
    assert nodes(compilation)


def test_another_torch_job_does_not_load_it() -> None:
    code = "import sys, trainc; assert trainc.compile(sys.argv[1:]).objects; print(*sys.modules)"
    job = Path(__file__).parents[2] / "golden" / "llm-finetune-4x8" / "input.yaml"
    loaded = subprocess.run([sys.executable, "-c", code, str(job)], capture_output=True, text=True, check=True).stdout
    assert [name for name in loaded.split() if name.endswith(("torchrun", "torchtune"))] == [
        "trainc.pipeline.frameworks.torch.torchrun"
    ]
