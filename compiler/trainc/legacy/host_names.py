"""Host names of a legacy job's pods: those of its roles, and the old ones in its own text.

Reads    commands, arguments and variables of all containers; the layout of the job.
Returns  the plan with the host names that the pods have in the JobSet: the old ones, such as `<job>-<role>-<index>`, do
         not resolve there. Each text with one is a loss. A name of a pod that the job does not have stays.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.diagnostics import Diagnostic
from trainc.frontends.lowering import Loss
from trainc.kubernetes.trees import get, put
from trainc.legacy.common_losses import HOST_NAME
from trainc.legacy.layout import Layout
from trainc.legacy.variables import written_path
from trainc.pipeline.checks import hosts, limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import ObjectId, Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan


def layout_of(plan: Plan) -> Layout:
    """Return the layout of a legacy job."""
    return Layout.from_tree(plan.runtime.settings["layout"])


def role_host(plan: Plan, layout: Layout, role: str, index: int = 0) -> str:
    """Return the host name of a role's pod."""
    position = layout.position(role, index)
    assert position is not None, "the role has this pod"
    return plan.host(*position)


def role_hosts(plan: Plan, layout: Layout, role: str, count: int) -> list[str]:
    """Return the host names of a role's first pods."""
    return [role_host(plan, layout, role, index) for index in range(count)]


def role_hosts_length(plan: Plan, layout: Layout, role: str, count: int) -> int:
    """Return the total length of the host names of a role's first pods, in bytes, by arithmetic."""
    position = layout.position(role, 0)
    assert position is not None, "a role has a pod"
    if layout.groups[position.job].is_one_job:
        own, first = plan.host(position.job, position.replica, ""), position.pod
    else:
        own, first = plan.host(position.job, "", position.pod), position.replica
    return count * len(own.encode()) + hosts.digits(first + count) - hosts.digits(first)


def long_variable(subject: ObjectId, plan: Plan, name: str, size: int) -> Iterator[Diagnostic]:
    """Yield an error if a variable with the host names of all pods is too long for a process.

    size   the length of its value, in bytes
    """
    size += len(f"{name}=")
    if size > limits.MAX_ARGUMENT:
        place = plan.runtime.at("spec", "mlPolicy", plan.runtime.framework, "layout")
        yield Diagnostic.declared(
            limits.ARGUMENT_TOO_LONG,
            limits.too_long(f"variable {name}, including its name,", size),
            "use fewer replicas or a shorter name",
            object=subject,
            field=place.field,
            place=place,
        )


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
    if "layout" not in plan.runtime.settings:  # a kind without host names
        return
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
        self.layout = layout_of(plan)
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
