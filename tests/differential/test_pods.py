"""Invalid pods: generated fields in a runtime's pod, answered by trainc and by the API server's own code.

The rest of the runtime and the TrainJob is valid. trainc gets the JobSet that the controller creates from them, so only
`checks.job` is compared: the verdict, and an error from trainc at each of the cluster's fields. Cases that JobSet's
schema rejects are ignored. Needs ORACLE (see oracle.py).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from differential.comparing import PARTS, Comparison, Documents, Tallied
from differential.one_job import compare, documents
from differential.oracle import EXAMPLES, needs_oracle
from hypothesis import strategies as st

NETWORK = {"enableDNSHostnames": False}
"""A setting with which JobSet keeps the pod's subdomain."""

Values = st.SearchStrategy[Any]
LONG = "a" * 64
names = st.sampled_from(
    ["", "a", "A", "a.b", "a_b", "-a", "a-", "a..b", LONG, "a" * 63, ".".join([LONG] * 4), "a/b", "x y", "0", "é"]
)
keys = st.sampled_from(
    ["", "a", "A_b", "x.io/y", "x.io/", "/y", "X.io/y", "a/b/c", "a b", "-a", LONG, f"{LONG}.io/x", "é", "job"]
)
values = st.sampled_from(["", "a", "A_b", "x/y", "a b", "-a", LONG, "a" * 63, "é", "7"])
numbers = st.sampled_from([-1, 0, 1, 5, 100, 101, 2**31 - 1, 2**31, -(2**31)])
small = st.sampled_from([-1, 0, 1, 50, 100, 101])
bools = st.booleans()
ips = st.sampled_from(
    [
        *(
            "1.2.3.4",
            "01.2.3.4",
            "256.1.1.1",
            "1.2.3",
            "",
            "x",
            "::1",
            "::",
            "fe80::1%eth0",
            "::ffff:1.2.3.4",
            "FE80::A",
        ),
        *("1.2.3.4 ", "::1.2.3.4", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:8::", "12345::", "::ffff:1:2"),
        *("1.2.3.٤", "0.0.0.0", "000.0.0.0", "1::2::3", "::ffff:01.2.3.4", "+1.2.3.4"),
    ]
)


def some(**optional: Values) -> Values:
    return st.fixed_dictionaries({}, optional=optional)


def whole_pods(required: dict[str, Values], **optional: Values) -> Values:
    return st.fixed_dictionaries(required, optional=optional)


def listed(of: Values, most: int = 2) -> Values:
    return st.lists(of, max_size=most)


def keyed(of: Values, *key: str) -> Values:
    return st.lists(of, max_size=2, unique_by=lambda item: tuple(item.get(name) for name in key))


def word(*right: str) -> Values:
    return st.sampled_from([*right, right[0].lower(), "", "Other"])


pairs = st.dictionaries(keys, values, max_size=2)
operator = word("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
expressions = listed(whole_pods({"key": keys, "operator": operator}, values=listed(values)))
good_keys = st.sampled_from(["a", "job", "rev"])
selector = st.one_of(
    some(matchLabels=pairs, matchExpressions=expressions),
    some(
        matchLabels=st.dictionaries(good_keys, st.just("v"), max_size=2),
        matchExpressions=listed(whole_pods({"key": good_keys, "operator": st.just("Exists")})),
    ),
)
label_keys = listed(st.one_of(keys, good_keys, good_keys))
node_fields = listed(
    whole_pods(
        {"key": st.sampled_from(["metadata.name", "metadata.name", "metadata.namespace", ""]), "operator": operator},
        values=listed(names),
    )
)
node_term = some(matchExpressions=expressions, matchFields=node_fields)
pod_term = whole_pods(
    {"topologyKey": keys},
    labelSelector=selector,
    namespaceSelector=selector,
    namespaces=listed(names),
    matchLabelKeys=label_keys,
    mismatchLabelKeys=label_keys,
)
pods_affinity = some(
    requiredDuringSchedulingIgnoredDuringExecution=listed(pod_term),
    preferredDuringSchedulingIgnoredDuringExecution=listed(whole_pods({"weight": small, "podAffinityTerm": pod_term})),
)
affinity = some(
    nodeAffinity=some(
        requiredDuringSchedulingIgnoredDuringExecution=whole_pods({"nodeSelectorTerms": listed(node_term)}),
        preferredDuringSchedulingIgnoredDuringExecution=listed(whole_pods({"weight": small, "preference": node_term})),
    ),
    podAffinity=pods_affinity,
    podAntiAffinity=pods_affinity,
)
toleration = some(
    key=keys,
    operator=word("Exists", "Equal", "Lt", "Gt"),
    value=values,
    effect=word("NoExecute", "NoSchedule", "PreferNoSchedule"),
    tolerationSeconds=numbers,
)
spread = whole_pods(
    {"maxSkew": small, "topologyKey": keys, "whenUnsatisfiable": word("DoNotSchedule", "ScheduleAnyway")},
    labelSelector=selector,
    minDomains=small,
    matchLabelKeys=label_keys,
    nodeAffinityPolicy=word("Honor", "Ignore"),
    nodeTaintsPolicy=word("Honor", "Ignore"),
)
search = st.sampled_from(["a", "a.", ".", "..", "", "a_b.c", "_a", "a_", "A", "a b", LONG, "a" * 254, "a" * 253 + "."])
dns_config = some(
    nameservers=listed(ips, 4),
    searches=st.one_of(listed(search, 4), st.just(["a"] * 33), st.just(["a" * 250] * 9), st.just(["a"] * 32)),
    options=listed(some(name=st.sampled_from(["", "ndots"]), value=st.just("1"))),
)
paths = st.sampled_from(["", "a", "a/b", "/a", "../a", "a/..", "..a", "a..b", " a", "a ", "\u2003a", "a" * 4096])
profile = whole_pods({"type": word("Localhost", "RuntimeDefault", "Unconfined")}, localhostProfile=paths)
users = st.sampled_from(
    [
        *(
            "",
            "a",
            "a\\b",
            "a\\b\\c",
            "\\a",
            "a\\",
            "a.b.c\\d",
            "a" * 16 + "\\d",
            "a@b\\d",
            "a@b",
            "...",
            " .",
            "a\x01",
        ),
        *("-a\\b", "a" * 105, "a" * 255 + "\\b", "a" * 256 + "\\b", ".a\\b", "a\\...", "a\\b@", "é\\b", "\x7f", "a\nb"),
    ]
)
windows = some(
    gmsaCredentialSpecName=names,
    gmsaCredentialSpec=st.sampled_from(["", "x", "x" * 65537]),
    runAsUserName=users,
    hostProcess=bools,
)
sysctls = listed(
    whole_pods(
        {
            "name": st.sampled_from(
                [
                    *(
                        "net.core.somaxconn",
                        "net/core/somaxconn",
                        "net",
                        "netx.a",
                        "kernel.shmmax",
                        "kernel/shmmax",
                        "",
                    ),
                    *("fs.mqueue.a", "fs/mqueue/a", "Net.A", "net.a/b.c", "a..b", "a_b", "_a", "a" * 254, "net.*"),
                    *("kernel.shm_rmid_forced", "net/a.b/c", "kernel.sem", "kernel.hostname"),
                ]
            ),
            "value": values,
        }
    ),
    3,
)
context = some(
    runAsUser=numbers,
    runAsGroup=numbers,
    runAsNonRoot=bools,
    seccompProfile=profile,
    appArmorProfile=profile,
    windowsOptions=windows,
    seLinuxOptions=some(level=values),
)
pod_context = st.builds(
    lambda some, others: some | others,
    context,
    some(
        fsGroup=numbers,
        fsGroupChangePolicy=word("Always", "OnRootMismatch"),
        supplementalGroups=listed(numbers),
        supplementalGroupsPolicy=word("Merge", "Strict"),
        seLinuxChangePolicy=word("Recursive", "MountOption"),
        sysctls=sysctls,
    ),
)
container_context = st.builds(
    lambda some, others: some | others,
    context,
    some(
        privileged=bools,
        allowPrivilegeEscalation=bools,
        readOnlyRootFilesystem=bools,
        procMount=word("Default", "Unmasked"),
        capabilities=some(add=listed(st.sampled_from(["CAP_SYS_ADMIN", "SYS_ADMIN", "x"]))),
    ),
)
FIELDS = {
    "activeDeadlineSeconds": numbers,
    "affinity": affinity,
    "dnsConfig": dns_config,
    "dnsPolicy": word("None", "Default", "ClusterFirst", "ClusterFirstWithHostNet"),
    "enableServiceLinks": bools,
    "hostAliases": keyed(whole_pods({"ip": ips}, hostnames=listed(names)), "ip"),
    "hostIPC": bools,
    "hostNetwork": bools,
    "hostPID": bools,
    "hostUsers": bools,
    "hostname": names,
    "hostnameOverride": names,
    "imagePullSecrets": keyed(some(name=names), "name"),
    "nodeName": names,
    "nodeSelector": pairs,
    "os": whole_pods({"name": word("linux", "windows")}),
    "preemptionPolicy": word("Never", "PreemptLowerPriority"),
    "priorityClassName": names,
    "readinessGates": listed(whole_pods({"conditionType": keys})),
    "restartPolicy": word("Always", "Never", "OnFailure"),
    "runtimeClassName": names,
    "schedulerName": names,
    "schedulingGates": keyed(whole_pods({"name": keys}), "name"),
    "securityContext": pod_context,
    "serviceAccount": names,
    "serviceAccountName": names,
    "setHostnameAsFQDN": bools,
    "shareProcessNamespace": bools,
    "subdomain": names,
    "terminationGracePeriodSeconds": numbers,
    "tolerations": listed(toleration),
    "topologySpreadConstraints": keyed(spread, "topologyKey", "whenUnsatisfiable"),
}
profiles = st.sampled_from(
    [
        "runtime/default",
        "docker/default",
        "unconfined",
        "localhost/a",
        "localhost/",
        "localhost//a",
        "x",
        "",
        "Localhost",
    ]
)
annotated: Values = st.one_of(
    st.dictionaries(keys, values, max_size=2),
    some(
        **{
            "controller.kubernetes.io/pod-deletion-cost": st.sampled_from(
                [
                    "",
                    "0",
                    "1",
                    "-1",
                    "007",
                    "-007",
                    "-0",
                    "+1",
                    "2147483648",
                    "-2147483648",
                    "1.0",
                    "x",
                    " 1",
                    "1_0",
                    "-",
                ]
            ),
            "kubernetes.io/config.mirror": values,
            "scheduler.alpha.kubernetes.io/tolerations": st.one_of(
                listed(toleration).map(json.dumps),
                st.sampled_from(["", "x", "null", "{}", "[null]", "[1]", '[{"KEY":"a"}]', '[{"key":1}]', "[] x"]),
                st.sampled_from(['[{"x":1}]', '[{"tolerationSeconds":1.5}]', '[{"operator":"Bad"}]', "[NaN]"]),
            ),
            "seccomp.security.alpha.kubernetes.io/pod": profiles,
            "container.seccomp.security.alpha.kubernetes.io/node": profiles,
            "container.seccomp.security.alpha.kubernetes.io/other": profiles,
            "container.apparmor.security.beta.kubernetes.io/node": profiles,
            "container.apparmor.security.beta.kubernetes.io/setup": profiles,
            "container.apparmor.security.beta.kubernetes.io/other": profiles,
        }
    ),
)
BLOCK = {
    "volumes": [{"name": "block", "persistentVolumeClaim": {"claimName": "c"}}],
    "volumeDevices": [{"name": "block", "devicePath": "/dev/block"}],
}


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    containers: list[dict[str, Any]] = [
        {"name": name, "image": "i"} for name in draw(st.sampled_from([["node"], ["node", "other"]]))
    ]
    setup: dict[str, Any] = {"name": "setup", "image": "i"}
    pod: dict[str, Any] = {"containers": containers}
    if draw(st.booleans()):
        pod["initContainers"] = [setup]
    for container in (*containers, *pod.get("initContainers", ())):
        if draw(st.integers(0, 2)) == 0:
            container["securityContext"] = draw(container_context)
    for field in draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=4, unique=True)):
        pod[field] = draw(FIELDS[field])
    if draw(st.integers(0, 9)) == 0:
        pod["volumes"] = BLOCK["volumes"]
        containers[0]["volumeDevices"] = BLOCK["volumeDevices"]
    metadata: dict[str, Any] = draw(st.one_of(st.just({}), some(labels=pairs, annotations=annotated)))
    return ({"metadata": metadata} if metadata else {}) | {"spec": pod}


@needs_oracle
@pytest.mark.parametrize("part", PARTS)
def test_pods(part: int, tallied: Tallied) -> None:
    tallied(COMPARISON.run(part, EXAMPLES // 4))


def in_a_job(template: dict[str, Any]) -> Documents:
    return documents(template, network=NETWORK)


COMPARISON = Comparison(templates(), compare, in_a_job)
