"""The catalogue of every id that trainc can report, with its page.

Reads    the declarations of all modules, and diagnostics/<id>.md.
Returns  declarations by id, and pages as text. `validate --explain`, docs/diagnostics.md, the SARIF report and the
         tests use it; no stage imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from trainc.checks import Check
from trainc.data import data_path
from trainc.declarations import Declaration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from trainc.declarations import Phase

MODULES: Final = (
    "trainc.argocd.environment",
    "trainc.argocd.files",
    "trainc.argocd.manifests",
    "trainc.budget",
    "trainc.checks.cel",
    "trainc.checks.counts",
    "trainc.checks.dialect",
    "trainc.checks.images",
    "trainc.checks.jobset",
    "trainc.checks.jobset.claims",
    "trainc.checks.jobset.jobset_messages",
    "trainc.checks.jobset.policies",
    "trainc.checks.limits",
    "trainc.checks.runtime",
    "trainc.checks.trainjob",
    "trainc.cli.explain",
    "trainc.compilation",
    "trainc.compilation.identities",
    "trainc.compilation.plans",
    "trainc.exclude",
    "trainc.frameworks",
    "trainc.frameworks.flux",
    "trainc.frameworks.mpi",
    "trainc.frameworks.mxnet",
    "trainc.frameworks.tensorflow",
    "trainc.frameworks.torch.elastic",
    "trainc.frameworks.torch.torchrun",
    "trainc.frameworks.torch.torchtune",
    "trainc.frontends",
    "trainc.frontends.templates",
    "trainc.inputs",
    "trainc.krm.request",
    "trainc.krm.resourcelist",
    "trainc.kubernetes.validation.bare",
    "trainc.kubernetes.validation.claims",
    "trainc.kubernetes.validation.claimtemplates",
    "trainc.kubernetes.validation.container",
    "trainc.kubernetes.validation.env",
    "trainc.kubernetes.validation.ephemeral",
    "trainc.kubernetes.validation.fieldrefs",
    "trainc.kubernetes.validation.files",
    "trainc.kubernetes.validation.job",
    "trainc.kubernetes.validation.mounts",
    "trainc.kubernetes.validation.network",
    "trainc.kubernetes.validation.pod",
    "trainc.kubernetes.validation.podannotations",
    "trainc.kubernetes.validation.podresources",
    "trainc.kubernetes.validation.policies",
    "trainc.kubernetes.validation.ports",
    "trainc.kubernetes.validation.probes",
    "trainc.kubernetes.validation.projections",
    "trainc.kubernetes.validation.resources",
    "trainc.kubernetes.validation.restarts",
    "trainc.kubernetes.validation.scheduling",
    "trainc.kubernetes.validation.security",
    "trainc.kubernetes.validation.selector",
    "trainc.kubernetes.validation.selectors",
    "trainc.kubernetes.validation.volumedrivers",
    "trainc.kubernetes.validation.windows",
    "trainc.kubernetes.violations",
    "trainc.kueue.findings",
    "trainc.kueue.objects",
    "trainc.kueue.references",
    "trainc.kueue.rules",
    "trainc.kustomizations",
    "trainc.library",
    "trainc.lint.deadline_overflow",
    "trainc.lint.depends_on_itself",
    "trainc.lint.elastic_jobset",
    "trainc.lint.gang_asks_for_nothing",
    "trainc.lint.gang_waits_for_itself",
    "trainc.lint.host_network_port",
    "trainc.lint.image_version",
    "trainc.lint.memory_unit",
    "trainc.lint.mpi_image",
    "trainc.lint.nccl_settings",
    "trainc.lint.no_gang",
    "trainc.lint.no_resources",
    "trainc.lint.no_shared_memory",
    "trainc.lint.one_process",
    "trainc.lint.overhead_without_runtime_class",
    "trainc.lint.queue_no_requests",
    "trainc.lint.queue_placement",
    "trainc.lint.rendezvous_host",
    "trainc.lint.resource_typo",
    "trainc.lint.runtime_request_stays",
    "trainc.lint.secret_in_command",
    "trainc.lint.secret_in_env",
    "trainc.lint.shell_words",
    "trainc.lint.suspended_with_queue",
    "trainc.lint.torchrun_flags",
    "trainc.lint.unknown_rule",
    "trainc.outputs",
    "trainc.passes.override",
    "trainc.passes.resolve",
    "trainc.patching.faults",
    "trainc.pinning.answers",
    "trainc.pinning.folder",
    "trainc.pinning.kubectl",
    "trainc.projects",
    "trainc.reading",
    "trainc.review.sides",
    "trainc.schedulers.volcano",
    "trainc.settings.checking",
    "trainc.settings.schema",
    "trainc.settings.selecting",
    "trainc.settings.values",
    "trainc.training_operator",
    "trainc.transforming.faults",
    "trainc.transforming.images",
    "trainc.upgrade",
)
"""The modules that declare an id."""

BY: Final[dict[Phase, str]] = {
    "read": "kubectl or the API server, when it parses the text",
    "schema": "the API server, from the kind's schema",
    "runtime": "Trainer's runtime webhook",
    "trainjob": "Trainer's TrainJob webhook",
    "build": "the Trainer controller, after the TrainJob is stored",
    "jobset-schema": "the API server, from JobSet's schema, when the controller creates the JobSet",
    "jobset": "JobSet's webhook, when the controller creates the JobSet",
    "queue": "Kueue, in the condition QuotaReserved of the JobSet's Workload",
    "job": "the API server, when JobSet creates the Jobs",
    "lint": "trainc only: the cluster accepts it",
}
"""The component that reports a fault, by admission phase."""


def entries() -> dict[str, Declaration]:
    """Return every declaration by its id, in alphabetical order."""
    found = {declared.id: declared for name in MODULES for declared in _declared(import_module(name))}
    return dict(sorted(found.items()))


def by(declared: Declaration) -> str:
    """Return the component that reports the fault."""
    return "trainc only" if declared.own else BY[declared.phases[0]]


def page(id: str) -> str:
    """Return the Markdown page of an id. Raise OSError if there is none."""
    with open(data_path("diagnostics", f"{id}.md"), encoding="utf-8") as file:
        return file.read()


def explained(declared: Declaration) -> str:
    """Return a declaration and its page, for a terminal."""
    first, *others = declared.phases
    stage = f"stage: {first}" + (f" (or {', '.join(others)})" if others else "")
    heading = f"{declared.severity}[{declared.id}]: {declared.title}\nreported by {by(declared)}\n{stage}\n"
    return f"{heading}\n{page(declared.id)}"


def _declared(module: ModuleType) -> Iterator[Declaration]:
    """Yield the declarations of a module and of its checks, including imported ones."""
    for value in vars(module).values():
        if isinstance(value, Check):
            yield value.declared
        elif isinstance(value, Declaration):
            yield value
