"""Targets of patches: selectors as in kubectl, and globs."""

from __future__ import annotations

import time
from typing import Any

import pytest

from trainc.edits.patching.targets import SelectorError, Target, is_match, parse

LABELS = {"team": "nlp", "tier": "a", "size": "8", "empty": "", "acme.io/pool": "h100"}


@pytest.mark.parametrize(
    "selector",
    [
        "",
        "  ",
        "team=nlp",
        "team==nlp",
        "team = nlp",
        "team!=vision",
        "other!=vision",
        "team in (nlp,vision)",
        "team in ( vision , nlp )",
        "team notin (vision)",
        "other notin (vision)",
        "team",
        "!other",
        "! other",
        "empty=",
        "empty in (,x)",
        "size>7",
        "size<9,size>-1",
        "team=nlp,tier!=b,size in (8,16),!legacy,acme.io/pool",
        "acme.io/pool=h100",
        "size>-9223372036854775808",
        "size<+9223372036854775807",
        f"size>{'0' * 50}7",
    ],
)
def test_selectors_that_match(selector: str) -> None:
    assert all(requirement.matches(LABELS) for requirement in parse(selector))


@pytest.mark.parametrize(
    "selector",
    [
        "team=vision",
        "team!=nlp",
        "team in (vision)",
        "team notin (nlp,vision)",
        "other in (nlp)",
        "other=nlp",
        "other",
        "!team",
        "empty=x",
        "team=",
        "size>8",
        "size<8",
        "team>1",
        "other<5",
        "team=nlp,other",
    ],
)
def test_selectors_that_do_not_match(selector: str) -> None:
    assert not all(requirement.matches(LABELS) for requirement in parse(selector))


@pytest.mark.parametrize(
    ("value", "is_greater", "is_less"),
    [
        ("9" * 5000, False, False),
        ("-" + "9" * 5000, False, False),
        ("9223372036854775808", False, False),
        ("9223372036854775807", True, False),
        ("-9223372036854775808", False, True),
        ("0" * 5000 + "2", True, False),
        ("+0", False, True),
        ("-1", False, True),
        ("1_0", False, False),
        ("\u0662", False, False),
        ("", False, False),
    ],
)
def test_numbers_are_integers_of_64_bits(value: str, is_greater: bool, is_less: bool) -> None:
    (greater,), (less,) = parse("i>1"), parse("i<1")
    assert (greater.matches({"i": value}), less.matches({"i": value})) == (is_greater, is_less)


@pytest.mark.parametrize(
    ("selector", "fault", "reason"),
    [
        (",", ",", "must have a key"),
        ("a=b,", "", "must have a key, not the end"),
        ("a=b,,c", ",", "must have a key"),
        ("a=b c", "c", "a comma or the end"),
        ("a b", "b", "an operator"),
        ("=a", "=", "must have a key"),
        ("!", "", "must have a key, not the end"),
        ("!a=b", "=", "a comma or the end"),
        ("a in b", "b", "an opening parenthesis"),
        ("a in (b", "", "a comma or a closing parenthesis, not the end"),
        ("a in ()", ")", "the list of values is empty"),
        ("a in (b c)", "c", "a comma or a closing parenthesis"),
        ("a>b", "b", "an integer after >"),
        ("a<9223372036854775808", "9223372036854775808", "an integer after <"),
        ("a===b", "=", "a value"),
        ("-a=b", "-a", 'the key "-a" is not valid'),
        ("a=b/c", "b/c", 'the value "b/c" is not valid'),
    ],
)
def test_invalid_selectors(selector: str, fault: str, reason: str) -> None:
    with pytest.raises(SelectorError, match=reason.replace("(", r"\(").replace(">", r"\>")) as raised:
        parse(selector)
    begin, end = raised.value.part
    assert selector[begin:end] == fault
    assert raised.value.help


@pytest.mark.parametrize(
    ("glob", "names", "others"),
    [
        ("", ["", "a"], []),
        ("*", ["", "a"], []),
        ("llama-7b", ["llama-7b"], ["llama-7b-dev", "llama"]),
        ("llama-*", ["llama-7b", "llama-"], ["llama", "my-llama-7b"]),
        ("*-7b", ["llama-7b", "-7b"], ["llama-7b-dev"]),
        ("?", ["a"], ["", "ab"]),
        ("[ab]-[!0-9]", ["a-x", "b-y"], ["c-x", "a-1"]),
        ("a.b", ["a.b"], ["axb"]),
        ("*a*b*", ["ab", "xaxbx"], ["ba"]),
        ("[]a]b", ["ab", "]b"], ["bb"]),
        ("[a-c][!]x]", ["ab", "ca"], ["ax", "a]", "db"]),
        ("[a", [], ["a"]),
    ],
)
def test_globs(glob: str, names: list[str], others: list[str]) -> None:
    assert all(is_match(glob, name) for name in names)
    assert not any(is_match(glob, name) for name in others)


def test_globs_are_linear() -> None:
    began = time.process_time()
    assert not is_match("*a" * 500 + "b", "a" * 253)
    assert not is_match("*" * 999 + "b", "a" * 253)
    assert time.process_time() - began < 1


def source(kind: str = "TrainJob", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": kind, "metadata": {"name": "a"} | metadata}


@pytest.mark.parametrize(
    ("target", "matched", "others"),
    [
        (Target(), [source()], [source("TrainingRuntime")]),
        (Target(kind="JobSet"), [source()], [source("ClusterTrainingRuntime")]),
        (Target(group="trainer.kubeflow.org", version="v1alpha1"), [source()], []),
        (Target(group="kubeflow.org"), [], [source()]),
        (Target(version="v2alpha1"), [], [source()]),
        (Target(kind="JobSet", group="jobset.x-k8s.io", version="v1alpha2"), [source()], []),
        (Target(kind="JobSet", group="trainer.kubeflow.org"), [], [source()]),
        (Target(namespace="ml-*"), [source(namespace="ml-dev")], [source(), source(namespace="web")]),
        (Target(labels=parse("team=nlp")), [source(labels={"team": "nlp"})], [source(), source(labels=["team"])]),
        (Target(annotations=parse("a,b!=1")), [source(annotations={"a": "x y"})], [source(labels={"a": ""})]),
    ],
)
def test_targets(target: Target, matched: list[Any], others: list[Any]) -> None:
    assert all(map(target.matches, matched))
    assert not any(map(target.matches, others))
