"""The behaviours in which releases of Trainer differ, in words: a title, and a sentence for each value.

Reads    the fields of `TrainerRelease`.
Returns  their descriptions, in the order of docs/releases.md, which has a section for each.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.base.releases import RELEASES, V2_1, V2_2, TrainerRelease

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PAGE: Final = "docs/releases.md"


class Behaviour(NamedTuple):
    """A behaviour of releases."""

    field: str
    """The field of `TrainerRelease`."""
    title: str
    """The heading of its section in docs/releases.md."""
    sentences: Mapping[Any, str]
    """A sentence for each value."""
    objects: bool = True
    """Whether it can change compiled objects, or what is rejected."""
    documents: bool = False
    """Whether it decides how documents are read, and not what a stage does."""

    @property
    def link(self) -> str:
        """The section's link: `docs/releases.md#resources-of-a-node`."""
        anchor = "".join(c for c in self.title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
        return f"{PAGE}#{anchor}"

    def sentence(self, release: TrainerRelease) -> str:
        """Return what a release does."""
        return self.sentences[getattr(release, self.field)]


BEHAVIOURS: Final = (
    Behaviour(
        "crds",
        "Schemas of TrainJobs and runtimes",
        {
            "trainer-2.1": "runtimes have the policies torch and mpi",
            "trainer-2.2": "runtimes also have the policies jax, xgboost and flux; fields have limits",
            "trainer-2.3": "runtimes have torch.envInjection; patches have terminationGracePeriodSeconds",
        },
        documents=True,
    ),
    Behaviour(
        "rules",
        "Rules of the CRDs",
        {
            frozenset({"nodes_of_elastic"}): "mlPolicy must not have numNodes and torch.elasticPolicy",
            frozenset[str](): "one framework policy per runtime",
            frozenset({"storage_uri", "node_container_injected"}): "storageUri has a scheme; node is no target of "
            "envInjection",
            frozenset(
                {"storage_uri", "node_container_injected", "nodes_below_zero", "processes_below_one"}
            ): "numNodes is at least 0, and numProcPerNode at least 1",
        },
        documents=True,
    ),
    Behaviour(
        "dialect",
        "Patches and overrides",
        {"v2.1": "TrainJobs have podTemplateOverrides", "v2.3": "TrainJobs have runtimePatches"},
        documents=True,
    ),
    Behaviour(
        "older_dialects",
        "TrainJobs of older releases",
        {"unknown": "fields of other releases are dropped", "translated": "trainc translates older TrainJobs"},
        documents=True,
    ),
    Behaviour(
        "jobset",
        "JobSet",
        {
            "jobset-0.10": "JobSet v0.10 has no volumeClaimPolicies",
            "jobset-0.11": "JobSet v0.11 has volumeClaimPolicies",
            "jobset-0.12": "JobSet v0.12 can restart single Jobs",
        },
        documents=True,
    ),
    Behaviour(
        "coordinator_label",
        "Label of the coordinator",
        {
            "unchecked": "JobSet accepts a coordinator's label of more than 63 characters",
            "checked": "JobSet rejects a coordinator's label of more than 63 characters",
        },
    ),
    Behaviour(
        "runtimes",
        "Installed runtimes",
        {release.runtimes: f"an installation has the runtimes and images of {release.tag}" for release in RELEASES},
        documents=True,
    ),
    Behaviour(
        "unusable_runtimes",
        "Runtimes of trainc",
        {
            V2_1.unusable_runtimes: "runtimes with jax, xgboost, flux or volumeClaimPolicies do not work",
            V2_2.unusable_runtimes: "all runtimes of trainc work",
        },
        documents=True,
    ),
    Behaviour(
        "optimization_jobs",
        "OptimizationJobs",
        {"not served": "the API server has no OptimizationJob", "served": "the API server has OptimizationJobs"},
        documents=True,
    ),
    Behaviour(
        "webhook_label",
        "Label that disables the webhook",
        {
            "ignored": "the webhook checks all runtimes",
            "read": "the webhook skips runtimes with the label webhook-validation: disabled",
        },
    ),
    Behaviour(
        "job_names",
        "Names of replicated jobs",
        {
            63: "names of replicated jobs have no limit of their own",
            20: "names of replicated jobs in runtimes have at most 20 characters",
        },
    ),
    Behaviour(
        "unknown_job",
        "Patches for unknown jobs",
        {
            "refused": "a patch for a job that the runtime lacks is rejected",
            "added": "a patch for a job that the runtime lacks adds the job",
        },
    ),
    Behaviour(
        "resources",
        "Resources of a node",
        {
            "replace": "resourcesPerNode replaces the container's resources",
            "merge": "resourcesPerNode merges into the container's resources",
        },
    ),
    Behaviour(
        "resources_without_policy",
        "Resources without an mlPolicy",
        {
            "applied": "resourcesPerNode also applies to runtimes without an mlPolicy",
            "ignored": "resourcesPerNode has no effect with a runtime without an mlPolicy",
        },
    ),
    Behaviour(
        "gang_resources",
        "Resources of a gang",
        {
            "runtime": "minResources counts the runtime's resources",
            "trainers": "minResources counts resourcesPerNode for the trainers",
            "nodes": "minResources counts resourcesPerNode for all nodes",
        },
    ),
    Behaviour(
        "mpi_variables",
        "Reserved variables of MPI",
        {
            "free": "a TrainJob may set the variables of MPI",
            "reserved": "a TrainJob must not set the variables of MPI",
            "reserved with PRRTE": "a TrainJob must not set the variables of MPI, nor those of PRRTE with Open MPI",
        },
    ),
    Behaviour(
        "ssh_modes",
        "Modes of SSH keys",
        {
            "default": "the files of the SSH Secret have the default mode",
            "strict": "the files of the SSH Secret have modes of their own",
        },
    ),
    Behaviour(
        "hostfile",
        "Hostfile",
        {
            "first replica": "the hostfile lists the pods of the first replica",
            "all replicas": "the hostfile lists the pods of all replicas",
        },
    ),
    Behaviour(
        "mpi_image",
        "Image of MPI nodes",
        {
            "trainers": "trainer.image is set on jobs with the trainer's label",
            "launcher and nodes": "trainer.image is set on the MPI launcher and its nodes",
        },
    ),
    Behaviour(
        "mpi_resume",
        "Suspended MPI jobs",
        {
            "kept": "suspended MPI jobs resume after the upgrade to this release",
            "fails": "MPI jobs that are suspended during the upgrade do not resume",
        },
        objects=False,
    ),
    Behaviour(
        "initializer_mount",
        "Mount of initializers",
        {
            "optional": "an initializer needs no mount in the runtime",
            "required": "an initializer needs a mount named initializer in the runtime",
        },
    ),
    Behaviour(
        "torch_rules",
        "Rules of torch",
        {
            "with numProcPerNode": "the rules of torch apply to TrainJobs with numProcPerNode",
            "always": "the rules of torch apply to all TrainJobs",
        },
    ),
    Behaviour(
        "torchtune_nodes",
        "Nodes of torchtune",
        {
            "required": "torchtune with numProcPerNode needs numNodes",
            "optional": "torchtune needs no numNodes",
        },
    ),
    Behaviour(
        "torchtune_lora",
        "LoRA on several nodes",
        {
            "any nodes": "LoRA on several nodes is accepted",
            "one node": "LoRA on several nodes is rejected",
        },
    ),
    Behaviour(
        "torchtune_arguments",
        "Managed arguments of torchtune",
        {
            "free": "a TrainJob may set the paths of torchtune",
            "managed": "only the runtime sets the paths of torchtune",
        },
    ),
    Behaviour(
        "qlora",
        "QLoRA",
        {
            "presence": "the presence of quantize_base chooses QLoRA",
            "value": "quantize_base=True chooses QLoRA",
        },
    ),
    Behaviour(
        "elastic_policy",
        "Elastic policy",
        {
            "unknown": "the CRD has no torch.elasticPolicy",
            "unread": "the controller ignores torch.elasticPolicy",
        },
    ),
    Behaviour(
        "flux_shared_memory",
        "Shared memory of Flux",
        {
            "none": "Flux adds no /dev/shm",
            "memory": "Flux adds a /dev/shm in memory",
        },
    ),
    Behaviour(
        "flux_command",
        "Command of Flux",
        {
            "trainjob": "Flux runs the TrainJob's command only",
            "trainjob or runtime": "Flux runs the runtime's command if the TrainJob has none",
        },
    ),
    Behaviour(
        "flux_processes",
        "Processes of Flux",
        {
            "unchecked": "Flux accepts a TrainJob with numProcPerNode below 1",
            "checked": "Flux rejects a TrainJob with numProcPerNode below 1",
            "checked by the CRD": "the CRD rejects a TrainJob with numProcPerNode below 1, also with Flux",
        },
    ),
    Behaviour(
        "jax_trainer",
        "Trainer of JAX",
        {
            "required": "JAX needs a job with the trainer's label",
            "optional": "JAX accepts a runtime without a trainer",
        },
    ),
    Behaviour(
        "managed_by",
        "TrainJobs of MultiKueue",
        {
            "ignored": "the controller runs TrainJobs that MultiKueue manages",
            "obeyed": "the controller leaves TrainJobs that MultiKueue manages alone",
        },
    ),
    Behaviour(
        "immutable",
        "Immutable fields",
        {
            "none": "initializer and trainer of a TrainJob can change",
            "initializer, trainer": "initializer and trainer of a TrainJob are immutable",
        },
        objects=False,
    ),
    Behaviour(
        "patches_change",
        "Changes of patches",
        {
            "after": "patches can change in the update that suspends the TrainJob, or later",
            "before or after": "patches can change in the update that suspends or resumes the TrainJob, or between",
        },
        objects=False,
    ),
    Behaviour(
        "runtime_read",
        "Changes of runtimes",
        {
            "each time": "a suspended TrainJob follows changes of its runtime",
            "once": "a TrainJob keeps the runtime of its creation",
        },
        objects=False,
    ),
    Behaviour(
        "runtime_deletion",
        "Deletion of runtimes",
        {
            "blocked": "a runtime in use cannot be deleted",
            "allowed": "a runtime in use can be deleted",
        },
        objects=False,
    ),
    Behaviour(
        "removed_jobset",
        "Removed JobSets",
        {
            "created again": "a JobSet that its time to live removes is created again",
            "created again after a failure": "a failed JobSet that its time to live removes is created again",
            "not created again": "a JobSet that its time to live removes is not created again",
        },
        objects=False,
    ),
)
"""All behaviours, in the order of the page."""


def evidence_lines() -> list[str]:
    """Return a line for each behaviour, with the evidence for it in each release, in columns.

    >>> evidence_lines()[2]
    'Schemas of TrainJobs and runtimes  code  code  code  source of 2026-08-21'
    """
    titles = ("evidence for each behavior", *(behaviour.title for behaviour in BEHAVIOURS))
    columns = [("v" + each.name, *(each.evidence(behaviour.field) for behaviour in BEHAVIOURS)) for each in RELEASES]
    widths = [max(map(len, column)) for column in (titles, *columns)]
    rows = zip(titles, *columns, strict=True)
    return ["", *("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)]


class ChangedBehaviour(NamedTuple):
    """A change of a behaviour from one release to the next one."""

    behaviour: Behaviour
    release: TrainerRelease
    """The release that changes it."""
    before: Any
    after: Any

    @property
    def words(self) -> str:
        """The cause in words: `Trainer v2.3: resourcesPerNode merges into the container's resources`."""
        evidence = self.release.evidence(self.behaviour.field)
        announced = {"code": "", "notes": f", from its {self.release.source}"}.get(evidence, f", from its {evidence}")
        return f"{self.release.title}{announced}: {self.behaviour.sentence(self.release)}"


def changed_behaviours(old: TrainerRelease, new: TrainerRelease) -> Iterator[ChangedBehaviour]:
    """Yield the changes of behaviours on the way from one release to another, the last change of each first."""
    steps = [*pairwise(releases_between(old, new))][::-1]
    for behaviour in BEHAVIOURS:
        for one, other in steps:
            before, after = (getattr(release, behaviour.field) for release in (one, other))
            if before != after:
                yield ChangedBehaviour(behaviour, other, before, after)


def releases_between(old: TrainerRelease, new: TrainerRelease) -> tuple[TrainerRelease, ...]:
    """Return the releases on the way from one to another, with both; backwards if the second one is older."""
    names = [release.name for release in RELEASES]
    first, last = names.index(old.name), names.index(new.name)
    inside = RELEASES[min(first, last) + 1 : max(first, last)]
    if first == last:
        return (new,)
    return (old, *(inside if first < last else inside[::-1]), new)
