"""The words that the project avoids, with their simple inflections (-s, -es, -d, -ed, -ing).

Reads    docs; docstrings, comments and names in all Python files; messages, help texts and titles in
         compiler/ (all strings with a space); comments of YAML files.
Reports  each use as file:line: word -> standard word. Code spans and code blocks are left out, because they hold ids,
         options and output.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from contracts.steps import walk

ROOT = Path(__file__).parents[2]
INFLECTIONS: Final = "(?:s|es|d|ed|ing)?"

AVOID: Final = {
    "regret": "lint finding",
    "advice": "warning, lint finding",
    "crowd, thinned": "repeated diagnostics, collapsed",
    "among them, those among": "subset, including",
    "way out, remedy, remedies": "hint, fix",
    "complain, complaint": "report",
    "told, is said, are said, be said, said of, said at, said once, said twice, has said": "report, specify, set",
    "has to say, something to say, says so, says of, say of": "report, specify, set",
    "wording, refusal": "message",
    "quirk": "go-yaml compatibility",
    "sheet, counterpart, surroundings": "html object, correspondence, context",
    "stock": "built-in",
    "anew": "again, recreate",
    "the house, room, mould": "architecture, package",
    "hang together, hangs together": "dependencies, references",
    "stand, stood": "represent, be at",
    "come of, comes of, made of": "result from, consist of",
    "in all": "total",
    "unfold": "expand",
    "meet at, meets at, let them meet, really meet": "rendezvous",
    "nobody, somebody, whoever": "the user, the API server, nothing",
}
"""Words and phrases that no term of the field is, each with the standard words."""

ALLOWED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "counterpart": ((r"no[- ]counterpart", "a diagnostic id, and its check"),),
    "in all": ((r"in all [a-z`]", '"in all" before a noun is plain English; only the adverb is banned'),),
    "room": ((r"(makes?|has|have|is) room|room for", "capacity, in plain English"),),
    "sheet": ((r"style ?sheets?", "CSS"),),
    "stand": ((r"stand-?alone", "plain English"), (r"stand[- ]ins?", "a term of the glossary")),
}
"""By word: patterns of allowed contexts, each with its reason."""


class Passage(NamedTuple):
    """A text to check, with the file and line where it begins."""

    file: Path
    line: int
    text: str


def denied() -> dict[str, str]:
    """Return the words and phrases of the table, each with its standard words."""
    return {word: use for avoid, use in AVOID.items() for word in avoid.split(", ")}


def pattern_of(word: str) -> re.Pattern[str]:
    phrase = r"\s+".join(map(re.escape, word.split()))
    return re.compile(rf"\b{phrase}{'' if ' ' in word else INFLECTIONS}\b", re.IGNORECASE)


DENIED: Final = {word: (pattern_of(word), use) for word, use in denied().items()}
ANY: Final = re.compile("|".join(pattern.pattern for pattern, _ in DENIED.values()), re.IGNORECASE)
ANYWHERE: Final = [re.compile(r"[\W_]*".join(map(re.escape, word.split()))) for word in DENIED]
"""One of them matches each Python file with a use, in lower case, also in parts of a name and of a string. One by one,
as each begins with a literal."""


def found_in(passage: Passage) -> Iterator[str]:
    """Yield a line for each avoided word."""
    if ANY.search(passage.text) is None:
        return
    for word, (pattern, use) in DENIED.items():
        allowed = [
            span.span() for context, _ in ALLOWED.get(word, ()) for span in re.finditer(context, passage.text, re.I)
        ]
        for match in pattern.finditer(passage.text):
            if not any(begin <= match.start() and match.end() <= end for begin, end in allowed):
                yield f"{at(passage, match.start())}: {' '.join(match[0].split())} -> {use}"


def at(passage: Passage, index: int) -> str:
    return f"{passage.file.relative_to(ROOT)}:{passage.line + passage.text.count(chr(10), 0, index)}"


def without_code(text: str) -> str:
    """Return the text without code blocks, code spans and link targets; lines keep their numbers."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    text = re.sub(r"^( *)```.*?^ *```", blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"(?<=\n\n)(?: {4}.*\n)+", blank, text) if text.startswith("#") else text
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", lambda match: "`" + blank(match) + "`", text, flags=re.DOTALL)
    return re.sub(r"\]\([^)\s]*\)", "]", text)


def pages() -> Iterator[Passage]:
    """Yield the Markdown pages."""
    for pattern in ("*.md", "docs/**/*.md", "diagnostics/*.md", "bench/README.md", "templates/**/*.md"):
        for path in sorted(ROOT.glob(pattern)):
            yield Passage(path, 1, without_code(path.read_text()))


def words_of(name: str) -> str:
    """Return the words of an identifier.

    >>> words_of("_read_LinkOutError")
    'read Link Out Error'
    """
    return " ".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name))


def python(folder: str, *, strings: bool) -> Iterator[Passage]:
    """Yield the docstrings, comments and names of the Python files below a folder; with `strings`, also messages."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text()
        lowered = text.lower()
        if not any(pattern.search(lowered) for pattern in ANYWHERE):  # most files: tokenizing takes seconds
            continue
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield Passage(path, token.start[0], without_code(token.string.removeprefix("#")))
        nodes = list(walk(ast.parse(text)))
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            match node:
                case ast.Constant(value=str(value)) if id(node) in docstrings or (strings and " " in value):
                    yield Passage(path, node.lineno, without_code(value))
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                    yield Passage(path, node.lineno, words_of(name))
                case ast.Name(id=name, ctx=ast.Store()):
                    yield Passage(path, node.lineno, words_of(name))


def yaml_comments() -> Iterator[Passage]:
    """Yield the comments of YAML files and the Dockerfile; of golden cases only the input, as the rest is output."""
    for folder in ("golden", "integrations", "templates", "runtimes"):
        for path in sorted((ROOT / folder).rglob("input.yaml" if folder == "golden" else "*")):
            if path.suffix in (".yaml", ".yml") or path.name in ("Dockerfile", "Kptfile"):
                for number, line in enumerate(path.read_text().splitlines(), start=1):
                    if match := re.search(r"(?:^|\s)#(.*)", line):
                        yield Passage(path, number, without_code(match[1]))


PLACES: Final = {
    "docs": pages,
    "compiler": lambda: python("compiler", strings=True),
    "tests": lambda: python("tests", strings=False),
    "scripts": lambda: python("scripts", strings=False),
    "bench": lambda: python("bench", strings=False),
    "yaml": yaml_comments,
}


@pytest.mark.parametrize("place", PLACES)
def test_only_standard_words_are_used(place: str) -> None:
    found = [use for passage in PLACES[place]() for use in found_in(passage)]
    assert not found, "\n".join([f"{len(found)} uses of words to avoid (AVOID):", *found])


SENTENCE: Final = re.compile(
    r"(?:^|(?<=[.!?:] )|(?<=[.!?:]\n)|(?<=\|\s))[#>*\-\d.| ]*(?:What|Whoever)\s[^.?!]*[.?!]?", re.M
)


def opened_by_what(passage: Passage) -> Iterator[str]:
    """Yield a line for each sentence that opens with `What` or `Whoever` and is not a question."""
    for match in SENTENCE.finditer(passage.text):
        if not match[0].rstrip().endswith("?"):
            yield f"{at(passage, match.start())}: {' '.join(match[0].split())[:60]}"


def test_no_sentence_of_the_docs_opens_with_what() -> None:
    found = [line for passage in pages() for line in opened_by_what(passage)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("One of the stock\nruntimes, made of parts.", ["1: stock", "2: made of"], id="words and phrases"),
        pytest.param("It complained of two rooms.", ["1: complained", "1: rooms"], id="inflections"),
        pytest.param("The file is told.\nAnd\n\ntold again", ["1: told", "4: told"], id="lines"),
        pytest.param("A stockpile, `stock` and [a](stock.md)", [], id="other words, code spans, link targets"),
        pytest.param("```\nstock\n```\nroom for more, in all cases", [], id="code blocks and allowed contexts"),
        pytest.param("Three in all, in all.", ["1: in all", "1: in all"], id="an adverb"),
    ],
)
def test_a_word_is_found_in_its_line(text: str, words: list[str]) -> None:
    found = found_in(Passage(ROOT / "x.md", 1, without_code(text)))
    assert sorted(line.removeprefix("x.md:").partition(" -> ")[0] for line in found) == sorted(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("What a stage reads is in its docstring.", 1, id="a clause"),
        pytest.param("A list.\n\n- What is missing is skipped.", 1, id="in an item"),
        pytest.param("## What a change does", 1, id="a heading"),
        pytest.param("Reads it. Whoever asks gets it.", 1, id="the second sentence"),
        pytest.param("What does a stage read? It says what it reads.", 0, id="a question"),
    ],
)
def test_an_opening_is_found(text: str, expected: int) -> None:
    assert len(list(opened_by_what(Passage(ROOT / "x.md", 1, text)))) == expected
