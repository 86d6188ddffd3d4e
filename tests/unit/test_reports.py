"""The text report: each case is a job and its whole report."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from running import run
from syrupy.assertion import SnapshotAssertion

import trainc
from trainc.cli.common.printing import colored
from trainc.diagnostics import Diagnostic, Document, Location, Place, Related
from trainc.reports import json, repeated, text

pytestmark = pytest.mark.usefixtures("empty_folder")

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\n"
RUNTIME = "runtimeRef: {name: plain}"


def report(job: str, *, newline: str = "\n", name: str = "job.yaml") -> str:
    Path(name).write_bytes(job.replace("\n", newline).encode("utf-8", "surrogateescape"))
    return run("validate", name).out


FIXABLE = (
    "block style",
    "flow style",
    "a field's name",
    "wide characters and accents",
    "tabs",
    "what does not print",
    "a secret keeps the underline where it belongs",
    "a secret is what is wrong",
)
"""The reports whose summary counts a fix."""
REPORTS: dict[str, tuple[str, str]] = {
    "block style": (
        f"spec:\n  {RUNTIME}\n  trainer:\n    numNodes: '4' # four\n",
        """\
job.yaml:7:15: error[wrong-type]: numNodes must be an integer, not the string "4"
  7 |     numNodes: '4' # four
    |               ^^^
  help: remove the quotes: 4
""",
    ),
    "flow style": (
        f'spec: {{{RUNTIME}, trainer: {{numNodes: "4", image: x}}}}\n',
        """\
job.yaml:4:55: error[wrong-type]: numNodes must be an integer, not the string "4"
  4 | spec: {runtimeRef: {name: plain}, trainer: {numNodes: "4", image: x}}
    |                                                       ^^^
  help: remove the quotes: 4
""",
    ),
    "a field's name": (
        f"spec:\n  {RUNTIME}\n  trainer: {{numnodes: 4}}\n",
        """\
job.yaml:6:13: error[unknown-field]: unknown field spec.trainer.numnodes in TrainJob
  6 |   trainer: {numnodes: 4}
    |             ^^^^^^^^
  help: did you mean numNodes?
""",
    ),
    "a missing field is shown by the mapping that lacks it": (
        f"spec:\n  {RUNTIME}\n  trainer:\n    env:\n    - value: x # no name\n      valueFrom:\n",
        """\
job.yaml:8:7: error[required]: env[0] has no name, which is required
  8 |     - value: x # no name
    |       ^^^^^^^^^^^^^^^^^^
  help: add name, a string
""",
    ),
    "a mapping in block style is shown by its key": (
        f"spec:\n  {RUNTIME}\n  trainer:\n    command:\n      run: x\n",
        """\
job.yaml:7:5: error[wrong-type]: command must be a list, not a mapping
  7 |     command:
    |     ^^^^^^^
  help: use a list
""",
    ),
    "of a longer text the first line": (
        f"spec:\n  {RUNTIME}\n  trainer:\n    args: |\n      one\n      two\n",
        """\
job.yaml:7:11: error[wrong-type]: args must be a list, not the string "one\\\\ntwo\\\\n"
  7 |     args: |
    |           ^
  help: use a list with one item per word; no shell expands them
""",
    ),
    "no value at all": (
        f"spec:\n  {RUNTIME}\n  trainer:\n    args: [a, , b]\n",
        """\
job.yaml:7:15: error[yaml]: a value cannot start with `,`
  7 |     args: [a, , b]
    |               ^
  help: quote the value if these characters belong to it
""",
    ),
    "wide characters and accents": (
        f'spec: {{{RUNTIME}, trainer: {{args: [日本e\u0301], numNodes: "4"}}}}\n',
        """\
job.yaml:4:69: error[wrong-type]: numNodes must be an integer, not the string "4"
  4 | spec: {runtimeRef: {name: plain}, trainer: {args: [日本e\u0301], numNodes: "4"}}
    |                                                                      ^^^
  help: remove the quotes: 4
""",
    ),
    "tabs": (
        f'spec: {{{RUNTIME},\ttrainer:\t{{numNodes: "4"}}}}\n',
        """\
job.yaml:4:55: error[wrong-type]: numNodes must be an integer, not the string "4"
  4 | spec: {runtimeRef: {name: plain},    trainer:    {numNodes: "4"}}
    |                                                             ^^^
  help: remove the quotes: 4
""",
    ),
    "what does not print": (
        f'spec: {{{RUNTIME}, trainer: {{args: [a\u202eb\xa0], numNodes: "4"}}}}\n',
        """\
job.yaml:4:69: error[wrong-type]: numNodes must be an integer, not the string "4"
  4 | spec: {runtimeRef: {name: plain}, trainer: {args: [a\\u202eb\\xa0], numNodes: "4"}}
    |                                                                             ^^^
  help: remove the quotes: 4
""",
    ),
    "no UTF-8": (
        f"spec:\n  {RUNTIME}\n  trainer: {{image: a\udcffb}}\n",
        """\
job.yaml:6:21: error[yaml]: the byte 0xff is not UTF-8
  6 |   trainer: {image: a\\udcffb}
    |                     ^^^^^^^
  help: save the file as UTF-8
""",
    ),
    "a secret keeps the underline where it belongs": (
        f'spec: {{{RUNTIME}, trainer: {{env: [{{name: HF_TOKEN, value: "hf_abcdef"}}], numNodes: "4"}}}}\n',
        """\
job.yaml:4:100: error[wrong-type]: numNodes must be an integer, not the string "4"
  4 | spec: {runtimeRef: {name: plain}, trainer: {env: [{name: HF_TOKEN, value: "***"}], numNodes: "4"}}
    |                                                                                              ^^^
  help: remove the quotes: 4
""",
    ),
    "a secret is what is wrong": (
        f"spec:\n  {RUNTIME}\n  trainer:\n    env:\n    - name: DB_PASSWORD\n      value: 123456\n",
        """\
job.yaml:9:14: error[wrong-type]: env[0].value must be a string, not a number
  9 |       value: ***
    |              ^^^
  help: quote it
""",
    ),
    "the first of two is in view": (
        f"spec:\n  {RUNTIME}\n  suspend: true\n  suspend: false\n",
        """\
job.yaml:7:3: error[yaml]: the key "suspend" is already set on line 6
  7 |   suspend: false
    |   ^^^^^^^
  job.yaml:6:3: set here
  6 |   suspend: true
    |   -------------
  help: remove one of them: kubectl silently uses the last one
""",
    ),
    "both on one line": (
        "spec: {suspend: true, suspend: true}\n",
        """\
job.yaml:4:23: error[yaml]: the key "suspend" is already set on line 4
  4 | spec: {suspend: true, suspend: true}
    |                       ^^^^^^^
  help: remove one of them: kubectl silently uses the last one
""",
    ),
    "what begins elsewhere": (
        f"spec:\n  {RUNTIME}\n  trainer:\n    args: [a,\n      b\n    image: x\n",
        """\
job.yaml:9:10: error[yaml]: a `,` or `]` is missing in the list opened with `[` on line 7
  9 |     image: x
    |          ^
  job.yaml:7:5: opened here
  7 |     args: [a,
    |     ---------
  help: separate items with commas, close the list with `]`, and quote items that contain brackets, commas or `?`
""",
    ),
}


def more(expected: str) -> str:
    """Return the line that leads to the page of the only diagnostic."""
    return f"For more: trainc explain {expected.partition('[')[2].partition(']')[0]}\n"


@pytest.mark.parametrize("name", REPORTS)
def test_report(name: str) -> None:
    job, expected = REPORTS[name]
    errors = 0 if "warning" in expected else 1
    counted = f"1 {'error' if errors else 'warning'} in 1 file (checked 1 file)"
    fixes = "; 1 can be fixed with --fix" if name in FIXABLE else ""
    assert report(HEAD + job) == f"{expected.replace(chr(92) * 2, chr(92))}\n{counted}{fixes}\n{more(expected)}"


@pytest.mark.parametrize("name", ["block style", "wide characters and accents", "the first of two is in view"])
def test_line_breaks_of_windows_and_a_byte_order_mark_change_nothing(name: str) -> None:
    job, expected = REPORTS[name]
    fixes = "; 1 can be fixed with --fix" if name in FIXABLE else ""
    counted = f"1 error in 1 file (checked 1 file){fixes}\n{more(expected)}"
    assert report("\ufeff" + HEAD + job, newline="\r\n") == f"{expected}\n{counted}"


def test_a_byte_order_mark_takes_no_column() -> None:
    assert report('\ufeff{kind: 1, apiVersion: "trainer.kubeflow.org/v1alpha1"}').splitlines()[:3] == [
        'job.yaml:1:8: error[unknown-kind]: unknown kind "1" in trainer.kubeflow.org',
        '  1 | {kind: 1, apiVersion: "trainer.kubeflow.org/v1alpha1"}',
        "    |        ^",
    ]


LONG: list[tuple[str, str]] = [
    # The end of the line is truncated,
    (
        f'spec: {{trainer: {{numNodes: "4", image: {"x" * 200}}}, {RUNTIME}}}',
        f'  4 | spec: {{trainer: {{numNodes: "4", image: {"x" * 78}...\n' + "    |" + " " * 28 + "^^^",
    ),
    # the beginning,
    (
        f'spec: {{{RUNTIME}, trainer: {{image: {"x" * 200}, numNodes: "4"}}}}',
        f'  4 | ...{"x" * 28}, numNodes: "4"}}}}\n' + "    |" + " " * 44 + "^^^",
    ),
    # or both; a wide character takes two columns.
    (
        f'spec: {{{RUNTIME}, trainer: {{image: {"x" * 200}, numNodes: "4", args: [{"日" * 99}]}}}}',
        f'  4 | ...{"x" * 28}, numNodes: "4", args: [{"日" * 31}...\n' + "    |" + " " * 44 + "^^^",
    ),
    # A value that is too long itself is truncated after its beginning.
    (
        f'spec: {{{RUNTIME}, trainer: {{numNodes: "{"4" * 300}"}}}}',
        f'  4 | spec: {{{RUNTIME}, trainer: {{numNodes: "{"4" * 62}...\n' + "    |" + " " * 55 + "^" * 63,
    ),
]


@pytest.mark.parametrize(("spec", "expected"), LONG)
def test_a_long_line_is_cut_around_the_place(spec: str, expected: str) -> None:
    assert "\n".join(report(f"{HEAD}{spec}\n").splitlines()[1:3]) == expected


def test_several_files_and_a_related_place_in_another_one(snapshot: SnapshotAssertion) -> None:
    Path("a.yaml").write_text(f"{HEAD}spec: {{{RUNTIME}}}\n---\n{HEAD}spec:\n  {RUNTIME}\n  trainer: {{numNodes: x}}\n")
    Path("b.yaml").write_text("# The same one again.\n" * 8 + f"{HEAD}spec: {{{RUNTIME}}}\n")
    assert run("validate", "b.yaml", "a.yaml", "missing.yaml").out == snapshot


def test_standard_input() -> None:
    done = run("validate", "-", stdin=f"{HEAD}spec: {{runtimeRef: {{name: plane}}}}\n".encode())
    assert done.out.splitlines()[:3] == [
        '<stdin>:4:27: error[runtime-not-found]: ClusterTrainingRuntime "plane" not found',
        "  4 | spec: {runtimeRef: {name: plane}}",
        "    |                           ^^^^^",
    ]


def test_text_before_a_document_on_its_line_belongs_to_another_document() -> None:
    assert report('{"kind": "x"} {"kind": "TrainJob"}\n', name="x.json").splitlines()[:3] == [
        "x.json:1:15: error[no-api-version]: the TrainJob has no apiVersion",
        '  1 | ... {"kind": "TrainJob"}',
        "    |     ^^^^^^^^^^^^^^^^^^^^",
    ]


def test_colours(snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_HYPERLINK", "0")
    Path("a.yaml").write_text(f"{HEAD}spec: {{{RUNTIME}, trainer: {{numnodes: 4}}}}\n---\n{HEAD}spec: {{{RUNTIME}}}\n")
    found = trainc.compile(["a.yaml"]).diagnostics
    plain = text.render(found, summary="done", color=False)
    painted = text.render(found, summary="done", color=True)
    assert (
        painted.replace("\x1b[0m", "")
        .replace("\x1b[34m", "")
        .replace("\x1b[1m", "")
        .replace("\x1b[1;31m", "")
        .replace("\x1b[1;33m", "")
        .replace("\x1b[1;36m", "")
        == plain
    )
    assert painted.replace("\x1b", "<esc>") == snapshot


class Terminal:
    """A stream that may be a terminal."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer

    def isatty(self) -> bool:
        return self.answer


@pytest.mark.parametrize(
    ("terminal", "environment", "wanted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": ""}, False),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_when_colours_are_wanted(
    terminal: bool, environment: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert colored(Terminal(terminal)) is wanted  # type: ignore[arg-type]


def diagnostic(**fields: object) -> Diagnostic:
    return Diagnostic(id="x", severity="error", stage="read", message="m")._replace(**fields)  # type: ignore[arg-type]


def test_an_empty_report_is_empty() -> None:
    assert text.render([], summary="", color=False) == ""
    assert text.render([], summary="done", color=False) == "done\n"
    assert text.render([diagnostic()], summary="", color=False) == "error[x]: m\n"
    assert text.render([diagnostic(place=Location("a\x1b"))], summary="", color=False) == "a\\x1b: error[x]: m\n"


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ([], ""),
        (["note a"], "\nFor more: trainc explain a"),
        (["note a", "note a"], "\nFor more: trainc explain a"),
        (["note a", "error b"], "\nFor more: trainc explain b, trainc explain a"),
        (["warning a", "error b", "error c"], "\nFor more: trainc explain b, trainc explain c, or any other id"),
    ],
)
def test_the_last_line_leads_to_the_pages_of_the_most_severe(names: list[str], line: str) -> None:
    each = [
        diagnostic(severity=name.split()[0], id=name.split()[1], place=Location(str(i))) for i, name in enumerate(names)
    ]
    assert text.render(each, summary="done", color=False).endswith(f"done{line}\n")
    assert "explain" not in text.render(each, summary="", color=False)


@pytest.mark.parametrize(
    ("environment", "linked"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "7600"}, True),
        ({"VTE_VERSION": "4601"}, False),
        ({"VTE_VERSION": "new"}, False),
        ({"WT_SESSION": "x"}, True),
        ({"TERM_PROGRAM": "vscode", "CI": "true"}, False),
        ({"TERM_PROGRAM": "vscode", "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, False),
        ({"TERM_PROGRAM": "vscode", "FORCE_COLOR": "1"}, False),
        ({"TERM_PROGRAM": "vscode", "FORCE_HYPERLINK": "0"}, False),
        ({"CI": "true", "FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_ids_are_links_in_terminals_that_have_them(
    environment: dict[str, str], linked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM_PROGRAM", "TERM", "VTE_VERSION", "WT_SESSION", "KONSOLE_VERSION", "CI", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("FORCE_COLOR", "FORCE_HYPERLINK"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    address = (Path(__file__).parents[2] / "diagnostics" / "yaml.md").as_uri()
    id = f"\x1b]8;;{address}\x1b\\yaml\x1b]8;;\x1b\\" if linked else "yaml"
    found = [diagnostic(id="yaml")]
    assert text.render(found, summary="", color=True) == f"\x1b[1;31merror[{id}]\x1b[0m: m\n"
    assert text.render(found, summary="", color=False) == "error[yaml]: m\n"


def test_the_line_of_the_place_is_not_shown_again_for_a_related_one() -> None:
    document = Document(file="a", line=9, text="a: {b: c}\n", value={"a": {"b": "c"}})
    related = (Related("r", Place(document, ("a", "b"))), Related("s", Place(document, ("a",), key=True)))
    assert text.render([diagnostic(place=Place(document, ("a",)), related=related)], summary="", color=False) == (
        "a:9:4: error[x]: m\n  9 | a: {b: c}\n    |    ^^^^^^\n  a:9:8: r\n  a:9:1: s\n"
    )


def test_json_has_the_end_of_a_place() -> None:
    document = Document(file="a", line=9, text="a: {b: c}\n", value={"a": {"b": "c"}}, column=3)
    rendered = json.render([diagnostic(place=Place(document, ("a",)))], summary="", color=False)
    assert [line.strip() for line in rendered.splitlines()[14:19]] == [
        '"file": "a",',
        '"line": 9,',
        '"column": 6,',
        '"endLine": 9,',
        '"endColumn": 12,',
    ]


def test_a_location_prints_as_a_place_and_not_its_text() -> None:
    at = Place(Document(file="-", line=1, text="a: secret", value={"a": "secret"}), ("a",)).locate()
    assert (str(at), repr(at)) == ("<stdin>:1:4", "Location('<stdin>:1:4', end=1:10)")


@pytest.mark.parametrize(
    "job",
    [
        pytest.param("".join(f"    - {{name: TOKEN_{i}, value: {i}}}\n" for i in range(1000)), id="many lines"),
        pytest.param(f"      [{', '.join(f'{{name: TOKEN_{i}, value: {i}}}' for i in range(1000))}]\n", id="one line"),
    ],
)
def test_a_thousand_diagnostics_take_no_time(job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "SHOWN", 1000)
    Path("job.yaml").write_text(f"{HEAD}spec:\n  {RUNTIME}\n  trainer:\n    env:\n{job}")
    found = trainc.compile(["job.yaml"]).diagnostics
    begin = time.process_time()
    rendered = text.render(found, summary="", color=False)
    assert time.process_time() - begin < 5  # a second on a busy machine, minutes if every diagnostic read its line
    assert rendered.count("error[wrong-type]") == 99  # after one for the length of the list
    assert rendered.endswith("\n\n901 more: 901 wrong-type (trainc validate --format json lists them)\n")
    assert json.render(found, summary="", color=False).count('"id": ') == 1001
