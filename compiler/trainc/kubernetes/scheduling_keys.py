"""The labels and annotations that queues, schedulers and injectors read: each key, its field, and where it is read.

Reads    a key of a JobSet, a Job template or a pod template.
Returns  where a key is read, and the key for which a misspelled one is meant.
Source   Kueue v0.19, apis/kueue/v1beta2, pkg/constants and pkg/controller/constants; JobSet v0.12, api/jobset/v1alpha2;
         Volcano v1.14, volcano.sh/apis, pkg/apis/scheduling/v1beta1, and its controller of PodGroups; KAI Scheduler
         v0.14, pkg/common/constants and pkg/podgrouper. The keys without a place are those that a controller writes,
         and those that are read in several places. Kueue reads the queue of a Job or a pod only to queue it alone. Of
         pods: the documentation of Istio 1.28, Linkerd 2.18, Vault Agent Injector 1.7, OpenTelemetry Operator 0.140,
         GKE's driver of Cloud Storage, Multus 4.2, Karpenter 1.8 and Cluster Autoscaler 1.34.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from trainc.base.records import NamedTuple
from trainc.base.suggestions import is_one_edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Field = Literal["labels", "annotations"]
Holder = Literal["JobSet", "Job", "pod"]
"""An object with metadata: the JobSet, a Job template or a pod template."""

KUEUE: Final = "kueue.x-k8s.io/"
VOLCANO: Final = "scheduling.volcano.sh/"
JOBSET: Final = "alpha.jobset.sigs.k8s.io/"
KAI: Final = "kai.scheduler/"


class SchedulingKey(NamedTuple):
    """Where a key is read."""

    reader: str
    """The program that reads it."""
    field: Field
    holders: tuple[Holder, ...]


def _keys(
    reader: str, domain: str, field: Field, holders: tuple[Holder, ...], names: Iterable[str]
) -> Iterator[tuple[str, SchedulingKey]]:
    for name in names:
        yield domain + name, SchedulingKey(reader, field, holders)


ANYWHERE: Final[tuple[Holder, ...]] = ("JobSet", "Job", "pod")
QUEUES: Final = frozenset({KUEUE + "queue-name", VOLCANO + "queue-name", KAI + "queue"})
"""The keys with the name of a queue."""
KEYS: Final = dict(
    (
        *_keys("Kueue", KUEUE, "labels", ("JobSet", "Job"), ("queue-name",)),
        *_keys("Kueue", KUEUE, "labels", ANYWHERE, ("priority-class",)),
        *_keys("Kueue", KUEUE, "labels", ("JobSet",), ("max-exec-time-seconds",)),
        *_keys("Kueue", KUEUE, "annotations", ("JobSet",), ("elastic-job", "admission-gated-by")),
        *_keys(
            "Kueue",
            KUEUE,
            "annotations",
            ("pod",),
            (
                *("podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology"),
                *("podset-slice-required-topology", "podset-slice-required-topology-constraints"),
                *("podset-slice-size", "podset-group-name", "safe-to-forcefully-delete"),
            ),
        ),
        *_keys("Trainer", VOLCANO, "annotations", ("JobSet", "pod"), ("queue-name",)),
        *_keys("Volcano", VOLCANO, "annotations", ("pod",), ("group-name", "queue-allocation-gate")),
        *_keys("JobSet", JOBSET, "annotations", ANYWHERE, ("exclusive-topology",)),
        *_keys("JobSet", JOBSET, "annotations", ("JobSet", "Job"), ("node-selector",)),
        *_keys("KAI", KAI, "labels", ("JobSet", "pod"), ("queue",)),
        *_keys("KAI", KAI, "labels", ANYWHERE, ("preemptibility",)),
        *_keys("KAI", KAI, "labels", ("pod",), ("node-pool", "subgroup-name")),
        *_keys("KAI", KAI, "annotations", ANYWHERE, ("preemption-delay", "staleness-grace-period")),
        *_keys("KAI", KAI, "annotations", ("JobSet", "Job"), ("batch-min-member",)),
        *_keys(
            "KAI",
            KAI,
            "annotations",
            ("JobSet", "Job"),
            ("topology", "topology-required-placement", "topology-preferred-placement"),
        ),
    )
)
"""The keys that users set."""
WITHOUT_PLACE: Final = frozenset(
    {
        *(
            KUEUE + name
            for name in (
                *("managed", "podset", "cluster-queue-name", "local-queue-name", "workload", "workload-slice-name"),
                *(
                    "job-uid",
                    "job-owner-gvk",
                    "job-owner-name",
                    "prebuilt-workload-name",
                    "pod-group-name",
                    "role-hash",
                ),
                *("pod-group-total-count", "pod-group-fast-admission", "pod-group-serving", "retriable-in-group"),
                *("pod-group-pod-index", "pod-group-pod-index-label", "pod-index-offset", "is-group-workload"),
                *("pod-suspending-parent", "priority-boost", "stopping", "tas", "topology", "multikueue-origin"),
                *("multikueue-origin-uid", "component-workload-index", "workload-allowed-resource-flavors"),
                *("job-min-parallelism", "job-completions-equal-parallelism", "concurrent-admission-parent"),
            )
        ),
        *(VOLCANO + name for name in ("group-min-member", "group-min-resources")),
        *(JOBSET + name for name in ("namespaced-job", "no-schedule")),
        *(
            KAI + name
            for name in (
                *("skip-podgrouper", "segment-size", "segment-topology-required-placement", "task-priority"),
                *("segment-topology-preferred-placement", "top-owner-metadata", "accounting", "type"),
            )
        ),
    }
)
"""The other keys of these programs, at which nothing is reported."""
OF_PODS: Final = {
    "sidecar.istio.io/": "Istio",
    "traffic.sidecar.istio.io/": "Istio",
    "proxy.istio.io/": "Istio",
    "linkerd.io/inject": "Linkerd",
    "config.linkerd.io/": "Linkerd",
    "vault.hashicorp.com/": "Vault",
    "sidecar.opentelemetry.io/": "OpenTelemetry",
    "instrumentation.opentelemetry.io/": "OpenTelemetry",
    "gke-gcsfuse/": "GKE",
    "k8s.v1.cni.cncf.io/networks": "Multus",
    "karpenter.sh/do-not-disrupt": "Karpenter",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "Cluster Autoscaler",
}
"""The programs that read keys of pods alone, as labels or annotations, by the beginning of the key."""
NAMES: Final = {key: key.replace("-", "").replace("_", "").lower() for key in KEYS}
"""The keys without what is easily mistaken: hyphens, underscores and case."""
LONGEST: Final = 128


def pod_reader(key: str) -> str:
    """Return the program that reads a key of pods alone; empty for other keys.

    >>> pod_reader("sidecar.istio.io/inject"), pod_reader("istio.io/rev")
    ('Istio', '')
    """
    return next((reader for prefix, reader in OF_PODS.items() if key.startswith(prefix)), "")


def meant_key(key: str) -> str | None:
    """Return the key for which a misspelled one is meant; None if it is a known one, or resembles none.

    >>> meant_key("kueue.x-k8s.io/queuename"), meant_key("kueue.x-k8s.io/queue-nam"), meant_key("kueue.x-k8s.io/new")
    ('kueue.x-k8s.io/queue-name', 'kueue.x-k8s.io/queue-name', None)
    """
    if key in KEYS or key in WITHOUT_PLACE or len(key) > LONGEST:
        return None
    plain = key.replace("-", "").replace("_", "").lower()
    same = (known for known, name in NAMES.items() if name == plain)
    return next(same, None) or next((known for known in KEYS if is_one_edit(key, known)), None)
