"""The labels and annotations that queues, schedulers and injectors read: each key, its field, and where it is read.

Reads    schemas/scheduling-keys.json; a key of a JobSet, a Job template or a pod template.
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

from trainc.base.data import data_table
from trainc.base.records import NamedTuple
from trainc.base.suggestions import is_one_edit

if TYPE_CHECKING:
    from collections.abc import Mapping

Field = Literal["labels", "annotations"]
Holder = Literal["JobSet", "Job", "pod"]
"""An object with metadata: the JobSet, a Job template or a pod template."""

KUEUE: Final = "kueue.x-k8s.io/"
VOLCANO: Final = "scheduling.volcano.sh/"
KAI: Final = "kai.scheduler/"


class SchedulingKey(NamedTuple):
    """Where a key is read."""

    reader: str
    """The program that reads it."""
    field: Field
    holders: tuple[Holder, ...]


QUEUES: Final = frozenset({KUEUE + "queue-name", VOLCANO + "queue-name", KAI + "queue"})
"""The keys with the name of a queue."""
_TABLE: Final = data_table("scheduling-keys")
KEYS: Final = {
    key: SchedulingKey(reader, field, (*holders,)) for key, (reader, field, holders) in _TABLE["keys"].items()
}
"""The keys that users set."""
WITHOUT_PLACE: Final = frozenset(_TABLE["withoutPlace"])
"""The other keys of these programs, at which nothing is reported."""
OF_PODS: Final[Mapping[str, str]] = _TABLE["ofPods"]
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
