"""`trainc secret`: the Secrets that a TrainJob's pods wait for, with new keys. Only this command uses randomness.

Reads    the expected Secrets (`frameworks.Secret`), and the system's random source.
Returns  the Secrets as manifests. They are immutable: new keys would lock out running pods.
Source   kubeflow/trainer v2.3.0, runtime plugins mpi (an EC key on P-521) and flux; the format of a CURVE certificate
         is flux-keygen(1)'s, with X25519 keys (RFC 7748) in Z85 (ZeroMQ RFC 32).
"""

from __future__ import annotations

import os
import stat
import sys
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from trainc.cli.common import OK, WRONG_INPUT, options, printing
from trainc.cli.common.arguments import Argument, Command, Option

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.compilation import Compilation, Run
    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.frameworks import Secret


EPILOG = """\b
Examples:
  trainc secret solve jobs/ | kubectl apply -f -
  trainc secret solve jobs/ -o ~/keys/solve.yaml   for its owner only
  trainc secret solve job.yaml | kubeseal --format yaml > sealed.yaml
"""


@options.with_run
def secret(job: str, paths: tuple[str, ...], run: Run, output: str | None) -> int:
    """Print every Secret that the pods of TrainJob JOB wait for, with new random keys.

    JOB is the name of a TrainJob in PATH (files, folders or -; default: the project or the current folder).
    """
    from trainc.base.texts import escape
    from trainc.compilation import compile_paths
    from trainc.compilation.run import READ

    run = run._replace(only=job, purpose=READ)
    result = compile_paths(run.inputs, run)
    printing.report_skipped(result.skipped, run)
    # The note secret-expected recommends this very command.
    result = result._replace(diagnostics=tuple(d for d in result.diagnostics if d.id != "secret-expected"))
    printing.report_errors(result, run)
    if result.failed:
        return WRONG_INPUT
    manifests = _manifests(result)
    if not manifests:
        printing.report(f'{result.shown[0].plan.job.word} "{escape(job)}" needs no Secret\n')
        return OK
    from trainc.emit import yaml

    text = yaml.render(manifests)
    if output is not None:
        return _write(output, text)
    if root := _work_tree():
        printing.report(
            f'warning: the output may be in the git work tree "{escape(root)}": do not commit these keys; '
            "pipe them to kubectl apply -f -\n"
        )
    elif kind := _stored():
        printing.report(
            f"warning: the keys go to a {kind}, which others may read: -o FILE writes a file of mode 0600\n"
        )
    printing.write(text)
    return OK


def _write(file: str, text: str) -> int:
    """Write a new file that only its owner can read. An existing file, or a link, is an error."""
    from trainc.base.texts import escape

    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror}") from None
    printing.report(f"{escape(file)}: written\n")
    return OK


def _stored() -> str:
    """Return "file" or "pipe" if standard output is one; empty for a terminal or a device."""
    try:
        mode = os.fstat(sys.stdout.fileno()).st_mode
    except OSError:
        return ""
    return "file" if stat.S_ISREG(mode) else "pipe" if stat.S_ISFIFO(mode) else ""


def _manifests(result: Compilation) -> list[Tree]:
    """Return the Secrets of every TrainJob with that name; there may be one in each namespace.

    TrainJobs with one generateName share their Secrets.
    """
    from trainc.pipeline.frameworks import framework_of

    try:
        needed = {
            (job.namespace, secret): None for job in result.shown for secret in framework_of(job.plan).secrets(job.plan)
        }
        return [make(secret, namespace) for namespace, secret in needed]
    except ImportError as error:
        raise click.UsageError(
            f"new keys require {error.name or 'cryptography'}: in a clone of trainc, run pip install '.[secret]'"
        ) from None


def _work_tree() -> str:
    """Return the git work tree that the output may land in; empty if there is none.

    If standard output is a file, the file's work tree; if the destination is unknown, the current folder's.
    """
    from trainc.files.inputs import repository_of

    try:
        descriptor = sys.stdout.fileno()
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return ""  # standard output has no file descriptor
    if stat.S_ISCHR(mode) and not os.isatty(descriptor):
        return ""  # /dev/null
    folder = os.getcwd()
    if stat.S_ISREG(mode):
        with suppress(OSError):  # only Linux has /proc
            folder = os.path.dirname(os.readlink(f"/proc/self/fd/{descriptor}"))
    root = repository_of(folder)
    return root if os.path.lexists(os.path.join(root, ".git")) else ""


command = Command(
    secret,
    (
        Argument("job", nargs=1, required=True),
        options.PATHS,
        options.RUNTIMES,
        options.NAMESPACE,
        options.ENVIRONMENT,
        *options.SETTINGS,
        Option(("-o", "--output"), "Write to a new file with mode 0600.", metavar="FILE", type=click.Path()),
    ),
    short_help="Create the Secrets that a TrainJob needs.",
    epilog=EPILOG,
)


Z85: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def make(secret: Secret, namespace: str) -> Tree:
    """Return the Secret with new keys, for one TrainJob."""
    type, data = MAKERS[secret.kind](secret.name)
    metadata = {"name": secret.name, **({"namespace": namespace} if namespace else {})}
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": type,
        "immutable": True,
        "data": encoded,
    }


def ssh_auth(name: str) -> tuple[str, dict[str, bytes]]:
    """Return an SSH key pair: the private key as PEM, the public key as an authorized_keys line."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP521R1())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return "kubernetes.io/ssh-auth", {"ssh-privatekey": private, "ssh-publickey": public + b"\n"}


def curve_certificate(name: str) -> tuple[str, dict[str, bytes]]:
    """Return a CURVE certificate: a ZeroMQ key pair, shared by all brokers of an instance."""
    from cryptography.hazmat.primitives.asymmetric import x25519

    key = x25519.X25519PrivateKey.generate()
    text = (
        "# The CURVE key of a Flux instance. Anyone who has it can join.\n"
        "metadata\n"
        f'    name = "{name}"\n'
        "curve\n"
        f'    public-key = "{z85(key.public_key().public_bytes_raw())}"\n'
        f'    secret-key = "{z85(key.private_bytes_raw())}"\n'
    )
    return "Opaque", {"curve.cert": text.encode()}


def z85(data: bytes) -> str:
    """Encode bytes in Z85: five characters for every four bytes. The length must be a multiple of four.

    >>> z85(bytes.fromhex("864fd26fb559f75b"))
    'HelloWorld'
    """
    numbers = (int.from_bytes(data[at : at + 4]) for at in range(0, len(data), 4))
    return "".join(Z85[number // 85**power % 85] for number in numbers for power in (4, 3, 2, 1, 0))


MAKERS: Final[dict[str, Callable[[str], tuple[str, dict[str, bytes]]]]] = {"ssh": ssh_auth, "curve": curve_certificate}
"""Functions by kind of Secret. Each returns the Secret's type and data."""
