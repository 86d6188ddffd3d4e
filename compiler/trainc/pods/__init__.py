"""Pods: the pods of a compiled JobSet, before the scheduler and the kubelet change them.

Reads    a JobSet in its stored form, and the compiled and given ConfigMaps and Secrets.
Returns  its Jobs, and the pods of each: names, labels, annotations, and containers with the environment that the
         kubelet sets. A value that is only known in the cluster is Unknown, with the reason.
Source   JobSet v0.12.0: Jobs of a replicated job, their labels. Kubernetes 1.36: the Job controller's pods.
"""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.container_environment import Known, Unknown, Value, environment, expand
from trainc.kubernetes.pod_resources import defaulted, requests
from trainc.kubernetes.trees import Tree, get
from trainc.masking.masked_values import MASK, masked
from trainc.pipeline.checks import created_jobs as jobs
from trainc.pipeline.checks.joblabels import numbers, replicas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.kubernetes.container_environment import Shown, Sources

INDEX: Final = "batch.kubernetes.io/job-completion-index"
VARIABLE: Final = "JOB_COMPLETION_INDEX"
"""The variable that the Job controller appends to the containers of indexed Jobs, unless they set it."""
CONTAINERS: Final = ("initContainers", "containers")
LONGEST_PREFIX: Final = 58
"""The maximum length of a generated name before its five-character suffix; longer names are truncated."""
DOMAIN: Final = "svc.cluster.local"
"""The default cluster domain of Services."""
GENERATED: Final = "the API server generates it when the Job is created"
PRIORITY: Final = "jobset.sigs.k8s.io/priority"
"""The label in which JobSet's webhook records a pod's priority, as admission has set it."""
PRIORITIES: Final = {"system-cluster-critical": "2000000000", "system-node-critical": "2000001000"}
"""The priorities of the classes that every cluster has."""
NO_SCHEDULE: Final = {
    "effect": "NoSchedule",
    "key": "alpha.jobset.sigs.k8s.io/no-schedule",
    "operator": "Exists",
}


class Container(NamedTuple):
    """A container of a pod, as its processes find it."""

    tree: Tree
    """The container in the pod's spec, with requests defaulted from limits."""
    init: bool
    command: list[Value] | None
    """None is the image's entrypoint."""
    args: list[Value] | None
    env: dict[str, Value]
    missing: dict[int, Unknown]
    """The items of envFrom whose variables are unknown, by index."""
    sub_paths: dict[int, Value]
    """The expanded subPathExpr of each mount that has one, by index."""


class Pod(NamedTuple):
    """One pod."""

    job: Job
    completion: int | None
    """The completion index; None if the Job is not indexed."""
    name: str
    """The name without its suffix, a dash and five characters."""
    hostname: Value
    subdomain: str
    labels: dict[str, Value]
    annotations: dict[str, Value]
    containers: tuple[Container, ...]
    """The init containers first."""
    spec: Tree
    """The pod spec in the Job, with resource defaults."""

    @property
    def requests(self) -> Tree:
        """The requests that the scheduler counts."""
        return texts(requests(self.spec))

    @property
    def address(self) -> str | None:
        """The DNS name within the namespace."""
        known = isinstance(self.hostname, str) and self.subdomain
        return f"{self.hostname}.{self.subdomain}" if known else None

    @property
    def fqdn(self) -> str | None:
        """The fully qualified DNS name, in a cluster with the default domain."""
        known = self.address and self.job.namespace
        return f"{self.address}.{self.job.namespace}.{DOMAIN}" if known else None


class Job(NamedTuple):
    """One Job of a JobSet."""

    jobset: Tree
    replicated: Tree
    replica: int
    sources: Sources
    flavors: Mapping[str, str] = {}
    """The Kueue flavor of each resource in an empty cluster, if the queue is known."""
    file: str = ""
    """The file of the TrainJob."""
    masks: bool = False
    """Whether the pods' containers have `***` for secrets, also where `$(NAME)` refers to them."""

    @property
    def name(self) -> str:
        """The Job's name."""
        return f"{self.jobset['metadata']['name']}-{self.replicated['name']}-{self.replica}"

    @property
    def namespace(self) -> str:
        """The Job's namespace; empty if the manifest sets none."""
        return str(self.jobset["metadata"].get("namespace", ""))

    @property
    def indexed(self) -> bool:
        """Whether the pods have a completion index."""
        return bool(self.replicated["template"]["spec"].get("completionMode") == "Indexed")

    @property
    def size(self) -> int:
        """The number of pods that run until completion if none fails."""
        spec = self.replicated["template"]["spec"]
        at_once: int = spec.get("parallelism", 1)
        completions: int = spec.get("completions", at_once)
        return completions if at_once else 0

    def pods(self, index: int | None = None) -> Iterator[Pod]:
        """Yield the pods in index order, or only the pod with the given index."""
        indices = range(self.size) if index is None else range(index, min(index + 1, self.size))
        if not indices or (index is not None and not self.indexed):
            return
        template = self._template()
        for one in indices:
            yield self._pod(template, one if self.indexed else None)

    def _template(self) -> Tree:
        """Return the pod template of the Job."""
        template: Tree = jobs.make_job(self.jobset, self.replicated, self.replica)["spec"]["template"]
        spec = dict(template["spec"])
        if get(self.jobset, ("spec", "network", "enableDNSHostnames"), True):
            spec["subdomain"] = subdomain(self.jobset)
        if jobs.NAMESPACED_JOB in spec.get("nodeSelector", {}):
            spec["tolerations"] = [*spec.get("tolerations", ()), NO_SCHEDULE]
        if claimed := jobs.claims(self.jobset, spec):
            spec["volumes"] = [*spec.get("volumes", ()), *claimed]
        if self.indexed:
            for key in CONTAINERS:
                if key in spec:
                    spec[key] = [indexed(container) for container in spec[key]]
        spec = with_texts(defaulted(spec))
        if self.masks:
            found = {key: spec[key] for key in CONTAINERS if spec.get(key)}
            spec |= {key: [without_secrets(each) for each in listed] for key, listed in found.items()}
        return template | {"spec": spec}

    def _pod(self, template: Tree, index: int | None) -> Pod:
        metadata, spec = template.get("metadata") or {}, template["spec"]
        labels = {**metadata.get("labels", {}), **self._jobset_labels(), **self._job_labels(), PRIORITY: priority(spec)}
        annotations = {**metadata.get("annotations", {}), **self._jobset_labels(), **self._exclusive_placement()}
        name, hostname = self.name[:LONGEST_PREFIX], spec.get("hostname") or Unknown("it is the pod's name")
        if index is not None:
            labels[INDEX] = annotations[INDEX] = str(index)
            name = hostname = f"{self.name}-{index}"  # JobSet's webhook limits its length
        known = Known(
            name=Unknown(f"the API server appends five characters: {name}-?????"),
            namespace=self.namespace or Unknown("the manifest sets no namespace"),
            labels=masked(labels) if self.masks else labels,
            annotations=masked(annotations) if self.masks else annotations,
            spec=spec,
        )
        sources, shown = (masked_sources(self.sources), masked_variable) if self.masks else (self.sources, None)
        containers = tuple(
            started(container, known, sources, shown, init=key == "initContainers")
            for key in CONTAINERS
            for container in spec.get(key) or ()
        )
        return Pod(self, index, name, hostname, spec.get("subdomain", ""), labels, annotations, containers, spec)

    def _jobset_labels(self) -> dict[str, Value]:
        """Return the labels of JobSet on the pods, which are also annotations."""
        jobset, replicated = self.jobset, self.replicated
        counted = {key: str(number) for key, number in numbers(jobset, replicated, self.replica).items()}
        key: Value = Unknown("it contains the namespace, and the manifest sets none")
        if self.namespace:
            key = sha1(f"{self.namespace}/{self.name}".encode(), usedforsecurity=False).hexdigest()
        found: dict[str, Value] = {
            "global-replicas": counted["global-replicas"],
            "group-name": replicated.get("groupName", ""),
            "group-replicas": counted["group-replicas"],
            "job-global-index": counted["job-global-index"],
            "job-group-index": counted["job-group-index"],
            "job-index": str(self.replica),
            "job-key": key,
            "jobset-name": jobset["metadata"]["name"],
            "jobset-uid": Unknown("the API server generates it when the JobSet is created"),
            "replicatedjob-name": replicated["name"],
            "replicatedjob-replicas": str(replicas(replicated)),
            "restart-attempt": "0",
        }
        found = {f"jobset.sigs.k8s.io/{key}": value for key, value in found.items()}
        if coordinator := jobset["spec"].get("coordinator"):
            place = (coordinator["replicatedJob"], *(coordinator.get(key, 0) for key in ("jobIndex", "podIndex")))
            host = "-".join(map(str, (jobset["metadata"]["name"], *place)))
            found[jobs.COORDINATOR] = f"{host}.{subdomain(jobset)}"
        return found

    def _job_labels(self) -> dict[str, Value]:
        """Return the labels with which a Job selects its pods."""
        return {
            "batch.kubernetes.io/controller-uid": Unknown(GENERATED),
            "batch.kubernetes.io/job-name": self.name,
            "controller-uid": Unknown(GENERATED),
            "job-name": self.name,
        }

    def _exclusive_placement(self) -> dict[str, Value]:
        """Return the exclusive placement annotations, from the JobSet or the replicated job."""
        found: dict[str, Value] = {}
        for owner in (self.jobset, self.replicated["template"]):
            placed = get(owner, ("metadata", "annotations"), {})
            if jobs.EXCLUSIVE in placed:
                found |= {key: placed[key] for key in (jobs.EXCLUSIVE, jobs.BY_NODE_SELECTOR) if key in placed}
        return found


def jobs_of(
    jobset: Tree,
    sources: Sources,
    name: str | None = None,
    flavors: Mapping[str, Mapping[str, str]] | None = None,
) -> Iterator[Job]:
    """Yield the Jobs of a JobSet, in list order; with a name, those of the replicated job or the Job of that name.

    Args:
        jobset: the JobSet in its stored form.
        sources: the ConfigMaps and Secrets that its pods may refer to.
        name: the name of a replicated job or of a Job, if only its Jobs are wanted.
        flavors: the flavors of each replicated job that Kueue assigns first, by resource, if they are known.
    """
    for replicated in jobset["spec"].get("replicatedJobs") or ():
        of_job = (flavors or {}).get(replicated["name"], {})
        for replica in chosen(jobset, replicated, name):
            yield Job(jobset, replicated, replica, sources, of_job)


def chosen(jobset: Tree, replicated: Tree, name: str | None) -> range:
    """Return the replicas of a replicated job, or only the one whose Job has the given name."""
    found = range(replicas(replicated))
    if name is None or name == replicated["name"]:
        return found
    before = f"{jobset['metadata']['name']}-{replicated['name']}-"
    replica = name.removeprefix(before)
    if not name.startswith(before) or not (replica.isascii() and replica.isdecimal()) or len(replica) > LONGEST_PREFIX:
        return range(0)
    only = int(replica)
    return range(only, only + 1) if only in found and str(only) == replica else range(0)


def count(jobset: Tree, name: str | None, index: int | None, *, each: bool = True) -> int:
    """Return the number of pods that `jobs_of` and `Job.pods` yield for these arguments, without listing them.

    A Job without such pods counts as one; so does each Job if its pods are not listed one by one.
    """
    found = 0
    for replicated in jobset["spec"].get("replicatedJobs") or ():
        job = Job(jobset, replicated, 0, {})
        of_job = job.size if index is None and each else 1
        found += len(chosen(jobset, replicated, name)) * max(1, of_job)
    return found


def subdomain(jobset: Tree) -> str:
    """Return the name of the headless Service of a JobSet's pods."""
    return str(get(jobset, ("spec", "network", "subdomain"), "") or jobset["metadata"]["name"])


def priority(spec: Tree) -> Value:
    """Return the priority of a pod."""
    if name := spec.get("priorityClassName"):
        return PRIORITIES.get(name) or Unknown(f'it is the value of PriorityClass "{name}"')
    return Unknown("it is 0, unless the cluster has a default PriorityClass")


def indexed(container: Tree) -> Tree:
    """Return the container with the variable for its pod's completion index."""
    env = container.get("env") or []
    if any(variable["name"] == VARIABLE for variable in env):
        return container
    path = f"metadata.annotations['{INDEX}']"
    return container | {"env": [*env, {"name": VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": path}}}]}


def with_texts(spec: Tree) -> Tree:
    """Return a pod spec with its quantities as text."""
    changed = {key: [written(container) for container in spec[key]] for key in CONTAINERS if spec.get(key)}
    return written(spec) | changed | ({"overhead": texts(spec["overhead"])} if spec.get("overhead") else {})


def written(holder: Tree) -> Tree:
    """Return a container or a pod spec with its own quantities as text."""
    resources = holder.get("resources")
    if not resources:
        return holder
    return holder | {"resources": {k: texts(v) if k in ("limits", "requests") else v for k, v in resources.items()}}


def texts(amounts: Tree) -> Tree:
    """Return quantities as text."""
    return {name: str(amount) for name, amount in sorted(amounts.items())}


def without_secrets(container: Tree) -> Tree:
    """Return a container with its image, command, arguments and variables as they are shown in the JobSet."""
    shown: Tree = masked(container)
    return container | {key: shown[key] for key in ("image", "command", "args", "env") if key in shown}


def masked_sources(sources: Sources) -> Sources:
    """Return the data of ConfigMaps and Secrets with `***` for the values of Secrets."""
    return {
        (kind, name): {key: MASK if isinstance(value, str) else value for key, value in data.items()}
        if kind == "Secret"
        else data
        for (kind, name), data in sources.items()
    }


def masked_variable(name: str, value: str) -> str:
    """Return the value of a variable with its secrets masked."""
    shown: str = masked({"name": name, "value": value})["value"]
    return shown


def started(container: Tree, pod: Known, sources: Sources, shown: Shown | None, *, init: bool) -> Container:
    """Return a container as it starts in a pod; with `shown`, its variables as this function returns them."""
    env = environment(container, pod, sources, shown)
    command, args = (env.expanded(container[key]) if container.get(key) else None for key in ("command", "args"))
    missing = {index: unknown for index, (_, unknown) in env.missing.items()}
    mounts = enumerate(container.get("volumeMounts") or ())
    sub_paths = {index: expand(mount["subPathExpr"], env.lookup) for index, mount in mounts if mount.get("subPathExpr")}
    return Container(container, init, command, args, env.variables, missing, sub_paths)
