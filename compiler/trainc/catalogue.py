"""The catalogue: every id that trainc can report, with title, severity, who would have refused, and its page.

Reads    the checks and the declarations of rules, the table `LOOSE` of the ids that are made where they are found, and
         diagnostics/<id>.md.
Returns  entries, and pages as text. For `validate --explain`, docs/diagnostics.md, the sarif report and the tests: no
         stage imports this.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from trainc.checks import Check
from trainc.data import data_path
from trainc.declarations import Declaration
from trainc.frameworks import FRAMEWORKS
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
    "duplicate-object": ("read", "error", "Rendered manifests hold an object twice"),
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
    "resource-list": ("read", "error", "Standard input is no ResourceList"),
    "unknown-kind": ("read", "error", "The TrainJob API has no such kind"),
    "unknown-version": ("read", "error", "The TrainJob API has no such version"),
    "unreadable": ("read", "error", "A path cannot be read"),
    "yaml": ("read", "error", "The text is not the YAML that Kubernetes reads"),
}
"""The ids that no check declares."""

DECLARING: Final = (
    "trainc.checks.jobset",
    "trainc.checks.jobset.claims",
    "trainc.checks.jobset.policies",
    "trainc.checks.jobset.wordings",
    "trainc.checks.rules",
    *(
        f"trainc.kubernetes.validation.{module}"
        for module in (
            *("bare", "claims", "claimtemplates", "container", "env", "ephemeral", "fieldrefs", "files", "job"),
            *("mounts", "network", "pod", "podannotations", "podresources", "policies", "ports", "probes"),
            *("projections", "resources", "restarts", "scheduling", "security", "selector", "selectors"),
            *("volumedrivers", "windows"),
        )
    ),
    "trainc.kubernetes.violations",
)
"""Where what is refused in objects is declared."""

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
    found = {entry.id: entry for entry in (*_of_checks(), *_of_objects(), *_of_nobody())}
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


def _of_objects() -> Iterator[Entry]:
    for name in DECLARING:
        for value in vars(import_module(name)).values():
            if isinstance(value, Declaration):
                yield Entry(value.id, value.title, value.severity, value.phases)


def _of_nobody() -> Iterator[Entry]:
    for id, (stage, severity, title) in LOOSE.items():
        yield Entry(id, title, severity, (stage,))
