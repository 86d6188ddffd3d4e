"""The side of a cluster: its objects beside those that a project renders.

Reads    the objects that the project renders in one environment, and the answers of the user's kubectl: the JobSets of
         their namespaces (with `output: none`, the TrainJobs), their ConfigMaps and PodGroups by name, Kueue's queues.
Returns  both sides of a comparison, of which the rendered one has no object that could not be read; a fault for each
         part that could not be read, and notes about the parts that are not compared. JobSets that trainc does not
         render are listed only if the labels of the settings select them: others may run in the same namespaces.
Source   the status of JobSet v0.12 and of Trainer v2.3.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import JOBSET, TRAINJOB, VERSION
from trainc.base.texts import plural
from trainc.diagnostics import Diagnostic, Document, Location, ObjectId, failed
from trainc.frontends import UNKNOWN_VERSION
from trainc.kubernetes.trees import get, removed_at
from trainc.kubernetes.violations import listed
from trainc.kueue.admission import LABEL
from trainc.pinning import kubectl
from trainc.pinning.answers import json_object
from trainc.pinning.kubectl import Hints, Kubectl, KubectlFault
from trainc.pinning.manifests import clean
from trainc.review.changes.renamed_jobs import with_own_hashes
from trainc.review.live_objects import as_rendered, as_stored, without_tools
from trainc.review.live_trainjobs import compiled_alike
from trainc.review.sides import Side, SideItem, SideSpec, job_items, rendered_files, without_other_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trainc.base.releases import TrainerRelease
    from trainc.kubernetes.trees import Tree
    from trainc.kueue.usage import QueueUse
    from trainc.review.sides.side_pairs import Versions

HINTS: Final = Hints(
    "install kubectl, or save the output of `kubectl get jobset -o yaml` elsewhere and run `trainc diff FILE PATH`",
    "install its CRD, or use the --context of a cluster that serves it: JobSet v1alpha2, TrainJob v1alpha1, PodGroup",
    "get permission to list JobSets, or TrainJobs, and to get ConfigMaps and PodGroups in the namespace",
)
TIMEOUT: Final = 20
"""The default time limit of a request, in seconds: a review has several."""
PARTS: Final = (("metadata", "labels"), ("metadata", "annotations"), ("spec",), ("status",))
"""The mappings that an object of a cluster may have."""
MANAGED: Final = "--show-managed-fields"
NOT_FOUND: Final = "--ignore-not-found"
ENDED: Final = frozenset({"Complete", "Completed", "Failed"})
"""The conditions of a TrainJob or a JobSet whose training has ended."""

Key = tuple[str, str, str, str]
"""The API group, the kind, the namespace and the name."""


class KubectlError(Exception):
    """A failure of kubectl after which nothing can be compared."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        """`diagnostic` reports it."""
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class LiveCluster:
    """The objects of a cluster. Each answer is read once for all environments."""

    def __init__(self, program: Kubectl) -> None:
        self.program = program
        self.name = "the cluster" if program.context is None else f"context {program.context}"
        self.faults: dict[str, Diagnostic] = {}
        """The faults of the parts that are not compared, by message."""
        self.messages: list[str] = []
        """The warnings of kubectl."""
        self._notes: dict[str, None] = {}
        self._others: list[str] = []
        """The kinds of the rendered objects that are not compared."""
        self._answers: dict[tuple[str, ...], list[Document] | KubectlFault] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is not compared, in sentences."""
        if not self._others:
            return tuple(self._notes)
        verb = "is" if len(self._others) == 1 else "are"
        kinds = listed(sorted({*self._others}))
        return f"{plural(len(self._others), 'object')} of other kinds {verb} not compared: {kinds}", *self._notes

    def sides(self, rendered: Side, is_rendered: Callable[[Key], bool] | None) -> tuple[Side, Side]:
        """Return the side of the cluster, and the side of the objects that are compared with it. Raises KubectlError.

        `is_rendered` tells whether any environment renders an object; None if it is not known.
        """
        kept = without_other_kinds(rendered)
        known = {id(item.document) for item in kept.items}
        self._others += (item.id.kind for item in rendered.items if id(item.document) not in known)
        found, compared, others = list[SideItem](), list[SideItem](), dict[Key, SideItem]()
        labels = _labels(rendered)
        if rendered.settings.renders_nothing:
            self._note("with output: none, TrainJobs are compared; those that no file has are not listed")
            kept, found, compared = self._with_trainjobs(kept)
        elif not labels:
            self._note("JobSets that trainc does not render are not listed: no labels in trainc.yaml select them")
        elif is_rendered is None:
            self._note("JobSets that trainc does not render are not listed: --only or a path selects a part")
        in_context = set[Key]()
        namespaces = {each.id.namespace for each in kept.items}
        if labels:
            namespaces |= {each.id.namespace for each in rendered.items} - {""}

        def is_foreign(document: Document) -> bool:
            if not labels or is_rendered is None or not _has_labels(document, labels):
                return False
            return not is_rendered(key_of(ObjectId.from_source(document.value)))

        release = rendered.settings.release
        kept = kept._replace(items=tuple(each._replace(tree=as_stored(each.tree, release)) for each in kept.items))
        for namespace in sorted(namespaces):  # first that of the context, which can be any of the others, too
            items = {key_of(item.id): item for item in kept.items if item.id.namespace == namespace}
            documents, unread = self._namespace(namespace, items, are_listed=bool(labels))
            if not documents and not unread:
                self._note_absent(namespace)
            compared += (item for key, item in items.items() if key not in unread)
            for key, document in documents.items():
                own = key_of(ObjectId.from_source(document.value))
                if key in items:
                    found.append(self._item(document, release, items[key]))
                    in_context.add(own)
                elif is_foreign(document) and own not in in_context:
                    others[own] = self._item(document, release)
        queues = tuple(self._queues((*kept.items, *compared)))
        replaced = {document.value["kind"] for document in queues}
        rest = tuple(each for each in rendered.others if each.value.get("kind") not in replaced)
        before = Side(SideSpec(self.name, (), is_live=True), "rendered", (*found, *others.values()), (), others=queues)
        return before, kept._replace(items=tuple(compared), others=(*queues, *rest))

    def rendered_by_any(self, projects: Iterable[Versions], sides: Sequence[Side]) -> Callable[[Key], bool]:
        """Return whether an environment of this cluster renders an object; the others are compiled on the first call.

        sides   the selected environments, which are compiled
        """
        clusters = {side.settings.cluster for side in sides}

        @cache  # one set, for the run
        def keys() -> frozenset[Key] | None:
            others = [
                with_own_hashes(each.side(name))
                for each in projects
                for name in each.project.environment_names
                if not each.is_rendered and name not in each.names
            ]
            others = [side for side in others if side.settings.cluster in clusters]
            for side in others:
                if failed(side.diagnostics):
                    name = side.settings.environment_name
                    self._note(f"JobSets that trainc does not render are not listed: environment {name} has errors")
                    return None
            return frozenset(key_of(item.id) for side in (*sides, *others) for item in side.items)

        def is_rendered(key: Key) -> bool:
            known = keys()
            return known is None or key in known

        return is_rendered

    def _note(self, sentence: str) -> None:
        self._notes[sentence] = None

    def _note_deletion(self, document: Document) -> None:
        if "deletionTimestamp" in document.value["metadata"]:
            id = ObjectId.from_manifest(document.value)
            self._note(f"{id.kind} {id.qualified_name} is being deleted")

    def _note_absent(self, namespace: str) -> None:
        """Note a namespace that does not exist: an empty list is the answer for it, too."""
        if namespace and self._read(f"namespaces/{namespace}", NOT_FOUND) == []:
            self._note(f"namespace {namespace} does not exist")

    def _with_trainjobs(self, kept: Side) -> tuple[Side, list[SideItem], list[SideItem]]:
        """Return a side without the objects of TrainJobs, and these objects in the cluster and in the files."""
        jobs = {id(item.job): item.job for item in kept.items if item.job and item.job.plan.job.own_runtime is None}
        found, compared = list[SideItem](), list[SideItem]()
        for namespace in sorted({job.namespace for job in jobs.values()}):
            documents = self._read(_resource_of(VERSION, TRAINJOB.kind), *_place(namespace), MANAGED)
            if isinstance(documents, KubectlFault):
                if not documents.is_forbidden:
                    raise KubectlError(documents.diagnostic)
                message = f"{_namespace_words(namespace)} is not compared: {documents.diagnostic.message}"
                self._fault(documents.diagnostic._replace(message=message))
                continue
            if not documents:
                self._note_absent(namespace)
            by_name = {document.value["metadata"]["name"]: document for document in documents}
            for job in (job for job in jobs.values() if job.namespace == namespace):
                live = by_name.get(job.name)
                before = None if live is None else compiled_alike(job, live)
                if live is not None and before is None:
                    name = f"{namespace}/{job.name}" if namespace else job.name
                    self._note(f"TrainJob {name} is not compared: it does not compile with the runtimes of the project")
                    continue
                new = [*job_items([job])]
                compared += new
                if before is not None and live is not None:
                    self._note_deletion(live)
                    trees = {item.id: item.tree for item in new}
                    old = (item._replace(document=live) for item in job_items([before]))
                    found += (
                        each._replace(tree=without_tools(each.tree, trees.get(each.id, each.tree))) for each in old
                    )
        rest = [item for item in kept.items if id(item.job) not in jobs]
        legacy = {id(item.job): item.job.plan.job.id.kind for item in rest if item.job is not None}
        legacy = {key: kind for key, kind in legacy.items() if kind != JOBSET.kind}  # its own controller makes its pods
        self._others += legacy.values()
        return kept._replace(items=tuple(item for item in rest if id(item.job) not in legacy)), found, compared

    def _namespace(
        self, namespace: str, items: Mapping[Key, SideItem], *, are_listed: bool
    ) -> tuple[dict[Key, Document], set[Key]]:
        """Return the objects of a namespace, and the keys of the rendered objects that could not be read.

        `are_listed` tells whether JobSets that are not rendered are listed.
        """
        where, place = _namespace_words(namespace), _place(namespace)
        names = sorted(f"{_resource(item.id)}/{item.id.name}" for item in items.values() if not _is_jobset(item.id))
        jobsets = _resource_of(JOBSET.versions[0], JOBSET.kind)
        requests = list[tuple[bool, str, tuple[str, ...]]]()
        if are_listed or any(_is_jobset(item.id) for item in items.values()):
            requests.append((True, f"{where} is not compared", (jobsets, *place, MANAGED)))
        if names:
            what = f"the other objects of {where} are not compared"
            requests.append((False, what, (*names, *place, MANAGED, NOT_FOUND)))
        found, unread = dict[Key, Document](), set[Key]()
        for of_jobsets, what, arguments in requests:
            documents = self._read(*arguments)
            if isinstance(documents, KubectlFault):
                if not documents.is_answer or (of_jobsets and not documents.is_forbidden):
                    raise KubectlError(documents.diagnostic)
                self._fault(documents.diagnostic._replace(message=f"{what}: {documents.diagnostic.message}"))
                unread |= {key for key, item in items.items() if of_jobsets or not _is_jobset(item.id)}
                break
            for document in documents:
                id = ObjectId.from_source(document.value)
                key = key_of(id if namespace else id._replace(namespace=""))
                if of_jobsets and id.apiVersion not in JOBSET.versions:
                    self._fault(_version_fault(document, id))
                    unread.add(key)
                else:
                    found[key] = document
        return found, unread

    def _fault(self, diagnostic: Diagnostic) -> None:
        self.faults.setdefault(diagnostic.message, diagnostic)

    def _item(self, document: Document, release: TrainerRelease, rendered: SideItem | None = None) -> SideItem:
        """Return an object of the cluster as it would be rendered."""
        tree = as_stored(clean(document.value), release)
        self._note_deletion(document)
        if rendered is None:
            return SideItem(ObjectId.from_manifest(tree), tree, document)
        return SideItem(rendered.id, as_rendered(tree, rendered.tree), document)

    def _queues(self, items: Iterable[SideItem]) -> Iterator[Document]:
        """Yield Kueue's queues that the JobSets use; nothing if they cannot be read."""
        namespaces = {item.id.namespace for item in items if _is_jobset(item.id) and get(item.tree, LABEL)}
        queues = self._read("clusterqueues.kueue.x-k8s.io") if namespaces else []
        if isinstance(queues, KubectlFault):
            self._note(f"the current use of Kueue's queues is not shown: {queues.diagnostic.message}")
            return
        yield from queues
        for namespace in sorted(namespaces):
            documents = self._read("localqueues.kueue.x-k8s.io", *_place(namespace))
            if isinstance(documents, KubectlFault):
                where = _namespace_words(namespace)
                self._note(f"the LocalQueues of {where} are those of the files: {documents.diagnostic.message}")
                continue
            for each in documents:
                in_context = removed_at(each.value, ("metadata", "namespace"))
                yield each if namespace else each._replace(value=in_context)

    def _read(self, *arguments: str) -> list[Document] | KubectlFault:
        """Return the objects of an answer. Raises KubectlError if it is no list of objects."""
        if arguments not in self._answers:
            answer = self.program.get(*arguments, "-o", "json")
            if isinstance(answer, KubectlFault):
                self._answers[arguments] = answer
            else:
                self.messages += answer.messages
                self._answers[arguments] = self._objects(answer.data, arguments)
        return self._answers[arguments]

    def _objects(self, data: bytes, arguments: Sequence[str]) -> list[Document]:
        if not data.strip() and NOT_FOUND in arguments:
            return []
        document = json_object(data, self.name)
        items = None
        if document is not None:
            is_list = str(document.value.get("kind")).endswith("List")
            items = document.value.get("items") if is_list else [document.value]
        if document is None or not isinstance(items, list):
            raise KubectlError(kubectl.not_a_list(data, *arguments, "-o", "json"))
        found = [document._replace(line=0, value=item, within=("items", index)) for index, item in enumerate(items)]
        if not all(map(_is_object, found)):
            raise KubectlError(kubectl.not_a_list(data, *arguments, "-o", "json"))
        return found


def key_of(id: ObjectId) -> Key:
    """Return the identity of an object in every version of its group."""
    return id.apiVersion.rpartition("/")[0], id.kind, id.namespace, id.name


def running_state(tree: Tree) -> bool | None:
    """Return whether the status of a JobSet or a TrainJob shows that its pods run; None if it does not show it.

    >>> [running_state({"spec": {}, "status": {"replicatedJobsStatus": [job]}})
    ...  for job in ({"ready": 1, "active": 1}, {"ready": 0, "active": 0}, {"ready": 0, "active": 1})]
    [True, False, None]
    """
    status = tree.get("status")
    if get(tree, ("spec", "suspend")):
        return False
    of_jobs = "jobsStatus" if tree.get("kind") == TRAINJOB.kind else "replicatedJobsStatus"
    lists = (get(status, (key,)) for key in ("conditions", of_jobs))
    conditions, jobs = ([each for each in found or () if isinstance(each, dict)] for found in lists)
    if any(each.get("type") in ENDED and each.get("status") == "True" for each in conditions):
        return False
    if any(each.get("ready") for each in jobs):
        return True
    return None if not jobs or any(each.get("active") for each in jobs) else False


def with_current_use(uses: Iterable[QueueUse], queues: Iterable[Document]) -> tuple[QueueUse, ...]:
    """Return the uses of ClusterQueues with what all their workloads use now."""
    from trainc.kueue.usage import current_use

    found = {each.value["metadata"]["name"]: each for each in queues if each.value["kind"] == "ClusterQueue"}
    return tuple(
        use._replace(used=current_use(found[use.name].value))
        if use.kind == "ClusterQueue" and use.name in found
        else use
        for use in uses
    )


def _is_object(document: Document) -> bool:
    """Return whether an item of a list has what each object of a cluster has."""
    if not isinstance(document.value, dict) or rendered_files.identity(document) is None:
        return False
    parts = (get(document.value, path) for path in PARTS)
    return all(part is None or isinstance(part, dict) for part in parts)


def _place(namespace: str) -> tuple[str, ...]:
    """Return the arguments for a namespace; none for that of the context."""
    return ("--namespace", namespace) if namespace else ()


def _namespace_words(namespace: str) -> str:
    return f"namespace {namespace}" if namespace else "the namespace of the context"


def _is_jobset(id: ObjectId) -> bool:
    return id.kind == JOBSET.kind


def _resource(id: ObjectId) -> str:
    return _resource_of(id.apiVersion, id.kind)


def _resource_of(version: str, kind: str) -> str:
    """Return the name by which kubectl requests one version of a kind.

    >>> _resource_of("jobset.x-k8s.io/v1alpha2", "JobSet"), _resource_of("v1", "ConfigMap")
    ('jobsets.v1alpha2.jobset.x-k8s.io', 'configmaps')
    """
    group, _, name = version.rpartition("/")
    return f"{kind.lower()}s.{name}.{group}" if group else f"{kind.lower()}s"


def _labels(side: Side) -> dict[str, str]:
    """Return the labels that the settings give to all objects."""
    environment = side.settings.environment
    return {} if environment is None else {key: setting.value for key, setting in environment.labels.items()}


def _has_labels(document: Document, labels: Mapping[str, str]) -> bool:
    own = get(document.value, ("metadata", "labels"), {})
    return all(own.get(key) == value for key, value in labels.items())


def _version_fault(document: Document, id: ObjectId) -> Diagnostic:
    return Diagnostic.declared(
        UNKNOWN_VERSION,
        f"JobSet {id.qualified_name} is not compared: its apiVersion is {id.apiVersion}",
        f"use a cluster that serves {JOBSET.versions[0]}, the version that trainc compares",
        object=id,
        field="apiVersion",
        place=Location(file=document.file),
    )
