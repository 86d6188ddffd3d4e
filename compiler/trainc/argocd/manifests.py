"""What `generate` answers: the objects of the TrainJobs in the application's folder, and the documents of other kinds.

Reads    the environment and the current folder.
Returns  a compilation, and the documents that pass through. They pass because Argo CD takes the answer for the whole
         truth: a PersistentVolumeClaim beside a TrainJob that was not in it would be pruned. What Argo CD can make no
         object of is an error here, at its line; there it spoils the whole answer, and nobody says which file it is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from trainc import settings
from trainc.argocd.environment import CHECKED, is_older
from trainc.argocd.files import too_many
from trainc.argocd.parameters import wanted
from trainc.compilation import NO_TRAINJOB, Compilation, compile
from trainc.delivery import Delivery
from trainc.diagnostics import Diagnostic, Document, ObjectId, Place
from trainc.emit import yaml
from trainc.frontends import NOT_AN_OBJECT
from trainc.library import OptionNames
from trainc.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.argocd.environment import Environment

OF_KUSTOMIZE: Final = ("kustomization.yaml", "kustomization.yml")
"""Files of kustomize's own: no objects, and nothing follows what they say."""
OPTION_NAMES: Final = OptionNames(
    "the parameter runtimes: {}", "the parameter name-suffix-hash", "the parameter field-validation: warn"
)
"""How an Application says what else an option says."""


class Answer(NamedTuple):
    """What there is to say, and to apply."""

    result: Compilation
    others: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The manifests. The others are written anew, too, so that what Argo CD reads is what was read here."""
        texts = [text for _, _, text in self.result.manifests()]
        return "---\n".join([*texts, *(yaml.render([document.value]) for document in self.others)])


def generate(environment: Environment) -> Answer:
    """Compile the current folder as its Application says."""
    notes = tuple(_notes(environment))
    said, wrong = wanted(environment)
    if wrong:
        return Answer(Compilation(diagnostics=wrong), notes=notes)
    if (much := too_many((os.curdir, *said.runtimes), environment.root)) is not None:
        return Answer(Compilation(diagnostics=(much,)), notes=notes)
    found = settings.of((os.curdir,), root=environment.root)
    result = compile(
        (os.curdir,),
        runtimes=said.runtimes,
        only=said.only,
        namespace=environment.namespace,
        settings=found._replace(
            strict="the parameter strict" if said.strict else found.strict,
            field_validation=said.field_validation or found.field_validation,
            option_names=OPTION_NAMES,
        ),
        delivery=Delivery(said.name_suffix_hash, said.argocd_replace, said.suspend),
        root=environment.root,
    )
    others = tuple(other for other in result.others if os.path.basename(other.file) not in OF_KUSTOMIZE)
    result = result.saying(diagnostic for document in others for diagnostic in _no_object(document))
    if not (result.jobs or result.failed):
        result = result.saying([_nothing(result)])
    if len(others) < len(result.others):
        notes = (*notes, "a kustomization.yaml is left out: the plugin does not run kustomize")
    return Answer(result, others, notes)


def _notes(environment: Environment) -> Iterator[str]:
    if is_older(environment.kubernetes):
        rules = ".".join(map(str, CHECKED))
        yield f"the cluster is Kubernetes {environment.kubernetes}, and the rules that are checked are those of {rules}"


def _no_object(document: Document) -> Iterator[Diagnostic]:
    """What Argo CD would refuse of a document, or hand on to an API server that does."""
    for field in ("apiVersion", "kind"):
        if not document.value.get(field) or not isinstance(document.value[field], str):
            yield Diagnostic.of(
                NOT_AN_OBJECT,
                f"the document has no {field}, so it is no Kubernetes object",
                "what is no manifest has its place outside the application's folder, or in a hidden file",
                object=ObjectId.of(document.value),
                field=field,
                place=Place(document=document, path=(field,)),
            )
            return


def _nothing(result: Compilation) -> Diagnostic:
    from trainc.plural import plural

    return Diagnostic.of(
        NO_TRAINJOB,
        f"no TrainJob in the application's folder ({plural(result.files, 'file')} read)",
        "an empty answer would be an order to remove everything: delete the Application for that, "
        "or see that spec.source.path is right",
    )
