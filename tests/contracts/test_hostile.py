"""`trainc validate` reports every hostile input without a traceback, a hang, or more than 300 MB of memory.

Each row is an input text and a part of its report. It runs in its own process, whose memory is measured.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from running import run, without_note

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
MB = 10**6
MEMORY = 300
"""The maximum peak memory of a process, in megabytes."""
PATIENCE = 60
"""The maximum duration of a process, in seconds."""
# A forked process starts with the peak memory of its parent, so a small process is forked first.
LAUNCHER = """
import json, os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_maxrss // 1024]), file=sys.stderr)
"""
HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
JOB = HEAD + "metadata: {name: a}\nspec: {runtimeRef: {name: plain}}\n"
SHALLOW = "nested more than 100 levels deep"
FULL = "more than 250000 keys and values"
MANY = "the file has more than 50000 documents"
LARGE = "larger than 16 MiB"
FINE = "no problems found"


class Done(NamedTuple):
    code: int
    megabytes: int
    out: str


def validate(*paths: str | bytes | Path, cwd: Path | None = None) -> Done:
    """Run `trainc validate` in a process, which must print only its report."""
    launcher = [sys.executable, "-S", "-E", "-c", LAUNCHER]
    done = subprocess.run(
        [*launcher, sys.executable, "-m", "trainc", "validate", *paths],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
        cwd=cwd,
        check=True,
        timeout=PATIENCE,
    )
    messages, _, measured = done.stderr.decode().rstrip().rpartition("\n")
    assert without_note(f"{messages}\n").strip() == ""
    code, megabytes = json.loads(measured)
    return Done(code, megabytes, done.stdout.decode())


def changed_job(was: str, now: str) -> str:
    """Return the job with one part replaced."""
    assert was in JOB
    return JOB.replace(was, now)


def items(*items: str, of: str = "[{}]") -> str:
    return of.replace("{}", ",".join(items))


BOMBS: dict[str, tuple[str, str]] = {
    "lists": (
        "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} {items(*[f'*a{i - 1}'] * 9)}\n" for i in range(1, 50)),
        "aliases expand this document",
    ),
    "mappings": (
        "a0: &a0 {k: x}\n"
        + "".join(f"a{i}: &a{i} {items(*(f'k{j}: *a{i - 1}' for j in range(9)), of='{{}}')}\n" for i in range(1, 50)),
        "aliases expand this document",
    ),
    "keys that are merged": (
        "a0: &a0 {k: 1}\n" + "".join(f"a{i}: &a{i} {{<<: *a{i - 1}, k{i}: 1}}\n" for i in range(1, 20_000)),
        "aliases expand this document",
    ),
    "one wide mapping, merged often": (
        "a: &a "
        + items(*(f"k{i}: 1" for i in range(1000)), of="{{}}")
        + "\n"
        + "".join(f"b{i}: {{<<: *a}}\n" for i in range(10_000)),
        "aliases expand this document",
    ),
    "a mapping merged twice": ("a: &a {k: 1}\nb: {<<: [*a, *a]}\n", "two merged mappings"),
    "itself": ("a: &a [*a]\n", "contains itself"),
    "itself, merged": ("a: &a {<<: *a}\n", "contains itself"),
    "Lists in Lists": (
        "a0: &a0 {kind: X}\n"
        + "".join(f"a{i}: &a{i} {{kind: List, items: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40))
        + "kind: List\nitems: [*a39]\n",
        "aliases expand this document",
    ),
    "many aliases of one scalar": ("- &a x\n" + "- *a\n" * 300_000, "more than 50000 aliases"),
}

DEEP: dict[str, tuple[str, str]] = {
    "brackets": ("[" * 15 * MB, SHALLOW),
    "closed brackets": ("[" * MB + "]" * MB, SHALLOW),
    "braces": ("{" * 15 * MB, "error[yaml]"),
    "mappings on one line": ("{a: " * 3 * MB, SHALLOW),
    "dashes": ("- " * 7 * MB, SHALLOW),
    "indentation": ("".join(" " * i + "a:\n" for i in range(3000)), SHALLOW),
    "JSON": ('{"a":' * 3 * MB, SHALLOW),
    "closed JSON": ('{"a":' * 100_000 + "1" + "}" * 100_000, SHALLOW),
    "JSON lists": ('{"a":' + "[" * 15 * MB, SHALLOW),
    "Lists": ('{"kind":"List","items":[' * 60 + "]}" * 60, SHALLOW),
    "question marks": ("? " * 7 * MB, "a list or mapping cannot be a key"),
}

LONG: dict[str, tuple[Callable[[], str | bytes], str]] = {
    "one line": (lambda: b"a" * 100 * MB, LARGE),
    "one quoted scalar": (lambda: b'x: "' + b"a" * 100 * MB + b'"', LARGE),
    "one block scalar": (lambda: b"x: |\n  " + b"a" * 20 * MB, LARGE),
    "one comment": (lambda: b"#" + b"a" * 20 * MB, LARGE),
    "one key": (lambda: b"a" * 100 * MB + b": 1", LARGE),
    "one wide character": (lambda: b"a" * 100 * MB + "😀".encode(), LARGE),
    "wide characters in UTF-16": (lambda: "\ufeff".encode("utf-16-le") + "😀".encode("utf-16-le") * 12 * MB, LARGE),
    "a line behind a separator": (lambda: b"a: 1\n--- " + b"a" * 20 * MB, LARGE),
    "an object": (lambda: b'{"a":"' + b"a" * 20 * MB + b'"}', LARGE),
    "many small objects": (lambda: b'{"a":1}\n' * 3 * MB, LARGE),
    "no UTF-8 in the middle": (lambda: b"x" * 25 * MB + b"\xff" + b"x" * 25 * MB, LARGE),
    "separators": (lambda: b"---\n" * 25 * MB, MANY),
    "text behind separators": (lambda: b"--- x\n" * 2 * MB, MANY),
    "documents": (lambda: b"a: 1\n---\n" * MB, MANY),
    "wrong documents": (lambda: b"a: b: c\n---\n" * MB, MANY),
    "empty objects": (lambda: b"{}" * MB, MANY),
    "empty objects, a line each": (lambda: b"{}\n" * MB, MANY),
    "keys": (lambda: "".join(f"k{i}: 1\n" for i in range(MB)), FULL),
    "keys of a JSON object": (lambda: "{" + ",".join(f'"k{i}":1' for i in range(MB)) + "}", FULL),
    "keys of a TrainJob": (lambda: JOB + "".join(f"k{i}: 1\n" for i in range(MB)), FULL),
    "lists": (lambda: "a: [" + "[]," * 5 * MB + "]", FULL),
    "JSON lists": (lambda: '{"a":[' + "[]," * 5 * MB + "[]]}", FULL),
    "anchors": (lambda: "- &a\n" * 3 * MB, FULL),
    "equal keys": (lambda: "a: 1\n" * 3 * MB, 'the key "a" is already set on line 1'),
    "directives": (lambda: "".join(f"%TAG !a{i}! x\n" for i in range(MB // 2)) + "---\na\n", "1001:1: error[yaml]"),
    "newlines": (lambda: "\n" * 15 * MB, FINE),
    "newlines before a fault": (lambda: "\n" * 6 * MB + "a", "6000001:1: error[not-an-object]"),
    "comments": (lambda: "#\n" * 7 * MB, FINE),
    "quotes": (lambda: '"' * 15 * MB, "the document ended before this line"),
    "anchors of one node": (lambda: "&a " * 5 * MB, "the document ended before this line"),
    "aliases of nothing": (lambda: "*a " * 5 * MB, "has no anchor"),
    "tabs": (lambda: "\t" * 15 * MB, "a tab is not allowed where"),
    "escapes": (lambda: '"' + "\\'" * 7 * MB + '"', "error[not-an-object]"),
    "a key without a question mark": (lambda: "k" * MB + ": 1", "the key is longer than 1024 characters"),
    "a key of a TrainJob": (lambda: JOB + "? " + "k" * MB + "\n: 1\n", "error[unknown-field]"),
    "a name": (lambda: changed_job("name: a}", f"name: {'a' * MB}}}"), "error[invalid-name]"),
    "digits": (lambda: changed_job("}}", f"}}, trainer: {{numNodes: {'9' * MB}}}}}"), "error["),
    "digits of a JSON number": (lambda: '{"a":' + "9" * MB + "}", "is too large"),
    "digits of a JSON exponent": (lambda: '{"a":1e' + "9" * MB + "}", "is too large"),
    "wrong labels": (
        lambda: changed_job("name: a}", "name: a, labels: {" + ",".join(f"k{i}: 1" for i in range(4000)) + "}}"),
        "100 errors in 1 file",
    ),
}  # fmt: skip

RESOURCES = "}}, trainer: {{resourcesPerNode: {{limits: {{{}}}}}}}}}"
SMALL: dict[str, tuple[str | bytes, str]] = {
    "NUL bytes": ("\0" * 1000, "the text contains NUL bytes"),
    "a NUL byte": (JOB + "x: \0\n", "5:4: error[yaml]: the text contains NUL bytes"),
    "UTF-16 LE": (b"\xff\xfe" + JOB.encode("utf-16-le"), "no problems found: 1 TrainJob"),
    "UTF-16 BE": (b"\xfe\xff" + JOB.encode("utf-16-be"), "no problems found: 1 TrainJob"),
    "UTF-16 LE without a mark": (JOB.encode("utf-16-le"), "not YAML, or not UTF-8"),
    "UTF-16 BE without a mark": (JOB.encode("utf-16-be"), "not YAML, or not UTF-8"),
    "half of UTF-16": (b"\xff\xfea", "the file has a UTF-16 byte order mark, but is not UTF-16"),
    "UTF-32": (JOB.encode("utf-32"), "not YAML, or not UTF-8"),
    "UTF-32 BE": (b"\0\0\xfe\xff" + JOB.encode("utf-32-be"), "is not UTF-8"),
    "latin-1": (JOB.encode() + b"x: caf\xe9\n", "5:7: error[yaml]: the byte 0xe9 is not UTF-8"),
    "CESU-8": (JOB.encode() + b"x: \xed\xa0\xbd\xed\xb8\x80\n", "the byte 0xed is not UTF-8"),
    "half a character, escaped": (changed_job("name: a", r'name: "\ud800"'), "represents no character"),
    "half a character in JSON": (r'{"a":"\ud800"}', "represents no character"),
    "half a character in UTF-16": (b"\xff\xfe\x00\xd8", "U+D800 is half of a surrogate pair"),
    "control characters": (changed_job("name: a", "name: a\x1b[31m"), "the control character U+001B"),
    "control characters, escaped": (changed_job("name: a", r'name: "a\e[31m\x07"'), r"a\u001b[31m"),
    "bidirectional overrides": (changed_job("name: a", "name: a\u202eb"), r"a\u202eb"),
    "nothing": ("", FINE),
    "a mark": ("\ufeff", FINE),
    "null": ("null", FINE),
    "a scalar": ("1", "error[not-an-object]"),
    "an endless quantity": (changed_job("}}", RESOURCES.format("cpu: 1e999999999")), "error[quantity]"),
    "a tiny quantity": (changed_job("}}", RESOURCES.format("ephemeral-storage: 1e-999999999")), FINE),
    "a long quantity": (changed_job("}}", RESOURCES.format(f"memory: '{'9' * 10**5}Ei'")), "error[quantity]"),
    "a name that leads upwards": (changed_job("name: a", "name: ../../etc/passwd"), "error[invalid-name]"),
    "a namespace that leads upwards": (changed_job("name: a", "name: a, namespace: ../.."), "error["),
    "a name with NUL": (changed_job("name: a", r'name: "a\0b"'), r'name "a\u0000b"'),
    "no name but a list": (changed_job("name: a", "name: [a]"), "error["),
    "no metadata but a list": (changed_job("{name: a}", "[a]"), "error["),
    "noise": (random.Random(1).randbytes(10**5), "error[yaml]"),
}  # fmt: skip


def judge(done: Done, said: str) -> None:
    """Check the report, the exit code and the peak memory."""
    assert said in done.out
    assert done.code == ("error[" in done.out)
    assert done.megabytes < MEMORY


@pytest.mark.parametrize(("text", "said"), [pytest.param(*row, id=name) for name, row in (BOMBS | DEEP).items()])
def test_a_text_that_expands(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    judge(validate(path), said)


@pytest.mark.parametrize(("text", "said"), [pytest.param(*row, id=name) for name, row in LONG.items()])
def test_a_text_that_is_long(text: Callable[[], str | bytes], said: str, tmp_path: Path) -> None:
    made = text()
    path = tmp_path / "x.yaml"
    path.write_bytes(made if isinstance(made, bytes) else made.encode())
    judge(validate(path), said)


@pytest.mark.parametrize(("text", "said"), [pytest.param(*row, id=name) for name, row in SMALL.items()])
def test_a_text_that_is_strange(text: str | bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for form in ("text", "json"):
        done = run("validate", "--format", form, str(path))
        assert done.reported == ""
        assert done.out.replace("\n", "").isprintable()
    done = run("validate", str(path))
    assert said in done.out
    assert done.code == ("error[" in done.out)


LINKS: dict[str, tuple[str, str]] = {
    "in a circle": ("x.yaml", "is a dangling or circular link"),
    "nowhere": ("gone.yaml", "is a dangling or circular link"),
    "to endless zeros": ("/dev/zero", "error[link-out]"),
    "out of the root": ("/etc/hostname", "error[link-out]"),
}


@pytest.mark.parametrize(("target", "said"), [pytest.param(*row, id=name) for name, row in LINKS.items()])
def test_a_link(target: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").symlink_to(target)
    judge(validate(tmp_path), said)
    judge(validate(tmp_path / "x.yaml"), said)


def test_a_link_to_a_folder_above(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "up").symlink_to("../..")
    judge(validate(tmp_path / "in"), "error[link-out]")


def test_a_folder_that_contains_itself(tmp_path: Path) -> None:
    (tmp_path / "again").symlink_to(".")
    judge(validate(tmp_path), FINE)


def test_pipes_and_sockets_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket.yaml"))
    for paths in ([tmp_path], [tmp_path / "pipe.yaml", tmp_path / "socket.yaml"]):
        done = validate(*paths)
        judge(done, "\n2 errors in 2 files (checked 2 files)\n")
        assert done.out.count("is not a regular file") == 2


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("/dev/zero", "exceeds the limit of 256 MiB", id="endless"),
        pytest.param("/proc/self/mem", "cannot be read: Input/output error", id="a file that cannot be read"),
        pytest.param("x" * 300, "cannot be read: File name too long", id="a long name"),
        pytest.param("", "cannot be read: No such file or directory", id="no name"),
        pytest.param(b"\xff\n\x1b[31m", r"\udcff\n\x1b[31m: error[unreadable]", id="a name that is no text"),
    ],
)
def test_a_path(path: str | bytes, said: str) -> None:
    if isinstance(path, str) and path.startswith("/") and not os.path.exists(path):
        pytest.skip(path)
    judge(validate(path), said)


def test_a_folder_named_like_a_file_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").mkdir()
    (tmp_path / "x.yaml" / "y.yaml").write_text("kind: TrainJob\nspec: '")
    judge(validate(tmp_path), "/x.yaml/y.yaml:2:7: error[yaml]")


def test_names_of_files_are_shown_without_their_effect(tmp_path: Path) -> None:
    names = {b"\xff.yaml": r"\udcff.yaml", b"a\nb.yaml": r"a\nb.yaml", b"\x1b[2J.yaml": r"\x1b[2J.yaml"}
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("kind: TrainJob\nspec: '")
    done = validate(tmp_path)
    judge(done, "3 errors in 3 files")
    for shown in names.values():
        assert f"{tmp_path}/{shown}:2:7: error[yaml]" in done.out


def test_folders_that_are_too_deep(tmp_path: Path) -> None:
    path = tmp_path.joinpath(*"d" * 150)
    path.mkdir(parents=True)
    (path / "x.yaml").write_text("a")
    judge(validate(tmp_path), "is a folder more than 100 levels deep")


def test_a_file_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(JOB)
    stop = threading.Event()

    def grow() -> None:
        with path.open("a") as file:
            while not stop.wait(0.0001):
                file.write("# more\n" * 1000)
                file.flush()

    growing = threading.Thread(target=grow)
    growing.start()
    try:
        judge(validate(path), "no problems found: 1 TrainJob")
    finally:
        stop.set()
        growing.join()


EXAMPLES = int(os.environ.get("EXAMPLES", "300"))
INPUTS = sorted(ROOT.glob("golden/*/input.yaml"))
WEEDS: tuple[bytes, ...] = (
    b"&a ", b"*a", b"<<: ", b"? ", b": ", b"- ", b"[", b"{", b"]", b"}", b",", b"'", b'"', b"|\n", b">-\n", b"#",
    b"!!", b"!x ", b"%", b"@", b"`", b"\t", b"\r", b"\n", b"\n---\n", b"\n...\n", b"\0", b"\xff", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\xc2\x85", b"\xe2\x80\xa8", "😀".encode(), b"\x1b[0m", b"~", b"null", b"true", b".inf", b".nan",
    b"-1", b"0", b"1e999", b"9" * 400, b"0x", b"1_0", b"1.5", b"2147483648", b"{}", b"[]", b"[[]]", b"{a: b}", b"''",
    b'"\\ud800"', b'"\\0"', b"1e99999999Ei", b"-5Gi", b"../..", b"kind: List\nitems: ", b"TrainJob",
    b"ClusterTrainingRuntime", b"trainer", b"node", b"torch", b"name", b"spec", b"metadata",
)  # fmt: skip


def mutated(seed: int) -> bytes:
    """Return a golden input after a few random mutations."""
    chance = random.Random(seed)
    text = chance.choice(INPUTS).read_bytes()
    for _ in range(chance.randint(1, 8)):
        lines = text.split(b"\n")
        at, to = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        line, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        key, colon, value = lines[line].partition(b": ")
        match chance.randrange(7):
            case 0:
                text = text[:at] + chance.choice(WEEDS) + text[at:]
            case 1:
                text = text[:at] + text[min(to, at + 20) :]
            case 2:
                lines[line] = key + b": " + chance.choice(WEEDS) if colon else lines[line] + chance.choice(WEEDS)
                text = b"\n".join(lines)
            case 3:
                del lines[line]
                text = b"\n".join(lines)
            case 4:
                lines.insert(other, lines[line])
                text = b"\n".join(lines)
            case 5:
                lines[line] = chance.choice((b"  ", b"- ", b"")) + (lines[line] if value else lines[line].lstrip())
                text = b"\n".join(lines)
            case _:
                text = text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]
    return text


@pytest.mark.parametrize("tenth", range(10))
def test_mutated_inputs_are_handled(tenth: int) -> None:
    """Run EXAMPLES inputs (such as EXAMPLES=20000); a failure names its seed."""
    for seed in range(tenth * EXAMPLES // 10, (tenth + 1) * EXAMPLES // 10):
        text = mutated(seed)
        built = run("build", "-", stdin=text)
        checked = run("validate", "-", stdin=text)
        assert "Traceback" not in built.err + checked.err, seed
        assert checked.code == ("error[" in checked.out), seed
        assert built.code == (checked.code or "kind: JobSet" not in built.out), seed
