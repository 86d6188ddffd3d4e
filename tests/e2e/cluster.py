"""A cluster of processes: the pods of a compiled job, each with its own host name, files and address.

Reads    a TrainJob or a legacy job, through the real commands: `trainc build` (ConfigMaps), `trainc pods` (containers)
         and `trainc secret` (keys).
Returns  `Cluster`, whose pods start one by one. A pod runs its init containers, then its container, with the image's
         environment and the manifest's.

Each pod has its own namespaces for mounts, host name, processes and network. Two pods can listen on the same port, as
TensorFlow's workers do on all addresses, and killing a pod ends all its processes. The pods' addresses exist only in
these namespaces; the machine's network and files stay unchanged. `Cluster` requires root.

`make e2e` needs root, Linux, the Debian packages of `packages.txt`, and 3 GB for `.venv-e2e`. If something is missing,
its test is skipped with the reason, or fails if `CI` is set. To add a framework, copy from `test_jax.py`: add a job to
`jobs/`, a program that prints `PROOF {...}` to `programs/`, a test of that result, and the package to
`requirements.txt`.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from e2e.images import Image

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
FRESH = ("/home", "/root", "/tmp", "/run/sshd", "/var/tmp", "/opt", "/workspace")
"""Folders that are empty in a new pod; /workspace has the tests' programs."""
NETWORK = "10.244.0"
"""The first three parts of the pods' addresses."""


def trainc(*args: str) -> Any:
    """Return the output of `trainc ARGS` as data."""
    done = subprocess.run([sys.executable, "-m", "trainc", *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Running:
    """A started pod."""

    def __init__(self, name: str, log: Path, start: Callable[[Path], list[subprocess.Popen[bytes]]]) -> None:
        self.name = name
        self.log = log
        self._processes = start(log)

    def text(self) -> str:
        """Return its output so far."""
        return self.log.read_text(errors="replace")

    def reported(self) -> list[dict[str, Any]]:
        """Return the JSON lines of the tests' programs, which begin with a mark."""
        # The processes of a pod share one pipe: a line can begin in the middle of another one.
        return [json.loads(line.partition("PROOF ")[2]) for line in self.text().splitlines() if "PROOF {" in line]

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._processes[-1].poll() is None

    def wait(self, seconds: float) -> int:
        """Return its exit code; on a timeout, show its output."""
        try:
            return self._processes[-1].wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} runs after {seconds} s:\n{self.text()[-6000:]}") from None

    def kill(self) -> None:
        """End it like a lost node: all processes at once, without a signal to them."""
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class Cluster:
    """The pods of one job, as a context manager that ends all of them."""

    def __init__(
        self, manifest: Path, folder: Path, image: Image, *, secret: str = "", options: tuple[str, ...] = ()
    ) -> None:
        self.folder = folder
        self.image = image
        self.objects = json.loads(trainc("build", "--legacy", *options, str(manifest), "--format", "json"))
        self.pods: list[dict[str, Any]] = json.loads(trainc("pods", *options, str(manifest), "--format", "json"))
        self.running: list[Running] = []
        if secret:
            import yaml

            self.objects += [
                item
                for item in yaml.safe_load_all(trainc("secret", secret, "--legacy", *options, str(manifest)))
                if item
            ]
        self._networks: list[str] = []
        for number, pod in enumerate(self.pods, 1):
            pod["ip"] = f"{NETWORK}.{number}"
        # All pods read this file, and see the lines that `publish` adds.
        self._hosts = folder / "hosts"
        self._hosts.write_text("127.0.0.1 localhost\n")

    def __enter__(self) -> Cluster:
        switch = self._network("switch")
        _ip("-n", switch, "link", "add", "pods", "type", "bridge")
        _ip("-n", switch, "link", "set", "pods", "up")
        for number, pod in enumerate(self.pods):
            pod["network"] = own = self._network(str(number))
            _ip("link", "add", "eth0", "netns", own, "type", "veth", "peer", "name", f"pod{number}", "netns", switch)
            _ip("-n", switch, "link", "set", f"pod{number}", "master", "pods", "up")
            _ip("-n", own, "address", "add", f"{pod['ip']}/24", "dev", "eth0")
            _ip("-n", own, "link", "set", "eth0", "up")
            _ip("-n", own, "link", "set", "lo", "up")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for running in self.running:
            running.kill()
        for network in reversed(self._networks):
            _ip("netns", "delete", network)

    def publish(self, *names: str) -> list[dict[str, Any]]:
        """Let the host names of pods resolve: of the pods or replicated jobs with these names, by default of all.

        A JobSet's Service publishes a pod's name when the pod has an address, before its containers start.
        """
        chosen = [pod for pod in self.pods if not names or {pod["name"], pod["replicatedJob"]} & {*names}]
        published = self._hosts.read_text()
        lines = [f"{pod['ip']} {pod['fqdn']} {pod['address']} {pod['hostname']}\n" for pod in chosen]
        with self._hosts.open("a") as hosts:
            hosts.writelines(line for line in lines if line not in published)
        return chosen

    def start(self, *names: str) -> list[Running]:
        """Start the pods or replicated jobs with these names (by default all), and publish their host names."""
        chosen = self.publish(*names)
        started = [Running(pod["name"], self.folder / f"{pod['name']}.log", self._starter(pod)) for pod in chosen]
        self.running += started
        return started

    def wait(self, seconds: float, pods: Iterable[Running] = ()) -> list[dict[str, Any]]:
        """Wait until the pods (by default all) succeed; return their programs' results in the order of the pods."""
        end = time.monotonic() + seconds
        said = []
        for pod in pods or self.running:
            code = pod.wait(max(end - time.monotonic(), 0.1))
            assert code == 0, f"{pod.name} exits {code}:\n{pod.text()[-6000:]}"
            said += pod.reported()
        return said

    def until(self, condition: Callable[[], object], seconds: float, what: str) -> None:
        """Wait until a condition is true."""
        end = time.monotonic() + seconds
        while not condition():
            logs = "\n".join(f"== {pod.name}\n{pod.text()[-3000:]}" for pod in self.running)
            assert time.monotonic() < end, f"not after {seconds} s: {what}\n{logs}"
            time.sleep(0.2)

    def _network(self, name: str) -> str:
        network = f"trainc-{os.getpid()}-{name}"
        _ip("netns", "add", network)
        self._networks.append(network)
        return network

    def _starter(self, pod: dict[str, Any]) -> Callable[[Path], list[subprocess.Popen[bytes]]]:
        """Return the command of a pod, which runs its init containers one by one, then its container."""
        (container,) = pod["containers"]
        containers = [*pod["initContainers"], container]
        files = [self._prepared(pod, container) for container in containers]
        alone = [
            "ip",
            "netns",
            "exec",
            pod["network"],
            "unshare",
            "--mount",
            "--uts",
            "--pid",
            "--fork",
            "--kill-child",
        ]
        each = [" ".join([*alone, sys.executable, str(HERE / "enter.py"), str(file)]) for file in files]
        # One process runs the init containers one by one, then becomes the container.
        script = " && ".join([*each[:-1], f"exec {each[-1]}"])

        def start(log: Path) -> list[subprocess.Popen[bytes]]:
            with log.open("wb") as out:
                return [
                    subprocess.Popen(
                        ["sh", "-c", script],
                        stdin=subprocess.DEVNULL,
                        stdout=out,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                ]

        return start

    def _prepared(self, pod: dict[str, Any], container: dict[str, Any]) -> Path:
        """Write the input file of `enter.py`."""
        image = self.image
        user = container.get("securityContext", {}).get("runAsUser", 0)
        # Each user of the images has a group with its number.
        primary = container.get("securityContext", {}).get("runAsGroup", user)
        group = pod["spec"].get("securityContext", {}).get("fsGroup", 0)
        command = [*(container["command"] or ()), *(container["args"] or ())]
        assert command, f"{pod['name']}: the tests' image has no command of its own"
        assert None not in container["env"].values(), f"{pod['name']}: {container['unknown']}"
        file = self.folder / f"{pod['name']}-{container['name']}.json"
        what = {
            "hostname": pod["hostname"],
            "users": image.users,
            "fresh": FRESH,
            "shown": [sys.prefix, sys.base_prefix],
            "files": dict(image.files),
            "links": dict(image.links),
            "mounts": [
                {"source": str(PROGRAMS), "path": "/workspace"},
                {"source": str(self._hosts), "path": "/etc/hosts"},
                *(
                    {"source": str(self._volume(pod, mount["name"], group)), "path": mount["mountPath"]}
                    for mount in container.get("volumeMounts", ())
                ),
            ],
            "owner": user,
            "primary": primary,
            "group": group,
            "workdir": container.get("workingDir", image.workdir),
            "env": {**image.env, "HOSTNAME": pod["hostname"], **container["env"]},
            "command": command,
        }
        file.write_text(json.dumps(what))
        return file

    def _volume(self, pod: dict[str, Any], name: str, group: int) -> Path:
        """Create the folder of a volume with its content."""
        (volume,) = (volume for volume in pod["spec"]["volumes"] if volume["name"] == name)
        if host := volume.get("hostPath"):
            # All pods are on one node, whose files are in the test's folder.
            node = self.folder / "node" / str(host["path"]).lstrip("/")
            node.mkdir(parents=True, exist_ok=True)
            return node
        folder = self.folder / f"{pod['name']}-volume-{name}"
        if folder.exists():
            return folder
        folder.mkdir()
        for kind, key in (("configMap", "name"), ("secret", "secretName")):
            if kind in volume:
                self._fill(folder, kind, volume[kind][key], volume[kind], group)
        if "emptyDir" in volume:
            folder.chmod(0o777)
        return folder

    def _fill(self, folder: Path, kind: str, name: str, source: dict[str, Any], group: int) -> None:
        (found,) = (
            item for item in self.objects if item["kind"].lower() == kind.lower() and item["metadata"]["name"] == name
        )
        data = {key: text.encode() for key, text in found.get("stringData", {}).items()}
        data |= {key: text.encode() for key, text in found.get("data", {}).items() if kind == "configMap"}
        data |= {key: base64.b64decode(text) for key, text in found.get("data", {}).items() if kind == "secret"}
        for item in source.get("items") or [{"key": key, "path": key} for key in data]:
            file = folder / item["path"]
            file.write_bytes(data[item["key"]])
            mode = item.get("mode", source.get("defaultMode", 0o644))
            # As the kubelet does for fsGroup: root owns the files, and the group can read them.
            os.chown(file, 0, group)
            file.chmod(mode | 0o440 if group else mode)


def _ip(*args: str) -> None:
    subprocess.run(["ip", *args], check=True)


Needs = Callable[..., None]
"""The types of the fixtures in conftest.py."""
Clusters = Callable[..., Cluster]
Prove = Callable[..., AbstractContextManager[None]]
