"""The sentences of schemas/descriptions.json: each field outside of pods has one, and each of them is used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from trainc.base.kinds import LEGACY, OF_KUEUE, OF_TRAINC, WITH_SCHEMA
from trainc.base.releases import RELEASES
from trainc.base.trainjob_dialects import DIALECTS
from trainc.frontends.descriptions import sentence
from trainc.frontends.extensions import schema_of

ROOT = Path(__file__).resolve().parents[2]
SENTENCES: dict[str, str] = json.loads((ROOT / "schemas" / "descriptions.json").read_text())
LONGEST = 100
LINK = "in the Kubernetes API reference: https://"
DESCRIBED = [kind for kind in WITH_SCHEMA if kind not in (*OF_TRAINC, *(row.name for row in LEGACY))]
Field = tuple[str, tuple[str, ...], bool, str]
"""The kind, the path, whether it is inside of a pod, and the description."""


def fields_of(kind: str, schema: Any) -> Iterator[Field]:
    def fields_below(node: Any, path: tuple[str, ...], in_pod: bool) -> Iterator[Field]:
        node = resolved(node)
        for name, child in node.get("properties", {}).items():
            yield kind, (*path, name), in_pod, resolved(child).get("description", "")
            yield from fields_below(
                child, (*path, name), in_pod or "containers" in resolved(child).get("properties", {})
            )
        for keyword in ("items", "additionalProperties"):
            if isinstance(child := node.get(keyword), dict):
                yield from fields_below(child, path, in_pod or "containers" in resolved(child).get("properties", {}))

    def resolved(node: Any) -> Any:
        return {**schema["$defs"][node["$ref"].rpartition("/")[2]], **node} if "$ref" in node else node

    return fields_below(schema, (), in_pod=False)


@cache
def fields() -> list[Field]:
    found: dict[Field, None] = {}
    for release in RELEASES:
        for kind in DESCRIBED:
            found |= dict.fromkeys(fields_of(kind, schema_of(kind, release)))
    for dialect in DIALECTS.values():
        found |= dict.fromkeys(fields_of("TrainJob", schema_of("TrainJob", RELEASES[-1], dialect.schema)))
    return [*found]


def test_each_field_outside_of_pods_has_a_sentence() -> None:
    assert {(kind, ".".join(path)) for kind, path, in_pod, text in fields() if not in_pod and not text} == set()


def test_each_field_of_a_pod_has_a_sentence_or_a_link() -> None:
    pods = [(path, text) for _, path, in_pod, text in fields() if in_pod]
    assert len(pods) > 1000
    assert {".".join(path) for path, text in pods if not text} == set()
    assert {path[-1] for path, text in pods if LINK in text} > {"enableServiceLinks", "stdin", "hostAliases"}


def test_a_shared_definition_has_the_sentences_of_all_its_fields() -> None:
    own = [(path, "" if LINK in text else text, sentence(kind, path)) for kind, path, _, text in fields()]
    assert {(path, text, of_path) for path, text, of_path in own if text != of_path} == set()


def test_each_sentence_is_used() -> None:
    used = {sentence(kind, path) for kind, path, *_ in fields()}
    assert {*SENTENCES.values()} - used == set()


@pytest.mark.parametrize("kind", [kind for kind in WITH_SCHEMA if kind not in OF_TRAINC])
def test_each_schema_for_editors_is_complete(kind: str) -> None:
    schema = schema_of(kind, RELEASES[-1])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert len([*fields_of(kind, schema)]) > 5
    assert {"name", "labels"} <= schema["properties"]["metadata"]["properties"].keys()


def test_the_namespace_is_of_namespaced_kinds() -> None:
    with_namespace = {
        kind
        for kind in (*OF_KUEUE, "TrainJob", "ClusterTrainingRuntime")
        if "namespace" in schema_of(kind, RELEASES[-1])["properties"]["metadata"]["properties"]
    }
    assert with_namespace == {"LocalQueue", "TrainJob"}


def test_a_sentence_is_short_and_has_no_full_stop() -> None:
    assert {key for key, text in SENTENCES.items() if len(text) > LONGEST or text.endswith(".")} == set()
    assert {key for key, text in SENTENCES.items() if not (text[0].isupper() or text[0] in "`0123456789")} == set()
