"""MPIJob: the hostfile, the SSH keys and the variables that mpi-operator adds. No runtime of a user can have it.

Reads    the settings that `frontends.legacy.mpijob` derives from the job, with the names of Trainer's MPI policy;
         trainer.numProcPerNode, which is slotsPerWorker; the host names of the plan.
Adds     what the MPI policy adds to TrainJobs (`frameworks.mpi`), with other modes of the keys and the operator's names
         of volumes, which init containers can mount; variables, after those of the job. Of one name, the last applies.
Changes  the host names of the job's pods in the containers, which are other ones in a JobSet.
Source   kubeflow/mpi-operator v0.8.0, the pods of both roles and their ConfigMap. The object names are Trainer's: the
         operator's own Secret and ConfigMap of a job disappear together with its MPIJob.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.legacy.host_names import with_new_hosts
from trainc.legacy.mpi_admission import LAUNCHER
from trainc.legacy.mpijob import ROOT_KEYS
from trainc.legacy.replica_specs import WORKER
from trainc.legacy.variables import with_variables
from trainc.pipeline.frameworks import mpi
from trainc.pipeline.objects import Traits
from trainc.pipeline.plan import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.frameworks import PlanCheck
    from trainc.pipeline.plan import Plan, Slot

RESERVED: Final[frozenset[str]] = frozenset()
RESERVED_AT: Final = "spec"
CHECKS: Final[tuple[PlanCheck, ...]] = (mpi.search_domain, mpi.large_hostfile)
TRAITS: Final = Traits(
    family="mpi",
    container="",
    nodes_field="replicas",
    processes_field="slotsPerWorker",
    launcher=LAUNCHER.lower(),
    node=WORKER.lower(),
    checks_counts=True,
)
KEYS: Final = "ssh-auth"
HOSTFILE: Final = "mpi-job-config"
"""The operator's names of the volumes with the keys and the hostfile."""
KEY_FILES: Final = {"id_rsa": "ssh-privatekey", "id_rsa.pub": "ssh-publickey", "authorized_keys": "ssh-publickey"}
ROLE: Final = "K_MPI_JOB_ROLE"
NO_GPUS: Final = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES")
"""The variables that hide the GPUs of a launcher that only starts processes."""

secrets = mpi.secrets


def apply(plan: Plan) -> Plan:
    """Add the keys, the hostfile, the search domain and the variables."""
    launcher, worker = mpi.launcher_job(plan), mpi.node_job(plan)
    assert launcher is not None, "admission requires a launcher"
    for job in range(len(plan.jobs)):
        plan = mpi.with_keys(plan, job, keys(plan))
        for slot in (*plan.containers(job), *plan.init_containers(job)):
            plan = with_variables(plan, slot, variables(plan, slot, launcher))
    plan = mpi.with_hostfile(plan, launcher, HOSTFILE)
    if worker is not None and plan.job.namespace:
        plan = mpi.with_search_domain(plan, worker)
    hosts = sorted(mpi.hostfile_jobs(plan), key=lambda job: job != launcher)
    plan = plan._replace(others=(*plan.others, mpi.hostfile(plan, hosts)))
    return with_new_hosts(plan)


def keys(plan: Plan) -> Tree:
    """Return the volume with the Secret's keys. Only in the home of root do they have a mode of their own."""
    items = [{"key": key, "path": path} for path, key in KEY_FILES.items()]
    mode = {"defaultMode": 0o600} if plan.runtime.settings["sshAuthMountPath"] == ROOT_KEYS else {}
    return {"name": KEYS, "secret": {"secretName": mpi.secret_name(plan), "items": items, **mode}}


def variables(plan: Plan, slot: Slot, launcher: int) -> Iterator[Tree]:
    """Yield the variables of a container; only the first container of a pod has any."""
    if slot.containers != "containers" or slot.at:
        return
    yield value(ROLE, plan.jobs[slot.job]["name"])
    implementation = mpi.implementation(plan)
    if slot.job == launcher and implementation is not None:
        yield from implementation.variables(mpi.slots(plan))
        yield from mpi.other_variables(plan, slot, implementation)
        if not mpi.launcher_is_node(plan):
            yield from (value(name, "") for name in NO_GPUS)
