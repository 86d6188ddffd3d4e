"""PaddlePaddle in collective mode: configure `python -m paddle.distributed.launch` (difference extensions).

Reads    paddle.port; trainer.numNodes, .numProcPerNode.
Adds     to every container of the trainer job PYTHONUNBUFFERED, PADDLE_JOB_ID, PADDLE_NNODES, PADDLE_MASTER,
         PADDLE_RANK; to the container `node` the port, POD_IP, and, if the TrainJob sets it, PADDLE_NPROC_PER_NODE.
Source   kubeflow/training-operator v1.9.3, PaddleJob without a Master. There, the first pod's PADDLE_MASTER is its own
         address, which makes the launcher open the port. The pods of an indexed Job share one template, so here POD_IP
         is the pod's own host name, which contains its rank, and the first pod's POD_IP equals PADDLE_MASTER.
         PaddlePaddle 3.3.1, distributed/launch, for the environment variables; tested with this version.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from trainc.kubernetes.trees import Tree, edit
from trainc.pipeline.frameworks import Framework
from trainc.pipeline.plan import COMPLETION_INDEX, NODE, Plan, from_field, value

RESERVED: Final = frozenset({"PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", "PADDLE_RANK", "POD_IP"})
UNBUFFERED: Final = "PYTHONUNBUFFERED"


def apply(plan: Plan) -> Plan:
    """Give every node its rank and the rendezvous endpoint."""
    plan = plan.with_nodes_of_job()
    if plan.trainer is None:
        return plan
    port = plan.runtime.settings["port"]
    cluster = [
        value("PADDLE_JOB_ID", plan.name),
        value("PADDLE_NNODES", plan.nodes),
        value("PADDLE_MASTER", f"{plan.endpoint()}:{port}"),
        from_field("PADDLE_RANK", COMPLETION_INDEX),
    ]
    node = plan.find(plan.trainer, NODE)
    for container in plan.containers(plan.trainer):
        own = [*cluster, *node_variables(plan)] if container == node else cluster
        plan = plan._replace(spec=edit(plan.spec, container.path, partial(with_variables, own)))
    return plan.on(node, ports=[{"containerPort": port}])


def node_variables(plan: Plan) -> list[Tree]:
    """Return the variables that only the launcher reads: its own host name, and the number of processes to start."""
    count = plan.job.processes
    processes = [] if count is None else [value("PADDLE_NPROC_PER_NODE", count)]
    return [value("POD_IP", plan.endpoint("$(PADDLE_RANK)")), *processes]


def with_variables(variables: list[Tree], container: Tree) -> Tree:
    """Return a container with these variables last and in this order, because some refer to earlier ones."""
    names = {variable["name"] for variable in variables}
    there = [variable for variable in container.get("env") or [] if variable["name"] not in names]
    unbuffered = [] if any(v["name"] == UNBUFFERED for v in there) else [value(UNBUFFERED, 1)]
    return container | {"env": [*there, *unbuffered, *variables]}


FRAMEWORK: Final = Framework(
    apply,
    reserved=lambda _: RESERVED,
    reserved_at="spec.trainer.env[{index}]",
    rendezvous=(("PADDLE_MASTER",),),
)
