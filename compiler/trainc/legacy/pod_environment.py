"""The environment of a legacy job's containers: the variables that its operator adds, and the host names of its pods.

Reads    the containers of a plan, and the layout of the job.
Returns  the plan with unique variables, of which the last one of a name applies, as in a pod; and with the host names
         that the pods have in the JobSet: the old ones, such as `<job>-<role>-<index>`, do not resolve there. The name
         of a pod that the job does not have stays. Variables without effect and texts with host names are losses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.base.kinds import JOBS_OF_RUNTIME
from trainc.base.records import NamedTuple
from trainc.frontends.lowering import Loss
from trainc.kubernetes.container_environment import without_shadowed
from trainc.kubernetes.trees import edit, get, put
from trainc.legacy.common_losses import HOST_NAME, SHADOWED
from trainc.legacy.layout import Layout
from trainc.legacy.own_runtime import REPLICA_SPECS
from trainc.pipeline.checks import limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Diagnostic, ObjectId, Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan, Slot

_SPEC: Path = JOBS_OF_RUNTIME[:-1]
"""The path of the JobSetSpec in a runtime."""


class Pods(NamedTuple):
    """The pods of a legacy job, by role."""

    plan: Plan
    layout: Layout

    @classmethod
    def from_plan(cls, plan: Plan) -> Pods:
        """Return the pods of a job."""
        return cls(plan, Layout.from_tree(plan.runtime.settings["layout"]))

    @property
    def settings(self) -> Tree:
        """The settings that the front end derives from the job."""
        return self.plan.runtime.settings

    @property
    def roles(self) -> Tree:
        """The settings of each role, not in the order of the ranks."""
        found: Tree = self.settings[REPLICA_SPECS]
        return found

    @property
    def nodes(self) -> int:
        """The number of replicas of all roles."""
        return sum(each["replicas"] for each in self.roles.values())

    def replicas(self, role: str) -> int:
        """Return the replicas of a role; 0 for a role that the job does not have."""
        return int(self.roles[role]["replicas"]) if role in self.roles else 0

    def port(self, role: str) -> int:
        """Return the port of a role's main container."""
        return int(self.roles[role]["port"])

    def host(self, role: str, index: int = 0) -> str:
        """Return the host name of a role's pod."""
        position = self.layout.position(role, index)
        assert position is not None, "the role has this pod"
        return self.plan.host(*position)

    def hosts(self, role: str) -> list[str]:
        """Return the host names of a role's replicas."""
        return [self.host(role, index) for index in range(self.replicas(role))]

    def hosts_length(self, role: str) -> int:
        """Return the total length of the host names of a role's replicas, in bytes, by arithmetic."""
        position, count = self.layout.position(role, 0), self.replicas(role)
        assert position is not None, "a role has a pod"
        if self.layout.groups[position.job].is_one_job:
            own, first = self.plan.host(position.job, position.replica, ""), position.pod
        else:
            own, first = self.plan.host(position.job, "", position.pod), position.replica
        return count * len(own.encode()) + limits.digits(first + count) - limits.digits(first)


def with_variables(plan: Plan, slot: Slot, env: Iterable[Tree] = ()) -> Plan:
    """Return the plan with variables after those of a container."""
    path = (*slot.path, "env")
    written = get(plan.spec, path, None) or []
    variables = [*written, *env]
    if not variables:
        return plan
    losses = (Loss(written_path(plan, (*path, *step)), SHADOWED) for step in _without_effect(variables, len(written)))
    return plan._replace(
        spec=edit(plan.spec, path, lambda _: without_shadowed(variables)), losses=(*plan.losses, *losses)
    )


def with_operator_variables(plan: Plan, env: list[Tree], job: int, *, container: str = "") -> Plan:
    """Return the plan with variables in the containers of a replicated job; init containers get none.

    container   the name of the containers that get the variables; empty for all of them
    """
    for slot in plan.containers(job):
        has_variables = not container or get(plan.spec, (*slot.path, "name")) == container
        plan = with_variables(plan, slot, env if has_variables else ())
    for slot in plan.init_containers(job):
        plan = with_variables(plan, slot)
    return plan


def _without_effect(variables: list[Tree], count: int) -> Iterator[Path]:
    """Yield the values of the first `count` variables that a later one shadows, and that no other one refers to."""
    last = {variable.get("name"): index for index, variable in enumerate(variables)}
    for index, variable in enumerate(variables[:count]):
        name = variable.get("name")
        if last[name] == index or any(f"$({name})" in str(each.get("value")) for each in variables):
            continue
        for key in ("value", "valueFrom"):
            if key in variable:
                yield index, key


def written_path(plan: Plan, path: Path) -> Path:
    """Return the path in the job's document of a field of the JobSetSpec that the job gives."""
    return plan.runtime.at(*_SPEC, *path).written_path


def long_variable(subject: ObjectId, plan: Plan, name: str, size: int) -> Iterator[Diagnostic]:
    """Yield an error if a variable with the host names of all pods is too long for a process.

    size   the length of its value, in bytes
    """
    place = plan.runtime.at("spec", "mlPolicy", plan.runtime.framework, "layout")
    yield from limits.long_variable(subject, name, size, "use fewer replicas or a shorter name", place)


def with_new_hosts(plan: Plan) -> Plan:
    """Return the plan with the new host name in place of each old one that is a word of its own."""
    old = _OldHosts(plan)
    for path, text in _texts(plan, plan.spec, old.job):
        new = old.replaced(text)
        if new != text:
            plan = plan._replace(
                spec=put(plan.spec, path, new), losses=(*plan.losses, *old.losses(written_path(plan, path), text))
            )
    return plan


def unknown_hosts(plan: Plan) -> Iterator[tuple[Path, str]]:
    """Yield each host name in the JobSetSpec of a pod that the job does not have, with the path of its text."""
    old = _OldHosts(plan)
    for path, text in _texts(plan, plan.objects[0]["spec"], old.job):
        for match in old.pattern.finditer(text):
            if match[2] is not None and old.new_host(match) is None:
                yield path, match[0]


class _OldHosts:
    """The host names that the pods of a job had with its operator."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.job = plan.job.source_name
        self.layout = Pods.from_plan(plan).layout
        self.roles = {role.lower(): role for group in self.layout.groups for role, _ in group.roles}
        name = re.escape(self.job)
        domain = rf"(?:\.{name}(?![\w-]))?" if self.layout.in_subdomain else ""
        self.pattern = re.compile(
            rf"(?<![\w.-]){name}-({'|'.join(map(re.escape, self.roles))})(?:-([0-9]{{1,10}}))?{domain}(?![\w-])"
        )

    def new_host(self, match: re.Match[str]) -> str | None:
        """Return the host name in the JobSet; None for a word that is no host name of the job's pods."""
        role, index = self.roles[match[1]], match[2]
        if (index is None) != (role == self.layout.unnumbered) or (index is None and _is_in_path(match)):
            return None
        position = self.layout.position(role, int(index or 0))
        return None if position is None else self.plan.host(*position)

    def replaced(self, text: str) -> str:
        """Return a text with the new host names."""
        return self.pattern.sub(lambda match: self.new_host(match) or match[0], text)

    def losses(self, path: Path, text: str) -> Iterator[Loss]:
        """Yield a loss for each host name in a text that is replaced."""
        found = {match[0]: self.new_host(match) for match in self.pattern.finditer(text)}
        return (Loss(path, HOST_NAME, f"{old} becomes {new}") for old, new in found.items() if new is not None)


def _is_in_path(match: re.Match[str]) -> bool:
    """Return whether a match follows the slash of a path, which is not that of a URL."""
    before = match.string[: match.start()]
    return before.endswith("/") and not before.endswith("//")


def _texts(plan: Plan, spec: Tree, word: str) -> Iterator[tuple[Path, str]]:
    """Yield the texts for the processes of all containers that contain a word, with their paths in a JobSetSpec."""
    for job in range(len(plan.jobs)) if word else ():
        for slot in (*plan.containers(job), *plan.init_containers(job)):
            container = get(spec, slot.path, {})
            for key in ("command", "args"):
                for index, text in enumerate(container.get(key) or ()):
                    if word in text:
                        yield (*slot.path, key, index), text
            for index, variable in enumerate(container.get("env") or ()):
                text = variable.get("value")
                if isinstance(text, str) and word in text:
                    yield (*slot.path, "env", index, "value"), text
