"""YAML and JSON documents, read exactly as the API server and kubectl read them, with all errors of a file at once.

Reads bytes or text; returns JSON values (dicts with string keys, lists, strings, ints, floats, bools and None), which
may share parts and must not be modified.
Source: sigs.k8s.io/yaml 1.6.0 (strict) and k8s.io/apimachinery 0.36 (util/yaml); verified against their recorded
answers. Deliberate difference: nothing is dropped silently, such as a duplicate key or text after a document's end.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

from trainc.base.records import NamedTuple
from trainc.kubernetes.documents.composer import compose
from trainc.kubernetes.documents.streams import LARGEST, MOST, Chunk, decode, split, too_large, too_many
from trainc.kubernetes.documents.yamlerror import YamlError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Chunk", "Document", "YamlError", "parse", "read_stream", "split"]

DEEPEST: Final = 100
"""Maximum nesting depth of lists and mappings in a manifest, with aliases resolved."""
_DEEPEST_IN_GO: Final = 10_000
_MOST_DIRECTIVES: Final = 1000
"""Maximum %TAG directives in a document: libyaml compares each one with all earlier ones."""
_MARK_WITHIN: Final = "(?<=[\n\r\x85\u2028\u2029])\ufeff"
_DIRECTIVE: Final = "(?:^|(?<=[\n\r\x85\u2028\u2029]))%TAG"
_WHITE: Final = " \t\r\n"
_FEW: Final = 5
"""The number of documents that the composer reads in the time it takes to compile the pattern of `blocks`."""
_PARSED: Final = count()
"""Counts the documents that this process has read."""
_NONE: Final[Mapping[str, Any]] = {}


class ParsedDocument(NamedTuple):
    """A document of a file: its JSON value, and the text from which it was read."""

    chunk: Chunk
    value: Any


def parse(text: str | bytes) -> Any:
    """Return the JSON value of a text's first document, as sigs.k8s.io/yaml reads it strictly; None if there is none.

    Raises YamlError, also for NaN and infinity, which JSON cannot represent.

    >>> parse("{cpu: 1e3, mode: 0400, on: 1_000, time: 12:30}")
    {'cpu': 1000, 'mode': 256, 'true': 1000, 'time': '12:30'}
    """
    return _parse(decode(text) if isinstance(text, bytes) else text, deepest=_DEEPEST_IN_GO, sole=False)


def read_stream(data: bytes | str, known: Mapping[str, Any] = _NONE) -> tuple[list[ParsedDocument], list[YamlError]]:
    """Return the non-empty documents of a file, and the errors of the others, with their lines in the file.

    A document that starts with `{` is read as JSON if it is valid JSON; several objects may then follow one another.
    A file with more than 50,000 documents is rejected as a whole. `known` has the values of documents by their text.
    """
    documents: list[ParsedDocument] = []
    try:
        chunks, errors = split(data)
        for chunk in chunks:
            _read_chunk(chunk, documents, errors, known)
            if len(documents) > MOST:  # JSON objects may follow one another without a separator
                raise too_many().losing(decode(data) if isinstance(data, bytes) else data)
    except YamlError as error:
        return [], [error]
    errors.sort(key=lambda error: (error.line, error.column))
    return documents, errors


def _parse(text: str, *, deepest: int = DEEPEST, sole: bool = True) -> Any:
    if next(_PARSED) > _FEW:
        from trainc.kubernetes.documents import blocks

        value = blocks.read(text)
        if value is not blocks.UNREAD:
            return value
    if len(text) > LARGEST or (len(text) > LARGEST // 4 and len(text.encode(errors="surrogatepass")) > LARGEST):
        raise too_large(1)
    text = text.removeprefix("\ufeff")
    if "\ufeff" in text:
        _reject_byte_order_marks(text)
    if text.count("%TAG") > _MOST_DIRECTIVES:
        _reject_directives(text)
    return compose(text, deepest=deepest, sole=sole)


def _reject_byte_order_marks(text: str) -> None:
    """Reject marks that libyaml drops, but Go includes in the key or value that follows."""
    import re

    if mark := re.search(_MARK_WITHIN, text):
        raise YamlError.at(
            text, mark.start(), "a byte order mark is not allowed at the start of a line", help="remove it"
        )


def _reject_directives(text: str) -> None:
    import re
    from itertools import islice

    for directive in islice(re.finditer(_DIRECTIVE, text), _MOST_DIRECTIVES, None):
        what = f"the document has more than {_MOST_DIRECTIVES} %TAG directives"
        raise YamlError.at(text, directive.start(), what, help="write the tags in full")


def _read_chunk(
    chunk: Chunk, documents: list[ParsedDocument], errors: list[YamlError], known: Mapping[str, Any]
) -> None:
    """Add a chunk's documents (JSON objects first, then YAML) and its error, at which reading stops."""
    rest, follows_json = chunk, False
    if chunk.text.lstrip(_WHITE).startswith("{"):
        from trainc.kubernetes.documents.jsonobjects import leading_objects

        objects, object_errors, rest, follows_json = leading_objects(chunk, deepest=DEEPEST, most=MOST + 1)
        documents.extend(ParsedDocument(part, value) for part, value in objects)
        errors.extend(object_errors)
    try:
        value = known[rest.text] if rest.text in known else _parse(rest.text)
        if value is not None and follows_json:
            raise YamlError(
                "only another JSON object may follow a JSON object",
                help="put `---` on its own line between the documents",
            )
    except YamlError as error:
        errors.append(rest.error_in_file(error))
    else:
        if value is not None:
            documents.append(ParsedDocument(rest, value))
