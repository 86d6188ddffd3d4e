"""The deliberate differences from the controller (docs/differences.md), undone: one function per id.

A function changes the input of both compilers, or what one of them returned, so that the difference disappears. It
returns an equal pair if the difference does not affect the TrainJob.

**A deliberate difference**. Copy from `golden/deadline`, whose entry in `docs/differences.md` is
`deadline-lowered`. Add an entry with the reason, the golden case, and a function in `tests/cluster/differences.py`,
which undoes the difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml
from cluster.fields import applied
from conformance.recordings import UNVALIDATED
from running import run

from trainc import compilation
from trainc.base.kinds import COMPILED
from trainc.base.releases import DEFAULT_RELEASE
from trainc.compilation.run import Run
from trainc.emit import objects_of_a_job
from trainc.frontends.extensions import POLICY, read
from trainc.kubernetes.trees import get, put
from trainc.pipeline import generated_names, stages
from trainc.pipeline.objects import QUEUE, TrainJob
from trainc.pipeline.plan import NODE, Plan
from trainc.settings import DEFAULT, Settings

Tree = dict[str, Any]

JOBS: Final = ("spec", "template", "spec", "replicatedJobs")
NODES: Final = ("spec", "trainer", "numNodes")
EMPTY: Final = {"containerName", "image", "metadata", "name", "resources", "value"}
"""The fields that the controller writes without content."""
PRTE: Final = "PRTE_MCA_"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
OWN: Final = "trainc.dev/"
SNAPSHOT: Final = "-runtime-snapshot"
MANAGER: Final = "trainer"
"""The field manager of the controller."""


class Pair(NamedTuple):
    """A TrainJob for both compilers, and their output."""

    name: str
    plan: Plan
    job: Tree
    runtime: Tree
    """For the controller: the TrainJob and its runtime, as they were written."""
    ours: list[Tree]
    settings: Settings
    folder: Path
    """For files."""
    prerequisites: tuple[Tree, ...] = ()
    """Cluster-wide objects that the controller needs."""
    theirs: Sequence[Tree] = ()
    stored: Callable[[Tree], Tree] = dict
    """Returns an object as the API server stores it."""

    def again(self, **changed: Any) -> Pair:
        """Return the pair with another TrainJob, runtime or settings, compiled again."""
        pair = self._replace(**changed)
        file = self.folder / "again.json"
        file.write_text(f"{json.dumps(pair.runtime)}\n{json.dumps(pair.job)}")
        plan = next(plans(file, pair.settings))
        return pair._replace(plan=plan, ours=output(plan))

    def jobset(self, change: Callable[[Tree], Tree]) -> Pair:
        """Return the pair with a change of the controller's JobSet."""
        return self._replace(theirs=[change(tree) if tree["kind"] == "JobSet" else tree for tree in self.theirs])


def plans(file: Path, settings: Settings) -> Iterator[Plan]:
    """Yield the plan of every TrainJob of a file, also of those with errors."""
    run = Run(settings=settings)
    reading = compilation.read([str(file)], run, kinds=COMPILED)
    library, _ = compilation.library(run, given=reading.documents["runtime"])
    for document in reading.documents["job"]:
        job = generated_names.with_generated_name(TrainJob(document=document, value=document.value), None)
        plan = Plan(
            job=job,
            library=library,
            release=settings.release,
            project=settings.project,
            field_validation=settings.field_validation,
        )
        yield stages.run(plan) if job.letters_at is None else generated_names.run_with_generated_name(plan)


def output(plan: Plan) -> list[Tree]:
    """Return the objects of a plan; none if it has errors."""
    return [] if plan.failed else [dict(tree) for tree in objects_of_a_job(plan.objects)]


# Undone in the input


def generated_name(pair: Pair) -> Pair:
    """Give the controller the name that trainc generates, and the Secret a name with its letters."""
    return pair if pair.plan.job.letters_at is None else with_name(pair, pair.plan.job.name)


def with_name(pair: Pair, name: str) -> Pair:
    """Return the pair with another name in place of the one that trainc generates, also in the names of Secrets."""
    job = pair.plan.job
    text = json.dumps(pair.ours).replace(f'"secretName": "{job.name_of_secrets}-', f'"secretName": "{name}-')
    text = text.replace(job.name, name)
    return pair._replace(job=put(pair.job, ("metadata", "name"), name), ours=json.loads(text))


def old_dialects(pair: Pair) -> Pair:
    """Give the controller the TrainJob as `trainc upgrade` writes it, with the runtime's number of processes."""
    documents = yaml.safe_dump_all([pair.runtime, pair.job])
    done = run("upgrade", "-", stdin=documents.encode())
    if done.code:  # the TrainJob has errors
        return pair._replace(job=pair.plan.job.value) if pair.plan.job.form else pair
    runtime, job = yaml.safe_load_all(done.out)
    processes = get(pair.runtime, ("spec", "mlPolicy", "torch", "numProcPerNode"))
    if processes is not None:
        job = put(job, ("spec", "trainer"), {"numProcPerNode": processes} | job["spec"].get("trainer", {}))
    return pair._replace(runtime=runtime, job=job)


def field_validation(pair: Pair) -> Pair:
    """Drop unknown fields with a warning."""
    unknown = any(found.id == "unknown-field" for found in pair.plan.diagnostics)
    return pair.again(settings=UNVALIDATED) if unknown else pair


def pod_errors(pair: Pair) -> Pair:
    """Return the JobSet in spite of its errors."""
    errors = {found.stage for found in pair.plan.refused}
    return pair._replace(ours=[dict(tree) for tree in pair.plan.objects]) if errors == {"job"} else pair


def controller_fails(pair: Pair) -> Pair:
    """Set numNodes in a Flux job."""
    missing = any(found.id == "flux-node-count" for found in pair.plan.diagnostics)
    return pair.again(job=put(pair.job, NODES, 1)) if missing else pair


def trainer_optional(pair: Pair) -> Pair:
    """Give the controller an empty spec.trainer."""
    return pair if "trainer" in pair.job["spec"] else pair._replace(job=put(pair.job, ("spec", "trainer"), {}))


def managed_by_other(pair: Pair) -> Pair:
    """Let the controller manage the TrainJob."""
    spec = {key: value for key, value in pair.job["spec"].items() if key != "managedBy"}
    return pair._replace(job=pair.job | {"spec": spec})


def gpu_pick(pair: Pair) -> Pair:
    """Leave only the GPU that trainc picks."""
    resources = get(pair.job, ("spec", "trainer", "resourcesPerNode"), {})
    found = {key: _with_one_gpu(amounts) for key, amounts in resources.items()}
    return pair if found == resources else pair.again(job=put(pair.job, ("spec", "trainer", "resourcesPerNode"), found))


def _with_one_gpu(amounts: Tree) -> Tree:
    named = sorted(name for name in amounts if "gpu" in name.lower())
    pick = next((name for name in named if str(amounts[name]) != "0"), None)
    return {name: amount for name, amount in amounts.items() if name not in named or name == pick}


def unnamed_ports(pair: Pair) -> Pair:
    """Give all ports of a container different names and numbers."""

    def change(container: Tree) -> Tree:
        ports = container.get("ports", ())
        numbers = [port["containerPort"] for port in ports]
        changed = [
            {"name": f"p{index}"}
            | port
            | {"containerPort": number if number not in numbers[:index] else number + index}
            for index, (port, number) in enumerate(zip(ports, numbers, strict=True))
        ]
        return container | {"ports": changed} if ports else container

    return _with_containers(pair, change)


def claims_kept(pair: Pair) -> Pair:
    """Remove the claims of containers if the TrainJob sets resources."""
    if "resourcesPerNode" not in pair.job["spec"].get("trainer", {}):
        return pair

    def change(container: Tree) -> Tree:
        resources = {key: value for key, value in container.get("resources", {}).items() if key != "claims"}
        return container | {"resources": resources} if "resources" in container else container

    return _with_containers(pair, change)


def _with_containers(pair: Pair, change: Callable[[Tree], Tree]) -> Pair:
    """Return the pair with a change of each container of the runtime."""
    runtime = pair.runtime
    for index, replicated in enumerate(get(runtime, JOBS, [])):
        pod = ("template", "spec", "template", "spec")
        for key in ("initContainers", "containers"):
            if containers := get(replicated, (*pod, key), []):
                path = (*JOBS, index, *pod, key)
                runtime = put(runtime, path, [change(container) for container in containers])
    return pair if runtime == pair.runtime else pair.again(runtime=runtime)


def env_whole(pair: Pair) -> Pair:
    """Remove from the TrainJob's variables what the controller drops."""
    variables = get(pair.job, ("spec", "trainer", "env"), [])
    found = [dict(variable) for variable in variables]
    for variable in found:
        if source := variable.get("valueFrom"):
            kept = {key: dict(value) for key, value in source.items() if key != "fileKeyRef"}
            kept.get("fieldRef", {}).pop("apiVersion", None)
            variable["valueFrom"] = kept
    return pair if found == variables else pair.again(job=put(pair.job, ("spec", "trainer", "env"), found))


def accelerators(pair: Pair) -> Pair:
    """Compile without the accelerators of trainc.yaml."""
    return pair.again(settings=DEFAULT) if pair.plan.project.accelerators else pair


def elastic_gang(pair: Pair) -> Pair:
    """Let an elastic job start only with all of its nodes."""
    if pair.plan.needed is None or not get(pair.runtime, ("spec", "podGroupPolicy")):
        return pair
    path = ("spec", "mlPolicy", "torch", "elasticPolicy")
    bounds = {"minNodes": pair.plan.nodes, "maxNodes": pair.plan.nodes}
    policy = {key: value for key, value in get(pair.runtime, path).items() if not key.endswith("Replicas")}
    return pair.again(runtime=put(pair.runtime, path, policy | bounds))


def extensions(pair: Pair) -> Pair:
    """Compile the JobSet without the policies that the controller does not have; keep the PodGroup."""
    policy = pair.runtime["spec"].get("mlPolicy", {})
    known = _known(policy, get(read(DEFAULT_RELEASE.crds, "TrainingRuntime.json"), POLICY))
    if known == policy:
        return pair
    job = put(pair.job, NODES, pair.plan.nodes) if pair.plan.needed is not None else pair.job
    found = pair.again(runtime=put(pair.runtime, ("spec", "mlPolicy"), known), job=job)
    groups = [tree for tree in pair.ours if tree["kind"] == "PodGroup"]
    return found._replace(ours=[tree for tree in found.ours if tree["kind"] != "PodGroup"] + groups)


def _known(tree: Tree, properties: Tree) -> Tree:
    """Return the fields that a schema has, without values that it refuses."""
    return {
        key: _known(value, properties[key]["properties"]) if "properties" in properties[key] else value
        for key, value in tree.items()
        if key in properties and ("enum" not in properties[key] or value in properties[key]["enum"])
    }


def others_exist(pair: Pair) -> Pair:
    """Create the PriorityClass of a Volcano job."""
    for tree in pair.ours:
        if tree["kind"] == "PodGroup" and (name := tree["spec"].get("priorityClassName")):
            found = {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": 1,
            }
            return pair._replace(prerequisites=(found,))
    return pair


def namespace_optional(pair: Pair) -> Pair:
    """Put trainc's objects into the TrainJob's namespace."""
    namespace = pair.job["metadata"]["namespace"]
    return pair._replace(ours=[put(tree, ("metadata", "namespace"), namespace) for tree in pair.ours])


# Undone in the output


def stored_form(pair: Pair) -> Pair:
    """Return the JobSet that the API server stores for the fields that the controller applies, without empty ones."""

    def compact(value: Any) -> Any:
        if isinstance(value, list):
            return [compact(item) for item in value]
        if not isinstance(value, dict):
            return value
        fields = {key: compact(field) for key, field in value.items()}
        return {key: field for key, field in fields.items() if field not in ({}, "") or key not in EMPTY}

    return pair.jobset(lambda tree: compact(pair.stored(applied(tree, MANAGER))))


def suspend_unset(pair: Pair) -> Pair:
    """Remove `suspend: false`, and any suspend of a JobSet with a Kueue queue."""

    def change(tree: Tree) -> Tree:
        queued = QUEUE in get(pair.job, ("metadata", "labels"), {}) or QUEUE in get(tree, ("metadata", "labels"), {})
        if not queued and tree["spec"].get("suspend"):
            return tree
        return tree | {"spec": {key: value for key, value in tree["spec"].items() if key != "suspend"}}

    return pair.jobset(change)


def no_secret(pair: Pair) -> Pair:
    """Drop the controller's Secret, to which the pods of both JobSets refer."""
    return pair._replace(theirs=[tree for tree in pair.theirs if tree["kind"] != "Secret"])


def no_snapshot(pair: Pair) -> Pair:
    """Drop the controller's copy of the runtime."""
    return pair._replace(theirs=[tree for tree in pair.theirs if not tree["metadata"]["name"].endswith(SNAPSHOT)])


def flux_words(pair: Pair) -> Pair:
    """Compare the names of Flux' scripts, not their texts."""

    def change(tree: Tree) -> Tree:
        is_flux = tree["kind"] == "ConfigMap" and "entrypoint.sh" in tree["data"]
        return tree | {"data": sorted(tree["data"])} if is_flux else tree

    return pair._replace(ours=list(map(change, pair.ours)), theirs=list(map(change, pair.theirs)))


def prte(pair: Pair) -> Pair:
    """Remove Open MPI 5's variables."""

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: change(field) for key, field in value.items()}
        if not isinstance(value, list):
            return value
        return [change(item) for item in value if not _named(item).startswith(PRTE)]

    return pair._replace(ours=change(pair.ours), theirs=change(pair.theirs))


def _named(item: Any) -> str:
    return str(item.get("name", "")) if isinstance(item, dict) else ""


def plugin_order(pair: Pair) -> Pair:
    """Sort the variables of XGBoost jobs."""
    if "xgboost" not in pair.runtime["spec"].get("mlPolicy", {}):
        return pair

    def change(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: change(field, name) for name, field in value.items()}
        if not isinstance(value, list):
            return value
        items = [change(item) for item in value]
        return sorted(items, key=_named) if key == "env" else items

    return pair._replace(ours=change(pair.ours), theirs=change(pair.theirs))


def metadata_carried(pair: Pair) -> Pair:
    """Give the controller's objects the TrainJob's labels and annotations; those from patches take precedence."""
    theirs = pair.theirs
    for key in ("labels", "annotations"):
        carried = {k: v for k, v in get(pair.job, ("metadata", key), {}).items() if k != LAST_APPLIED and OWN not in k}
        if not carried:
            continue
        patched: Tree = {}
        for patch in pair.job["spec"].get("runtimePatches", ()):
            patched |= get(patch, ("trainingRuntimeSpec", "template", "metadata", key), {})
        theirs = [
            put(
                tree,
                ("metadata", key),
                tree["metadata"].get(key, {}) | carried | (patched if tree["kind"] == "JobSet" else {}),
            )
            for tree in theirs
        ]
    return pair._replace(theirs=theirs)


def deadline_lowered(pair: Pair) -> Pair:
    """Set the TrainJob's deadline on the Jobs."""
    seconds = pair.job["spec"].get("activeDeadlineSeconds")
    if seconds is None:
        return pair

    def change(replicated: Tree) -> Tree:
        path = ("template", "spec", "activeDeadlineSeconds")
        lowered: Tree = put(replicated, path, min(get(replicated, path, seconds), seconds))
        return lowered

    jobs = ("spec", "replicatedJobs")
    return pair.jobset(lambda tree: put(tree, jobs, [change(replicated) for replicated in get(tree, jobs)]))


def rendezvous_host(pair: Pair) -> Pair:
    """Use the host name of the trainer's first pod."""
    name = pair.plan.name
    right, wrong = pair.plan.endpoint(), f"{name}-{NODE}-0-0.{name}"

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: change(field) for key, field in value.items()}
        if isinstance(value, list):
            return [change(item) for item in value]
        return value.replace(wrong, right) if isinstance(value, str) else value

    return pair.jobset(change)


INPUT: Final[dict[str, Callable[[Pair], Pair]]] = {
    "fixed-name": generated_name,
    "old-dialects": old_dialects,
    "field-validation": field_validation,
    "pod-errors": pod_errors,
    "controller-fails": controller_fails,
    "trainer-optional": trainer_optional,
    "managed-by-other": managed_by_other,
    "gpu-pick": gpu_pick,
    "unnamed-ports": unnamed_ports,
    "claims-kept": claims_kept,
    "env-whole": env_whole,
    "accelerators": accelerators,
    "elastic-gang": elastic_gang,
    "extensions": extensions,
    "others-exist": others_exist,
}
"""In this order, before the controller reads the TrainJob."""

PLACED: Final[dict[str, Callable[[Pair], Pair]]] = {"namespace-optional": namespace_optional}
"""When the TrainJob has its namespace in the cluster."""

OUTPUT: Final[dict[str, Callable[[Pair], Pair]]] = {
    "stored-form": stored_form,
    "suspend-unset": suspend_unset,
    "no-secret": no_secret,
    "no-snapshot": no_snapshot,
    "flux-words": flux_words,
    "prte": prte,
    "plugin-order": plugin_order,
    "rendezvous-host": rendezvous_host,
    "deadline-lowered": deadline_lowered,
    "metadata-carried": metadata_carried,
}
"""In this order, when the controller has created its objects."""
