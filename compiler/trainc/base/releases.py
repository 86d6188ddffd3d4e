"""The releases of Trainer that trainc compiles for: each is a value, whose fields name the behaviours that differ.

Reads    nothing.
Returns  the releases by the value of `trainerVersion`.
Source   kubeflow/trainer v2.1.0, v2.2.1 and v2.3.0: their CRDs, webhooks and controllers, with the JobSet that each
         pins. v2.4.0: its release notes, and the development branch of 2026-08-21. docs/releases.md has a section for
         each behaviour.

A stage or a check asks for a behaviour by its name, never for the number of a release: a release is also compiled with
the behaviour of another one, to find the cause of a difference.
"""

from __future__ import annotations

from typing import Final, Literal

from trainc.base.kinds import EACH, JOBS_OF_PATCH, POD
from trainc.base.records import NamedTuple

IDENTITY: Final = ("name", "tag", "read_in", "announced", "alpha", "upgraded_from")
"""The fields of a release that are no behaviour."""

__version__ = "0.1.0"
IMPLEMENTS = (
    ("Kubeflow Trainer", "v2.3.0"),
    ("JobSet", "v0.12.0"),
    ("Kueue", "v0.19.2"),
    ("Kubernetes", "v1.36 and v1.37"),
)
"""The releases whose rules trainc implements; docs/versions.md lists the details."""


class AlphaField(NamedTuple):
    """A field behind a feature gate. trainc has no schema of it."""

    kind: Literal["TrainJob", "runtime"]
    path: tuple[str, ...]
    """The path; a step `*` is each item of a list."""
    feature: str


class TrainerRelease(NamedTuple):
    """A release of Trainer, with the JobSet that it pins."""

    name: str
    """The value of `trainerVersion`."""
    tag: str
    read_in: str
    """The source of its behaviours: `code`, or the development branch of a date."""
    announced: frozenset[str]
    """The behaviours that only its release notes describe."""
    alpha: tuple[AlphaField, ...]
    """The fields that its notes announce behind a feature gate that is off by default."""

    upgraded_from: frozenset[str]
    """The releases from which an upgrade leads to it directly; empty for all earlier ones."""

    # Documents
    crds: str
    """The folder of the schemas of its CRDs."""
    jobset: str
    """The folder of the schema of its JobSet."""
    runtimes: str
    """The folder of the runtimes that it installs."""
    unusable_runtimes: frozenset[str]
    """trainc's own runtimes that it cannot run."""
    dialect: Literal["v2.1", "v2.3"]
    """The dialect of its TrainJobs."""
    older_dialects: Literal["unknown", "translated"]
    """How trainc reads TrainJobs of other dialects: as its API server does, or converted."""
    rules: frozenset[str]
    """The functions of `checks.cel` for the rules of its CRDs that not all releases have."""
    optimization_jobs: Literal["not served", "served"]
    """The kind OptimizationJob."""
    webhook_label: Literal["ignored", "read"]
    """Whether a label of a runtime disables the webhook for it."""
    job_names: Literal[63, 20]
    """The most characters of a replicated job's name in a runtime."""

    # Patches
    unknown_job: Literal["refused", "added"]
    """A patch for a job that the runtime does not have."""

    # Resources
    resources: Literal["replace", "merge"]
    """How trainer.resourcesPerNode applies to the container's resources."""
    resources_without_policy: Literal["applied", "ignored"]
    """trainer.resourcesPerNode with a runtime that has no mlPolicy."""
    gang_resources: Literal["runtime", "trainers", "nodes"]
    """The jobs whose requests in a PodGroup depend on trainer.resourcesPerNode."""

    # MPI
    mpi_variables: Literal["free", "reserved", "reserved with PRRTE"]
    ssh_modes: Literal["default", "strict"]
    """The modes of the files of the SSH Secret."""
    hostfile: Literal["first replica", "all replicas"]
    """The pods that the hostfile has of each job."""
    mpi_image: Literal["trainers", "launcher and nodes"]
    """The jobs whose container gets trainer.image with an MPI runtime."""
    mpi_resume: Literal["kept", "fails"]
    """Whether a suspended MPI job from before the upgrade to this release resumes."""

    # Initializers and torch
    initializer_mount: Literal["optional", "required"]
    torch_rules: Literal["with numProcPerNode", "always"]
    """The TrainJobs to which the webhook's rules of torch apply."""
    torchtune_nodes: Literal["required", "optional"]
    """numNodes of a torchtune job; without it, the webhook of a release panics."""
    torchtune_lora: Literal["any nodes", "one node"]
    torchtune_arguments: Literal["free", "managed"]
    """The arguments for paths that only the runtime sets."""
    qlora: Literal["presence", "value"]
    """How the arguments of QLoRA and DoRA are read."""
    elastic_policy: Literal["unknown", "unread"]
    """mlPolicy.torch.elasticPolicy: not in the CRD, or in the CRD and without an effect."""

    # Flux and JAX
    flux_shared_memory: Literal["none", "memory"]
    flux_command: Literal["trainjob", "trainjob or runtime"]
    flux_processes: Literal["unchecked", "checked", "checked by the CRD"]
    """numProcPerNode of a TrainJob below 1."""
    jax_trainer: Literal["required", "optional"]

    # Updates
    managed_by: Literal["ignored", "obeyed"]
    """A TrainJob that MultiKueue manages."""
    immutable: Literal["none", "initializer, trainer"]
    """The fields of a TrainJob that cannot change."""
    patches_change: Literal["after", "before or after"]
    """Patches can change if the TrainJob is suspended then."""
    runtime_read: Literal["each time", "once"]
    """Whether a TrainJob follows changes of its runtime while it is suspended."""
    runtime_deletion: Literal["blocked", "allowed"]
    """The deletion of a runtime in use."""
    removed_jobset: Literal["created again", "created again after a failure", "not created again"]
    """The JobSet of a finished TrainJob that its time to live has removed."""

    # JobSet
    coordinator_label: Literal["unchecked", "checked"]
    """Whether JobSet's webhook limits the value of the coordinator's label to 63 characters."""

    @property
    def title(self) -> str:
        """The name in messages: `Trainer v2.3`."""
        return f"Trainer v{self.name}"

    @property
    def source(self) -> Literal["code", "release notes"]:
        """Whether its code was available when trainc was released."""
        return "code" if self.read_in == "code" and not self.announced else "release notes"

    def evidence(self, field: str) -> str:
        """Return the source of a behaviour: `code`, `source of DATE` or `notes`.

        >>> V2_3.evidence("resources"), V2_4.evidence("resources"), V2_4.evidence("job_names")
        ('code', 'source of 2026-08-21', 'notes')
        """
        return "notes" if field in self.announced else self.read_in

    def is_same(self, other: TrainerRelease) -> bool:
        """Return whether another value is the same release: legacy jobs have only some of its behaviours."""
        return self.name == other.name

    def has_tag(self, tag: str) -> bool:
        """Return whether a tag is one of this minor release: v2.2.0 of the release with the tag v2.2.1."""
        return tag.rpartition(".")[0] == self.tag.rpartition(".")[0]

    @property
    def described(self) -> str:
        """The name where versions are listed, with the sources if its code was not available."""
        return self.name if self.source == "code" else f"{self.name} (from its {self.source} and its {self.read_in})"


V2_1: Final = TrainerRelease(
    name="2.1",
    tag="v2.1.0",
    read_in="code",
    announced=frozenset(),
    alpha=(),
    upgraded_from=frozenset(),
    crds="trainer-2.1",
    jobset="jobset-0.10",
    runtimes="trainer-2.1",
    unusable_runtimes=frozenset(
        {
            "flux-distributed",
            "jax-distributed-shm",
            "torch-with-initializers",
            "torchtune-llama3.2-1b-shm",
            "torchtune-llama3.2-3b-shm",
            "torchtune-llama3.3-70b",
            "torchtune-qwen2.5-1.5b-shm",
            "xgboost-distributed-shm",
        }
    ),
    dialect="v2.1",
    older_dialects="unknown",
    rules=frozenset({"nodes_of_elastic"}),
    optimization_jobs="not served",
    webhook_label="ignored",
    job_names=63,
    unknown_job="refused",
    resources="replace",
    resources_without_policy="applied",
    gang_resources="runtime",
    mpi_variables="free",
    ssh_modes="default",
    hostfile="first replica",
    mpi_image="trainers",
    mpi_resume="kept",
    initializer_mount="optional",
    torch_rules="with numProcPerNode",
    torchtune_nodes="required",
    torchtune_lora="any nodes",
    torchtune_arguments="free",
    qlora="presence",
    elastic_policy="unread",
    flux_shared_memory="none",
    flux_command="trainjob",
    flux_processes="unchecked",
    jax_trainer="required",
    managed_by="ignored",
    immutable="none",
    patches_change="after",
    runtime_read="each time",
    runtime_deletion="blocked",
    removed_jobset="created again",
    coordinator_label="unchecked",
)
V2_2: Final = V2_1._replace(
    name="2.2",
    tag="v2.2.1",
    crds="trainer-2.2",
    jobset="jobset-0.11",
    runtimes="trainer-2.2",
    unusable_runtimes=frozenset(),
    dialect="v2.3",
    rules=frozenset(),
    gang_resources="trainers",
    torch_rules="always",
    torchtune_nodes="optional",
    elastic_policy="unknown",
    immutable="initializer, trainer",
    patches_change="before or after",
    removed_jobset="created again after a failure",
    coordinator_label="checked",
)
V2_3: Final = V2_2._replace(
    name="2.3",
    tag="v2.3.0",
    crds="trainer-2.3",
    jobset="jobset-0.12",
    runtimes="trainer-2.3",
    older_dialects="translated",
    rules=frozenset({"storage_uri", "node_container_injected"}),
    webhook_label="read",
    unknown_job="added",
    resources="merge",
    resources_without_policy="ignored",
    gang_resources="nodes",
    mpi_variables="reserved",
    ssh_modes="strict",
    hostfile="all replicas",
    initializer_mount="required",
    torchtune_lora="one node",
    torchtune_arguments="managed",
    qlora="value",
    flux_shared_memory="memory",
    flux_command="trainjob or runtime",
    flux_processes="checked",
    jax_trainer="optional",
    managed_by="obeyed",
    runtime_read="once",
    runtime_deletion="allowed",
)
_PATCHED_POD: Final = ("spec", "runtimePatches", EACH, *JOBS_OF_PATCH, EACH, *POD)
V2_4: Final = V2_3._replace(
    name="2.4",
    tag="v2.4.0",
    read_in="source of 2026-08-21",
    announced=frozenset({"mpi_variables", "job_names", "mpi_image", "mpi_resume"}),
    alpha=(
        AlphaField("TrainJob", ("spec", "trainer", "resourceClaimsPerNode"), "dynamic resource allocation"),
        AlphaField("TrainJob", (*_PATCHED_POD, "resourceClaims"), "dynamic resource allocation"),
        AlphaField("TrainJob", (*_PATCHED_POD, "containers", EACH, "resources"), "dynamic resource allocation"),
        AlphaField("runtime", ("spec", "scheduling"), "workload-aware scheduling"),
    ),
    upgraded_from=frozenset({"2.3"}),
    runtimes="trainer-2.4",
    rules=V2_3.rules | {"nodes_below_zero", "processes_below_one"},
    optimization_jobs="served",
    job_names=20,
    mpi_variables="reserved with PRRTE",
    flux_processes="checked by the CRD",
    mpi_image="launcher and nodes",
    mpi_resume="fails",
    removed_jobset="not created again",
)
RELEASES: Final = (V2_1, V2_2, V2_3, V2_4)
"""All releases, the oldest first."""
DEFAULT_RELEASE: Final = V2_3
"""The release if nothing selects one."""


def find_release(name: str | None, default: TrainerRelease) -> TrainerRelease:
    """Return the release of that name, or a default if the name is None."""
    return next((release for release in RELEASES if release.name == name), default)


JOBSET_VERSIONS: Final[dict[str, Literal["unchecked", "checked"]]] = {
    "0.8": "unchecked",
    "0.10": "unchecked",
    "0.11": "checked",
    "0.12": "checked",
}
"""The values of `jobsetVersion`, each with whether its webhook limits the coordinator's label."""


def with_jobset(release: TrainerRelease, version: str) -> TrainerRelease:
    """Return a release in a cluster with another version of JobSet than it installs."""
    return release._replace(jobset=f"jobset-{version}", coordinator_label=JOBSET_VERSIONS[version])


def release_fault(name: str) -> tuple[str, str] | None:
    """Return the message and the help for a name that no release has; None for a valid one.

    >>> release_fault("2.5")[1]
    'use 2.1, 2.2, 2.3 or 2.4 (from its release notes and its source of 2026-08-21)'
    >>> release_fault("2.2")
    """
    if any(release.name == name for release in RELEASES):
        return None
    *others, last = (release.described for release in RELEASES)
    help = f"use {', '.join(others)} or {last}"
    if name == "2.0":
        help += f"; trainc reads documents of Trainer v2.0 for {DEFAULT_RELEASE.name} and translates them"
    elif name[:1] == "v" or name.count(".") > 1:
        help += ", without v and without a patch release"
    return f'"{name}" is not a release of Trainer that trainc compiles for', help


def for_legacy_jobs(release: TrainerRelease) -> TrainerRelease:
    """Return the release for jobs of legacy kinds, which depend on Trainer's JobSet only."""
    changes = {
        key: getattr(release, key)
        for key in ("name", "tag", "read_in", "announced", "alpha", "jobset", "coordinator_label")
    }
    return DEFAULT_RELEASE._replace(**changes)
