"""Kueue's webhook for JobSets: the grammar of its keys, the places of errors, and hostile values.

test_kueue_webhook.py in tests/conformance compares with the real webhook.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from linting import patch, replicated, runtime_of, trainjob
from manifests import write_json
from running import run

import trainc
from trainc.compilation.run import Options
from trainc.diagnostics import Diagnostic, Place
from trainc.pipeline.checks import kueue_webhook
from trainc.pipeline.checks.kueue_webhook import annotated_pods, jobset_keys
from trainc.pipeline.checks.kueue_webhook.topology import read_levels
from trainc.pipeline.objects import QUEUE
from trainc.pipeline.passes.verify import KUEUE

DOMAIN = "kueue.x-k8s.io/"
RACK = "acme.io/rack"
ON_JOBS = "spec.replicatedJobs[{}].template.spec.template.metadata.annotations"


def stored_job(name: str = "node", pods: int = 4, replicas: int = 1, **annotations: Any) -> dict[str, Any]:
    """Return a replicated job as it is stored; an annotation `slice_size` is `podset-slice-size` of Kueue."""
    keys = {f"{DOMAIN}podset-{key.replace('_', '-')}": value for key, value in annotations.items()}
    pod = {"metadata": {"annotations": keys}, "spec": {"containers": []}}
    spec = {"parallelism": pods, "completions": pods, "template": pod}
    return {"name": name, "replicas": replicas, "template": {"spec": spec}}


def violations(*jobs: dict[str, Any], labels: Any = None, **annotations: Any) -> list[tuple[str, str]]:
    """Return the id of each violation, and its field without the common part."""
    keys = {DOMAIN + key.replace("_", "-"): value for key, value in annotations.items()}
    metadata = {"name": "js", "labels": labels or {}, "annotations": keys}
    listed = kueue_webhook.violations({"metadata": metadata, "spec": {"replicatedJobs": list(jobs)}})
    return [(each.rule, each.field.replace(DOMAIN, "").partition("annotations")[2]) for each in listed]


def label_fields(key: str, value: str) -> list[str]:
    """Return the fields of the violations of a label."""
    metadata = {"name": "js", "labels": {DOMAIN + key: value}}
    return [each.field for each in kueue_webhook.violations({"metadata": metadata, "spec": {}})]


@pytest.mark.parametrize(
    ("key", "valid", "invalid"),
    [
        ("queue-name", ["q", "a.b-c", "1"], ["", "Q", "a_b", "-a", "a..b", "a" * 254, "a\n"]),
        ("prebuilt-workload-name", ["w", "a.b"], ["", "W", "a/b"]),
        (
            "max-exec-time-seconds",
            ["1", "+1", "007", "9223372036854775807"],
            ["", "0", "-1", "1s", " 1", "1_0", "0x1", "1.0", "٣", "9223372036854775808", "9" * 5000],
        ),
    ],
)
def test_a_label(key: str, valid: list[str], invalid: list[str]) -> None:
    assert [value for value in valid if label_fields(key, value)] == []
    assert [value for value in invalid if label_fields(key, value) != [f"metadata.labels[{DOMAIN}{key}]"]] == []


def test_the_annotation_of_a_prebuilt_workload_counts_before_the_label() -> None:
    label = {f"{DOMAIN}prebuilt-workload-name": "W"}
    assert violations(labels=label, prebuilt_workload_name="w") == []
    assert violations(labels=label, prebuilt_workload_name="V") == [("prebuilt-workload", "[prebuilt-workload-name]")]
    assert violations(labels=label, prebuilt_workload_name="") == [("prebuilt-workload", "")]


@pytest.mark.parametrize("value", ["false", "TRUE", "", "1"])
def test_only_true_is_an_elastic_job(value: str) -> None:
    assert violations(elastic_job=value) == []
    assert violations(elastic_job="true") == [("elastic-jobset", "[elastic-job]")]


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [
        ("", True),
        ("  ", True),
        ("a.io/b", True),
        (" a.io/b , a.io/c ", True),
        ("a.io/b,", False),
        ("a.io/b,a.io/b", False),
        ("a.io/b, a.io/b", False),
        ("b", False),
        ("A.io/b", False),
        ("a.io/", False),
        (f"a.io/{'b' * 58}", True),
        (f"a.io/{'b' * 59}", False),
    ],
)
def test_an_admission_gate(value: str, is_valid: bool) -> None:
    assert violations(admission_gated_by=value) == ([] if is_valid else [("admission-gate", "[admission-gated-by]")])


@pytest.mark.parametrize("value", ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"])
def test_a_boolean(value: str) -> None:
    assert violations(stored_job(unconstrained_topology=value)) == []


@pytest.mark.parametrize("value", ["", "yes", "no", "on", "tRUE", "2", " true"])
def test_no_boolean(value: str) -> None:
    assert violations(stored_job(unconstrained_topology=value)) == [
        ("topology-request", "[podset-unconstrained-topology]")
    ]


def test_one_request_per_pod_set() -> None:
    several = stored_job(required_topology=RACK, preferred_topology=RACK, unconstrained_topology="true")
    assert violations(several) == [("topology-request", "")]
    assert violations(stored_job(required_topology=RACK), stored_job("b", preferred_topology=RACK)) == []


@pytest.mark.parametrize("value", ["", "/rack", "rack/", "a/b/c", "Acme.io/rack", "-rack", "r" * 64, "r" * 400])
def test_no_label_key(value: str) -> None:
    assert violations(stored_job(required_topology=value)) == [("topology-request", "[podset-required-topology]")]
    assert violations(stored_job(preferred_topology=value)) == [("topology-request", "[podset-preferred-topology]")]
    sliced = stored_job(slice_required_topology=value, slice_size="1")
    assert violations(sliced) == [("topology-slices", "[podset-slice-required-topology]")]


SIZE = ("topology-slices", "[podset-slice-size]")
LEVELS = "[podset-slice-required-topology-constraints]"


@pytest.mark.parametrize(
    ("text", "pods", "is_valid"),
    [
        ("1", 4, True),
        ("4", 4, True),
        ("+04", 4, True),
        ("5", 4, False),
        ("0", 4, False),
        ("-1", 4, False),
        ("", 4, False),
        (" 2", 4, False),
        ("2.0", 4, False),
        ("4294967297", 4, False),
        ("1", 0, False),
    ],
)
def test_a_slice_size(text: str, pods: int, is_valid: bool) -> None:
    sliced = stored_job(pods=pods, slice_required_topology=RACK, slice_size=text)
    assert violations(sliced) == ([] if is_valid else [SIZE])


def test_the_size_of_a_pod_set_counts_replicas_and_completions() -> None:
    sliced: dict[str, Any] = {"slice_required_topology": RACK, "slice_size": "6"}
    assert violations(stored_job(pods=2, replicas=3, **sliced)) == []
    few = stored_job(pods=6, **sliced)
    few["template"]["spec"]["completions"] = 5
    assert violations(few) == [SIZE]
    del few["template"]["spec"]["completions"]
    assert violations(few) == []
    del few["template"]["spec"]["parallelism"]
    assert violations(few) == [SIZE]


def test_slices_need_both_keys() -> None:
    assert violations(stored_job(slice_required_topology=RACK)) == [SIZE]
    assert violations(stored_job(slice_size="2")) == [SIZE]


def levels(*pairs: tuple[str, int]) -> str:
    return json.dumps([{"topology": topology, "size": size} for topology, size in pairs])


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (levels((RACK, 4)), []),
        (levels(("a", 4), ("b", 2), ("c", 1)), []),
        (levels(("a", 4), ("b", 4)), []),
        ('[{"TOPOLOGY": "rack", "Size": 2, "more": [1]}]', []),
        ('[{"topology": "rack", "topology": null, "size": 3, "size": 2}]', []),
        ("[]", [""]),
        ("null", [""]),
        ("", [""]),
        ("x", [""]),
        ("{}", [""]),
        ('"a"', [""]),
        ("[NaN]", [""]),
        (levels(("a", 4), ("b", 2), ("c", 1), ("d", 1)), [""]),
        ("[null]", ["[0].topology", "[0].size"]),
        ("[1]", ["[0]"]),
        ("[[]]", ["[0]"]),
        ('[{"topology": 1, "size": 1}]', ["[0]"]),
        ('[{"topology": "rack", "size": "1"}]', ["[0]"]),
        ('[{"topology": "rack", "size": 1.0}]', ["[0]"]),
        ('[{"topology": "rack", "size": 1e0}]', ["[0]"]),
        ('[{"topology": "rack", "size": 2147483648}]', ["[0]"]),
        (f'[{{"topology": "rack", "size": {"9" * 5000}}}]', ["[0]"]),
        ('[{"topology": "rack", "size": 0}]', ["[0].size"]),
        ('[{"topology": "rack", "size": -2}]', ["[0].size"]),
        (levels(("a/b/c", 2)), ["[0].topology"]),
        (levels(("r" * 400, 2)), ["[0].topology"]),
        (levels(("a", 2), ("a", 1)), ["[1].topology"]),
        (levels(("a", 4), ("b", 3)), ["[1].size"]),
        (levels(("a", 2), ("b", 4)), ["[1].size"]),
        (levels(("a", 5)), [""]),
    ],
)
def test_the_levels_of_slices(text: str, fields: list[str]) -> None:
    wanted = [("topology-slices", f"{LEVELS}{field}") for field in fields]
    assert violations(stored_job(slice_required_topology_constraints=text)) == wanted


def test_the_two_forms_of_slices_exclude_each_other() -> None:
    both = stored_job(
        slice_required_topology_constraints=levels(("a", 2)), slice_required_topology=RACK, slice_size="2"
    )
    assert violations(both) == [("topology-slices", LEVELS)]


@pytest.mark.parametrize("text", ["[" * 2**20, '{"a":' * 2**18, f"[{'1,' * 2**19}1]", f'"{"a" * 2**20}"', "9" * 2**20])
def test_a_mebibyte_of_json_is_one_violation(text: str) -> None:
    started = time.process_time()
    assert violations(stored_job(slice_required_topology_constraints=text)) == [("topology-slices", LEVELS)]
    assert time.process_time() - started < 5


def test_equal_levels_in_other_case_are_distinct() -> None:
    assert [level.topology for level in read_levels('[{"topology": "A", "size": 1}, {"topology": "a"}]')] == ["A", "a"]


GROUP = ("pod-set-group", "[podset-group-name]")
IN_GROUP: dict[str, Any] = {"required_topology": RACK, "group_name": "g"}


@pytest.mark.parametrize("name", ["7", "007", "18446744073709551615"])
def test_a_group_is_not_a_number(name: str) -> None:
    jobs = [stored_job(one, pods=1, required_topology=RACK, group_name=name) for one in "ab"]
    assert violations(*jobs) == [GROUP, GROUP]


@pytest.mark.parametrize("name", ["g", "", "+7", "-7", "7 ", "18446744073709551616"])
def test_a_group_with_another_name(name: str) -> None:
    assert violations(*(stored_job(one, pods=1, required_topology=RACK, group_name=name) for one in "ab")) == []


def test_the_jobs_of_a_group() -> None:
    assert violations(stored_job("a", pods=1, **IN_GROUP), stored_job("b", **IN_GROUP)) == []
    assert violations(stored_job("a", **IN_GROUP)) == [GROUP]
    assert violations(*(stored_job(name, pods=1, **IN_GROUP) for name in "abc")) == [GROUP, GROUP, GROUP]
    assert violations(stored_job("a", pods=2, **IN_GROUP), stored_job("b", **IN_GROUP)) == [GROUP, GROUP]


@pytest.mark.parametrize("other", [{"required_topology": "acme.io/block"}, {"preferred_topology": RACK}])
def test_the_jobs_of_a_group_request_one_topology(other: dict[str, Any]) -> None:
    jobs = stored_job("a", pods=1, **IN_GROUP), stored_job("b", group_name="g", **other)
    assert violations(*jobs) == [("pod-set-group", ""), ("pod-set-group", "")]


def test_a_group_needs_a_topology_and_has_no_slices() -> None:
    assert violations(stored_job(group_name="g")) == [GROUP]
    sliced = stored_job("b", pods=1, **IN_GROUP, slice_required_topology=RACK, slice_size="1")
    assert violations(stored_job("a", **IN_GROUP), sliced) == [GROUP]


def test_ten_thousand_groups() -> None:
    jobs = [stored_job(f"j{index}", pods=1, required_topology=RACK, group_name=f"g{index}") for index in range(10_000)]
    started = time.process_time()
    assert len(violations(*jobs)) == 10_000
    assert time.process_time() - started < 5


def test_the_trigger_knows_all_keys() -> None:
    of_jobset = {jobset_keys.PREBUILT, jobset_keys.MAX_EXEC, jobset_keys.ELASTIC, jobset_keys.GATES, QUEUE}
    of_pods = {value for value in vars(annotated_pods).values() if str(value).startswith(annotated_pods.PREFIX)}
    assert of_jobset | of_pods - {annotated_pods.PREFIX} == KUEUE


# The places of errors

PODS = {"annotations": {f"{DOMAIN}podset-slice-size": "2"}}


def errors(folder: Path, *documents: Any) -> list[Diagnostic]:
    done = trainc.compile([write_json(folder, *documents)], options=Options())
    return [each for each in done.diagnostics if each.severity == "error"]


def test_an_annotation_of_the_runtime_is_shown_at_its_key(tmp_path: Path) -> None:
    (error,) = errors(tmp_path, runtime_of(replicated(of_pods=PODS)), trainjob(numNodes=4))
    assert (error.id, error.stage, error.field) == (
        "topology-slices",
        "kueue",
        f"{ON_JOBS.format(0)}[{DOMAIN}podset-slice-size]",
    )
    assert isinstance(error.place, Place)
    assert (error.place.key, error.place.path[-1]) == (True, f"{DOMAIN}podset-slice-size")


def test_the_key_has_the_line_of_the_key(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\nspec:\n"
        "  runtimeRef: {name: torch-distributed}\n  runtimePatches:\n  - manager: acme.io/m\n"
        "    trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: "
        "{metadata: {\n"
        f"      annotations: {{\n        {DOMAIN}podset-group-name:\n          group}}\n    }}}}}}}}}}]}}}}}}\n"
    )
    output = run("validate", str(path)).out
    assert "x.yaml:10:9: error[pod-set-group]" in output


def test_an_annotation_of_a_patch_is_shown_in_the_patch(tmp_path: Path) -> None:
    patched = patch({})
    (of_node,) = patched["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    of_node["template"]["spec"]["template"] = {"metadata": PODS}
    (error,) = errors(tmp_path, runtime_of(), trainjob(patches=[patched], numNodes=4))
    assert isinstance(error.place, Place)
    assert error.place.path[:2] == ("spec", "runtimePatches")
    assert error.place.key


def test_a_label_of_the_trainjob(tmp_path: Path) -> None:
    (error,) = errors(tmp_path, runtime_of(), trainjob(labels={f"{DOMAIN}queue-name": "a_b"}))
    assert (error.id, error.field) == ("queue-name", f"metadata.labels[{DOMAIN}queue-name]")
    assert isinstance(error.place, Place)
    assert error.place.path == ("metadata", "labels", f"{DOMAIN}queue-name")


def test_an_error_prevents_the_output(tmp_path: Path) -> None:
    path = write_json(tmp_path, runtime_of(), trainjob(labels={f"{DOMAIN}queue-name": "a_b"}))
    assert (run("build", path).code, run("build", path).out) == (1, "")


# The former lint rule

IGNORE = "trainc.dev/lint-ignore"


@pytest.mark.parametrize(("value", "ids"), [("true", ["elastic-jobset", "unknown-rule"]), ("false", ["unknown-rule"])])
def test_the_annotation_cannot_disable_an_error(tmp_path: Path, value: str, ids: list[str]) -> None:
    annotations = {f"{DOMAIN}elastic-job": value, IGNORE: "elastic-jobset"}
    done = trainc.compile([write_json(tmp_path, runtime_of(), trainjob(annotations=annotations))])
    assert [each.id for each in done.diagnostics] == ids
    assert done.diagnostics[-1].message == "elastic-jobset is not a lint rule, and cannot be turned off"
    assert done.diagnostics[-1].help == "remove it"


def test_an_id_like_no_other(tmp_path: Path) -> None:
    done = trainc.compile([write_json(tmp_path, runtime_of(), trainjob(annotations={IGNORE: "xyz"}))])
    assert [each.message for each in done.diagnostics] == [f'unknown rule "xyz" in {IGNORE}']
    assert done.diagnostics[0].help == "use the id of a lint rule, which a report has in brackets"
