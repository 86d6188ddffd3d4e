"""The objects of a cluster, from the user's own kubectl with its configuration, contexts and credentials.

Reads    the output of `kubectl get`, which is untrusted: its size, its duration and its bytes.
Returns  the answer, or a diagnostic with the reason. An answer counts only with exit status 0, because kubectl prints
         the objects of one kind and then fails if it may not list the other. Nothing but reads is requested.
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

RUNTIMES: Final = "clustertrainingruntimes,trainingruntimes"
"""The names without a group or version: kubectl selects the ones that the server serves."""
IMAGES: Final = ("deployments", "-A", "-o", "jsonpath={.items[*].spec.template.spec.containers[*].image}")
"""The images of all deployments: the overlay and the Helm chart give the controller other labels."""
CONTROLLER: Final = r"trainer-controller-manager:(v[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4})(?![^\s])"
SHOWN: Final = "<kubectl>"
"""The name of the answer in diagnostics."""
UNREACHABLE: Final = "check the context with `kubectl cluster-info`, or increase --timeout"
LATE: Final = "has not ended within"
NO_KIND: Final = r"doesn't have a resource type|could not find the requested resource"
_LONGEST_MESSAGES: Final = 2**16
"""The last bytes of kubectl's standard error that are kept."""
_LONGEST_LINE: Final = 500
_LAST_LINES: Final = 20
"""Limits of the messages in a diagnostic; the patterns of hints need them too, because they may backtrack."""
_START: Final = 40
"""Characters of an answer that is not JSON."""
_PIECE: Final = 2**16
_PAUSE: Final = 0.1
_GRACE: Final = 2.0
"""How long kubectl may take to report its own timeout, in seconds."""


class Hints(NamedTuple):
    """The fixes that depend on what is read, and on the command that reads it."""

    no_kubectl: str
    no_kind: str
    """The server does not have a kind."""
    forbidden: str


OF_RUNTIMES: Final = Hints(
    "install kubectl, or save an answer elsewhere and run `trainc runtimes import`",
    "install all CRDs of Trainer in the cluster, or use the --context of a cluster that has them",
    f"get permission to list {RUNTIMES} in all namespaces, or run `trainc runtimes import` on a saved answer",
)
_HINTS: Final = (
    (r"context .*(was not found|does not exist)", "use a context of `kubectl config get-contexts`"),
    (r"forbidden", "{hints.forbidden}"),
    (r"unauthorized|must be logged in|credentials|exec plugin", "log in to the cluster"),
    (
        r"localhost:8080|no configuration has been provided|current-context",
        "set KUBECONFIG, or the current context with `kubectl config use-context`, or use --context",
    ),
    (r"unable to connect|refused|no such host|timeout(?!=)|deadline|timed out|unreachable", UNREACHABLE),
    (NO_KIND, "{hints.no_kind}"),
)
"""Patterns of kubectl's messages in lower case, each with the fix. The first match applies: after a timeout of the
discovery, kubectl ends with the message that the server does not have a kind."""


class KubectlOutput(NamedTuple):
    """The output of a successful kubectl."""

    data: bytes
    messages: tuple[str, ...]
    """The lines of its standard error, such as warnings about the version."""


class KubectlFault(NamedTuple):
    """The reason why there is no answer."""

    diagnostic: Diagnostic
    is_forbidden: bool = False
    """Whether the user may not read the objects."""
    is_answer: bool = False
    """Whether the server has answered: the user may not read the objects, or the server does not have their kind."""


class _Ended(NamedTuple):
    status: int | None
    """None if kubectl was stopped."""
    out: bytes
    err: bytes
    reason: str
    """Why it was stopped."""


class Kubectl(NamedTuple):
    """The user's kubectl."""

    context: str | None
    """The context of the kubeconfig; None for the current one."""
    timeout: int
    """Seconds for each request, and for all of kubectl."""
    environment: Mapping[str, str]
    """The variables that kubectl gets; its PATH is searched for kubectl."""
    hints: Hints = OF_RUNTIMES

    def get(self, *arguments: str) -> KubectlOutput | KubectlFault:
        """Return the answer to `kubectl get` with some arguments."""
        ended = self._started(("get", *arguments))
        if isinstance(ended, Diagnostic):
            return KubectlFault(ended)
        lines = (line.strip() for line in ended.err.decode(errors="replace").splitlines())
        messages = tuple(line[:_LONGEST_LINE] for line in lines if line)[-_LAST_LINES:]
        if ended.status == 0:
            return KubectlOutput(ended.out, messages)
        reason = ended.reason
        if ended.status is not None:
            status = ended.status
            reason = f"was stopped by signal {-status}" if status < 0 else f"failed with exit status {status}"
        pattern, help, message = self._hint(messages)
        help = help or (UNREACHABLE if reason.startswith(LATE) else run(*arguments))
        is_forbidden = ended.status == 1 and "(Forbidden)" in message
        is_answer = is_forbidden or (ended.status == 1 and pattern == NO_KIND)
        return KubectlFault(failed(f"kubectl {reason}{message}", help), is_forbidden, is_answer)

    def controller_tag(self) -> str:
        """Return the tag of the image of Trainer's controller; empty without one, or without permission to list it."""
        import re

        answer = self.get(*IMAGES)
        if isinstance(answer, KubectlFault):
            return ""
        found = re.findall(CONTROLLER, answer.data.decode(errors="replace"))
        return str(found[0]) if len({*found}) == 1 else ""

    def _started(self, arguments: Sequence[str]) -> _Ended | Diagnostic:
        """Run the kubectl of the PATH; return the diagnostic if it cannot be started."""
        import shutil

        program = shutil.which("kubectl", path=self.environment.get("PATH", os.defpath))
        if program is None:
            return failed("kubectl is not on the PATH", self.hints.no_kubectl)
        context = [] if self.context is None else [f"--context={self.context}"]
        command = [program, *arguments, f"--request-timeout={self.timeout}s", *context]
        try:
            return _run(command, self.timeout, self.environment)
        except OSError as error:
            return failed(f"{program} cannot be started: {error.strerror}", "check the kubectl on the PATH")

    def _hint(self, messages: Sequence[str]) -> tuple[str, str, str]:
        """Return the pattern of the first hint that applies, its fix, and the last message that it matches.

        Without one, the last message is the reason: the ones before it are retries.
        """
        import re

        for pattern, help in _HINTS:
            found = [message for message in messages if re.search(pattern, message.lower())]
            if found:
                return pattern, help.format(hints=self.hints), f": {found[-1]}"
        return "", "", f": {messages[-1]}" if messages else ""


def run(*arguments: str) -> str:
    """Return the fix for a failure of unknown cause."""
    return f"run `kubectl get {' '.join(arguments)}` to find the cause"


def failed(reason: str, help: str) -> Diagnostic:
    """Return the diagnostic."""
    return Diagnostic.declared(KUBECTL_FAILED, reason, help, place=Location(file=SHOWN))


def not_a_list(data: bytes, *arguments: str) -> Diagnostic:
    """Return the diagnostic for an answer to `kubectl get` that is not a JSON list."""
    start = data[:_START].decode(errors="replace")
    if not data:
        message = "the answer is empty"
    elif data.lstrip().startswith(b"{"):
        message = "the answer is not a valid JSON list"
    else:
        message = f'the answer is not JSON: it starts with "{start}"'
    return failed(message, run(*arguments))


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
    until, late = time.monotonic() + timeout + _GRACE, f"{LATE} {plural(timeout, 'second')}"
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
                return b"", bytes(err), f"printed more than the limit of {LARGEST_FILE >> 20} MiB"
    try:
        process.wait(max(until - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return bytes(out), bytes(err), late
    return bytes(out), bytes(err), ""
