"""YamlError: an error in a YAML text, with its position and a hint; and the messages for errors of a document.

`parser_messages` has those for errors of the parser. A message quotes keys and anchors, but no value, which may be a
secret.
"""

from __future__ import annotations

from typing import Final

from trainc.kubernetes.documents.scalars import shorten

Message = tuple[str, str]
"""The message, a sentence without a full stop, and the hint or ""."""
NOT_FINITE: Final[Message] = (
    "infinity and NaN are not valid: Kubernetes stores objects as JSON",
    "quote the value",
)
NOT_MERGEABLE: Final[Message] = (
    "`<<` requires a mapping, an alias of one, or a list of these",
    'quote it to use it as a key: "<<"',
)
SECOND_DOCUMENT: Final[Message] = (
    "text after the end of this document would be lost: kubectl does not read it",
    "put `---` on its own line between documents, and remove the `...`",
)
UNKNOWN_ALIAS: Final[Message] = (
    "this alias has no anchor before it",
    "quote a value that starts with `*`, or define the anchor with `&` earlier in the same document",
)
"""An alias without an anchor, which is often an unquoted glob."""
WRONG_VERSION: Final[Message] = ("Kubernetes reads only YAML 1.1", "remove the %YAML line")


class YamlError(Exception):
    """A text that cannot be read.

    message   the error, a sentence without a full stop
    line      1-based line in the text, 0 if unknown
    column    1-based column in characters, 0 if unknown
    help      the hint, or ""
    since     the line of the conflicting text, with which the message ends; 0 if there is none
    document  the text of the document that is lost
    """

    def __init__(self, what: str, *, line: int = 0, column: int = 0, help: str = "", since: int = 0) -> None:
        self.message = f"{what} on line {since}" if since else what
        super().__init__(self.message)
        self.what = what
        self.line = line
        self.column = column
        self.help = help
        self.since = since
        self.document = ""

    def losing(self, document: str) -> YamlError:
        """Set the text of the document that is lost; return the error."""
        self.document = document
        return self

    @classmethod
    def at(cls, text: str, index: int, what: str, *, help: str = "", since: int = 0) -> YamlError:
        """Return the error at an index in the text."""
        line, column = place(text, index)
        return cls(what, line=line, column=column, help=help, since=since)


def place(text: str, index: int) -> tuple[int, int]:
    """Return the 1-based line and column of a character, as editors count them: a byte order mark has no column."""
    index = min(max(index, 0), len(text))
    begin = text.rfind("\n", 0, index) + 1
    invisible = begin == 0 and index > 0 and text.startswith("\ufeff")
    return text.count("\n", 0, index) + 1, index - begin + 1 - invisible


def complex_key(opening: str) -> Message:
    """Return the message for a list or mapping as a key; `opening` is its first character and the one before it."""
    if opening == "{{":
        return (
            "`{{` starts a template placeholder, which YAML reads as a mapping in a mapping",
            "render the template first, or quote the placeholder",
        )
    return "a list or mapping cannot be a key", "quote a key or value that starts with `[` or `{`"


def endless_alias(name: str) -> Message:
    """Return the message for an alias inside the value of its own anchor."""
    return f"the value of the anchor &{shorten(name)} contains itself", "replace the alias with a value"


def bomb(nodes: int) -> Message:
    """Return the message for aliases that expand a text too far."""
    return (
        f"aliases expand this document to {nodes} values: Kubernetes rejects such expansions",
        "replace aliases with values",
    )


def too_deep(deepest: int) -> Message:
    """Return the message for collections that are nested too deeply."""
    return f"lists and mappings are nested more than {deepest} levels deep", ""


def too_many(most: int) -> Message:
    """Return the message for a document with too many values, which would take too long to read."""
    return f"the document has more than {most} keys and values", "split it"


def too_many_aliases(most: int) -> Message:
    """Return the message for a document with too many aliases."""
    return f"the document has more than {most} aliases", "split it"


def invalid_key(value: object) -> Message:
    """Return the message for a key that JSON cannot represent."""
    what = "a key is missing or null" if value is None else f"the integer {value} is too large for a key"
    return what, "quote the key"


def wrong_tag(what: str) -> Message:
    """Return the message for a value that does not match its tag."""
    return what, "correct the value, or remove its tag"


def duplicate(key: str, written: str) -> Message:
    """Return the message for a duplicate key; the caller appends the line of the first one."""
    as_written = "" if written.strip("\"'") == key else f", written {shorten(written)},"
    help = "remove one of them: kubectl silently uses the last one"
    if key == "apiVersion":
        help = "put `---` on its own line between documents, or remove one of the keys"
    return f'the key "{shorten(key)}"{as_written} is already set', help


def merged_twice(key: str) -> Message:
    """Return the message for a key that two merges set."""
    return (
        f'two merged mappings set the key "{shorten(key)}"',
        "set the key in the mapping itself, and in only one of the merged mappings",
    )


def late_merge(key: str) -> Message:
    """Return the message for a merge that would override an earlier key; the caller appends the key's line."""
    return (
        f'`<<` would override the key "{shorten(key)}", which is set',
        "move `<<` before the other keys: the mapping's own keys then take precedence",
    )
