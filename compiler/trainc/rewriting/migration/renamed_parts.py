"""A JobSetSpec with other names of a replicated job or a container, in all references to them.

Reads    a JobSetSpec whose host names begin with a reference to the name of the JobSet.
Returns  the JobSetSpec with the new name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.kubernetes.trees import edit, get, put
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Slot

_RULES: Final = ("template", "spec", "podFailurePolicy", "rules")
_TARGETS: Final = "targetReplicatedJobs"


def with_container_name(spec: Tree, slot: Slot, name: str) -> Tree:
    """Return the JobSetSpec with another name of a container."""
    old = get(spec, (*slot.path, "name"))
    spec = edit(spec, slot.path, lambda container: {"name": name} | container | {"name": name})
    rules: Path = ("replicatedJobs", slot.job, *_RULES)
    for index, rule in enumerate(get(spec, rules, [])):
        if get(rule, ("onExitCodes", "containerName")) == old:
            spec = put(spec, (*rules, index, "onExitCodes", "containerName"), name)
    renamed: Tree = edit(spec, pod_spec(slot.job), lambda pod: _with_resource_fields(pod, old, name))
    return renamed


def _with_resource_fields(node: Any, old: str, name: str) -> Any:
    """Return a part of a pod spec in which `resourceFieldRef.containerName` has another value."""
    if isinstance(node, dict):
        return {
            key: field | {"containerName": name}
            if key == "resourceFieldRef" and field.get("containerName") == old
            else _with_resource_fields(field, old, name)
            for key, field in node.items()
        }
    return [_with_resource_fields(item, old, name) for item in node] if isinstance(node, list) else node


def with_job_name(spec: Tree, index: int, name: str, variable: str) -> Tree:
    """Return the JobSetSpec with another name of a replicated job.

    variable   the variable with the name of the JobSet, with which the host names of its pods begin
    """
    jobs = spec["replicatedJobs"]
    old = jobs[index]["name"]
    if old == name:
        return spec
    host = re.compile(rf"(\$\({re.escape(variable)}\)-){re.escape(old)}-(?=[0-9]+-|\$\()")
    renamed = []
    for number, job in enumerate(jobs):
        found = _with_hosts(job, host, name) | {"name": name if number == index else job["name"]}
        if depends := found.get("dependsOn"):
            found["dependsOn"] = [each | {"name": name} if each["name"] == old else each for each in depends]
        renamed.append(found)
    spec = spec | {"replicatedJobs": renamed}
    if targets := get(spec, ("successPolicy", _TARGETS)):
        spec = put(spec, ("successPolicy", _TARGETS), [name if each == old else each for each in targets])
    return spec


def _with_hosts(node: Any, host: re.Pattern[str], name: str) -> Any:
    if isinstance(node, dict):
        return {key: _with_hosts(field, host, name) for key, field in node.items()}
    if isinstance(node, list):
        return [_with_hosts(item, host, name) for item in node]
    return host.sub(rf"\g<1>{name}-", node) if isinstance(node, str) else node
