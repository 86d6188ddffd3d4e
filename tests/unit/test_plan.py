"""Equal ports, and variables as the controller copies them."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.pipeline.plan import copied, same_port


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        pytest.param({"name": "http", "containerPort": 1}, {"name": "http", "containerPort": 2}, True, id="one name"),
        pytest.param({"name": "http", "containerPort": 1}, {"name": "grpc", "containerPort": 1}, False, id="two names"),
        pytest.param({"name": "http", "containerPort": 1}, {"containerPort": 1}, True, id="a name on one side"),
        pytest.param({"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}, True, id="TCP is the default"),
        pytest.param({"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}, False, id="two protocols"),
        pytest.param({"containerPort": 1}, {"containerPort": 2}, False, id="two numbers"),
    ],
)
def test_ports(a: dict[str, Any], b: dict[str, Any], same: bool) -> None:
    assert same_port(a, b) is same
    assert same_port(b, a) is same


FROM = {"fieldRef": {"fieldPath": "metadata.name"}}


@pytest.mark.parametrize(
    ("variable", "copy"),
    [
        pytest.param({"name": "A", "value": "1"}, {"name": "A", "value": "1"}, id="a value"),
        pytest.param({"name": "A", "valueFrom": FROM}, {"name": "A", "valueFrom": FROM}, id="a source"),
        pytest.param({"name": "A", "value": "1", "valueFrom": FROM}, {"name": "A", "valueFrom": FROM}, id="both"),
    ],
)
def test_variables(variable: dict[str, Any], copy: dict[str, Any]) -> None:
    assert copied(variable) == copy
