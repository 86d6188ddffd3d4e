"""The words for what a YAML document is refused for once its parser has accepted it: what is wrong, and the way out."""

from __future__ import annotations

from typing import Final

from trainc.kubernetes.documents.scalars import shorten

Message = tuple[str, str]
"""What is wrong, in a sentence without a full stop, and the way out, or ""."""

NOT_FINITE: Final[Message] = (
    "JSON, in which Kubernetes keeps objects, has no infinity and no NaN",
    "put the value in quotes",
)
NOT_MERGEABLE: Final[Message] = (
    "`<<` takes a mapping, an alias of one, or a list of these",
    'write "<<" in quotes for a key',
)
SECOND_DOCUMENT: Final[Message] = (
    "what follows the end of this document would be lost: kubectl reads no further",
    "put `---` on a line of its own between two documents, and remove the `...`",
)
WRONG_VERSION: Final[Message] = ("Kubernetes reads YAML 1.1 only", "remove the line with %YAML")


def complex_key(opening: str) -> Message:
    """A list or mapping as a key; `opening` is its first character with the one before it."""
    if opening == "{{":
        return (
            "`{{` begins a template's placeholder, which YAML takes for a mapping in a mapping",
            "render the template first, or put the placeholder in quotes",
        )
    return "a list or mapping cannot be a key", "put quotes around a key or value that begins with `[` or `{`"


def unknown_alias(name: str) -> Message:
    """An alias of no anchor: often a glob without quotes."""
    return (
        f"the alias *{shorten(name)} refers to no anchor before it",
        "put quotes around a value that begins with `*`, or define the anchor with `&` in the same document",
    )


def endless_alias(name: str) -> Message:
    """An alias within the value of its own anchor."""
    return f"the value of the anchor &{shorten(name)} contains itself", "write the value out"


def bomb(nodes: int) -> Message:
    """Aliases that blow a text up."""
    return (
        f"aliases make this document {nodes} values large: Kubernetes refuses such expansions",
        "write the values out, or use fewer aliases",
    )


def too_deep(deepest: int) -> Message:
    """Collections in collections in collections."""
    return f"lists and mappings are nested more than {deepest} deep", ""


def too_many(most: int) -> Message:
    """A document that is short, and yet would take long."""
    return f"the document holds more than {most} keys and values", "split it"


def too_many_aliases(most: int) -> Message:
    """The same, of aliases alone."""
    return f"the document holds more than {most} aliases", "split it"


def unspeakable_key(value: object) -> Message:
    """A key that JSON has no words for."""
    what = "a key is missing or null" if value is None else f"the integer {value} is too large for a key"
    return what, "put the key in quotes"


def wrong_tag(what: str) -> Message:
    """A value that is not what its tag says."""
    return what, "correct the value, or remove the tag before it"


def duplicate(key: str, written: str) -> Message:
    """A key that is set already; the sentence goes on with the line on which it is."""
    spelled = "" if written.strip("\"'") == key else f", written {shorten(written)},"
    way_out = "remove one of the two: kubectl would take the last without a word"
    if key == "apiVersion":
        way_out = "put `---` on a line of its own between two documents, or remove one of the two"
    return f'the key "{shorten(key)}"{spelled} is already set', way_out


def merged_twice(key: str) -> Message:
    """A key that two merges set."""
    return (
        f'two of the merged mappings set the key "{shorten(key)}"',
        "set the key in the mapping itself, and in only one of those merged",
    )


def late_merge(key: str) -> Message:
    """A merge after a key that it would override; the sentence goes on with the line of the key."""
    return (
        f'`<<` would override the key "{shorten(key)}", which is set',
        "write `<<` as the first key: then the mapping's own keys win everywhere",
    )
