"""Torchtune: `tune run`, completed with where to meet, a recipe, its configuration and the runtime's own settings.

Reads    trainer.command (exactly `[tune, run]`: who calls has looked), .args, .numNodes, .numProcPerNode,
         .resourcesPerNode; the runtime's name, which says the model; the command of its `node` containers.
Returns  the whole command. The checks: what the webhook refuses, and a configuration that torchtune does not have.
Source   kubeflow/trainer v2.3.0, runtime plugin torch. Which configurations there are: torchtune v0.6.1 (the version in
         Trainer's image), the registry of recipes. The webhook's limits on nodes and QLoRA are what is missing there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.checks import Check, check
from trainc.diagnostics import Finding
from trainc.frameworks.torch.torchrun import PORT, processes, said
from trainc.kubernetes.trees import get
from trainc.plan import NODE, Plan, gpus
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW_GPUS: Final = frozenset({"_full_single_device", "_lora_single_device", "_full", "_lora"})
MODELS: Final = {
    "llama3_2/1B": FEW_GPUS | {"_qlora_single_device"},
    "llama3_2/3B": FEW_GPUS | {"_qlora_single_device"},
    "llama3_3/70B": frozenset({"_full", "_lora", "_qlora", "_full_multinode"}),
    "qwen2_5/1.5B": FEW_GPUS,
}
"""The models that Trainer takes, and the configurations of each by the end of their names."""


class Recipe(NamedTuple):
    """A program of torchtune's, and which configuration of the model it takes, by the end of its name."""

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
"""What the runtime alone sets: where it has put the model, and wants the result."""


def command(plan: Plan) -> tuple[str, ...]:
    """The TrainJob's command with what it leaves to the runtime."""
    recipe = recipe_of(plan, plan.nodes, processes(plan))
    meeting = (f"--rdzv_endpoint={plan.endpoint()}:{PORT}",) if meets(plan) else ()
    return (
        *plan.job.trainer["command"],
        *meeting,
        recipe.name,
        "--config",
        model(plan) + recipe.config,
        *managed(plan),
    )


def meets(plan: Plan) -> bool:
    """Whether there is more than one process; `tune run` takes a rendezvous for the wish to have several."""
    count = processes(plan)
    here = gpus(plan.node_resources()) if count in ("auto", "gpu") else int(count)
    return plan.nodes > 1 or here > 1


def recipe_of(plan: Plan, nodes: int, processes: str) -> Recipe:
    """The recipe by devices and method. On several nodes there is only one, and on none it does not matter."""
    if nodes != 1:
        return MULTINODE if nodes > 1 else FULL
    one_device = processes == "1" or gpus(plan.node_resources()) == 1
    return (SINGLE_DEVICE if one_device else DISTRIBUTED)[method(plan)]


def method(plan: Plan) -> str:
    """How much is trained: QLoRA is LoRA on a quantized base, which DoRA does without."""
    if is_on(plan, "model.quantize_base") and not is_on(plan, "model.use_dora"):
        return "qlora"
    return "lora" if any("model.lora_attn_modules" in argument for argument in arguments(plan)) else "full"


def is_on(plan: Plan, flag: str) -> bool:
    """Whether an argument sets a key that contains `flag` to `true`, in whatever case."""
    settings = (argument.partition("=") for argument in arguments(plan))
    return any(flag in key and value.strip().lower() == "true" for key, _, value in settings)


def arguments(plan: Plan) -> list[str]:
    """The TrainJob's arguments."""
    return plan.job.trainer.get("args") or []


def model(plan: Plan) -> str:
    """The model as torchtune spells it: a runtime is called <word>-<family>-<size>. Empty when it is not."""
    parts = plan.job.runtime_ref["name"].split("-")
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}" if len(parts) == 3 else ""


def managed(plan: Plan) -> Iterator[str]:
    """The words of the runtime's own command that are its to say, of every trainer job."""
    for job in plan.trainers():
        if node := plan.find(job, NODE):
            yield from (word for word in get(plan.spec, (*node.path, "command"), []) if key(word) in MANAGED)


def key(word: str) -> str:
    """What a word of a command sets."""
    return word.partition("=")[0]


def nodes_said(plan: Plan) -> int:
    """The TrainJob's nodes; the webhook does not look at the runtime's."""
    return int(plan.job.trainer.get("numNodes", 1))


@check("torchtune-model", stage="trainjob", title="The runtime's name says no model that torchtune jobs may have")
def unknown_model(plan: Plan) -> Iterator[Finding]:
    """The model is read off the runtime's name, and only those with a table of configurations are taken."""
    if model(plan) in MODELS:
        return
    name = plan.job.runtime_ref["name"]
    what = f'means model "{model(plan)}"' if model(plan) else "is not of the form torchtune-<family>-<size>"
    yield Finding(
        message=f'`tune run` takes the model from the runtime\'s name, and "{name}" {what}',
        help=f"use {', '.join(map(runtime_name, MODELS))}; for another model or recipe say more than `tune run` in "
        "the command, which then stays as it is",
        field="spec.runtimeRef.name",
        place=plan.job.at("spec", "runtimeRef", "name"),
    )


def runtime_name(model: str) -> str:
    """How a model's runtime is called."""
    return f"torchtune-{model.replace('_', '.').replace('/', '-').lower()}"


@check("torchtune-nodes", stage="trainjob", title="A model that torchtune trains on one node has several")
def several_nodes(plan: Plan) -> Iterator[Finding]:
    """Of the known models, the biggest alone has a configuration for several nodes."""
    nodes = nodes_said(plan)
    if nodes > 1 and MULTINODE.config not in MODELS.get(model(plan), ()):
        yield Finding(
            message=f"{nodes} nodes, and torchtune trains {model(plan) or 'this model'} on one",
            help="set numNodes: 1, and more GPUs in resourcesPerNode",
            field="spec.trainer.numNodes",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


@check("torchtune-lora-nodes", stage="trainjob", title="LoRA on several nodes")
def lora_on_several_nodes(plan: Plan) -> Iterator[Finding]:
    """On several nodes there is the full fine-tune alone, which would leave what LoRA is told unread."""
    nodes = nodes_said(plan)
    if nodes > 1 and (of_lora := [argument for argument in arguments(plan) if is_of_lora(plan, argument)]):
        yield Finding(
            message=f"{nodes} nodes and {of_lora[0]}: torchtune does LoRA on one node only",
            help="set numNodes: 1, or leave the arguments of LoRA out for a full fine-tune",
            field="spec.trainer.numNodes",
            place=plan.job.at("spec", "trainer", "numNodes"),
        )


def is_of_lora(plan: Plan, argument: str) -> bool:
    """Whether an argument asks for LoRA, or for QLoRA."""
    return "model.lora_attn_modules" in argument or (method(plan) == "qlora" and "model.quantize_base" in key(argument))


@check("torchtune-qlora", stage="trainjob", title="A model that torchtune does not train so with QLoRA")
def qlora(plan: Plan) -> Iterator[Finding]:
    """Some models have no configuration with QLoRA, some none for more than one GPU."""
    configs = MODELS.get(model(plan), frozenset())
    recipe = recipe_of(plan, nodes_said(plan), said(plan))
    if not configs or method(plan) != "qlora" or recipe.config in configs or nodes_said(plan) != 1:
        return
    kinds = {kind["qlora"].config for kind in (SINGLE_DEVICE, DISTRIBUTED)} & configs
    if not kinds:
        yield Finding(
            message=f"torchtune has no QLoRA for {model(plan)}",
            help="leave model.quantize_base out, for LoRA or a full fine-tune",
            field="spec.runtimeRef.name",
            place=plan.job.at("spec", "runtimeRef", "name"),
        )
    elif recipe is DISTRIBUTED["qlora"]:
        # The webhook minds both fields, since either would do.
        yield Finding(
            message=f"torchtune does QLoRA for {model(plan)} on one device, and numProcPerNode is {said(plan)}",
            help="set numProcPerNode: 1, or give a node one GPU",
            field="spec.trainer.numProcPerNode",
            place=plan.job.at("spec", "trainer", where(plan, "numProcPerNode")),
        )
        yield Finding(
            message=f"torchtune does QLoRA for {model(plan)} on one device, and a node has "
            f"{gpus(plan.node_resources()) or 'no'} GPUs",
            help="ask for one GPU: `resourcesPerNode: {limits: {nvidia.com/gpu: 1}}`",
            field="spec.trainer.resourcesPerNode",
            place=plan.job.at("spec", "trainer", where(plan, "resourcesPerNode")),
        )


def where(plan: Plan, field: str) -> str:
    """The field of the trainer that says how many devices there are; where it is not written, what asks for QLoRA."""
    return field if field in plan.job.trainer else "args"


@check("torchtune-managed", stage="trainjob", title="An argument sets what the runtime sets")
def managed_arguments(plan: Plan) -> Iterator[Finding]:
    """Where the model is and where the result goes is the runtime's to say, in its own command."""
    for index, argument in enumerate(arguments(plan)):
        if key(argument) in MANAGED:
            own = next((word for word in managed(plan) if key(word) == key(argument)), "")
            yield Finding(
                message=f"{key(argument)} is the runtime's to set",
                help=f"leave it out: the runtime says {own}"
                if own
                else f"leave it out, and put {key(argument)}=... into the command of the runtime's container {NODE}",
                field=f"spec.trainer.args[{index}]",
                place=plan.job.at("spec", "trainer", "args", index),
            )


REFUSED: Final[tuple[Check[[Plan]], ...]] = (
    unknown_model,
    several_nodes,
    lora_on_several_nodes,
    qlora,
    managed_arguments,
)


@check("torchtune-config", stage="lint", severity="warning", title="torchtune has no such configuration")
def no_config(plan: Plan) -> Iterator[Finding]:
    """The webhook lets some combinations pass for which torchtune has no configuration: the pods fail."""
    if any(True for refusal in REFUSED for _ in refusal.find(plan)):
        return
    of_runtime = max(1, (plan.runtime.policy or {}).get("numNodes", 1))
    nodes = plan.job.trainer.get("numNodes", of_runtime)
    config = recipe_of(plan, nodes, processes(plan)).config
    if config not in MODELS[model(plan)]:
        known = ", ".join(model(plan) + known for known in sorted(MODELS[model(plan)]))
        yield Finding(
            message=f"torchtune 0.6 has no configuration {model(plan)}{config}: the pods will fail",
            help=f"change numNodes, the GPUs or the arguments for one of {known}",
            field="spec.trainer.command",
            place=plan.job.at("spec", "trainer", "command"),
        )


CHECKS: Final[tuple[Check[[Plan]], ...]] = (*REFUSED, no_config)
