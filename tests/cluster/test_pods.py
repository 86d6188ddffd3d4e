"""The pods that the controllers create are those of `trainc pods`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cluster.cases import Case, generated, golden, placed, prerequisites
from cluster.life import FIELD
from cluster.server import Cluster, until
from cluster.versions import JOBSET, PODGROUP, VOLCANO

from trainc import pods
from trainc.kubernetes.container_environment import sources
from trainc.pods.json import pod_json

Tree = dict[str, Any]

CRDS = (JOBSET, PODGROUP, VOLCANO)

GENERATED = 60
NEVER_RUN = {"deadline-overflow", "depends-on-itself", "overhead-without-runtime-class"}
"""The lint rules for jobs without pods."""
OF_NODE = {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"}
"""The labels that the API server copies from the node to a scheduled pod."""


def test_golden_cases(cluster: Cluster, counted: Callable[[str, int], None]) -> None:
    cases = [case for case in golden() if not NEVER_RUN & {found.rule for found in case.compiled.plan.lint_findings}]
    counted("pods of the gallery", _compared(cluster, cases))


def test_generated_jobs(cluster: Cluster, counted: Callable[[str, int], None], tmp_path: Path) -> None:
    counted("pods of generated jobs", _compared(cluster, generated(tmp_path, GENERATED, seed=1)))


def _compared(cluster: Cluster, cases: Iterable[Case]) -> int:
    """Apply the objects; compare every pod. Return the number of pods."""
    objects = placed(cluster, cases)
    cluster.apply(prerequisites(objects))
    jobsets = [tree for tree in objects if tree["kind"] == "JobSet"]
    for jobset in jobsets:
        jobset["spec"].pop("suspend", None)
        jobset["spec"].pop("managedBy", None)  # another controller, perhaps of another cluster, would create its pods
        for replicated in jobset["spec"].get("replicatedJobs", ()):
            replicated.pop("dependsOn", None)  # its pods would start after those of another job have ended
            replicated["template"]["spec"].pop("suspend", None)
    cluster.apply(objects)
    wanted = {_key(pod): pod for jobset in jobsets for pod in _previewed_pods(jobset, objects)}
    namespaces = {jobset["metadata"]["namespace"] for jobset in jobsets}

    def created() -> bool | None:
        return sum(len(cluster.list("Pod", namespace)) for namespace in namespaces) >= len(wanted) or None

    with suppress(AssertionError):
        until(created, "the pods")
    real = {_real_key(pod): pod for namespace in namespaces for pod in cluster.list("Pod", namespace)}
    assert real.keys() == wanted.keys()
    for key, pod in wanted.items():
        _assert_same(pod, real[key])
    return len(wanted)


def _previewed_pods(jobset: Tree, objects: list[Tree]) -> Iterable[Tree]:
    """Yield the pods of `trainc pods --format json` that run at once."""
    namespace = jobset["metadata"]["namespace"]
    for job in pods.jobs_of(jobset, sources(objects, namespace)):
        at_once = job.replicated["template"]["spec"].get("parallelism", 1)
        yield from (pod_json(pod) for pod in list(job.pods())[:at_once])


def _key(pod: Tree) -> str:
    return f"{pod['namespace']}/{pod['name']}"


def _real_key(pod: Tree) -> str:
    """Return the name without the suffix that the API server appended."""
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name'].rpartition('-')[0]}"


def _assert_same(pod: Tree, real: Tree) -> None:
    metadata, spec = real["metadata"], real["spec"]
    for field in ("labels", "annotations"):
        found = {key: value for key, value in metadata.get(field, {}).items() if key not in OF_NODE}
        assert pod[field].keys() == found.keys()
        assert {key: value for key, value in pod[field].items() if value not in {None, found[key]}} == {}
    assert (pod["hostname"] or spec.get("hostname"), pod["subdomain"]) == (spec.get("hostname"), spec.get("subdomain"))
    for key in ("initContainers", "containers"):
        assert len(pod[key]) == len(spec.get(key, ()))
        for container, found in zip(pod[key], spec.get(key, ()), strict=True):
            assert container["name"] == found["name"]
            assert container.get("resources", {}) == found.get("resources", {})
            _assert_same_variables(container["env"], found.get("env", ()), real)


def _assert_same_variables(variables: Tree, real: Iterable[Tree], pod: Tree) -> None:
    """Compare the variables whose value the pod determines; others come from the kubelet or from another object."""
    for variable in real:
        name, field = variable["name"], variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", "")
        assert name in variables
        if found := FIELD.fullmatch(field):
            assert variables[name] == pod["metadata"][found[1]][found[2]]
        elif field == "metadata.namespace":
            assert variables[name] == pod["metadata"]["namespace"]
        elif "valueFrom" not in variable and "$(" not in variable.get("value", ""):
            assert variables[name] == variable.get("value", "")
