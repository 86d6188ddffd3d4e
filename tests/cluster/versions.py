"""The versions that the tests need: those that trainc implements, by the cluster's version and the schemas of its CRDs.

Reads    the API server's version, and a CRD's schema.
Returns  the reason why a test cannot check its promise on this cluster; empty if it can.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from cluster.server import Cluster

SCHEMAS: Final = Path(__file__).parents[2] / "schemas"
KUBERNETES: Final = "1.36"
JOBSET: Final = "jobsets.jobset.x-k8s.io"
TRAINJOB: Final = "trainjobs.trainer.kubeflow.org"
RUNTIME: Final = "trainingruntimes.trainer.kubeflow.org"
PODGROUP: Final = "podgroups.scheduling.x-k8s.io"
VOLCANO: Final = "podgroups.scheduling.volcano.sh"
RELEASES: Final = {
    JOBSET: ("JobSet v0.12", "jobset-0.12/JobSet.json"),
    TRAINJOB: ("Trainer v2.3", "trainer-2.3/TrainJob.json"),
    RUNTIME: ("Trainer v2.3", "trainer-2.3/TrainingRuntime.json"),
}
"""The release of each CRD, and its schema in trainc."""


def version_difference(cluster: Cluster, crds: Iterable[str]) -> str:
    """Return the reason why the cluster differs from what trainc implements."""
    version = cluster.ask("GET", "version").body
    found = f"{version['major']}.{version['minor'].rstrip('+')}"
    if found != KUBERNETES:
        return f"The cluster has Kubernetes {found}, not {KUBERNETES}."
    for crd in crds:
        release, file = RELEASES.get(crd, (crd, ""))
        answer = cluster.ask("GET", f"apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}")
        if answer.code == 404:
            return f"The cluster has no CRD {crd}: install {release}."
        if file and _fields(cluster.schema(crd)) != _fields(json.loads((SCHEMAS / file).read_text())):
            return f"The schema of CRD {crd} differs from that of {release}."
    return ""


def _fields(schema: Any) -> Any:
    """Return the fields of the spec, with references expanded."""
    definitions = schema.get("$defs", {})

    def named(part: Any) -> Any:
        if "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]]
        if "properties" in part:
            return {key: named(field) for key, field in part["properties"].items()}
        return [named(part["items"])] if "items" in part else part.get("type", "")

    return named(schema["properties"]["spec"])
