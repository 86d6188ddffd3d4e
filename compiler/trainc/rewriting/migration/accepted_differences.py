"""The differences that keep the behaviour of a migrated job: one table.

Reads    the objects of a legacy job and of the TrainJob that replaces it.
Returns  the rows of the table by which the objects differ, and all other differences, also in words. Without others,
         the TrainJob runs as the legacy job does.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_JOBSET, JOBSET, POD
from trainc.base.records import NamedTuple
from trainc.base.texts import first_of
from trainc.diagnostics import ObjectId
from trainc.kubernetes.trees import get, put
from trainc.legacy.replica_specs import LABEL as OPERATOR_PREFIX
from trainc.pipeline.frameworks.mpi import SSH
from trainc.pipeline.lint import ttl_repeats_training
from trainc.pipeline.lint.gpu_processes import reads_variable
from trainc.pipeline.objects import ANCESTOR
from trainc.pipeline.plan import PROCESSES
from trainc.pipeline.schedulers.volcano import QUEUE
from trainc.review.changes import Change, changes
from trainc.review.formats import edited
from trainc.rewriting.migration.old_names import LISTS, with_old_names
from trainc.rewriting.migration.torchrun_commands import (
    TORCHRUN_NAMES,
    mentions,
    runs_torchrun,
    texts,
    with_torchrun_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainc.kubernetes.trees import Path, Tree


PROCESS_VARIABLES: Final = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""The variables that torchrun sets for its processes."""
TORCHRUN_PREFIX: Final = "PET_"
"""The prefix of the variables that torchrun reads."""
UNUSED_KEYS: Final = "/mnt/mpi-ssh-auth"
"""Where Trainer mounts its volume of SSH keys in a pod with a volume of its own for them."""
DEFAULT_LIMIT: Final = 6
"""The backoffLimit of a Job without one."""
JOB_NAME: Final = f"{OPERATOR_PREFIX}job-name"
_PORTS: Final = frozenset({"MASTER_PORT", "PET_MASTER_PORT", "PET_RDZV_ENDPOINT"})
_PORT: Final = re.compile(r"(:|^)[0-9]+$")
_REFERENCE: Final = re.compile(r"\$\(([A-Za-z_][\w.-]*)\)")
_ENV: Final = "env"
_LAST: Final = {"name": ""}
"""A variable that both sides have, so that the variables are matched by their names, also if all of them differ."""
_OF_CONTAINER: Final = re.compile(r"^.*\.(?:initContainers|containers)\[([^\]]*)\]\.")
_OF_JOB: Final = re.compile(r"^spec\.replicatedJobs\[([^\]]*)\]\.(?:template\.spec\.)?")
SHOWN: Final = 3
"""The number of reasons that a line shows."""


class ObjectDifference(NamedTuple):
    """A change of an object, with the containers that have it."""

    change: Change
    old: Tree
    """The old container, or an empty mapping if the change is in no container."""
    new: Tree
    path: Path
    """The path in the container, or in the object."""
    kind: str
    """The kind of the object."""
    pod: Tree
    """The new pod, or an empty mapping if the change is in no container."""
    of_new: Tree
    """The new object."""


class Row(NamedTuple):
    """A row of the table."""

    id: str
    difference: str
    reason: str
    part: str = ""
    """The part of a job whose names the row allows to differ; empty for a row with a condition."""
    applies: Callable[[ObjectDifference], bool] | None = None


class Comparison(NamedTuple):
    """The result of a comparison."""

    rows: tuple[Row, ...]
    """The rows by which the objects differ, in the order of the table."""
    others: tuple[Change, ...]
    """The other differences."""
    accepted: tuple[tuple[str, str], ...] = ()
    """Each accepted difference that is no other name: the row's id, and the difference in words."""

    @property
    def is_same(self) -> bool:
        """Whether the behaviour is kept."""
        return not self.others


def _is_variable(difference: ObjectDifference, kind: str) -> bool:
    return difference.change.kind == kind and len(difference.path) == 2 and difference.path[0] == _ENV


def _is_trainer_label(difference: ObjectDifference) -> bool:
    return difference.change.path[-3:] == ("metadata", "labels", ANCESTOR)


def _is_job_name(difference: ObjectDifference) -> bool:
    return difference.change.kind == "removed" and difference.change.path[-2:] == ("labels", JOB_NAME)


def _is_added_variable(difference: ObjectDifference) -> bool:
    """Return whether an added variable has no effect: no text mentions it, and it is not one that torchrun reads.

    An image or a script can start torchrun, too.
    """
    if not _is_variable(difference, "added"):
        return False
    name = difference.change.new["name"]
    return not name.startswith(TORCHRUN_PREFIX) and not mentions(difference.old, name)


def _is_moved_variable(difference: ObjectDifference) -> bool:
    """Return whether the order of variables differs, and each `$(X)` refers to the same value."""
    if difference.change.kind != "moved" or difference.path != (_ENV,):
        return False
    return _references(difference.old) == _references(difference.new)


def _references(container: Tree) -> set[tuple[str, str]]:
    """Return the pairs of a variable and one that it refers to and that precedes it."""
    before: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    for variable in container.get(_ENV) or ():
        for name in _REFERENCE.findall(str(variable.get("value", ""))):
            if name in before:
                pairs.add((variable["name"], name))
        before.add(variable["name"])
    return pairs


def _is_process_variable(difference: ObjectDifference) -> bool:
    if not _is_variable(difference, "removed"):
        return False
    name = difference.change.old["name"]
    return name in PROCESS_VARIABLES and runs_torchrun(difference.new) and not mentions(difference.new, name)


def _is_passed_on(difference: ObjectDifference) -> bool:
    """Return whether a command of torchrun reads the same value from the variable of another name."""
    change, path = difference.change, difference.path
    if change.kind != "changed" or path[:1] not in (("command",), ("args",)) or not runs_torchrun(difference.new):
        return False
    if change.new != with_torchrun_names(str(change.old)):
        return False
    old, new = (
        {each["name"]: {**each, "name": ""} for each in side.get(_ENV) or ()}
        for side in (difference.old, difference.new)
    )
    read = [name for name in TORCHRUN_NAMES if mentions({"args": [change.old]}, name)]
    return all(name in _PORTS or old.get(name) == new.get(TORCHRUN_NAMES[name]) for name in read)


def _is_unread_count(difference: ObjectDifference) -> bool:
    """Return whether the number of processes for torchrun differs, which the command does not start."""
    change = difference.change
    if change.kind != "changed" or difference.path[:1] != (_ENV,) or difference.path[-1] != "value":
        return False
    name = difference.new[_ENV][difference.path[1]]["name"]
    return name == PROCESSES and not reads_variable(difference.new) and not mentions(difference.new, name)


def _is_added_port(difference: ObjectDifference) -> bool:
    """Return whether a container declares one more port, which is information, except on the network of the node."""
    is_port = difference.change.kind == "added" and difference.path[:1] == ("ports",) and len(difference.path) == 2
    return is_port and not difference.pod.get("hostNetwork") and "name" not in difference.change.new


def _is_rendezvous_port(difference: ObjectDifference) -> bool:
    """Return whether the port of the rendezvous differs: in a variable, or in the ports of the container."""
    change, path = difference.change, difference.path
    if path[:1] == ("ports",) and runs_torchrun(difference.new) and len(path) > 1 and change.kind != "moved":
        at = len(change.path) - len(path) + 1
        sides = [(difference.old, change.old_path[at])] * (change.kind != "added" or len(path) > 2)
        sides += [(difference.new, change.new_path[at])] * (change.kind != "removed" or len(path) > 2)
        return all(get(tree, ("ports", index, "containerPort")) in _rendezvous_ports(tree) for tree, index in sides)
    if path[:1] != (_ENV,) or len(path) != 3 or path[-1] != "value" or change.kind != "changed":
        return False
    name = difference.new[_ENV][path[1]]["name"]
    is_torchruns = name.startswith(TORCHRUN_PREFIX) or runs_torchrun(difference.new)
    is_unread = is_torchruns and not mentions(difference.old, name)
    return name in _PORTS and is_unread and _host(change.old) == _host(change.new)


def _host(text: Any) -> str:
    return _PORT.sub("", str(text))


def _rendezvous_ports(container: Tree) -> set[int]:
    """Return the ports in the variables of the rendezvous of a container."""
    found = set()
    for variable in container.get(_ENV) or ():
        match = _PORT.search(str(variable.get("value", ""))) if variable["name"] in _PORTS else None
        if match:
            found.add(int(match[0].removeprefix(":")))
    return found


def _is_mode_of_keys(difference: ObjectDifference) -> bool:
    """Return whether the mode of SSH keys differs. The rule `ssh-key-mode` reports those that ssh refuses."""
    path = difference.change.path
    at = next((index for index, step in enumerate(path) if step == "volumes"), None)
    if at is None or path[at + 2 : at + 3] != ("secret",):
        return False
    is_mode = path[at + 3 :] == ("defaultMode",) or (path[at + 3 : at + 4] == ("items",) and path[-1] == "mode")
    return is_mode and difference.kind == JOBSET.kind


def _is_group_of_keys(difference: ObjectDifference) -> bool:
    """Return whether pods get an fsGroup, and nothing else in their security context."""
    change = difference.change
    if change.kind != "added" or difference.kind != JOBSET.kind or difference.old:
        return False
    is_context = change.path[-1:] == ("securityContext",) and set(change.new) == {"fsGroup"}
    return is_context or change.path[-2:] == ("securityContext", "fsGroup")


def _is_default_limit(difference: ObjectDifference) -> bool:
    """Return whether a Job has the limit that Kubernetes gives it."""
    change = difference.change
    is_limit = change.path[-1:] == ("backoffLimit",) and difference.kind == JOBSET.kind
    return is_limit and (change.kind, change.old) == ("removed", DEFAULT_LIMIT)


def _is_end_of_all(difference: ObjectDifference) -> bool:
    """Return whether a Job of torchrun succeeds with all its pods instead of the first one."""
    change = difference.change
    if (change.kind, change.path[-1:]) != ("removed", ("successPolicy",)) or len(change.path) < len(POD):
        return False
    pod: Tree = get(difference.of_new, (*change.new_path[:-1], *POD[2:]), {})
    return all(map(runs_torchrun, pod.get("containers") or ({},)))


def _is_time_to_live(difference: ObjectDifference) -> bool:
    return difference.change.kind == "removed" and difference.change.path == ("spec", ttl_repeats_training.FIELD)


def _is_unused_mount(difference: ObjectDifference) -> bool:
    """Return whether Trainer's volume of SSH keys is added, and mounted where nothing looks for it."""
    change, path = difference.change, difference.path
    if change.kind != "added" or difference.kind != JOBSET.kind:
        return False
    if path[:1] == ("volumeMounts",):
        is_here = isinstance(change.new, dict) and change.new["mountPath"] == UNUSED_KEYS
        return is_here and not any(UNUSED_KEYS in text for text in texts(difference.old))
    return change.path[-2:-1] == ("volumes",) and change.new["name"] == SSH


def _is_search_domain(difference: ObjectDifference) -> bool:
    """Return whether pods lack the search domain of their JobSet, which is all that their dnsConfig has."""
    change = difference.change
    if change.kind != "removed" or change.path[-1:] != ("dnsConfig",) or set(change.old) != {"searches"}:
        return False
    return [domain.split(".")[2:] for domain in change.old["searches"]] == [["svc", "cluster", "local"]]


def _is_request(difference: ObjectDifference) -> bool:
    """Return whether a container has the requests that the API server adds to its pod: those in the limits."""
    change, path = difference.change, difference.path
    if change.kind != "added" or path[:2] != ("resources", "requests"):
        return False
    limits = get(difference.old, ("resources", "limits"), {})
    added: Tree = change.new if len(path) == 2 else {path[2]: change.new}  # type: ignore[dict-item]
    return all(limits.get(name) == amount for name, amount in added.items())


def _is_queue(difference: ObjectDifference) -> bool:
    """Return whether a JobSet has the annotation with the queue of its PodGroup."""
    change = difference.change
    if change.kind != "added" or change.path[:2] != ("metadata", "annotations") or difference.kind != JOBSET.kind:
        return False
    added = change.new if len(change.path) == 2 else {change.path[2]: change.new}
    return set(added) == {QUEUE}


TABLE: Final = (
    Row(
        "one-job",
        "all pods are in one Job",
        "the templates of the roles are equal; a worker that fails for good as the Master succeeds fails the job, and "
        "the pods have no labels of their role",
        part="roles",
    ),
    Row(
        "job-names",
        "the Jobs of the JobSet have other names",
        "so have their pods, which `trainc pods` lists; selectors that name a Job must follow",
        part="jobs",
    ),
    Row(
        "container-names",
        "the main container is named node",
        "use `kubectl logs -c node`",
        part="containers",
    ),
    Row(
        "port-names",
        "ports have other names",
        "their numbers are the same",
        part="ports",
    ),
    Row(
        "volume-names",
        "volumes have other names",
        "they hold the same files at the same paths",
        part="volumes",
    ),
    Row(
        "host-names",
        "the pods have other host names",
        "the variables and files that name them follow",
        part="hosts",
    ),
    Row(
        "trainer-labels",
        "the Jobs have other labels of Trainer",
        "only Trainer and trainc read them",
        applies=_is_trainer_label,
    ),
    Row(
        "job-name-label",
        "the pods have no label `training.kubeflow.org/job-name`",
        "select them by `jobset.sigs.k8s.io/jobset-name`, which has the same value",
        applies=_is_job_name,
    ),
    Row(
        "added-variables",
        "containers have more environment variables",
        "nothing in the job reads them",
        applies=_is_added_variable,
    ),
    Row(
        "variable-order",
        "environment variables have another order",
        "each keeps its value",
        applies=_is_moved_variable,
    ),
    Row(
        "process-variables",
        "containers have no RANK, WORLD_SIZE, MASTER_ADDR or MASTER_PORT",
        "torchrun sets them for its processes, and nothing else in the job reads them",
        applies=_is_process_variable,
    ),
    Row(
        "default-limit",
        "no `backoffLimit: 6`",
        "it is the default of a Job",
        applies=_is_default_limit,
    ),
    Row(
        "end-of-all",
        "the job succeeds when all nodes have, not with the first one",
        "the agents of torchrun wait for one another at the end",
        applies=_is_end_of_all,
    ),
    Row(
        "time-to-live",
        "`ttlSecondsAfterFinished` is left out",
        "Trainer creates a deleted JobSet again, and the training repeats: delete finished TrainJobs",
        applies=_is_time_to_live,
    ),
    Row(
        "passed-on",
        "the command reads PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR or PET_MASTER_PORT",
        "they have the values of WORLD_SIZE, RANK, MASTER_ADDR and MASTER_PORT, and follow numNodes",
        applies=_is_passed_on,
    ),
    Row(
        "unread-processes",
        "PET_NPROC_PER_NODE has another value",
        "only torchrun reads it, and the job does not start torchrun",
        applies=_is_unread_count,
    ),
    Row(
        "added-port",
        "containers declare one more port",
        "a declared port only informs, except on the network of the node",
        applies=_is_added_port,
    ),
    Row(
        "rendezvous-port",
        "the rendezvous has another port",
        "all nodes have the same one",
        applies=_is_rendezvous_port,
    ),
    Row(
        "ssh-key-modes",
        "the files of the SSH keys have other modes",
        "ssh accepts the key with each of the modes (rule `ssh-key-mode`)",
        applies=_is_mode_of_keys,
    ),
    Row(
        "unused-ssh-keys",
        "the SSH keys are also in /mnt/mpi-ssh-auth",
        "Trainer mounts them there; nothing in the job names the folder",
        applies=_is_unused_mount,
    ),
    Row(
        "ssh-key-group",
        "the pods have an fsGroup",
        "without it, their user cannot read the SSH key; no volume of the pods outlives them",
        applies=_is_group_of_keys,
    ),
    Row(
        "search-domain",
        "the workers of Open MPI have no DNS search domain",
        "they connect to the launcher by its address",
        applies=_is_search_domain,
    ),
    Row(
        "requests-of-limits",
        "requests that equal the limits are written out",
        "the API server adds them to the pods anyway; Trainer needs them for the resources of a gang",
        applies=_is_request,
    ),
    Row(
        "queue-annotation",
        "the JobSet has the annotation `scheduling.volcano.sh/queue-name`",
        "Trainer takes the queue of a PodGroup from it",
        applies=_is_queue,
    ),
)
"""The table."""
ONE_JOB: Final = TABLE[0]
"""The row of a job whose equal roles are several Jobs before."""


def compare(old: Sequence[Tree], new: Sequence[Tree]) -> Comparison:
    """Return the differences of a job's objects, the JobSet first."""
    renamed = with_old_names(old, new)
    rows = {row.id for row in TABLE if row.part in renamed.parts}
    others: list[Change] = []
    accepted: list[tuple[str, str]] = []
    for before, after in _pairs(old, renamed.objects):
        if before is None or after is None:
            others.append(_presence(before, after))
            continue
        objects = _Objects(before, after)
        for change in changes(objects.old, objects.new):
            row = next((row for row in TABLE if row.applies and row.applies(objects.difference(change))), None)
            if row is None:
                others.append(change)
            else:
                rows.add(row.id)
                accepted.append((row.id, reason(change)))
    return Comparison(tuple(row for row in TABLE if row.id in rows), tuple(others), tuple(dict.fromkeys(accepted)))


def _pairs(old: Sequence[Tree], new: Sequence[Tree]) -> Iterator[tuple[Tree | None, Tree | None]]:
    before, after = ({_key(tree): tree for tree in side} for side in (old, new))
    for key in dict.fromkeys((*before, *after)):
        yield before.get(key), after.get(key)


def _key(tree: Tree) -> tuple[str, str, str]:
    id = ObjectId.from_manifest(tree)
    return id.kind, id.namespace, id.name


def _presence(before: Tree | None, after: Tree | None) -> Change:
    tree = before or after
    assert tree is not None, "one side has the object"
    kind = "removed" if after is None else "added"
    name = f'{tree["kind"]} "{tree["metadata"]["name"]}"'
    return Change("removed", name, (), (), old=tree) if kind == "removed" else Change("added", name, (), (), new=tree)


class _Objects:
    """An object before and after. Absent lists of variables and ports are empty, so that each item is a change."""

    def __init__(self, old: Tree, new: Tree) -> None:
        self.kind = str(old["kind"])
        self.old, self.new = (_with_empty_lists(tree) if self.kind == JOBSET.kind else tree for tree in (old, new))

    @cached_property
    def depth(self) -> int:
        """The length of a container's path in a JobSet."""
        return len(JOBS_OF_JOBSET) + 1 + len(POD) + 2

    def difference(self, change: Change) -> ObjectDifference:
        """Return a change with its containers."""
        path = change.path
        inside = self.kind == JOBSET.kind and len(path) > self.depth and path[self.depth - 2] in LISTS
        if not inside:
            return ObjectDifference(change, {}, {}, path, self.kind, {}, self.new)
        old, new = (
            get(tree, at[: self.depth], {}) for tree, at in ((self.old, change.old_path), (self.new, change.new_path))
        )
        pod = get(self.new, change.new_path[: self.depth - 2], {})
        return ObjectDifference(change, old, new, path[self.depth :], self.kind, pod, self.new)


def _with_empty_lists(jobset: Tree) -> Tree:
    for index, job in enumerate(get(jobset, JOBS_OF_JOBSET, [])):
        for key in LISTS:
            for number in range(len(get(job, (*POD, key), []))):
                at = (*JOBS_OF_JOBSET, index, *POD, key, number)
                env = get(jobset, (*at, _ENV), [])
                jobset = put(jobset, (*at, _ENV), [*env, _LAST])
                if get(jobset, (*at, "ports")) is None:
                    jobset = put(jobset, (*at, "ports"), [])
        for path in (("template", "metadata", "labels"), (*POD[:-1], "metadata", "labels")):
            if get(job, path) is None:
                jobset = put(jobset, (*JOBS_OF_JOBSET, index, *path), {})
    return jobset


def reason(change: Change) -> str:
    """Return a difference in words; its values are without secrets.

    >>> from trainc.review.changes import Change
    >>> reason(Change("removed", "spec.replicatedJobs[node].template.spec.containers[node].env[RANK]", (), ()))
    'env[RANK] of container node is removed'
    """
    field = change.field
    if match := _OF_CONTAINER.match(field):
        field = f"{field[match.end() :]} of container {match[1]}"
    elif match := _OF_JOB.match(field):
        field = f"{field[match.end() :]} of job {match[1]}"
    if change.kind == "changed":
        return f"{field}{edited(change) or ' changes'}"
    return f"{field} is {'reordered' if change.kind == 'moved' else change.kind}"


def one_line(reasons: Iterable[str]) -> str:
    """Return the first reasons, and the number of the others."""
    return first_of([*dict.fromkeys(reasons)], SHOWN, "; ")
