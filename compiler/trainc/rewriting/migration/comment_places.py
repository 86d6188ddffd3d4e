"""Put the comments of a legacy job into the documents that replace it.

Reads    the comments, and the new documents with the sources of their fields.
Writes   the comments of the fields of these documents.

A comment goes where its field goes, if that has the same value there; a block may have another one. One at the end of
a block goes to the end of the block. A commented-out field or item goes beside its neighbours in the same block: first
to the field of its name. All other comments, such as those of fields that are gone, are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trainc.rewriting.migration.new_documents import NewField, NewValue
    from trainc.rewriting.migration.source_comments import SourceComment, SourceComments, SourceField, Spot


def place_comments(
    source: SourceComments,
    documents: Iterable[NewValue],
    homes: Mapping[Spot, NewValue],
) -> Iterator[SourceComment]:
    """Add comments to documents, and yield those that are dropped.

    homes   the new blocks of fields that are in another block than their neighbours
    """
    places = _Places(source.fields, documents, homes)
    for comment in source.comments:
        if not places.add(comment):
            places.keep_blank_lines(comment)
            if comment.texts:
                yield comment


class _Places:
    """The fields and the blocks of the new documents, by those of the source."""

    def __init__(
        self, fields: Iterable[SourceField], documents: Iterable[NewValue], homes: Mapping[Spot, NewValue]
    ) -> None:
        self.lines: dict[Spot, int] = {}
        self.last: dict[int, Spot] = {}
        """The last field of each block."""
        self.before: dict[Spot, Spot] = {}
        for field in fields:
            block = id(field.parent)
            self.lines[field.spot] = field.line
            if block in self.last:
                self.before[field.spot] = self.last[block]
            self.last[block] = field.spot
        self.homes = homes
        self.fields: dict[Spot, list[NewField]] = {}
        self.blocks: dict[int, list[NewValue]] = {}
        for document in documents:
            self._register(document)

    def _register(self, value: NewValue) -> None:
        for block in value.blocks if value.fields else ():
            self.blocks.setdefault(block, []).append(value)
        for field in value.fields:
            for source in field.sources:
                self.fields.setdefault(source.spot, []).append(field)
            self._register(field.value)

    def add(self, comment: SourceComment) -> bool:
        """Add a comment to its place, and return whether there is one."""
        spot = None if comment.field is None else comment.field.spot
        if not comment.texts:
            return False
        if comment.place == "inside":
            return any(field.value.is_copied for field in self._new_fields(spot))
        if comment.place == "behind":
            return self._add_behind(comment, spot)
        if comment.commented_out:
            return self._add_commented_out(comment, spot)
        if comment.place == "last":
            return self._add_last(comment, self.blocks.get(id(comment.block), []))
        kept = next((field for field in self._new_fields(spot) if _has_value(field, spot)), None)
        return kept is not None and _add(kept.above, comment)

    def keep_blank_lines(self, comment: SourceComment) -> None:
        """Add the blank lines above a field without a comment, or with one that is dropped."""
        spot = None if comment.field is None else comment.field.spot
        field = next(iter(self._new_fields(spot)), None)
        if field is not None and field.sources[0].spot == spot and field.above[-1:] != [""]:
            field.above += [""] * comment.blanks

    def _new_fields(self, spot: Spot | None) -> list[NewField]:
        return [] if spot is None else self.fields.get(spot, [])

    def _add_last(self, comment: SourceComment, blocks: Sequence[NewValue]) -> bool:
        """Add a comment at the end of a block: below the last field that it has in the source, if that is kept."""
        last = self._in(blocks, self.last.get(id(comment.block)))
        return bool(blocks) and _add(blocks[0].last if last is None else last.below, comment)

    def _add_behind(self, comment: SourceComment, spot: Spot | None) -> bool:
        for field in self._new_fields(spot):
            is_block = bool(field.value.fields)
            if _has_value(field, spot, is_whole=not is_block) and field.behind in ("", *comment.texts):
                field.behind = comment.texts[0]
                return True
        return False

    def _add_commented_out(self, comment: SourceComment, spot: Spot | None) -> bool:
        block, name = comment.block, comment.commented_out
        own = (id(block), name)
        if own in self.lines:
            same = next((field for field in self._new_fields(own) if _has_value(field, own)), None)
            return same is not None and _add(same.above if comment.line < self.lines[own] else same.below, comment)
        if own in self.homes:
            blocks = [self.homes[own]]
        else:
            blocks = [each for each in self.blocks.get(id(block), ()) if name == "-" or each.is_of_pod]
        spots = (spot, None if spot is None else self.before.get(spot)) if comment.place == "above" else (None, None)
        after, before = (self._in(blocks, each) for each in spots)
        if after is not None:
            return _add(after.above, comment)
        return _add(before.below, comment) if before is not None else self._add_last(comment, blocks)

    def _in(self, blocks: Sequence[NewValue], spot: Spot | None) -> NewField | None:
        """Return the new field of an old one in some blocks."""
        return next((field for field in self._new_fields(spot) if any(field.parent is block for block in blocks)), None)


def _has_value(field: NewField, spot: Spot | None, *, is_whole: bool = False) -> bool:
    """Return whether a field has the value of its source, or more fields; without `is_whole`, a block may differ."""
    source = next(each for each in field.sources if each.spot == spot)
    value = field.value.value
    if isinstance(value, dict | list) and not is_whole:
        return isinstance(source.value, type(value))
    return _has_all(value, source.value)


def _has_all(value: Any, old: Any) -> bool:
    if isinstance(value, dict) and isinstance(old, dict):
        return all(key in value and _has_all(value[key], old[key]) for key in old)
    return type(value) is type(old) and bool(value == old)


def _add(lines: list[str], comment: SourceComment) -> bool:
    """Add the lines of a comment that are not there from an equal source."""
    if not set(comment.texts) <= set(lines):
        lines += comment.lines
    return True
