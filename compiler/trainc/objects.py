"""The objects of the Trainer API, as the API server stores them: frozen, their trees shared and never changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.diagnostics import Document, ObjectId, Place
from trainc.frontends import VERSION
from trainc.kubernetes.trees import Tree, get
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from trainc.diagnostics import Path
    from trainc.frontends.moves import Move

ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label of a replicated job's template that says which step of the TrainJob the job is."""
OVERRIDES: Final = (("podSpecOverrides",), ("podTemplateOverrides",))
"""The fields of a TrainJob's spec that older dialects have in the place of runtimePatches."""
STEPS: Final = {"dataset": "dataset-initializer", "model": "model-initializer"}
"""The parts of spec.initializer, and the label, job and container that each is for."""
TRAINER_NODE: Final = "trainer-node"
INITIALIZER: Final = "initializer"
"""The jobs of a Training Operator v1.9 runtime, which has no such labels. The second runs both initializers."""
NOTHING: Final[Tree] = {}
"""An empty mapping, shared like any other, and never changed."""


def mapping(tree: Tree, key: str) -> Tree:
    """The mapping in a field of one; an empty one where nothing is there, or something else."""
    found = tree.get(key)
    return found if isinstance(found, dict) else NOTHING


class TrainJob(NamedTuple):
    """A TrainJob as the API server stores it: unknown fields pruned, defaults filled in, in the form of v2.3."""

    document: Document
    value: Tree
    dialect: str = "v2.3"
    """In which it was written."""
    moves: tuple[Move, ...] = ()
    """Where an older dialect wrote what stands elsewhere in `value`."""

    @property
    def id(self) -> ObjectId:
        """Which object this is."""
        return ObjectId.of(self.value)

    @property
    def name(self) -> str:
        """metadata.name."""
        return str(get(self.value, ("metadata", "name"), ""))

    @property
    def namespace(self) -> str:
        """metadata.namespace, or an empty string."""
        return str(get(self.value, ("metadata", "namespace"), ""))

    @property
    def spec(self) -> Tree:
        """Spec, or an empty mapping."""
        return mapping(self.value, "spec")

    @property
    def trainer(self) -> Tree:
        """spec.trainer; a missing one is an empty one (difference trainer-optional)."""
        return mapping(mapping(self.value, "spec"), "trainer")

    @property
    def runtime_ref(self) -> Tree:
        """spec.runtimeRef, with its defaults."""
        return mapping(mapping(self.value, "spec"), "runtimeRef")

    @property
    def patches(self) -> list[Tree]:
        """spec.runtimePatches."""
        found = get(self.value, ("spec", "runtimePatches"))
        return found if isinstance(found, list) else []

    @property
    def patches_field(self) -> str:
        """The field that patches are written in: an older dialect has overrides."""
        overrides = (move.source[1] for move in self.moves if move.source[1:2] in OVERRIDES)
        return f"spec.{next(overrides, 'runtimePatches')}"

    @property
    def patch_word(self) -> str:
        """The word for a patch in the dialect of the TrainJob."""
        return "patch" if self.patches_field == "spec.runtimePatches" else "override"

    def metadata(self, key: str) -> Tree:
        """metadata.labels or metadata.annotations."""
        return mapping(mapping(self.value, "metadata"), key)

    def at(self, *path: str | int, key: bool = False) -> Place:
        """The place of a field of this TrainJob, as it was written."""
        return Place(document=self.document, path=self.written(path), key=key)

    def written(self, path: Path) -> Path:
        """The path in the document of a field of `value`."""
        if not self.moves:
            return path
        from trainc.frontends.moves import written_at

        return written_at(path, self.moves)


class Runtime(NamedTuple):
    """A TrainingRuntime or ClusterTrainingRuntime as the controller sees it: defaults filled in, typed."""

    document: Document
    value: Tree = NOTHING
    spec: Tree = NOTHING
    """The JobSetSpec of its template, through the Go types."""
    level: str = ""
    """Where it was found, in words: the given paths, --runtimes DIR, the stock runtimes."""

    # What `value` says to every stage of every job, looked up once.
    policy: Tree | None = None
    """spec.mlPolicy; None when the runtime has none (which is not the same as an empty one)."""
    framework: str = "plain"
    """The key of its one framework policy, or `plain`."""
    settings: Tree = NOTHING
    """The framework's own part of the policy."""
    gang: Tree | None = None
    """spec.podGroupPolicy."""
    dialect: str = "v2.3"
    """`v1.9` where the trainer and the initializers are found by name (`training_operator`), not by label."""

    @classmethod
    def of(cls, document: Document, value: Tree, spec: Tree, level: str) -> Runtime:
        """The runtime of a value that the schema has admitted."""
        policy, gang = (_mapping(get(value, ("spec", key))) for key in ("mlPolicy", "podGroupPolicy"))
        framework = next((key for key in policy or {} if key != "numNodes"), "plain")
        settings = _mapping((policy or {}).get(framework)) or NOTHING
        dialect = "v1.9" if value.get("apiVersion") != VERSION and is_first_release(spec) else "v2.3"
        return cls(document, value, spec, level, policy, framework, settings, gang, dialect)

    @property
    def id(self) -> ObjectId:
        """Which object this is."""
        return ObjectId.of(self.value)

    def metadata(self, key: str) -> Tree:
        """The template's labels or annotations: those of the JobSet."""
        found = get(self.value, ("spec", "template", "metadata", key))
        return found if isinstance(found, dict) else {}

    def at(self, *path: str | int, key: bool = False) -> Place:
        """The place of a field of this runtime."""
        return Place(document=self.document, path=path, key=key)


def is_first_release(spec: Tree) -> bool:
    """Whether the jobs have the names of Training Operator v1.9, and no labels."""
    jobs = spec.get("replicatedJobs") or []
    return any(job.get("name") in (TRAINER_NODE, INITIALIZER) for job in jobs) and not any(map(ancestor, jobs))


def _mapping(value: object) -> Tree | None:
    return value if isinstance(value, dict) else None


NO_RUNTIME: Final = Runtime(document=Document(file="", line=1, text="", value=None))
"""What a plan holds before its runtime is resolved."""


class Project(NamedTuple):
    """What a project's trainc.yaml says of the objects themselves."""

    document: Document
    value: Tree = NOTHING
    """The document without what says nothing of objects."""

    @property
    def accelerators(self) -> Tree:
        """What belongs to a resource, by its name."""
        found: Tree = self.value.get("accelerators", NOTHING)
        return found

    def at(self, *path: str | int, key: bool = False) -> Place:
        """The place of a field of the file."""
        return Place(document=self.document, path=path, key=key)


NO_PROJECT: Final = Project(document=Document(file="", line=1, text="", value=None))
"""Where there is no trainc.yaml, or it says nothing of objects."""


def ancestor(job: Tree) -> str:
    """Which step of the TrainJob a replicated job is, by its template's label; empty when it does not say."""
    return str(get(job, ("template", "metadata", "labels", ANCESTOR), ""))
