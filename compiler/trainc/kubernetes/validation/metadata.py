"""The API server's rules for the labels and annotations of pod templates and Jobs, and for selected labels.

Reads    a mapping of strings.
Adds     violations whose paths include the key, and whose field is that of the mapping, as in the API server's errors.
Source   Kubernetes 1.36: the validation of metadata, and of label selectors.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from trainc.kubernetes.validation.combinators import PodViolations, field_of
from trainc.kubernetes.violations import ANNOTATIONS_TOO_BIG, INVALID_ANNOTATION, INVALID_LABEL, shortened, shown

if TYPE_CHECKING:
    from trainc.kubernetes.trees import At

_MAX_BYTES: Final = 256 * 1024
_LABEL_FORM: Final = "use letters, digits, `-`, `_` and `.`, and start and end with a letter or digit"
GENERATED: Final = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")
"""The labels that the API server adds to a Job's pods for the Job's selector."""
_NO_MATCH: Final = "use the value of an existing label; no object can have this one"


@lru_cache(maxsize=1024)
def good_key(key: str) -> bool:
    """Return whether a text is a valid label key. Results are cached: pods share the same few keys."""
    from trainc.kubernetes import names

    return not names.qualified_name_errors(key)


@lru_cache(maxsize=1024)
def good_value(value: str) -> bool:
    """Return whether a text is a valid label value."""
    from trainc.kubernetes import names

    return not names.label_value_errors(value)


def labels(
    violations: PodViolations, at: At, values: dict[str, str], *, field: str = "", selected: str = _NO_MATCH
) -> None:
    """Check label keys and values; without `field`, those that a selector matches, for which `selected` is the help."""
    for key, value in values.items():
        if not good_key(key):
            violations.bad_key((at, key), key, declared=INVALID_LABEL, field=field or field_of(at), key=True)
        if not good_value(value):
            help = f"{_LABEL_FORM}; or make it an annotation" if field else selected
            bad_value(violations, (at, key), value, key, field=field or field_of(at), help=help)


def bad_value(
    violations: PodViolations, at: At, value: str, name: str, *, field: str = "", help: str = _NO_MATCH
) -> None:
    """Report an invalid label value; `name` is the field or label name in the message."""
    from trainc.kubernetes import names

    fault = names.fault(value, names.QUALIFIED, 63)
    message = f"invalid label value for {shortened(name)}: {shown(value)} {fault}"
    violations.report(INVALID_LABEL, at, message, help, field=field)


def annotation_keys(violations: PodViolations, at: At, values: dict[str, str], *, field: str = "") -> None:
    """Check annotation keys and the total size of the annotations."""
    for key in values:
        if not good_key(key.lower()):
            violations.bad_key((at, key), key, declared=INVALID_ANNOTATION, field=field or field_of(at), key=True)
    # A character has at most four bytes, so the annotations rarely have to be encoded.
    if 4 * sum(map(len, [*values, *values.values()])) > _MAX_BYTES:
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in [*values, *values.values()])
        if size > _MAX_BYTES:
            message = f"the annotations take {size} bytes; the limit is {_MAX_BYTES}"
            violations.report(ANNOTATIONS_TOO_BIG, at, message, "move the data to a ConfigMap", field=field)
