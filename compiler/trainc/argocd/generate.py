"""Argo CD's `generate`: the objects of the TrainJobs in the application's folder, and the documents of other kinds.

Reads    the environment and the current folder.
Returns  a compilation, and the documents that pass through. Argo CD prunes every object that the output lacks, such as
         a PersistentVolumeClaim beside a TrainJob, so documents of other kinds are part of it. A document that is not a
         Kubernetes object is an error at its line; Argo CD would reject the whole output without naming the file.
"""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING, Final

from trainc.argocd.application_files import too_many
from trainc.argocd.parameters import PURPOSE, read_options
from trainc.argocd.plugin_environment import CHECKED, is_older
from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.budget import CI, Budget, checked_output
from trainc.compilation import (
    NO_TRAINJOB,
    Compilation,
    compile_paths,
    duplicates,
    environment_runs,
    fixed_names,
    wrong_namespace,
)
from trainc.compilation.projects import projects_of
from trainc.compilation.run import start
from trainc.compilation.shared_objects import shared_objects, written_objects
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place
from trainc.emit import yaml
from trainc.frontends import NOT_AN_OBJECT
from trainc.frontends.kustomizations import KUSTOMIZE_BASE, KUSTOMIZE_PATCH, PATCHES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.argocd.plugin_environment import PluginEnvironment
    from trainc.compilation import Run

KUSTOMIZE_NOT_RUN: Final = Declaration("kustomize-not-run", ("read",), trainc_only=True)

FIX: Final = environment_runs.SelectHelp("set the parameter environment to {}")
NOT_CHANGED: Final = (KUSTOMIZE_BASE.id, KUSTOMIZE_PATCH.id)
"""Notes that the error for patches replaces: their help is for a command line."""


class GeneratedManifests(NamedTuple):
    """The output of `generate`: diagnostics, objects, other documents and notes."""

    result: Compilation
    others: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The manifests. Other documents are serialized again, so that Argo CD parses the same values as trainc."""
        texts = (text for _, _, text in self.result.manifests())
        others = (yaml.render([document.value]) for document in self.others)
        return "---\n".join(checked_output(self.result.budget, chain(texts, others)))


def generate(environment: PluginEnvironment, budget: Budget = CI) -> GeneratedManifests:
    """Compile the current folder with the Application's parameters."""
    notes = tuple(_notes(environment))
    requested, faults = read_options(environment)
    if faults:
        return GeneratedManifests(Compilation(diagnostics=faults), notes=notes)
    limits = budget._replace(option="trainc cmp generate --budget {} in the plugin")
    projects = projects_of(start(requested, PURPOSE, root=environment.root, budget=limits), (os.curdir,))
    selected = [environment_runs.select_environment(each, FIX, always=True) for each in projects]
    if missing := tuple(each for each in selected if isinstance(each, Diagnostic)):
        return GeneratedManifests(Compilation(diagnostics=missing), notes=notes)
    chosen = [each for each in selected if not isinstance(each, Diagnostic)]
    if (too_large := too_many(chosen, environment.root)) is not None:
        return GeneratedManifests(Compilation(diagnostics=(too_large,)), notes=notes)
    if len(chosen) == 1:
        result = _compiled(chosen[0])
    else:
        runs = environment_runs.runs([(each,) for each in chosen], _compiled)
        result = environment_runs.merge_runs(runs).with_diagnostics(
            shared_objects(each for run in runs for each in written_objects(run))
        )
    if not (result.jobs or result.failed):
        result = result.with_diagnostics([_no_manifests(result)])
    if result.kustomizations is not None:
        notes = (*notes, "kustomization.yaml is left out: the plugin does not run kustomize")
    return GeneratedManifests(result, result.copied, notes)


def _compiled(run: Run) -> Compilation:
    """Return the result of a project, including the faults of its output."""
    result = compile_paths(run.inputs, run)
    others = result.copied
    if not_applied := list(_patches(result)):
        kept = tuple(each for each in result.diagnostics if each.id not in NOT_CHANGED)
        result = result._replace(diagnostics=kept).with_diagnostics(not_applied)
    result = result.with_diagnostics(diagnostic for document in others for diagnostic in _no_object(document))
    return result.with_diagnostics(
        (*duplicates(result, others), *fixed_names(result), *wrong_namespace(result, others))
    )


def _notes(environment: PluginEnvironment) -> Iterator[str]:
    if is_older(environment.kubernetes):
        rules = ".".join(map(str, CHECKED))
        yield f"the cluster runs Kubernetes {environment.kubernetes}, but trainc checks the rules of {rules}"


def _patches(result: Compilation) -> Iterator[Diagnostic]:
    """Report the kustomizations with patches: Argo CD would apply the objects without them."""
    for each in result.kustomizations.found if result.kustomizations is not None else ():
        if field := each.change(PATCHES):
            yield Diagnostic.declared(
                KUSTOMIZE_NOT_RUN,
                f"the plugin does not run kustomize: the objects would be applied without the {field} of "
                f"{each.document.file}",
                "run `trainc krm` as a transformer of the kustomization instead of the plugin, or use the output of "
                "`kustomize build`",
                place=Place(each.document, (field,), key=True),
            )


def _no_object(document: Document) -> Iterator[Diagnostic]:
    """Report a document without apiVersion or kind, which Argo CD or the API server would reject."""
    for field in ("apiVersion", "kind"):
        if not document.value.get(field) or not isinstance(document.value[field], str):
            yield Diagnostic.declared(
                NOT_AN_OBJECT,
                f"the document has no {field}, so it is not a Kubernetes object",
                f"set {field}, or move a file that is not a manifest to a hidden file or outside the application",
                object=ObjectId.from_manifest(document.value),
                field=field,
                place=Place(document=document, path=(field,)),
            )
            return


def _no_manifests(result: Compilation) -> Diagnostic:
    from trainc.base.texts import plural

    return Diagnostic.declared(
        NO_TRAINJOB,
        f"no TrainJob in the application's folder ({plural(result.files, 'file')} read)",
        "check spec.source.path; to remove all objects, delete the Application, because an empty output would "
        "prune everything",
    )
