"""The output for each value: plain and quoted strings, literal blocks, order, layout."""

from __future__ import annotations

import json as stdlib_json
from textwrap import dedent
from typing import Any

import pytest

from trainc import emit
from trainc.emit import json, yaml


def as_json(objects: list[Any]) -> str:
    return "".join(json.parts(objects))


def written(value: Any) -> str:
    """Return the text of a value after its key."""
    return yaml.render([{"k": value}]).removeprefix("k:").removeprefix(" ").removesuffix("\n")


@pytest.mark.parametrize(
    "text",
    [
        # words, names and typical arguments
        *("node", "Torch", "truely", "nope", "none", "t", "offset", "-c", "--epochs=3", "a b  c", "/bin/sh", "~/x"),
        # quantities, versions, addresses: digits that no parser reads as a number
        *("500m", "10Gi", "1.2.3", "10.0.0.1", "1e", "1e3.5", "e3", "0xfg", "1h30m", "2024-01", "2024-01-01x"),
        *("8080/tcp", "inf", "nan", "v1", "+", "."),
        # characters that are syntax in other positions
        *(":8080", "?x", "-x", "a:b", "a#b", "a,b", "a]b", "a'b", 'a"b', "=x", "<<x", "<", "..", "a!", "a%", "a&b"),
        *("\\n", "$(X)", "${X}"),
        # other scripts
        *("déjà", "日本語", "😀", "a\u00a0b", "\u3000x", "क\u200dष"),
    ],
)
def test_plain(text: str) -> None:
    assert written(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "tRuE"),
        *("y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"),
        *("=", "<<"),
        *(
            "0",
            "1",
            "-1",
            "+1",
            "017",
            "08",
            "0o17",
            "0O17",
            "0x1F",
            "0X1f",
            "-0x1",
            "0b11",
            "0B11",
            "0b_",
            "1_000",
            "1,000",
            "+_1",
        ),
        *(".5", "-.5", "1.", "1.5", "1e3", "1E3", "1e+3", "1.5e-3", "1_0.5_0", "._1", "12345678901234567890123"),
        *(".inf", ".Inf", "-.INF", "+.inf", ".nan", ".NaN"),
        *("1:30", "1:30:00", "-1:30", "1:30.5", "8080:80"),
        *("2024-01-01", "2024-1-1", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00", "2001-12-14t21:59:43.10-05:00"),
    ],
)
def test_double_quotes_around_strings_that_look_like_another_type(text: str) -> None:
    assert written(text) == f'"{text}"'


@pytest.mark.parametrize(
    "text",
    [
        *("-", "- x", "?", "? x", ":", ": x", "---", "--- x", "---x", "...", "...x"),
        *("#x", "&x", "*x", "!x", "|", "|x", ">", ">x", "%x", "@x", "`x", '"x"', "[x]", "]", "{x}", "}", ",x"),
        *("a: b", "a:", "a #b", "a: #", " a", "a ", " "),
    ],
)
def test_single_quotes_around_syntax(text: str) -> None:
    assert written(text) == f"'{text}'"


def test_single_quotes_double_their_own() -> None:
    assert written("'it' is: so") == "'''it'' is: so'"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb", r'"a\tb"'),
        ("a\rb", r'"a\rb"'),
        ("\0\x07\x1b\x7f", r'"\0\x07\x1b\x7f"'),
        ("a\u0085b", r'"a\x85b"'),
        ("a\u2028b\u2029", r'"a\u2028b\u2029"'),
        ("\ufeffa", r'"\ufeffa"'),
        ("a\u202eb\u200b", r'"a\u202eb\u200b"'),
        ("\ud800", r'"\ud800"'),
        ("\uffff", r'"\uffff"'),
        ("\U000e0041", r'"\U000e0041"'),
        ('é"\\\t', r'"é\"\\\t"'),
    ],
)
def test_escapes(text: str, expected: str) -> None:
    assert written(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\nb", "|-\n  a\n  b", id="no line break at the end"),
        pytest.param("a\nb\n", "|\n  a\n  b", id="one"),
        pytest.param("a\nb\n\n\n", "|+\n  a\n  b\n\n", id="several"),
        pytest.param("a\n", "|\n  a", id="one line is a block too"),
        pytest.param("a\n\nb", "|-\n  a\n\n  b", id="empty lines are not indented"),
        pytest.param("  a\nb", "|2-\n    a\n  b", id="the indentation would be misread"),
        pytest.param("\na", "|2-\n\n  a", id="and here"),
        pytest.param("a:\n  - b\n\t# c", "|-\n  a:\n    - b\n  \t# c", id="syntax, tabs inside"),
        pytest.param("a \nb\t\n   \nc", "|-\n  a \n  b\t\n     \n  c", id="white space at the end of a line"),
        pytest.param("1\n", "|\n  1", id="a block is always a string"),
        pytest.param("---\nx\n", "|\n  ---\n  x", id="no separator of documents"),
        pytest.param("é\n😀\n", "|\n  é\n  😀", id="other scripts"),
    ],
)
def test_literal_blocks(text: str, expected: str) -> None:
    assert written(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("\n", r'"\n"', id="nothing but a line break"),
        pytest.param(" \n\t\n", r'" \n\t\n"', id="nothing but white space"),
        pytest.param("\ta\nb", r'"\ta\nb"', id="a tab in place of indentation"),
        pytest.param("\n\ta", r'"\n\ta"', id="and after empty lines"),
        pytest.param("a\r\nb\r\n", r'"a\r\nb\r\n"', id="CR LF"),
        pytest.param("a\x1b[0m\n", r'"a\x1b[0m\n"', id="a control character"),
        pytest.param("a\u2028b\n", r'"a\u2028b\n"', id="a line break of YAML 1.1"),
    ],
)
def test_no_literal_blocks(text: str, expected: str) -> None:
    assert written(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        (18446744073709551615, "18446744073709551615"),
        (0.5, "0.5"),
        (1000.0, "1000.0"),
        (-0.0, "-0.0"),
        (1e21, "1.0e+21"),
        (1.5e300, "1.5e+300"),
        (1e-7, "1.0e-07"),
        ({}, "{}"),
        ([], "[]"),
    ],
)
def test_other_scalars_and_empty_containers(value: Any, expected: str) -> None:
    assert written(value) == expected
    assert yaml.render([{"k": [value]}]) == f"k:\n- {expected}\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_cannot_represent(value: float) -> None:
    with pytest.raises(ValueError, match=r"nan|inf"):
        yaml.render([{"k": value}])
    with pytest.raises(ValueError, match=r"nan|inf"):
        as_json([{"k": value}])


@pytest.mark.parametrize("value", [(), b"", {1}])
def test_values_that_json_cannot_represent(value: object) -> None:
    with pytest.raises(TypeError, match="a manifest cannot contain a value of type"):
        yaml.render([{"k": value}])


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("kubectl.kubernetes.io/x", "kubectl.kubernetes.io/x"),
        ("a b", "a b"),
        ("123", '"123"'),
        ("y", '"y"'),
        ("<<", '"<<"'),
        ("", '""'),
        ("a: b", "'a: b'"),
        ("*", "'*'"),
        ("---", "'---'"),
        ("a\nb", r'"a\nb"'),
    ],
)
def test_keys_are_quoted_as_values_are(key: str, expected: str) -> None:
    assert yaml.render([{key: 1}]) == f"{expected}: 1\n"


def test_a_key_that_is_too_long_for_an_implicit_key() -> None:
    fits, exceeds = "x" * 1024, "x" * 1025
    assert yaml.render([{"spec": {fits: 1}}]) == f"spec:\n  {fits}: 1\n"
    assert yaml.render([{"spec": {exceeds: 1}}]) == f"spec:\n  ? {exceeds}\n  : 1\n"
    assert yaml.render([{"spec": {exceeds: {"a": 1}}}]) == f"spec:\n  ? {exceeds}\n  :\n    a: 1\n"


def test_layout() -> None:
    tree = {
        "metadata": {"labels": {}, "name": "a"},
        "spec": {
            "replicatedJobs": [
                {
                    "template": {"args": ["-c", "echo a\necho b\n"], "env": [{"value": "1", "name": "N"}]},
                    "name": "node",
                },
                {"matrix": [[1, 2], [], [["x"]]]},
            ],
            "empty": [],
        },
        "kind": "JobSet",
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
    }
    assert yaml.render([tree]) == dedent("""\
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata:
          name: a
          labels: {}
        spec:
          empty: []
          replicatedJobs:
          - name: node
            template:
              args:
              - -c
              - |
                echo a
                echo b
              env:
              - name: "N"
                value: "1"
          - matrix:
            - - 1
              - 2
            - []
            - - - x
    """)


def test_documents_are_separated_and_long_lines_are_not_folded() -> None:
    line = "word " * 100 + "end"
    assert yaml.render([{"a": line}, {}, {"b": 1}]) == f"a: {line}\n---\n{{}}\n---\nb: 1\n"
    assert yaml.render([]) == ""


def test_shared_subtrees_are_written_alike_at_every_depth() -> None:
    shared = {"name": "x", "args": ["a", "b\nc"], "deep": {"k": [1, {"l": 2, "m": 3, "n": 4}]}}
    tree = {"spec": shared, "status": {"deeper": shared, "list": [shared, shared]}}
    copied = stdlib_json.loads(stdlib_json.dumps(tree))
    assert yaml.render([tree] * 3) == yaml.render([copied]) + "---\n" + "---\n".join([yaml.render([copied])] * 2)


def test_a_full_cache_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [{"spec": {f"k{i}": f"v{i}", "x": {"a": 1, "b": 2, "c": 3}, "y": [i, 1, "z"]}} for i in range(20)]
    expected = yaml.render(objects)
    monkeypatch.setattr(yaml, "ENTRIES", 2)
    monkeypatch.setattr(yaml, "KEPT", 1)
    assert yaml.render(objects) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["spec", "kind", "metadata", "apiVersion"], ["apiVersion", "kind", "metadata", "spec"]),
        (["immutable", "data", "spec", "kind", "Zed"], ["kind", "spec", "Zed", "data", "immutable"]),
        (["spec", "name", "data"], ["spec", "data", "name"]),
    ],
)
def test_order_of_top_fields(keys: list[str], expected: list[str]) -> None:
    assert emit.top_fields(keys) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["value", "name", "args"], ["name", "args", "value"]),
        (["spec", "metadata", "kind"], ["kind", "metadata", "spec"]),
        (["b", "B", "a10", "a2", "é", "😀", "\uffee"], ["B", "a10", "a2", "b", "é", "\uffee", "😀"]),
    ],
)
def test_order_of_fields(keys: list[str], expected: list[str]) -> None:
    assert emit.fields(keys) == expected


def test_order_of_the_objects_of_a_job() -> None:
    def an_object(api: str, kind: str, name: str) -> dict[str, Any]:
        return {"apiVersion": api, "kind": kind, "metadata": {"name": name}}

    jobset = an_object("jobset.x-k8s.io/v1alpha2", "JobSet", "j")
    pod_group = an_object("scheduling.x-k8s.io/v1alpha1", "PodGroup", "j")
    hosts, script = an_object("v1", "ConfigMap", "j-hosts"), an_object("v1", "ConfigMap", "j-script")
    assert emit.objects_of_a_job([script, pod_group, hosts, jobset]) == [jobset, pod_group, hosts, script]


def test_json() -> None:
    tree = {"spec": {"b": ["é", 1.5], "name": "x", "a": {}}, "kind": "A"}
    assert as_json([tree]) == dedent("""\
        [
          {
            "kind": "A",
            "spec": {
              "name": "x",
              "a": {},
              "b": [
                "é",
                1.5
              ]
            }
          }
        ]
    """)
    assert as_json([]) == "[]\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ud800", r'"\ud800"'),
        ("\x85\u2028\ufeff\x7f", r'"\u0085\u2028\ufeff\u007f"'),
        # Except these: JSON escapes them as two surrogates, which YAML parsers reject.
        ("日本語😀\U000e0041", '"日本語😀\U000e0041"'),
    ],
)
def test_json_escapes_what_yaml_escapes(text: str, expected: str) -> None:
    assert as_json([{"k": text}]) == f'[\n  {{\n    "k": {expected}\n  }}\n]\n'


def test_both_formats_keep_one_order() -> None:
    tree = {"z": {"name": 1, "b": 1, "a": 1}, "spec": [{"x": 1, "name": 2}], "kind": "A", "a": 1, "metadata": {}}
    from_json = stdlib_json.loads(as_json([tree]))[0]
    assert yaml.render([tree]) == dedent("""\
        kind: A
        metadata: {}
        spec:
        - name: 2
          x: 1
        a: 1
        z:
          name: 1
          a: 1
          b: 1
    """)
    assert [*from_json, *from_json["spec"][0], *from_json["z"]] == [
        *("kind", "metadata", "spec", "a", "z"),
        *("name", "x"),
        *("name", "a", "b"),
    ]
