"""The kinds of objects that trainc compiles or creates, one row for each.

Returns  for a kind: its apiVersions, its role, the word for it in messages, and the paths of its pod templates.
Source   the types of Kubeflow Trainer v2.3, JobSet v0.12 and Kubernetes 1.36. A test compares the paths with schemas/.
"""

from __future__ import annotations

from typing import Final, Literal

from trainc.base.records import NamedTuple

Role = Literal["job", "runtime", "other"]
"""The role of a document in a run. Only jobs are compiled, each with a runtime."""
Steps = tuple[str, ...]

EACH: Final = "*"
"""The step of a path for each item of a list, and for each value of a map."""

GROUP: Final = "trainer.kubeflow.org"
VERSION: Final = f"{GROUP}/v1alpha1"
OLD_GROUP: Final = "kubeflow.org"
OLD_VERSION: Final = f"{OLD_GROUP}/v2alpha1"
"""The kinds' apiVersion before they had their own group. trainc ignores other kinds of this group."""
DRAFT_VERSION: Final = f"{GROUP}/v2alpha1"
"""The apiVersion in much of Trainer's documentation. No release serves it."""

_OF_JOB: Final = ("spec", "template")
POD_TEMPLATE: Final = ("template", *_OF_JOB)
"""The path of the pod template in a replicated job."""
POD: Final = (*POD_TEMPLATE, "spec")
"""The path of the pod spec in a replicated job."""
JOBS_OF_JOBSET: Final = ("spec", "replicatedJobs")
"""The path of the replicated jobs in a JobSet."""
JOBS_OF_RUNTIME: Final = ("spec", "template", *JOBS_OF_JOBSET)
JOBS_OF_PATCH: Final = ("trainingRuntimeSpec", "template", *JOBS_OF_JOBSET)
"""The path of the replicated jobs in an item of a TrainJob's runtimePatches."""
OLDER_SCHEMAS: Final = "training-operator-0"
"""The folder of the schemas of earlier apiVersions, in which fields of the run policy are also in the spec."""


class Kind(NamedTuple):
    """A kind of objects."""

    kind: str
    versions: tuple[str, ...]
    """The apiVersions that trainc reads, first the one that it writes."""
    role: Role
    word: str
    """The noun for one object in messages."""
    pods: tuple[Steps, ...]
    """The paths of its pod templates."""
    namespaced: bool = True
    framework: str = ""
    """The framework of a kind without a runtime, which has its front end; empty for any other kind."""
    module: str = ""
    """The module of `trainc.legacy` with the framework."""
    schema: str = ""
    """The folder of its schema in `schemas`, if no release or setting decides it."""
    older: tuple[tuple[str, str], ...] = ()
    """The earlier apiVersions of a legacy kind that have other fields, each with a sentence about the current ones."""
    setting: str = ""
    """Its name in settings and on command lines, if that is not the kind; empty if it is."""
    plugin: str = ""
    """The key of spec.plugins that a document must have; trainc only counts the others. Empty for all documents."""

    @property
    def name(self) -> str:
        """Its name in settings and on command lines."""
        return self.setting or self.kind

    @property
    def group(self) -> str:
        """The API group of the apiVersion that trainc writes."""
        return self.versions[0].partition("/")[0]

    def schema_folder(self, version: object) -> str:
        """Return the folder of the schema of a legacy kind in one of its apiVersions; empty for a JobSet."""
        return self.schema if version == self.versions[0] else OLDER_SCHEMAS

    def has_plugin(self, document: object) -> bool:
        """Return whether a document has the plugin that the kind requires, if it requires one."""
        for step in ("spec", "plugins", self.plugin) if self.plugin else ():
            document = document.get(step) if isinstance(document, dict) else None
        return document is not None


_TRAINER: Final = (VERSION, DRAFT_VERSION, OLD_VERSION)
_OF_RUNTIME: Final = ((*JOBS_OF_RUNTIME, EACH, *POD_TEMPLATE),)

TRAINJOB: Final = Kind(
    "TrainJob", _TRAINER, "job", "TrainJob", (("spec", "runtimePatches", EACH, *JOBS_OF_PATCH, EACH, *POD_TEMPLATE),)
)
RUNTIME: Final = Kind("TrainingRuntime", _TRAINER, "runtime", "runtime", _OF_RUNTIME)
CLUSTER_RUNTIME: Final = Kind("ClusterTrainingRuntime", _TRAINER, "runtime", "runtime", _OF_RUNTIME, namespaced=False)
JOBSET: Final = Kind(
    "JobSet",
    ("jobset.x-k8s.io/v1alpha2",),
    "job",
    "JobSet",
    ((*JOBS_OF_JOBSET, EACH, *POD_TEMPLATE),),
    framework="jobset",
    module="plain_jobset",
)
OPTIMIZATION_JOB: Final = Kind(
    "OptimizationJob",
    (VERSION,),
    "other",
    "OptimizationJob",
    (
        (
            *("spec", "trainJobTemplate", "spec", "runtimePatches", EACH),
            *(*JOBS_OF_PATCH, EACH, *POD_TEMPLATE),
        ),
    ),
    schema="trainer-2.4",
)
"""A job of which the controller creates TrainJobs. Its first trial is checked and shown; a build only copies it."""
JOB: Final = Kind("Job", ("batch/v1",), "other", "Job", (_OF_JOB,))
PYTORCHJOB: Final = Kind(
    "PyTorchJob",
    (f"{OLD_GROUP}/v1",),
    "job",
    "PyTorchJob",
    (("spec", "pytorchReplicaSpecs", EACH, "template"),),
    framework="pytorchjob",
    module="pytorchjob",
    schema="training-operator-1.9",
    older=(
        (
            f"{OLD_GROUP}/v1alpha1",
            "replicaSpecs is spec.pytorchReplicaSpecs.Master and .Worker, masterPort is the port "
            "`pytorchjob-port` of the container `pytorch`, and backend is gone",
        ),
    ),
)
_MPI_WITH_KUBECTL: Final = (
    "its launcher uses SSH, so the workers' image needs sshd (earlier ones run `kubectl exec`, for which trainc "
    "writes no Role); cleanPodPolicy, backoffLimit and activeDeadlineSeconds are in spec.runPolicy, "
    "mpiDistribution is mpiImplementation, mainContainer is gone, and the other fields stay"
)
MPIJOB: Final = Kind(
    "MPIJob",
    (f"{OLD_GROUP}/v2beta1",),
    "job",
    "MPIJob",
    (("spec", "mpiReplicaSpecs", EACH, "template"),),
    framework="mpijob",
    module="mpijob",
    schema="mpi-operator-0.7",
    older=(
        (
            f"{OLD_GROUP}/v1alpha1",
            "template is spec.mpiReplicaSpecs.Launcher.template and .Worker.template, replicas is Worker.replicas, and "
            "gpus is Worker.replicas times the GPUs in the limits of a worker, whose number is also slotsPerWorker",
        ),
        (f"{OLD_GROUP}/v1", _MPI_WITH_KUBECTL),
        (f"{OLD_GROUP}/v1alpha2", _MPI_WITH_KUBECTL),
    ),
)

TFJOB: Final = Kind(
    "TFJob",
    (f"{OLD_GROUP}/v1", f"{OLD_GROUP}/v1beta2", f"{OLD_GROUP}/v1beta1"),
    "job",
    "TFJob",
    (("spec", "tfReplicaSpecs", EACH, "template"),),
    framework="tfjob",
    module="tfjob",
    schema="training-operator-1.9",
    older=(
        (
            f"{OLD_GROUP}/v1alpha1",
            "replicaSpecs is spec.tfReplicaSpecs, with the tfReplicaType of each item as its key: MASTER is Chief; "
            "tfPort is the port `tfjob-port` of the container `tensorflow`",
        ),
        (
            f"{OLD_GROUP}/v1alpha2",
            "spec.tfReplicaSpecs has the same fields, and cleanPodPolicy is in spec.runPolicy",
        ),
    ),
)
XGBOOSTJOB: Final = Kind(
    "XGBoostJob",
    (f"{OLD_GROUP}/v1", f"xgboostjob.{OLD_GROUP}/v1", f"xgboostjob.{OLD_GROUP}/v1alpha1"),
    "job",
    "XGBoostJob",
    (("spec", "xgbReplicaSpecs", EACH, "template"),),
    framework="xgboostjob",
    module="simple_kinds",
    schema="training-operator-1.9",
)
JAXJOB: Final = Kind(
    "JAXJob",
    (f"{OLD_GROUP}/v1",),
    "job",
    "JAXJob",
    (("spec", "jaxReplicaSpecs", EACH, "template"),),
    framework="jaxjob",
    module="simple_kinds",
    schema="training-operator-1.9",
)
PADDLEJOB: Final = Kind(
    "PaddleJob",
    (f"{OLD_GROUP}/v1",),
    "job",
    "PaddleJob",
    (("spec", "paddleReplicaSpecs", EACH, "template"),),
    framework="paddlejob",
    module="simple_kinds",
    schema="training-operator-1.9",
    older=(
        (
            "batch.paddlepaddle.org/v1",
            "ps is spec.paddleReplicaSpecs.Master and worker is .Worker, each with replicas and template, whose main "
            "container is `paddle`; cleanPodPolicy and schedulingPolicy are in spec.runPolicy; intranet, "
            "withGloo, elastic and sampleSetRef are gone",
        ),
    ),
)
MXJOB: Final = Kind(
    "MXJob",
    (f"{OLD_GROUP}/v1", f"{OLD_GROUP}/v1beta1"),
    "job",
    "MXJob",
    (("spec", "mxReplicaSpecs", EACH, "template"),),
    framework="mxjob",
    module="simple_kinds",
    schema="training-operator-1.7",
    older=(
        (
            f"{OLD_GROUP}/v1alpha1",
            "replicaSpecs is spec.mxReplicaSpecs, with the mxReplicaType of each item as its key; PsRootPort is the "
            "port `mxjob-port` of the container `mxnet`",
        ),
    ),
)
MLKUBE_JOB: Final = Kind(
    "MxJob",
    ("mxnet.mlkube.io/v1beta1",),
    "job",
    "MxJob",
    (("spec", "replicaSpecs", EACH, "template"),),
    framework="mlkubejob",
    module="mlkubejob",
    schema="mxnet-operator-1beta1",
)
VOLCANO_JOB: Final = Kind(
    "Job",
    ("batch.volcano.sh/v1alpha1",),
    "job",
    "Volcano Job",
    (("spec", "tasks", EACH, "template"),),
    framework="volcanojob",
    module="volcanojob",
    schema="volcano",
    setting="VolcanoJob",
    plugin="tensorflow",
)

RUNTIMES: Final = (RUNTIME, CLUSTER_RUNTIME)
COMPILED: Final = (TRAINJOB, *RUNTIMES)
"""The kinds that every command compiles."""
LEGACY: Final = (PYTORCHJOB, MPIJOB, TFJOB, XGBOOSTJOB, JAXJOB, PADDLEJOB, MXJOB, MLKUBE_JOB, VOLCANO_JOB)
"""The kinds of training jobs that every command compiles only if a setting enables them."""
DOMAINS: Final = tuple(dict.fromkeys(".".join(row.group.split(".")[-2:]) for row in (*COMPILED, *LEGACY)))
"""The ends of the API groups of the compiled kinds, and of their labels: `kubeflow.org`, `volcano.sh` ..."""
KINDS: Final = (*COMPILED, OPTIMIZATION_JOB, JOBSET, JOB, *LEGACY)
OF_TRAINC: Final = ("Settings", "TrainJobCompiler")
"""The kinds of trainc's own."""
OF_KUEUE: Final = ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor")
"""The kinds of Kueue that trainc reads with a schema."""
KUEUE_SCHEMAS: Final = "kueue-0.19"
FOLDERS: Final = {**dict.fromkeys(OF_TRAINC, "trainc"), **dict.fromkeys(OF_KUEUE, KUEUE_SCHEMAS)}
"""The folder in `schemas` of kinds whose schema does not depend on the Trainer version."""
WITH_SCHEMA: Final = (
    *("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime", OPTIMIZATION_JOB.kind, JOBSET.kind),
    *FOLDERS,
    *(row.name for row in LEGACY),
)
"""The kinds that have a schema for editors."""
CLUSTER_SCOPED: Final = frozenset(row.kind for row in KINDS if not row.namespaced)


def find(version: object, kind: object) -> Kind | None:
    """Return the row of an apiVersion and a kind, which may have any type; None if no row has both."""
    for row in KINDS:
        if row.kind == kind and version in row.versions:
            return row
    return None


def role_of(version: object, kind: object) -> Role:
    """Return the role of the objects of an apiVersion and a kind.

    >>> role_of("trainer.kubeflow.org/v1alpha1", "TrainJob"), role_of("apps/v1", "Deployment")
    ('job', 'other')
    """
    row = find(version, kind)
    return "other" if row is None else row.role
