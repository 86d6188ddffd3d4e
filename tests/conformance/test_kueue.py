"""Admission by Kueue: trainc and the real Kueue agree on every JobSet whose admission the manifests decide.

A line of kueue/quota.jsonl has the manifests of a cluster, a JobSet, and the answer of Kueue v0.19.2: whether it
admitted the JobSet, and in which flavors. trainc gives no verdict if an object is missing, because it may exist in the
cluster, or if something decides that is in no manifest. `OPEN` lists these reasons.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from batches import in_batches
from conformance.recordings import or_skip, recorded

from trainc.diagnostics import Document
from trainc.kueue.admission import Admission, Verdict
from trainc.kueue.kueue_objects import read

CASES = or_skip(recorded("kueue/quota.jsonl"))
MISSING = "the given paths do not have"
OPEN = (
    rf"{MISSING} its LocalQueue",
    rf"{MISSING} its ClusterQueue",
    rf"{MISSING} ResourceFlavor",
    rf"{MISSING} Topology",
    rf"{MISSING} PriorityClass",
    rf"{MISSING} WorkloadPriorityClass",
    rf"{MISSING} the Namespace",
    r"the given paths have no other ClusterQueue of its cohort",
    r"AdmissionCheck .* decides",
    r"Kueue's settings decide about the DeviceClasses",
    r"the cluster's nodes decide about its topology",
)
"""The reasons for no verdict."""


def verdict(case: dict[str, Any]) -> Verdict:
    documents = [Document("case.json", 1, json.dumps(tree), tree) for tree in case["manifests"]]
    cluster, found = read(documents)
    assert found == []
    return Admission(cluster).verdict(case["jobset"])


@in_batches("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_quota(case: dict[str, Any]) -> None:
    given, wanted = verdict(case), case["outcome"]
    if given.undecided:
        assert any(re.match(reason, given.undecided) for reason in OPEN), given.undecided
        return
    assert (given.never is None) == wanted["admitted"], given.never
    assert given.never or given.flavors == wanted["assignment"]


def test_most_cases_have_a_verdict() -> None:
    counted = Counter(bool(verdict(case).undecided) for case in CASES)
    assert counted[False] >= 9 * counted[True]
