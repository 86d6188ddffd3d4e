"""Synonyms: names of other tools, and words, for fields and resources of Kubernetes and of Kubeflow Trainer.

Returns  tables of names in lower case. Imported only for an unknown name.
"""

from __future__ import annotations

from typing import Final

from trainc.base.trainjob_dialects import PROCESSES_FIELD

_GPUS: Final = ("resourcesPerNode", "limits", "nvidia.com/gpu")

FIELDS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "arguments": (("args",),),
    "backoff": (("backoffLimit",),),
    "cmd": (("command",),),
    "commonannotations": (("annotations",),),
    "commonlabels": (("labels",),),
    "containerimage": (("image",),),
    "cpu": (("resourcesPerNode", "requests", "cpu"),),
    "cpus": (("resourcesPerNode", "requests", "cpu"),),
    "cwd": (("workingDir",),),
    "deadline": (("activeDeadlineSeconds",),),
    "entrypoint": (("command",),),
    "environment": (("env",),),
    "envs": (("env",),),
    "envvars": (("env",),),
    "gpu": (_GPUS,),
    "gpus": (_GPUS,),
    "gpuspernode": (_GPUS,),
    "maxretries": (("backoffLimit",),),
    "mem": (("resourcesPerNode", "requests", "memory"),),
    "memory": (("resourcesPerNode", "requests", "memory"),),
    "mounts": (("volumeMounts",),),
    "nnodes": (("numNodes",),),
    "nodes": (("numNodes",),),
    "nprocpernode": ((PROCESSES_FIELD,),),
    "nproc_per_node": ((PROCESSES_FIELD,),),
    "num_nodes": (("numNodes",),),
    "numgpus": (_GPUS,),
    "numworkers": (("numNodes",),),
    "paused": (("suspend",),),
    "processespernode": ((PROCESSES_FIELD,),),
    "pullpolicy": (("imagePullPolicy",),),
    "pullsecrets": (("imagePullSecrets",),),
    "replicas": (("numNodes",),),
    "resources": (("resourcesPerNode",),),
    "retries": (("backoffLimit",),),
    "runtime": (("runtimeRef",),),
    "scheduler": (("schedulerName",),),
    "timeout": (("activeDeadlineSeconds",),),
    "timeoutseconds": (("activeDeadlineSeconds",),),
    "ttl": (("ttlSecondsAfterFinished",),),
    "ttlseconds": (("ttlSecondsAfterFinished",),),
    "workdir": (("workingDir",),),
    "workers": (("numNodes",),),
    "working_dir": (("workingDir",),),
    "workingdirectory": (("workingDir",),),
    "worldsize": (("numNodes",),),
}
"""The fields that a name can mean, each with the keys below it. The first one that a schema has is meant."""
REFERENCES: Final = {
    **{(ref, word): "name" for ref in ("secretRef", "secretKeyRef") for word in ("secret", "secretName")},
    **{(ref, word): "name" for ref in ("configMapRef", "configMapKeyRef") for word in ("configMap", "configMapName")},
    ("images", "image"): "name",
    ("images", "tag"): "newTag",
    ("runtimeRef", "runtime"): "name",
    ("imagePullSecrets", "secret"): "name",
    ("imagePullSecrets", "secretName"): "name",
}
"""The field of a reference that a name means in it."""
GROUPS: Final = frozenset({"runPolicy"})
"""Fields of other kinds that group fields of a JobSet or a Job."""
RESOURCES: Final = {
    "cores": "cpu",
    "cpus": "cpu",
    "disk": "ephemeral-storage",
    "gpu": "nvidia.com/gpu",
    "gpus": "nvidia.com/gpu",
    "hugepages": "hugepages-2Mi",
    "mem": "memory",
    "ram": "memory",
    "storage": "ephemeral-storage",
    "tpu": "google.com/tpu",
    "tpus": "google.com/tpu",
}
"""The resource that a word means."""
PLAIN_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources of containers without a domain, except for huge pages."""
