"""A new JobSet with the names of an old one: the parts of a migrated job have other names, and other host names.

Reads    the JobSets of one job before and after, and the other objects after.
Returns  the new objects with the old names of replicated jobs, containers, ports and volumes, in their references, too.
         Host names of the same pod become equal: `$(JOBSET_NAME)` is expanded where a container takes it from the
         label of its JobSet. The parts are matched by their order, ports by number, volumes by their source.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_JOBSET, JOBSET, POD
from trainc.base.records import NamedTuple
from trainc.kubernetes.container_environment import Unknown, expand
from trainc.kubernetes.trees import get, put
from trainc.pipeline.plan import JOBSET_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainc.kubernetes.trees import Path, Tree

LISTS: Final = ("initContainers", "containers")
TARGETS: Final = "targetReplicatedJobs"
PROBES: Final = ("startupProbe", "livenessProbe", "readinessProbe")
ACTIONS: Final = ("httpGet", "tcpSocket")
_NAMED_SOURCES: Final = {"secret": "secretName", "configMap": "name"}


class Renamed(NamedTuple):
    """The new objects with old names, and the parts that have other ones."""

    objects: tuple[Tree, ...]
    """The JobSet first."""
    parts: frozenset[str]
    """`jobs`, `containers`, `ports`, `volumes` and `hosts`, if their names differ."""


def with_old_names(old: Sequence[Tree], new: Sequence[Tree]) -> Renamed:
    """Return the new objects of a job with the names of the old ones. Without a JobSet they are unchanged."""
    if not (old and new and old[0]["kind"] == new[0]["kind"] == JOBSET.kind):
        return Renamed(tuple(new), frozenset())
    renaming = _Renaming(old[0], new[0])
    jobset = renaming.renamed_jobset()
    return Renamed((jobset, *(renaming.with_hosts(other) for other in new[1:])), frozenset(renaming.parts))


class _Renaming:
    """The renaming of one JobSet."""

    def __init__(self, old: Tree, new: Tree) -> None:
        self.old, self.new = old, new
        self.name = str(new["metadata"]["name"])
        before, after = (get(tree, JOBS_OF_JOBSET, []) for tree in (old, new))
        self.jobs = _pairs(before, after)
        self.parts = {"jobs"} if any(old != new for new, old in self.jobs.items()) else set[str]()
        names = "|".join(sorted(map(re.escape, self.jobs), key=len, reverse=True))
        self._host = re.compile(rf"(?<![\w-]){re.escape(self.name)}-({names})-([0-9]+|\$\(\w+\))-(?=[0-9$])")

    def renamed_jobset(self) -> Tree:
        """Return the new JobSet with old names."""
        jobset = self.new
        before = get(self.old, JOBS_OF_JOBSET, [])
        for index, job in enumerate(get(self.new, JOBS_OF_JOBSET, [])):
            if index < len(before):
                jobset = put(jobset, (*JOBS_OF_JOBSET, index), self._job(before[index], job))
        if targets := get(jobset, ("spec", "successPolicy", TARGETS)):
            jobset = put(jobset, ("spec", "successPolicy", TARGETS), self._old_jobs(targets))
        for index, rule in enumerate(get(jobset, ("spec", "failurePolicy", "rules"), [])):
            if targets := rule.get(TARGETS):
                jobset = put(jobset, ("spec", "failurePolicy", "rules", index, TARGETS), self._old_jobs(targets))
        return jobset

    def _old_jobs(self, names: Sequence[str]) -> list[str]:
        return [self.jobs.get(name, name) for name in names]

    def _job(self, old: Tree, new: Tree) -> Tree:
        job = new | {"name": self.jobs.get(new["name"], new["name"])}
        if depends := job.get("dependsOn"):
            job["dependsOn"] = [each | {"name": self.jobs.get(each["name"], each["name"])} for each in depends]
        before, pod = (get(tree, POD, {}) for tree in (old, new))
        containers: dict[str, str] = {}
        for key in LISTS:
            if after := pod.get(key):
                names = _pairs(before.get(key) or [], after)
                containers |= names
                pod = pod | {key: [*self._containers(before.get(key) or [], after, names)]}
        if any(old != new for new, old in containers.items()):
            self.parts.add("containers")
        job = put(job, POD, self._with_volumes(before, pod))
        path: Path = ("template", "spec", "podFailurePolicy", "rules")
        for index, rule in enumerate(get(job, path, [])):
            name = get(rule, ("onExitCodes", "containerName"))
            if name in containers:
                job = put(job, (*path, index, "onExitCodes", "containerName"), containers[name])
        renamed: Tree = job
        return renamed

    def _containers(self, old: list[Tree], new: list[Tree], names: Mapping[str, str]) -> Iterator[Tree]:
        for before, after in zip(_padded(old, new), new, strict=True):
            yield self._container(before, after | {"name": names.get(after["name"], after["name"])})

    def _container(self, old: Tree, new: Tree) -> Tree:
        """Return a container with the host names of the same pods, and with the old names of its ports."""
        set_by_name = False
        env: list[Tree] = []
        known: dict[str, str] = {}
        for variable in new.get("env") or ():
            text = variable.get("value")
            env.append(variable | {"value": self._text(text, known)} if isinstance(text, str) else variable)
            if get(variable, ("valueFrom", "fieldRef", "fieldPath")) == JOBSET_NAME:
                known[variable["name"]] = self.name
                set_by_name = True
        changed = new | ({"env": env} if env else {})
        for key in ("command", "args"):
            if new.get(key):
                changed[key] = [self._text(text, known) for text in new[key]]
        if set_by_name and changed != new:
            self.parts.add("hosts")
        return self._with_ports(old, changed)

    def _with_ports(self, old: Tree, new: Tree) -> Tree:
        names = {_number(port): port.get("name") for port in old.get("ports") or ()}
        ports, renamed = [], {}
        for port in new.get("ports") or ():
            name = names.get(_number(port), port.get("name"))
            if name != port.get("name"):
                self.parts.add("ports")
                renamed[port.get("name")] = name
            rest = {key: field for key, field in port.items() if key != "name"}
            ports.append({"name": name, **rest} if name else rest)
        if not renamed:
            return new
        for probe in PROBES:
            for action in ACTIONS:
                port = get(new, (probe, action, "port"))
                if isinstance(port, str) and (name := renamed.get(port)):
                    new = put(new, (probe, action, "port"), name)
        return new | {"ports": ports}

    def _with_volumes(self, old: Tree, new: Tree) -> Tree:
        """Return a pod spec with the old names of the volumes of the same Secret or ConfigMap."""
        sources = {source: volume["name"] for volume in old.get("volumes") or () if (source := _source(volume))}
        kept = {volume["name"] for volume in new.get("volumes") or ()}
        names = {
            volume["name"]: sources[source]
            for volume in new.get("volumes") or ()
            if (source := _source(volume)) in sources and sources[source] not in kept
        }
        if not names:
            return new
        self.parts.add("volumes")
        new = new | {"volumes": [each | {"name": names.get(each["name"], each["name"])} for each in new["volumes"]]}
        for key in LISTS:
            for index, container in enumerate(new.get(key) or ()):
                if mounts := container.get("volumeMounts"):
                    renamed = [each | {"name": names.get(each["name"], each["name"])} for each in mounts]
                    new = put(new, (key, index, "volumeMounts"), renamed)
        return new

    def with_hosts(self, tree: Any) -> Any:
        """Return another object with the old host names of the pods in its texts."""
        if isinstance(tree, str):
            return self._text(tree, {})
        if isinstance(tree, dict):
            return {key: self.with_hosts(value) for key, value in tree.items()}
        return [self.with_hosts(item) for item in tree] if isinstance(tree, list) else tree

    def _text(self, text: str, known: Mapping[str, str]) -> str:
        """Return a text with the name of the JobSet, and with the old name of each pod."""
        used = {name: value for name, value in known.items() if f"$({name})" in text}
        if used:
            text = _expanded(text, used)
        new = self._host.sub(lambda match: f"{self.name}-{self.jobs[match[1]]}-{match[2]}-", text)
        if new != text:
            self.parts.add("hosts")
        return new


def _expanded(text: str, known: Mapping[str, str]) -> str:
    """Return a text with some references expanded; all others, and escaped dollar signs, stay."""

    def lookup(name: str) -> str:
        return known.get(name, f"$({name})")

    found = expand(text.replace("$$", "$$$$"), lookup)
    assert not isinstance(found, Unknown), "all values are short"
    return found


def _pairs(old: Sequence[Tree], new: Sequence[Tree]) -> dict[str, str]:
    """Return the old name of each new part, by their order; names of parts that only one side has stay."""
    if len(old) != len(new):
        return {str(part["name"]): str(part["name"]) for part in new}
    return {str(after["name"]): str(before["name"]) for before, after in zip(old, new, strict=True)}


def _padded(old: list[Tree], new: list[Tree]) -> list[Tree]:
    return old if len(old) == len(new) else [{}] * len(new)


def _number(port: Tree) -> tuple[Any, str]:
    return port.get("containerPort"), port.get("protocol") or "TCP"


def _source(volume: Tree) -> tuple[str, str] | None:
    """Return the kind and the name of the Secret or the ConfigMap of a volume."""
    for key, field in _NAMED_SOURCES.items():
        if name := get(volume, (key, field)):
            return key, str(name)
    return None
