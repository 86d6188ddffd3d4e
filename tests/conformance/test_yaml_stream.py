"""Every recorded stream: split and read as apimachinery's documentDecoder does."""

from __future__ import annotations

from typing import Any

from batches import in_batches
from conformance.recordings import are_equal, lines

from trainc.kubernetes.documents import read_stream, split

LOST_BY_THE_DECODER = {
    "stream#8": "text after `...`",
    "stream#37": "the first of two duplicate keys",
    "random/14": "a second top-level value",
    "random/20": "text after a separator",
}
"""Deliberate differences: streams that the decoder reads without an error, and trainc rejects."""


@in_batches("case", lines("yaml_stream"))
def test_chunks(case: dict[str, Any]) -> None:
    expected = case["output"]["documentDecoder"]["chunks"]
    chunks, _ = split(case["input"]["text"])
    assert len(chunks) == len(expected)
    for chunk, recorded in zip(chunks, expected, strict=True):
        assert chunk.text in (recorded, recorded + "\n")  # the newline before a separator belongs to the document


@in_batches("case", lines("yaml_stream"))
def test_documents(case: dict[str, Any]) -> None:
    expected = case["output"]["decoder"]["documents"]
    values = [document["json"] for document in expected if "json" in document]
    documents, errors = read_stream(case["input"]["text"].encode())
    read = [document.value for document in documents]
    if case["name"] in LOST_BY_THE_DECODER:
        assert errors
    elif any("error" in document for document in expected):
        assert errors
        assert are_equal(read[: len(values)], values)
    else:
        assert errors == []
        assert are_equal(read, values)
