"""The template of a legacy job with references instead of its name, so that another job can use it, too.

Reads    the plan of a compiled legacy job.
Returns  its JobSetSpec before the stage `trainer`, in which each host name begins with `$(JOBSET_NAME)`; the variables
         of its operator; and those that change with the number of pods. The stages run again on altered input, so that
         no kind of job is known here. Also such a JobSetSpec with another name of a replicated job or a container,
         which every reference has, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from trainc.base.kinds import JOBS_OF_RUNTIME, find
from trainc.base.records import NamedTuple
from trainc.kubernetes.structural import load
from trainc.kubernetes.trees import edit, get, put
from trainc.legacy.replica_specs import LABEL as OPERATOR_PREFIX
from trainc.pipeline import frameworks
from trainc.pipeline.passes.framework import framework
from trainc.pipeline.passes.override import override
from trainc.pipeline.passes.size import size
from trainc.pipeline.plan import JOBSET_NAME, pod_spec
from trainc.provenance.tracing.history import resolved_plan
from trainc.rewriting.migration.old_names import LISTS
from trainc.rewriting.migration.one_job import runtime_in_one_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Plan, Slot


VARIABLE: Final = "JOBSET_NAME"
COUNT: Final = re.compile(r"[0-9]+(:[0-9]+)?")
"""A number of pods or processes, or the bounds of one."""
LABELS: Final = ("template", "spec", "template", "metadata")
"""The path of a pod's metadata in a replicated job."""
_RULES: Final = ("template", "spec", "podFailurePolicy", "rules")
_TARGETS: Final = "targetReplicatedJobs"


class ParametricTemplate(NamedTuple):
    """The template of a job."""

    before: Tree
    """The JobSetSpec before the stage `framework`."""
    after: Tree
    """The JobSetSpec after it, with references in host names."""
    main: tuple[Slot, ...]
    """The main container of each replicated job that has one."""
    added: Mapping[Path, frozenset[str]]
    """The variables that the operator adds to each container, by the container's path."""
    counts: frozenset[str]
    """The variables that change with the number of pods."""
    variable: str = VARIABLE
    """The variable with the name of the JobSet."""

    @property
    def holds_counts(self) -> bool:
        """Whether a text changes with the number of pods that is no number, such as a list of hosts."""
        env = [variable for slot in self.main for variable in get(self.after, (*slot.path, "env"), [])]
        return any(each["name"] in self.counts and not COUNT.fullmatch(str(each.get("value"))) for each in env)


def parametric_template(plan: Plan) -> ParametricTemplate:
    """Return the template of a compiled legacy job."""
    variable = _free_name(plan)
    after = _framed(plan, f"$({variable})")
    main = tuple(slot for job in range(len(after.jobs)) if (slot := frameworks.main_container(after, job)))
    written = get(plan.runtime.value, ("spec", "template", "spec"), {})
    written = _with_requests(plan, written)
    spec = _without_job_name(_with_resources(_with_variable(after.spec, variable), written))
    added = _names(_framed(_without_env(plan), plan.job.name).spec)
    return ParametricTemplate(
        before=_without_job_name(written),
        after=spec,
        main=main,
        added=added,
        counts=_changing(plan, main),
        variable=variable,
    )


def template_with_names(plan: Plan) -> Tree:
    """Return the JobSetSpec of a job after the stage `framework`, with its own name."""
    written = _with_requests(plan, get(plan.runtime.value, ("spec", "template", "spec"), {}))
    return _without_job_name(_with_resources(_framed(plan, plan.job.name).spec, written))


def _free_name(plan: Plan) -> str:
    """Return the name of a variable that no container has."""
    name = VARIABLE
    text = repr(plan.runtime.spec)
    while f"'{name}'" in text or f"$({name})" in text:
        name = f"OWN_{name}"
    return name


def _framed(plan: Plan, name: str) -> Plan:
    """Return the plan after the stage `framework`, for a job with another name."""
    found = resolved_plan(plan, job=put(plan.job.value, ("metadata", "name"), name))._replace(suffix="")
    return framework(size(override(found)))


def _with_variable(spec: Tree, variable: str) -> Tree:
    """Return a JobSetSpec in which the containers that refer to the name of the JobSet have it, as the first one."""
    reference = f"$({variable})"
    own = {"name": variable, "valueFrom": {"fieldRef": {"fieldPath": JOBSET_NAME}}}
    for path, container in containers(spec):
        texts = [*(container.get("command") or ()), *(container.get("args") or ())]
        texts += [str(each.get("value", "")) for each in container.get("env") or ()]
        if any(reference in text for text in texts):
            spec = put(spec, (*path, "env"), [own, *(container.get("env") or ())])
    return spec


def _with_resources(spec: Tree, written: Tree) -> Tree:
    """Return a JobSetSpec with amounts as the author of the job wrote them, not in the form of the API server."""
    for path, container in containers(written):
        if "resources" in container:
            spec = put(spec, (*path, "resources"), container["resources"])
    return spec


def _with_requests(plan: Plan, written: Tree) -> Tree:
    """Return the JobSetSpec of a job with the requests that the API server adds to its pods: those in the limits.

    The operators count them for the resources of a gang; Trainer counts only the requests in the runtime.
    """
    for path, container in containers(written) if plan.runtime.gang is not None else ():
        if limits := get(container, ("resources", "limits")):
            requests = limits | get(container, ("resources", "requests"), {})
            written = put(written, (*path, "resources", "requests"), requests)
    return written


def _without_job_name(spec: Tree) -> Tree:
    """Return a JobSetSpec without the operator's label with the name of the job."""
    label = f"{OPERATOR_PREFIX}job-name"
    for index, job in enumerate(spec.get("replicatedJobs") or ()):
        metadata = get(job, LABELS, {})
        labels = {key: text for key, text in metadata.get("labels", {}).items() if key != label}
        rest = {key: field for key, field in metadata.items() if key != "labels"} | (
            {"labels": labels} if labels else {}
        )
        at = ("replicatedJobs", index, *LABELS)
        spec = put(spec, at, rest) if rest else edit(spec, at[:-1], _without_metadata)
    return spec


def _without_metadata(template: Tree) -> Tree:
    return {key: field for key, field in template.items() if key != "metadata"}


def _without_env(plan: Plan) -> Plan:
    """Return the plan of a job whose containers have no variables of their own."""
    spec = plan.runtime.spec
    for path, container in containers(spec):
        if "env" in container:
            spec = put(spec, path, {key: field for key, field in container.items() if key != "env"})
    return resolved_plan(plan, runtime=put(plan.runtime.value, ("spec", "template", "spec"), spec))


def containers(spec: Tree) -> Iterator[tuple[Path, Tree]]:
    """Yield all containers of a JobSetSpec with their paths."""
    for job in range(len(spec.get("replicatedJobs") or ())):
        for key in LISTS:
            for index, container in enumerate(get(spec, (*pod_spec(job), key), [])):
                yield (*pod_spec(job), key, index), container


def _names(spec: Tree) -> dict[Path, frozenset[str]]:
    return {
        path: frozenset(each["name"] for each in container.get("env") or ()) for path, container in containers(spec)
    }


def _changing(plan: Plan, main: tuple[Slot, ...]) -> frozenset[str]:
    """Return the variables of the operator that differ in a job with one more pod in its last role."""
    try:
        larger = _larger_job(plan)
        plans = [] if larger is None else [_framed(each, plan.job.name) for each in (plan, larger)]
    except Exception:  # stages rely on checks, which the larger job has not passed: such as a second Master
        plans = []
    if not plans:
        return frozenset()
    env = [
        {(slot, each["name"]): each for slot in main for each in get(found.spec, (*slot.path, "env"), [])}
        for found in plans
    ]
    return frozenset(key[1] for key in env[0].keys() | env[1].keys() if env[0].get(key) != env[1].get(key))


def _larger_job(plan: Plan) -> Plan | None:
    """Return the plan of a job with one more pod in its last role; None if its document has no number of pods."""
    document, last = plan.job.document, len(plan.jobs) - 1
    kind = find(document.value.get("apiVersion"), document.value.get("kind"))
    path = plan.runtime.at(*JOBS_OF_RUNTIME, last, "template", "spec", "completions").written_path
    if kind is None or path[-1:] != ("replicas",):
        return None
    schema = load(kind.kind, kind.schema_folder(document.value.get("apiVersion")))
    job = schema.admit(document.value).value
    job = put(job, path, get(job, path, 1) + 1)
    lowered = frameworks.front_end(kind).lower(job, None)
    runtime = lowered.runtime
    if len(get(runtime, JOBS_OF_RUNTIME, ())) > len(plan.jobs):
        runtime = runtime_in_one_job(kind, job, plan.runtime.value) or runtime
    larger = resolved_plan(plan, runtime=runtime)
    return larger._replace(job=larger.job._replace(value=lowered.job))


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
