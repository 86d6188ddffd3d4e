"""References of pods to objects of other teams: a pod can only use those of its own namespace.

`GivenObjects` has the Secrets and the claims in the paths of a run, by namespace and name.

Reads    the compiled TrainJobs, and the given documents of other kinds.
Returns  a warning for each ConfigMap, Secret or claim that pods need and that only the namespaces of other TrainJobs
         have. An object that no namespace has, or only one without TrainJobs, is not reported: its manifests can be
         elsewhere. Imported only if such documents are given.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, get_args

from trainc.base.declarations import Declaration
from trainc.base.texts import only_elsewhere
from trainc.diagnostics import Diagnostic, ObjectId, Place, Related
from trainc.frontends.reading import documents_of, may_be_looked_up
from trainc.kubernetes.pod_references import Kind, references
from trainc.kubernetes.trees import get
from trainc.kubernetes.violations import field_of
from trainc.pipeline.plan import pod_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.diagnostics import Document, Path
    from trainc.edits.environment import Environment
    from trainc.frontends.reading import Reading
    from trainc.kubernetes.pod_references import Reference
    from trainc.pipeline.plan import Plan


FOREIGN_REFERENCE: Final = Declaration("foreign-reference", ("job",), "warning", trainc_only=True)
MAKERS: Final = {"ExternalSecret": ("spec", "target", "name"), "SealedSecret": ("spec", "template", "metadata", "name")}
"""The kinds whose controllers create a Secret, and the path of its name; without one, it has the object's name."""
KINDS: Final = frozenset({*get_args(Kind), *MAKERS})
"""The kinds of the documents that pods refer to."""


def warnings(plans: Iterable[Plan], documents: Iterable[Document]) -> Iterator[Diagnostic]:
    """Yield a warning for each object that a TrainJob needs and that only other teams have."""
    compiled = [plan for plan in plans if plan.objects and not plan.failed]
    teams = {plan.job.namespace for plan in compiled}
    given: dict[tuple[str, str], dict[str, Document]] = {}
    for document in documents:
        id = ObjectId.from_manifest(document.value)
        if id.kind in KINDS:
            name = secret_name(document, id) or id.name
            given.setdefault(("Secret" if id.kind in MAKERS else id.kind, name), {}).setdefault(id.namespace, document)
    for plan in compiled:
        own = {(tree["kind"], tree["metadata"]["name"]) for tree in plan.objects}
        seen = set[tuple[str, str]]()
        for path, reference in _references(plan):
            key = (reference.kind, reference.name)
            holders = given.get(key, {})
            if reference.optional or key in own or key in seen or {"", plan.job.namespace} & holders.keys():
                continue
            seen.add(key)
            if plan.job.namespace and (elsewhere := sorted(teams & holders.keys())):
                yield _warning(plan, path, reference, elsewhere, holders[elsewhere[0]])


def secret_name(document: Document, id: ObjectId) -> str:
    """Return the name of the Secret that a document is, or of which a controller makes it; empty for other kinds."""
    if id.kind in MAKERS:
        return str(get(document.value, MAKERS[id.kind], id.name))
    return id.name if id.kind == "Secret" else ""


def _references(plan: Plan) -> Iterator[tuple[Path, Reference]]:
    """Yield the references of a TrainJob's pods, each with its path in the JobSet."""
    spec = plan.objects[0]["spec"]
    for index in range(len(spec.get("replicatedJobs") or ())):
        for reference in references(get(spec, pod_spec(index), {})):
            yield ("spec", *pod_spec(index), *reference.path), reference


def _warning(plan: Plan, path: Path, reference: Reference, elsewhere: list[str], first: Document) -> Diagnostic:
    from trainc.provenance.tracing import Trace

    place, related = Trace(plan).point(0, path)
    kind, name, namespace = reference.kind, reference.name, plan.job.namespace
    return Diagnostic.declared(
        FOREIGN_REFERENCE,
        only_elsewhere(f'{kind} "{name}"', elsewhere, namespace),
        f'add it to namespace "{namespace}": a pod can only use a {kind} of its own namespace',
        object=plan.job.id,
        field=field_of(path),
        place=place,
        related=(*related, Related(f"the other {kind}", Place(first, ("metadata", "name")))),
    )


CLAIM: Final = "PersistentVolumeClaim"


class GivenObjects:
    """The Secrets and the claims of a run, which are looked up once."""

    def __init__(self, reading: Reading, environment: Environment | None) -> None:
        self._reading = reading
        self._environment = environment

    @cached_property
    def _found(self) -> dict[tuple[str, str], dict[str, Document]]:
        """The Secrets and the claims by kind and name, each by its namespace."""
        found: dict[tuple[str, str], dict[str, Document]] = {}
        documents = [*self._documents()]
        if self._environment is not None:
            from trainc.edits.transforming import Transformation

            documents += Transformation(self._environment).other_documents(documents)
        for document in documents:
            id = ObjectId.from_manifest(document.value)
            if name := secret_name(document, id):
                found.setdefault(("Secret", name), {})[id.namespace] = document
            elif id.kind == CLAIM:
                found.setdefault((CLAIM, id.name), {})[id.namespace] = document
        return found

    def _find(self, kind: str, namespace: str, name: str) -> Document | None:
        """Return the object that a pod of the namespace finds. An empty namespace matches any."""
        found = self._found.get((kind, name), {})
        return found.get(namespace) or found.get("") or (None if namespace else next(iter(found.values()), None))

    def has_secret(self, namespace: str, name: str) -> bool:
        """Return whether a pod of the namespace finds the Secret."""
        return self._find("Secret", namespace, name) is not None

    def claim_modes(self, namespace: str, name: str) -> tuple[str, ...]:
        """Return the access modes of the claim that a pod of the namespace finds; none if there is no such claim."""
        claim = self._find(CLAIM, namespace, name)
        modes = None if claim is None else get(claim.value, ("spec", "accessModes"))
        return tuple(mode for mode in modes if isinstance(mode, str)) if isinstance(modes, list) else ()

    def _documents(self) -> Iterator[Document]:
        reading = self._reading
        yield from reading.documents["other"]
        for file in reading.skipped:
            if may_be_looked_up(file.data):
                for document in documents_of(file, lambda error, diagnostic: True):
                    if not isinstance(document, Diagnostic):
                        yield document
