"""Values after a round trip through Go types: dropped, changed and kept fields; unchanged subtrees are shared."""

from __future__ import annotations

import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from trainc.kubernetes.gotypes import ROOT, WrongTypeError, as_go_type, as_patch, struct

CONTAINER, POD, VOLUME = "core/v1.Container", "core/v1.PodSpec", "core/v1.Volume"
META, PROBE, FIELD = "meta/v1.ObjectMeta", "core/v1.Probe", "core/v1.ResourceFieldSelector"
RESOURCES, EMPTY_DIR = "core/v1.ResourceRequirements", "core/v1.EmptyDirVolumeSource"
CONDITION = "batch/v1.PodFailurePolicyOnPodConditionsPattern"


@pytest.mark.parametrize(
    ("type_name", "before", "after"),
    [
        pytest.param(POD, {"hostNetwork": False, "hostPID": True}, {"hostPID": True}, id="false"),
        pytest.param(POD, {"serviceAccountName": "", "nodeName": "n"}, {"nodeName": "n"}, id="empty text"),
        pytest.param(PROBE, {"initialDelaySeconds": 0, "periodSeconds": 1}, {"periodSeconds": 1}, id="zero"),
        pytest.param(POD, {"tolerations": [], "nodeSelector": {}}, {}, id="empty list and map"),
        pytest.param("batch/v1.SuccessPolicy", {"rules": []}, {}, id="an empty list without omitempty"),
        pytest.param("core/v1.EnvVar", {"name": "A", "value": ""}, {"name": "A"}, id="value of a variable"),
        pytest.param(POD, {"color": "red", "Hostname": "h"}, {}, id="fields that the type does not have, by case too"),
        pytest.param(
            VOLUME,
            {"name": "v", "emptyDir": None, "hostPath": {"path": "/x", "type": None}},
            {"name": "v", "hostPath": {"path": "/x"}},
            id="null for a pointer",
        ),
        pytest.param(
            POD,
            {"hostNetwork": None, "nodeName": None, "tolerations": None, "nodeSelector": None},
            {},
            id="null for anything with omitempty",
        ),
        pytest.param(
            CONTAINER,
            {"name": None, "resources": None},
            {"name": "", "resources": {}},
            id="null for a type without an unset value",
        ),
        pytest.param("core/v1.ExecAction", {"command": ["a", None]}, {"command": ["a", ""]}, id="null for an item"),
        pytest.param(RESOURCES, {"limits": {"cpu": None}}, {"limits": {"cpu": "0"}}, id="null for a quantity"),
        pytest.param(META, {"labels": {"a": None}}, {"labels": {"a": ""}}, id="null for a label"),
        pytest.param(
            POD,
            {"overhead": {"cpu": "1000m", "memory": 1024}},
            {"overhead": {"cpu": "1", "memory": "1024"}},
            id="quantities in a map",
        ),
        pytest.param(EMPTY_DIR, {"sizeLimit": "0.5Gi"}, {"sizeLimit": "512Mi"}, id="quantity behind a pointer"),
        pytest.param(
            FIELD,
            {"resource": "limits.cpu"},
            {"resource": "limits.cpu", "divisor": "0"},
            id="a quantity that is always written",
        ),
        pytest.param(CONDITION, {"type": "T"}, {"type": "T", "status": ""}, id="text that is always written"),
        pytest.param(
            POD, {"terminationGracePeriodSeconds": 30.0}, {"terminationGracePeriodSeconds": 30}, id="a whole float"
        ),
    ],
)
def test_rewritten(type_name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    given = deepcopy(before)
    assert repr_sorted(as_go_type(before, type_name)) == repr_sorted(after)
    assert before == given


@pytest.mark.parametrize(
    ("type_name", "value"),
    [
        pytest.param("batch/v1.JobSpec", {"backoffLimit": 0, "suspend": False}, id="zero and false behind a pointer"),
        pytest.param("core/v1.SecurityContext", {"privileged": False, "runAsUser": 0}, id="and in a security context"),
        pytest.param(VOLUME, {"name": "v", "emptyDir": {}}, id="an empty struct behind a pointer"),
        pytest.param(POD, {"securityContext": {}, "affinity": {"nodeAffinity": {}}}, id="and elsewhere"),
        pytest.param(CONTAINER, {"name": "c", "resources": {}}, id="an empty struct"),
        pytest.param("jobset/v1alpha2.ReplicatedJob", {"name": "", "template": {}}, id="empty text without omitempty"),
        pytest.param(META, {"labels": {"a": ""}}, id="empty text in a map"),
        pytest.param(CONTAINER, {"name": "c", "args": [""]}, id="empty text in a list"),
        pytest.param("core/v1.HTTPGetAction", {"port": 0}, id="port zero"),
        pytest.param("core/v1.HTTPGetAction", {"port": "http"}, id="port by name"),
        pytest.param(POD, {"overhead": {"cpu": "12e0", "memory": "1Gi"}}, id="quantities that Go keeps unchanged"),
        pytest.param("core/v1.GRPCAction", {"port": 1}, id="a pointer without omitempty"),
        pytest.param(ROOT, {}, id="nothing"),
    ],
)
def test_stays(type_name: str, value: dict[str, Any]) -> None:
    assert as_go_type(value, type_name) is value


@pytest.mark.parametrize(
    ("type_name", "before", "after"),
    [
        pytest.param("core/v1.NodeSelector", {"nodeSelectorTerms": []}, {"nodeSelectorTerms": []}, id="an empty list"),
        pytest.param("core/v1.ProjectedVolumeSource", {}, {"sources": None}, id="a missing list"),
        pytest.param(
            "core/v1.TypedObjectReference",
            {"kind": "K", "name": "n"},
            {"apiGroup": None, "kind": "K", "name": "n"},
            id="a missing pointer",
        ),
        pytest.param(
            POD,
            {"nodeName": "", "tolerations": [], "containers": [{"name": "c"}]},
            {"containers": [{"name": "c"}]},
            id="with omitempty it goes",
        ),
        pytest.param(FIELD, {"resource": "r"}, {"resource": "r", "divisor": "0"}, id="what is always written"),
    ],
)
def test_as_patch(type_name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    assert as_patch(before, type_name) == after


def test_as_patch_of_a_sparse_type() -> None:
    patch = {
        "serviceAccountName": "",
        "hostNetwork": False,
        "tolerations": [],
        "volumes": [{"name": "p", "projected": {}}],
    }
    assert as_patch(patch, POD, sparse=frozenset({POD})) == {
        "serviceAccountName": "",
        "hostNetwork": False,
        "volumes": [{"name": "p", "projected": {"sources": None}}],
    }
    assert as_patch(patch, POD)["containers"] is None, "sparse types are their own matter"


def test_what_does_not_change_is_shared() -> None:
    volumes, kept, changed = [{"name": "v", "emptyDir": {}}], {"name": "a"}, {"name": "b", "tty": False}
    before = {"volumes": volumes, "containers": [kept, changed]}
    after = as_go_type(before, POD)
    assert after == {"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "a"}, {"name": "b"}]}
    assert after["volumes"] is volumes
    assert after["containers"][0] is kept
    assert as_go_type(after, POD) is after


@pytest.mark.parametrize(
    ("type_name", "value", "message"),
    [
        (
            POD,
            {"containers": [{"name": "a"}, {"name": "b", "env": {}}]},
            "containers.1.env: expected a list, found dict",
        ),
        (POD, {"securityContext": []}, "securityContext: expected a mapping, found list"),
        (POD, {"hostNetwork": "yes"}, "hostNetwork: expected bool, found yes"),
        (POD, {"nodeSelector": {"a": 1}}, "nodeSelector.a: expected string, found int"),
        (POD, {"terminationGracePeriodSeconds": True}, "terminationGracePeriodSeconds: expected int64, found bool"),
        (RESOURCES, {"limits": {"cpu": []}}, "limits.cpu: expected a quantity, found"),
    ],
)
def test_a_wrong_type_is_an_internal_error(type_name: str, value: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongTypeError) as raised:
        as_go_type(value, type_name)
    assert str(raised.value).startswith(message)
    assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("spelled", ["tolerations", "Tolerations", "TOLERATIONS", "toleration\u017f"])
def test_fields_are_found_without_case(spelled: str) -> None:
    pod = struct(POD)
    assert pod is not None
    assert pod.find(spelled) is pod.fields["tolerations"]


@pytest.mark.parametrize("spelled", ["toleration", "tolerations ", "", "t\u00f6lerations"])
def test_other_names_are_not(spelled: str) -> None:
    pod = struct(POD)
    assert pod is not None
    assert pod.find(spelled) is None


def test_the_data_is_fresh() -> None:
    script = Path(__file__).parents[2] / "scripts" / "make_gotypes.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0


def repr_sorted(value: Any) -> str:
    """Compare types too, but not the order of keys."""
    if isinstance(value, dict):
        return str({key: repr_sorted(value[key]) for key in sorted(value)})
    return str([repr_sorted(item) for item in value]) if isinstance(value, list) else repr(value)
