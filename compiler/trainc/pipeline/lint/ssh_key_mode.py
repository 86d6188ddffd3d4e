"""An SSH key that the launcher's ssh ignores because a group or all may read it, or that its user cannot read.

Reads    the users, groups and fsGroup of the launcher's pod and container; the modes and the mount of the Secret.
Silent   if the user is that of the image, except in `/root/.ssh`, where only root has keys; if the command may use
         another key or a copy, or another mount hides this one.
Source   OpenSSH 9.2, sshkey_perm_ok: a key of the user must have no permissions for group and others; one of another
         owner must only be readable. Kubernetes 1.36, SetVolumeOwnership of the kubelet: root owns the files of a
         Secret; fsGroup becomes their group, which may then read them, and a group of all processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from trainc.base.records import NamedTuple
from trainc.diagnostics import Finding, LintFinding
from trainc.pipeline.frameworks import main_container, traits
from trainc.pipeline.lint import lint_rule, pod_at
from trainc.pipeline.lint.triggers import security_context
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.diagnostics import Path
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.plan import Plan

USER: Final = ("securityContext", "runAsUser")
PRIVATE_KEY: Final = "ssh-privatekey"
FOLDER: Final = "/.ssh"
"""The end of the folder in which ssh looks for keys."""
OF_ROOT: Final = "/root/.ssh"
CONFIGURATION: Final = "/etc/ssh"
DEFAULT_MODE: Final = 0o644
OWNER_ONLY: Final = 0o700
GROUP_READS: Final = 0o040
OTHERS_READ: Final = 0o004
OTHER_KEYS: Final = ("id_", "dentityFile", "ssh-add", FOLDER, "chmod")
"""Parts of texts with which a container may use another key, or a copy of this one."""


class KeyFile(NamedTuple):
    """A private key of which root is the owner."""

    folder: str
    name: str
    mount: int
    """The index of its mount."""
    mode: int
    """Its mode in the Secret's volume; fsGroup adds the permission of the group."""
    fs_group: int | None

    @property
    def effective_mode(self) -> int:
        """The mode of the file in the container."""
        return self.mode if self.fs_group is None else self.mode | 0o400 | GROUP_READS

    @property
    def is_too_open(self) -> bool:
        """Whether the owner's ssh ignores it."""
        return bool(self.effective_mode & ~OWNER_ONLY)


def find(plan: Plan) -> Iterator[LintFinding]:
    """Yield the setting because of which the launcher's ssh has no key."""
    from trainc.pipeline.frameworks.mpi.mpirun import replaces_ssh

    known = traits(plan.runtime)
    slot, node = main_container(plan, plan.named(known.launcher)), plan.named(known.node)
    if slot is None or node is None or not plan.counts[slot.job] or not plan.counts[node]:
        return
    pod = pod_at(plan, slot.job)
    container: Tree = pod[slot.containers][slot.at]
    key = key_file(pod, container)
    if key is None or may_use_other_key(container, key) or replaces_ssh(container):
        return
    of_pod: Path = pod_spec(slot.job)
    at, user = user_of(pod, container)
    path: Path = (*(slot.path if at is container else of_pod), *USER)
    if user is None:
        if key.folder != OF_ROOT or security_context(at).get("runAsNonRoot"):
            return
        path = (*slot.path, "volumeMounts", key.mount, "mountPath")
    what = (f"{key.effective_mode:04o}", f"{key.folder}/{key.name}", str(user or 0))
    if user:
        groups, are_all = groups_of(pod, container)
        if not is_readable(key, groups):
            is_certain = are_all or not key.effective_mode & GROUP_READS
            fault = "unreadable" if is_certain else "conditional"
            yield LintFinding("ssh-key-mode", path, (fault, *what, str(next(iter(sorted(groups)), user))))
    elif key.is_too_open:
        group = "" if key.fs_group is None else str(key.fs_group)
        if group and not key.mode & ~OWNER_ONLY:
            yield LintFinding("ssh-key-mode", (*of_pod, "securityContext", "fsGroup"), ("fsGroup", *what, group))
        else:
            yield LintFinding("ssh-key-mode", path, ("open", *what, group), shared=path[-1] == "mountPath")


def key_file(pod: Tree, container: Tree) -> KeyFile | None:
    """Return the private key that a container mounts where ssh looks for it, or None."""
    secrets = {volume["name"]: volume["secret"] for volume in pod.get("volumes") or () if "secret" in volume}
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        secret: Tree = secrets.get(mount["name"]) or {}
        item = next((item for item in secret.get("items") or () if item["key"] == PRIVATE_KEY), None)
        folder = mount["mountPath"].rstrip("/")
        if item is not None and folder.endswith(FOLDER):
            mode = item.get("mode", secret.get("defaultMode", DEFAULT_MODE))
            return KeyFile(folder, item["path"], index, mode, security_context(pod).get("fsGroup"))
    return None


def may_use_other_key(container: Tree, key: KeyFile) -> bool:
    """Return whether a container may have another key, a copy of this one, or another configuration of ssh."""
    mounts = container.get("volumeMounts") or ()
    others = (mount["mountPath"] for index, mount in enumerate(mounts) if index != key.mount)
    if any(path.startswith((f"{key.folder}/", CONFIGURATION)) for path in others):
        return True
    texts = [*(container.get("command") or ()), *(container.get("args") or ())]
    texts += [variable.get("value") or "" for variable in container.get("env") or ()]
    return any(part in text for text in texts for part in OTHER_KEYS)


def user_of(pod: Tree, container: Tree) -> tuple[Tree, int | None]:
    """Return the container or pod that sets the user, and the user; None if it is the image's."""
    for at in (container, pod):
        if (user := security_context(at).get("runAsUser")) is not None:
            return at, user
    return container, None


def groups_of(pod: Tree, container: Tree) -> tuple[frozenset[int], bool]:
    """Return the groups that a container's processes are known to have, and whether no others follow from the image."""
    of_pod = security_context(pod)
    first = security_context(container).get("runAsGroup", of_pod.get("runAsGroup"))
    return frozenset(
        {*(of_pod.get("supplementalGroups") or ()), *(() if first is None else (first,))}
    ), first is not None


def is_readable(key: KeyFile, groups: frozenset[int]) -> bool:
    """Return whether a user other than root can read a key with these groups."""
    mode = key.effective_mode
    return bool(mode & OTHERS_READ or (mode & GROUP_READS and (key.fs_group is not None or 0 in groups)))


@lint_rule("ssh-key-mode")
def warning(plan: Plan, finding: LintFinding) -> Finding:
    """mpirun starts the ranks by ssh, which fails without the private key of the job's Secret."""
    fault, mode, file, user, group = finding.what
    is_trainjob = plan.job.own_runtime is None
    if fault == "fsGroup":
        message = (
            f"fsGroup makes the mode of the SSH key {file} {mode}: ssh ignores a key of root that a group can read"
        )
        return Finding(message=message, help="remove fsGroup")
    if fault == "open":
        help = (
            "run both jobs as another user of the image, with fsGroup, and with sshAuthMountPath in its home, as in "
            "runtime openmpi-distributed"
        )
        if not is_trainjob:
            and_group = " and fsGroup" if group else ""
            help = f"remove sshAuthMountPath{and_group}: in {OF_ROOT}, the mode of the key is 0600"
        message = f"ssh of root ignores its key {file}, because the mode is {mode}: others than the owner can read it"
        return Finding(message=message, help=help)
    help = f"set fsGroup: {group} in the securityContext of the pods of both jobs"
    if not is_trainjob:
        help = f"set sshAuthMountPath to {FOLDER[1:]} in the home of the user, where the mode of the key is 0644"
    if fault == "unreadable":
        verb, condition = "cannot", ""
    else:
        verb, condition = "can", " only if the image has the user in group 0"
    message = f"user {user} {verb} read the SSH key {file}{condition}: its owner is root, and its mode {mode}"
    return Finding(message=message, help=help)
