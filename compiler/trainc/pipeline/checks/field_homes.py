"""Hints for fields that a TrainJob or a runtime does not have where they are written, but that another object has.

Reads    a TrainJob or a runtime, and the path of an unknown field of its spec.
Returns  the hint: a field of the trainer, a patch of the runtime, or the field's path in the runtime and in a patch of
         the JobSet. This module is imported only if there is such a field.
Source   Kubeflow Trainer, the schemas of TrainJob and TrainingRuntime: a patch has few of a pod's fields.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Fix, Relocation
from trainc.base.kinds import RUNTIME, TRAINJOB
from trainc.base.records import NamedTuple
from trainc.base.synonyms import GROUPS
from trainc.base.trainjob_dialects import DIALECTS, TrainJobForm, detect
from trainc.frontends import extensions
from trainc.kubernetes.structural import read
from trainc.kubernetes.structural.homes import fits, names_of, resembles, resolved
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.pipeline.objects import STEPS
from trainc.pipeline.plan import NODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Path, Tree

_MOST_IN_PATCH: Final = 20
"""The most unknown fields that one patch sets."""
MANAGER: Final = "example.com/me"
"""The manager of a patch in a hint."""
OF_TRAINER: Final = {
    "args": "args",
    "command": "command",
    "env": "env",
    "image": "image",
    "resources": "resourcesPerNode",
}
"""The fields of the container `node`, and the spec.trainer field that sets each."""
OF_TRAINJOB: Final = frozenset({"env", "name"})
"""The fields of a container that a TrainJob has itself."""
EACH: Final = "*"
"""The step of a level into the items of a list, which have names."""
JOBSET: Final = ("template", "spec")
REPLICATED_JOB: Final = (*JOBSET, "replicatedJobs", EACH)
JOB: Final = (*REPLICATED_JOB, "template", "spec")
POD_METADATA: Final = (*JOB, "template", "metadata")
POD: Final = (*JOB, "template", "spec")
CONTAINER: Final = (*POD, "containers", EACH)
OF_RUNTIME: Final[tuple[tuple[str, ...], ...]] = ((), ("mlPolicy",), ("podGroupPolicy",))
"""The levels of a runtime's spec that are not in its template."""
OF_CONTAINERS: Final = (CONTAINER, POD, POD_METADATA, JOB, REPLICATED_JOB, JOBSET, *OF_RUNTIME)
"""The levels of a runtime's spec at which a field is searched that is written as one of a container."""
OF_JOBS: Final = (JOBSET, POD, CONTAINER, JOB, REPLICATED_JOB, POD_METADATA, *OF_RUNTIME)
"""Those for a field that is written as one of a job."""


class FieldHome(NamedTuple):
    """The path of a field in the spec of a runtime."""

    level: tuple[str, ...]
    name: str
    items: tuple[str, str]
    """The names of the replicated job and of the container."""

    @property
    def field(self) -> str:
        """The path in the runtime, with the names of list items in brackets."""
        path = ".".join(("spec", *self.level, self.name))
        for item in self.items:
            path = path.replace(f".{EACH}", f"[{item}]", 1)
        return path

    def wrapped(self, value: Any, top: tuple[str, ...] = ()) -> Tree:
        """Return a field below `top` with the value."""
        tree: Any = {self.name: value}
        items = list(self.items[: self.level.count(EACH)])
        for step in reversed(self.level[len(top) :]):
            tree = [{"name": items.pop()} | tree] if step == EACH else {step: tree}
        found: Tree = tree
        return found


def hint(value: Tree, path: Path, release: TrainerRelease, unknown: Sequence[Path] = ()) -> str | Fix:
    """Return the hint for an unknown field, or an empty string if nothing has it.

    unknown   the paths of all unknown fields, so that one patch has those that belong in one
    """
    is_trainjob = value.get("kind") == TRAINJOB.kind
    if path[: len(_patches(release))] == _patches(release):
        return _patch_hint(value, path, release)
    target, levels = _searched(path) if is_trainjob else (NODE, OF_JOBS)
    if path[-1] in GROUPS:
        return _group_hint(value, path, release)
    home = _home(str(path[-1]), get(value, path), levels, (target, target), release)
    if home is None:
        return ""
    if not is_trainjob:
        return f"did you mean {home.field}?"
    return _runtime_hint(value, path, home, release, unknown)


def _searched(path: Path) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return the replicated job and container that a path is about, and the levels at which its field is searched."""
    if path[:2] == ("spec", "initializer"):
        return STEPS.get(str(path[2]) if len(path) > 3 else "", NODE), OF_CONTAINERS
    return NODE, OF_JOBS if len(path) == 2 else OF_CONTAINERS


def _home(
    written: str,
    value: Any,
    levels: tuple[tuple[str, ...], ...],
    items: tuple[str, str],
    release: TrainerRelease,
) -> FieldHome | None:
    """Return the first level that has the field and admits its value; else the first that has a field of its type."""
    root = _runtime(release.crds)
    for accepts in (fits, resembles):
        for level in levels:
            fields = _fields(root, level)
            for name, *below in names_of(written):
                if name in fields and not below and name != "name" and accepts(value, fields[str(name)], root):
                    return FieldHome(level, str(name), items)
    return None


def _patch_hint(job: Tree, path: Path, release: TrainerRelease) -> str | Fix:
    """Return the hint for a field in a patch that only a runtime can set, or that has another path."""
    start = len(_patches(release)) + 1
    if path[start : start + 1] != ("trainingRuntimeSpec",):
        return ""
    level = tuple(EACH if isinstance(step, int) else step for step in path[start + 1 : -1])
    name, value = str(path[-1]), get(job, path)
    names = [
        get(job, (*path[: index + 1], "name")) for index, step in enumerate(path) if index > start and type(step) is int
    ]
    items = (str(names[0]), str(names[1])) if len(names) > 1 else (str([*names, NODE][0]), NODE)
    if level == CONTAINER and name in OF_TRAINER and items[1] == NODE:
        field = DIALECTS[release.dialect].written(("spec", "trainer", OF_TRAINER[name]))
        return f"did you mean {field_of(field)}?"
    levels = (level, *(each for each in OF_CONTAINERS if each != level))
    home = _home(name, value, levels, items, release)
    return "" if home is None else _runtime_hint(job, path, home, release)


def _runtime_hint(job: Tree, path: Path, home: FieldHome, release: TrainerRelease, unknown: Sequence[Path] = ()) -> Fix:
    """Return the hint with a patch of the TrainJob that sets the field, else with the runtime and the JobSet."""
    value = get(job, path)
    moved = (Relocation(path, (*path[:1], home.name), value),)
    is_own = not detect(job, release.dialect).mark
    if is_own and not DIALECTS[release.dialect].has_module and _patch_sets(home, value, release):
        spec = home.wrapped(value)
        for other in unknown[:_MOST_IN_PATCH] if len(path) < 4 else ():
            spec = _merged(spec, _patch_of(job, other, release)) if other != path else spec
        patches = _patches(release)
        shown = {patches[-1]: [{"manager": MANAGER, "trainingRuntimeSpec": spec}]}
        return Fix(moved, f"set it in {field_of(patches)}: ", shown, "fields", applicability="none")
    lead = f"a TrainJob cannot set it: set {home.field} in the runtime"
    if home.level[:2] != JOBSET:
        return Fix(moved, lead, applicability="none")
    return _with_jobset_patch(job, moved, lead, home.wrapped(value, ("template",)))


def _patch_of(job: Tree, path: Path, release: TrainerRelease) -> Tree:
    """Return the patch of the trainer's job that sets a field; an empty one if none does."""
    if path[:1] != ("spec",) or path[1:-1] not in ((), ("trainer",)):
        return {}
    target, levels = _searched(path)
    home = _home(str(path[-1]), get(job, path), levels, (target, target), release)
    is_set = home is not None and _patch_sets(home, get(job, path), release)
    return home.wrapped(get(job, path)) if home is not None and is_set else {}


def _with_jobset_patch(job: Tree, moved: tuple[Relocation, ...], lead: str, patch: Tree) -> Fix:
    """Return a hint that also has a patch of the JobSet."""
    name = get(job, ("metadata", "name"))
    target = {"kind": "JobSet"} | ({"name": name} if isinstance(name, str) else {})
    shown = {"patches": [{"target": target, "patch": patch}]}
    return Fix(moved, f"{lead}, or patch the JobSet in trainc.yaml: ", shown, "fields", applicability="none")


def _group_hint(job: Tree, path: Path, release: TrainerRelease) -> str | Fix:
    """Return the hint for a field of another kind that groups fields of a JobSet or a Job."""
    group = get(job, path)
    homes: list[tuple[FieldHome, Any]] = []
    gone: list[str] = []
    for name, value in group.items() if isinstance(group, dict) else ():
        home = _home(str(name), value, (JOBSET, JOB, *OF_RUNTIME), (NODE, NODE), release)
        if home is None:
            gone.append(str(name))
        else:
            homes.append((home, value))
    if not homes:
        return f"remove {path[-1]}: a JobSet deletes its running pods when it ends"
    fields = " and ".join(home.field for home, _ in homes[:4])
    lead = f"set {fields} in the runtime"
    if gone:
        lead = f"remove {', '.join(gone[:4])}, {lead}"
    patch: Tree = {}
    for home, value in homes:
        if home.level[:2] == JOBSET:
            patch = _merged(patch, home.wrapped(value, ("template",)))
    moved = (Relocation(path, (*path[:1], homes[0][0].name), group),)
    return _with_jobset_patch(job, moved, lead, patch) if patch else Fix(moved, lead, applicability="none")


def _merged(tree: Any, other: Any) -> Any:
    if isinstance(tree, dict) and isinstance(other, dict):
        return tree | {key: _merged(tree[key], each) if key in tree else each for key, each in other.items()}
    if isinstance(tree, list) and isinstance(other, list):
        return [_merged(tree[0], other[0])]  # of one replicated job
    return other


def _fields(root: Tree, level: tuple[str, ...], top: Path = ("spec",)) -> Tree:
    """Return the fields of a level with their schemas."""
    schema = root
    for step in (*top, *level):
        schema = resolved(root, schema)
        schema = schema.get("items", {}) if step == EACH else schema.get("properties", {}).get(step, {})
    fields: Tree = resolved(root, schema).get("properties", {})
    return fields


@cache
def _runtime(folder: str) -> Tree:
    """Return the schema of a release's runtimes, with the extensions."""
    return extensions.schema(RUNTIME.kind, folder)


@cache
def _trainjob(folder: str) -> Tree:
    """Return the schema of a release's TrainJobs."""
    return read(TRAINJOB.kind, folder)


def _patches(release: TrainerRelease) -> Path:
    """Return the path of the patches in a release's TrainJobs."""
    return DIALECTS[release.dialect].written(TrainJobForm.PATCHES)


def _patch_sets(home: FieldHome, value: Any, release: TrainerRelease) -> bool:
    """Return whether a patch can set a field to a value, and the TrainJob has no field of its own for it."""
    root = _trainjob(release.crds)
    fields = _fields(root, home.level, (*_patches(release), EACH, "trainingRuntimeSpec"))
    return home.name not in OF_TRAINJOB and home.name in fields and fits(value, fields[home.name], root)
