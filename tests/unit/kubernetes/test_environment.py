"""The environment that the kubelet builds; the reference cases are those of its own documentation."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from trainc.kubernetes.container_environment import (
    Known,
    Unknown,
    environment,
    expand,
    field_value,
    resource_value,
    sources,
)

LATER = Unknown("later")
POD = Known(
    name=LATER,
    namespace="ml",
    labels={"team": "vision", "acme.io/Tier": "gold", "uid": LATER},
    annotations={"batch.kubernetes.io/job-completion-index": "3"},
    spec={},
)
VARS = {"VAR_A": "A", "VAR_B": "B", "VAR_C": "C", "VAR_REF": "$(VAR_A)", "VAR_EMPTY": "", "": "nobody"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        # Replaced
        ("$(VAR_A)", "A"),
        ("___$(VAR_B)___", "___B___"),
        ("$(VAR_A)-$(VAR_A)", "A-A"),
        ("$(VAR_A)$(VAR_B)$(VAR_C)", "ABC"),
        ("$(VAR_A)_1", "A_1"),
        ("f000-$(VAR_EMPTY)-f", "f000--f"),
        ("$(VAR_A))", "A)"),
        ("$()", "nobody"),
        # Undefined: unchanged
        ("$(VAR_DNE)", "$(VAR_DNE)"),
        ("$(VAR_DNE)-$(VAR_A)", "$(VAR_DNE)-A"),
        ("$(var_a)", "$(var_a)"),
        ("$( VAR_A )", "$( VAR_A )"),
        ("$($(VAR_A))", "$($(VAR_A))"),
        ("$(VAR_A$)", "$(VAR_A$)"),
        # A replacement is not expanded again
        ("$(VAR_REF)", "$(VAR_A)"),
        ("%%$(VAR_REF)--$(VAR_REF)%%", "%%$(VAR_A)--$(VAR_A)%%"),
        # Escaped
        ("f000-$$VAR_A", "f000-$VAR_A"),
        ("foo$$(VAR_A)bar", "foo$(VAR_A)bar"),
        ("$$$(VAR_A)", "$A"),
        ("$$$$(VAR_A)", "$$(VAR_A)"),
        ("$$$$$(VAR_A)", "$$A"),
        ("$$", "$"),
        ("foo$$", "foo$"),
        # No references
        ("", ""),
        ("$", "$"),
        ("$VAR_A", "$VAR_A"),
        ("${VAR_A}", "${VAR_A}"),
        ("foo$", "foo$"),
        ("$(", "$("),
        ("$(VAR_A", "$(VAR_A"),
        ("$(VAR_A$$", "$(VAR_A$"),
        ("\n$(VAR_A)\n", "\nA\n"),
        ("$é$(VAR_A)", "$éA"),
    ],
)
def test_references(text: str, expanded: str) -> None:
    assert expand(text, lambda name: VARS.get(name, f"$({name})")) == expanded


def plain_variables(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in pairs]


def read(name: str, **source: Any) -> dict[str, Any]:
    return {"name": name, "valueFrom": source}


@pytest.mark.parametrize(
    ("env", "made"),
    [
        pytest.param(plain_variables(("A", "1"), ("B", "$(A)$(A)")), {"A": "1", "B": "11"}, id="an earlier variable"),
        pytest.param(plain_variables(("B", "$(A)"), ("A", "1")), {"B": "$(A)", "A": "1"}, id="not a later variable"),
        pytest.param(plain_variables(("A", "1"), ("A", "$(A)2")), {"A": "12"}, id="its own earlier value"),
        pytest.param(plain_variables(("A", "$(A)")), {"A": "$(A)"}, id="not itself"),
        pytest.param(
            plain_variables(("A", "$(B)"), ("B", "1"), ("C", "$(A)")), {"A": "$(B)", "B": "1", "C": "$(B)"}, id="once"
        ),
        pytest.param(plain_variables(("A", "$$(B)"), ("C", "$(A)")), {"A": "$(B)", "C": "$(B)"}, id="escaped once"),
        pytest.param([{"name": "A"}, *plain_variables(("B", "<$(A)>"))], {"A": "", "B": "<>"}, id="empty"),
        pytest.param(
            [read("I", fieldRef={"fieldPath": "metadata.labels['team']"}), *plain_variables(("A", "$(I)!"))],
            {"I": "vision", "A": "vision!"},
            id="a field",
        ),
        pytest.param(
            [read("IP", fieldRef={"fieldPath": "status.podIP"}), *plain_variables(("A", "$(IP)"), ("B", "b"))],
            {
                "IP": Unknown("the node assigns the pod's address"),
                "A": Unknown("IP is not known: the node assigns the pod's address"),
                "B": "b",
            },
            id="a reference to an unknown value",
        ),
        pytest.param(
            plain_variables(("A", "$(KUBERNETES_SERVICE_HOST)"), ("B", "$(KUBERNETES_PORTS)")),
            {
                "A": Unknown("KUBERNETES_SERVICE_HOST is set from a Service of the cluster"),
                "B": "$(KUBERNETES_PORTS)",
            },
            id="services",
        ),
        pytest.param(
            [read("A", fileKeyRef={"volumeName": "v", "path": "p", "key": "k"})],
            {"A": Unknown("it is read from a file when the container starts")},
            id="a file",
        ),
    ],
)
def test_variables(env: list[dict[str, Any]], made: dict[str, Any]) -> None:
    assert environment({"name": "node", "env": env}, POD, {}).variables == made


GIVEN = [
    {"kind": "ConfigMap", "metadata": {"name": "rates"}, "data": {"LR": "0.1", "STEPS": "10"}, "binaryData": {"X": ""}},
    {
        "kind": "Secret",
        "metadata": {"name": "hub", "namespace": "ml"},
        "data": {"TOKEN": b64encode(b"hf_1").decode(), "RAW": b64encode(b"\xff").decode(), "BAD": "%"},
        "stringData": {"USER": "me"},
    },
    {"kind": "ConfigMap", "metadata": {"name": "rates", "namespace": "other"}, "data": {"LR": "9"}},
    {"kind": "Deployment", "metadata": {"name": "rates"}, "data": {"LR": "8"}},
    {"kind": "ConfigMap", "metadata": {"name": "broken"}, "data": ["LR"]},
    {"kind": "ConfigMap"},
    "no mapping",
]
NO_BASE64 = Unknown("it is not base64-encoded text in the given document")
ABSENT = Unknown('Secret "none" is not in the given documents')
PERHAPS = Unknown('ConfigMap "none" is not in the given documents, and may not exist in the cluster')


@pytest.mark.parametrize(
    ("container", "made"),
    [
        pytest.param(
            {"envFrom": [{"configMapRef": {"name": "rates"}}], "env": plain_variables(("A", "$(LR)"), ("STEPS", "5"))},
            {"LR": "0.1", "STEPS": "5", "A": "0.1"},
            id="env comes after envFrom",
        ),
        pytest.param(
            {"envFrom": [{"prefix": "OF_", "secretRef": {"name": "hub"}}]},
            {"OF_BAD": NO_BASE64, "OF_RAW": NO_BASE64, "OF_TOKEN": "hf_1", "OF_USER": "me"},
            id="a prefix",
        ),
        pytest.param(
            {"env": [read("T", secretKeyRef={"name": "hub", "key": "TOKEN"})]}, {"T": "hf_1"}, id="a key of a Secret"
        ),
        pytest.param(
            {"env": [read("R", configMapKeyRef={"name": "rates", "key": "LR"})]}, {"R": "0.1"}, id="of a ConfigMap"
        ),
        pytest.param(
            {"env": [read("R", configMapKeyRef={"name": "rates", "key": "GONE", "optional": True})]},
            {},
            id="an optional key that is missing",
        ),
        pytest.param(
            {"env": [read("R", configMapKeyRef={"name": "rates", "key": "GONE"})]},
            {"R": Unknown('ConfigMap "rates" has no key "GONE": the container will not start')},
            id="a key that is missing",
        ),
        pytest.param({"env": [read("R", secretKeyRef={"name": "none", "key": "K"})]}, {"R": ABSENT}, id="not given"),
        pytest.param(
            {"env": [read("R", configMapKeyRef={"name": "none", "key": "K", "optional": True})]},
            {"R": PERHAPS},
            id="not given, optional",
        ),
        pytest.param(
            {
                "envFrom": [{"prefix": "HUB_", "secretRef": {"name": "none"}}],
                "env": plain_variables(("A", "$(HUB_TOKEN)"), ("B", "$(TOKEN)"), ("HUB_X", "1"), ("C", "$(HUB_X)")),
            },
            {
                "A": Unknown(f"HUB_TOKEN may be set by envFrom: {ABSENT.reason}"),
                "B": "$(TOKEN)",
                "HUB_X": "1",
                "C": "1",
            },
            id="a variable that a missing source may set",
        ),
        pytest.param({"envFrom": [{"configMapRef": {"name": "broken"}}]}, {}, id="an invalid document"),
    ],
)
def test_configmaps_and_secrets(container: dict[str, Any], made: dict[str, Any]) -> None:
    assert environment(container, POD, sources(GIVEN, "ml")).variables == made


@pytest.mark.parametrize(
    ("namespace", "rate"),
    [("ml", "0.1"), ("", "0.1"), ("other", "9"), ("third", "0.1")],
)
def test_the_configmap_of_the_namespace_precedes_one_without_a_namespace(namespace: str, rate: str) -> None:
    assert sources(GIVEN, namespace)["ConfigMap", "rates"]["LR"] == rate


def test_an_object_of_another_namespace_is_ignored() -> None:
    assert ("Secret", "hub") not in sources(GIVEN, "other")
    assert sources(GIVEN[2:3], "ml") == {}


def test_a_command_sees_all_variables() -> None:
    env = environment({"env": plain_variables(("B", "$(A)"), ("A", "1"))}, POD, {})
    assert env.expanded(["$(A)", "$(B)", "$$(A)", "$(C)"]) == ["1", "$(A)", "$(A)", "$(C)"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", LATER),
        ("metadata.namespace", "ml"),
        ("metadata.uid", Unknown("the API server generates it when the pod is created")),
        ("metadata.labels['acme.io/Tier']", "gold"),
        ("metadata.labels['acme.io/tier']", ""),
        ("metadata.labels['uid']", LATER),
        ("metadata.annotations['batch.kubernetes.io/job-completion-index']", "3"),
        ("metadata.annotations['team']", ""),
        ("spec.serviceAccountName", "default"),
        ("spec.nodeName", Unknown("the scheduler chooses the node")),
        ("status.hostIPs", Unknown("the scheduler chooses the node")),
    ],
)
def test_fields(path: str, value: Any) -> None:
    assert field_value(POD, path) == value


@pytest.mark.parametrize(("path", "value"), [("spec.serviceAccountName", "trainer"), ("spec.nodeName", "gpu-1")])
def test_fields_that_the_pod_sets(path: str, value: str) -> None:
    pod = POD._replace(spec={"serviceAccountName": "trainer", "nodeName": "gpu-1"})
    assert field_value(pod, path) == value


NODE = {
    "name": "node",
    "resources": {
        "limits": {"cpu": "1500m", "memory": "2Gi", "hugepages-2Mi": "10Mi", "ephemeral-storage": "1001"},
        "requests": {"cpu": "100m", "memory": "1025Mi"},
    },
}
BARE = {"name": "bare"}
OF_THE_NODE = "without a limit it is the node's {}, and the scheduler chooses the node"


@pytest.mark.parametrize(
    ("container", "ref", "value"),
    [
        (NODE, {"resource": "limits.cpu"}, "2"),
        (NODE, {"resource": "limits.cpu", "divisor": "0"}, "2"),
        (NODE, {"resource": "limits.cpu", "divisor": "1m"}, "1500"),
        (NODE, {"resource": "requests.cpu"}, "1"),
        (NODE, {"resource": "requests.cpu", "divisor": "1m"}, "100"),
        (NODE, {"resource": "limits.memory"}, "2147483648"),
        (NODE, {"resource": "limits.memory", "divisor": "1Gi"}, "2"),
        (NODE, {"resource": "requests.memory", "divisor": "1Gi"}, "2"),
        (NODE, {"resource": "requests.memory", "divisor": "1M"}, "1075"),
        (NODE, {"resource": "limits.hugepages-2Mi", "divisor": "1Mi"}, "10"),
        (NODE, {"resource": "requests.ephemeral-storage"}, "0"),
        (NODE, {"resource": "limits.ephemeral-storage", "divisor": "1k"}, "2"),
        (BARE, {"resource": "requests.cpu"}, "0"),
        (BARE, {"resource": "limits.hugepages-2Mi"}, "0"),
        (BARE, {"resource": "limits.cpu"}, Unknown(OF_THE_NODE.format("cpu"))),
        (BARE, {"resource": "limits.ephemeral-storage"}, Unknown(OF_THE_NODE.format("ephemeral-storage"))),
        (BARE, {"resource": "limits.memory", "divisor": "1Gi"}, "64"),
        (BARE, {"resource": "limits.cpu", "containerName": "node"}, "2"),
        (NODE, {"resource": "requests.cpu", "containerName": "bare"}, "0"),
    ],
)
def test_resources(container: dict[str, Any], ref: dict[str, Any], value: Any) -> None:
    pod = {"containers": [NODE], "initContainers": [BARE], "resources": {"limits": {"memory": "64Gi"}}}
    assert resource_value(pod, container, ref) == value
