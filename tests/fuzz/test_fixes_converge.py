"""`make fuzz`: after `validate --fix`, a second run changes nothing, no comment has left its line, and no error is new.

An input is a golden input, or, with TRAINC_CORPUS, a public TrainJob, with comments beside and above its fields, as it
is or with CRLF. It has a mistake in one key or value, or some fields stand in the mapping above their own, or a mapping
is an item of a list, or a list is one string. `make test` runs only a few examples.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batches import drawn_apart
from fuzz.test_fixes_of_mutations import EXAMPLES, chunks, inputs, mistakes, nodes
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from running import run

from trainc.source.source_text import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    Text,
    TextField,
    TextNode,
    indentation,
    shifted,
)

SEEN: Counter[str] = Counter()
"""How many documents were changed, by mistake; printed with `pytest -s`."""
COMMENT = re.compile(r"# c\d+$")
OF_LISTS = re.compile(r"^- |[\[\]\"' ]")
"""What the fix of a list adds or removes."""
NAME = re.compile(r"[A-Za-z][\w.-]*")


def fields(node: TextNode) -> Iterator[TextField]:
    """Yield the fields of block mappings."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if not node.flow_style:
                yield TextField(key, value, flow=False)
            yield from fields(value)
    for item in node.value if isinstance(node, SequenceNode) else ():
        yield from fields(item)


def commented(text: str, chance: random.Random) -> str:
    """Return a text with comments beside and above some of its fields."""
    parts, end = [], 0
    number = 0
    for begin, part in chunks(text):
        read = Text(part)
        lines = list(read.lines)
        heads = {int(found.key.start_mark.line): found for found in fields(read.root) if found.key is not None}
        for line in sorted(heads, reverse=True):
            found = heads[line]
            key = found.key
            assert key is not None
            is_one_line = found.value.end_mark.line == line or isinstance(found.value, MappingNode | SequenceNode)
            is_block = isinstance(found.value, ScalarNode) and found.value.style in ("|", ">")
            if is_one_line and not is_block and "#" not in lines[line] and chance.random() < 0.2:
                lines[line] += f"  # c{number}"
                number += 1
            if lines[line][: key.start_mark.column].strip() == "" and chance.random() < 0.2:
                lines.insert(line, f"{' ' * int(key.start_mark.column)}# c{number}")
                number += 1
        parts += [text[end:begin], "\n".join(lines)]
        end = begin + len(part)
    return "".join([*parts, text[end:]])


def lifted(part: str, chance: random.Random) -> str | None:
    """Return a document in which the fields of a mapping are beside it, and it is gone."""
    read = Text(part)
    found = [
        each
        for each in fields(read.root)
        if isinstance(each.value, MappingNode) and not each.value.flow_style and each.value.start_mark.column > 2
    ]
    if not found:
        return None
    field = chance.choice(found)
    assert field.key is not None
    first, last = int(field.key.start_mark.line), read.last_line(field)
    by = int(field.key.start_mark.column) - int(field.value.start_mark.column)
    if by >= 0 or read.lines[first][: field.key.start_mark.column].strip():
        return None
    return "\n".join([*read.lines[:first], *shifted(read.lines[first + 1 : last + 1], by), *read.lines[last + 1 :]])


def in_list(part: str, chance: random.Random) -> str | None:
    """Return a document in which a mapping is the item of a list."""
    read = Text(part)
    found = [each for each in fields(read.root) if isinstance(each.value, MappingNode) and not each.value.flow_style]
    if not found:
        return None
    field = chance.choice(found)
    assert field.key is not None
    first, start, last = int(field.key.start_mark.line), int(field.value.start_mark.line), read.last_line(field)
    if start <= first:
        return None
    column = int(field.value.start_mark.column)
    lines = [f"{' ' * column}- {read.lines[start][column:]}", *shifted(read.lines[start + 1 : last + 1], 2)]
    return "\n".join([*read.lines[:start], *lines, *read.lines[last + 1 :]])


def joined(part: str, chance: random.Random) -> str | None:
    """Return a document in which a list of words is one string."""
    read = Text(part)
    found = [
        each.value
        for each in fields(read.root)
        if isinstance(each.value, SequenceNode)
        and each.value.flow_style
        and all(isinstance(item, ScalarNode) and NAME.fullmatch(item.value) for item in each.value.value)
    ]
    if not found:
        return None
    node = chance.choice(found)
    text = ",".join(item.value for item in node.value)
    return part[: node.start_mark.index] + text + part[node.end_mark.index :]


def mistaken(text: str, chance: random.Random) -> tuple[str, str, str, str] | None:
    """Return a text with a mistake; its kind; the text that it replaces, and the one in its place, if it is a word."""
    kind = chance.choice(["letter", "letter", "lifted", "lifted", "in a list", "joined"])
    if kind == "letter":
        edit = mistakes(text, chance)
        if edit is None:
            return None
        begin, end, new = edit
        return text[:begin] + new + text[end:], kind, text[begin:end], new
    begin, part = chance.choice(list(chunks(text)))
    found = {"lifted": lifted, "in a list": in_list, "joined": joined}[kind](part, chance)
    return None if found is None else (text[:begin] + found + text[begin + len(part) :], kind, "", "")


def contexts(text: str) -> dict[str, str]:
    """Return what is beside or below each comment."""
    lines = text.replace("\r\n", "\n").split("\n")
    found = {}
    for number, line in enumerate(lines):
        match = COMMENT.search(line)
        if match is None:
            continue
        beside = line[: match.start()].strip()
        below = next((each for each in lines[number + 1 :] if not each.strip().startswith("#")), "")
        found[match[0]] = beside or COMMENT.sub("", below).strip()
    return {key: OF_LISTS.sub("", value) for key, value in found.items()}


def scalars(text: str) -> Counter[str]:
    """Return the texts of all scalars, without the indentation of their lines."""
    found: Counter[str] = Counter()
    for _, part in chunks(text):
        for _, node in nodes(Text(part).root):
            raw = part[node.start_mark.index : node.end_mark.index]
            found["\n".join(line.strip() for line in raw.strip().split("\n"))] += 1
    return found


def errors(path: Path) -> list[dict[str, Any]]:
    return [
        found
        for found in json.loads(run("validate", str(path), "--no-config", "--format", "json").out)
        if found["severity"] == "error"
    ]


@pytest.fixture(scope="module", autouse=True)
def counted() -> Iterator[None]:
    yield
    print(dict(SEEN))


@pytest.mark.examples
@drawn_apart
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("option", ["--fix", "--unsafe-fixes"])
@settings(
    max_examples=max(EXAMPLES // 4, 1),
    deadline=None,
    database=None,
    derandomize="EXAMPLES" not in os.environ,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(number=st.integers(0, 10**6), seed=st.integers(0, 2**32))
def test_a_second_run_changes_nothing(
    option: str, newline: str, number: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts, chance = inputs(), random.Random(seed)
    original = texts[number % len(texts)]
    if "\r" in original or "\t" in original:
        return
    text = commented(original, chance)
    found = mistaken(text, chance)
    if found is None:
        return
    wrong, kind, right, word = found
    path = tmp_path_factory.mktemp("job") / "input.yaml"
    path.write_bytes(text.encode())
    if errors(path):
        return
    path.write_bytes(wrong.replace("\n", newline).encode())
    before = errors(path)
    words = ["validate", str(path), "--no-config", *dict.fromkeys(["--fix", option])]
    done = run(*words)
    once = path.read_bytes().decode()
    SEEN[kind] += 1
    if "fixed" not in done.err:
        assert once == wrong.replace("\n", newline)
        return
    SEEN[f"{kind}, changed"] += 1
    note(f"{kind}: {right!r} -> {word!r}\n{wrong}\n=====\n{once}")
    again = run(*words)
    assert (path.read_bytes().decode(), "fixed" in again.err) == (once, False)
    ids = Counter(each["id"] for each in before)
    assert not Counter(each["id"] for each in errors(path)) - ids
    old, new = contexts(wrong), contexts(once)
    assert old.keys() == new.keys()
    if option == "--fix":
        moved = {key: (old[key], new[key]) for key in old if old[key] != new[key]}
        assert all(word and right in pair[1] and pair[0].replace(word, right) == pair[1] for pair in moved.values())
        lost = scalars(wrong) - scalars(once.replace("\r\n", "\n"))
        assert sum(lost.values()) <= (1 if kind in ("letter", "joined") else 0), lost
    assert indentation(once) == indentation(wrong)
