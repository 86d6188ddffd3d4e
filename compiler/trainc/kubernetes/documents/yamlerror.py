"""YamlError: an error in a YAML text, with its position and a hint."""

from __future__ import annotations


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
