"""Checks for TrainJobs and runtimes of another dialect than that of the release.

Source: kubeflow/trainer v2.0 and v2.1, the validation in the JobSet and Torch plugins, for what those releases reject;
kubeflow/training-operator v1.9, whose builder applies no overrides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from trainc.base.fixes import Fix, Renaming, removal, setting
from trainc.base.kinds import DRAFT_VERSION, JOBS_OF_PATCH, RUNTIMES, TRAINJOB, VERSION
from trainc.base.releases import find_release
from trainc.base.trainjob_dialects import (
    DIALECTS,
    PROCESSES_FIELD,
    TORCH_PROCESSES,
    WORDS,
    TrainJobForm,
    detect,
    field_meant,
    renamed_in_runtimes,
    shown,
)
from trainc.diagnostics import Finding, ObjectId, Place, Related
from trainc.frontends.dialects import in_dialect, moves, older_moves
from trainc.frontends.lowering import moved
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import UNKNOWN_FIELD, Violation, field_of
from trainc.pipeline.checks import Check, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.base.declarations import Severity
    from trainc.base.releases import TrainerRelease
    from trainc.base.suggestions import KnownNames
    from trainc.base.trainjob_dialects import Detected
    from trainc.diagnostics import Diagnostic, Document, Path
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import FieldValidation
    from trainc.pipeline.objects import TrainJob, Traits
    from trainc.pipeline.plan import Plan


@check("mixed-dialects", phase="schema", trainc_only=True)
def mixed_dialects(document: Document, detected: Detected, target: TrainerRelease) -> Iterator[Finding]:
    """No Trainer release reads both fields: each silently drops one of them."""
    mark, conflict = detected.mark, detected.conflict
    new, other = (shown(_new_field(path, target)) for path in (mark, conflict))
    yield Finding(
        message=f"{_named(mark, document)} and {_named(conflict, document)} belong to different Trainer versions; "
        "no version reads both",
        help=f"replace {_named(mark, document)} with its {target.title} form: {new}"
        if _new_field(conflict, target) == conflict
        else _use_fields(new, other, target),
        place=Place(document=document, path=mark, key=True),
        related=(Related(message="the other one", place=Place(document=document, path=conflict, key=True)),),
    )


@check("older-dialect", phase="schema", severity="note", trainc_only=True)
def older_fields(
    document: Document, detected: Detected, target: TrainerRelease, validation: FieldValidation
) -> Iterator[Finding]:
    """A release refuses the fields of other ones, or drops them without field validation; trainc reads earlier ones.

    `as_refused` decides the severity.
    """
    mark, release = detected.mark, DIALECTS[detected.key].name
    new = _new_field(mark, target)
    if mark == new == TrainJobForm.PROCESSES:
        word = get(document.value, mark)
        message = f'{PROCESSES_FIELD} "{word}" belongs to {release}; a {target.title} cluster rejects it'
        help = "remove it" if word == "auto" else "set the number of processes per node"
    else:
        message = (
            _version_message(document.value["apiVersion"], release, target)
            if mark == ("apiVersion",)
            else f"{_named(mark, document)} belongs to {release}; a {target.title} cluster {_fate(validation)} it"
        )
        help = _conversion(document, shown(new))
    yield Finding(
        message=message,
        help=help,
        place=Place(document=document, path=mark, key=True),
    )


def _fate(validation: FieldValidation) -> str:
    """Return what a cluster does with an unknown field: `kubectl apply` asks for an error by default."""
    return "refuses" if validation == "strict" else "drops"


def as_refused(note: Diagnostic, severity: Severity, validation: FieldValidation, target: TrainerRelease) -> Diagnostic:
    """Return a note about an older document with the severity that it has where the cluster gets the document itself.

    severity   that of what the release refuses: an error if a setting states the release, else a warning
    """
    assert isinstance(note.place, Place)
    path, document = note.place.path, note.place.document
    is_field = path not in (("apiVersion",), TrainJobForm.PROCESSES)
    if is_field and validation != "strict":
        return note._replace(severity="warning") if validation == "warn" else note
    if severity == "error":
        return note._replace(severity=severity)
    is_job = document.value.get("kind") == TRAINJOB.kind
    older = DIALECTS[detect(document.value, target.dialect).key if is_job else "v2.1"].name.rpartition("v")[2]
    if document.value["apiVersion"] != VERSION or find_release(older, target) is target:
        return note._replace(severity=severity)
    other = f'or set trainerVersion: "{older}" if your cluster runs Trainer v{older}'
    return note._replace(severity=severity, help=f"{note.help}, {other}")


def _use_fields(first: str, second: str, target: TrainerRelease) -> str:
    """Return the hint to use two fields of a release, which can be the same one."""
    fields = f"field: {first}" if first == second else f"fields: {first} and {second}"
    return f"use the {target.title} {fields}"


def _version_message(version: str, release: str, target: TrainerRelease) -> str:
    """Return the message about an apiVersion that Trainer does not serve."""
    if version == DRAFT_VERSION:
        return f"no release serves apiVersion {version}; trainc reads the object as one of {release}"
    return f"apiVersion {version} belongs to {release}; a {target.title} cluster does not have this kind"


@check("no-counterpart", phase="schema", severity="warning", trainc_only=True)
def no_counterpart(job: TrainJob, target: TrainerRelease) -> Iterator[Finding]:
    """Fields that a schema has and no release implements, such as exporters; fields that the release has removed."""
    document, dialect = job.document, job.dialect
    for removed in DIALECTS[target.dialect].lacks if dialect != target.dialect else ():
        if get(job.value, removed) is not None:
            yield Finding(
                message=f"{field_of(removed)} is dropped: {target.title} has no such field",
                help="remove it",
                place=job.at(*removed, key=True),
            )
    spec = document.value["spec"] if isinstance(document.value.get("spec"), dict) else {}
    if dialect == "v1.9" and spec.get("podSpecOverrides"):
        overrides = ("spec", "podSpecOverrides")
        yield Finding(
            message="spec.podSpecOverrides has no effect in Training Operator v1.9, which never applies overrides",
            help="write the changes as runtimePatches of a v1alpha1 TrainJob, or remove the field",
            place=Place(document=document, path=overrides, key=True),
        )
    for dropped in _metadata(spec) if dialect == "v2.1" else ():
        yield Finding(
            message=f"{field_of(dropped)} is dropped: Trainer v2.1 applies only labels and annotations of a pod",
            help="remove it",
            place=Place(document=document, path=dropped, key=True),
        )
    output = ("spec", "modelConfig", "output")
    if get(document.value, output) is not None:
        yield Finding(
            message="modelConfig.output requires an exporter, which no Trainer release has; it is dropped",
            help="upload the model in the training script, and remove the field",
            place=Place(document=document, path=output, key=True),
        )
    own = get(document.value, ("metadata", "namespace"))
    for config in (("datasetConfig",), ("modelConfig", "input")):
        path: Path = ("spec", *config, "secretRef", "namespace")
        namespace = get(spec, path[1:])
        if namespace is not None and namespace != own:
            yield Finding(
                message=f'the Secret is in namespace "{namespace}", but a pod can only read Secrets of its own '
                "namespace; the field is dropped",
                help="copy the Secret to the TrainJob's namespace, and remove the field",
                place=Place(document=document, path=path),
            )


def _metadata(spec: Tree) -> Iterator[Path]:
    """Yield the fields of the overrides' metadata that do not reach a pod."""
    overrides = spec.get("podTemplateOverrides")
    for index, override in enumerate(overrides if isinstance(overrides, list) else ()):
        metadata = get(override, ("metadata",))
        for key in metadata if isinstance(metadata, dict) else ():
            if key not in ("labels", "annotations"):
                yield ("spec", "podTemplateOverrides", index, "metadata", key)


@check("override-target", phase="trainjob", fix="safe")
def targets(plan: Plan) -> Iterator[Finding]:
    """Older releases reject a patch or override of a replicated job that the runtime does not have."""
    from trainc.base.fixes import replaced_name
    from trainc.base.suggestions import KnownNames

    jobs = {str(job.get("name")): None for job in plan.runtime.spec.get("replicatedJobs") or []}
    missing = [(path, name) for path, name in _targeted(plan) if name not in jobs]
    known = KnownNames(jobs if missing else ())
    for path, name in missing:
        yield Finding(
            message=f'the {plan.job.patch_word} targets replicated job "{name}", which runtime '
            f'"{plan.runtime.id.name}" does not have',
            help=replaced_name(path, name, known) or _target(path, known),
            field=plan.job.patches_field,
            place=plan.job.at(*path),
        )


def _target(path: Path, known: KnownNames) -> str | Fix:
    if not known:
        return "the runtime has no jobs: use another runtime"
    return setting(path, known.only, known.use()) if known.only else known.use(" and ")


def _targeted(plan: Plan) -> Iterator[tuple[Path, str]]:
    """Yield the jobs that overrides target, each with its path in the form."""
    for p, patch in enumerate(plan.job.patches):
        for j, job in enumerate(get(patch, JOBS_OF_PATCH, [])):
            yield (*TrainJobForm.PATCHES, p, *JOBS_OF_PATCH, j, "name"), str(job.get("name"))


@check("override-target-twice", phase="trainjob")
def targeted_twice(plan: Plan) -> Iterator[Finding]:
    """Trainer v2.0 rejects a job that is targeted twice, in one override or in several; v2.1 merges in order."""
    first: dict[str, Place] = {}
    for path, name in _targets_of_v2_0(plan.job) if plan.job.dialect == "v2.0" else ():
        place = Place(document=plan.job.document, path=path)
        if name not in first:
            first[name] = place
            continue
        yield Finding(
            message=f'the overrides target job "{name}" more than once',
            help="put all changes of the job into one override",
            field="spec.podSpecOverrides",
            place=place,
            related=(Related(message="first target", place=first[name]),),
        )


def _targets_of_v2_0(job: TrainJob) -> Iterator[tuple[Path, str]]:
    """Yield the targets of podSpecOverrides as they are written, the repeated ones included."""
    for index, override in enumerate(get(job.document.value, ("spec", "podSpecOverrides"), [])):
        for number, target in enumerate(get(override, ("targetJobs",), [])):
            name = get(target, ("name",))
            if isinstance(name, str):
                yield ("spec", "podSpecOverrides", index, "targetJobs", number, "name"), name


@check("processes-per-node", phase="trainjob")
def processes(plan: Plan, traits: Traits) -> Iterator[Finding]:
    """torchrun accepts auto, cpu and gpu; MPI requires a number. Training Operator v1.9 accepts any string."""
    count: Any = plan.job.processes
    words = traits.process_words if not plan.runtime.is_first_release else "ignored"
    if not isinstance(count, str) or words == "ignored":
        return
    if count not in WORDS or words == "rejected":
        allowed = "a number" if words == "rejected" else f"a number, {', '.join(WORDS[:-1])} or gpu"
        yield Finding(
            message=f'{PROCESSES_FIELD} must be {allowed}, not "{count}"',
            help="set the number of processes per node, or remove the field",
            place=plan.job.at(*TrainJobForm.PROCESSES),
        )


@check("runtime-processes", phase="schema", fix="safe")
def runtime_processes(document: Document, count: object) -> Iterator[Finding]:
    """Trainer v2.0 and v2.1 allow a positive number, auto, cpu or gpu; the group kubeflow.org allows any string."""
    is_first = document.value["apiVersion"] != VERSION
    if count in WORDS or _is_positive(count) or (is_first and isinstance(count, str)):
        return
    path: Path = TORCH_PROCESSES
    quoted = isinstance(count, str) and count.isascii() and count.isdecimal() and count[0] != "0"
    yield Finding(
        message=f"torch.{PROCESSES_FIELD} must be a positive number, auto, cpu or gpu"
        + (f', not the string "{count}"' if quoted else ""),
        help=setting(path, int(str(count)), f"use a number: {count}", applicability="safe")
        if quoted
        else removal(path, "remove it: the default is `auto`"),
        place=Place(document=document, path=path),
    )


def _is_positive(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


@check("older-runtime", phase="schema", severity="note", trainc_only=True, fix="unsafe")
def older_runtime(
    document: Document, count: object, target: TrainerRelease, validation: FieldValidation
) -> Iterator[Finding]:
    """Trainer since v2.2 has no torch.numProcPerNode and uses `auto`; trainc reads it."""
    if count is not None:
        path: Path = TORCH_PROCESSES
        release = DIALECTS["v2.1"].name if document.value["apiVersion"] == VERSION else DIALECTS["v1.9"].name
        yield Finding(
            message=f"{field_of(path)} belongs to {release}; a {target.title} cluster {_fate(validation)} it",
            help=removal(path, "remove it: `auto` is the default")
            if count == "auto"
            else f"set {field_of(TrainJobForm.PROCESSES)} in each TrainJob",
            place=Place(document=document, path=path, key=True),
        )
    for move in older_moves(document.value, target.dialect):
        release = DIALECTS[renamed_in_runtimes(target.dialect)[move.source][1]].name
        yield Finding(
            message=f"{field_of(move.source)} belongs to {release}; a {target.title} cluster {_fate(validation)} it",
            help=_conversion(document, shown(move.target)),
            place=Place(document=document, path=move.source, key=True),
        )
    version = document.value["apiVersion"]
    if version != VERSION:
        yield Finding(
            message=_version_message(version, DIALECTS["v1.9"].name, target),
            help=_conversion(document, VERSION),
            place=Place(document=document, path=("apiVersion",)),
        )


def _conversion(document: Document, new: str) -> str:
    """Return the hint to convert a document to a field or an apiVersion."""
    if document.file == "-":
        return f"use {new}, or run `trainc upgrade`"
    return f"run `trainc upgrade --write {document.file}` to convert it to {new}"


@check("unserved-version", phase="schema")
def unserved(document: Document, target: TrainerRelease) -> Iterator[Finding]:
    """A release that reads only its own dialect serves one apiVersion; trainc translates nothing for it."""
    version = document.value["apiVersion"]
    if version != VERSION:
        yield Finding(
            message=f"{target.title} does not serve apiVersion {version}",
            help=f"use {VERSION} and the fields of {target.title}",
            place=Place(document=document, path=("apiVersion",)),
        )


def native_runtime(document: Document, count: object, target: TrainerRelease) -> Iterator[Diagnostic]:
    """Run the checks of a runtime of a release that reads only its own dialect; `count` is its number of processes."""
    subject = ObjectId.from_source(document.value)
    yield from unserved(subject, document, target)
    if count is not None:
        yield from runtime_processes(subject, document, count)
    if target.elastic_policy == "unread":
        yield from unread_elastic_policy(subject, document, target)


@check("elastic-policy-unread", phase="schema", severity="warning", trainc_only=True)
def unread_elastic_policy(document: Document, target: TrainerRelease) -> Iterator[Finding]:
    """The CRD of Trainer v2.1 has torch.elasticPolicy, but its controller does not read it; trainc does."""
    path = ("spec", "mlPolicy", "torch", "elasticPolicy")
    if get(document.value, path) is not None:
        yield Finding(
            message=f"the controller of {target.title} ignores torch.elasticPolicy; trainc compiles an elastic job",
            help="remove it for the job that the controller creates",
            place=Place(document=document, path=path, key=True),
        )


_OVERRIDES: Final = "podTemplateOverrides"
_OF_OVERRIDES: Final = frozenset({"targetJobs", "metadata", "spec", "manager"})
"""The fields of an item of podTemplateOverrides, and that of a patch."""


def overrides(job: Tree, violations: list[Violation], unknown: Sequence[Violation]) -> list[Violation]:
    """Return the violations with a single one for patches that have the form of an older field.

    Without such patches, return the violations as they are.
    """
    path = ("spec", "runtimePatches")
    patches, others = get(job, path), get(job, path[:1])
    of_items = [each for each in unknown if each.path[:2] == path and len(each.path) == 4]
    if (
        not of_items
        or _OVERRIDES in others
        or not isinstance(patches, list)
        or not all(isinstance(item, dict) and "targetJobs" in item and item.keys() <= _OF_OVERRIDES for item in patches)
    ):
        return violations
    title = f"use {_OVERRIDES}, and then run `trainc upgrade`"
    has_manager = any("manager" in item for item in patches)
    help = f"remove manager, {title}" if has_manager else Fix((Renaming(path, _OVERRIDES),), title)
    message = f"the items of runtimePatches have the form of {_OVERRIDES}"
    return [
        *(each for each in violations if each.path[:2] != path),
        Violation.at(path, UNKNOWN_FIELD, message, help, key=True),
    ]


def newer_form(job: Tree, path: Path, rule: str, release: TrainerRelease) -> str:
    """Return a hint with the release's form of an unknown or rejected field that another dialect has, else nothing."""
    for_runtimes = job.get("kind") in [kind.kind for kind in RUNTIMES]
    if rule == UNKNOWN_FIELD.id and (field := field_meant(path, release.dialect, for_runtimes=for_runtimes)):
        if DIALECTS[release.dialect].has_overrides:
            return f"{release.title} drops {path[-1]}: write {shown(field)}, or set trainerVersion"
        return f"use {shown(field)}, its {release.title} form"
    if path != TrainJobForm.PROCESSES:
        return ""
    value = get(job, path)
    if value in WORDS:
        default = "one process per GPU (or per CPU if there is no GPU)"
        return f"use a number, as {release.title} requires, or remove it for {default}"
    return _first_group_form(job, release) if type(value) is int and release.older_dialects == "translated" else ""


def _first_group_form(job: Tree, release: TrainerRelease) -> str:
    """Return the hint for a number of processes in a TrainJob that another field makes one of an older dialect."""
    detected = detect(job, release.dialect)
    if (
        job.get("apiVersion") != VERSION
        or detected.mark[:1] != ("spec",)
        or not isinstance(get(job, detected.mark), dict)
    ):
        return ""
    older, own = DIALECTS[detected.key], DIALECTS[release.dialect]
    new = _new_field(detected.mark, release)[1]
    form = in_dialect(moved(job, moves(older, job), older.gone), own)
    fix = Fix((), "", {str(new): get(form, ("spec", new))}, "fields")
    return (
        f"write {fix.title} instead of {detected.mark[-1]}, which makes it a TrainJob of {older.name}; "
        f"a {release.title} TrainJob has a number"
    )


def _new_field(mark: Path, release: TrainerRelease) -> Path:
    """Return the path in the release's dialect of a field that it does not have under that name."""
    if mark == ("apiVersion",):
        return (VERSION,)
    return field_meant(mark, release.dialect) or mark


def _named(path: Path, document: Document) -> str:
    """Return a field's name for a message."""
    return f"apiVersion {document.value['apiVersion']}" if path == ("apiVersion",) else field_of(path)


CHECKS: Final[tuple[Check[[Plan]], ...]] = (targeted_twice,)
"""The additional checks for a TrainJob of an older dialect. `admit` also runs `targets` and `processes`."""
