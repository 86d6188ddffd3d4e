"""Every recorded answer of sigs.k8s.io/yaml's strict reader: the same value, or an error from both.

If the answer depends on the order of Go's maps, trainc rejects the text.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from batches import in_batches
from conformance.recordings import are_equal, lines

from trainc.kubernetes.documents import YamlError, parse

OVERRIDE_OF_A_MERGED_KEY = {"doc#47", "doc#52"}
"""Deliberate difference: a mapping's own key may override one that an earlier `<<` set."""

TOO_DEEP = "lists and mappings are nested more than 1000 levels deep"
"""Deliberate difference: libyaml of PyYAML 6.0.4 reads no more levels of brackets."""


@in_batches("case", lines("yaml"))
def test_answer(case: dict[str, Any]) -> None:
    text = _text(case["input"])
    expected = case["output"]["lenient" if case["name"] in OVERRIDE_OF_A_MERGED_KEY else "strict"]
    if "error" in expected or "nondeterministic" in expected:
        with pytest.raises(YamlError) as error:
            parse(text)
        assert error.value.message
        assert error.value.line
    elif "json_text" in expected:  # too deep for Python's JSON reader
        assert _flow(text) in {expected["json_text"], TOO_DEEP}
    else:
        assert are_equal(parse(text), expected["json"])


def _text(given: dict[str, str]) -> str | bytes:
    return base64.b64decode(given["base64"]) if "base64" in given else given["text"]


def _flow(text: str | bytes) -> str:
    """Return nested lists as JSON, or the message of the error."""
    try:
        value = parse(text)
    except YamlError as error:
        return error.message
    depth = 0
    while isinstance(value, list) and len(value) == 1:
        value, depth = value[0], depth + 1
    return "[" * depth + json.dumps(value) + "]" * depth
