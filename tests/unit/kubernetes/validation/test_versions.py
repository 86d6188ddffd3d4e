"""Fields that only one of two Kubernetes versions accepts are warnings."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.kubernetes.validation import job_violations


def job_of_pod(**pod: Any) -> dict[str, Any]:
    """Return a Job with fields of its pod."""
    container = {"name": "a", "image": "b", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}
    spec = {"containers": [container], "restartPolicy": "Never", "dnsPolicy": "ClusterFirst", **pod}
    return {"metadata": {"name": "j", "namespace": "ml"}, "spec": {"template": {"spec": spec}}}


@pytest.mark.parametrize(
    ("pod", "field", "message"),
    [
        pytest.param(
            {"volumes": [{"name": "a", "image": {}}]},
            "spec.template.spec.volumes[0].image.reference",
            "Kubernetes 1.37 rejects an image volume without a reference; Kubernetes 1.36 rejects only its pods",
            id="an image volume",
        ),
        pytest.param(
            {"securityContext": {"seLinuxChangePolicy": "MountOption"}},
            "spec.template.spec.securityContext.seLinuxChangePolicy",
            "Kubernetes 1.36 rejects seLinuxChangePolicy MountOption, and Kubernetes 1.37 accepts it",
            id="a change policy",
        ),
    ],
)
def test_one_version_rejects_it(pod: dict[str, Any], field: str, message: str) -> None:
    (found,) = job_violations(job_of_pod(**pod))
    assert (found.field, found.severity, found.message) == (field, "warning", message)
