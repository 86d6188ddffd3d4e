"""The options of a run and its result: every command, the KRM function and the Argo CD plugin fill one `Options`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from trainc.base.kinds import LEGACY, TRAINJOB
from trainc.base.records import NamedTuple
from trainc.budget import DEFAULT as DEFAULT_BUDGET
from trainc.budget import Budget, Meter, size_of
from trainc.diagnostics import Checked, Diagnostic, Document, failed, warnings_as_errors
from trainc.files.confine import is_within
from trainc.files.selection import Selection
from trainc.pipeline.delivery import PLAIN, Delivery
from trainc.pipeline.library import FLAGS, OptionNames
from trainc.settings import DEFAULT, Settings, in_environment, load, with_flags
from trainc.settings.nested_projects import Apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

    from trainc.edits.transforming.namespaces import Namespaces
    from trainc.frontends.kustomizations import Kustomizations
    from trainc.frontends.reading import Others, ParsedFiles
    from trainc.kubernetes.trees import Tree
    from trainc.kubernetes.violations import FieldValidation
    from trainc.pipeline.plan import Plan
    from trainc.provenance.tracing import Trace
    from trainc.settings.model import Flags


StandIns = Literal["none", "check", "show"]


class Options(NamedTuple):
    """The options of a run. `with_project` merges those that override trainc.yaml into `settings`."""

    runtimes: Sequence[str] = ()
    """Paths to search for runtimes, after the given paths and before the built-in ones, instead of the settings'."""
    only: str | None = None
    """Compile only the TrainJobs with this name."""
    namespace: str | None = None
    """The namespace of TrainJobs and TrainingRuntimes that set none."""
    environments: tuple[str, ...] = ()
    """The environments of trainc.yaml to compile for."""
    config: str | None = None
    """The settings file; by default the nearest trainc.yaml of the paths."""
    no_config: bool = False
    """Whether to ignore every trainc.yaml."""
    strict: bool = False
    """Whether warnings are errors."""
    field_validation: FieldValidation | None = None
    """How unknown fields are reported; None for the settings' value."""
    trainer_version: str | None = None
    """The release of Trainer in the cluster, such as "2.2"; None for the settings' value."""
    legacy: bool = False
    """Whether to compile the jobs of all legacy kinds, instead of those of the settings."""
    gang: str | None = None
    """The gang scheduler of legacy jobs; None for the settings' value."""
    passthrough: bool = False
    """Whether the output has all documents of other kinds, instead of those of the settings."""
    delivery: Delivery = PLAIN
    """How the objects are applied to a cluster that may hold older ones, in addition to the settings' delivery."""
    exclude: tuple[str, ...] = ()
    """More patterns of files to leave out, relative to the current folder."""
    follow_links: bool = False
    """Whether links may lead out of the root."""
    verbose: bool = False
    """Whether to list the skipped files, and the JobSets whose admission by Kueue is unknown."""
    quiet: bool = False
    """Whether to print errors only."""
    budget: Budget = DEFAULT_BUDGET
    """The most work of the run."""
    all_rules: bool = False
    """Whether to apply also the rule that many correct jobs violate (`lint.triggers.VALIDATE_ONLY`)."""
    output_folder: str | None = None
    """The output folder; None for that of the settings."""
    written: Sequence[str] = ()
    """Other files and folders that are written, to leave out where they are below one of the paths."""
    root: str | None = None
    """The folder that no link may lead out of; by default each path's git root, or its folder outside of git."""
    others: Others = "read"
    """How to treat files in folders that contain no TrainJob and no runtime."""
    copies: bool | None = None
    """Whether documents of other kinds are in the output if no setting decides; None without output."""
    legacy_files: bool = False
    """Whether to compile the legacy jobs of a file that is one of the paths, whatever the settings."""
    check_only: bool = False
    """Whether nothing is written, so that the TrainJobs of several kustomizations may have the same name."""
    stand_ins: StandIns = "none"
    """Whether stand-in TrainJobs check the runtimes of the paths that no TrainJob uses, or show those of paths without
    TrainJobs."""
    queues: bool = True
    """Whether the paths contain all queues of the repository, so that admission by Kueue can be checked."""
    all_queue_faults: bool = False
    """Whether to report the faults of all Kueue objects, not only of those that decide about a TrainJob."""
    all_repeated: bool = False
    """Whether to keep all repeated diagnostics, to fix each of them."""
    complete: bool = True
    """Whether the paths contain all TrainJobs of the project, so that a setting that affects none is reported."""
    all_environments: bool = False
    """Whether the run is one of those of all environments, so that a setting of the file may affect none of them."""
    option_names: OptionNames = FLAGS
    """The names of options in diagnostics."""
    settings: Settings = DEFAULT
    """The project's settings, in the environment of the run."""
    paths: tuple[str, ...] = ()
    """The files and folders of the run; none for the sources of the project."""
    project: str | None = None
    """The folder of the only project to run; None for all projects of the paths."""
    apart: Apart = Apart()
    """What the other projects of the run have."""
    all_runs: Meter | None = None
    """With a run for each environment, the meter of the products of all runs."""
    parsed: ParsedFiles | None = None
    """With a run for each environment, the files that are already parsed."""

    @property
    def copied_files(self) -> Callable[[str], bool] | None:
        """The function that tells whether the documents of other kinds in a file are copied; None without output."""
        return None if self.copies is None else self.settings.copied_files(default=self.copies)

    @property
    def selection(self) -> Selection:
        """The files that are not manifests."""
        own, apart = self.settings, self.apart
        output = [] if self.output_folder is None else [self.output_folder]
        return Selection(
            settings=(*own.files, *apart.settings),
            patches=[*own.patch_files, *apart.patches],
            outputs=[*own.output_folders, *output, *apart.outputs],
            written=self.written,
            exclude=own.exclude,
            projects=apart.projects,
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """The paths that the run reads: without a path, the sources of the project, which are by default its folder.

        The settings file of an option does not make its folder the default.
        """
        own = self.settings
        if self.paths or own.base is None:
            return self.paths or (os.curdir,)
        if own.sources:
            return tuple(source.path for source in own.sources)
        is_default = self.config is None or is_within(os.getcwd(), own.base.folder)
        return (own.folder if is_default else os.curdir,)

    @property
    def quiet_rules(self) -> frozenset[str]:
        """The lint rules that are not reported."""
        from trainc.pipeline.lint.triggers import VALIDATE_ONLY

        return self.settings.disable if self.all_rules else self.settings.disable | {VALIDATE_ONLY}

    @property
    def flags(self) -> Flags:
        """The options that override trainc.yaml, by the path of the key."""
        values = {
            ("exclude",): self.exclude,
            ("runtimes", "paths"): self.runtimes,
            ("fieldValidation",): self.field_validation,
            ("trainerVersion",): self.trainer_version,
            ("lint", "strict"): self.strict,
            ("legacy", "kinds"): tuple(row.name for row in LEGACY) if self.legacy else (),
            ("legacy", "gang"): self.gang,
            ("passthrough",): self.passthrough,
            ("delivery", "nameSuffixHash"): self.delivery.name_suffix_hash,
            ("delivery", "argocdReplace"): self.delivery.argocd_replace,
            ("delivery", "suspend"): self.delivery.suspend,
        }
        return {path: value for path, value in values.items() if value}

    def with_project(self, paths: Sequence[str], contents: Mapping[str, bytes] = {}) -> Options:
        """Return the options with the settings of `config` or of the paths' nearest trainc.yaml.

        contents   the contents of files that differ from those on the disk, by their paths
        """
        return self.with_settings(
            load(
                paths,
                file=self.config,
                search=not self.no_config,
                root=self.root,
                follow_links=self.follow_links,
                limits=self.budget,
                contents=contents,
            )
        )

    def with_settings(self, settings: Settings, environment: str | None = None) -> Options:
        """Return the options with some settings, in an environment if it is named. The options override them."""
        if environment is not None:
            settings = in_environment(settings, environment, self.flags)
        else:
            settings = with_flags(settings, self.flags)
        if self.strict:
            settings = settings._replace(strict=self.option_names.strict)
        return self._replace(settings=settings)


def counted_words(words: Sequence[str]) -> str:
    """Return the number of each word; without a word, that there is no TrainJob.

    >>> counted_words(["TrainJob", "PyTorchJob", "TrainJob"]), counted_words([])
    ('2 TrainJobs and 1 PyTorchJob', '0 TrainJobs')
    """
    from trainc.base.plural import plural

    counts = {word: words.count(word) for word in sorted(set(words) - {TRAINJOB.word})}
    number = words.count(TRAINJOB.word)
    parts = [plural(count, word) for word, count in counts.items()]
    if number or not parts:
        parts.insert(0, plural(number, TRAINJOB.word))
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


class Compiled(NamedTuple):
    """The result of one TrainJob."""

    namespace: str
    name: str
    objects: tuple[Tree, ...]
    """The JobSet, then the other objects by apiVersion, kind and name."""
    plan: Plan
    """The TrainJob, its runtime, and the results of the stages."""

    def __repr__(self) -> str:
        """Return the TrainJob's name and the number of its objects."""
        return f"Compiled({self.namespace!r}, {self.name!r}, objects={len(self.objects)})"

    def trace(self) -> Trace:
        """Return the provenance of the objects' fields, which runs the TrainJob's stages again."""
        from trainc.provenance.tracing import Trace

        return Trace(self.plan)


class Compilation(NamedTuple):
    """The objects and diagnostics of a run. Do not apply the objects if a diagnostic is an error."""

    jobs: tuple[Compiled, ...] = ()
    """In the order of (namespace, name)."""
    others: tuple[Document, ...] = ()
    """Documents of other kinds, in file order."""
    copied: tuple[Document, ...] = ()
    """Those of them that are copied to the output."""
    stand_ins: int = 0
    """The number of runtimes in the given paths that are checked or shown with stand-in TrainJobs."""
    files: int = 0
    """The number of files read in the given paths."""
    checked_files: tuple[str, ...] = ()
    """Those that were not skipped, and the files with the settings, their patches and the runtimes in use."""
    kustomizations: Kustomizations | None = None
    """The kustomizations among the files; None if there are none."""
    skipped: tuple[str, ...] = ()
    """The files in folders that were skipped, because they contain no TrainJob and no runtime."""
    diagnostics: tuple[Diagnostic, ...] = ()
    checked: tuple[Checked, ...] = ()
    """The TrainJobs in the order of (namespace, name), then the runtimes of the given paths in file order."""
    strict: str = ""
    """The option or setting that turns warnings into errors, for messages; empty without one."""
    raised: int = 0
    """The number of errors that were warnings."""
    built_in: Diagnostic | None = None
    """The note about the built-in runtimes that the TrainJobs use; it is not one of the diagnostics."""
    lint_of_built_in: Mapping[str, Set[str]] = {}
    """The ids of the lint findings in these runtimes, by name."""
    namespaces: Namespaces | None = None
    """The namespaces that the settings move; None without settings that change documents."""
    budget: Budget = DEFAULT_BUDGET
    """The budget for the output."""
    legacy_option: str = FLAGS.legacy
    """The option that compiles legacy jobs, for messages."""
    stopped: bool = False
    """Whether the run stopped, beyond its budget or without valid settings; there are no objects then."""

    def __repr__(self) -> str:
        """Return the numbers of TrainJobs, objects and diagnostics."""
        numbers = f"jobs={len(self.jobs)}, objects={len(self.objects)}, diagnostics={len(self.diagnostics)}"
        return f"Compilation({numbers}, failed={self.failed})"

    @property
    def objects(self) -> tuple[Tree, ...]:
        """All objects, in output order."""
        return tuple(obj for job in self.jobs for obj in job.objects)

    def manifests(self) -> list[tuple[str, str, str]]:
        """Return each TrainJob's namespace, name and YAML, in output order. Raise OverBudgetError beyond the budget."""
        from trainc.emit.yaml import Writer

        # One writer for all jobs: it caches the text that the jobs of one runtime share.
        write = Writer().document
        found: list[tuple[str, str, str]] = []
        meter = Meter(self.budget)
        for job in self.jobs:
            found.append((job.namespace, job.name, "---\n".join(map(write, job.objects))))
            meter.spend("output bytes", size_of(found[-1][-1]))
        return found

    @property
    def counted_jobs(self) -> str:
        """The numbers of TrainJobs and of jobs of each legacy kind, for messages."""
        others = [job.plan.job.word for job in self.jobs if job.plan.job.own_runtime is not None]
        return counted_words([TRAINJOB.word] * (len(self.jobs) - len(others)) + others)

    @property
    def failed(self) -> bool:
        """Whether any diagnostic is an error."""
        return failed(self.diagnostics)

    def reported(self, form: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of a report: all formats for programs include the note about built-in runtimes."""
        return self.diagnostics if self.built_in is None or form == "text" else (*self.diagnostics, self.built_in)

    def with_diagnostics(self, more: Iterable[Diagnostic]) -> Compilation:
        """Return a copy with more diagnostics; with `strict`, their warnings become errors."""
        more = tuple(more)
        if not self.strict:
            return self._replace(diagnostics=self.diagnostics + more)
        raised = self.raised + sum(diagnostic.severity == "warning" for diagnostic in more)
        return self._replace(diagnostics=self.diagnostics + warnings_as_errors(more), raised=raised)
