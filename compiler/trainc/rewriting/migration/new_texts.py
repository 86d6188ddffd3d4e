"""The texts of TrainJobs and runtimes: each field keeps the comments, the quotes and the style of its source.

Reads    the text of a legacy job, and the values of the TrainJob and the runtime that replace it.
Returns  their texts. A comment moves with its field; those of fields that are gone are above the TrainJob's spec. A
         text that does not have its value is written again, without comments.
Source   ruamel.yaml reads and writes the texts. This module and `source_comments` alone import it.
"""

from __future__ import annotations

from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString, SingleQuotedScalarString

from trainc.base.kinds import JOBS_OF_RUNTIME, POD
from trainc.emit.yaml import Writer, inline
from trainc.kubernetes.documents import YamlError, parse
from trainc.kubernetes.trees import get
from trainc.rewriting.migration.notes import annotate, of_job, of_runtime
from trainc.rewriting.migration.source_comments import SourceComments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainc.kubernetes.trees import Path, Tree
    from trainc.rewriting.migration.migrated import Migrated

    Source = Callable[[Path], Path | None]
    """Returns the path in the legacy job of a field of a new document; None for a field without a source."""

WIDTH: Final = 1 << 16
"""No line is folded."""
UNREADABLE: Final = (YAMLError, ValueError)
"""The exceptions of ruamel.yaml for a text that it does not read, such as one with a date that does not exist."""
STEP: Final = 2
LONG: Final = 24
"""A list of more numbers is on one line."""
_ENTRY: Final = ("image", "command", "args", "env")


class NewTexts:
    """The texts of the documents that replace a legacy job."""

    def __init__(self, migrated: Migrated) -> None:
        self.migrated = migrated
        self.plan = migrated.runs[0].before.plan
        document = migrated.document
        root: Any = None
        try:
            root = round_trip().load(document.text)
        except UNREADABLE:
            root = None  # a text that only the parser of trainc reads, such as one with tabs: it has no comments
        self.root = at_path(root, document.within)
        self.comments = SourceComments(self.root)

    def runtime(self) -> str:
        """Return the text of the runtime."""
        tree, runtime = self._tree_of_runtime(), self.migrated.candidate.runtime
        annotate(tree, of_runtime(runtime))
        return _checked(tree, runtime, [])

    def job(self) -> str:
        """Return the text of the TrainJob; it has the comments of the fields that neither document has."""
        value = self.migrated.candidate.job
        sources = self._sources_of_job()

        def source(path: Path) -> Path | None:
            for length in range(len(path), 0, -1):
                if (found := sources.get(path[:length])) is not None:
                    return (*found, *path[length:])
            return None

        self._tree_of_runtime()  # its comments are not lost
        built = _Builder(self.root, self.comments, source)
        tree = built.mapping(value, (), 0)
        annotate(tree, of_job(value, self.migrated.candidate.counts))
        lost = [*self.comments.unused_texts()]
        if lost:
            above = self.comments.above.get((id(self.root), "spec"), [])
            tree.yaml_set_comment_before_after_key("spec", before="\n".join([*above, *lost]), indent=0)
        return _checked(tree, value, self.comments.last)

    def _tree_of_runtime(self) -> CommentedMap:
        builder = _Builder(self.root, self.comments, cache(self._source_of_runtime))
        return builder.mapping(self.migrated.candidate.runtime, (), 0)

    def _source_of_runtime(self, path: Path) -> Path | None:
        """Return the path in the job of a field of the runtime: that of the same field in the job's own runtime."""
        if path[:2] == ("spec", "mlPolicy") and len(path) > 3:
            path = (*path[:2], self.plan.runtime.framework, *path[3:])
        elif path[: len(JOBS_OF_RUNTIME)] != JOBS_OF_RUNTIME:
            return None
        return self.plan.runtime.at(*path).written_path

    def _sources_of_job(self) -> dict[Path, Path]:
        found: dict[Path, Path] = {(key,): (key,) for key in ("apiVersion", "kind", "metadata")}
        for key in ("suspend", "activeDeadlineSeconds"):
            found["spec", key] = self.plan.job.at("spec", key).written_path
        slot = self.migrated.candidate.trainer
        if slot is None:
            return found
        container = self.plan.runtime.at(*JOBS_OF_RUNTIME, slot.job, *POD, slot.containers, slot.at).written_path
        found |= {("spec", "trainer", key): (*container, key) for key in _ENTRY}
        found["spec", "trainer", "resourcesPerNode"] = (*container, "resources")
        last = len(self.plan.jobs) - 1
        count = (*JOBS_OF_RUNTIME, last, "template", "spec", "completions")
        found["spec", "trainer", "numNodes"] = self.plan.runtime.at(*count).written_path
        return found


class _Builder:
    """Builds a document from its value, with the comments and the style of the source of each field."""

    def __init__(self, root: Any, comments: SourceComments, source: Source) -> None:
        self.root, self.comments, self.source = root, comments, source
        self._written: set[tuple[int, Any]] = set()
        """The fields whose comments the document has: a field can be the source of several."""

    def mapping(self, value: Mapping[str, Any], path: Path, column: int, beside: Any = None) -> CommentedMap:
        """Return a mapping.

        beside   its source, if it is not at the path that `source` returns
        """
        known = self._node(path) if beside is None else beside
        source = known if isinstance(known, CommentedMap) else None
        result = CommentedMap()
        if source is not None and source.fa.flow_style():
            result.fa.set_flow_style()
        for key, child in value.items():
            inner = source.get(key) if source is not None and key in source else self._node((*path, key))
            holder = (source, key) if source is not None and key in source else self._holder(child, (*path, key))
            result[key] = self._value(child, (*path, key), inner, column + (STEP if isinstance(child, dict) else 0))
            self._comment(result, key, holder, column)
        return result

    def _value(self, value: Any, path: Path, source: Any, column: int) -> Any:
        if isinstance(value, dict):
            return self.mapping(value, path, column, source) if value else _flow(CommentedMap())
        if isinstance(value, list):
            return self._items(value, path, source, column) if value else _flow(CommentedSeq())
        return _scalar(value, source)

    def _items(self, value: list[Any], path: Path, source: Any, column: int) -> CommentedSeq:
        result, known = CommentedSeq(), source if isinstance(source, CommentedSeq) else CommentedSeq()
        is_long = len(value) > LONG and all(isinstance(item, int) for item in value)
        if is_long or (source is not None and known.fa.flow_style()):
            result.fa.set_flow_style()
        for index, item in enumerate(value):
            at = _index_in(known, item, index, len(value))
            inner = None if at is None else known[at]
            result.append(self._value(item, (*path, index), inner, column + STEP))
            holder = self._holder(item, (*path, index)) if at is None else (known, at)
            self._comment(result, index, holder, column)
        return result

    def _holder(self, value: Any, path: Path) -> tuple[Any, Any] | None:
        """Return the mapping that has the source of a field, and its key there; None if it is no value of its kind."""
        found = self.source(path)
        if not found:
            return None
        parent = at_path(self.root, found[:-1])
        if not (isinstance(parent, CommentedMap) and found[-1] in parent):
            return None
        is_same = isinstance(value, dict | list) == isinstance(parent[found[-1]], dict | list)
        return (parent, found[-1]) if is_same else None

    def _node(self, path: Path) -> Any:
        found = self.source(path)
        return None if found is None else at_path(self.root, found)

    def _comment(self, result: Any, key: Any, holder: tuple[Any, Any] | None, column: int) -> None:
        if holder is None:
            return
        spot = id(holder[0]), holder[1]
        if spot in self._written:
            return
        self._written.add(spot)
        above, behind = self.comments.above.get(spot), self.comments.behind.get(spot)
        self.comments.used.add(spot)
        if above:
            result.yaml_set_comment_before_after_key(key, before="\n".join(above), indent=column)
        if behind and not result.fa.flow_style():
            result.yaml_add_eol_comment(behind, key)


def _index_in(known: CommentedSeq, item: Any, index: int, length: int) -> int | None:
    """Return the index of the source of an item: the one with its name, else the one at its place."""
    name = item.get("name") if isinstance(item, dict) else None
    if name is not None:
        named = next((at for at, each in enumerate(known) if isinstance(each, dict) and each.get("name") == name), None)
        if named is not None:
            return named
    return index if len(known) == length else None


def _scalar(value: Any, source: Any) -> Any:
    """Return a scalar in the style of its source, if it is the same."""
    if isinstance(source, type(value)) and not isinstance(source, bool) and source == value:
        return source
    if not isinstance(value, str):
        return value
    if "\n" in value and value.strip() and not value.startswith((" ", "\n")):
        return LiteralScalarString(value)
    if not inline(value).startswith(('"', "'")):
        return value
    is_json = '"' in value and "'" not in value and value.isprintable()
    return SingleQuotedScalarString(value) if is_json else DoubleQuotedScalarString(value)


def _flow(node: Any) -> Any:
    node.fa.set_flow_style()
    return node


def at_path(node: Any, path: Path) -> Any:
    """Return the part of a tree of ruamel.yaml at a path; None if there is none."""
    for step in path:
        if (isinstance(node, CommentedMap) and step in node) or (
            isinstance(node, CommentedSeq) and isinstance(step, int) and step < len(node)
        ):
            node = node[step]
        else:
            return None
    return node


def round_trip() -> YAML:
    """Return a reader and writer that keeps comments, quotes and styles."""
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = WIDTH
    yaml.indent(mapping=STEP, sequence=STEP, offset=0)
    return yaml


def _checked(tree: CommentedMap, value: Tree, last: list[str]) -> str:
    """Return the text of a document; without comments if its style cannot be kept."""
    stream = StringIO()
    round_trip().dump(tree, stream)
    text = stream.getvalue() + "".join(f"# {line}\n" for line in last)
    try:
        if get(parse(text), ()) == value:
            return text
    except YamlError:
        pass
    return Writer().document(value)
