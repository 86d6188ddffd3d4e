"""`trainc secret`: keys in standard formats, only for jobs that need them, and a warning about git."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from running import run

from trainc.cli.secret import Z85, z85

pytestmark = pytest.mark.usefixtures("empty_folder")

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: solve, namespace: physics}
spec:
  runtimeRef: {name: RUNTIME}
  trainer: {numNodes: 2, command: [/opt/solver]}
"""


def write_job(runtime: str) -> None:
    Path("job.yaml").write_text(JOB.replace("RUNTIME", runtime))


def secret(*arguments: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the only printed Secret without its data, and the decoded data."""
    done = run("secret", *arguments)
    assert (done.code, done.err) == (0, "")
    manifest = yaml.safe_load(done.out)
    return manifest, {key: b64decode(value) for key, value in manifest.pop("data").items()}


def test_the_keys_of_an_mpi_job() -> None:
    write_job("openmpi-distributed")
    manifest, data = secret("solve")
    assert manifest == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "solve-mpi-ssh-auth", "namespace": "physics"},
        "type": "kubernetes.io/ssh-auth",
        "immutable": True,
    }
    private = serialization.load_pem_private_key(data["ssh-privatekey"], None)
    public = serialization.load_ssh_public_key(data["ssh-publickey"])
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    assert private.curve.name == "secp521r1"
    assert private.public_key() == public
    assert data["ssh-publickey"].startswith(b"ecdsa-sha2-nistp521 ")


def test_the_secret_of_an_environment() -> None:
    write_job("openmpi-distributed")
    Path("trainc.yaml").write_text("environments: {dev: {namespace: dev, nameSuffix: -dev}, prod: {namespace: prod}}\n")
    notes = run("validate").out
    assert "nameSuffix" not in notes
    assert notes.count('warning[no-gang]: TrainJob "solve" has 2 nodes') == 1, notes
    command = "trainc secret solve job.yaml --env NAME | kubectl apply -f -"
    assert notes.count(f"help: create it once in each environment: {command}\n") == 1, notes
    for name, expected in (("dev", "dev/solve-dev-mpi-ssh-auth"), ("prod", "prod/solve-mpi-ssh-auth")):
        metadata = secret("solve", "job.yaml", "--env", name)[0]["metadata"]
        assert f"{metadata['namespace']}/{metadata['name']}" == expected
        (pod,) = {volume for volume in run("build", "--env", name).out.splitlines() if "secretName" in volume}
        assert pod.split()[-1] == metadata["name"]


def test_the_secret_of_a_project_without_environments() -> None:
    write_job("openmpi-distributed")
    Path("trainc.yaml").write_text("namespace: ml\nnamePrefix: team-\n")
    assert "help: create it once: trainc secret solve job.yaml | kubectl apply -f -\n" in run("validate").out
    assert secret("solve")[0]["metadata"] == {"name": "team-solve-mpi-ssh-auth", "namespace": "ml"}


def test_ssh_reads_them(empty_folder: Path) -> None:
    write_job("openmpi-distributed")
    _, data = secret("solve", "job.yaml")
    key = empty_folder / "id_ecdsa"
    key.touch(0o600)
    key.write_bytes(data["ssh-privatekey"])
    try:
        shown = subprocess.run(["ssh-keygen", "-y", "-f", key], capture_output=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip("ssh-keygen on the PATH")
    assert shown.split()[:2] == data["ssh-publickey"].split()


def test_the_key_of_a_flux_job() -> None:
    write_job("flux-distributed")
    manifest, data = secret("solve")
    assert (manifest["metadata"]["name"], manifest["type"]) == ("solve-flux-curve", "Opaque")
    lines = [line for line in data["curve.cert"].decode().splitlines() if not line.startswith("#")]
    assert [line.partition(" = ")[0] for line in lines] == [
        "metadata",
        "    name",
        "curve",
        "    public-key",
        "    secret-key",
    ]
    public, private = (bytes_of(line.partition(' = "')[2].rstrip('"')) for line in lines[3:])
    assert x25519.X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw() == public


def bytes_of(text: str) -> bytes:
    """Decode Z85."""
    groups = [text[at : at + 5] for at in range(0, len(text), 5)]
    return b"".join(sum(Z85.index(c) * 85 ** (4 - i) for i, c in enumerate(group)).to_bytes(4) for group in groups)


def test_z85_as_its_specification_shows_it() -> None:
    assert z85(bytes.fromhex("864fd26fb559f75b")) == "HelloWorld"
    assert bytes_of(z85(bytes(range(32)))) == bytes(range(32))


def test_keys_are_new_each_time() -> None:
    write_job("openmpi-distributed")
    assert secret("solve")[1] != secret("solve")[1]


def test_a_namespace_of_the_command_line() -> None:
    Path("job.yaml").write_text(JOB.replace("RUNTIME", "flux-distributed").replace(", namespace: physics", ""))
    assert "namespace" not in secret("solve")[0]["metadata"]
    assert secret("solve", "-n", "chemistry")[0]["metadata"]["namespace"] == "chemistry"


@pytest.mark.parametrize(
    ("runtime", "job", "code", "message"),
    [
        pytest.param("torch-distributed", "solve", 0, 'TrainJob "solve" needs no Secret\n', id="none is needed"),
        pytest.param("torch-distributed", "solv", 1, 'no TrainJob "solv" in the given paths', id="no such job"),
        pytest.param("none-distributed", "solve", 1, "error[runtime-not-found]", id="a wrong job"),
    ],
)
def test_nothing_is_printed(runtime: str, job: str, code: int, message: str) -> None:
    write_job(runtime)
    done = run("secret", job)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


@pytest.mark.parametrize("runtime", ["openmpi-distributed", "flux-distributed"])
def test_the_note_of_a_build_has_a_command_that_works(runtime: str) -> None:
    write_job(runtime)
    (line,) = [line for line in run("build", "job.yaml").err.splitlines() if "help: create it once: " in line]
    command, _, rest = line.partition("create it once: trainc ")[2].partition(" | ")
    assert rest == "kubectl apply -f -"
    assert secret(*command.split()[1:])[1]


def test_without_the_library_the_error_has_the_install_command() -> None:
    write_job("openmpi-distributed")
    with mock.patch.dict(sys.modules, {"cryptography.hazmat.primitives": None}):
        done = run("secret", "solve")
    assert (done.code, done.out) == (2, "")
    assert "in a clone of trainc, run pip install '.[secret]'" in done.err


@pytest.mark.parametrize(
    ("tree", "target", "warned"),
    [
        pytest.param(True, "secret.yaml", True, id="a file in a work tree"),
        pytest.param(False, "secret.yaml", False, id="a file elsewhere"),
        pytest.param(True, "/dev/null", False, id="no regular file"),
        pytest.param(True, "../outside.yaml", False, id="a file outside of the current work tree"),
    ],
)
def test_a_file_in_git(empty_folder: Path, tree: bool, target: str, warned: bool) -> None:
    work = empty_folder / "work"
    work.mkdir()
    (work / "job.yaml").write_text(JOB.replace("RUNTIME", "flux-distributed"))
    if tree:
        (work / ".git").mkdir()
    with (work / target).open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "trainc", "secret", "solve"],
            cwd=work,
            stdout=out,
            stderr=subprocess.PIPE,
            check=True,
        )
    assert (b"do not commit these keys; pipe them to kubectl apply -f -" in done.stderr) is warned


@pytest.mark.parametrize("tree", [True, False])
def test_of_a_pipe_the_current_folder_counts(empty_folder: Path, tree: bool) -> None:
    (empty_folder / "job.yaml").write_text(JOB.replace("RUNTIME", "flux-distributed"))
    if tree:
        (empty_folder / ".git").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "trainc", "secret", "solve"], cwd=empty_folder, capture_output=True, check=True
    )
    assert (b"may be in the git work tree" in done.stderr) is tree


def test_if_the_file_is_unknown_the_current_folder_counts(empty_folder: Path) -> None:
    from trainc.cli.secret import _work_tree

    (empty_folder / ".git").mkdir()
    with (
        open(empty_folder / "out", "w") as out,
        mock.patch.object(sys, "stdout", out),
        mock.patch("os.readlink", side_effect=OSError),
    ):
        assert _work_tree() == str(empty_folder.resolve())


def test_a_file_that_only_its_owner_can_read(empty_folder: Path) -> None:
    write_job("openmpi-distributed")
    done = run("secret", "solve", "-o", "keys.yaml")
    assert (done.code, done.out, done.err) == (0, "", "keys.yaml: written\n")
    assert Path("keys.yaml").stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(Path("keys.yaml").read_text())["kind"] == "Secret"
    Path("link.yaml").symlink_to("other.yaml")
    for existing in ("keys.yaml", "link.yaml"):
        assert run("secret", "solve", "-o", existing).code == 1
    assert not Path("other.yaml").exists()


@pytest.mark.parametrize(("line", "kind"), [("> keys.yaml", "file"), ("| cat", "pipe")])
def test_a_warning_for_keys_in_a_file_or_a_pipe(empty_folder: Path, line: str, kind: str) -> None:
    write_job("openmpi-distributed")
    shell = f'"{sys.executable}" -m trainc secret solve job.yaml {line}'
    done = subprocess.run(["bash", "-c", shell], check=True, capture_output=True, text=True, timeout=60)
    assert f"warning: the keys go to a {kind}" in done.stderr
