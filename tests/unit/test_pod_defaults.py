"""Pods that are refused although the Job was taken, because of what is filled in when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.kubernetes import validation

Container = dict[str, Any]


def named_container(name: str, **fields: Any) -> Container:
    return {"name": name, "image": "i", **fields}


def port(number: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"containerPort": number, **fields}]


def asking(**amounts: Any) -> dict[str, Any]:
    return {"resources": amounts}


TWO = [named_container("a", ports=port(80)), named_container("b", ports=port(80))]


@pytest.mark.parametrize(
    ("pod", "fields"),
    [
        ({"containers": [named_container("a") | {"image": "i\u2003"}]}, ["spec.containers[0].image"]),
        ({"initContainers": [named_container("b") | {"image": " "}]}, ["spec.initContainers[0].image"]),
        ({"containers": [named_container("a") | {"image": "i\x1f"}]}, []),
        ({"nodeName": "n", "schedulingGates": [{"name": "g"}]}, ["spec.nodeName"]),
        ({"nodeName": "n"}, []),
        ({"hostNetwork": True, "containers": TWO}, ["spec.containers[1].ports[0].hostPort"]),
        ({"containers": TWO}, []),
        (
            {
                "hostNetwork": True,
                "containers": [
                    named_container("a", ports=port(80)),
                    named_container("b", ports=port(80, protocol="UDP")),
                ],
            },
            [],
        ),
        ({"hostNetwork": True, "initContainers": TWO}, []),
        (
            {
                "hostNetwork": True,
                "initContainers": [
                    named_container("b"),
                    named_container("c", ports=[*port(80, hostPort=90), *port(90)]),
                ],
            },
            ["spec.initContainers[0].ports[1].hostPort"],
        ),
        (
            asking(limits={"cpu": 1})
            | {"containers": [named_container(name, **asking(limits={"cpu": 1})) for name in "ab"]},
            ["spec.resources.requests"],
        ),
        (
            asking(requests={"cpu": 1}) | {"containers": [named_container("a", **asking(limits={"cpu": 2}))]},
            ["spec.resources.requests[cpu]"],
        ),
        (
            asking(requests={"memory": "1Gi"}) | {"containers": [named_container("a", **asking(limits={"cpu": 2}))]},
            [],
        ),
    ],
)
def test_pods(pod: dict[str, Any], fields: list[str]) -> None:
    assert refused({"spec": {"containers": [named_container("node")], **pod}}) == fields


def refused(template: dict[str, Any]) -> list[str]:
    assert validation.job_violations({"spec": {"template": template}}) == []
    return [violation.field for violation in validation.pod_violations(template)]
