"""The catalogue: every id that trainc can report, with title, severity, who would have refused, and its page.

Reads    the checks and the tables of rules, where each id is declared, the table `LOOSE` of the ids that are made where
         they are found, and diagnostics/<id>.md.
Returns  entries, and pages as text. For `validate --explain`, docs/diagnostics.md, the sarif report and the tests: no
         stage imports this.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from trainc.checks import Check, jobset, rules
from trainc.data import data_path
from trainc.frameworks import FRAMEWORKS
from trainc.kubernetes import violations
from trainc.lint.signs import RULES
from trainc.records import NamedTuple
from trainc.schedulers import SCHEDULERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.declarations import Phase, Severity

MODULES: Final = (
    "trainc.checks.dialect",
    "trainc.checks.limits",
    *(f"trainc.lint.{rule.replace('-', '_')}" for rule in RULES),
    "trainc.checks.runtime",
    "trainc.checks.trainjob",
    "trainc.passes.override",
    "trainc.passes.resolve",
    "trainc.frameworks",
    *(f"trainc.frameworks.{key}" for key in FRAMEWORKS),
    "trainc.frameworks.torch.elastic",
    "trainc.frameworks.torch.torchrun",
    "trainc.frameworks.torch.torchtune",
    *(f"trainc.schedulers.{key}" for key in SCHEDULERS),
)
"""Where checks are declared."""

LOOSE: Final[dict[str, tuple[Phase, Severity, str]]] = {
    "application-too-large": ("read", "error", "An Argo CD Application has more than may be read"),
    "argocd-parameter": ("read", "error", "A parameter of an Argo CD Application cannot be followed"),
    "argument-too-long": ("job", "error", "An argument or a variable is longer than Linux passes on"),
    "duplicate-object": ("read", "error", "One output or one side of a review holds an object twice"),
    "duplicate-runtime": ("read", "error", "Two runtimes have the same name"),
    "duplicate-trainjob": ("read", "error", "Two TrainJobs have the same name"),
    "field-not-found": ("read", "error", "No compiled object has the field asked for"),
    "function-config": ("read", "error", "A functionConfig asks for what trainc krm cannot do"),
    "link-out": ("read", "error", "A link leads out of what may be read"),
    "mixed-side": ("read", "error", "One side of a review holds TrainJobs and JobSets"),
    "no-api-version": ("read", "error", "A TrainJob or runtime has no apiVersion"),
    "no-trainjob": ("read", "error", "There is nothing to compile"),
    "not-upgradable": ("read", "error", "A document of an older Trainer cannot be rewritten for v2.3"),
    "not-an-object": ("read", "error", "A document is no Kubernetes object"),
    "only-not-found": ("read", "error", "The TrainJob asked for by name is not there"),
    "nothing-to-compare": ("read", "error", "Neither side of a review holds anything to compare"),
    "object-too-large": ("jobset", "error", "An object is larger than etcd stores"),
    "output-left-alone": ("build", "warning", "A file that was to be removed is not trainc's"),
    "output-not-ours": ("build", "error", "An output would replace a file that is not trainc's"),
    "output-unwritable": ("build", "error", "An output cannot be written"),
    "passthrough-partial": ("build", "error", "An output would lose the documents of other paths"),
    "resource-list": ("read", "error", "Standard input is no ResourceList"),
    "unknown-kind": ("read", "error", "The TrainJob API has no such kind"),
    "unknown-version": ("read", "error", "The TrainJob API has no such version"),
    "unreadable": ("read", "error", "A path cannot be read"),
    "yaml": ("read", "error", "The text is not the YAML that Kubernetes reads"),
}
"""The ids that no check declares."""

OF_JOBS: Final = (
    *("bare", "claims", "claimtemplates", "container", "env", "ephemeral", "files", "job", "mounts", "network"),
    *("pod", "podannotations", "podresources", "policies", "ports", "probes", "projections", "resources", "restarts"),
    *("scheduling", "security", "selector", "selectors", "volumedrivers", "volumes", "windows"),
)
"""The modules of `kubernetes.validation` that have rules with an id of their own."""


def of_objects() -> Iterator[tuple[Phase, dict[str, str]]]:
    """What is refused in the objects that are made: for each stage, titles by id."""
    yield "jobset", jobset.TITLES
    for module in OF_JOBS:
        yield "job", import_module(f"trainc.kubernetes.validation.{module}").TITLES


WARNINGS: Final = frozenset({"unknown-field"})
"""What a schema does not refuse."""

IN_A_JOBSET: Final = {*violations.TITLES, "claim-namespace", "startup-policy-with-depends-on"} - WARNINGS
"""What a schema refuses in the JobSet too, when the whole of it is put together."""

IN_A_JOB: Final = frozenset(
    {
        "annotations-too-big",
        "duplicate-item",
        "enum",
        "invalid-annotation",
        "invalid-label",
        "invalid-name",
        "out-of-range",
        "pattern",
        "required",
        "too-long",
        "too-many-items",
    }
)
"""What is refused in Jobs and their pods as in any object, when JobSet makes the Jobs."""

UNDECODABLE: Final = frozenset({"date-time", "out-of-range", "quantity", "wrong-type"})
"""What the schema lets pass in some forms, and the decoder behind it does not."""

OWN: Final = frozenset(
    {
        *RULES,
        "argocd-parameter",
        "argument-too-long",
        "duplicate-object",
        "duplicate-runtime",
        "duplicate-trainjob",
        "field-not-found",
        "flux-job-name",
        "function-config",
        "link-out",
        "managed-by-other",
        "mixed-dialects",
        "mixed-side",
        "no-counterpart",
        "not-upgradable",
        "nothing-to-compare",
        "object-too-large",
        "older-dialect",
        "older-runtime",
        "secret-expected",
        "no-trainjob",
        "only-not-found",
        "output-left-alone",
        "output-not-ours",
        "output-unwritable",
        "passthrough-partial",
        "resource-list",
        "unreadable",
    }
)
"""What trainc alone has to say: the cluster never meets it, or takes it."""

BY: Final[dict[Phase, str]] = {
    "read": "whoever reads the text, be it kubectl or the API server",
    "schema": "the API server, by the schema of the kind",
    "runtime": "Trainer's webhook of runtimes",
    "trainjob": "Trainer's webhook of TrainJobs",
    "build": "the Trainer controller, when the TrainJob is in the cluster already",
    "jobset-schema": "the API server, by JobSet's schema, when the controller makes the JobSet",
    "jobset": "JobSet's webhook, when the controller makes the JobSet",
    "job": "the API server, when JobSet makes the Jobs",
    "lint": "nobody: it is advice",
}
"""Who speaks at a stage, in words."""


class Entry(NamedTuple):
    """One id."""

    id: str
    title: str
    severity: Severity
    stages: tuple[Phase, ...]
    """At which of the cluster's stages it comes to light; the usual one first."""

    @property
    def by(self) -> str:
        """Who says so, in words."""
        return "trainc itself" if self.id in OWN else BY[self.stages[0]]


def entries() -> dict[str, Entry]:
    """Every entry by its id, in alphabetical order."""
    found = {entry.id: entry for entry in (*_of_checks(), *_of_schemas(), *_of_objects(), *_of_nobody())}
    return dict(sorted(found.items()))


def page(id: str) -> str:
    """The page of an id, as it is written. Raises OSError where there is none."""
    with open(data_path("diagnostics", f"{id}.md"), encoding="utf-8") as file:
        return file.read()


def explained(entry: Entry) -> str:
    """An entry and its page, for a terminal."""
    verb = "refused" if entry.severity == "error" else "said"
    stage = f"stage: {entry.stages[0]}" + (f" (or {', '.join(entry.stages[1:])})" if entry.stages[1:] else "")
    return f"{entry.severity}[{entry.id}]: {entry.title}\n{verb} by {entry.by}\n{stage}\n\n{page(entry.id)}"


def _of_checks() -> Iterator[Entry]:
    for name in MODULES:
        for value in vars(import_module(name)).values():
            if isinstance(value, Check):
                yield Entry(value.id, value.title, value.severity, (value.stage,))


def _of_schemas() -> Iterator[Entry]:
    for id, title in (violations.TITLES | rules.TITLES).items():
        stages: list[Phase] = ["schema"]
        if id in UNDECODABLE:
            stages.append("read")
        if id in IN_A_JOBSET:
            stages.append("jobset-schema")
        if id in IN_A_JOB:
            stages.append("job")
        yield Entry(id, title, "warning" if id in WARNINGS else "error", tuple(stages))


def _of_nobody() -> Iterator[Entry]:
    for id, (stage, severity, title) in LOOSE.items():
        yield Entry(id, title, severity, (stage,))


def _of_objects() -> Iterator[Entry]:
    for stage, titles in of_objects():
        for id, title in titles.items():
            yield Entry(id, title, "error", (stage,))
