"""A run: the options of its user, its purpose, the settings in force, and what it shares with other runs.

`Options` has a field for each row of `base.option_rows`, and the settings that replace trainc.yaml.

The purpose is a value for each command, which says what it reads and reports beside the objects.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, Literal

from trainc.base.kinds import LEGACY
from trainc.base.option_rows import ROWS
from trainc.base.records import NamedTuple
from trainc.budget import BUDGETS, Budget, Meter
from trainc.budget import DEFAULT as DEFAULT_BUDGET
from trainc.files.confine import is_within
from trainc.files.selection import Selection
from trainc.pipeline.library import FLAGS, OptionNames
from trainc.settings import DEFAULT, Settings, in_environment, load, with_flags
from trainc.settings.model import NO_FLAGS
from trainc.settings.nested_projects import Apart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import dataclass

    from trainc.base.declarations import Severity
    from trainc.frontends.reading import Others, ParsedFiles
    from trainc.kubernetes.violations import FieldValidation
    from trainc.settings.model import Flags

    StrPath = str | os.PathLike[str]
else:

    def dataclass(**_):
        """Return a decorator for a class that defines its methods itself; `dataclasses` takes 5 ms to import."""
        return lambda cls: cls


StandIns = Literal["none", "check", "show"]


class Purpose(NamedTuple):
    """What a run is for."""

    others: Others = "skip"
    """How to treat files in folders that contain no TrainJob and no runtime."""
    copies: bool | None = None
    """Whether documents of other kinds are in the output if no setting decides; None without output."""
    all_rules: bool = False
    """Whether to apply also the rules that many correct jobs violate (`lint.triggers.VALIDATE_ONLY`)."""
    legacy_files: bool = False
    """Whether to compile the legacy jobs of a file that is one of the paths, whatever the settings."""
    check_only: bool = False
    """Whether each file is judged or shown by itself, so that TrainJobs of several files may have the same name."""
    stand_ins: StandIns = "none"
    """Whether stand-in TrainJobs check the runtimes of the paths that no TrainJob uses, or show those of paths without
    TrainJobs."""
    trials: bool = False
    """Whether the result has the first trials of OptimizationJobs, which the controller creates."""
    queues: bool = True
    """Whether the paths contain all queues of the repository, so that admission by Kueue can be checked."""
    all_queue_faults: bool = False
    """Whether to report the faults of all Kueue objects, not only of those that decide about a TrainJob."""
    judges: bool = False
    """Whether what the release refuses is an error in a project that renders nothing."""
    all_repeated: bool = False
    """Whether to keep all repeated diagnostics, to fix each of them."""
    every_place: bool = False
    """Whether to report a fault that several TrainJobs share at each of them, and not only at the first."""
    option_names: OptionNames = FLAGS
    """The names of options in diagnostics."""


COMPILE: Final = Purpose(others="read")
"""`trainc.compile`, and `runtimes`."""
READ: Final = Purpose()
"""A command that reads files and does not compile for a project: `upgrade`, `secret`."""
BUILD: Final = Purpose(copies=False)
"""`build` and `diff`."""
VALIDATE: Final = Purpose(all_rules=True, copies=False, check_only=True, stand_ins="check", judges=True, trials=True)
FIX: Final = VALIDATE._replace(all_repeated=True)
"""`validate --fix`."""
EDIT: Final = FIX._replace(others="referenced", every_place=True)
"""`lsp`, which shows each file by itself."""
EXPLAIN: Final = Purpose(legacy_files=True, check_only=True, stand_ins="show", trials=True)
GRAPH: Final = Purpose(others="referenced", legacy_files=True, check_only=True, trials=True)
PODS: Final = GRAPH._replace(stand_ins="show")
QUEUES: Final = Purpose(all_queue_faults=True, check_only=True, trials=True)
MIGRATE: Final = Purpose(others="referenced", queues=False, check_only=True)


@dataclass(frozen=True, kw_only=True, repr=False)
class Options:
    """The options of a run; the names and values are those of the command line.

    Raise a TypeError for an unknown name.
    """

    runtimes: Sequence[StrPath] = ()
    """Paths to search for runtimes, after the given paths and before the built-in ones, instead of trainc.yaml's."""
    only: str | None = None
    """Compile only the TrainJobs with this name."""
    namespace: str | None = None
    """The namespace of TrainJobs and TrainingRuntimes that set none."""
    config: StrPath | None = None
    """The settings file for all files; by default, for each file, the nearest trainc.yaml."""
    no_config: bool = False
    """Whether to ignore every trainc.yaml."""
    project: str | None = None
    """The folder of the only project to run; by default all projects of the paths."""
    strict: bool = False
    """Whether warnings are errors."""
    field_validation: FieldValidation | None = None
    """How unknown fields are reported: "strict", "warn" or "ignore"."""
    trainer_version: str | None = None
    """The release of Trainer in the cluster, such as "2.2"."""
    kueue_version: str | None = None
    """The release of Kueue in the cluster, such as "0.19"."""
    legacy: bool = False
    """Whether to compile the jobs of all legacy kinds, such as PyTorchJob."""
    gang: str | None = None
    """The gang scheduler of legacy jobs."""
    passthrough: bool = False
    """Whether the output has all documents of other kinds."""
    suspend: bool = False
    """Whether every JobSet without a Kueue queue is created suspended."""
    name_suffix_hash: bool = False
    """Whether the names end in a hash of the immutable fields, so that a change creates new objects."""
    argocd_replace: bool = False
    """Whether Argo CD must delete and recreate objects that it cannot update."""
    exclude: tuple[str, ...] = ()
    """More patterns of files to leave out, relative to the current folder."""
    follow_links: bool = False
    """Whether links may lead out of the root."""
    budget: Literal["ci", "default", "unlimited"] = "default"
    """The most work of the run."""
    environments: tuple[str, ...] = ()
    """The environments of trainc.yaml to compile for; by default all of them."""
    settings: Settings | None = None
    """The settings that replace every trainc.yaml."""

    if not TYPE_CHECKING:

        def __init__(self, **given):
            """Set the options. Raise a TypeError for an unknown name."""
            for name in given:
                if name not in DEFAULTS:
                    raise TypeError(_message_of_unknown(name))
            self.__dict__.update(DEFAULTS | given)

        def __setattr__(self, name, value):
            """Raise an AttributeError: options do not change."""
            raise AttributeError(f"Options cannot be changed: use trainc.Options({name}=...)")

        def __eq__(self, other):
            """Return whether all options are equal."""
            return vars(self) == vars(other) if isinstance(other, Options) else NotImplemented

        __hash__ = None

    def __repr__(self) -> str:
        """Return the options that are set."""
        given = (f"{name}={value!r}" for name, value in vars(self).items() if value != DEFAULTS[name])
        return f"Options({', '.join(given)})"

    def with_values(self, **given: Any) -> Options:
        """Return the options with other values for some of them."""
        return Options(**vars(self) | given)

    @property
    def flags(self) -> Flags:
        """The options that override trainc.yaml, by the path of the key."""
        found = {row.key: value for row in ROWS if row.key and (value := getattr(self, row.name))}
        if self.legacy:
            found["legacy", "kinds"] = tuple(kind.name for kind in LEGACY)
        return found


DEFAULTS: Final[dict[str, Any]] = {**{row.name: row.default for row in ROWS}, "settings": None}
NO_OPTIONS: Final = Options()


class Run(NamedTuple):
    """A run. `with_project` reads trainc.yaml and merges the options that override it into `settings`."""

    options: Options = NO_OPTIONS
    purpose: Purpose = COMPILE
    settings: Settings = DEFAULT
    """The project's settings, in the environment of the run."""
    flags: Flags = NO_FLAGS
    """The options that override trainc.yaml, by the path of the key."""
    paths: tuple[str, ...] = ()
    """The files and folders of the run; none for the sources of the project."""
    runtimes: Sequence[str] = ()
    """Paths to search for runtimes instead of the settings'."""
    only: str | None = None
    """The name of the only TrainJobs to compile."""
    root: str | None = None
    """The folder that no link may lead out of; by default each path's git root, or its folder outside of git."""
    budget: Budget = DEFAULT_BUDGET
    """The most work of the run."""
    output_folder: str | None = None
    """The output folder; None for that of the settings."""
    written: Sequence[str] = ()
    """Other files and folders that are written, to leave out where they are below one of the paths."""
    complete: bool = True
    """Whether the paths contain all TrainJobs of the project, so that a setting that affects none is reported."""
    is_part: bool = False
    """Whether the run has only a part of the project's documents of other kinds."""
    all_environments: bool = False
    """Whether the run is one of those of all environments, so that a setting of the file may affect none of them."""
    revision: tuple[str, str] = ("", "")
    """The prefix of a commit's file names, and that of the same files in the work tree; empty on disk."""
    apart: Apart = Apart()
    """What the other projects of the run have."""
    all_runs: Meter | None = None
    """With a run for each environment, the meter of the products of all runs."""
    parsed: ParsedFiles | None = None
    """With a run for each environment, the files that are already parsed."""
    verbose: bool = False
    """Whether the report lists the skipped files, and the JobSets whose admission by Kueue is unknown."""
    quiet: bool = False
    """Whether the report has errors only."""

    @property
    def refused_as(self) -> Severity:
        """The severity of a document that the release refuses: a note if the cluster gets what trainc renders."""
        if not self.purpose.judges or self.settings.renders:
            return "note"
        return "error" if self.settings.release_stated else "warning"

    @property
    def copied_files(self) -> Callable[[str], bool] | None:
        """The function that tells whether the documents of other kinds in a file are copied; None without output."""
        copies = self.purpose.copies
        return None if copies is None else self.settings.copied_files(default=copies)

    @property
    def selection(self) -> Selection:
        """The files that are not manifests."""
        return self.selection_with(self.settings)

    def selection_with(self, own: Settings, apart: Apart | None = None) -> Selection:
        """Return the files that are not manifests with other settings, and beside other projects."""
        apart = self.apart if apart is None else apart
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
        is_default = self.options.config is None or is_within(os.getcwd(), own.base.folder)
        return (own.folder if is_default else os.curdir,)

    @property
    def has_all_documents(self) -> bool:
        """Whether the run has all queues and referenced objects of the repository, so that they can be checked."""
        return self.purpose.queues and not self.is_part

    @property
    def checks_unused_runtimes(self) -> bool:
        """Whether stand-in TrainJobs check the runtimes that no TrainJob uses."""
        return self.purpose.stand_ins == "check" and (self.complete or not self.is_part)

    @property
    def quiet_rules(self) -> frozenset[str]:
        """The lint rules that are not reported."""
        from trainc.pipeline.lint.triggers import VALIDATE_ONLY

        made_by_trainer = {"secret-expected"} if self.settings.renders_nothing else ()
        return self.settings.disable.union(made_by_trainer, () if self.purpose.all_rules else VALIDATE_ONLY)

    def with_flag(self, key: str, value: str) -> Run:
        """Return the run with another value for a key of trainc.yaml, before its settings are read."""
        return self._replace(flags={**self.flags, (key,): value})

    def with_project(self, paths: Sequence[str], contents: Mapping[str, bytes] = {}) -> Run:
        """Return the run with the settings of the option `config`, or of the paths' nearest trainc.yaml.

        contents   the contents of files that differ from those on the disk, by their paths
        """
        options = self.options
        file = None if options.config is None else os.fspath(options.config)
        return self.with_file(paths, file, search=not options.no_config, contents=contents)

    def with_file(
        self, paths: Sequence[str], file: str | None, *, search: bool, contents: Mapping[str, bytes] = {}
    ) -> Run:
        """Return the run with the settings of a file; without one, of the paths' nearest trainc.yaml, or none."""
        return self.with_settings(
            load(
                paths,
                file=file,
                search=search,
                root=self.root,
                follow_links=self.options.follow_links,
                limits=self.budget,
                contents=contents,
            )
        )

    def for_reading(self) -> Run:
        """Return a run that does not compile for a project; with environments, its settings are those of the first."""
        environment = self.options.environments[0] if self.options.environments else None
        found = self.with_settings(self.settings, environment).settings
        settings = DEFAULT._replace(
            field_validation=found.field_validation,
            release=found.release,
            exclude=found.exclude,
            diagnostics=tuple(diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error"),
            runtimes=found.runtimes,
            built_in_forbidden=found.built_in_forbidden,
            sources=found.sources,
            output=found.output,
            base=found.base,
            document=found.document,
            settings_files=found.settings_files,
        )
        return self._replace(purpose=READ, settings=settings)

    def with_settings(self, settings: Settings, environment: str | None = None) -> Run:
        """Return the run with some settings, in an environment if it is named. The options override them."""
        if environment is not None:
            settings = in_environment(settings, environment, self.flags)
        else:
            settings = with_flags(settings, self.flags)
        if self.options.strict:
            settings = settings._replace(strict=self.purpose.option_names.strict)
        return self._replace(settings=settings)


PLAIN: Final = Run()
"""A run with the defaults, and without a project."""


def start(
    options: Options,
    purpose: Purpose = COMPILE,
    *,
    root: str | None = None,
    budget: Budget | None = None,
    paths: tuple[str, ...] = (),
) -> Run:
    """Return a run with some options.

    Args:
        options: what the user says.
        purpose: what the run is for.
        root: the folder that no link may lead out of.
        budget: the most work; by default that of the options.
        paths: the files and folders.
    """
    return Run(
        options=options,
        purpose=purpose,
        settings=DEFAULT if options.settings is None else options.settings,
        flags=options.flags,
        paths=paths,
        runtimes=tuple(os.fspath(path) for path in options.runtimes),
        only=options.only,
        root=root,
        budget=BUDGETS[options.budget] if budget is None else budget,
    )


def _message_of_unknown(name: str) -> str:
    from trainc.base.suggestions import nearest_name

    near = nearest_name(name, DEFAULTS) or next((known for known in DEFAULTS if known.startswith(name)), None)
    known = f"did you mean {near}?" if near else f"the options are {', '.join(DEFAULTS)}"
    return f"trainc.Options has no {name}: {known}"
