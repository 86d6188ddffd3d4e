"""Kubernetes' validation of names."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from conformance.recordings import lines

from trainc.kubernetes import names

FUNCTIONS: Final[dict[str, Callable[[Any], list[str]]]] = {
    "IsConfigMapKey": names.is_config_map_key,
    "IsDNS1035Label": names.is_dns1035_label,
    "IsDNS1123Label": names.is_dns1123_label,
    "IsDNS1123Subdomain": names.is_dns1123_subdomain,
    "IsDomainPrefixedPath": names.is_domain_prefixed_path,
    "IsQualifiedName": names.is_qualified_name,
    "IsRelaxedEnvVarName": names.is_relaxed_env_var_name,
    "IsValidLabelValue": names.is_label_value,
    "IsValidPortName": names.is_port_name,
}
OTHERS: Final = ("IsEnvVarName", "IsValidPortNum", None)
"""Recorded functions that trainc does not have: it checks no strict variable names, and prints no field errors."""


@pytest.mark.parametrize(
    "case", [case for case in lines("validation") if case.values[0]["input"].get("function") not in OTHERS]
)
def test_validation(case: dict[str, Any]) -> None:
    given, recorded = case["input"], case["output"]
    reasons = FUNCTIONS[given["function"]](given["value"])
    if given["function"] == "IsDomainPrefixedPath":
        # Recorded as whole field errors for the invalid part of the path.
        assert [text.startswith("spec.managedBy: ") for text in recorded] == [True] * len(reasons)
        recorded = [text[-len(reason) :] for text, reason in zip(recorded, reasons, strict=True)]
    assert reasons == recorded
