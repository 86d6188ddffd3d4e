"""Hints for fields that a TrainJob or a runtime does not have where they are written, but that another object has.

Reads    a TrainJob or a runtime, and the path of an unknown field of its spec.
Returns  the hint: a field of the trainer, a patch of the runtime, or the field's path in the runtime and in a patch of
         the JobSet. This module is imported only if there is such a field.
Source   Kubeflow Trainer, the schemas of TrainJob and TrainingRuntime: a patch has few of a pod's fields.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Fix, Relocation, Renaming
from trainc.base.kinds import EACH, RUNTIME, TRAINJOB, VERSION
from trainc.base.records import NamedTuple
from trainc.base.releases import RELEASES
from trainc.base.trainjob_dialects import DIALECTS, TrainJobForm, detect
from trainc.frontends import extensions
from trainc.kubernetes.structural import load, read
from trainc.kubernetes.structural.homes import fits, names_of, resembles
from trainc.kubernetes.structural.nodes import resolved
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.pipeline.checks.dialect import newer_form
from trainc.pipeline.objects import STEPS
from trainc.pipeline.plan import NODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.base.releases import AlphaField, TrainerRelease
    from trainc.diagnostics import Diagnostic
    from trainc.kubernetes.trees import Path, Tree
    from trainc.kubernetes.violations import Violation


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
GROUPS: Final = frozenset({"runPolicy"})
"""Fields of other kinds that group fields of a JobSet or a Job."""
OF_TRAINJOB: Final = frozenset({"env", "name"})
"""The fields of a container that a TrainJob has itself."""
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
    if is_trainjob and path[-1] in GROUPS:
        return _group_hint(value, path, release, unknown)
    if is_trainjob and (field := _trainer_field(value, path, release)):
        return f"did you mean {field}?"
    kind = str(value.get("kind"))
    if extensions.is_extended(release.crds, kind) and extensions.load(kind, release.crds).has_field(path):
        return "only trainc compiles it: set `output` to a folder and apply what trainc renders, or remove it"
    home = _home_of(value, path, release)
    if home is None:
        return ""
    if not is_trainjob:
        return f"did you mean {home.field}?"
    return _runtime_hint(value, path, home, release, unknown)


def _home_of(value: Tree, path: Path, release: TrainerRelease) -> FieldHome | None:
    """Return the path in the runtime of an unknown field of a TrainJob or a runtime."""
    target, levels = _searched(path) if value.get("kind") == TRAINJOB.kind else (NODE, OF_JOBS)
    items = (target, target)
    if path[: len(_patches(release))] == _patches(release):
        start = len(_patches(release)) + 1
        if path[start : start + 1] != ("trainingRuntimeSpec",):
            return None
        level = tuple(EACH if isinstance(step, int) else step for step in path[start + 1 : -1])
        levels = (level, *(each for each in OF_CONTAINERS if each != level))
        items = _items_of_patch(value, path, start)
    return _home(str(path[-1]), get(value, path), levels, items, release)


def _items_of_patch(job: Tree, path: Path, start: int) -> tuple[str, str]:
    """Return the names of the replicated job and of the container that a path in a patch leads through."""
    names = [
        get(job, (*path[: index + 1], "name")) for index, step in enumerate(path) if index > start and type(step) is int
    ]
    return (str(names[0]), str(names[1])) if len(names) > 1 else (str([*names, NODE][0]), NODE)


def _trainer_field(job: Tree, path: Path, release: TrainerRelease) -> str:
    """Return the field of the trainer that sets a field of its container in a patch, else nothing."""
    start = len(_patches(release)) + 1
    level = tuple(EACH if isinstance(step, int) else step for step in path[start + 1 : -1])
    if path[: start - 1] != _patches(release) or level != CONTAINER or path[-1] not in OF_TRAINER:
        return ""
    if _items_of_patch(job, path, start)[1] != NODE:
        return ""
    return field_of(DIALECTS[release.dialect].written(("spec", "trainer", OF_TRAINER[str(path[-1])])))


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


def _runtime_hint(job: Tree, path: Path, home: FieldHome, release: TrainerRelease, unknown: Sequence[Path]) -> Fix:
    """Return the hint with a patch of the TrainJob that sets the field, else with the runtime and the JobSet."""
    moved = (Relocation(path, (*path[:1], home.name), get(job, path)),)
    if _patch_of(job, path, release):
        spec: Tree = {}
        for each in _fields_of_patch(path, unknown) if len(path) < 4 else (path,):
            spec = _merged(spec, _patch_of(job, each, release)) if len(each) < 4 else spec
        patches = _patches(release)
        shown = {patches[-1]: [{"manager": MANAGER, "trainingRuntimeSpec": spec}]}
        return Fix(moved, f"set it in {field_of(patches)}: ", shown, "fields", applicability="none")
    lead = f"a TrainJob cannot set it: set {home.field} in the runtime"
    return _with_jobset_patch(job, path, moved, lead, release, unknown)


def _fields_of_patch(path: Path, unknown: Sequence[Path]) -> Sequence[Path]:
    """Return the unknown fields that one patch sets: the first ones, or a single later one."""
    first = unknown[:_MOST_IN_PATCH]
    return first if path in first else (path,)


def _patch_of(job: Tree, path: Path, release: TrainerRelease) -> Tree:
    """Return the patch of a TrainJob that sets a field; an empty one if none does."""
    home = _home_of(job, path, release) if path[-1] not in GROUPS else None
    is_own = not detect(job, release.dialect).mark
    if home is None or not is_own or DIALECTS[release.dialect].has_overrides:
        return {}
    value = get(job, path)
    return home.wrapped(value) if _patch_sets(home, value, release) else {}


def _jobset_patch_of(job: Tree, path: Path, release: TrainerRelease) -> Tree:
    """Return the patch of the JobSet that sets a field which no patch of a TrainJob sets; an empty one if none does."""
    if path[:1] != ("spec",) or _trainer_field(job, path, release) or _patch_of(job, path, release):
        return {}
    home = _home_of(job, path, release)
    homes = [(home, get(job, path))] if home is not None else []
    if path[-1] in GROUPS:
        homes = [*_homes_of_group(get(job, path), release)[0]]
    patch: Tree = {}
    for home, value in homes:
        if home.level[:2] == JOBSET:
            patch = _merged(patch, home.wrapped(value, ("template",)))
    return patch


def _with_jobset_patch(
    job: Tree,
    path: Path,
    moved: tuple[Relocation, ...],
    lead: str,
    release: TrainerRelease,
    unknown: Sequence[Path],
) -> Fix:
    """Return a hint that also has a patch of the JobSet, if one sets the field; it sets the other fields, too."""
    if not _jobset_patch_of(job, path, release):
        return Fix(moved, lead, applicability="none")
    patch: Tree = {}
    for each in _fields_of_patch(path, unknown):
        patch = _merged(patch, _jobset_patch_of(job, each, release))
    name = get(job, ("metadata", "name"))
    target = {"kind": "JobSet"} | ({"name": name} if isinstance(name, str) else {})
    shown = {"patches": [{"target": target, "patch": patch}]}
    return Fix(moved, f"{lead}, or patch the JobSet in trainc.yaml: ", shown, "fields", applicability="none")


def _homes_of_group(group: Any, release: TrainerRelease) -> tuple[list[tuple[FieldHome, Any]], list[str]]:
    """Return the homes of the fields of a group with their values, and the names of the fields without one."""
    homes: list[tuple[FieldHome, Any]] = []
    gone: list[str] = []
    for name, value in group.items() if isinstance(group, dict) else ():
        home = _home(str(name), value, (JOBSET, JOB, *OF_RUNTIME), (NODE, NODE), release)
        if home is None:
            gone.append(str(name))
        else:
            homes.append((home, value))
    return homes, gone


def _group_hint(job: Tree, path: Path, release: TrainerRelease, unknown: Sequence[Path]) -> str | Fix:
    """Return the hint for a field of another kind that groups fields of a JobSet or a Job."""
    group = get(job, path)
    homes, gone = _homes_of_group(group, release)
    if not homes:
        return f"remove {path[-1]}: a JobSet deletes its running pods when it ends"
    fields = " and ".join(home.field for home, _ in homes[:4])
    lead = f"set {fields} in the runtime"
    if gone:
        lead = f"remove {', '.join(gone[:4])}, {lead}"
    moved = (Relocation(path, (*path[:1], homes[0][0].name), group),)
    return _with_jobset_patch(job, path, moved, lead, release, unknown)


def _merged(tree: Any, other: Any) -> Any:
    """Return a patch with the fields of another one. The items of its lists have names."""
    if isinstance(tree, dict) and isinstance(other, dict):
        return tree | {key: _merged(tree[key], each) if key in tree else each for key, each in other.items()}
    if isinstance(tree, list) and isinstance(other, list) and all(isinstance(x, dict) for x in (*tree, *other)):
        items = {str(item.get("name")): item for item in tree}
        for item in other:
            items[str(item.get("name"))] = _merged(items.get(str(item.get("name")), {}), item)
        return [*items.values()]
    return other


def _fields(root: Tree, level: tuple[str, ...], top: Path = ("spec",)) -> Tree:
    """Return the fields of a level with their schemas."""
    schema = root
    for step in (*top, *level):
        schema = resolved(root, schema)
        schema = schema.get("items", {}) if step == EACH else schema.get("properties", {}).get(step, {})
    fields: Tree = resolved(root, schema).get("properties", {})
    return fields


@cache  # one value for each release
def _runtime(folder: str) -> Tree:
    """Return the schema of a release's runtimes, with the extensions."""
    return extensions.schema(RUNTIME.kind, folder)


@cache  # one value for each release
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


def unsure(value: Tree, violation: Violation, diagnostic: Diagnostic, release: TrainerRelease) -> Diagnostic:
    """Return the warning for an unknown field of an object."""
    diagnostic = diagnostic._replace(severity="warning", message=f"{violation.message}; trainc drops it")
    if field := _announced(value, violation.path, release):
        gate = f"the feature gate of {field.feature}, which is alpha and off by default"
        help = f"{release.title} has it behind {gate}: a cluster without the gate rejects the {field.kind}"
        return diagnostic._replace(help=help, fix=None)
    fix = diagnostic.fix
    is_certain = fix is not None and fix.applicability == "safe" and all(isinstance(x, Renaming) for x in fix.changes)
    if is_certain or newer_form(value, violation.path, violation.rule, release):
        return diagnostic._replace(message=violation.dropped().message)
    known = next(each for each in RELEASES if each.crds == release.crds and each.source == "code")
    help = f"{release.title}'s schema was not available when trainc was released; v{known.name} has no such field"
    return diagnostic._replace(help=help, fix=None)


def newer_release_with(value: Tree, path: Path, release: TrainerRelease) -> TrainerRelease | None:
    """Return the first release after another one that has a field which is unknown to it; None without one."""
    for newer in RELEASES[[each.name for each in RELEASES].index(release.name) + 1 :]:
        is_new = newer.crds != release.crds and value.get("apiVersion") == VERSION
        if (is_new and load(str(value.get("kind")), newer.crds).has_field(path)) or _announced(value, path, newer):
            return newer
    return None


def _announced(value: Tree, path: Path, release: TrainerRelease) -> AlphaField | None:
    """Return the field that the notes of a release announce, if it is at a path of an object."""
    kind = "TrainJob" if value.get("kind") == TRAINJOB.kind else "runtime"
    pattern = tuple(EACH if isinstance(step, int) else step for step in path)
    return next((field for field in release.alpha if field.kind == kind and field.path == pattern), None)
