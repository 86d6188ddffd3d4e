"""The forms of a migrated job, from the one that a person would write to the one that is always exact.

Reads    the plan of a compiled legacy job.
Returns  candidates, each a TrainJob and a runtime. None is known to keep the behaviour of the job: the caller compiles
         and compares each.

policy      a public mlPolicy; image, command, args, env, resources and numNodes are in the TrainJob
variables   a runtime without a framework policy, whose containers have the variables of the operator
exact       the runtime has the whole template, the TrainJob only names it
"""

from __future__ import annotations

from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.kinds import CLUSTER_RUNTIME, JOBS_OF_RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.base.releases import find_release
from trainc.base.trainjob_dialects import DIALECTS, PROCESSES_FIELD
from trainc.diagnostics import Document
from trainc.frontends.dialects import in_dialect
from trainc.kubernetes.gotypes import as_go_type
from trainc.kubernetes.trees import edit, get, put
from trainc.kubernetes.violations import listed
from trainc.legacy.mpijob import HOSTFILE, KEYS, KEYS_PATH, ROOT_KEYS
from trainc.pinning.manifests import SERVER_METADATA, clean
from trainc.pipeline import frameworks
from trainc.pipeline.frameworks import mpi
from trainc.pipeline.frameworks.mpi import SSH
from trainc.pipeline.lint import ttl_repeats_training
from trainc.pipeline.objects import Runtime, TrainJob
from trainc.pipeline.passes.framework import framework
from trainc.pipeline.passes.override import override
from trainc.pipeline.passes.size import size
from trainc.pipeline.plan import NODE, Plan, pod_spec
from trainc.rewriting.migration.accepted_differences import PROCESS_VARIABLES, UNUSED_KEYS
from trainc.rewriting.migration.host_files import host_files, named_files
from trainc.rewriting.migration.migrated import Candidate, RejectedForm
from trainc.rewriting.migration.new_runtimes import (
    extension_fields,
    named,
    policy_defaults,
    runtime_of,
    violations_of,
    with_defaults,
    without_unknown_fields,
)
from trainc.rewriting.migration.parametric_template import (
    ParametricTemplate,
    containers,
    parametric_template,
    template_with_names,
    with_container_name,
    with_job_name,
)
from trainc.rewriting.migration.torchrun_commands import with_torchrun_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from trainc.kubernetes.trees import Path, Tree
    from trainc.pipeline.plan import Slot
    from trainc.rewriting.migration.migrated import Form

_ENTRY: Final = ("image", "command", "args")
_OF_JOB: Final = ("suspend", "activeDeadlineSeconds")
_LASTING: Final = frozenset({"persistentVolumeClaim", "ephemeral", "csi"})
_AMOUNTS: Final = frozenset({"limits", "requests"})
ByOperator = Literal["none", "passed on", "literal"]
_VOLUMES: Final = {KEYS: SSH, HOSTFILE: mpi.HOSTFILE}
"""The names of mpi-operator's volumes, which another container may mount, and those of Trainer's."""


class _Choices(NamedTuple):
    """The parts of a candidate with a public policy that a person would not write if the job runs without them."""

    env: bool = True
    """Whether the TrainJob has the variables of the user, and not the runtime."""
    ports: bool = False
    """Whether the containers have the ports that the operator adds."""
    by_operator: ByOperator = "none"
    """What the containers have of the operator's variables that the policy does not set."""
    group: int | None = None
    """The fsGroup of the pods."""
    keys: Tree | None = None
    """The operator's volume of SSH keys."""


def candidates(plan: Plan, in_one_job: Plan | None, reasons: Callable[[], int]) -> Iterator[Candidate | RejectedForm]:
    """Yield the candidates of a job, the best ones first, and the forms that it cannot have.

    in_one_job   the plan of the job with its pods in one Job; None if it has one, or if its roles differ
    reasons      returns the number of reasons against the last candidate
    """
    job = _LegacyJob(plan, reasons)
    yield from job.policy()
    yield from job.variables()
    if in_one_job is not None:
        whole = _LegacyJob(in_one_job, reasons, joined=True)
        yield from whole.policy()
        yield from whole.variables()
    yield from job.exact()


class _LegacyJob:
    """A legacy job, and the parts of its candidates."""

    def __init__(self, plan: Plan, reasons: Callable[[], int], *, joined: bool = False) -> None:
        self.plan, self.reasons, self.joined = plan, reasons, joined
        self.release = find_release(plan.release.name, plan.release)
        """The release of the cluster; a legacy job's plan has only a part of its behaviours."""
        self.traits = frameworks.traits(plan.runtime)

    @cached_property
    def template(self) -> ParametricTemplate:
        """The template with references instead of the job's name."""
        return parametric_template(self.plan)

    @cached_property
    def files(self) -> tuple[Tree, ...]:
        """The ConfigMaps with the host names of its pods."""
        return host_files(self.plan)

    @property
    def family(self) -> str:
        """The public framework of its kind; the kind's own name if there is none."""
        return self.traits.family or self.plan.runtime.framework

    @property
    def is_one_job(self) -> bool:
        """Whether all pods are those of one Job."""
        return len(self.plan.jobs) == 1 and self.plan.jobs[0].get("replicas", 1) == 1

    def policy(self) -> Iterator[Candidate | RejectedForm]:
        """Yield the candidates with the public policy of the framework.

        Each choice is tried with the best of the choices before it, those with the fewest reasons against them.
        """
        public = frameworks.load(self.family)
        if self.family not in frameworks.FRAMEWORKS or public is None:
            yield RejectedForm("policy", (f"there is no mlPolicy.{self.family}",))
            return
        own = self._settings()
        if own is None:
            yield RejectedForm("policy", (f"Trainer {self.release.name} has no mlPolicy.{self.family}",))
            return
        of_policy = public.traits
        trainer = self._trainer(of_policy.launcher)
        if trainer is None:
            yield self._rejected_for_several_jobs("policy")
            return
        names = {trainer.job: of_policy.launcher or NODE}
        nodes = self.plan.named(self.traits.node) if of_policy.launcher and self.traits.node else None
        names |= {} if nodes is None else {nodes: of_policy.node}
        given: Tree = {**self._nodes(nodes), **self._processes()}
        settings = {"numNodes": 1, self.family: own}
        counted = (trainer.job,) if nodes is None else (trainer.job, nodes)
        without = self._runtime(self._template_of_policy(names, None, ports=True), counted, settings)
        if faults := [violation.message for violation in violations_of(without, self.release)]:
            yield RejectedForm("policy", tuple(faults))
            return
        by_policy = self._added_by(without, given)
        yield from self._built_in(names, by_policy, trainer, given)

        def candidate(choices: _Choices) -> Candidate:
            env, ports, by_operator, group, keys = choices
            spec = self._template_of_policy(names, by_policy, ports=ports, by_operator=by_operator)
            spec = _with_volume_names(spec, _VOLUMES if keys is None else _VOLUMES | {KEYS: KEYS})
            spec = spec if keys is None else reduce(partial(_with_mount, volume=keys), self.template.main, spec)
            if group is not None:
                for index in names:
                    spec = edit(spec, (*pod_spec(index), "securityContext"), partial(_with_group, group=group))
            left, job = self._split(
                spec, trainer, counts=by_operator == "literal", env=env, resources=not of_policy.launcher
            )
            of_keys = settings if keys is None else put(settings, (self.family, KEYS_PATH[-1]), UNUSED_KEYS)
            found = self._candidate("policy", given | job, self._runtime(left, counted, of_keys), trainer)
            return found if keys is None else found._replace(named=f'Secret "{keys["secret"]["secretName"]}"')

        best = _Choices()
        yield candidate(best)
        fewest = self.reasons()
        for other in self._other_choices(trainer.job):
            chosen = best._replace(**other)
            yield candidate(chosen)
            if (count := self.reasons()) < fewest:
                best, fewest = chosen, count

    def _other_choices(self, launcher: int) -> Iterator[dict[str, Any]]:
        """Yield the choices other than the first ones, by name."""
        yield from ({"by_operator": way} for way in self._ways())
        if (group := self._group(launcher)) is not None:
            yield {"group": group}
        yield {"ports": True}
        yield {"env": False}
        if (keys := self._own_keys(launcher)) is not None:
            yield {"keys": keys}

    def _built_in(
        self, names: dict[int, str], by_policy: frozenset[str], trainer: Slot, given: Tree
    ) -> Iterator[Candidate]:
        """Yield the candidates with the runtime of the framework that every installation of Trainer has."""
        library = self.plan.library
        entry = library.find(CLUSTER_RUNTIME.kind, "", f"{self.family}-distributed")
        if entry is None or library.forbidden is not None or not library.is_built_in(entry.document):
            return
        for way in ("none", *(each for each in self._ways() if each != "literal")):
            container: Tree = get(
                self._template_of_policy(names, by_policy, ports=False, by_operator=way), trainer.path
            )
            job = given | {key: container[key] for key in (*_ENTRY, "env") if container.get(key)}
            if container.get("resources"):
                job["resourcesPerNode"] = container["resources"]
            yield self._candidate("policy", job, entry.document.value, trainer, is_built_in=True)

    def variables(self) -> Iterator[Candidate | RejectedForm]:
        """Yield the candidates with the variables of the operator."""
        if not self.is_one_job or not self.template.main:
            yield self._rejected_for_several_jobs("variables")
            return
        if self.files:
            yield RejectedForm("variables", (f"its containers mount {named_files(self.files)}",))
            return
        [slot] = self.template.main
        spec = with_container_name(self.template.after, slot, NODE)
        spec = with_job_name(spec, slot.job, NODE, self.template.variable)
        in_job = not self.template.holds_counts and not self._is_counted_elsewhere(slot)
        count = self.plan.counts[slot.job]
        for env in (True, False):
            left, job = self._split(spec, slot, counts=in_job, env=env, resources=True)
            runtime = self._runtime(left, (slot.job,), {"numNodes": 1 if in_job else count})
            yield self._candidate("variables", ({"numNodes": count} if in_job else {}) | job, runtime, slot)

    def exact(self) -> Iterator[Candidate | RejectedForm]:
        """Yield the candidates whose runtime has the template of each role. One with files has its own runtime."""
        if secrets := frameworks.framework_of(self.plan).secrets(self.plan):
            why = f'`trainc secret` creates Secret "{secrets[0].name}" only for mlPolicy.{self.family}'
            yield RejectedForm("exact", (why,))
            return
        spec = template_with_names(self.plan) if self.files else self.template.after
        is_shared = not self.files and all(job.get("replicas", 1) == 1 for job in self.plan.jobs)
        if is_shared and (slots := self.template.main):
            left, job = self._without_common(spec, slots)
            if job:
                runtime = self._runtime(left, (), None, trainers=[slot.job for slot in slots])
                yield self._candidate("exact", job, runtime, slots[0])._replace(
                    files=self.files, named=named_files(self.files)
                )
        yield self._candidate("exact", {}, self._runtime(spec, (), None))._replace(
            files=self.files, named=named_files(self.files)
        )

    def _without_common(self, spec: Tree, slots: Sequence[Slot]) -> tuple[Tree, Tree]:
        """Return a JobSetSpec without the fields that the main containers of all roles have, and these."""
        mains: list[Tree] = [get(spec, slot.path) for slot in slots]
        first, *others = mains
        shared = {key for key in (*_ENTRY, "resources") if key in first}
        shared = {key for key in shared if all(each.get(key) == first[key] for each in others)}
        if not first.get("resources") or not first["resources"].keys() <= _AMOUNTS:
            shared -= {"resources"}
        job: Tree = {key: first[key] for key in _ENTRY if key in shared}
        added = frozenset[str]().union(*(self.template.added[slot.path] for slot in slots)) | {self.template.variable}
        own = [each for each in first.get("env") or () if each["name"] not in added]
        env = [each for each in own if all(each in (other.get("env") or ()) for other in others)]
        job |= {"env": env} if env else {}
        job |= {"resourcesPerNode": first["resources"]} if "resources" in shared else {}
        for slot, main in zip(slots, mains, strict=True):
            left = {key: field for key, field in main.items() if key not in (*shared, "env")}
            of_role = [each for each in main.get("env") or () if each not in env]
            spec = put(spec, slot.path, left | ({"env": of_role} if of_role else {}))
            spec = with_container_name(spec, slot, NODE)
        return spec, job

    def _rejected_for_several_jobs(self, form: Form) -> RejectedForm:
        names = listed(str(job["name"]) for job in self.plan.jobs)
        return RejectedForm(form, (f"its pods are those of several Jobs: {names}",))

    def _candidate(
        self,
        form: Form,
        trainer: Tree,
        runtime: Tree,
        slot: Slot | None = None,
        *,
        is_built_in: bool = False,
    ) -> Candidate:
        runtime = runtime if is_built_in else named(runtime, self.family)
        lowered = self.plan.job.value["spec"]
        spec: Tree = {"runtimeRef": {"name": runtime["metadata"]["name"]}}
        spec |= {key: lowered[key] for key in _OF_JOB if key in lowered and self._is_written("spec", key)}
        if trainer:
            spec["trainer"] = trainer
        job = {"apiVersion": VERSION, "kind": TRAINJOB.kind, "metadata": self._metadata(), "spec": spec}
        dialect = DIALECTS[self.release.dialect]
        job = job if dialect.has_overrides else in_dialect(job, dialect)
        extensions = () if is_built_in else tuple(extension_fields(runtime, self.release))
        counts = self.template.counts
        return Candidate(
            form, job, runtime, extensions, slot, counts=counts, is_built_in=is_built_in, is_one_job=self.joined
        )

    def _metadata(self) -> Tree:
        """Return the metadata of the job without the fields of the server and unknown fields."""
        known = self.plan.job.value["metadata"].keys() - SERVER_METADATA | {"generateName"}
        written = self.plan.job.document.unedited["metadata"]
        metadata = {key: field for key, field in written.items() if key in known and field is not None}
        found: Tree = clean({"metadata": metadata}, ())["metadata"]
        return found

    def _is_written(self, *path: str) -> bool:
        """Return whether the author of the job wrote a field of the TrainJob."""
        return get(self.plan.job.document.unedited, self.plan.job.at(*path).written_path) is not None

    def _runtime(
        self, spec: Tree, counted: tuple[int, ...], policy: Tree | None, trainers: Sequence[int] | None = None
    ) -> Tree:
        """Return the runtime; the first of the replicated jobs whose pods numNodes counts is the trainer's."""
        jobs, gang = counted[:1] if trainers is None else trainers, self.plan.runtime.gang
        if self.release.removed_jobset in ttl_repeats_training.FINISHED and not self.plan.renders:
            spec = {key: field for key, field in spec.items() if key != ttl_repeats_training.FIELD}
        return runtime_of(spec, self.release, trainers=jobs, counted=counted, policy=policy, gang=gang)

    def _trainer(self, launcher: str) -> Slot | None:
        """Return the container that spec.trainer applies to with a public policy: the launcher's, or the only one."""
        if not launcher:
            return self.template.main[0] if self.is_one_job and self.template.main else None
        job = self.plan.named(self.traits.launcher)
        return next((slot for slot in self.template.main if slot.job == job), None)

    def _settings(self) -> Tree | None:
        """Return the settings of the job that the public policy has, too, and that are not its default.

        None if the release of Trainer has no such policy.
        """
        defaults = policy_defaults(self.family, self.release)
        policy = {self.family: dict(self.plan.runtime.settings)}
        probe = {"kind": CLUSTER_RUNTIME.kind, "spec": {"mlPolicy": policy}}
        found: Tree | None = without_unknown_fields(probe, self.release)["spec"]["mlPolicy"].get(self.family)
        return found and {key: field for key, field in found.items() if defaults.get(key) != field}

    def _nodes(self, nodes: int | None) -> Tree:
        """Return the number of nodes: the pods of a replicated job, or all; and the launcher's if it is one, too.

        If that job has several replicas of one pod, numNodes is not the number of nodes, and the runtime has them.
        """
        plan = self.plan
        if nodes is None:
            return {"numNodes": sum(plan.counts)}
        if plan.counts[nodes] == 1 and int(plan.jobs[nodes].get("replicas", 1)) > 1:
            return {}
        return {"numNodes": plan.counts[nodes] + bool(plan.runtime.settings.get("runLauncherAsNode"))}

    def _processes(self) -> Tree:
        """Return the number of processes of each node, if the job sets a number."""
        of_job, of_runtime = self.plan.job.processes, self.plan.runtime.settings.get(self.traits.processes_field)
        given = str(of_runtime if of_job is None else of_job)
        return {PROCESSES_FIELD: int(given)} if given.isascii() and given.isdecimal() else {}

    def _group(self, launcher: int) -> int | None:
        """Return the group that pods may have as fsGroup: that of a user who cannot read Trainer's SSH keys, or None.

        In volumes that outlive the pod, fsGroup would change the files.
        """
        if not self.traits.launcher:
            return None
        pods: list[Tree] = [get(self.plan.spec, pod_spec(job)) for job in range(len(self.plan.jobs))]
        volumes = [volume for pod in pods for volume in pod.get("volumes") or ()]
        contexts = [each.get("securityContext") or {} for each in (pods[launcher], pods[launcher]["containers"][0])]
        user, group = ({key: None} | contexts[0] | contexts[1] for key in ("runAsUser", "runAsGroup"))
        if not user["runAsUser"] or "fsGroup" in contexts[0] or any(volume.keys() & _LASTING for volume in volumes):
            return None
        found: int = user["runAsUser"] if group["runAsGroup"] is None else group["runAsGroup"]
        return found

    def _own_keys(self, launcher: int) -> Tree | None:
        """Return the operator's volume of SSH keys, which the runtime may have; None if it cannot.

        ssh of root ignores the keys of Trainer's volume, which others than root may read.
        """
        pod: Tree = get(self.plan.spec, pod_spec(launcher))
        mounts = pod["containers"][0].get("volumeMounts") or ()
        if not self.traits.launcher or {"name": KEYS, "mountPath": ROOT_KEYS} not in mounts:
            return None
        found: Tree = next(each for each in pod["volumes"] if each["name"] == KEYS)
        return found

    def _ways(self) -> Iterator[ByOperator]:
        """Yield what the containers may have of the operator's variables that the policy does not set, beside none."""
        texts = [
            text
            for slot in self.template.main
            for key in ("command", "args")
            for text in get(self.template.after, (*slot.path, key), [])
        ]
        if self.family == "torch" and any(with_torchrun_names(text) != text for text in texts):
            yield "passed on"
        if not self.traits.launcher:
            yield "literal"

    def _template_of_policy(
        self,
        names: dict[int, str],
        by_policy: frozenset[str] | None,
        *,
        ports: bool,
        by_operator: ByOperator = "none",
    ) -> Tree:
        """Return the template for a policy.

        names         the names of the replicated jobs by their index
        by_policy     the variables that the policy adds; None for a template without variables
        ports         whether the containers have the ports that the operator adds
        by_operator   what the containers have of the operator's variables
        """
        spec = self.template.before
        for path, container in containers(self.template.after):
            found = _with_torchrun_names(container) if by_operator == "passed on" else container
            kept = by_policy or frozenset(), by_operator == "literal"
            env = () if by_policy is None else self._kept_variables(path, found, *kept)
            spec = put(spec, path, _with_texts(get(spec, path), found, list(env)))
        for slot in self.template.main:
            if not ports:
                spec = edit(spec, slot.path, partial(_with_ports, ports=self._written_ports(slot)))
            spec = with_container_name(spec, slot, NODE)
        for job, name in names.items():
            spec = with_job_name(spec, job, name, self.template.variable)
        return spec

    def _written_ports(self, slot: Slot) -> list[Tree]:
        """Return the ports of a container that the author of the job wrote."""
        container = self.plan.runtime.at(*JOBS_OF_RUNTIME, *slot.path[1:]).written_path
        ports: list[Tree] = get(self.plan.job.document.value, (*container, "ports"), [])
        return ports

    def _kept_variables(
        self, path: Path, container: Tree, by_policy: frozenset[str], is_literal: bool
    ) -> Iterator[Tree]:
        """Yield the variables of a container beside a policy: the user's, and the operator's that no policy has.

        is_literal   whether those of the operator are kept that the policy does not set, but under another name
        """
        reference = f"$({self.template.variable})"
        gone = by_policy if is_literal else self.template.counts | by_policy | frozenset(PROCESS_VARIABLES)
        # Open MPI's variables of another release: the operator and Trainer add those that are absent.
        written = get(self.template.before, (*path, "env"), []) if self.traits.launcher else []
        kept = [
            each
            for each in container.get("env") or ()
            if each["name"] not in self.template.added[path]
            or each in written
            or (each["name"] not in gone and (is_literal or reference not in str(each.get("value"))))
        ]
        texts = [*(container.get("command") or ()), *(container.get("args") or ())]
        texts += [str(each.get("value")) for each in kept]
        is_used = any(reference in text for text in texts)
        return (each for each in kept if each["name"] != self.template.variable or is_used)

    def _added_by(self, runtime: Tree, trainer: Tree) -> frozenset[str]:
        """Return the variables that a policy adds."""
        document, runtime = Document("", 1, "", runtime), with_defaults(runtime, self.release)
        spec = as_go_type(runtime["spec"]["template"]["spec"])
        job = put(self.plan.job.value, ("spec", "trainer"), trainer)
        of_form = Runtime.from_value(document, self.release, runtime, spec, "")
        found = override(Plan(TrainJob(self.plan.job.document, job), self.plan.library, self.release, of_form))
        env = [each for _, container in containers(framework(size(found)).spec) for each in container.get("env") or ()]
        return frozenset(each["name"] for each in env)

    def _split(self, spec: Tree, slot: Slot, *, counts: bool, env: bool, resources: bool) -> tuple[Tree, Tree]:
        """Return a JobSetSpec without the fields of its main container that spec.trainer has, and these.

        counts      whether the TrainJob has the variables that hold counts
        env         whether the TrainJob has the variables of the user
        resources   whether the TrainJob has the resources
        """
        container: Tree = get(spec, slot.path)
        job: Tree = {key: container[key] for key in _ENTRY if key in container}
        left = {key: field for key, field in container.items() if key not in (*_ENTRY, "env")}
        of_job: list[Tree] = []
        of_runtime: list[Tree] = []
        for each in container.get("env") or ():
            (of_job if self._is_of_job(slot, each["name"], counts=counts, env=env) else of_runtime).append(each)
        job |= {"env": of_job} if of_job else {}
        if not left.get("resources", True):
            del left["resources"]
        left = {"name": left["name"]} | left | ({"env": of_runtime} if of_runtime else {})
        if resources and left.get("resources") and left["resources"].keys() <= _AMOUNTS:
            job["resourcesPerNode"] = left.pop("resources")
        return put(spec, slot.path, left), job

    def _is_of_job(self, slot: Slot, name: str, *, counts: bool, env: bool) -> bool:
        if name in self.template.added[slot.path]:
            return counts and name in self.template.counts
        return env and name != self.template.variable

    def _is_counted_elsewhere(self, main: Slot) -> bool:
        """Return whether another container than the main one has a variable that holds a count."""
        others = (container for path, container in containers(self.template.after) if path != main.path)
        return any(each["name"] in self.template.counts for other in others for each in other.get("env") or ())


def _with_volume_names(spec: Tree, names: Mapping[str, str]) -> Tree:
    """Return a JobSetSpec whose mounts of the operator's volumes have other names."""
    for path, container in containers(spec):
        if mounts := container.get("volumeMounts"):
            renamed = [each | {"name": names.get(each["name"], each["name"])} for each in mounts]
            spec = put(spec, (*path, "volumeMounts"), renamed)
    return spec


def _with_torchrun_names(container: Tree) -> Tree:
    """Return a container whose command reads the number of nodes and the address as Trainer's policy names them."""
    texts = {key: [*map(with_torchrun_names, container[key])] for key in ("command", "args") if key in container}
    return container | texts


def _with_mount(spec: Tree, slot: Slot, volume: Tree) -> Tree:
    """Return a JobSetSpec with the volume of SSH keys in a pod, mounted in the home of root."""
    mount = {"name": volume["name"], "mountPath": ROOT_KEYS}
    spec = edit(spec, (*pod_spec(slot.job), "volumes"), lambda there: [*(there or ()), volume])
    mounted: Tree = edit(spec, (*slot.path, "volumeMounts"), lambda there: [*(there or ()), mount])
    return mounted


def _with_group(context: Tree | None, group: int) -> Tree:
    return {**(context or {}), "fsGroup": group}


def _with_texts(container: Tree, texts: Tree, env: list[Tree]) -> Tree:
    """Return a container with the command and arguments of another one, and with other variables."""
    found = {key: field for key, field in container.items() if key != "env"}
    found |= {key: texts[key] for key in ("command", "args") if key in texts}
    return found | ({"env": env} if env else {})


def _with_ports(container: Tree, ports: list[Tree]) -> Tree:
    rest = {key: field for key, field in container.items() if key != "ports"}
    return rest | ({"ports": ports} if ports else {})
