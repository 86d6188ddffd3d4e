"""Labels and annotations: of a pod template, of a Job, and the labels that selectors ask for.

Reads    a mapping of strings.
Adds     violations whose paths have the key, and whose field is the mapping's, as the cluster spells it.
Source   Kubernetes 1.36: the validation of metadata, and of label selectors.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.validation.findings import Findings, field_of
from trainc.kubernetes.violations import ANNOTATIONS_TOO_BIG, INVALID_ANNOTATION, INVALID_LABEL

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At

_MOST_BYTES: Final = 256 * 1024
_ENDS: Final = "use letters, digits, `-`, `_` and `.`, the first and the last a letter or a digit"
GENERATED: Final = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")
"""The labels that the API server gives the pods of a Job, to find them again."""
_NONE_SUCH: Final = (
    "no label can have this value, so nothing would be found by it; write it as those that are meant have it"
)


@lru_cache(maxsize=1024)
def good_key(key: str) -> bool:
    """Whether a text can be the key of a label. The same few keys are in all pods."""
    from trainc.kubernetes import names

    return not names.is_qualified_name(key)


@lru_cache(maxsize=1024)
def good_value(value: str) -> bool:
    """Whether a text can be the value of a label."""
    from trainc.kubernetes import names

    return not names.is_label_value(value)


def labels(found: Findings, at: At, values: dict[str, str], *, field: str = "", selected: str = _NONE_SUCH) -> None:
    """Keys and values of labels; without `field`, of those that a selector asks for, with its way out."""
    for key, value in values.items():
        if not good_key(key):
            from trainc.kubernetes.validation import complaints

            complaints.bad_key(found, (at, key), key, declared=INVALID_LABEL, field=field or field_of(at), key=True)
        if not good_value(value):
            way_out = f"{_ENDS}; or make it an annotation" if field else selected
            bad_value(found, (at, key), value, key, field=field or field_of(at), help=way_out)


def bad_value(found: Findings, at: At, value: str, name: str, *, field: str = "", help: str = _NONE_SUCH) -> None:
    """A text that can be no label's value; `name` is what the sentence calls it."""
    from trainc.kubernetes import misnamed
    from trainc.kubernetes.structural.remedies import shortened, shown

    message = f"{shortened(name)} is {shown(value)}, which {misnamed.fault(value, misnamed.QUALIFIED, 63)}"
    found.complain(INVALID_LABEL, at, message, help, field=field)


def annotation_keys(found: Findings, at: At, values: dict[str, str], *, field: str = "") -> None:
    """The keys of annotations, and how much all of them take."""
    for key in values:
        if not good_key(key.lower()):
            from trainc.kubernetes.validation import complaints

            complaints.bad_key(
                found, (at, key), key, declared=INVALID_ANNOTATION, field=field or field_of(at), key=True
            )
    # A character takes four bytes at most, so hardly any annotations have to be encoded.
    if 4 * sum(map(len, [*values, *values.values()])) > _MOST_BYTES:
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in [*values, *values.values()])
        if size > _MOST_BYTES:
            message = f"the annotations take {size} bytes, and may take {_MOST_BYTES}"
            found.complain(ANNOTATIONS_TOO_BIG, at, message, "put the data into a ConfigMap", field=field)
