"""Pods as JSON, for programs: complete, untruncated and unmasked.

Reads    pods.
Returns  a list. `env` maps names to values. A value, label or argument that is only known at run time is null, and
         `unknown` gives the reason by path.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trainc.base.texts import escape_json
from trainc.emit.json import items
from trainc.kubernetes.container_environment import Unknown
from trainc.pods import CONTAINERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.kubernetes.trees import Tree
    from trainc.pods import Container, Pod


def render(pods: Iterable[Pod]) -> Iterator[str]:
    """Yield the pods as a list, in parts: the whole text may not fit in memory."""
    return items(escape_json(json.dumps(pod_json(pod), indent=2, ensure_ascii=False)) for pod in pods)


def pod_json(pod: Pod) -> Tree:
    """Return one pod. `spec` is the pod spec without the containers."""
    job = pod.job
    unknown: dict[str, str] = {}
    found = {
        "jobSet": job.jobset["metadata"]["name"],
        "replicatedJob": job.replicated["name"],
        "job": job.name,
        "replica": job.replica,
        "index": pod.completion,
        "name": pod.name,
        "namespace": job.namespace or None,
        "hostname": known(pod.hostname, "hostname", unknown),
        "subdomain": pod.subdomain or None,
        "address": pod.address,
        "fqdn": pod.fqdn,
        "labels": all_known(pod.labels, "labels", unknown),
        "annotations": all_known(pod.annotations, "annotations", unknown),
        "initContainers": [container_json(container) for container in pod.containers if container.init],
        "containers": [container_json(container) for container in pod.containers if not container.init],
        "requests": pod.requests,
        "spec": {key: value for key, value in pod.spec.items() if key not in CONTAINERS},
    }
    if job.flavors:
        found["flavors"] = dict(job.flavors)
    return found | {"unknown": unknown}


def container_json(container: Container) -> Tree:
    """Return one container: its own fields, with command, arguments and variables expanded."""
    unknown: dict[str, str] = {}
    found = {key: value for key, value in container.tree.items() if key != "envFrom"}
    for key, texts in (("command", container.command), ("args", container.args)):
        found[key] = texts and [known(text, f"{key}[{index}]", unknown) for index, text in enumerate(texts)]
    if container.sub_paths:
        found["volumeMounts"] = [
            mount | {"subPath": known(container.sub_paths[index], f"volumeMounts[{index}].subPath", unknown)}
            if index in container.sub_paths
            else mount
            for index, mount in enumerate(container.tree["volumeMounts"])
        ]
    found["env"] = all_known(container.env, "env", unknown)
    unknown |= {f"envFrom[{index}]": reason for index, (reason,) in container.missing.items()}
    return found | {"unknown": unknown}


def all_known(values: dict[str, Any], path: str, unknown: dict[str, str]) -> dict[str, str | None]:
    """Return the values of a mapping; unknown values are null."""
    return {key: known(value, f"{path}.{key}", unknown) for key, value in values.items()}


def known(value: Any, path: str, unknown: dict[str, str]) -> str | None:
    """Return a value; if it is unknown, record the reason in `unknown` and return None."""
    if isinstance(value, Unknown):
        unknown[path] = value.reason
        return None
    return str(value)
