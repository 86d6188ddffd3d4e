"""Names: the accepted ones, and the reasons for rejected ones."""

from collections.abc import Callable
from typing import Any

import pytest

from trainc.kubernetes import names

Rule = Callable[[Any], list[str]]


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        *((names.dns1123_label_errors, value) for value in ("a", "0", "my-name", "1--a", "a" * 63)),
        *((names.dns1035_label_errors, value) for value in ("a", "my-name", "a" * 63)),
        *(
            (names.dns1123_subdomain_errors, value)
            for value in ("a", "a.b", "1.2", "a-b.c", "a" * 64, ".".join("a" * 127))
        ),
        *(
            (names.qualified_name_errors, value)
            for value in ("A", "a_b.c", "nvidia.com/gpu", f"{'p' * 253}/{'n' * 63}")
        ),
        *((names.label_value_errors, value) for value in ("", "A", "a_b.c-d", "12345", "a" * 63)),
        *((names.env_var_name_errors, value) for value in (" ", "1A", "a/b", '"q"', "..", "~" * 300)),
        *((names.config_map_key_errors, value) for value in ("a", ".a", "-", "KEY_NAME", "a" * 253)),
        *((names.port_name_errors, value) for value in ("http", "a-1-b", "8a", "a" * 15)),
        *((names.domain_prefixed_path_errors, value) for value in ("acme.io/foo", "a//", "acme.io/%41", "a/b/c")),
    ],
)
def test_accepted(rule: Rule, value: str | int) -> None:
    assert rule(value) == []


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        *(
            (names.dns1123_label_errors, value)
            for value in ("", "-a", "a-", "A", "a_b", "a\n", "ü", "a" * 64, "a.b", "٣")
        ),
        *((names.dns1035_label_errors, value) for value in ("", "1a", "a-", "A", "a.b", "a\n", "a" * 64)),
        *((names.dns1123_subdomain_errors, value) for value in ("", ".a", "a.", "a..b", "a.-b", "a\n", "a" * 254)),
        *((names.qualified_name_errors, value) for value in ("/a", "A/b", "a/-b", "a/b/c", "é", "a\n", "n" * 64)),
        *((names.qualified_name_errors, value) for value in ("a/" + "n" * 64, "p" * 254 + "/a")),
        *((names.label_value_errors, value) for value in ("-", "a b", "a\n", "a/b", "a" * 64)),
        *((names.env_var_name_errors, value) for value in ("", "a=b", "a\n", "\t", "é", "\x7f")),
        *((names.config_map_key_errors, value) for value in ("", "a/b", "a\n", ".", "..", "..a", "a" * 254)),
        *((names.port_name_errors, value) for value in ("80", "a--b", "-a", "a-", "a" * 16)),
        *((names.domain_prefixed_path_errors, value) for value in ("", "a", "/a", "a/", "A/b", "a/#", "a/b\n", "a/é")),
    ],
)
def test_rejected_for_one_reason(rule: Rule, value: str | int) -> None:
    assert len(rule(value)) == 1


@pytest.mark.parametrize(
    ("rule", "value", "reasons"),
    [
        pytest.param(names.dns1123_label_errors, "a.b", ["must not contain dots"], id="dots are named"),
        pytest.param(
            names.dns1123_label_errors,
            "a" * 63 + ".b",
            ["must be no more than 63 characters", "must not contain dots"],
            id="several reasons",
        ),
        pytest.param(
            names.port_name_errors,
            "--",
            [
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ],
            id="port: several reasons",
        ),
        pytest.param(names.config_map_key_errors, ".", ["must not be '.'"], id="this folder"),
        pytest.param(names.config_map_key_errors, "..", ["must not be '..'"], id="the folder above"),
        pytest.param(names.config_map_key_errors, "..a", ["must not start with '..'"], id="begins with two dots"),
    ],
)
def test_reasons(rule: Rule, value: str, reasons: list[str]) -> None:
    assert rule(value) == reasons


def test_an_empty_name_after_a_prefix_is_missing_and_invalid() -> None:
    assert [reason[:21] for reason in names.qualified_name_errors("/")] == [
        "prefix part must be n",
        "name part must be non",
        "name part must consis",
    ]


@pytest.mark.parametrize(
    ("value", "count"),
    [
        pytest.param("é" * 31, 1, id="62 bytes: only the wrong letters"),
        pytest.param("é" * 32, 2, id="64 bytes: too long as well"),
        pytest.param("\ud800" * 32, 2, id="half a surrogate pair counts, too"),
    ],
)
def test_bytes_are_counted(value: str, count: int) -> None:
    assert len(names.dns1123_label_errors(value)) == count
