"""The API server's rules for the pod of a Job's template, and for its Pod: faults, and valid forms.

The recorded cases (tests/conformance/test_jobs.py) cover the common ones. Fields are those of the API server's errors,
without the prefix `spec.template.spec.` (or `spec.`, for Pods).
"""

from __future__ import annotations

from itertools import starmap
from typing import Any

import pytest
from snapshots import texts
from syrupy.assertion import SnapshotAssertion

from trainc.kubernetes import validation
from trainc.kubernetes.validation import metadata
from trainc.kubernetes.validation.combinators import PodViolations
from trainc.kubernetes.violations import Violation

NODE = {"name": "node", "image": "i"}
DNS_LABEL = "a" * 64
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
LOCAL = {"type": "Localhost"}
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_OF_NODE = "container.seccomp.security.alpha.kubernetes.io/node"
APP_ARMOR_OF_NODE = "container.apparmor.security.beta.kubernetes.io/node"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
MIRROR = "kubernetes.io/config.mirror"
COST = "controller.kubernetes.io/pod-deletion-cost"

Pod = dict[str, Any]


def with_node(**fields: Any) -> Pod:
    return {"containers": [NODE | fields]}


def own_rules(**context: Any) -> Pod:
    return with_node(securityContext=context)


def whole_rules(**context: Any) -> Pod:
    return {"securityContext": context}


def windows(**options: Any) -> Pod:
    return whole_rules(windowsOptions=options)


def sysctls(*names: str) -> Pod:
    return whole_rules(sysctls=[{"name": name, "value": "1"} for name in names])


def near_rules(**term: Any) -> Pod:
    return {"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": "zone", **term}]}}}


def nodes(*terms: Any) -> Pod:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def spread(**constraint: Any) -> Pod:
    usual = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [usual | constraint]}


def expression(key: str, operator: str, *values: str) -> Pod:
    return {"key": key, "operator": operator, "values": list(values)}


def violations(pod: Pod, annotations: dict[str, str] | None = None) -> list[Violation]:
    template = {"metadata": {"annotations": annotations or {}}, "spec": {"containers": [NODE], **pod}}
    return validation.job_violations({"spec": {"template": template}})


def found(pod: Pod, annotations: dict[str, str] | None = None) -> list[tuple[str, str]]:
    return [
        (v.field.removeprefix("spec.template.").removeprefix("spec."), v.rule) for v in violations(pod, annotations)
    ]


NODE_TERM = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]"
POD_TERM = f"affinity.podAffinity.{REQUIRED}[0]"
OF_NODE = "containers[0].securityContext"
OPTIONS = "securityContext.windowsOptions"

FAULTS: list[tuple[Pod, list[tuple[str, str]]]] = [
    ({"containers": []}, [("containers", "required")]),
    ({"serviceAccount": "A"}, [("serviceAccountName", "invalid-name")]),
    ({"preemptionPolicy": ""}, [("preemptionPolicy", "enum")]),
    ({"runtimeClassName": ""}, [("runtimeClassName", "invalid-name")]),
    ({"nodeName": "a_b"}, [("nodeName", "invalid-name")]),
    ({"readinessGates": [{"conditionType": ""}]}, [("readinessGates[0].conditionType", "invalid-name")]),
    # Scheduling.
    ({"tolerations": [{"key": "a", "value": "b c"}]}, [("tolerations[0].operator", "invalid-label")]),
    ({"tolerations": [{}]}, [("tolerations[0].operator", "toleration")]),
    (
        {"tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 0}]},
        [("tolerations[0].effect", "toleration")],
    ),
    (
        {"tolerations": [{"operator": "Lt", "effect": "x"}]},
        [
            ("tolerations[0].operator", "toleration"),
            ("tolerations[0].operator", "enum"),
            ("tolerations[0].effect", "enum"),
        ],
    ),
    ({"schedulingGates": [{"name": "a b"}]}, [("schedulingGates[0]", "invalid-name")]),
    (spread(minDomains=0), [("topologySpreadConstraints[0].minDomains", "out-of-range")]),
    (
        spread(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
        [("topologySpreadConstraints[0].minDomains", "spread-domains")],
    ),
    (spread(nodeTaintsPolicy="x"), [("topologySpreadConstraints[0].nodeTaintsPolicy", "enum")]),
    (spread(matchLabelKeys=["a b"]), [("topologySpreadConstraints[0].matchLabelKeys", "match-label-keys")]),
    (
        spread(
            matchLabelKeys=["x", "rev"],
            labelSelector={"matchLabels": {"rev": "1"}, "matchExpressions": [expression("rev", "Exists")]},
        ),
        [("topologySpreadConstraints[0][1]", "match-label-keys")],
    ),
    (nodes({"matchExpressions": [expression("a", "Gt", "1", "2")]}),
     [(f"{NODE_TERM}.matchExpressions[0].values", "selector-values")]),
    (nodes({"matchFields": [expression("metadata.name", "In", "a", "b")]}),
     [(f"{NODE_TERM}.matchFields[0].values", "selector-values")]),
    (nodes({"matchFields": [expression("metadata.name", "Exists")]}),
     [(f"{NODE_TERM}.matchFields[0].operator", "enum")]),
    (nodes({"matchFields": [expression("metadata.name", "In", "A")]}),
     [(f"{NODE_TERM}.matchFields[0].values[0]", "invalid-name")]),
    (near_rules(labelSelector={"matchExpressions": [expression("a", "Gt", "1")]}),
     [(f"{POD_TERM}.labelSelector.matchExpressions[0].operator", "enum")]),
    (near_rules(namespaces=["default", "a.b"]), [(f"{POD_TERM}.namespace", "invalid-name")]),
    (near_rules(mismatchLabelKeys=["a"]), [(f"{POD_TERM}.mismatchLabelKeys", "match-label-keys")]),
    (near_rules(topologyKey="a b"), [(f"{POD_TERM}.topologyKey", "invalid-label")]),
    # Network.
    ({"hostAliases": [{"ip": "::ffff:10.0.0.1"}]}, [("hostAliases[0].ip", "invalid-ip")]),
    ({"hostAliases": [{"ip": "fe80::1%eth0"}]}, [("hostAliases[0].ip", "invalid-ip")]),
    ({"hostAliases": [{"ip": ""}]}, [("hostAliases[0].ip", "invalid-ip")]),
    ({"dnsPolicy": "None", "dnsConfig": {"options": [{"value": "1"}]}}, [("dnsConfig.nameservers", "no-name-server")]),
    ({"dnsConfig": {"nameservers": ["1.1.1.1"] * 4}}, [("dnsConfig.nameservers", "too-many-items")]),
    ({"dnsConfig": {"searches": ["a"] * 33}}, [("dnsConfig.searches", "too-many-items")]),
    ({"dnsConfig": {"searches": ["a" * 250] * 9}}, [("dnsConfig.searches", "too-long")]),
    ({"dnsConfig": {"searches": ["a_"]}}, [("dnsConfig.searches[0]", "invalid-name")]),
    ({"dnsConfig": {"options": [{"value": "1"}]}}, [("dnsConfig.options[0]", "required")]),
    ({"hostUsers": False, "hostPID": True, "hostIPC": True},
     [("HostPID", "host-namespaces"), ("HostIPC", "host-namespaces")]),
    ({"hostPID": True, "shareProcessNamespace": True},
     [("securityContext.shareProcessNamespace", "host-namespaces")]),
    ({"hostnameOverride": "a", "hostNetwork": True}, [("hostnameOverride", "host-namespaces")]),
    ({"hostnameOverride": "a", "setHostnameAsFQDN": True}, [("hostnameOverride", "host-namespaces")]),
    ({"hostnameOverride": "a" * 65}, [("hostnameOverride", "too-long")]),
    ({"hostnameOverride": ""}, [("hostnameOverride", "invalid-name")]),
    # Security.
    (own_rules(runAsUser=2**31), [(f"{OF_NODE}.runAsUser", "out-of-range")]),
    (own_rules(allowPrivilegeEscalation=False, privileged=True), [(OF_NODE, "privilege-escalation")]),
    (own_rules(procMount="unmasked"), [(f"{OF_NODE}.procMount", "enum")]),
    (own_rules(procMount="Unmasked"), [(f"{OF_NODE}.procMount", "host-namespaces")]),
    (own_rules(seccompProfile=LOCAL | {"localhostProfile": "a/../b"}),
     [(f"{OF_NODE}.seccompProfile.localhostProfile", "pattern")]),
    (own_rules(seccompProfile={"type": "", "localhostProfile": ""}),
     [(f"{OF_NODE}.seccompProfile.type", "required"),
      (f"{OF_NODE}.seccompProfile.localhostProfile", "security-profile")]),
    (whole_rules(appArmorProfile=LOCAL | {"localhostProfile": ""}),
     [("securityContext.appArmorProfile.localhostProfile", "security-profile")]),
    (whole_rules(appArmorProfile=LOCAL | {"localhostProfile": "\u2003p"}),
     [("securityContext.appArmorProfile.localhostProfile", "pattern")]),
    (whole_rules(appArmorProfile=LOCAL | {"localhostProfile": "p" * 4096}),
     [("securityContext.appArmorProfile.localhostProfile", "too-long")]),
    (whole_rules(supplementalGroupsPolicy="merge"), [("securityContext.supplementalGroupsPolicy", "enum")]),
    (sysctls("a", "a", ""), [("securityContext.sysctls[1].name", "duplicate-item"),
                             ("securityContext.sysctls[2].name", "required")]),
    ({"hostIPC": True} | sysctls("kernel/shmmax", "net.a"), [("securityContext.sysctls[0].name", "host-namespaces")]),
    ({"hostNetwork": True} | sysctls("net/ipv4/conf/eth0.1"), [("securityContext.sysctls[0].name", "host-namespaces")]),
    # Operating systems.
    (windows(gmsaCredentialSpecName="A"), [(f"{OPTIONS}.gmsaCredentialSpecName", "invalid-name")]),
    (windows(gmsaCredentialSpec=""), [(f"{OPTIONS}.gmsaCredentialSpec", "pattern")]),
    (windows(gmsaCredentialSpec="x" * 65537), [(f"{OPTIONS}.gmsaCredentialSpec", "too-long")]),
    *((windows(runAsUserName=user), [(f"{OPTIONS}.runAsUserName", "pattern")])
      for user in ("", "a\\b\\c", "a\n", "\\a", "a\\", "a@b", "..", "a" * 105, f"{'a' * 256}\\b", f"{'a' * 16}@\\b")),
    ({"os": {"name": "linux"}} | own_rules(windowsOptions={}), [(f"{OF_NODE}.windowsOptions", "other-os")]),
    ({"os": {"name": "windows"}, "hostUsers": True} | own_rules(runAsUser=1),
     [("hostUsers", "other-os"), (f"{OF_NODE}.runAsUser", "other-os")]),
    ({"os": {"name": ""}}, [("os.name", "required")]),
    ({"hostNetwork": True, "containers": [NODE | own_rules(windowsOptions={"hostProcess": True})["containers"][0],
                                          {"name": "b", "image": "i"}]}, [("spec", "host-process")]),
    ({"hostNetwork": True} | windows(hostProcess=True) | own_rules(windowsOptions={"hostProcess": False}),
     [(f"{OF_NODE}.windowsOptions.hostProcess", "host-process")]),
]  # fmt: skip

VALID: list[Pod] = [
    {"terminationGracePeriodSeconds": -1},
    {"schedulerName": "My Scheduler!"},
    {"imagePullSecrets": [{"name": "Bad_Name"}, {}]},
    {"hostnameOverride": "a.b", "hostname": "c"},
    {"hostAliases": [{"ip": "FE80::ABC"}, {"ip": "::1.2.3.4"}, {"ip": "0.0.0.0"}]},
    {"dnsConfig": {"searches": [".", "_a.b_c", "a."], "nameservers": ["1.1.1.1", "::1"]}},
    {"hostUsers": False},
    {"shareProcessNamespace": False, "hostPID": True},
    {"tolerations": [{"operator": "Exists"}, {"key": "a", "effect": "NoExecute", "tolerationSeconds": -1}]},
    near_rules(labelSelector={}, matchLabelKeys=["rev"], mismatchLabelKeys=["tier"]),
    near_rules(labelSelector={"matchLabels": {"rev": "1"}}, matchLabelKeys=["rev"]),
    nodes({}),
    {"affinity": {"nodeAffinity": {PREFERRED: [
        {"weight": 100, "preference": {"matchExpressions": [expression("a", "In", "no label")]}}]}}},
    {"hostUsers": False} | own_rules(procMount="Unmasked"),
    own_rules(allowPrivilegeEscalation=False, capabilities={"add": ["SYS_ADMIN"]}),
    whole_rules(seccompProfile=LOCAL | {"localhostProfile": "..a/b"}),
    {"hostNetwork": True} | sysctls("kernel.shmmax", "net"),
    sysctls("net/core/somaxconn", "net.ipv4.conf.a/b.c"),
    windows(runAsUserName="contoso.com\\trainer"),
    {"os": {"name": "windows"}} | windows(runAsUserName="ContainerUser"),
]  # fmt: skip

ANNOTATIONS: list[tuple[Pod, dict[str, str], list[tuple[str, str]]]] = [
    *(({}, {COST: cost}, [(f"annotations[{COST}]", "pod-annotation")])
      for cost in ("", "007", "+1", "1.0", "2147483648", "1_0", " 1", "-")),
    *(({}, {COST: cost}, []) for cost in ("0", "-1", "-007", "-2147483648")),
    ({}, {MIRROR: "x"}, [(f"annotations[{MIRROR}]", "pod-annotation")]),
    ({"nodeName": "a"}, {MIRROR: "x"}, []),
    *(({}, {TOLERATIONS: text}, [("annotations", "pod-annotation")])
      for text in ("x", "{}", "[1]", '[{"key": 1}]', '[{"tolerationSeconds": 1.5}]')),
    *(({}, {TOLERATIONS: text}, []) for text in ("", "null", "[]", '[{"Operator": "Exists", "x": 1, "key": null}]')),
    ({}, {TOLERATIONS: "[null]"}, [(f"annotations.{TOLERATIONS}[0].operator", "toleration")]),
    ({}, {SECCOMP: "localhost//a"}, [(f"annotations.{SECCOMP}", "pattern")]),
    ({}, {SECCOMP_OF_NODE: "x"}, [(f"annotations.{SECCOMP_OF_NODE}", "pod-annotation")]),
    ({}, {SECCOMP_OF_NODE: "docker/default", SECCOMP: "localhost/a"}, []),
    ({}, {f"{APP_ARMOR_OF_NODE}x": "runtime/default"}, [(f"annotations[{APP_ARMOR_OF_NODE}x]", "pod-annotation")]),
    ({}, {APP_ARMOR_OF_NODE: ""}, []),
    (whole_rules(seccompProfile={"type": "Unconfined"}), {SECCOMP: "runtime/default"},
     [("securityContext.seccompProfile.type", "security-profile")]),
    (whole_rules(seccompProfile={"type": "RuntimeDefault"}), {SECCOMP: "docker/default"}, []),
    (own_rules(seccompProfile=LOCAL | {"localhostProfile": "a"}), {SECCOMP_OF_NODE: "localhost/b"},
     [(f"{OF_NODE}.seccompProfile.localhostProfile", "security-profile")]),
    (whole_rules(appArmorProfile={"type": "Unconfined"}), {APP_ARMOR_OF_NODE: "runtime/default"},
     [(f"{OF_NODE}.appArmorProfile.type", "security-profile")]),
    ({}, {"a b": "x"}, [("annotations", "invalid-annotation")]),
    ({}, {"a": "x" * 262_144}, [("annotations", "annotations-too-big")]),
    ({}, {"a": "x" * 262_143}, []),
]  # fmt: skip


@pytest.mark.parametrize(("pod", "faults"), FAULTS)
def test_a_fault_is_found(pod: Pod, faults: list[tuple[str, str]]) -> None:
    assert found(pod) == faults


@pytest.mark.parametrize("pod", VALID)
def test_a_valid_pod_has_no_fault(pod: Pod) -> None:
    assert found(pod) == []


@pytest.mark.parametrize(("pod", "annotations", "faults"), ANNOTATIONS)
def test_annotations_that_kubernetes_reads(
    pod: Pod, annotations: dict[str, str], faults: list[tuple[str, str]]
) -> None:
    assert found(pod, annotations) == faults


JOBS: list[dict[str, Any]] = [
    {"podFailurePolicy": {"rules": [{}, {"action": "FailJob", "onExitCodes": {}}]}},
    {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": []}}]}},
    {
        "completions": 2,
        "completionMode": "Indexed",
        "successPolicy": {
            "rules": [{}, {"succeededCount": 3}, {"succeededIndexes": "x"}, {"succeededIndexes": "1," * 40_000}]
        },
    },
    {"completions": 200_000, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "parallelism": 20_000},
    {
        "completions": 200_000,
        "completionMode": "Indexed",
        "backoffLimitPerIndex": 1,
        "parallelism": 20_000,
        "maxFailedIndexes": 10,
    },
]
MORE_FAULTS: list[Pod] = [
    {"resources": {"claims": [{"name": "a"}]}},
    {"hostUsers": False} | with_node(volumeDevices=[{"name": "v", "devicePath": "/a"}]),
    with_node(volumeDevices=[{"name": "v"}, {"name": "v", "devicePath": "/a"}, {"name": "w", "devicePath": "/a"}]),
    with_node(ports=[{"containerPort": 80, "name": "a--b"}]),
    spread(topologyKey=""),
    whole_rules(seLinuxChangePolicy="x"),
]
"""Faults whose texts no other row has."""


def test_texts(snapshot: SnapshotAssertion) -> None:
    rows: list[tuple[Pod, dict[str, str]]] = [(pod, {}) for pod in MORE_FAULTS + [pod for pod, _ in FAULTS]]
    rows += [(pod, annotations) for pod, annotations, _ in ANNOTATIONS]
    jobs = [validation.job_violations({"spec": {"template": {"spec": with_node()}, **job}}) for job in JOBS]
    assert texts(each for found in [*starmap(violations, rows), *jobs] for each in found) == snapshot


def test_a_pod_without_a_spec_has_no_containers() -> None:
    assert [v.field for v in validation.job_violations({"spec": {"template": {}}})] == ["spec.template.spec.containers"]


def test_the_path_is_more_precise_than_the_field() -> None:
    [toleration] = violations({"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]})
    assert toleration.path == ("spec", "template", "spec", "tolerations", 0, "value")
    assert toleration.related == (("the operator", ("spec", "template", "spec", "tolerations", 0, "operator")),)
    [selected] = violations({"nodeSelector": {"gpu": "A100 80GB"}})
    assert selected.path == ("spec", "template", "spec", "nodeSelector", "gpu")


def test_labels_of_other_objects() -> None:
    findings = PodViolations({})
    metadata.labels(findings, ((None, "metadata"), "labels"), {"a b": "x", "app": "a/b"}, field="metadata.labels")
    assert [(v.path[-1], v.field, v.key, v.message) for v in findings.violations] == [
        ("a b", "metadata.labels", True, 'invalid key: "a b" contains spaces'),
        ("app", "metadata.labels", False, 'invalid label value for app: "a/b" contains "/"'),
    ]
