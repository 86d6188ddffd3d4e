"""The objects of the Trainer API as the API server stores them: frozen, with shared trees that are never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.kinds import JOBSET, OPTIMIZATION_JOB, TRAINJOB, VERSION, find
from trainc.base.records import NamedTuple
from trainc.base.releases import DEFAULT_RELEASE, TrainerRelease
from trainc.base.trainjob_dialects import DIALECTS, PROCESSES_FIELD, TrainJobForm
from trainc.diagnostics import Document, ObjectId, Place
from trainc.kubernetes.objectmeta import PLACEHOLDER
from trainc.kubernetes.trees import Path, Tree, get
from trainc.kubernetes.violations import field_of

if TYPE_CHECKING:
    from collections.abc import Mapping


ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label of a replicated job's template that names the TrainJob step that the job runs."""
STEPS: Final = {"dataset": "dataset-initializer", "model": "model-initializer"}
"""The fields of spec.initializer, and the label, job name and container name of each."""
TRAINER_NODE: Final = "trainer-node"
INITIALIZER: Final = "initializer"
"""The jobs of a Training Operator v1.9 runtime, which has no such labels. The second runs both initializers."""
QUEUE: Final = "kueue.x-k8s.io/queue-name"
"""The label of a JobSet that names its Kueue LocalQueue."""
TRIAL_SUFFIX: Final = "-trial"
"""The end of the name of an OptimizationJob's first trial, in place of the controller's, which has letters, too."""
NOTHING: Final[Tree] = {}
"""An empty mapping, which is shared and never changed."""


def mapping(tree: Tree, key: str) -> Tree:
    """Return the mapping in a field, or an empty mapping if the field is missing or has another type."""
    found = tree.get(key)
    return found if isinstance(found, dict) else NOTHING


class TrainJob(NamedTuple):
    """A TrainJob as the API server stores it: unknown fields pruned, defaults filled in, in the form."""

    document: Document
    value: Tree
    dialect: str = ""
    """The key of the dialect in which it was written; empty if that has all fields as the form has them."""
    form: Document | None = None
    """The document in the form, if it was written in another one, with its name if that is generated; its last
    edit leads back."""
    own_runtime: Runtime | None = None
    """The runtime that its own document gives, if it has a front end; it is in no library."""
    letters_at: int | None = None
    """The index of the generated letters in its name, if the document has only metadata.generateName."""
    repeated: tuple[tuple[Path, Path], ...] = ()
    """The parts that its document has twice, and its own runtime once, from the first place."""

    @property
    def id(self) -> ObjectId:
        """The identity of its document."""
        return ObjectId.from_source(self.document.value)

    @property
    def name(self) -> str:
        """metadata.name."""
        return str(get(self.value, ("metadata", "name"), ""))

    @property
    def name_of_secrets(self) -> str:
        """The name on which the names of Secrets are based: the user creates them once, for every generated name."""
        if self.letters_at is None:
            return self.name
        before, after = self.around_letters
        return f"{before.rstrip('-')}{after}"

    @property
    def around_letters(self) -> tuple[str, str]:
        """The parts of its name before and after the generated letters."""
        assert self.letters_at is not None, "the name is generated"
        return self.name[: self.letters_at], self.name[self.letters_at + len(PLACEHOLDER) :]

    @property
    def word(self) -> str:
        """The noun for it in messages: `TrainJob`."""
        kind = find(self.id.apiVersion, self.id.kind)
        return TRAINJOB.word if kind is None else kind.word

    @property
    def is_trial(self) -> bool:
        """Whether it is the first trial of an OptimizationJob, which the controller creates."""
        return bool(self.document.value.get("kind") == OPTIMIZATION_JOB.kind)

    @property
    def is_jobset(self) -> bool:
        """Whether its document is a JobSet, which is checked and not compiled to another one."""
        return bool(self.document.value.get("kind") == JOBSET.kind)

    @property
    def is_legacy(self) -> bool:
        """Whether it is a job of another operator, whose front end connects its pods."""
        return self.own_runtime is not None and self.own_runtime.framework != JOBSET.framework

    @property
    def as_written(self) -> TrainJob:
        """The same job before its conversion to the form that the stages read."""
        return TrainJob(self.document, self.document.value)

    @property
    def source_name(self) -> str:
        """The name in the file, or generateName, without the prefix and the suffix of an environment."""
        return ObjectId.from_source(self.document.unedited).name

    @property
    def namespace(self) -> str:
        """metadata.namespace, or an empty string."""
        return str(get(self.value, ("metadata", "namespace"), ""))

    @property
    def spec(self) -> Tree:
        """The spec, or an empty mapping."""
        return mapping(self.value, "spec")

    @property
    def trainer(self) -> Tree:
        """spec.trainer, or an empty mapping (difference trainer-optional)."""
        return mapping(mapping(self.value, "spec"), "trainer")

    @property
    def processes(self) -> Any:
        """The processes per node: a number, or a word of an older dialect; None if the field is missing."""
        return self.trainer.get(PROCESSES_FIELD)

    @property
    def runtime_ref(self) -> Tree:
        """spec.runtimeRef, with its defaults."""
        return mapping(mapping(self.value, "spec"), "runtimeRef")

    @property
    def patches(self) -> list[Tree]:
        """spec.runtimePatches."""
        found = get(self.value, TrainJobForm.PATCHES)
        return found if isinstance(found, list) else []

    @property
    def has_overrides(self) -> bool:
        """Whether its dialect has overrides instead of patches."""
        return bool(self.dialect) and DIALECTS[self.dialect].has_overrides

    @property
    def patches_field(self) -> str:
        """The field that contains the patches; in older dialects, a field of overrides."""
        path: Path = TrainJobForm.PATCHES
        return field_of(DIALECTS[self.dialect].written(path) if self.dialect else path)

    @property
    def patch_word(self) -> str:
        """The word for a patch in the TrainJob's dialect."""
        return "override" if self.has_overrides else "patch"

    @property
    def a_patch(self) -> str:
        """The word for a patch, with its article."""
        return "an override" if self.has_overrides else "a patch"

    def metadata(self, key: str) -> Tree:
        """Return metadata.labels or metadata.annotations."""
        return mapping(mapping(self.value, "metadata"), key)

    def at(self, *path: str | int, key: bool = False) -> Place:
        """Return the place of a field of this TrainJob."""
        return Place(self.form or self.document, path, key)


class Runtime(NamedTuple):
    """A TrainingRuntime or ClusterTrainingRuntime as the controller sees it: defaults filled in, typed."""

    document: Document
    release: TrainerRelease
    """The release of Trainer in whose cluster it is."""
    value: Tree = NOTHING
    spec: Tree = NOTHING
    """The JobSetSpec of its template, converted to Go types."""
    level: str = ""
    """The name of the level where it was found: the given paths, --runtimes DIR, the built-in runtimes."""

    # Fields of `value` that every stage of every job reads, looked up once.
    policy: Tree | None = None
    """spec.mlPolicy, or None if it is missing (an empty mlPolicy is different)."""
    framework: str = "plain"
    """The key of its framework policy, or `plain`."""
    settings: Tree = NOTHING
    """The framework's own part of the policy."""
    gang: Tree | None = None
    """spec.podGroupPolicy."""
    is_first_release: bool = False
    """Whether trainer and initializers are identified by name (`training_operator`), not by label."""
    form: Document | None = None
    """The document in the form, if its release has other names; its last edit leads back to these."""

    @classmethod
    def from_value(
        cls,
        document: Document,
        release: TrainerRelease,
        value: Tree,
        spec: Tree,
        level: str,
        form: Document | None = None,
    ) -> Runtime:
        """Return the runtime for a value in the form that the schema has admitted."""
        policy, gang = (_mapping(get(value, ("spec", key))) for key in ("mlPolicy", "podGroupPolicy"))
        framework = next((key for key in policy or {} if key != "numNodes"), "plain")
        settings = _mapping((policy or {}).get(framework)) or NOTHING
        is_first = value.get("apiVersion") != VERSION and is_first_release(spec)
        return cls(document, release, value, spec, level, policy, framework, settings, gang, is_first, form)

    @property
    def id(self) -> ObjectId:
        """The object's identity."""
        return ObjectId.from_source(self.value)

    @property
    def processes(self) -> Any:
        """The processes per node of its framework policy; None if the field is missing."""
        return self.settings.get(PROCESSES_FIELD)

    @property
    def processes_path(self) -> Path:
        """The path of the processes per node of its framework policy."""
        return ("spec", "mlPolicy", self.framework, PROCESSES_FIELD)

    def metadata(self, key: str) -> Tree:
        """Return the template's labels or annotations, which the JobSet gets."""
        found = get(self.value, ("spec", "template", "metadata", key))
        return found if isinstance(found, dict) else {}

    def at(self, *path: str | int, key: bool = False) -> Place:
        """Return the place of a field of this runtime."""
        return Place(self.form or self.document, path, key)


def is_first_release(spec: Tree) -> bool:
    """Return whether the jobs have the names of Training Operator v1.9 and no ancestor labels."""
    jobs = spec.get("replicatedJobs") or []
    return any(job.get("name") in (TRAINER_NODE, INITIALIZER) for job in jobs) and not any(map(ancestor, jobs))


def _mapping(value: object) -> Tree | None:
    return value if isinstance(value, dict) else None


class Traits(NamedTuple):
    """The properties of a framework that checks and lint rules depend on."""

    family: str = ""
    """The public framework of a legacy kind; also `torch` if torchrun starts the processes, with its variables."""
    container: str = "node"
    """The name of the main container of its jobs; empty for the first container."""
    nodes_field: str = "numNodes"
    """The field with the number of nodes."""
    processes_field: str = PROCESSES_FIELD
    """The field with the number of processes on each node."""
    process_words: Literal["ignored", "read", "rejected"] = "ignored"
    """What it does with `auto`, `cpu` and `gpu` in numProcPerNode, which older dialects allow."""
    starter: str = ""
    """The program that starts one process per GPU, by a count of Trainer; `counted_processes` of its module has it."""
    launcher: str = ""
    """The name of the job that starts the processes in the pods of another job; empty if each pod starts its own."""
    node: str = ""
    """The name of that other job."""
    finds_jobs_by_name: bool = False
    """Whether it finds jobs without the trainer's label, too, and applies the fields of spec.trainer that it reads."""
    independent_nodes: bool = False
    """Whether the nodes do not connect to one another."""
    checks_counts: bool = False
    """Whether its own checks report counts of nodes and processes below 1."""
    gangs: bool = True
    """Whether the setting of the gang scheduler applies to its jobs; only a legacy kind can lack them."""


NO_RUNTIME: Final = Runtime(document=Document(file="", line=1, text="", value=None), release=DEFAULT_RELEASE)
"""The runtime of a plan before the stage `resolve`."""


class Delivery(NamedTuple):
    """The options for the delivery of objects to a cluster that may have older versions of them."""

    name_suffix_hash: bool = False
    """Whether the names end in a hash of the immutable fields, so that a change creates new objects."""
    argocd_replace: bool = False
    """Whether Argo CD must delete and recreate objects that it cannot update."""
    suspend: bool = False
    """Whether every JobSet without a Kueue queue is created suspended."""

    def with_more(self, more: Delivery) -> Delivery:
        """Return the options that either has."""
        return Delivery(*(one or other for one, other in zip(self, more, strict=True)))


PLAIN: Final = Delivery()
"""The objects as the Trainer controller creates them."""


class Project(NamedTuple):
    """The settings of a project's trainc.yaml that affect the compiled objects."""

    document: Document
    value: Tree = NOTHING
    """The document, reduced to these settings."""
    delivery: Mapping[str, Place] = NOTHING
    """The places of the delivery settings in the file, by the name in `Delivery`."""

    @property
    def accelerators(self) -> Tree:
        """The accelerator settings by resource name."""
        found: Tree = self.value.get("accelerators", NOTHING)
        return found

    def at(self, *path: str | int, key: bool = False) -> Place:
        """Return the place of a field of the file."""
        return Place(document=self.document, path=path, key=key)


NO_PROJECT: Final = Project(document=Document(file="", line=1, text="", value=None))
"""The value without a trainc.yaml, or if it has no such settings."""


def ancestor(job: Tree) -> str:
    """Return the TrainJob step that a replicated job runs, by its template's label, or an empty string."""
    return str(get(job, ("template", "metadata", "labels", ANCESTOR), ""))
