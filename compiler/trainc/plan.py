"""The value that crosses stages: a TrainJob, the runtime it refers to, and what they become so far.

It is frozen, and its trees are shared and never changed in place; a stage returns a new plan. It answers the questions
that passes ask, so that no pass digs in manifests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainc.diagnostics import Diagnostic, Path, failed
from trainc.kubernetes.trees import Tree, edit, get
from trainc.objects import NO_RUNTIME, NOTHING, Runtime, TrainJob, ancestor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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

    def with_nodes_of_job(self) -> Plan:
        """Let the trainer job run as many pods as the TrainJob says, if it does."""
        return self.with_nodes(self.job.trainer["numNodes"]) if "numNodes" in self.job.trainer else self

    def report(self, diagnostics: Iterable[Diagnostic]) -> Plan:
        """Add what a check found."""
        found = tuple(diagnostics)
        return self._replace(diagnostics=self.diagnostics + found) if found else self


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
