"""Keys: the Secrets that the controller would have made, with new random keys in them.

Reads    which Secret is expected (`frameworks.Secret`) and a namespace; the system's source of randomness. It is
         the one place where trainc uses any: `trainc secret` alone comes here.
Returns  the Secret as a manifest. It is immutable: a second one in its place would lock out pods that run already.
Source   kubeflow/trainer v2.3.0, runtime plugins mpi (an EC key on P-521) and flux; the text of a CURVE certificate as
         flux-keygen(1) writes it, keys in Z85 (ZeroMQ RFC 32) of X25519 (RFC 7748).

Needs the package `cryptography` (the extra `secret`), and raises ImportError without it.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.frameworks import Secret
    from trainc.kubernetes.trees import Tree

Z85: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def make(secret: Secret, namespace: str) -> Tree:
    """The Secret with new keys, for one TrainJob."""
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
    """A pair of SSH keys: the private one as PEM, the public one as a line of authorized_keys."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP521R1())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return "kubernetes.io/ssh-auth", {"ssh-privatekey": private, "ssh-publickey": public + b"\n"}


def curve_certificate(name: str) -> tuple[str, dict[str, bytes]]:
    """A CURVE certificate: a key pair of ZeroMQ, the same for all brokers of an instance."""
    from cryptography.hazmat.primitives.asymmetric import x25519

    key = x25519.X25519PrivateKey.generate()
    text = (
        "# The CURVE key of a Flux instance. Who has it can join.\n"
        "metadata\n"
        f'    name = "{name}"\n'
        "curve\n"
        f'    public-key = "{z85(key.public_key().public_bytes_raw())}"\n'
        f'    secret-key = "{z85(key.private_bytes_raw())}"\n'
    )
    return "Opaque", {"curve.cert": text.encode()}


def z85(data: bytes) -> str:
    """Bytes, a multiple of four, as ZeroMQ writes keys: five characters for every four.

    >>> z85(bytes.fromhex("864fd26fb559f75b"))
    'HelloWorld'
    """
    numbers = (int.from_bytes(data[at : at + 4]) for at in range(0, len(data), 4))
    return "".join(Z85[number // 85**power % 85] for number in numbers for power in (4, 3, 2, 1, 0))


MAKERS: Final[dict[str, Callable[[str], tuple[str, dict[str, bytes]]]]] = {"ssh": ssh_auth, "curve": curve_certificate}
"""By the kind of a Secret: its type, and what is in it."""
