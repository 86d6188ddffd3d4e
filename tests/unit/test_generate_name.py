"""Generated names: TrainJobs with metadata.generateName in every command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run

import trainc
from trainc.compilation.run import Options
from trainc.pipeline.generated_names import LETTERS, digest

NAME = re.compile(rf"ddp-[{LETTERS}]{{5}}\Z")


def trainjob(prefix: str | None = "ddp-", *, mpi: bool = False, **fields: Any) -> dict[str, Any]:
    """Return a TrainJob; `fields` are those of spec.trainer and of metadata."""
    trainer = {key: fields.pop(key) for key in ("numNodes", "image") if key in fields}
    metadata = {"namespace": "ml", **({} if prefix is None else {"generateName": prefix}), **fields}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": metadata,
        "spec": {
            "runtimeRef": {"name": f"{'openmpi' if mpi else 'torch'}-distributed"},
            "trainer": {"resourcesPerNode": {"requests": {"cpu": 1, "memory": "1Gi"}}} | trainer,
        },
    }


def write_documents(folder: Path, **files: list[dict[str, Any]]) -> str:
    """Write files with some documents; return the folder."""
    folder.mkdir(exist_ok=True)
    for name, documents in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(documents))
    return str(folder)


def jobs_of(folder: Path, *jobs: dict[str, Any], options: Options | None = None) -> list[Any]:
    return list(trainc.compile([write_documents(folder, jobs=list(jobs))], options=options or Options()).jobs)


def names(folder: Path, *jobs: dict[str, Any]) -> list[str]:
    return [job.name for job in jobs_of(folder, *jobs)]


# The name


def test_the_name_is_the_prefix_and_letters_of_the_hash(tmp_path: Path) -> None:
    [job] = jobs_of(tmp_path, trainjob())
    assert NAME.match(job.name)
    neutral = json.loads(json.dumps(job.objects).replace(job.name, "ddp-xxxxx"))
    assert job.name == f"ddp-{digest(neutral)[:5]}"


@pytest.mark.parametrize(
    "runtime",
    [
        "torch-distributed",
        "torch-distributed-coscheduling",
        "torch-distributed-volcano",
        "openmpi-distributed",
        "flux-distributed",
        "jax-distributed",
    ],
)
def test_the_name_is_everywhere_but_in_secrets(tmp_path: Path, runtime: str) -> None:
    def named(**name: Any) -> Any:
        job = trainjob(None, numNodes=2, **name)
        job["spec"]["runtimeRef"]["name"] = runtime
        [found] = jobs_of(tmp_path, job)
        return found

    generated, expected = named(generateName="ddp-"), named(name="ddp-xxxxx")
    text = re.sub(r'("secretName": "ddp)-xxxxx', r"\1", json.dumps(expected.objects))
    assert json.loads(text.replace("ddp-xxxxx", generated.name)) == json.loads(json.dumps(generated.objects))


def test_the_same_content_keeps_its_name(tmp_path: Path) -> None:
    [before] = names(tmp_path, trainjob())
    assert names(tmp_path, trainjob(labels={"team": "nlp"})) == [before]
    assert names(tmp_path, trainjob(image="docker.io/acme/train:2")) != [before]


@pytest.mark.parametrize(("length", "kept"), [(58, 58), (59, 58), (253, 58)])
def test_the_first_58_characters_count(tmp_path: Path, length: int, kept: int) -> None:
    done = run("validate", write_documents(tmp_path, job=[trainjob("a" * length)]), "--format", "json")
    assert f"{'a' * kept}xxxxx-node" in done.out
    assert {found["id"] for found in json.loads(done.out)} == {"generated-name-too-long"}


@pytest.mark.parametrize(("length", "valid"), [(42, True), (43, True), (44, False)])
def test_length_rules_see_the_whole_name(tmp_path: Path, length: int, valid: bool) -> None:
    """As those of a TrainJob with a name that has five more characters."""
    for job in (trainjob("a" * length), trainjob(None, name="a" * (length + 5))):
        assert run("validate", write_documents(tmp_path, job=[job])).code == int(not valid)


def test_a_name_beside_it_wins(tmp_path: Path) -> None:
    assert names(tmp_path, trainjob(name="finetune")) == ["finetune"]
    assert names(tmp_path, trainjob(name="")) == names(tmp_path, trainjob())


def test_the_option_adds_nothing(tmp_path: Path) -> None:
    plain, hashed = (jobs_of(tmp_path, trainjob(), options=Options(name_suffix_hash=each)) for each in (False, True))
    assert [job.objects for job in plain] == [job.objects for job in hashed]


def test_prefix_and_suffix_of_an_environment_enclose_the_whole(tmp_path: Path) -> None:
    (tmp_path / "trainc.yaml").write_text("namePrefix: dev-\nnameSuffix: -eu\nlint: {disable: [no-gang]}\n")
    done = run("build", write_documents(tmp_path, jobs=[trainjob("ddp-" * 7), trainjob(mpi=True)]))
    jobsets = [tree for tree in yaml.safe_load_all(done.out) if tree["kind"] == "JobSet"]
    letters = rf"[{LETTERS}]{{5}}"
    expected = rf"dev-(ddp-){{7}}{letters}-eu, dev-ddp-{letters}-eu"
    assert re.fullmatch(expected, ", ".join(sorted((tree["metadata"]["name"] for tree in jobsets), key=len)[::-1]))
    assert "secretName: dev-ddp-eu-mpi-ssh-auth" in done.out


def test_a_fault_is_one_in_all_environments(tmp_path: Path) -> None:
    folder = write_documents(tmp_path, jobs=[trainjob("a" * 50)])
    (tmp_path / "trainc.yaml").write_text("environments: {dev: {namespace: dev}, prod: {namespace: prod}}\n")
    [found] = json.loads(run("validate", folder, "--format", "json").out)
    assert (found["id"], found["environments"]) == ("generated-name-too-long", ["dev", "prod"])


# Places and messages


@pytest.mark.parametrize("prefix", ["A-", "ddp_", "1ddp-", "ddp.", "-", "a.b-", "DDP", 5])
def test_an_invalid_prefix_is_an_error_at_generate_name(tmp_path: Path, prefix: Any) -> None:
    found = json.loads(run("validate", write_documents(tmp_path, job=[trainjob(prefix)]), "--format", "json").out)
    errors = [each for each in found if each["id"] != "required"] if prefix == 5 else found
    [error] = errors
    assert (error["severity"], error["field"]) == ("error", "metadata.generateName")
    assert (tmp_path / "job.yaml").read_text().splitlines()[error["line"] - 1].startswith("  generateName: ")


def test_explain_shows_generate_name(tmp_path: Path) -> None:
    folder = write_documents(tmp_path, job=[trainjob(mpi=True)])
    for field in ("metadata.name", "ConfigMap:metadata.name", "ConfigMap:data.hostfile", "**.secretName"):
        done = run("explain", folder, field)
        assert "generateName: ddp-" in done.out, field
    assert "of TrainJob ddp- (" in done.out.replace("ddp-\n", "ddp- ")


def test_messages_and_selections_use_the_prefix(tmp_path: Path) -> None:
    folder = write_documents(tmp_path, job=[trainjob(mpi=True, numNodes=2), trainjob("other-")])
    done = run("build", folder, "--only", "ddp-")
    assert NAME.match(yaml.safe_load(done.out.partition("---")[0])["metadata"]["name"])
    assert "trainc secret ddp- " in done.err
    assert 'TrainJob "ddp-" has 2 nodes' in run("validate", folder).out
    done = run("build", folder, "--only", "dpd-")
    assert (done.code, "did you mean ddp-?" in done.err) == (1, True)


def test_argo_cd_offers_the_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_documents(tmp_path, job=[trainjob()]))
    assert "ddp-" in run("cmp", "parameters").out


def test_trainjobs_with_one_prefix_share_a_secret(tmp_path: Path) -> None:
    folder = write_documents(tmp_path, a=[trainjob(mpi=True)], b=[trainjob(mpi=True, numNodes=3)])
    [secret] = yaml.safe_load_all(run("secret", "ddp-", folder).out)
    assert secret["metadata"] == {"name": "ddp-mpi-ssh-auth", "namespace": "ml"}
    assert run("build", folder).out.count("secretName: ddp-mpi-ssh-auth") == 4


# Several TrainJobs with one prefix


def test_one_prefix_is_no_duplicate(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, trainjob(), trainjob(image="docker.io/acme/a:1"), trainjob(None, name="ddp-b"))
    assert len({job.name for job in jobs}) == 3
    assert [job.name for job in jobs] == sorted(job.name for job in jobs)


def test_the_same_content_twice_is_one_object(tmp_path: Path) -> None:
    """Only an output cannot have both."""
    folder = write_documents(tmp_path, a=[trainjob()], b=[trainjob()])
    assert run("validate", folder).code == 0
    done = run("build", folder)
    assert (done.code, done.out, "error[duplicate-object]: duplicate JobSet" in done.err) == (1, "", True)


# Output


def test_the_file_has_the_jobsets_name(tmp_path: Path) -> None:
    done = run("build", write_documents(tmp_path, job=[trainjob()]), "-o", str(tmp_path / "out"))
    [file] = (tmp_path / "out" / "ml").iterdir()
    assert (done.code, bool(NAME.match(file.stem))) == (0, True)
    assert f"name: {file.stem}\n" in file.read_text()
    assert file.read_text().startswith("# Compiled by trainc from TrainJob ml/ddp-. ")


def test_a_new_name_replaces_the_file(tmp_path: Path) -> None:
    for image in ("a", "b"):
        done = run(
            "build", write_documents(tmp_path / "jobs", job=[trainjob(image=image)]), "-o", str(tmp_path / "out")
        )
    assert "1 written, 1 removed, 0 unchanged" in done.err
    assert len([*(tmp_path / "out" / "ml").iterdir()]) == 1


def test_only_commands_with_an_output_note_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [name] = names(tmp_path, trainjob())
    folder = str(tmp_path)
    items = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [trainjob()]}
    monkeypatch.chdir(tmp_path)
    texts = {
        "build": run("build", folder).err,
        "cmp": run("cmp", "generate").err,
        "krm": run("krm", stdin=json.dumps(items).encode()).err,
    }
    for command, text in texts.items():
        message = re.search(r"note\[fixed-name\]: (.*)", text)
        assert message is not None, command
        for part in (f"the name {name}", "without a change, another apply starts no new run", "pruning deletes"):
            assert part in message[1], command
    for command in ("validate", "pods", "graph", "explain"):
        done = run(command, folder)
        assert (done.code, "fixed-name" in done.out + done.err) == (0, False), command


def test_every_command_has_the_same_name(tmp_path: Path) -> None:
    folder = write_documents(tmp_path, job=[trainjob(numNodes=2)])
    [job] = trainc.compile([folder]).jobs
    for command in ("pods", "graph", "explain", "build"):
        assert job.name in run(command, folder).out, command


def test_krm_replaces_each_item(tmp_path: Path) -> None:
    jobs = [trainjob(), trainjob(image="docker.io/acme/a:1")]
    items = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": jobs}
    answer = yaml.safe_load(run("krm", stdin=json.dumps(items).encode()).out)
    assert [bool(NAME.match(item["metadata"]["name"])) for item in answer["items"]] == [True, True]


def test_upgrade_keeps_the_prefix(tmp_path: Path) -> None:
    jobs = [trainjob(mpi=mpi) for mpi in (False, True)]
    for job in jobs:
        job["spec"]["podTemplateOverrides"] = [{"targetJobs": [{"name": "node"}], "spec": {"nodeSelector": {"a": "b"}}}]
    before = names(tmp_path, *jobs)
    assert run("upgrade", str(tmp_path), "--write").code == 0
    text = (tmp_path / "jobs.yaml").read_text()
    assert (text.count("generateName: ddp-"), "podTemplateOverrides" in text) == (2, False)
    assert names(tmp_path, *yaml.safe_load_all(text)) == before


def test_patches_find_the_prefix(tmp_path: Path) -> None:
    folder = write_documents(tmp_path, job=[trainjob(), trainjob("other-")])
    patches = [
        {"target": {"kind": "TrainJob", "name": "ddp-"}, "patch": {"spec": {"trainer": {"image": "acme/a"}}}},
        {"target": {"kind": "JobSet", "name": "ddp-*"}, "patch": {"metadata": {"labels": {"team": "nlp"}}}},
    ]
    (tmp_path / "trainc.yaml").write_text(json.dumps({"patches": patches}))
    done = run("build", folder)
    assert (done.out.count("image: acme/a"), done.out.count("team: nlp")) == (1, 1)


# Review


def reviewed(tmp_path: Path, old: dict[str, list[Any]], new: dict[str, list[Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of a review, and its objects."""
    sides = [tmp_path / "old", tmp_path / "new"]
    for side, files in zip(sides, (old, new), strict=True):
        write_documents(side, **files)
    text, found = (run("diff", *map(str, sides), "--format", form).out for form in ("text", "json"))
    objects: list[dict[str, Any]] = json.loads(found)["objects"]
    return text, objects


def test_a_review_pairs_by_prefix(tmp_path: Path) -> None:
    new = trainjob(image="docker.io/acme/a:2")
    text, [found] = reviewed(tmp_path, {"a": [trainjob(image="docker.io/acme/a:1")]}, {"moved": [new]})
    [name] = names(tmp_path / "again", new)
    assert (found["status"], found["newName"], found["name"] != name) == ("changed", name, True)
    assert [change["new"] for change in found["changes"]] == ["docker.io/acme/a:2"]
    assert f"starts a new JobSet {name}; pruning stops the old one\n" in text


def test_a_review_pairs_by_file_where_several_share_the_prefix(tmp_path: Path) -> None:
    def job(image: str) -> list[dict[str, Any]]:
        return [trainjob(image=f"docker.io/acme/{image}")]

    old = {"a": job("a:1"), "b": job("b:1"), "c": job("c:1")}
    _, found = reviewed(tmp_path, old, {"a": job("a:2"), "b": job("b:2"), "moved": job("c:1")})
    changes = {each["changes"][0]["old"]: each["changes"][0]["new"] for each in found}
    assert changes == {"docker.io/acme/a:1": "docker.io/acme/a:2", "docker.io/acme/b:1": "docker.io/acme/b:2"}
    assert {each["status"] for each in found} == {"changed"}


def test_a_review_of_a_mutable_field(tmp_path: Path) -> None:
    text, [found] = reviewed(tmp_path, {"a": [trainjob()]}, {"a": [trainjob(labels={"team": "nlp"})]})
    assert (found["effect"], "newName" in found, "recreated" in text) == ("in-place", False, False)


def test_a_review_of_added_and_removed_trainjobs(tmp_path: Path) -> None:
    _, found = reviewed(tmp_path, {"a": [trainjob("a-")]}, {"a": [trainjob("b-")]})
    assert sorted((each["status"], each["name"][:2]) for each in found) == [("added", "b-"), ("removed", "a-")]


def test_a_review_of_an_mpi_job(tmp_path: Path) -> None:
    """The ConfigMap is compared under the old name, too."""
    _, found = reviewed(tmp_path, {"a": [trainjob(mpi=True)]}, {"a": [trainjob(mpi=True, numNodes=3)]})
    assert [(each["kind"], each["status"]) for each in found] == [("JobSet", "changed"), ("ConfigMap", "changed")]
    assert found[1]["name"] == f"{found[0]['name']}-mpi-hostfile"


def test_a_review_of_a_hostfile(tmp_path: Path) -> None:
    """The hash covers its data, so that its name changes, too."""
    runtime = yaml.safe_load(run("runtimes", "show", "openmpi-distributed").out)
    jobs = [trainjob(mpi=True), trainjob(mpi=True)]
    jobs[1]["spec"]["trainer"]["numProcPerNode"] = 4
    text, [*_, found] = reviewed(tmp_path, {"a": [runtime, jobs[0]]}, {"a": [runtime, jobs[1]]})
    [name] = names(tmp_path / "again", runtime, jobs[1])
    assert found["effect"] == "new-name"
    assert (found["kind"], found["newName"]) == ("ConfigMap", f"{name}-mpi-hostfile")
    assert "created under the new name; pruning deletes the old ConfigMap" in text


def test_objects_under_another_name_are_those_of_the_pipeline(tmp_path: Path) -> None:
    from trainc.review.changes.renamed_jobs import renamed

    for job in jobs_of(tmp_path, trainjob(mpi=True), trainjob(numNodes=2)):
        assert renamed(job._compiled, job.name).objects == job.objects


# Runtimes


def test_a_runtime_with_only_generate_name_is_checked_with_a_warning(tmp_path: Path) -> None:
    exported = yaml.safe_load(run("runtimes", "show", "torch-distributed").out)
    runtimes = [exported | {"metadata": {"generateName": "torch-"}} for _ in range(2)]
    folder = write_documents(tmp_path, runtimes=runtimes)
    found = json.loads(run("validate", folder, "--format", "json").out)
    assert [(each["id"], each["severity"]) for each in found] == [("unnamed-runtime", "warning")] * 2
    assert {each["field"] for each in found} == {"metadata.generateName"}
    runtimes[0]["spec"]["mlPolicy"] = {"torch": {}, "mpi": {}}
    write_documents(tmp_path, runtimes=runtimes)
    assert "error[one-ml-policy]" in run("validate", folder).out
    job = trainjob(None, name="a")
    job["spec"]["runtimeRef"]["name"] = "torch-"
    write_documents(tmp_path, runtimes=runtimes[1:], job=[job])
    assert "error[runtime-not-found]" in run("validate", folder).out


def test_without_a_generated_name_nothing_of_it_is_loaded() -> None:
    import subprocess
    import sys

    program = "import sys; from trainc import compile; compile(sys.argv[1:]); print(*sys.modules)"
    case = str(Path(__file__).parents[2] / "golden" / "llm-finetune-4x8" / "input.yaml")
    done = subprocess.run([sys.executable, "-c", program, case], capture_output=True, text=True, check=True)
    assert "trainc.pipeline.generated_names" not in done.stdout.split()
