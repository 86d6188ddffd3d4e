"""The plan: the value that stages pass on, with a TrainJob, its runtime, and the objects compiled so far.

A plan is frozen; its trees are shared and never changed in place. A stage returns a new plan. The plan has the queries
that passes need, so that passes do not search manifests.
"""

from __future__ import annotations

from _thread import get_ident
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import POD
from trainc.base.records import NamedTuple
from trainc.base.trainjob_dialects import DIALECTS
from trainc.diagnostics import Diagnostic, Path, Place, Refused, failed
from trainc.kubernetes.trees import Memory, Tree, cleared_each_run, edit, get
from trainc.pipeline.objects import (
    NO_PROJECT,
    NO_RUNTIME,
    NOTHING,
    PLAIN,
    Delivery,
    Project,
    Runtime,
    TrainJob,
    ancestor,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.base.declarations import Phase
    from trainc.base.releases import TrainerRelease
    from trainc.diagnostics import Document, LintFinding, ObjectId
    from trainc.edits.patching.applying import JobSetPatches
    from trainc.frontends.lowering import Loss
    from trainc.kubernetes.violations import FieldValidation, Violation
    from trainc.pipeline.library import Library

NODE: Final = "node"
"""The main container of a trainer job; also the usual name of the job itself."""
COMPLETION_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
"""The field with the pod's own index in an indexed Job (downward API)."""
PROCESSES: Final = "PET_NPROC_PER_NODE"
"""The variable with the number of processes that torchrun starts, or a word."""
JOBSET_NAME: Final = "metadata.labels['jobset.sigs.k8s.io/jobset-name']"
"""The field with the name of the pod's JobSet (downward API)."""


class Slot(NamedTuple):
    """The position of a container in a JobSetSpec: the replicated job's index, the list, the container's index."""

    job: int
    containers: str
    at: int

    @property
    def path(self) -> Path:
        """The container's path in a JobSetSpec."""
        return (*pod_spec(self.job), self.containers, self.at)


def pod_spec(job: int) -> Path:
    """Return the path of a replicated job's pod spec in a JobSetSpec."""
    return ("replicatedJobs", job, *POD)


class Plan(NamedTuple):
    """The state of a TrainJob's compilation."""

    job: TrainJob
    library: Library
    release: TrainerRelease
    """The release of Trainer whose cluster gets the objects."""
    runtime: Runtime = NO_RUNTIME
    project: Project = NO_PROJECT
    """The settings of trainc.yaml that affect objects."""
    delivery: Delivery = PLAIN
    """The options for delivery to a cluster that may have older objects."""
    gang_scheduler: str = ""
    """The gang scheduler of a legacy job; empty without one."""
    field_validation: FieldValidation = "strict"
    """How the TrainJob's unknown fields are reported."""
    renders: bool = False
    """Whether a project says that a cluster gets the objects instead of the TrainJob."""
    patches: JobSetPatches | None = None
    """The patches of trainc.yaml for the JobSet; None without any."""
    suffix: str = ""
    """The hash suffix of the object names, if the option is set (`trainc.pipeline.suffix`)."""
    spec: Tree = NOTHING
    """The JobSetSpec so far."""
    gang_spec: Tree | None = None
    """The JobSetSpec whose requests count in a PodGroup, if they are not those of `spec`."""
    labels: Tree = NOTHING
    """The JobSet's labels so far."""
    annotations: Tree = NOTHING
    """The JobSet's annotations so far."""
    metadata: Tree = NOTHING
    """The JobSet's other metadata, which only patches set."""
    counts: tuple[int, ...] = ()
    """The number of pods of each replicated job, in the order of the spec's list."""
    needed: int | None = None
    """The number of pods with which the trainer job can start, if fewer than all (difference elastic-gang)."""
    entry: Tree | None = None
    """The `command` and `args` of the trainers' containers if the framework sets them, instead of spec.trainer's."""
    others: tuple[Tree, ...] = ()
    """ConfigMaps, PodGroups."""
    objects: tuple[Tree, ...] = ()
    """The objects of the output, the JobSet first."""
    diagnostics: tuple[Diagnostic, ...] = ()
    refused: tuple[Refused, ...] = ()
    """The violations in the objects; their lines are found after the last stage (`placing.refused`)."""
    quiet: frozenset[str] = frozenset()
    """The disabled lint rules."""
    quiet_in: Callable[[str], frozenset[str]] | None = None
    """The lint rules that are disabled for a file, of a TrainJob or a runtime; None without any."""
    lint_findings: tuple[LintFinding, ...] = ()
    """The lint findings, which become messages when all TrainJobs are done."""
    losses: tuple[Loss, ...] = ()
    """The fields of a legacy job that the objects lack, or have with another effect."""
    stopped: bool = False
    """Whether the later stages cannot run, because there is no runtime."""

    # Queries

    @property
    def name(self) -> str:
        """The JobSet name, on which all other object names are based: the TrainJob name and the suffix.

        Secrets use the TrainJob name without the suffix: the user creates them once, for every output of the TrainJob.
        """
        return self.job.name + self.suffix

    @property
    def jobs(self) -> list[Tree]:
        """The replicated jobs of the spec."""
        found: list[Tree] = self.spec.get("replicatedJobs") or []
        return found

    def trainers(self) -> Iterator[int]:
        """Yield the indices of all replicated jobs with the trainer label."""
        return (i for i, job in enumerate(self.jobs) if ancestor(job) == "trainer")

    @property
    def trainer(self) -> int | None:
        """The index of the first trainer job, or None."""
        return next(self.trainers(), None)

    @property
    def nodes(self) -> int:
        """The number of nodes that train."""
        if self.job.is_legacy:
            return sum(map(self.pods, self.trainers()))
        trainer = self.trainer
        return 1 if trainer is None else self.counts[trainer]

    def pods(self, job: int) -> int:
        """Return the number of pods of a replicated job, in all its Jobs: the length of `endpoints(job)`."""
        return max(0, int(self.jobs[job].get("replicas", 1))) * max(0, self.counts[job])

    def count_of_runtime(self, job: int) -> int:
        """Return the number of pods that the runtime sets for a replicated job, at least one."""
        policy = self.runtime.policy if self.job.own_runtime is None else None
        if policy is not None and ancestor(self.jobs[job]) == "trainer":
            nodes = policy.get("numNodes", 1)
        else:
            nodes = get(self.jobs[job], ("template", "spec", "parallelism"), 1)
        return max(int(nodes), 1)

    def find(self, job: int | None, name: str, *, init: bool = False) -> Slot | None:
        """Return the container `name` of a replicated job; with `init`, fall back to an init container of that name."""
        if job is None:
            return None
        for containers in ("containers", "initContainers")[: 2 if init else 1]:
            for index, container in enumerate(get(self.spec, (*pod_spec(job), containers), [])):
                if container.get("name") == name:
                    return Slot(job, containers, index)
        return None

    def containers(self, job: int) -> list[Slot]:
        """Return all containers of a replicated job, without its init containers."""
        found = get(self.spec, (*pod_spec(job), "containers"), [])
        return [Slot(job, "containers", index) for index in range(len(found))]

    def init_containers(self, job: int) -> list[Slot]:
        """Return all init containers of a replicated job."""
        found = get(self.spec, (*pod_spec(job), "initContainers"), None) or []
        return [Slot(job, "initContainers", index) for index in range(len(found))]

    def named(self, job: str) -> int | None:
        """Return the index of the replicated job of that name, or None."""
        return next((i for i, found in enumerate(self.jobs) if found.get("name") == job), None)

    def endpoint(self, pod: int | str = 0) -> str:
        """Return a trainer pod's host name; the first pod is the rendezvous endpoint (difference rendezvous-host).

        pod      the pod's index, or a reference to the variable that holds it: `$(NAME)`
        """
        trainer = self.trainer
        return f"{self.name}-{NODE}-0-{pod}.{self.name}" if trainer is None else self.host(trainer, 0, pod)

    def endpoints(self, job: int) -> Iterator[str]:
        """Yield the host names of all pods of a replicated job."""
        for replica in range(self.jobs[job].get("replicas", 1)):
            for pod in range(self.counts[job]):
                yield self.host(job, replica, pod)

    def is_of_runtime(self, place: Place) -> bool:
        """Return whether a place is in the runtime's document, which is another one than the TrainJob's."""
        return place.document.identity == self.runtime.document.identity != self.job.document.identity

    @property
    def runtime_is_in_tree(self) -> bool:
        """Whether a file of the tree has the runtime: it is not built in, and not read from outside of the root."""
        document = self.runtime.document
        return not self.library.is_built_in(document) and (
            not is_outside(document.file) or is_outside(self.job.document.file)
        )

    def object_metadata(self) -> Tree:
        """Return the metadata of an object with the JobSet's name and namespace."""
        return {"name": self.name} | ({"namespace": self.job.namespace} if self.job.namespace else {})

    @property
    def subdomain(self) -> str:
        """The name of the headless Service through which pods find one another."""
        return str(get(self.spec, ("network", "subdomain"), self.name))

    def host(self, job: int, replica: int | str, pod: int | str) -> str:
        """Return the host name of a pod of a replicated job; an index can be a reference to a variable of the pod."""
        return f"{self.name}-{self.jobs[job].get('name')}-{replica}-{pod}.{self.subdomain}"

    def node_resources(self) -> Tree:
        """Return the resources of a node: trainer.resourcesPerNode if it is set, else those of the `node` container.

        The container is that of the first replicated job that is named `node` or is a trainer, and has one.
        """
        given: Tree | None = self.job.trainer.get("resourcesPerNode")
        if given is not None:
            return given
        trainers = set(self.trainers())
        for index, job in enumerate(self.jobs):
            if (job.get("name") == NODE or index in trainers) and (slot := self.find(index, NODE)):
                found: Tree = get(self.spec, (*slot.path, "resources"), {})
                return found
        return {}

    @property
    def failed(self) -> bool:
        """Whether the plan has errors, which prevent output."""
        if self.refused and any(found.severity == "error" for each in self.refused for found in each.violations):
            return True
        if self.lint_findings and any(found.error for found in self.lint_findings):
            return True
        return bool(self.diagnostics) and failed(self.diagnostics)

    # Changes: each returns a new plan

    def on(
        self,
        slot: Slot | None,
        *,
        fields: Tree = NOTHING,
        env: Iterable[Tree] = (),
        ports: Sequence[Tree] = (),
        mounts: Iterable[Tree] = (),
    ) -> Plan:
        """Set fields of a container, and add variables, ports and mounts to it.

        An entry with the same name (for mounts, the same path) is replaced in place; other entries are appended.
        """
        if slot is None:
            return self

        def change(container: Tree) -> Tree:
            changed = container | fields
            if variables := upsert(container.get("env"), env, "name"):
                changed["env"] = variables
            if opened := with_ports(container.get("ports"), ports):
                changed["ports"] = opened
            if mounted := upsert(container.get("volumeMounts"), mounts, "mountPath"):
                changed["volumeMounts"] = mounted
            return changed

        return self._replace(spec=edit(self.spec, slot.path, change))

    def with_volumes(self, job: int, volumes: Iterable[Tree]) -> Plan:
        """Add volumes to the pods of a replicated job; a volume of the same name is replaced in place."""
        path = (*pod_spec(job), "volumes")
        return self._replace(spec=edit(self.spec, path, lambda there: upsert(there, volumes, "name")))

    def with_resources(self, jobs: Iterable[int], *, whole: bool = False) -> Plan:
        """Apply trainer.resourcesPerNode to the resources of the `node` containers of these jobs.

        It is merged into them or replaces them.

        whole   whether it replaces them also without limits and requests
        """
        per_node = self.job.trainer.get("resourcesPerNode")
        if per_node is None:
            return self
        if self.release.resources == "replace" and not whole and not per_node.keys() & {"limits", "requests"}:
            return self
        spec = self.spec
        for job in jobs:
            if node := self.find(job, NODE):
                spec = edit(spec, (*node.path, "resources"), lambda there: self._resources(there or NOTHING, per_node))
        return self._replace(spec=spec)

    def _resources(self, written: Tree, per_node: Tree) -> Tree:
        """Return the resources of a container with trainer.resourcesPerNode."""
        if self.release.resources == "merge":
            return _merged(written, per_node)
        kept = {"claims": written["claims"]} if "claims" in written else NOTHING
        return _merged(kept, per_node)

    def with_replicas(self) -> Plan:
        """Set the number of pods of each replicated job to the runtime's."""
        return self._replace(counts=tuple(map(self.count_of_runtime, range(len(self.jobs)))))

    def with_count(self, job: int, count: int) -> Plan:
        """Set the number of pods of a replicated job."""
        return self._replace(counts=(*self.counts[:job], count, *self.counts[job + 1 :]))

    def with_nodes_of_job(self) -> Plan:
        """Set the number of trainer pods to the TrainJob's numNodes, if it is set."""
        given, trainer = self.job.trainer, self.trainer
        return self if trainer is None or "numNodes" not in given else self.with_count(trainer, given["numNodes"])

    def refuse(self, stage: Phase, id: ObjectId, violations: Iterable[Violation]) -> Plan:
        """Add violations in an object, with paths in it, or in the JobSet from which the cluster creates it."""
        found = tuple(violations)
        return self._replace(refused=(*self.refused, Refused(stage, id, found))) if found else self

    def report(self, diagnostics: Iterable[Diagnostic]) -> Plan:
        """Add diagnostics."""
        found = tuple(map(self.in_own_names, diagnostics))
        return self._replace(diagnostics=self.diagnostics + found) if found else self

    def in_own_names(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a diagnostic with the names that the dialect of its object has for the fields of the form."""
        if self.runtime.form is not None and _is_in(diagnostic, self.runtime.form):
            from trainc.frontends.dialect_names import in_names_of

            return in_names_of(DIALECTS[self.release.dialect].for_runtimes, diagnostic, self.runtime.form)
        if not self.job.dialect or self.job.has_overrides or self.job.form is None:
            return diagnostic
        from trainc.frontends.dialect_names import in_names_of

        return in_names_of(DIALECTS[self.job.dialect], diagnostic, self.job.form)


def _is_in(diagnostic: Diagnostic, document: Document) -> bool:
    """Return whether the place of a diagnostic is in a document."""
    return isinstance(diagnostic.place, Place) and diagnostic.place.document.identity == document.identity


def is_outside(file: str) -> bool:
    """Return whether the path of a file leads out of the current folder."""
    return file.startswith(("/", "../"))


_MERGED: Final = Memory()
"""Merged resources by the identity of both sides, which are kept alive: jobs use few different node sizes."""


def _merged(base: Tree, override: Tree) -> Tree:
    from trainc.kubernetes.quantity import merge_resources

    key = (id(base), id(override))
    known = _MERGED.get(key) or _MERGED.keep(key, (base, override, merge_resources(base, override)))
    result: Tree = known[2]
    return result


def upsert(items: list[Tree] | None, added: Iterable[Tree], key: str) -> list[Tree]:
    """Return `items` with each of `added` in place of the first item with the same `key`, or at the end.

    The key of variables and volumes is their name; the key of mounts is their path, whatever volume they mount.
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


def with_ports(items: list[Tree] | None, added: Sequence[Tree]) -> list[Tree]:
    """Return `items` with each of `added` in place of the first same port, or at the end."""
    if not added:
        return items or []
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
    """Return whether two ports are the same: by name if both have one, else by number and protocol (unnamed-ports)."""
    if a.get("name") and b.get("name"):
        return bool(a["name"] == b["name"])
    number_and_protocol = (a.get("containerPort"), a.get("protocol") or "TCP")
    return number_and_protocol == (b.get("containerPort"), b.get("protocol") or "TCP")


def gpus(resources: Tree) -> int:
    """Return the number of GPUs in the requests, else in the limits.

    It is the first nonzero resource, in name order, whose name contains `gpu`.
    """
    from trainc.kubernetes.quantity import Quantity

    def count(quantities: Tree) -> int:
        named = (Quantity.from_json(quantities[name]) for name in sorted(quantities) if "gpu" in name.lower())
        return next((quantity.int64() for quantity in named if quantity.sign), 0)

    return count(resources.get("requests") or {}) or max(0, count(resources.get("limits") or {}))


def value(name: str, text: object) -> Tree:
    """Return a variable with a literal value."""
    return _variable(name, str(text), get_ident())


@lru_cache(maxsize=4096)
def _variable(name: str, text: str, thread: int) -> Tree:
    """Return one shared object per name, value and thread: many jobs have the same framework variables."""
    return {"name": name, "value": text}


def from_field(name: str, path: str) -> Tree:
    """Return a variable whose value the kubelet reads from a field of the pod."""
    return _from_field(name, path, get_ident())


@lru_cache(maxsize=4096)
def _from_field(name: str, path: str, thread: int) -> Tree:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


cleared_each_run(_variable.cache_clear)
cleared_each_run(_from_field.cache_clear)


def copied(variable: Tree) -> Tree:
    """Return a variable as the controller copies it from the TrainJob: `value` is dropped if there is a `valueFrom`."""
    if "valueFrom" in variable and "value" in variable:
        return {key: field for key, field in variable.items() if key != "value"}
    return variable
