"""`trainc upgrade`: the lines that change, the lines that stay, and the files that it does not write."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest
from running import run

HEAD = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: j}
"""
PATCH = """  runtimePatches:
  - manager: trainc.dev/upgrade
    trainingRuntimeSpec:
      template:
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            "spec:\n  # r\n  runtimeRef: {name: plain} # s\n  labels: {a: 'b'} # t\n# end\n",
            "spec:\n  # r\n  runtimeRef: {name: plain} # s\n"
            + PATCH
            + "        metadata:\n          labels: {a: 'b'} # t\n# end\n",
            id="comments and quotes stay",
        ),
        pytest.param(
            "spec:\n    annotations:\n        a: b\n\n        # c\n        d: |\n            # text\n\n"
            "            more\n    runtimeRef:\n        name: plain\n",
            "spec:\n    runtimePatches:\n    - manager: trainc.dev/upgrade\n      trainingRuntimeSpec:\n"
            "        template:\n          metadata:\n            annotations:\n                a: b\n\n"
            "                # c\n                d: |\n                    # text\n\n                    more\n"
            "    runtimeRef:\n        name: plain\n",
            id="four spaces, block text",
        ),
        pytest.param(
            "spec: {runtimeRef: {name: plain}, labels: {a: b}}\n",
            "spec:\n  runtimeRef: {name: plain}\n" + PATCH + "        metadata:\n          labels: {a: b}\n",
            id="between braces",
        ),
        pytest.param(
            "spec:\n  runtimeRef: {name: plain}\n  trainer: {numNodes: 2, numProcPerNode: auto}\n  labels: {a: b}\n",
            "spec:\n  runtimeRef: {name: plain}\n  trainer: {numNodes: 2}\n"
            + PATCH
            + "        metadata:\n          labels: {a: b}\n",
            id="a word that is the default goes",
        ),
        pytest.param(
            "x: &l {a: b}\nspec:\n  runtimeRef: {name: plain}\n  labels: *l\n",
            "x: &l {a: b}\nspec:\n  runtimeRef: {name: plain}\n" + PATCH + "        metadata:\n          labels: *l\n",
            id="an alias",
        ),
        pytest.param(
            "spec:\n  runtimeRef: {name: plain}\n  trainer: {numProcPerNode: auto, numNodes: 2}\n  labels: {a: b}\n",
            "spec:\n  runtimeRef: {name: plain}\n  trainer: {numNodes: 2}\n"
            + PATCH
            + "        metadata:\n          labels: {a: b}\n",
            id="the first between braces goes",
        ),
        pytest.param(
            "spec:\n  runtimeRef: {name: plain}\n  trainer:\n    numProcPerNode: auto\n  labels: {a: b}\n",
            "spec:\n  runtimeRef: {name: plain}\n  trainer: {}\n"
            + PATCH
            + "        metadata:\n          labels: {a: b}\n",
            id="the only field goes",
        ),
    ],
)
def test_the_lines_that_change(old: str, new: str) -> None:
    # Anchors are in a field that TrainJobs do not have.
    done = run("upgrade", "-", "--field-validation=ignore", stdin=(HEAD + old).encode())
    assert (done.code, done.out) == (0, HEAD + new)
    crlf = run("upgrade", "-", "--field-validation=ignore", stdin=(HEAD + old).replace("\n", "\r\n").encode())
    assert crlf.out == (HEAD + new).replace("\n", "\r\n")


OLD = HEAD + "spec:\n  runtimeRef: {name: plain}\n  labels: {a: b}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(HEAD + "spec:\n  runtimeRef: {name: plain} # as  it is\n", id="v2.3"),
        pytest.param("kind: ConfigMap\napiVersion: v1\ndata: {a:   b}\n", id="another kind"),
    ],
)
def test_what_stays_as_it_is(text: str) -> None:
    done = run("upgrade", "-", stdin=text.encode())
    assert (done.code, done.out, done.err) == (0, text, "nothing to upgrade\n")


def test_standard_input_without_a_document_is_an_error() -> None:
    done = run("upgrade", "-", stdin=b"")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("<stdin>: error[unreadable]: has no document\n")


def test_several_files_are_one_stream(tmp_path: Path) -> None:
    for name in ("a", "b", "new"):
        (tmp_path / f"{name}.yaml").write_text(OLD.replace("name: j", f"name: {name}").rstrip("\n"))
    (tmp_path / "new.yaml").write_text(HEAD.replace("name: j", "name: new") + "spec: {runtimeRef: {name: plain}}\n")
    done = run("upgrade", str(tmp_path))
    assert done.out.count("runtimePatches") == 2
    assert "          labels: {a: b}\n---\napiVersion" in done.out
    assert "new" not in done.out
    assert run("upgrade", str(tmp_path / "new.yaml")).out == (tmp_path / "new.yaml").read_text()


def test_other_documents_of_the_file_keep_every_byte() -> None:
    other = "kind:   ConfigMap # c\napiVersion: v1\n"
    text = f"\ufeff{other}--- # one\n{OLD}---\n{other}"
    done = run("upgrade", "-", stdin=text.encode())
    assert done.out.startswith(f"\ufeff{other}--- # one\napiVersion")
    assert done.out.endswith(f"          labels: {{a: b}}\n---\n{other}")


def test_the_items_of_a_list() -> None:
    items = "".join("- " + OLD.replace("{name: j}", f"{{name: j{i}}}").replace("\n", "\n  ")[:-2] for i in range(2))
    done = run("upgrade", "-", stdin=f"apiVersion: v1\nkind: List\nitems:\n{items}".encode())
    assert done.code == 0, done.err
    assert done.out.count("runtimePatches") == 2
    assert "labels: {a: b}\n- apiVersion" in done.out


def test_json_stays_json() -> None:
    text = (
        '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "j"},\n'
        '    "spec": {"runtimeRef": {"name": "plain"}, "labels": {"a": "b"}}}\n'
    )
    done = run("upgrade", "-", stdin=text.encode())
    assert done.out.startswith('{\n    "apiVersion": "trainer')
    assert '"runtimePatches": [\n' in done.out


def test_files_are_rewritten_on_request_only(empty_folder: Path) -> None:
    file = empty_folder / "job.yaml"
    file.write_text(OLD)
    file.chmod(0o640)
    printed = run("upgrade")
    assert (printed.code, printed.out.partition("runtimePatches")[0]) == (0, OLD.partition("labels")[0])
    shown = run("upgrade", "--diff")
    assert shown.code == 0
    assert "\n-  labels: {a: b}\n" in shown.out
    assert run("upgrade", "--check").code == 3
    assert file.read_text() == OLD
    written = run("upgrade", "--write")
    assert (written.code, written.out) == (0, "")
    assert "job.yaml: TrainJob j: Trainer v2.1 -> v2.3\n  spec.labels -> spec.runtimePatches[0]." in written.err
    assert "runtimePatches" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o640
    assert os.listdir(empty_folder) == ["job.yaml"]
    assert run("upgrade", "--check").code == 0


def test_a_rewriting_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.yaml").write_text(OLD)
    monkeypatch.setattr(os, "rename", mock.Mock(side_effect=OSError(28, "No space left on device")))
    done = run("upgrade", "--write", str(tmp_path))
    assert (done.code, "cannot be written: No space left on device" in done.err) == (1, True)
    assert os.listdir(tmp_path) == ["job.yaml"]
    assert (tmp_path / "job.yaml").read_text() == OLD


def test_a_file_with_something_unprovable_stays_and_the_others_do_not(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(OLD)
    bad.write_text(OLD.replace("name: j", "name: k").replace("plain", "[plain]"))
    done = run("upgrade", str(tmp_path), "--write")
    assert done.code == 1
    assert "error[wrong-type]" in done.err
    assert bad.read_text().endswith("labels: {a: b}\n")
    assert "runtimePatches" in good.read_text()


FIRST = """apiVersion: kubeflow.org/v2alpha1
kind: ClusterTrainingRuntime
metadata: {name: r}
spec:
  mlPolicy:
    torch: {numProcPerNode: "8"}
  template:
    spec:
      replicatedJobs:
      - name: trainer-node
        template:
          # the pods
          spec:
            template:
              spec:
                containers:
                - name: trainer  # torchrun
                  image: i:1
"""
FIRST_JOB = """apiVersion: kubeflow.org/v2alpha1
kind: TrainJob
metadata: {name: j}
spec:
  runtimeRef: {name: r, apiGroup: kubeflow.org}
  managedBy: kubeflow.org/trainjob-controller
  trainer: {numProcPerNode: "4"}
"""
LABELLED = """        template:
          # the pods
          metadata:
            labels:
              trainer.kubeflow.org/trainjob-ancestor-step: trainer
          spec:
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            FIRST,
            FIRST.replace("kubeflow.org/v2alpha1", "trainer.kubeflow.org/v1alpha1")
            .replace('"8"', "8")
            .replace("        template:\n          # the pods\n          spec:\n", LABELLED)
            .replace("name: trainer  #", "name: node  #"),
            id="the names and labels of a runtime",
        ),
        pytest.param(
            FIRST.replace("trainer-node", "node"),
            FIRST.replace("trainer-node", "node")
            .replace("kubeflow.org/v2alpha1", "trainer.kubeflow.org/v1alpha1")
            .replace('"8"', "8"),
            id="other names stay",
        ),
        pytest.param(
            FIRST_JOB,
            FIRST_JOB.replace("kubeflow.org", "trainer.kubeflow.org")
            .replace("v2alpha1", "v1alpha1")
            .replace('"4"', "4"),
            id="a TrainJob, whatever its runtime",
        ),
        pytest.param(
            f"{HEAD.replace('v1alpha1', 'v2alpha1')}spec:\n  runtimeRef: {{name: r}}\n  initializer: {{}}\n",
            f"{HEAD}spec:\n  runtimeRef: {{name: r}}\n  initializer: {{}}\n",
            id="an apiVersion of the documentation",
        ),
    ],
)
def test_a_document_of_the_first_releases_is_rewritten(old: str, new: str) -> None:
    done = run("upgrade", "-", stdin=old.encode())
    assert (done.code, done.out) == (0, new), done.err


def test_an_upgraded_runtime_changes_only_the_names_of_its_pods() -> None:
    done = run("upgrade", "-", stdin=f"{FIRST}---\n{FIRST_JOB}".encode())
    assert (done.code, done.out.count("v1alpha1")) == (0, 2), done.err


@pytest.mark.parametrize(
    ("runtime", "job"),
    [
        pytest.param(FIRST.replace('"8"', "auto"), FIRST_JOB.replace('{numProcPerNode: "4"}', "{}"), id="processes"),
        pytest.param(
            FIRST,
            FIRST_JOB.replace("{numP", "{env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], numP"),
            id="a variable that the release empties",
        ),
    ],
)
def test_a_runtime_that_would_compile_to_other_objects_stays(runtime: str, job: str) -> None:
    done = run("upgrade", "-", stdin=f"{runtime}---\n{job}".encode())
    assert (done.code, done.out) == (1, "")
    assert 'the ClusterTrainingRuntime cannot be upgraded: TrainJob "j" would compile to other objects' in done.err


def test_a_field_without_effect_is_dropped_and_named() -> None:
    overrides = "  podSpecOverrides:\n  - targetJobs: [{name: trainer-node}]\n    serviceAccountName: s\n"
    done = run("upgrade", "-", stdin=(FIRST_JOB + overrides).encode())
    assert "podSpecOverrides" not in done.out
    assert "  spec.podSpecOverrides is dropped: it has no effect\n" in done.err


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        pytest.param(
            "  runtimeRef: {name: torch-distributed}\n  labels: {}\n  trainer: {numProcPerNode: gpu}\n",
            "set numProcPerNode to a number first",
            id="a word that v2.3 does not have",
        ),
        pytest.param(
            "  trainingRuntimeRef: {name: plain}\n  podSpecOverrides:\n"
            "  - {targetReplicatedJobs: [node], containers: [{name: node, command: [x]}]}\n",
            "containers[0].command in TrainJob",
            id="a field that patches do not have",
        ),
        pytest.param(
            "  runtimeRef: {name: plain}\n  <<: {labels: {a: b}}\n",
            "spec.labels comes from an alias",
            id="a field that is merged in",
        ),
    ],
)
def test_what_has_no_equivalent_in_v2_3(spec: str, why: str) -> None:
    text = (HEAD + "spec:\n" + spec).encode()
    done = run("upgrade", "-", stdin=text)
    assert (done.code, done.out) == (1, "")
    assert why in done.err


def test_a_runtime_of_the_first_group(tmp_path: Path) -> None:
    (tmp_path / "runtime.yaml").write_text(
        "apiVersion: kubeflow.org/v2alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: r}\n"
        "spec:\n  mlPolicy:\n    torch:\n      numProcPerNode: auto\n  template:\n    spec: {}\n"
    )
    done = run("upgrade", str(tmp_path))
    assert done.code == 0, done.err
    assert done.out.startswith("apiVersion: trainer.kubeflow.org/v1alpha1\n")
    assert "    torch: {}\n" in done.out


def test_utf_16_stays_utf_16(tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_bytes(OLD.encode("utf-16"))
    assert run("upgrade", str(tmp_path), "--write").code == 0
    assert "runtimePatches" in file.read_bytes().decode("utf-16")


@pytest.mark.parametrize("args", [("--write", "--check"), ("--write", "--diff"), ("-", "--write"), ("-", "x.yaml")])
def test_usage(args: tuple[str, ...]) -> None:
    assert run("upgrade", *args).code == 2


ANCHORED = """spec:
  runtimeRef: {name: torch-with-initializers}
  initializer: {dataset: {storageUri: "hf://a/b"}}
  podTemplateOverrides:
  - targetJobs: [{name: dataset-initializer}, {name: node}]
    spec:
      nodeSelector: &pool
        pool: &a x # &a is a comment
        zone: *a
  - targetJobs: [{name: model-initializer}]
    spec:
      nodeSelector: *pool
"""


def test_an_override_for_two_jobs_keeps_its_anchors_once(recwarn: pytest.WarningsRecorder) -> None:
    text = HEAD + ANCHORED
    done = run("upgrade", "-", stdin=text.encode())
    assert (done.code, [*recwarn]) == (0, [])
    first, second, third = ("".join(part.split()) for part in done.out.split("- name: ")[1:])
    assert "nodeSelector:&poolpool:&ax#&aisacommentzone:*a" in first
    assert "nodeSelector:pool:x#&aisacommentzone:*a" in second
    assert "nodeSelector:*pool" in third
    assert run("build", "-", stdin=done.out.encode()).out == run("build", "-", stdin=text.encode()).out


def test_an_anchor_that_the_user_defines_twice_causes_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    spec = "spec:\n  runtimeRef: &r {name: plain}\n  trainer: {env: [&r {name: A}, *r]}\n  labels: {c: d}\n"
    done = run("upgrade", "-", "--check", stdin=(HEAD + spec).encode())
    assert (done.code, [*recwarn]) == (1, [])
    done = run("upgrade", "-", "--check", stdin=(HEAD + spec.replace(", *r", "")).encode())
    assert (done.code, [*recwarn]) == (3, [])


def test_a_warning_that_the_old_document_has_too_is_no_reason() -> None:
    trainer = "  trainer: {numNodes: 2, numProcPerNode: gpu, image: 'team/train:latest'}\n"
    text = (HEAD + "spec:\n  runtimeRef: {name: torch-distributed}\n  labels: {a: b}\n" + trainer).encode()
    assert "warning[image-version]" in run("validate", "-", stdin=text).out
    done = run("upgrade", "-", stdin=text)
    assert (done.code, "latest:" in done.err) == (1, False)
    assert "cannot be upgraded: Trainer v2.3 has no equivalent for one of its fields\n" in done.err


OLDER = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: %s}
spec:
  runtimeRef: {name: torch-distributed}
  podTemplateOverrides: [{targetJobs: [{name: node}], spec: {nodeSelector: {a: b}}}]
"""


def test_an_unwritable_file_does_not_stop_the_others(empty_folder: Path) -> None:
    """One rule for --fix, upgrade and migrate: the command goes on, names the file, and exits 1."""
    Path("other").mkdir()
    for name in ("other/a", "b", "c"):
        Path(f"{name}.yaml").write_text(OLDER % name[-1])
    Path("a.yaml").symlink_to("other/a.yaml")
    Path("b.yaml").chmod(0o444)
    done = run("upgrade", "--write", "a.yaml", "b.yaml", "c.yaml")
    assert done.code == 1
    assert "a.yaml: error[output-unwritable]: cannot be written: the path contains a link" in done.err
    assert "b.yaml: error[output-unwritable]: cannot be written: Permission denied" in done.err
    assert "c.yaml: rewritten" in done.err
    texts = [Path(name).read_text() for name in ("other/a.yaml", "b.yaml", "c.yaml")]
    assert ["runtimePatches" in text for text in texts] == [False, False, True]


def test_an_error_in_another_file_leaves_the_printed_documents(empty_folder: Path) -> None:
    Path("a.yaml").write_text(OLDER % "a")
    Path("b.yaml").write_text(OLDER % "b" + "  trainer: {numNode: 1}\n")
    done = run("upgrade")
    assert done.code == 1
    assert "b.yaml:7:13: error[unknown-field]" in done.err
    assert "name: a}" in done.out
    assert "name: b}" not in done.out
