"""Keys: the Secrets that the controller would create, with new random keys.

Reads    the expected Secret (`frameworks.Secret`), a namespace, and the system's random source. This is trainc's only
         use of randomness; only `trainc secret` imports this.
Returns  the Secret as a manifest. It is immutable: new keys would lock out running pods.
Source   kubeflow/trainer v2.3.0, runtime plugins mpi (an EC key on P-521) and flux; the format of a CURVE certificate
         is flux-keygen(1)'s, with X25519 keys (RFC 7748) in Z85 (ZeroMQ RFC 32).

Requires the package `cryptography` (the extra `secret`), and raises ImportError without it.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.kubernetes.trees import Tree
    from trainc.pipeline.frameworks import Secret

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
