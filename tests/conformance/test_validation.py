"""Kubernetes' validation of names."""

from collections.abc import Callable
from typing import Any, Final

from batches import in_batches
from conformance.recordings import lines

from trainc.kubernetes import names

FUNCTIONS: Final[dict[str, Callable[[Any], list[str]]]] = {
    "IsConfigMapKey": names.config_map_key_errors,
    "IsDNS1035Label": names.dns1035_label_errors,
    "IsDNS1123Label": names.dns1123_label_errors,
    "IsDNS1123Subdomain": names.dns1123_subdomain_errors,
    "IsDomainPrefixedPath": names.domain_prefixed_path_errors,
    "IsQualifiedName": names.qualified_name_errors,
    "IsRelaxedEnvVarName": names.env_var_name_errors,
    "IsValidLabelValue": names.label_value_errors,
    "IsValidPortName": names.port_name_errors,
}
OTHERS: Final = ("IsEnvVarName", "IsValidPortNum", None)
"""Recorded functions that trainc does not have: it checks no strict variable names, and prints no field errors."""


@in_batches("case", [case for case in lines("validation") if case.values[0]["input"].get("function") not in OTHERS])
def test_validation(case: dict[str, Any]) -> None:
    given, recorded = case["input"], case["output"]
    reasons = FUNCTIONS[given["function"]](given["value"])
    if given["function"] == "IsDomainPrefixedPath":
        # Recorded as whole field errors for the invalid part of the path.
        assert [text.startswith("spec.managedBy: ") for text in recorded] == [True] * len(reasons)
        recorded = [text[-len(reason) :] for text, reason in zip(recorded, reasons, strict=True)]
    assert reasons == recorded
