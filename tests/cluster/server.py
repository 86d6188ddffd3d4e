"""A cluster to test with: kubectl for what a user types, plain HTTPS where a test asks hundreds of questions.

`make test-cluster` applies compiled objects to a Kubernetes 1.36 API server with JobSet v0.12, Trainer v2.3 and the
PodGroups of scheduler-plugins and Volcano. It needs kubectl 1.32 or later, and one of these variables:

- KUBECONFIG names a cluster. The tests create namespaces, PriorityClasses and RuntimeClasses. They delete the
  namespaces.
- TRAINC_CLUSTER names a program that starts a cluster: `PROGRAM up --kubeconfig FILE` prints `ready` and runs until
  SIGTERM. On its node `cluster-node`, pods run without images and end by annotation (`life`). `started` starts it, and
  sets KUBECONFIG.

The sweeps (each edit of a JobSet, generated jobs) check each fourth case: QUARTER=1 to 3 check the others, and
QUARTER=all checks all of them. CI runs all the tests on kind, and one quarter with the program. On a cluster with other
versions, a skipped test reports the promise that it cannot check. If CI is set, a skipped test fails, except for pods
that cannot run on kind.
"""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

import yaml

from trainc.kubernetes.trees import put

Tree = dict[str, Any]
T = TypeVar("T")

PROGRAM: Final = "TRAINC_CLUSTER"
SECONDS: Final = 180.0
"""How long a test waits for a controller, also on a busy machine."""
COLLECTIONS: Final = {
    "ClusterTrainingRuntime": "apis/trainer.kubeflow.org/v1alpha1",
    "ConfigMap": "api/v1",
    "Event": "api/v1",
    "Job": "apis/batch/v1",
    "JobSet": "apis/jobset.x-k8s.io/v1alpha2",
    "Pod": "api/v1",
    "PodGroup": "apis/scheduling.x-k8s.io/v1alpha1",
    "PodGroup of Volcano": "apis/scheduling.volcano.sh/v1beta1",
    "Secret": "api/v1",
    "TrainJob": "apis/trainer.kubeflow.org/v1alpha1",
    "TrainingRuntime": "apis/trainer.kubeflow.org/v1alpha1",
}
"""The group and version of each kind that a test reads or writes without kubectl."""


class Answer(NamedTuple):
    """The API server's answer to one request."""

    code: int
    body: Tree

    @property
    def message(self) -> str:
        """The server's reason, for a refused request."""
        return str(self.body.get("message", ""))


class Done(NamedTuple):
    """The result of a kubectl command."""

    code: int
    out: str
    err: str


class Cluster:
    """One API server. Its methods raise on a failed connection, never on a refused request."""

    def __init__(self, kubeconfig: str) -> None:
        self.kubeconfig = kubeconfig
        view = kubectl("config", "view", "--minify", "--raw", "--output=json", kubeconfig=kubeconfig)
        config = json.loads(view.out)
        server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._address = urlsplit(server["server"])
        self._context = ssl.create_default_context(cadata=_pem(server, "certificate-authority"))
        if "client-certificate-data" in user or "client-certificate" in user:
            with tempfile.NamedTemporaryFile("w") as both:
                both.write(_pem(user, "client-certificate") + "\n" + _pem(user, "client-key"))
                both.flush()
                self._context.load_cert_chain(both.name)
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        self._connection: http.client.HTTPSConnection | None = None
        self._namespaces: list[str] = []
        self._numbers = itertools.count()

    # kubectl

    def kubectl(self, *words: str, stdin: str = "") -> Done:
        """Run kubectl on this cluster."""
        return kubectl(*words, stdin=stdin, kubeconfig=self.kubeconfig)

    def apply(self, objects: Iterable[Tree], *options: str) -> list[str]:
        """Apply objects with kubectl; return its line for each one. Fail if kubectl does."""
        done = self.kubectl("apply", *options, "--filename=-", stdin=stream(objects))
        assert done.code == 0, done.err
        return done.out.splitlines()

    def namespace(self, name: str) -> str:
        """Create a namespace that no other test uses, and return its name."""
        unused = f"{name}-{os.getpid()}-{next(self._numbers)}"
        answer = self.ask("POST", "api/v1/namespaces", {"metadata": {"name": unused}})
        assert answer.code == 201, answer.message
        self._namespaces.append(unused)
        return unused

    def release(self, namespaces: Iterable[str] | None = None) -> None:
        """Delete namespaces, by default all that are left, without waiting until they are empty."""
        for name in list(self._namespaces if namespaces is None else namespaces):
            self.ask("DELETE", f"api/v1/namespaces/{name}")
            self._namespaces.remove(name)

    # HTTPS

    def ask(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Answer:
        """Send one request; `path` has no leading slash."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = self._headers | {"Content-Type": kind, "Accept": "application/json"}
        for last in (False, True):
            if self._connection is None:
                self._connection = http.client.HTTPSConnection(
                    self._address.hostname or "", self._address.port, context=self._context, timeout=SECONDS
                )
            try:
                self._connection.request(method, f"{self._address.path}/{path}", data, headers)
                with self._connection.getresponse() as response:
                    return Answer(response.status, json.loads(response.read() or b"{}"))
            except (http.client.HTTPException, OSError) as error:
                self._connection.close()  # the next request must not fail as well
                self._connection = None
                if last or isinstance(error, TimeoutError):
                    raise  # otherwise, the server has closed an idle connection
        raise AssertionError

    def get(self, kind: str, namespace: str, name: str) -> Tree | None:
        """Return an object, or None if there is none of that name."""
        answer = self.ask("GET", f"{collection(kind, namespace)}/{name}")
        assert answer.code in {200, 404}, answer.message
        return answer.body if answer.code == 200 else None

    def list(self, kind: str, namespace: str = "") -> list[Tree]:
        """Return the objects of a kind."""
        answer = self.ask("GET", collection(kind, namespace))
        assert answer.code == 200, answer.message
        kind = answer.body["kind"].removesuffix("List")
        return [{"apiVersion": answer.body["apiVersion"], "kind": kind} | item for item in answer.body["items"]]

    def schema(self, crd: str) -> Tree:
        """Return the schema of a CRD's stored version."""
        answer = self.ask("GET", f"apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}")
        assert answer.code == 200, answer.message
        version = next(version for version in answer.body["spec"]["versions"] if version["storage"])
        schema: Tree = version["schema"]["openAPIV3Schema"]
        return schema

    def create(self, tree: Tree) -> Answer:
        """Return the server's answer to the creation of an object."""
        return self.ask("POST", path_of(tree).rpartition("/")[0], tree)

    def try_create(self, tree: Tree) -> Answer:
        """Return the server's answer to the creation of an object, which is not stored."""
        return self.ask("POST", f"{path_of(tree).rpartition('/')[0]}?dryRun=All&fieldValidation=Strict", tree)

    def stored(self, tree: Tree) -> Tree:
        """Return a new object as the server would store it."""
        answer = self.try_create(put(tree, ("metadata", "namespace"), "default"))
        assert answer.code == 201, answer.message
        found: Tree = put(answer.body, ("metadata", "namespace"), tree["metadata"]["namespace"])
        return found

    def try_update(self, tree: Tree) -> Answer:
        """Return the server's answer to the replacement of an object, which is not stored."""
        return self.ask("PUT", f"{path_of(tree)}?dryRun=All", tree)


def collection(kind: str, namespace: str = "") -> str:
    """Return the path of a kind's objects."""
    plural = kind.partition(" ")[0].lower() + "s"
    return f"{COLLECTIONS[kind]}/namespaces/{namespace}/{plural}" if namespace else f"{COLLECTIONS[kind]}/{plural}"


def path_of(tree: Tree) -> str:
    """Return the path of an object; it ends with a slash if the server generates the name."""
    version, metadata = tree["apiVersion"], tree["metadata"]
    root = f"{'apis' if '/' in version else 'api'}/{version}"
    return f"{root}/namespaces/{metadata['namespace']}/{tree['kind'].lower()}s/{metadata.get('name', '')}"


def kubectl(*words: str, stdin: str = "", kubeconfig: str) -> Done:
    """Run the kubectl on the PATH."""
    done = subprocess.run(
        ["kubectl", *words],
        input=stdin,
        env=os.environ | {"KUBECONFIG": kubeconfig, "KUBECTL_EXTERNAL_DIFF": "diff -u -N"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def until(probe: Callable[[], T | None], what: str, *, seconds: float = SECONDS) -> T:
    """Return the first result that is not None, or fail after some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (result := probe()) is not None:
            return result
        time.sleep(0.05)
    raise AssertionError(f"not seen within {seconds:.0f} seconds: {what}")


@contextmanager
def started(program: str) -> Iterator[str]:
    """Start the program that TRAINC_CLUSTER names; yield its kubeconfig."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = str(Path(folder) / "kubeconfig")
        with subprocess.Popen(
            [program, "up", "--kubeconfig", kubeconfig], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                assert process.stdout is not None
                first = process.stdout.readline()
                assert first.startswith("ready"), first + process.stdout.read()
                yield kubeconfig
            finally:
                process.terminate()


def missing_reason() -> str:
    """Return the reason why there is no cluster; empty if there is one."""
    if not os.environ.get("KUBECONFIG") and not os.environ.get(PROGRAM):
        return f"a cluster: set KUBECONFIG, or {PROGRAM} to a program that starts one (tests/cluster/server.py)"
    if shutil.which("kubectl") is None:
        return "kubectl 1.32 or later on the PATH"
    return ""


def stream(objects: Iterable[Tree]) -> str:
    """Return objects as kubectl reads them."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def _pem(entry: Tree, key: str) -> str:
    if f"{key}-data" in entry:
        return base64.b64decode(entry[f"{key}-data"]).decode()
    return Path(entry[key]).read_text()


def load(text: str) -> list[Tree]:
    """Return the objects of a YAML stream."""
    return [tree for tree in yaml.safe_load_all(text) if tree]
