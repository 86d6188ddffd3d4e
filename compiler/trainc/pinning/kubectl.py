"""The runtimes of a cluster, from the user's own kubectl with its configuration, contexts and credentials.

Reads    the output of `kubectl get`, which is untrusted: its size, its duration and its bytes.
Returns  the answer, or a diagnostic with the reason. An answer counts only with exit status 0, because kubectl prints
         the runtimes of one kind and then fails if it may not list the other.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from trainc.base.declarations import Declaration
from trainc.base.records import NamedTuple
from trainc.base.texts import plural
from trainc.diagnostics import Diagnostic, Location
from trainc.files.inputs import LARGEST_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KUBECTL_FAILED: Final = Declaration("kubectl-failed", ("read",), trainc_only=True)

RESOURCES: Final = "clustertrainingruntimes,trainingruntimes"
"""The names without a group or version: kubectl selects the ones that the server serves."""
GET: Final = ("get", RESOURCES, "-A", "-o", "json")
IMAGES: Final = ("get", "deployments", "-A", "-o", "jsonpath={.items[*].spec.template.spec.containers[*].image}")
"""The images of all deployments: the overlay and the Helm chart give the controller other labels."""
CONTROLLER: Final = r"trainer-controller-manager:(v[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})(?![^\s])"
RUN: Final = f"run `kubectl {' '.join(GET)}` to find the cause"
"""The fix for a failure of unknown cause."""
SHOWN: Final = "<kubectl>"
"""The name of the answer in diagnostics."""
_LONGEST_MESSAGES: Final = 2**16
"""The last bytes of kubectl's standard error that are kept."""
_LONGEST_LINE: Final = 500
_LAST_LINES: Final = 20
"""Limits of the messages in a diagnostic; the patterns of hints need them too, because they may backtrack."""
_PIECE: Final = 2**16
_PAUSE: Final = 0.1
_GRACE: Final = 2.0
"""How long kubectl may take to report its own timeout, in seconds."""

_HINTS: Final = (
    (r"context .*(was not found|does not exist)", "use a context of `kubectl config get-contexts`"),
    (r"doesn't have a resource type", "install Trainer in the cluster, or use the --context of a cluster that has it"),
    (r"could not find the requested resource", "install all CRDs of Trainer in the cluster"),
    (
        r"forbidden",
        f"get permission to list {RESOURCES} in all namespaces, or run `trainc runtimes import` on a saved answer",
    ),
    (r"unauthorized|must be logged in|credentials|exec plugin", "log in to the cluster"),
    (
        r"localhost:8080|no configuration has been provided|current-context",
        "set the current context with `kubectl config use-context`, or use --context",
    ),
    (
        r"unable to connect|refused|no such host|timeout|deadline|timed out|unreachable",
        "check the context with `kubectl cluster-info`, or increase --timeout",
    ),
)
"""Patterns of kubectl's messages in lower case, each with the fix. The first match applies."""


class KubectlOutput(NamedTuple):
    """The output of a successful kubectl."""

    data: bytes
    messages: tuple[str, ...]
    """The lines of its standard error, such as warnings about the version."""


class _Ended(NamedTuple):
    status: int | None
    """None if kubectl was stopped."""
    out: bytes
    err: bytes
    reason: str
    """Why it was stopped."""


def get(context: str | None, *, timeout: int, environment: Mapping[str, str]) -> KubectlOutput | Diagnostic:
    """Return the runtimes of a cluster as kubectl's JSON list.

    Args:
        context: the context of the kubeconfig; None for the current one.
        timeout: seconds for each request, and for all of kubectl.
        environment: the variables that kubectl gets; its PATH is searched for kubectl.
    """
    ended = _kubectl(GET, context, timeout, environment)
    if isinstance(ended, Diagnostic):
        return ended
    lines = (line.strip() for line in ended.err.decode(errors="replace").splitlines())
    messages = tuple(line[:_LONGEST_LINE] for line in lines if line)[-_LAST_LINES:]
    if ended.status is None:
        return _failed(ended.reason, _hint(messages, RUN), messages)
    if ended.status:
        reason = f"kubectl was stopped by signal {-ended.status}" if ended.status < 0 else _status(ended.status)
        return _failed(reason, _hint(messages, RUN), messages)
    return KubectlOutput(ended.out, messages)


def controller_tag(context: str | None, *, timeout: int, environment: Mapping[str, str]) -> str:
    """Return the tag of the image of Trainer's controller; empty if the user may not list deployments, or without one.

    The arguments are those of `get`.
    """
    import re

    ended = _kubectl(IMAGES, context, timeout, environment)
    if isinstance(ended, Diagnostic) or ended.status != 0:
        return ""
    found = re.findall(CONTROLLER, ended.out.decode(errors="replace"))
    return str(found[0]) if len({*found}) == 1 else ""


def _kubectl(
    arguments: Sequence[str], context: str | None, timeout: int, environment: Mapping[str, str]
) -> _Ended | Diagnostic:
    """Run the kubectl of the PATH; return the diagnostic if it cannot be started."""
    import shutil

    program = shutil.which("kubectl", path=environment.get("PATH", os.defpath))
    if program is None:
        help = "install kubectl, or save an answer elsewhere and run `trainc runtimes import`"
        return _failed("kubectl is not on the PATH", help)
    options = [f"--request-timeout={timeout}s", *([] if context is None else [f"--context={context}"])]
    try:
        return _run([program, *arguments, *options], timeout, environment)
    except OSError as error:
        return _failed(f"{program} cannot be started: {error.strerror}", "check the kubectl on the PATH")


def _status(status: int) -> str:
    return f"kubectl failed with exit status {status}"


def _failed(reason: str, help: str, messages: Sequence[str] = ()) -> Diagnostic:
    """Return the diagnostic, with the last line of kubectl's messages: the lines before it are retries."""
    last = f": {messages[-1]}" if messages else ""
    return Diagnostic.declared(KUBECTL_FAILED, reason + last, help, place=Location(file=SHOWN))


def _hint(messages: Sequence[str], default: str) -> str:
    import re

    text = "\n".join(messages).lower()
    return next((help for pattern, help in _HINTS if re.search(pattern, text)), default)


def _run(command: Sequence[str], timeout: int, environment: Mapping[str, str]) -> _Ended:
    """Run a program without input, and stop it with its children if it takes too long or prints too much."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment, "LC_ALL": "C"},
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout as stdout, process.stderr as stderr:
        ended = False
        try:
            out, err, reason = _read(process, stdout, stderr, timeout)
            ended = not reason
        finally:
            if not ended:  # also if the user interrupts
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return _Ended(None if reason else process.returncode, out, err, reason)


def _read(
    process: subprocess.Popen[bytes], stdout: IO[bytes], stderr: IO[bytes], timeout: int
) -> tuple[bytes, bytes, str]:
    """Return both outputs, and the reason to stop the program; empty if it has ended.

    A login helper that kubectl starts may keep the pipes open: the end of kubectl counts, not the end of the pipes.
    """
    out, err = bytearray(), bytearray()
    until, late = time.monotonic() + timeout + _GRACE, f"kubectl has not ended within {plural(timeout, 'second')}"
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ, out)
        selector.register(stderr, selectors.EVENT_READ, err)
        while selector.get_map():
            if time.monotonic() >= until:
                return bytes(out), bytes(err), late
            ended = process.poll() is not None
            ready = selector.select(0 if ended else _PAUSE)
            if ended and not ready:
                break
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    selector.unregister(key.fileobj)
                elif key.data is out:
                    out += piece
                else:
                    err += piece
                    del err[:-_LONGEST_MESSAGES]
            if len(out) > LARGEST_FILE:
                return b"", bytes(err), f"kubectl printed more than the limit of {LARGEST_FILE >> 20} MiB"
    try:
        process.wait(max(until - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return bytes(out), bytes(err), late
    return bytes(out), bytes(err), ""
