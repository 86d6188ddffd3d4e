"""Foreign files: files whose bytes show that they contain no TrainJob and no runtime.

Reads    the bytes of a file, once, without parsing them.
Returns  whether the file is foreign. A repository holds much other YAML, such as templates that YAML cannot read, and
         trainc does not parse it.

A file is not foreign if it mentions a group or a kind below, or if it may write one of them in other bytes: with an
escape of a double-quoted string, as base64 with the tag `!!binary`, or in UTF-16 or UTF-32. A backslash that hides
nothing, as in `\\n`, leaves a file foreign. Anchors hide no name, because an alias repeats text of its document.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from trainc.base.kinds import COMPILED, DOMAINS, JOBSET, OLD_GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUP: Final = OLD_GROUP.encode()
"""The end of every API group of Trainer and of Training Operator, and of their labels."""
MARKS: Final = (*(domain.encode() for domain in DOMAINS), *(row.kind.encode() for row in (*COMPILED, JOBSET)))
_OF_KUEUE: Final = re.compile(rb"""apiVersion["']?[ \t]{0,20}:\s{0,20}["']?kueue\.x-k8s\.io/""")
"""An object of Kueue's group; a CRD only mentions the group."""
_BESIDE_KUEUE: Final = re.compile(rb"""kind["']?[ \t]{0,20}:\s{0,20}["']?(?:PriorityClass|LimitRange|Namespace)\b""")
"""An object of a kind of Kubernetes that admission by Kueue depends on."""
_DEFAULT_QUEUE: Final = re.compile(rb"""name["']?[ \t]{0,20}:\s{0,20}["']?default\b""")
"""A LocalQueue of this name is the queue of every job in its namespace."""
_START: Final = re.compile(rb"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_IN_LINE: Final = re.compile(rb"[^\r\n]+")
QUEUE_KINDS: Final = ("PriorityClass", "LimitRange", "Namespace")
REFERENCED: Final = ("ConfigMap", "Secret", "PersistentVolumeClaim")
"""The kinds of objects to which pods refer, and the ends of the kinds of which a controller makes a Secret."""
REFERENCED_WORDS: Final = tuple(kind.encode() for kind in REFERENCED)
BYTE_ORDER_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")

_ESCAPE: Final = re.compile(
    rb"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(?:[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])\s*)"
)
"""An escape that yields a letter or a dot, or that joins two lines. No other escape of YAML or JSON can hide a mark."""
_TAG_WITH_ESCAPE: Final = re.compile(rb"(?:^|[\s\[{,:\x85\xa8\xa9\xbf])![^\s!%]*+(?:![^\s!%]*+)?%[0-9A-Fa-f]{2}")
"""A tag, with or without a handle, up to its first escape."""

_STRING: Final = re.compile(rb'"[^"]*+"\s*+:?+')
_NOT_JSON: Final = re.compile(
    rb"""(?:\A|[\s\[\]{},"])(?!(?:-?[0-9][0-9.eE+-]*+|true|false|null)(?:[\s,\]}]|\Z))[^\s\[\]{},"]"""
)
"""The first character of a word that no JSON has; each string, and the colon behind it, is one quote."""


def is_foreign(data: bytes) -> bool:
    """Return whether a file surely contains no TrainJob and no runtime.

    >>> is_foreign(b"kind: Deployment"), is_foreign(b"kind: TrainJob"), is_foreign(rb'kind: "Train\\u004aob"')
    (True, False, False)
    """
    return not may_mention(data, MARKS)


def may_mention(data: bytes, words: Sequence[bytes]) -> bool:
    """Return whether a text mentions one of some words, or may write one of them in other bytes."""
    # A search for each string takes a tenth of the time of one regular expression for all of them.
    if any(word in data for word in words) or b"\0" in data or data.startswith(BYTE_ORDER_MARKS):
        return True
    if b"\\" in data:
        unescaped = _ESCAPE.sub(_unescaped, data)
        if any(word in unescaped for word in words):
            return True
    return b"!" in data and _may_be_binary(data)


def may_be_of_queues(data: bytes) -> bool:
    """Return whether a file may contain objects by which Kueue admits JobSets; one that cannot be read is skipped.

    >>> may_be_of_queues(b"apiVersion: kueue.x-k8s.io/v1beta2"), may_be_of_queues(b"priorityClassName: PriorityClass")
    (True, False)
    """
    return _OF_KUEUE.search(data) is not None or _BESIDE_KUEUE.search(data) is not None


def names_queue(text: bytes) -> bool:
    """Return whether a job, or a document that changes one, may name a queue or a priority.

    >>> names_queue(b"labels: {kueue.x-k8s.io/queue-name: a}"), names_queue(b"priorityClassName: high")
    (True, True)
    """
    return b"kueue.x-k8s.io" in text or b"riorityClass" in text


def has_default_queue(data: bytes) -> bool:
    """Return whether a file may have a LocalQueue for the jobs that name none."""
    return _OF_KUEUE.search(data) is not None and _DEFAULT_QUEUE.search(data) is not None


def documents_of_queues(data: bytes, *, all_kinds: bool) -> bytes:
    """Return a file with empty lines in place of each document that is no object of Kueue.

    >>> text = b"kind: Namespace\\n---\\napiVersion: kueue.x-k8s.io/v1beta2\\n---\\na: 1\\n"
    >>> documents_of_queues(text, all_kinds=False)
    b'\\n---\\napiVersion: kueue.x-k8s.io/v1beta2\\n\\n\\n'

    all_kinds   whether to keep those of the kinds of Kubernetes, too
    """
    if data.startswith(b"%") or b"\n%" in data:
        return data  # a directive is about the document below it
    starts = [0, *(match.start() for match in _START.finditer(data)), len(data)]
    parts = (data[start:end] for start, end in pairwise(starts))
    return b"".join(
        part if _OF_KUEUE.search(part) or (all_kinds and _BESIDE_KUEUE.search(part)) else _IN_LINE.sub(b"", part)
        for part in parts
    )


def _unescaped(match: re.Match[bytes]) -> bytes:
    digits = match[1] or match[2] or match[3]
    code = int(digits, 16) if digits else None
    return b"" if code is None else bytes((code,)) if code < 0x80 else b"?"


def _may_be_binary(data: bytes) -> bool:
    """Whether a value may have the tag `!!binary`, however the tag is written. Strings of JSON have no tags."""
    has_tag = b"!!binary" in data or b"!<" in data or b"%TAG" in data
    if not has_tag and b"%" in data:
        has_tag = _TAG_WITH_ESCAPE.search(data) is not None
    return has_tag and not _is_json(data)


def _is_json(data: bytes) -> bool:
    """Whether a text may be JSON, which has no tags: its quoted strings start where YAML's do, too."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(rb"\\", b"\0\0").replace(rb"\"", b"\0\0")
    return text.count(b'"') % 2 == 0 and _NOT_JSON.search(_STRING.sub(b'"', text)) is None
