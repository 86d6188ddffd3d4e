"""The files in schemas/: their source, complete support for their keywords, and agreement with another validator."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from trainc.base.kinds import EACH, JOB, KINDS, RUNTIME, RUNTIMES, Kind
from trainc.base.releases import RELEASES, TrainerRelease
from trainc.frontends import extensions
from trainc.kubernetes.gotypes import GoField, Struct
from trainc.kubernetes.structural import StructuralSchema, bundled
from trainc.pipeline.checks import cel, optimization_rules
from trainc.pipeline.frameworks import FRAMEWORKS
from trainc.settings.schema import constraints

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "schemas").glob("*/*.json"))
PUBLISHED = {path.stem: bundled(path.stem, path.parent.name) for path in FILES if path.stem != "definitions"}
SCHEMAS = {**PUBLISHED, "Settings": constraints(PUBLISHED["Settings"])}
"""The schemas that trainc applies."""
each_file = pytest.mark.parametrize("kind", sorted(SCHEMAS))


def resolved(schema: Any, root: Any) -> Any:
    return root["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def subschemas(schema: Any, root: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every subschema with its path in an object."""
    schema = resolved(schema, root)
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from subschemas(child, root, (*path, name))
    if "items" in schema:
        yield from subschemas(schema["items"], root, (*path, EACH))
    if "additionalProperties" in schema:
        yield from subschemas(schema["additionalProperties"], root, (*path, EACH))


def fullest(schema: Any, root: Any) -> Any:
    """Return an object with every field of a schema, so that every part of the schema is compiled."""
    schema = resolved(schema, root)
    if schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields"):
        return 1
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return {"any": [None]}
    match schema["type"]:
        case "object" if "additionalProperties" in schema:
            return {"key": fullest(schema["additionalProperties"], root)}
        case "object":
            return {name: fullest(child, root) for name, child in schema.get("properties", {}).items()}
        case "array":
            return [fullest(schema["items"], root)]
        case "string":
            text = "2026-01-01T00:00:00Z" if schema.get("format") else "1" if schema.get("pattern") else "a"
            return schema.get("enum", [text])[0]
    return {"integer": max(1, schema.get("minimum", 1)), "boolean": True}[schema["type"]]


def check_schema(schema: Any) -> None:
    """Check that a document is a JSON schema; most definitions are in many of them."""
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    for part in (rest, *schema.get("$defs", {}).values()):
        check_part(json.dumps(part))


@cache
def check_part(text: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


@each_file
def test_is_a_json_schema(kind: str) -> None:
    check_schema(PUBLISHED[kind])
    assert PUBLISHED[kind]["title"] == kind


@each_file
def test_every_keyword_is_implemented(kind: str) -> None:
    value = fullest(SCHEMAS[kind], SCHEMAS[kind])
    admitted = StructuralSchema(SCHEMAS[kind]).admit(value)
    assert admitted.violations == ()
    assert {v.field.split(".")[0] for v in admitted.unknown} <= {"metadata"}


WORDS_OF_TORCH = ("spec", "mlPolicy", "torch", "numProcPerNode"), "7eb793d9fdbb"
"""The rule that `pipeline.checks.dialect.runtime_processes` implements, also for dialects without a CRD."""


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
@pytest.mark.parametrize("kind", sorted(cel.RULES))
def test_every_creation_rule_of_a_release_is_implemented(kind: str, release: TrainerRelease) -> None:
    schema = bundled(kind, release.jobset if kind == "JobSet" else release.crds)
    paths = {path for path, _ in subschemas(schema, schema)}
    wanted = {
        (path, hashlib.sha256(rule["rule"].encode()).hexdigest()[:12])
        for path, schema in subschemas(schema, schema)
        for rule in schema.get("x-kubernetes-validations", ())
        if "oldSelf" not in rule["rule"]
    }
    rules = [rule for rule in cel.RULES[kind] if not rule.optional or rule.check.__name__ in release.rules]
    implemented = {(rule.at, digest) for rule in rules for digest in rule.digests}
    assert wanted - {WORDS_OF_TORCH} <= implemented
    if release.source == "code":
        assert [
            rule.at for rule in rules if rule.at in paths and not {(rule.at, d) for d in rule.digests} & wanted
        ] == []


def test_every_creation_rule_of_an_optimization_job_is_implemented() -> None:
    schema = SCHEMAS["OptimizationJob"]
    wanted = [
        (path, hashlib.sha256(rule["rule"].encode()).hexdigest()[:12])
        for path, part in subschemas(schema, schema)
        for rule in part.get("x-kubernetes-validations", ())
        if "oldSelf" not in rule["rule"]
    ]
    assert sorted(wanted) == sorted((rule.at, *rule.digests) for rule in optimization_rules.RULES)


def test_the_rules_of_the_releases_exist() -> None:
    optional = {rule.check.__name__ for rules in cel.RULES.values() for rule in rules if rule.optional}
    assert {name for release in RELEASES for name in release.rules} == optional


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
@pytest.mark.parametrize("kind", [row.kind for row in RUNTIMES])
def test_a_runtime_with_the_extensions_is_implemented_too(kind: str, release: TrainerRelease) -> None:
    schema = extensions.schema(kind, release.crds)
    check_schema(schema)
    admitted = StructuralSchema(schema).admit(fullest(schema, schema))
    assert admitted.violations == ()
    assert {v.field.split(".")[0] for v in admitted.unknown} <= {"metadata"}


@pytest.mark.parametrize("path", sorted((ROOT / "schemas" / "extensions").iterdir()), ids=lambda path: path.name)
def test_an_extension_is_a_framework_s_own(path: Path) -> None:
    assert path.stem in FRAMEWORKS
    definitions = SCHEMAS[path.stem].get("$defs", {}).keys()
    others = [SCHEMAS[RUNTIME.kind], *(schema for kind, schema in SCHEMAS.items() if kind in FRAMEWORKS)]
    taken = [name for other in others if other is not SCHEMAS[path.stem] for name in other.get("$defs", {})]
    assert not definitions & set(taken)


@pytest.mark.skipif("TRAINC_CRDS" not in os.environ, reason="TRAINC_CRDS=DIR")
def test_files_are_up_to_date() -> None:
    script = ROOT / "scripts" / "make_schemas.py"
    subprocess.run([sys.executable, script, os.environ["TRAINC_CRDS"], "--check"], check=True)


POD = ("spec", "template", "spec", "replicatedJobs", 0, "template", "spec", "template", "spec")
CONTAINER = (*POD, "containers", 0)


def minimal_runtime() -> Any:
    pod = {"containers": [{"name": "node", "image": "i"}]}
    jobs = [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]
    return {"metadata": {"name": "r"}, "spec": {"template": {"spec": {"replicatedJobs": jobs}}}}


def with_field(value: Any, path: tuple[str | int, ...], field: Any) -> Any:
    at = value
    for step in path[:-1]:
        at = at.setdefault(step, {}) if isinstance(at, dict) else at[step]
    at[path[-1]] = field
    return value


@pytest.mark.parametrize(
    ("path", "good", "bad"),
    [
        pytest.param((*CONTAINER, "image"), ["", "a"], [1, True, [], {}], id="string"),
        pytest.param((*CONTAINER, "tty"), [True, False], ["true", 1, 0], id="boolean"),
        pytest.param((*CONTAINER, "args"), [[], ["a"]], ["a", [1], [None], {"a": "b"}], id="list"),
        pytest.param((*CONTAINER, "env"), [[], [{"name": "a"}]], [[{}], [{"name": 1}], {"A": "b"}], id="list of maps"),
        pytest.param((*CONTAINER, "resources"), [{}, {"limits": {}}], [[], "x", {"limits": []}], id="mapping"),
        pytest.param(
            (*CONTAINER, "resources", "limits"),
            [{"a": 1}, {"a": "500m"}, {"a": "1Gi", "b": "1E"}],
            [{"a": "1GB"}, {"a": 1.5}, {"a": True}, {"a": ""}, {"a": []}],
            id="quantities",
        ),
        pytest.param((*CONTAINER, "ports"), [[{"containerPort": 80}]], [[{}], [{"containerPort": "80"}]], id="ports"),
        pytest.param((*POD, "nodeSelector"), [{}, {"a": "b"}], [{"a": 1}, ["a"]], id="map of strings"),
        pytest.param((*POD, "containers"), [[], [{"name": "a"}]], [None, "x", [{}], [[]]], id="required"),
        pytest.param(
            ("spec", "template", "spec", "ttlSecondsAfterFinished"), [0, 5, 5.0], [-1, "5", 1.5], id="minimum"
        ),
        pytest.param(("spec", "template"), [{"spec": {}}], [{}, [], 5], id="at least one field"),
        pytest.param(("spec", "mlPolicy", "mpi", "mpiImplementation"), ["OpenMPI", ""], ["MPICH", 1], id="enum"),
        pytest.param(("spec", "mlPolicy", "mpi", "sshAuthMountPath"), ["a" * 4096], ["a" * 4097], id="maxLength"),
    ],
)
def test_jsonschema_agrees(path: tuple[str | int, ...], good: list[Any], bad: list[Any]) -> None:
    ours = StructuralSchema(SCHEMAS["TrainingRuntime"])
    theirs = jsonschema.Draft202012Validator(SCHEMAS["TrainingRuntime"])
    for field, valid in [*((field, True) for field in good), *((field, False) for field in bad)]:
        value = with_field(minimal_runtime(), path, field)
        assert theirs.is_valid(value) is valid, (field, "jsonschema")
        assert (ours.admit(value).violations == ()) is valid, (field, "ours")


def is_pod_template(schema: Any, root: Any) -> bool:
    spec = resolved(schema.get("properties", {}).get("spec", {}), root)
    return "containers" in spec.get("properties", {})


@pytest.mark.parametrize("row", [pytest.param(row, id=row.kind) for row in KINDS if row is not JOB])
def test_a_row_of_the_table_of_kinds_has_the_paths_of_all_pod_templates(row: Kind) -> None:
    root = PUBLISHED[row.kind]
    assert {path for path, schema in subschemas(root, root) if is_pod_template(schema, root)} == set(row.pods)


def test_the_row_of_a_job_has_the_path_of_its_pod_template() -> None:
    at, field = Struct("Job", {"spec": GoField("struct", "batch/v1.JobSpec")}), GoField("struct")
    for step in JOB.pods[0]:
        field = at.fields[step]
        at = at.inner_struct(field) or at
    assert (field.of, len(JOB.pods)) == ("core/v1.PodTemplateSpec", 1)


def test_no_two_rows_of_the_table_of_kinds_have_the_same_kind_and_version() -> None:
    keys = [(version, row.kind) for row in KINDS for version in row.versions]
    assert len(keys) == len(set(keys))
