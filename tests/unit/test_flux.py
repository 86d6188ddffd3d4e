"""Flux: the values in the scripts, and the effect of the scripts with a `flux` that only prints its arguments."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from manifests import compiled, pods_of, replicated_job

import trainc
from trainc.pipeline.frameworks.flux import shell_word

FOLDERS = ("/mnt/flux", "/opt/software", "/opt/view", "/curve/")
"""The folders in which the scripts work."""


def on_flux(
    tmp_path: Path, trainer: Any = None, node: Any = None, flux: Any = None, name: str = "node", **pod: Any
) -> trainc.Result:
    """Compile a TrainJob `j` of two nodes on a runtime with one job."""
    job = replicated_job(name, node or {}, trainer=True, pod=pod)
    of_job = {"numNodes": 2, "command": ["solve"], **(trainer or {})}
    return compiled(tmp_path, job, of_job, mlPolicy={"flux": flux or {}})


def pod_of(compilation: trainc.Result) -> dict[str, Any]:
    (found,) = pods_of(compilation).values()
    return dict(found)


def script(compilation: trainc.Result, name: str = "entrypoint.sh") -> str:
    assert [d.id for d in compilation.diagnostics] == ["secret-expected"]
    text: str = compilation.objects[1]["data"][name]
    return text


class Pod:
    """A folder that replaces a pod's file system for the scripts."""

    def __init__(self, root: Path, compilation: trainc.Result, host: str) -> None:
        self.root, self.compilation = root, compilation
        self.calls = root / "calls"
        for folder in ("bin", "opt/views/1/bin", "opt/views/1/lib/python3.11/site-packages", "curve", "mnt/flux"):
            (root / folder).mkdir(parents=True)
        (root / "opt/view").symlink_to(root / "opt/views/1")
        (root / "opt/software").mkdir()
        (root / "opt/software/libflux.so").write_text("flux")
        (root / "curve/curve.cert").write_text("key")
        self.program("opt/views/1/bin/flux", f'for word; do printf "%s\\0" "$word"; done >> {self.calls}')
        self.program("bin/uname", f"echo {host}")

    def program(self, path: str, body: str) -> None:
        (self.root / path).write_text(f"#!/bin/bash\n{body}\n")
        (self.root / path).chmod(0o755)

    def run(self, name: str, *args: str, **env: str) -> None:
        text = script(self.compilation, name)
        for folder in FOLDERS:
            text = text.replace(folder, f"{self.root}{folder}")
        path = {"PATH": f"{self.root}/bin:{os.environ['PATH']}", "PYTHONPATH": "/app", **env}
        subprocess.run(["bash", "-c", text, name, *args], env=path, check=True, timeout=30)

    def start(self, *args: str, **env: str) -> list[str]:
        """Run both scripts as the pod's containers do; return the arguments of flux without its options."""
        self.run("init.sh")
        self.run("entrypoint.sh", "the command in one string", *args, **env)
        words = self.calls.read_text().split("\0")[:-1]
        assert words[0] == "start"
        return [word for word in words[1:] if not word.startswith(("--config-path=", "--setattr="))]


RUN = ["flux", "run", "-N2", "-n2", "-ocpu-affinity=off", "--env=PYTHONPATH=/app"]


@pytest.mark.parametrize(
    ("trainer", "args", "words"),
    [
        pytest.param({}, [], ["solve"], id="the command"),
        pytest.param({"args": ["-a"]}, [], ["solve", "-a"], id="and its args"),
        pytest.param({}, ["-log", "a b"], ["solve", "-log", "a b"], id="the runtime's args come after it"),
        pytest.param({"command": ["sh", "-c", "a; 'b'\n$c"]}, [], ["sh", "-c", "a; 'b'\n$c"], id="words stay whole"),
        pytest.param({"command": ["$(LR)", "$(NO)", "$$(LR)"]}, [], ["0.1", "$(NO)", "$(LR)"], id="references"),
    ],
)
def test_the_first_pod_starts_the_command(tmp_path: Path, trainer: Any, args: list[str], words: list[str]) -> None:
    first = Pod(tmp_path / "pod", on_flux(tmp_path, trainer), "j-node-0-0")
    assert first.start(*args, LR="0.1") == [*RUN, *words]


TAKEN = ("device", "policy", "hosts", "cores", "gpus", "options", "lead", "subdomain", "home", "flux", "python", "site")
"""Names that a user may give to a variable, and that the script could use for its own."""


def test_the_script_leaves_the_variables_of_the_container_alone(tmp_path: Path) -> None:
    command = [f"$({name})" for name in TAKEN]
    first = Pod(tmp_path / "pod", on_flux(tmp_path, {"command": command}), "j-node-0-0")
    first.program("opt/views/1/bin/flux", f'env > {first.root}/env; printf "%s\\0" "$@" > {first.calls}')
    given = {name: f"my {name}" for name in TAKEN}
    assert first.start(**given)[len(RUN) :] == list(given.values())
    inherited = dict(line.split("=", 1) for line in (first.root / "env").read_text().splitlines())
    assert {name: inherited.get(name) for name in TAKEN} == given


def test_without_a_command_the_instance_stays(tmp_path: Path) -> None:
    assert Pod(tmp_path / "pod", on_flux(tmp_path, {"command": []}), "j-node-0-0").start() == ["sleep", "infinity"]


def test_another_pod_lends_its_broker(tmp_path: Path) -> None:
    assert Pod(tmp_path / "pod", on_flux(tmp_path), "j-node-0-1").start() == []


def test_the_broker_settings(tmp_path: Path) -> None:
    env = [{"name": "FLUX_NETWORK_DEVICE", "value": "ib0"}, {"name": "FLUX_QUEUE_POLICY", "value": "easy"}]
    asked = {"numNodes": 3, "numProcPerNode": 4, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}, "env": env}
    first = Pod(tmp_path / "pod", on_flux(tmp_path, asked), "j-node-0-0")
    assert first.start()[2:6] == ["-N3", "-n12", "-ocpu-affinity=off", "-g2"]
    home = first.root / "mnt/flux/home"
    assert tomllib.loads((home / "config/broker.toml").read_text()) == {
        "bootstrap": {
            "curve_cert": f"{home}/curve.cert",
            "default_port": 8050,
            "default_bind": "tcp://ib0:%p",
            "default_connect": "tcp://%h.j:%p",
            "hosts": [{"host": "j-node-0-[0-2]"}],
        },
        "resource": {"noverify": True, "config": [{"hosts": "j-node-0-[0-2]", "cores": "0-3", "gpus": "0-7"}]},
        "sched-fluxion-qmanager": {"queue-policy": "easy"},
    }
    assert (home / "curve.cert").read_text() == "key"
    assert (home / "curve.cert").stat().st_mode & 0o777 == 0o600


def test_a_restarted_container_starts_over(tmp_path: Path) -> None:
    first = Pod(tmp_path / "pod", on_flux(tmp_path), "j-node-0-0")
    once = first.start()
    (first.root / "mnt/flux/home/state/content.sqlite").write_text("old")
    first.calls.unlink()
    assert first.start() == once
    assert not (first.root / "mnt/flux/home/state/content.sqlite").exists()


@pytest.mark.parametrize(
    ("trainer", "flux", "options"),
    [
        pytest.param({}, {}, "-N2 -n2 -ocpu-affinity=off", id="one process a node"),
        pytest.param({}, {"numProcPerNode": 3}, "-N2 -n6 -ocpu-affinity=off", id="the runtime's"),
        pytest.param({"numProcPerNode": 4}, {"numProcPerNode": 3}, "-N2 -n8 -ocpu-affinity=off", id="the TrainJob's"),
        pytest.param({"numProcPerNode": 2, "gpus": 4}, {}, "-N2 -n4 -ocpu-affinity=off -g2", id="a share of the GPUs"),
        pytest.param({"numProcPerNode": 2, "gpus": 3}, {}, "-N2 -n4 -ocpu-affinity=off -g1", id="a whole share"),
        pytest.param(
            {"numProcPerNode": 4, "gpus": 2}, {}, "-N2 -n8 -ocpu-affinity=off -ogpu-affinity=off", id="too few to share"
        ),
    ],
)
def test_how_processes_are_spread(tmp_path: Path, trainer: Any, flux: Any, options: str) -> None:
    resources = {"limits": {"amd.com/gpu": trainer.pop("gpus", 0)}}
    text = script(on_flux(tmp_path, {**trainer, "resourcesPerNode": resources}, flux=flux))
    assert f"options='{options}'\n" in text


@pytest.mark.parametrize(
    ("runtime", "trainjob", "image"),
    [
        pytest.param([], [], "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy", id="not set"),
        pytest.param([{"value": "a:1"}], [], "a:1", id="the runtime"),
        pytest.param([{"value": "a:1"}], [{"value": "b:1"}], "b:1", id="the TrainJob wins"),
        pytest.param([{"value": ""}], [], "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy", id="empty"),
    ],
)
def test_the_image_of_flux(tmp_path: Path, runtime: Any, trainjob: Any, image: str) -> None:
    def env(entries: Any) -> Any:
        return {"env": [{"name": "FLUX_VIEW_IMAGE", **entry} for entry in entries]}

    (installer,) = pod_of(on_flux(tmp_path, env(trainjob), env(runtime)))["initContainers"]
    assert (installer["name"], installer["image"]) == ("flux-installer", image)


@pytest.mark.parametrize(
    ("trainer", "node", "command"),
    [
        pytest.param({"command": ["a", "b c"]}, {"command": ["x"]}, "a b c", id="the TrainJob's"),
        pytest.param({"command": ["a"], "args": ["-b"]}, {"args": ["-x"]}, "a -b", id="with its args"),
        pytest.param({"command": [], "args": ["-b "]}, {}, "-b", id="only args"),
    ],
)
def test_the_wrapped_command(tmp_path: Path, trainer: Any, node: Any, command: str) -> None:
    container = pod_of(on_flux(tmp_path, trainer, node))["containers"][0]
    assert container["command"] == ["/bin/bash", "/etc/flux-config/entrypoint.sh", command]
    assert container.get("args") == node.get("args")


def test_a_mount_and_a_volume_of_the_same_place_are_replaced(tmp_path: Path) -> None:
    volumes = [{"name": "shared-memory", "emptyDir": {"sizeLimit": "8Gi"}}]
    mounted = {"volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}]}
    found = pod_of(on_flux(tmp_path, node=mounted, volumes=volumes))
    assert found["volumes"][0] == {"name": "shared-memory", "emptyDir": {"medium": "Memory"}}
    assert found["containers"][0]["volumeMounts"][0] == {
        "name": "shared-memory",
        "mountPath": "/dev/shm",
        "readOnly": True,
    }


def test_a_trainer_of_another_name_is_compiled_as_the_controller_does(tmp_path: Path) -> None:
    found = on_flux(tmp_path, name="brokers")
    assert [(d.id, d.severity) for d in found.diagnostics] == [("flux-job-name", "warning")]
    assert "volumes" not in pod_of(found)
    assert pod_of(found)["containers"][0]["command"][0] == "/bin/bash"


@pytest.mark.parametrize(
    ("trainer", "pod", "expected"),
    [
        pytest.param({"numProcPerNode": 0}, {}, [("flux-process-count", "spec.trainer.numProcPerNode")], id="none"),
        pytest.param({"numProcPerNode": -1}, {}, [("flux-process-count", "spec.trainer.numProcPerNode")], id="fewer"),
        pytest.param(
            {},
            {"initContainers": [{"name": "flux-installer", "image": "i:1"}]},
            [("flux-installer", "spec.trainer.initContainers")],
            id="the installer's name",
        ),
    ],
)
def test_rejected(tmp_path: Path, trainer: Any, pod: Any, expected: Any) -> None:
    assert [(d.id, d.field) for d in on_flux(tmp_path, trainer, **pod).diagnostics] == expected


@pytest.mark.parametrize(
    ("word", "text"),
    [
        pytest.param("lmp", "lmp", id="as it is"),
        pytest.param("", "''", id="nothing"),
        pytest.param("a b", "'a b'", id="a space"),
        pytest.param("it's", """'it'"'"'s'""", id="a quote"),
        pytest.param("$HOME", "'$HOME'", id="no reference"),
        pytest.param("$(A)", '"${A-\\$(A)}"', id="a reference"),
        pytest.param("$$(A)", "'$(A)'", id="an escaped one"),
        pytest.param("$(a-b)", "'$(a-b)'", id="a name that no shell can say"),
    ],
)
def test_words(word: str, text: str) -> None:
    assert shell_word(word) == text
