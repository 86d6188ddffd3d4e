"""The plugin's commands as the sidecar runs them: by its user, in a read-only repository, in 60 seconds.

Root owns the repository, and the sidecar's user can read it, except for single files in some tests.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from argocd.sidecar import FILES, Sidecar

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: finetune}
spec:
  runtimeRef: {name: ours}
  trainer: {resourcesPerNode: {requests: {cpu: 1}}}
"""
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteMany]}\n"
SPEC = yaml.safe_load((FILES / "plugin.yaml").read_text())["spec"]
GENERATE: list[str] = SPEC["generate"]["command"]
DISCOVER: list[str] = SPEC["discover"]["find"]["command"]
PARAMETERS: list[str] = SPEC["parameters"]["dynamic"]["command"]
SAID = json.dumps([{"array": ["../../platform"], "name": "runtimes"}, {"name": "only"}])
OF_EVERY_REQUEST = {
    "ARGOCD_LOG_FORMAT": "json",
    "ARGOCD_LOG_LEVEL": "info",
    "HOSTNAME": "argocd-repo-server",
    "KUBERNETES_SERVICE_HOST": "10.96.0.1",
    "ARGOCD_APP_NAME": "demo",
    "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/demo.git",
    "ARGOCD_APP_SOURCE_PATH": "apps/training",
    "ARGOCD_APP_SOURCE_TARGET_REVISION": "HEAD",
    "ARGOCD_ENV_UNKNOWN_TO_US": "x",
    "ARGOCD_APP_PARAMETERS": SAID,
    "PARAM_RUNTIMES_0": "../../platform",
}
OF_MANIFESTS = {
    "ARGOCD_APP_NAMESPACE": "research",
    "ARGOCD_APP_PROJECT_NAME": "default",
    "ARGOCD_APP_REVISION": "0123456789abcdef0123456789abcdef01234567",
    "ARGOCD_APP_REVISION_SHORT": "0123456",
    "ARGOCD_APP_REVISION_SHORT_8": "01234567",
    "KUBE_VERSION": "1.36",
    "KUBE_API_VERSIONS": "v1,v1/ConfigMap,apps/v1",
}
"""The variables that Argo CD sets for `generate` and `discover`, but not for `parameters`."""


@pytest.fixture
def application() -> Iterator[Path]:
    """Yield the folder of an application in a read-only repository."""
    root = Path(tempfile.mkdtemp(prefix="trainc-repository-"))
    folder = root / "apps" / "training"
    folder.mkdir(parents=True)
    (root / "platform").mkdir()
    built_in = (FILES.parents[1] / "runtimes" / "trainer-2.3" / "torch-distributed.yaml").read_text()
    (root / "platform" / "ours.yaml").write_text(built_in.replace("name: torch-distributed", "name: ours"))
    (folder / "job.yaml").write_text(JOB)
    (folder / "data.yaml").write_text(CLAIM)
    for path in (*root.rglob("*"), root):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(root)


def contents(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.parents[1].rglob("*"))


def test_generate(sidecar: Sidecar, application: Path) -> None:
    before = contents(application)
    done = sidecar.run(GENERATE, application, variables=OF_EVERY_REQUEST | OF_MANIFESTS)
    assert (done.returncode, done.stderr) == (0, "")
    read = [(tree["kind"], tree["metadata"].get("namespace")) for tree in yaml.safe_load_all(done.stdout)]
    assert read == [("JobSet", "research"), ("PersistentVolumeClaim", None)]
    assert contents(application) == before


def test_discover(sidecar: Sidecar, application: Path) -> None:
    done = sidecar.run(DISCOVER, application, variables=OF_EVERY_REQUEST | OF_MANIFESTS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "job.yaml\n", "")
    for_parameters = sidecar.run(DISCOVER, application, variables=OF_EVERY_REQUEST)
    assert (for_parameters.returncode, for_parameters.stdout, for_parameters.stderr) == (0, "job.yaml\n", "")


def test_parameters(sidecar: Sidecar, application: Path) -> None:
    done = sidecar.run(PARAMETERS, application, variables=OF_EVERY_REQUEST)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[1]["tooltip"] == "Compile only TrainJobs with this name: finetune"


def test_discover_where_no_variable_is_set(sidecar: Sidecar, application: Path) -> None:
    done = sidecar.run(DISCOVER, application.parents[1])
    assert (done.returncode, done.stdout, done.stderr) == (0, "apps/training/job.yaml\n", "")


def seal(path: Path) -> None:
    path.chmod(0)
    if os.geteuid() == 0:
        os.chown(path, 0, 0)


@pytest.mark.parametrize(
    ("sealed", "said"),
    [
        pytest.param("job.yaml", "job.yaml: error[unreadable]: cannot be read: Permission denied", id="a TrainJob"),
        pytest.param("data.yaml", "data.yaml: error[unreadable]: cannot be read: Permission denied", id="a claim"),
        pytest.param(
            "../../platform/ours.yaml",
            "../../platform/ours.yaml: error[unreadable]: cannot be read: Permission denied",
            id="a runtime",
        ),
        pytest.param("../../platform", "../../platform: error[unreadable]: cannot be read", id="a folder of runtimes"),
    ],
)
def test_what_the_user_may_not_read(sealed: str, said: str, sidecar: Sidecar, application: Path) -> None:
    seal(application / sealed)
    done = sidecar.run(GENERATE, application, variables=OF_EVERY_REQUEST | OF_MANIFESTS)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr
    for command in (DISCOVER, PARAMETERS):
        done = sidecar.run(command, application, variables=OF_EVERY_REQUEST)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_that_the_user_may_not_enter(sidecar: Sidecar, application: Path) -> None:
    application.chmod(0o755)
    (application / "more").mkdir()
    (application / "more" / "job.yaml").write_text(JOB)
    seal(application / "more")
    application.chmod(0o555)
    done = sidecar.run(GENERATE, application, variables=OF_EVERY_REQUEST | OF_MANIFESTS)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("more: error[unreadable]: cannot be read: Permission denied")
