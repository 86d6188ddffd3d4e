"""Masked secrets in manifest values."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.source.masking import masked, secrecy_at


@pytest.mark.parametrize(
    ("tree", "shown"),
    [
        ({"name": "HF_TOKEN", "value": "abc"}, {"name": "HF_TOKEN", "value": "***"}),
        ({"name": "HF_TOKEN", "value": "$(OTHER)"}, None),
        ({"password": "-abc", "token": 7}, {"password": "***", "token": "***"}),
        ({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "a", "key": "token"}}}, None),
        ({"secret": {"secretName": "a", "items": [{"key": "ssh-privatekey", "path": "id_rsa"}]}}, None),
        (
            {"args": ["run", "--token", "abc", "--password", "-v"]},
            {"args": ["run", "--token", "***", "--password", "-v"]},
        ),
        ({"command": ["curl https://ada:abc@example.com"]}, {"command": ["curl https://ada:***@example.com"]}),
        ({"kind": "Secret", "data": {"tls.crt": "YWJj"}}, {"kind": "Secret", "data": {"tls.crt": "***"}}),
        (
            {"kind": "Secret", "stringData": {"a": "$ecret", "b": "no"}},
            {"kind": "Secret", "stringData": {"a": "***", "b": "***"}},
        ),
        ({"kind": "ConfigMap", "data": {"tls.crt": "YWJj"}}, None),
    ],
)
def test_what_is_masked(tree: dict[str, Any], shown: Any) -> None:
    assert masked(tree) == (tree if shown is None else shown)


@pytest.mark.parametrize(
    ("tree", "path", "secret"),
    [
        ({"env": [{"name": "HF_TOKEN", "value": "abc"}]}, ("env", 0, "value"), "variable"),
        ({"env": [{"name": "HF_TOKEN", "value": "abc"}]}, ("env", 0, "name"), ""),
        ({"args": ["--token", "abc"]}, ("args", 1), "field"),
        ({"args": ["--token", "abc"]}, ("args", 0), ""),
        ({"kind": "Secret", "data": {"a": "b"}}, ("data", "a"), "data"),
        ({"env": []}, ("env", 3, "value"), ""),
    ],
)
def test_the_context_of_a_value(tree: dict[str, Any], path: tuple[str | int, ...], secret: str) -> None:
    assert secrecy_at(tree, path) == secret
