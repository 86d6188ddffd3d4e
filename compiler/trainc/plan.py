"""The value that crosses stages: a TrainJob, the runtime it refers to, and what they become so far.

It is frozen, and its trees are shared and never changed in place; a stage returns a new plan. It answers the questions
that passes ask, so that no pass digs in manifests.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.delivery import PLAIN, Delivery
from trainc.diagnostics import Diagnostic, Path, Refused, failed
from trainc.kubernetes.trees import Memory, Tree, edit, forgotten, get
from trainc.objects import NO_PROJECT, NO_RUNTIME, NOTHING, Project, Runtime, TrainJob, ancestor
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.declarations import Phase
    from trainc.diagnostics import LintFinding, ObjectId
    from trainc.kubernetes.violations import FieldValidation, Violation
    from trainc.library import Library

NODE: Final = "node"
"""The main container of a trainer job; also the usual name of the job itself."""
COMPLETION_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""Where a pod of an indexed Job reads its own index (downward API)."""


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
    project: Project = NO_PROJECT
    """What trainc.yaml says of the objects."""
    delivery: Delivery = PLAIN
    """How the objects reach a cluster that may hold older ones."""
    field_validation: FieldValidation = "strict"
    """How the TrainJob's unknown fields are reported."""
    suffix: str = ""
    """What the names of the objects end in, where they say what cannot change in place (`trainc.suffix`)."""
    spec: Tree = NOTHING
    """The JobSetSpec so far."""
    labels: Tree = NOTHING
    """The JobSet's labels so far."""
    annotations: Tree = NOTHING
    """The JobSet's annotations so far."""
    counts: tuple[int, ...] = ()
    """How many pods each replicated job runs, in the order of the spec's list."""
    needed: int | None = None
    """With how many pods the trainer job can start, where these are fewer than all (difference elastic-gang)."""
    entry: Tree | None = None
    """The `command` and `args` of the trainers' containers where the framework makes them; else spec.trainer's."""
    others: tuple[Tree, ...] = ()
    """ConfigMaps, PodGroups."""
    objects: tuple[Tree, ...] = ()
    """What is written in the end: the JobSet first."""
    diagnostics: tuple[Diagnostic, ...] = ()
    refused: tuple[Refused, ...] = ()
    """What would be refused in the objects; its lines are found when the stages are done (`placing.refused`)."""
    quiet: frozenset[str] = frozenset()
    """The rules of stage lint that nobody wants to hear of."""
    lint_findings: tuple[LintFinding, ...] = ()
    """What nobody refuses, and its user would regret; in words when all TrainJobs are done."""
    stopped: bool = False
    """Whether going on makes no sense at all: there is no runtime to go on with."""

    # Questions

    @property
    def name(self) -> str:
        """The JobSet's name, from which those of all other objects are made: the TrainJob's, and the suffix.

        A Secret has the TrainJob's alone: it is made once, by hand, for whatever is compiled of it.
        """
        return self.job.name + self.suffix

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

    def count_of_runtime(self, job: int) -> int:
        """How many pods the runtime gives a replicated job: at least one."""
        if self.runtime.policy is not None and job in self.trainers():
            nodes = self.runtime.policy.get("numNodes", 1)
        else:
            nodes = get(self.jobs[job], ("template", "spec", "parallelism"), 1)
        return max(int(nodes), 1)

    def find(self, job: int | None, name: str, *, init: bool = False) -> Slot | None:
        """The container `name` of a replicated job; with `init`, an init container where no container has the name."""
        if job is None:
            return None
        for containers in ("containers", "initContainers")[: 2 if init else 1]:
            for index, container in enumerate(get(self.spec, (*pod_spec(job), containers), [])):
                if container.get("name") == name:
                    return Slot(job, containers, index)
        return None

    def containers(self, job: int) -> list[Slot]:
        """Every container of a replicated job, its init containers apart."""
        found = get(self.spec, (*pod_spec(job), "containers"), [])
        return [Slot(job, "containers", index) for index in range(len(found))]

    def named(self, job: str) -> int | None:
        """The index of the replicated job of that name."""
        return next((i for i, found in enumerate(self.jobs) if found.get("name") == job), None)

    def endpoint(self, pod: int | str = 0) -> str:
        """The host name of a pod of the trainer job: of the first, where processes meet (difference rendezvous-host).

        pod      its index, or a reference to the variable that holds it: `$(NAME)`
        """
        if self.trainer is None:
            return f"{self.name}-{NODE}-0-{pod}.{self.name}"
        return self.host(self.trainer, 0, pod)

    def endpoints(self, job: int) -> Iterator[str]:
        """The host names of all pods of a replicated job."""
        for replica in range(self.jobs[job].get("replicas", 1)):
            for pod in range(self.counts[job]):
                yield self.host(job, replica, pod)

    def named_like_the_job(self) -> Tree:
        """The metadata of an object with the JobSet's own name, in its namespace."""
        return {"name": self.name} | ({"namespace": self.job.namespace} if self.job.namespace else {})

    @property
    def subdomain(self) -> str:
        """The name of the headless Service by which pods find one another."""
        return str(get(self.spec, ("network", "subdomain"), self.name))

    def host(self, job: int, replica: int | str, pod: int | str) -> str:
        """The host name of a pod of a replicated job; a number may be a variable that the pod has."""
        return f"{self.name}-{self.jobs[job].get('name')}-{replica}-{pod}.{self.subdomain}"

    def node_resources(self) -> Tree:
        """What a node asks for: trainer.resourcesPerNode alone when it is given, else the runtime's node container.

        The container is that of the first replicated job that is named `node` or is a trainer, and has one.
        """
        if "resourcesPerNode" in self.job.trainer:
            given: Tree = self.job.trainer["resourcesPerNode"]
            return given
        trainers = set(self.trainers())
        for index, job in enumerate(self.jobs):
            if (job.get("name") == NODE or index in trainers) and (slot := self.find(index, NODE)):
                found: Tree = get(self.spec, (*slot.path, "resources"), {})
                return found
        return {}

    @property
    def failed(self) -> bool:
        """Whether nothing may be made of it."""
        return bool(self.refused) or (bool(self.diagnostics) and failed(self.diagnostics))

    # Changes: each returns a new plan

    def on(
        self, slot: Slot | None, *, env: Iterable[Tree] = (), ports: Iterable[Tree] = (), mounts: Iterable[Tree] = ()
    ) -> Plan:
        """Put variables, ports and mounts on a container.

        An entry of the same name (port, path) is replaced in place, else added.
        """
        if slot is None:
            return self

        def change(container: Tree) -> Tree:
            changed = dict(container)
            if variables := upsert(container.get("env"), env, "name"):
                changed["env"] = variables
            if opened := with_ports(container.get("ports"), ports):
                changed["ports"] = opened
            if mounted := upsert(container.get("volumeMounts"), mounts, "mountPath"):
                changed["volumeMounts"] = mounted
            return changed

        return self._replace(spec=edit(self.spec, slot.path, change))

    def with_volumes(self, job: int, volumes: Iterable[Tree]) -> Plan:
        """Give the pods of a replicated job volumes: one of the same name is replaced in place, else added."""
        path = (*pod_spec(job), "volumes")
        return self._replace(spec=edit(self.spec, path, lambda there: upsert(there, volumes, "name")))

    def with_resources(self, jobs: Iterable[int]) -> Plan:
        """Merge trainer.resourcesPerNode into what the `node` containers of these jobs ask for."""
        per_node = self.job.trainer.get("resourcesPerNode")
        if per_node is None:
            return self
        spec = self.spec
        for job in jobs:
            if node := self.find(job, NODE):
                spec = edit(spec, (*node.path, "resources"), lambda there: _merged(there or NOTHING, per_node))
        return self._replace(spec=spec)

    def with_count(self, job: int, count: int) -> Plan:
        """Let a replicated job run that many pods."""
        return self._replace(counts=(*self.counts[:job], count, *self.counts[job + 1 :]))

    def with_nodes_of_job(self) -> Plan:
        """Let the trainer job run as many pods as the TrainJob says, if it does."""
        if self.trainer is None or "numNodes" not in self.job.trainer:
            return self
        return self.with_count(self.trainer, self.job.trainer["numNodes"])

    def refuse(self, stage: Phase, id: ObjectId, violations: Iterable[Violation]) -> Plan:
        """Add what would be refused in one of the objects; the paths are those of the JobSet."""
        found = tuple(violations)
        return self._replace(refused=(*self.refused, Refused(stage, id, found))) if found else self

    def report(self, diagnostics: Iterable[Diagnostic]) -> Plan:
        """Add what a check found."""
        found = tuple(diagnostics)
        return self._replace(diagnostics=self.diagnostics + found) if found else self


_MERGED: Final = Memory()
"""Resources that were merged, by the identity of both sides, which are kept: there are few sizes of nodes."""


def _merged(base: Tree, override: Tree) -> Tree:
    from trainc.kubernetes.resources import merge_resources

    key = (id(base), id(override))
    known = _MERGED.get(key) or _MERGED.keep(key, (base, override, merge_resources(base, override)))
    result: Tree = known[2]
    return result


def upsert(items: list[Tree] | None, added: Iterable[Tree], key: str) -> list[Tree]:
    """`items` with each of `added` in the place of the first item of the same `key`, or at the end.

    Variables and volumes are one by their name, mounts by their path: a container has one at each, whatever the volume.
    """
    added = list(added)
    if not added:
        return items or []
    result = list(items or ())
    places: dict[Any, int] = {}
    for index, item in enumerate(result):
        places.setdefault(item.get(key), index)
    for new in added:
        index = places.setdefault(new.get(key), len(result))
        result[index : index + 1] = [new]
    return result


def with_ports(items: list[Tree] | None, added: Iterable[Tree]) -> list[Tree]:
    """As `upsert`, of ports."""
    result = list(items or ())
    for new in added:
        for i, old in enumerate(result):
            if same_port(old, new):
                result[i] = new
                break
        else:
            result.append(new)
    return result


def same_port(a: Tree, b: Tree) -> bool:
    """Whether two ports are one: by name when both have one, else by number and protocol (unnamed-ports)."""
    if a.get("name") and b.get("name"):
        return bool(a["name"] == b["name"])
    number_and_protocol = (a.get("containerPort"), a.get("protocol") or "TCP")
    return number_and_protocol == (b.get("containerPort"), b.get("protocol") or "TCP")


def gpus(resources: Tree) -> int:
    """GPUs in the requests, else in the limits: whatever has `gpu` in its name, the first by name that is not zero."""
    from trainc.kubernetes.quantity import Quantity

    def among(quantities: Tree) -> int:
        named = (Quantity.from_json(quantities[name]) for name in sorted(quantities) if "gpu" in name.lower())
        return next((quantity.value() for quantity in named if quantity.sign), 0)

    return among(resources.get("requests") or {}) or max(0, among(resources.get("limits") or {}))


def value(name: str, text: object) -> Tree:
    """A variable with a fixed value."""
    return _variable(name, str(text))


@lru_cache(maxsize=4096)
def _variable(name: str, text: str) -> Tree:
    """One for all jobs: most variables of a framework are the same for many."""
    return {"name": name, "value": text}


@lru_cache(maxsize=4096)
def from_field(name: str, path: str) -> Tree:
    """A variable that the kubelet fills from a field of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


forgotten(_variable.cache_clear)
forgotten(from_field.cache_clear)


def copied(variable: Tree) -> Tree:
    """A variable as the controller copies it from the TrainJob: `value` beside `valueFrom` is dropped."""
    if "valueFrom" in variable and "value" in variable:
        return {key: field for key, field in variable.items() if key != "value"}
    return variable
