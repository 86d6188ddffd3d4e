"""Kubernetes' validation of names, and the format of its field errors."""

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
    "IsEnvVarName": names.is_env_var_name,
    "IsQualifiedName": names.is_qualified_name,
    "IsRelaxedEnvVarName": names.is_relaxed_env_var_name,
    "IsValidLabelValue": names.is_label_value,
    "IsValidPortName": names.is_port_name,
    "IsValidPortNum": names.is_port_number,
}


@pytest.mark.parametrize("case", lines("validation"))
def test_validation(case: dict[str, Any]) -> None:
    given, recorded = case["input"], case["output"]
    if "function" not in given:
        kind, field, value, detail = given["type"], given["field"], given["badValue"], given["detail"]
        assert [names.field_error(kind, at, value, detail) for at in (field, "")] == recorded
        return
    reasons = FUNCTIONS[given["function"]](given["value"])
    if given["function"] == "IsDomainPrefixedPath":
        # Recorded as whole field errors for the invalid part of the path.
        assert [text.startswith("spec.managedBy: ") for text in recorded] == [True] * len(reasons)
        recorded = [text[-len(reason) :] for text, reason in zip(recorded, reasons, strict=True)]
    assert reasons == recorded
