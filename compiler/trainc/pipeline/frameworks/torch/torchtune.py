"""Torchtune: complete `tune run` with the rendezvous endpoint, a recipe, its configuration and the runtime's settings.

Reads    trainer.command (exactly `[tune, run]`, which the caller ensures), .args, .numNodes, .numProcPerNode,
         .resourcesPerNode; the runtime's name, which names the model; the command of its `node` containers.
Returns  the complete command; checks for the webhook's rules and for configurations that torchtune does not have.
Source   kubeflow/trainer v2.3.0, runtime plugin torch. Available configurations: torchtune v0.6.1 (the version in
         Trainer's image), the registry of recipes. The webhook's limits on nodes and QLoRA cover what that registry
         lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import PROCESSES_FIELD, TrainJobForm
from trainc.diagnostics import Finding
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.pipeline.checks import Check, check
from trainc.pipeline.frameworks.torch.torchrun import PORT, num_proc_per_node, processes
from trainc.pipeline.plan import NODE, Plan, gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW_GPUS: Final = frozenset({"_full_single_device", "_lora_single_device", "_full", "_lora"})
MODELS: Final = {
    "llama3_2/1B": FEW_GPUS | {"_qlora_single_device"},
    "llama3_2/3B": FEW_GPUS | {"_qlora_single_device"},
    "llama3_3/70B": frozenset({"_full", "_lora", "_qlora", "_full_multinode"}),
    "qwen2_5/1.5B": FEW_GPUS,
}
"""The models that Trainer supports, and the configurations of each by name suffix."""


class Recipe(NamedTuple):
    """A torchtune recipe, and the name suffix of the model configuration that it uses."""

    name: str
    config: str


FULL: Final = Recipe("full_finetune_distributed", "_full")
MULTINODE: Final = Recipe("full_finetune_distributed", "_full_multinode")
SINGLE_DEVICE: Final = {
    "full": Recipe("full_finetune_single_device", "_full_single_device"),
    "lora": Recipe("lora_finetune_single_device", "_lora_single_device"),
    "qlora": Recipe("lora_finetune_single_device", "_qlora_single_device"),
}
DISTRIBUTED: Final = {
    "full": FULL,
    "lora": Recipe("lora_finetune_distributed", "_lora"),
    "qlora": Recipe("lora_finetune_distributed", "_qlora"),
}
"""The recipes on one node, by method."""

MANAGED: Final = frozenset({"output_dir", "tokenizer.path", "tokenizer.merges_file", "checkpointer.checkpoint_dir"})
"""The settings that only the runtime can set: the paths of the model and the result."""


def command(plan: Plan) -> tuple[str, ...]:
    """Return the TrainJob's command, completed with the arguments that follow from the runtime."""
    recipe = recipe_of(plan, plan.nodes, processes(plan))
    rendezvous = (f"--rdzv_endpoint={plan.endpoint()}:{PORT}",) if needs_rendezvous(plan) else ()
    return (
        *plan.job.trainer["command"],
        *rendezvous,
        recipe.name,
        "--config",
        model(plan) + recipe.config,
        *managed(plan),
    )


def needs_rendezvous(plan: Plan) -> bool:
    """Return whether there are several processes; with an endpoint, `tune run` always starts a distributed run."""
    count = processes(plan)
    per_node = gpus(plan.node_resources()) if count in ("auto", "gpu") else int(count)
    return plan.nodes > 1 or per_node > 1


def recipe_of(plan: Plan, nodes: int, processes: str) -> Recipe:
    """Return the recipe for the devices and the method. Several nodes have one recipe; for zero nodes any will do."""
    if nodes != 1:
        return MULTINODE if nodes > 1 else FULL
    one_device = processes == "1" or gpus(plan.node_resources()) == 1
    return (SINGLE_DEVICE if one_device else DISTRIBUTED)[method(plan)]


def method(plan: Plan) -> str:
    """Return the method: full, lora or qlora. QLoRA is LoRA on a quantized base; DoRA does not quantize."""
    is_set = is_on if plan.release.qlora == "value" else is_present
    if is_set(plan, "model.quantize_base") and not is_set(plan, "model.use_dora"):
        return "qlora"
    return "lora" if any("model.lora_attn_modules" in argument for argument in arguments(plan)) else "full"


def is_on(plan: Plan, flag: str) -> bool:
    """Return whether an argument sets a key that contains `flag` to `true`, in any case."""
    settings = (argument.partition("=") for argument in arguments(plan))
    return any(flag in key and value.strip().lower() == "true" for key, _, value in settings)


def is_present(plan: Plan, flag: str) -> bool:
    """Return whether an argument contains `flag`."""
    return any(flag in argument for argument in arguments(plan))


def arguments(plan: Plan) -> list[str]:
    """Return the TrainJob's arguments."""
    return plan.job.trainer.get("args") or []


def model(plan: Plan) -> str:
    """Return torchtune's name of the model of a runtime <word>-<family>-<size>, or an empty string."""
    parts = plan.job.runtime_ref["name"].split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def managed(plan: Plan) -> Iterator[str]:
    """Yield the words of the runtime's own commands, in all trainer jobs, that only the runtime can set."""
    for job in plan.trainers():
        if node := plan.find(job, NODE):
            yield from (word for word in get(plan.spec, (*node.path, "command"), []) if key(word) in MANAGED)


def key(word: str) -> str:
    """Return the key that a word of a command sets."""
    return word.partition("=")[0]


def job_nodes(plan: Plan) -> int:
    """Return the TrainJob's numNodes; the webhook ignores the runtime's."""
    return int(plan.job.trainer.get("numNodes", 1))


@check("torchtune-model", phase="trainjob")
def unknown_model(plan: Plan) -> Iterator[Finding]:
    """The model comes from the runtime's name, and only models with a table of configurations are supported."""
    if model(plan) in MODELS:
        return
    name = plan.job.runtime_ref["name"]
    fault = (
        f'names the unsupported model "{model(plan)}"'
        if model(plan)
        else "is not of the form torchtune-<family>-<size>"
    )
    yield Finding(
        message=f'`tune run` takes the model from the runtime name, but "{name}" {fault}',
        help=f"use one of {', '.join(map(runtime_name, MODELS))}; for another model or recipe, set a command "
        "with more than `tune run`, which trainc does not change",
        place=plan.job.at("spec", "runtimeRef", "name"),
    )


def runtime_name(model: str) -> str:
    """Return the runtime name for a model."""
    return f"torchtune-{model.replace('_', '.').replace('/', '-').lower()}"


@check("torchtune-nodes", phase="trainjob")
def several_nodes(plan: Plan) -> Iterator[Finding]:
    """Only the largest of the supported models has a configuration for several nodes."""
    nodes = job_nodes(plan)
    if nodes > 1 and MULTINODE.config not in MODELS.get(model(plan), ()):
        yield Finding(
            message=f"torchtune trains {model(plan) or 'this model'} on one node, not on {nodes}",
            help="set numNodes: 1, and more GPUs in resourcesPerNode",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("torchtune-lora-nodes", phase="trainjob")
def lora_on_several_nodes(plan: Plan) -> Iterator[Finding]:
    """On several nodes torchtune supports only full fine-tuning, which ignores LoRA arguments."""
    if plan.release.torchtune_lora == "any nodes":
        return
    nodes = job_nodes(plan)
    if nodes > 1 and (of_lora := [argument for argument in arguments(plan) if is_of_lora(plan, argument)]):
        yield Finding(
            message=f"torchtune supports LoRA ({of_lora[0]}) on one node only, not on {nodes}",
            help="set numNodes: 1, or remove the LoRA arguments for a full fine-tune",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


def is_of_lora(plan: Plan, argument: str) -> bool:
    """Return whether an argument requests LoRA or QLoRA."""
    return "model.lora_attn_modules" in argument or (method(plan) == "qlora" and "model.quantize_base" in key(argument))


@check("torchtune-qlora", phase="trainjob")
def qlora(plan: Plan) -> Iterator[Finding]:
    """Some models have no QLoRA configuration, others have none for more than one GPU."""
    configs = MODELS.get(model(plan), frozenset())
    recipe = recipe_of(plan, job_nodes(plan), num_proc_per_node(plan))
    if not configs or method(plan) != "qlora" or recipe.config in configs or job_nodes(plan) != 1:
        return
    kinds = {kind["qlora"].config for kind in (SINGLE_DEVICE, DISTRIBUTED)} & configs
    if not kinds:
        yield Finding(
            message=f"torchtune does not support QLoRA for {model(plan)}",
            help="remove model.quantize_base, for LoRA or a full fine-tune",
            place=plan.job.at("spec", "runtimeRef", "name"),
        )
    elif recipe is DISTRIBUTED["qlora"]:
        # The webhook reports both fields, since a change of either one is enough.
        yield Finding(
            message=f"torchtune supports QLoRA for {model(plan)} on one device only, but {PROCESSES_FIELD} is "
            f"{num_proc_per_node(plan)}",
            help=f"set {PROCESSES_FIELD}: 1, or request one GPU per node",
            field=field_of(TrainJobForm.PROCESSES),
            place=plan.job.at("spec", "trainer", trainer_field(plan, PROCESSES_FIELD)),
        )
        yield Finding(
            message=f"torchtune supports QLoRA for {model(plan)} on one device only, but a node has "
            f"{gpus(plan.node_resources()) or 'no'} GPUs",
            help="request one GPU: `resourcesPerNode: {limits: {nvidia.com/gpu: 1}}`",
            field="spec.trainer.resourcesPerNode",
            place=plan.job.at("spec", "trainer", trainer_field(plan, "resourcesPerNode")),
        )


def trainer_field(plan: Plan, field: str) -> str:
    """Return the trainer field to report: `field` if it is set, else `args`, which request QLoRA."""
    return field if field in plan.job.trainer else "args"


@check("torchtune-managed", phase="trainjob")
def managed_arguments(plan: Plan) -> Iterator[Finding]:
    """The runtime sets the paths of the model and the result, in its own command."""
    for index, argument in enumerate(arguments(plan) if plan.release.torchtune_arguments == "managed" else ()):
        if key(argument) in MANAGED:
            own = next((word for word in managed(plan) if key(word) == key(argument)), "")
            yield Finding(
                message=f"only the runtime can set {key(argument)}",
                help=f"remove it: the runtime sets {own}"
                if own
                else f"remove it, and add {key(argument)}=... to the command of the runtime's container {NODE}",
                place=plan.job.at("spec", "trainer", "args", index),
            )


@check("torchtune-node-count", phase="build")
def node_count(plan: Plan) -> Iterator[Finding]:
    """The webhook of Trainer v2.1 panics if a torchtune job sets numProcPerNode without numNodes."""
    if plan.release.torchtune_nodes == "required" and "numNodes" not in plan.job.trainer:
        yield Finding(
            message=f"`tune run` with {PROCESSES_FIELD} requires numNodes: {plan.release.title} fails without it",
            help="set spec.trainer.numNodes: 1",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


REFUSED: Final[tuple[Check[[Plan]], ...]] = (
    node_count,
    unknown_model,
    several_nodes,
    lora_on_several_nodes,
    qlora,
    managed_arguments,
)


@check("torchtune-config", phase="lint", severity="warning")
def no_config(plan: Plan) -> Iterator[Finding]:
    """The webhook accepts some combinations for which torchtune has no configuration: the pods fail."""
    if any(True for rejected in REFUSED for _ in rejected.find(plan)):
        return
    of_runtime = max(1, (plan.runtime.policy or {}).get("numNodes", 1))
    nodes = plan.job.trainer.get("numNodes", of_runtime)
    config = recipe_of(plan, nodes, processes(plan)).config
    if config not in MODELS[model(plan)]:
        known = ", ".join(model(plan) + known for known in sorted(MODELS[model(plan)]))
        yield Finding(
            message=f"torchtune 0.6 has no configuration {model(plan)}{config}: the pods will fail",
            help=f"change numNodes, the GPUs or the arguments to match one of {known}",
            place=plan.job.at("spec", "trainer", "command"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (*REFUSED, no_config)
