"""The values that cross stages: a TrainJob, the runtime it refers to, and the plan of the objects they become.

All of them are frozen, and their trees are shared and never changed in place; a stage returns a new plan. The plan
answers the questions that passes ask, so that no pass digs in manifests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Diagnostic, Document, ObjectId, Path, Place, failed
from trainc.kubernetes.trees import Tree, edit, get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.library import Library

ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label of a replicated job's template that says which step of the TrainJob the job is."""
NOTHING: Final[Tree] = {}
"""An empty mapping, shared like any other, and never changed."""
NODE: Final = "node"
"""The main container of a trainer job; also the usual name of the job itself."""
COMPLETION_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Where a pod of an indexed Job reads its own index (downward API)."""


class TrainJob(NamedTuple):
    """A TrainJob as the API server stores it: unknown fields pruned, defaults filled in."""

    document: Document
    value: Tree

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
        return self._mapping("spec")

    @property
    def trainer(self) -> Tree:
        """spec.trainer; a missing one is an empty one (difference trainer-optional)."""
        return self._mapping("spec", "trainer")

    @property
    def runtime_ref(self) -> Tree:
        """spec.runtimeRef, with its defaults."""
        return self._mapping("spec", "runtimeRef")

    @property
    def patches(self) -> list[Tree]:
        """spec.runtimePatches."""
        found = get(self.value, ("spec", "runtimePatches"))
        return found if isinstance(found, list) else []

    def metadata(self, key: str) -> Tree:
        """metadata.labels or metadata.annotations."""
        return self._mapping("metadata", key)

    def at(self, *path: str | int, key: bool = False) -> Place:
        """The place of a field of this TrainJob."""
        return Place(document=self.document, path=path, key=key)

    def _mapping(self, *path: str) -> Tree:
        found = get(self.value, path)
        return found if isinstance(found, dict) else {}


class Runtime(NamedTuple):
    """A TrainingRuntime or ClusterTrainingRuntime as the controller sees it: defaults filled in, typed."""

    document: Document
    value: Tree = NOTHING
    spec: Tree = NOTHING
    """The JobSetSpec of its template, through the Go types."""
    level: str = ""
    """Where it was found, in words: the given paths, --runtimes DIR, the stock runtimes."""

    @property
    def id(self) -> ObjectId:
        """Which object this is."""
        return ObjectId.of(self.value)

    @property
    def policy(self) -> Tree | None:
        """spec.mlPolicy; None when the runtime has none (which is not the same as an empty one)."""
        found = get(self.value, ("spec", "mlPolicy"))
        return found if isinstance(found, dict) else None

    @property
    def framework(self) -> str:
        """The key of its one framework policy, or `plain`."""
        return next((key for key in self.policy or {} if key != "numNodes"), "plain")

    @property
    def settings(self) -> Tree:
        """The framework's own part of the policy."""
        found = (self.policy or {}).get(self.framework)
        return found if isinstance(found, dict) else {}

    @property
    def gang(self) -> Tree | None:
        """spec.podGroupPolicy."""
        found = get(self.value, ("spec", "podGroupPolicy"))
        return found if isinstance(found, dict) else None

    def metadata(self, key: str) -> Tree:
        """The template's labels or annotations: those of the JobSet."""
        found = get(self.value, ("spec", "template", "metadata", key))
        return found if isinstance(found, dict) else {}

    def at(self, *path: str | int, key: bool = False) -> Place:
        """The place of a field of this runtime."""
        return Place(document=self.document, path=path, key=key)


NO_RUNTIME: Final = Runtime(document=Document(file="", line=1, text="", value=None))
"""What a plan holds before its runtime is resolved."""


class Slot(NamedTuple):
    """Which container of a JobSetSpec is meant: the replicated job's index, the list, the container's index."""

    job: int
    containers: str
    at: int

    @property
    def path(self) -> Path:
        """Its path in a JobSetSpec."""
        return (*pod_spec(self.job), self.containers, self.at)


def pod_spec(job: int) -> Path:
    """The path of a replicated job's pod spec in a JobSetSpec."""
    return ("replicatedJobs", job, "template", "spec", "template", "spec")


class Plan(NamedTuple):
    """One TrainJob on its way to a JobSet."""

    job: TrainJob
    library: Library
    runtime: Runtime = NO_RUNTIME
    spec: Tree = NOTHING
    """The JobSetSpec so far."""
    labels: Tree = NOTHING
    """The JobSet's labels so far."""
    annotations: Tree = NOTHING
    """The JobSet's annotations so far."""
    counts: tuple[int, ...] = ()
    """How many pods each replicated job runs, in the order of the spec's list."""
    others: tuple[Tree, ...] = ()
    """ConfigMaps, PodGroups."""
    objects: tuple[Tree, ...] = ()
    """What is written in the end: the JobSet first."""
    diagnostics: tuple[Diagnostic, ...] = ()
    stopped: bool = False
    """Whether going on makes no sense at all: there is no runtime to go on with."""

    # Questions

    @property
    def jobs(self) -> list[Tree]:
        """The replicated jobs of the spec."""
        found: list[Tree] = self.spec.get("replicatedJobs") or []
        return found

    def trainers(self) -> Iterator[int]:
        """The indices of all replicated jobs that are a trainer by their label."""
        return (i for i, job in enumerate(self.jobs) if ancestor(job) == "trainer")

    @property
    def trainer(self) -> int | None:
        """The index of the trainer job: the first one, where there are several."""
        return next(self.trainers(), None)

    @property
    def nodes(self) -> int:
        """How many nodes train."""
        return 1 if self.trainer is None else self.counts[self.trainer]

    def find(self, job: int | None, name: str, *, init: bool = False) -> Slot | None:
        """The container `name` of a replicated job; with `init`, an init container where no container has the name."""
        if job is None:
            return None
        for containers in ("containers", "initContainers")[: 2 if init else 1]:
            for index, container in enumerate(get(self.spec, (*pod_spec(job), containers), [])):
                if container.get("name") == name:
                    return Slot(job, containers, index)
        return None

    def named(self, job: str) -> int | None:
        """The index of the replicated job of that name."""
        return next((i for i, found in enumerate(self.jobs) if found.get("name") == job), None)

    def endpoint(self) -> str:
        """The host name of the trainer job's first pod, where processes meet (difference rendezvous-host)."""
        name = self.job.name
        if self.trainer is None:
            return f"{name}-{NODE}-0-0.{name}"
        subdomain = get(self.spec, ("network", "subdomain"), name)
        return f"{name}-{self.jobs[self.trainer].get('name')}-0-0.{subdomain}"

    @property
    def failed(self) -> bool:
        """Whether nothing may be made of it."""
        return failed(self.diagnostics)

    # Changes: each returns a new plan

    def on(self, slot: Slot | None, *, env: Iterable[Tree] = (), ports: Iterable[Tree] = ()) -> Plan:
        """Put variables and ports on a container: an entry of the same name (port) is replaced in place, else added."""
        if slot is None:
            return self

        def change(container: Tree) -> Tree:
            changed = dict(container)
            if variables := upsert(container.get("env"), env, same_name):
                changed["env"] = variables
            if opened := upsert(container.get("ports"), ports, same_port):
                changed["ports"] = opened
            return changed

        return self._replace(spec=edit(self.spec, slot.path, change))

    def with_nodes(self, count: int) -> Plan:
        """Let the trainer job run that many pods."""
        if self.trainer is None:
            return self
        counts = list(self.counts)
        counts[self.trainer] = count
        return self._replace(counts=tuple(counts))

    def report(self, diagnostics: Iterable[Diagnostic]) -> Plan:
        """Add what a check found."""
        found = tuple(diagnostics)
        return self._replace(diagnostics=self.diagnostics + found) if found else self


def ancestor(job: Tree) -> str:
    """Which step of the TrainJob a replicated job is, by its template's label; empty when it does not say."""
    return str(get(job, ("template", "metadata", "labels", ANCESTOR), ""))


def upsert(items: list[Tree] | None, added: Iterable[Tree], same: Any) -> list[Tree]:
    """`items` with each of `added` in the place of the first item that is the same, or at the end."""
    result = list(items or ())
    for new in added:
        for i, old in enumerate(result):
            if same(old, new):
                result[i] = new
                break
        else:
            result.append(new)
    return result


def same_name(a: Tree, b: Tree) -> bool:
    """Whether two variables are one."""
    return bool(a.get("name") == b.get("name"))


def same_port(a: Tree, b: Tree) -> bool:
    """Whether two ports are one: by name when both have one, else by number and protocol (unnamed-ports)."""
    if a.get("name") and b.get("name"):
        return bool(a["name"] == b["name"])
    number_and_protocol = (a.get("containerPort"), a.get("protocol") or "TCP")
    return number_and_protocol == (b.get("containerPort"), b.get("protocol") or "TCP")


def value(name: str, text: object) -> Tree:
    """A variable with a fixed value."""
    return {"name": name, "value": str(text)}


def from_field(name: str, path: str) -> Tree:
    """A variable that the kubelet fills from a field of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def copied(variable: Tree) -> Tree:
    """A variable as the controller copies it from the TrainJob: `value` beside `valueFrom` is dropped."""
    if "valueFrom" in variable and "value" in variable:
        return {key: field for key, field in variable.items() if key != "value"}
    return variable
