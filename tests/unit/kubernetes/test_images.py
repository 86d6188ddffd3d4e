"""Image references: the kubelet's grammar in two tables, and the characters at fault."""

import time

import pytest
from syrupy.assertion import SnapshotAssertion

from trainc.kubernetes import image_grammar
from trainc.kubernetes.image_grammar import explain
from trainc.kubernetes.validation.container import is_reference

HEX = "0123456789abcdef" * 4

VALID = [
    "train",
    "train:latest",
    "acme/train:V1.2_rc-3",
    "acme/my_train/a__b/c-d/e---f/g.h",
    "docker.io/train",
    "index.docker.io/acme/train",
    "Registry.Acme.IO:5000/train",
    "Acme/train",
    "localhost/train",
    "localhost:5000/train:1",
    "10.0.0.1:5000/train",
    "[2001:db8::1]:5000/train:1",
    "[::1]/train",
    "foo_bar.com/train",
    "test.com:5000",
    f"train@sha256:{HEX}",
    f"acme/train:1@sha256:{HEX}",
    f"train@sha384:{HEX}{HEX[:32]}",
    f"train@sha512:{HEX}{HEX}",
    "gcr.io/writers/job:8310D75B",
    "train:_",
    "train:" + "t" * 128,
    "a" * 247,
    "ghcr.io/" + "a" * 255,
    "a" * 300 + ".example.com/" + "b" * 255,
    HEX[:63],
    HEX + "0",
]

INVALID = {
    "a b": " ",
    "train: 1": " ",
    "train\n": "\n",
    "train\u00a01": "\u00a0",
    "train\u200b": "\u200b",
    "“train:1”": "“",
    "‘train’": "‘",
    '"train"': '"',
    "train:1+cpu": "+",
    "träin": "ä",
    "https://ghcr.io/acme/train:1": "https://",
    "docker://train": "docker://",
    "Train": "T",
    "acme/TRAIN": "TRAIN",
    "ghcr.io/acme/myTrain:V1": "T",
    "LOCALHOST/Train": "T",
    "-train": "-",
    "train_": "_",
    "train.": ".",
    "a..b": "..",
    "a___b": "___",
    "a.-b": ".-",
    "/train": "/",
    "ghcr.io//train": "/",
    "ghcr.io/acme/": "/",
    "acme/train/:1": "/",
    "train:": ":",
    "train::1": ":",
    "train:1:2": ":",
    "acme/train:1/2": "/",
    "train:.1": ".",
    "train:-1": "-",
    "train:" + "t" * 129: "t" * 129,
    "registry:port/train": "port",
    "registry:/train": ":",
    "-a.io/train": "-",
    "a..io/train": ".",
    "a-.io/train": "-",
    "a_.io/train": "_",
    "train@": "@",
    "train@sha256": "@sha256",
    "train@sha256:": "@sha256:",
    f"train@md5:{HEX[:32]}": "md5",
    f"train@SHA256:{HEX}": "SHA256",
    f"train@sha256:{HEX[:63]}": HEX[:63],
    f"train@sha256:{HEX}0": f"{HEX}0",
    f"train@sha256:{HEX[:63]}G": "G",
    f"train@sha256:{HEX.upper()}": "A",
    ":1": ":",
    HEX: HEX,
    "[::1]": "[",
    "[fe80::1%eth0]/train": "%",
}


@pytest.mark.parametrize("image", VALID)
def test_a_reference(image: str) -> None:
    assert is_reference(image)
    assert image_grammar.is_reference(image)


@pytest.mark.parametrize("image", INVALID)
def test_the_characters_at_fault(image: str) -> None:
    assert not is_reference(image)
    found = explain(image)
    assert image[found.begin : found.end] == INVALID[image]


def test_texts(snapshot: SnapshotAssertion) -> None:
    faults = [explain(image) for image in INVALID]
    assert "\n".join(dict.fromkeys(f"{each.message}\n  help: {each.help}" for each in faults)) == snapshot


@pytest.mark.parametrize("image", ["ghcr.io/", "docker.io/", f"@sha256:{HEX}"])
def test_a_name_is_missing(image: str) -> None:
    assert not is_reference(image)
    assert "no repository" in explain(image).message


@pytest.mark.parametrize("part", ["a", "-", "a.", "a-", "a/", "a:", "A.", "@", "__", "[", "a@", " "])
def test_a_hostile_image_takes_little_time(part: str) -> None:
    image = part * (30_000 // len(part)) + "!"
    started = time.process_time()
    assert not is_reference(image)
    assert explain(image).message
    assert time.process_time() - started < 1


@pytest.mark.parametrize("image", [*VALID, *INVALID])
def test_the_fast_path_agrees_with_the_grammar(image: str) -> None:
    assert is_reference(image) is image_grammar.is_reference(image)
