"""Ways to change what the Argo CD plugin deploys: a review shows each of them, or fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from committing import commit, copy_repository, git
from files import write
from plugin import generate
from running import Done, run

from trainc.cli.common.options import REVIEWS
from trainc.files.output_marks import first_line

MARK = first_line("TrainJob", "", "evil")
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: evil}
spec: {runtimeRef: {name: team-torch}}
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: evil, namespace: training}
spec:
  replicatedJobs:
  - name: node
    template: {spec: {template: {spec: {containers: [{name: node, image: "evil/x:1"}]}}}}
"""


@pytest.fixture(autouse=True)
def project(empty_folder: Path) -> None:
    copy_repository(project_on_a_branch, empty_folder)


def project_on_a_branch() -> None:
    """Create the project P on the branch main, and switch to the branch pr."""
    assert run("init").code == 0
    write("jobs/team/job.yaml", Path("jobs/first-job.yaml").read_text().replace("first-job", "team-job"))
    assert run("build").code == 0
    commit()
    git("switch", "--quiet", "--create", "pr")


def review(form: str = "text", *more: str) -> Done:
    """Run the review of a pull request."""
    config = ("--review-config", "main:trainc.yaml")
    return run("diff", "main...HEAD", *config, "--format", form, *more, "--", "jobs", "runtimes")


def deployed(folder: str = "jobs/team") -> list[str]:
    """Return the names of the objects that the plugin deploys."""
    done = generate(folder, "prod", "runtimes")
    return [each["metadata"]["name"] for each in yaml.safe_load_all(done.out) if each]


def test_a_marked_file_with_a_trainjob_is_an_error_of_every_command() -> None:
    write("jobs/team/evil.yaml", MARK + JOB)
    write("jobs/team/.trainc-outputs", '{"outputs": ["evil.yaml"]}\n')
    commit()
    for form in REVIEWS:
        done = review(form)
        assert (done.code, done.out) == (1, "")
        assert "HEAD:jobs/team/evil.yaml:3:7: error[marked-source]: TrainJob in a file" in done.err
    for words in (("validate",), ("validate", "jobs/team"), ("build", "-o", "out"), ("explain", "jobs", "spec")):
        assert run(*words).code == 1, words
    assert generate("jobs/team", "prod", "runtimes").code == 1


def test_a_marked_jobset_is_an_output_for_every_command() -> None:
    write("jobs/team/evil.yaml", MARK + JOBSET)
    write("jobs/team/.trainc-outputs", '{"outputs": ["evil.yaml"]}\n')
    commit()
    assert deployed() == ["team-job"]
    assert deployed("jobs") == ["first-job", "team-job"]


@pytest.mark.parametrize("where", ["jobs/k", "jobs/team/k", "runtimes"])
def test_a_kustomization_claims_only_files_below_its_folder(where: str) -> None:
    up = (
        "../" * where.count("/")
        if where.startswith("jobs/team")
        else "../jobs/team/"
        if where == "runtimes"
        else "../team/"
    )
    write(f"{where}/kustomization.yaml", f"patches: [{{path: {up}evil.yaml}}]\n")
    write("jobs/team/evil.yaml", JOB)
    commit()
    for form in REVIEWS:
        done = review(form)
        assert (done.code, "evil" in done.out) == (0, True)
    assert "added evil [dev, prod]" in review().out
    assert "evil" in run("pods", "jobs", "--env", "prod").out


@pytest.mark.parametrize("above", ["jobs/kustomization.yaml", "kustomization.yaml", "jobs/team/kustomization.yml"])
def test_a_kustomization_above_the_folder_decides_as_in_its_own_folder(above: str) -> None:
    path = "jobs/team/evil.yaml".removeprefix(f"{Path(above).parent}/".removeprefix("./"))
    write(above, f"patchesStrategicMerge: [{path}]\n")
    write("jobs/team/evil.yaml", JOB)
    commit()
    assert "added JobSet" not in review().out
    assert "evil" not in generate("jobs/team", "prod", "runtimes").out
    assert "evil" not in run("pods", "jobs", "--env", "prod").out


def test_a_resource_of_a_kustomization_above_is_no_patch() -> None:
    write("jobs/kustomization.yaml", "resources: [team/evil.yaml]\n")
    write("jobs/team/kustomization.yaml", "patches: [{path: evil.yaml}]\n")
    write("jobs/team/evil.yaml", JOB)
    commit()
    assert "added evil" in review().out


@pytest.mark.parametrize("output", ["jobs", "jobs/team", "."])
def test_an_output_folder_with_sources_is_an_error(output: str) -> None:
    settings = Path("trainc.yaml").read_text()
    write("trainc.yaml", settings.replace("output: rendered", f"output: {output}"))
    commit()
    for words in (("build",), ("build", "--check"), ("validate",), ("validate", "jobs/team")):
        done = run(*words)
        assert (done.code, "error[source-in-output]: TrainJob" in done.out + done.err) == (1, True), words
    assert "jobs/team/job.yaml" in run("build").err
    assert not Path("jobs/prod").exists()
    assert review().code == 1
    assert generate("jobs/team", "prod", "runtimes").code == 1


@pytest.mark.parametrize("folder", ["rendered", "rendered/prod"])
def test_a_folder_of_outputs_has_no_sources_for_any_command(folder: str) -> None:
    write("rendered/prod/training/evil.yaml", JOBSET)
    assert run("validate", folder).code == 0
    assert run("build", folder, "--env", "prod").code == 1
    assert generate(folder, "prod", "runtimes").code == 1
    assert "no TrainJob" in generate(folder, "prod", "runtimes").err
    write("rendered/prod/training/evil.yaml", JOB)
    assert "error[source-in-output]" in run("validate", folder).out
    assert "error[source-in-output]" in generate(folder, "prod", "runtimes").err
    # A PATH that is the file itself is read.
    assert run("validate", "rendered/prod/training/evil.yaml", "--env", "prod").code == 0


def test_a_patch_of_one_environment_is_a_source_in_none() -> None:
    settings = Path("trainc.yaml").read_text()
    patch = "    patches: [{path: jobs/team/patch.yaml, target: {kind: TrainJob}}]\n"
    write("trainc.yaml", settings.replace("    namespace: training-dev\n", f"    namespace: training-dev\n{patch}"))
    write("jobs/team/patch.yaml", JOB.replace("name: evil", "name: evil, labels: {a: b}"))
    commit()
    assert deployed() == ["team-job"]
    assert "evil" not in run("pods", "jobs", "--env", "prod").out


QUOTED = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: evil
spec:
  runtimeRef:
    name: team-torch
  trainer:
    args:
    - "note
    - evil
    - the end"
"""
"""A job with one argument. In UTF-7, a checkout encodes the quotation marks: there, it has three."""


def test_a_command_that_only_a_checkout_has_is_an_error() -> None:
    write("jobs/team/job.yaml", QUOTED)
    commit()
    assert "note - evil - the end" in generate("jobs/team", "prod", "runtimes").out
    git("branch", "--force", "main")
    write(".gitattributes", "jobs/team/*.yaml working-tree-encoding=UTF-7\n")
    git("add", ".gitattributes")
    git("commit", "--quiet", "--message", "An attribute")
    Path("jobs/team/job.yaml").unlink()
    git("checkout", "--", "jobs")
    jobset = yaml.safe_load(generate("jobs/team", "prod", "runtimes").out)
    [pods] = [each["template"]["spec"]["template"] for each in jobset["spec"]["replicatedJobs"]]
    assert pods["spec"]["containers"][0]["args"][1:2] == ["evil"]
    for form in REVIEWS:
        done = review(form)
        assert (done.code, done.out) == (1, "")
        assert "error[checkout-attribute]: the attribute working-tree-encoding=UTF-7 changes this file" in done.err


BINDING = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: evil}\n"


@pytest.mark.parametrize("is_ignored", [True, False], ids=["ignored by git", "committed"])
def test_a_binding_by_hand_in_the_output_folder_is_listed_and_stops_a_build(is_ignored: bool) -> None:
    if is_ignored:
        git("rm", "-rq", "--cached", "rendered")
        write(".gitignore", "rendered/\n")
        commit()
        git("branch", "--force", "main")
    write("rendered/prod/evil.yaml", BINDING)
    git("add", "--force", "rendered/prod/evil.yaml")
    commit()
    for words in (("build",), ("build", "--check"), ("build", "jobs", "-o", "rendered")):
        done = run(*words)
        assert (done.code, "rendered/prod/evil.yaml: error[output-unexpected]" in done.err) == (1, True), words
    for form in REVIEWS:
        done = run("diff", "main...HEAD", "--format", form, "--", "rendered")
        assert (done.code, "ClusterRoleBinding" in done.out, "evil" in done.out) == (0, True, True)


@pytest.mark.parametrize("report", ["text", "json", "github", "gitlab", "junit", "sarif"])
def test_every_report_of_a_build_has_the_binding(report: str) -> None:
    write("rendered/prod/evil.yaml", BINDING)
    assert run("build", "--report", f"{report}=report").code == 1
    text = Path("report").read_text()
    assert ("rendered/prod/evil.yaml" in text, "output-unexpected" in text) == (True, True)


SETTINGS_BELOW = """\
environments: {prod: {namespace: training}}
images: [{name: pytorch/pytorch, newName: evil/x}]
runtimes: {paths: [RUNTIMES]}
"""


@pytest.mark.parametrize(
    ("path", "runtimes"), [("jobs/team/trainc.yaml", "../../runtimes"), ("jobs/trainc.yaml", "../runtimes")]
)
def test_settings_of_a_folder_are_in_force_in_a_review_of_the_root(path: str, runtimes: str) -> None:
    settings = SETTINGS_BELOW.replace("RUNTIMES", runtimes)
    write(path, settings)
    commit()
    assert "evil/x" in generate(str(Path(path).parent), "prod", "runtimes").out
    for form in REVIEWS:
        done = review(form)
        assert (path in done.out, "evil/x" in shown(done)) == (True, True)
    write(path, settings.replace("evil/x", "evil/y"))
    commit()
    for form in REVIEWS:
        done = run("diff", "HEAD~1...HEAD", "--format", form, "--exit-code", "--", "jobs", "runtimes")
        assert (done.code, path in done.out, "evil/y" in shown(done)) == (3, True, True)


def test_a_runtime_of_the_settings_of_a_folder_is_compared() -> None:
    write("jobs/team/trainc.yaml", "environments: {prod: {}}\nruntimes: {paths: [own]}\n")
    runtime = Path("runtimes/team-torch.yaml").read_text()
    write("jobs/team/own/team-torch.yaml", runtime)
    commit()
    git("branch", "--force", "main")
    write("jobs/team/own/team-torch.yaml", runtime.replace("pytorch/pytorch", "evil/x"))
    commit()
    for form in REVIEWS:
        for paths in ((), ("jobs",), ("jobs", "runtimes")):
            done = run("diff", "main...HEAD", "--review-config", "main", "--format", form, "--", *paths)
            assert "evil/x" in shown(done), done.err


def test_a_new_job_is_compiled_with_the_settings_of_its_folder() -> None:
    field = "/spec/replicatedJobs/0/template/spec/template/spec/hostNetwork"
    patch = f"patches: [{{target: {{kind: JobSet}}, patch: [{{op: add, path: {field}, value: true}}]}}]\n"
    write("jobs/team/trainc.yaml", SETTINGS_BELOW.replace("RUNTIMES", "../../runtimes") + patch)
    commit()
    git("branch", "--force", "main")
    write("jobs/team/evil.yaml", JOB)
    commit()
    assert generate("jobs/team", "prod", "runtimes").out.count("hostNetwork: true") == 2
    assert run("build", "jobs", "--env", "prod", "-o", "-").out.count("hostNetwork: true") == 2
    for form in REVIEWS:
        done = review(form)
        assert "evil" in shown(done)
        assert ("hostNetwork" in done.out) == (form == "html")  # the other formats only name an added object


def shown(done: Done) -> str:
    """Return the text of a review without the line breaks and escapes of its format."""
    return re.sub(r"<wbr>|[`*\\]", "", done.out)


def test_a_copy_of_the_settings_in_another_folder_is_an_error() -> None:
    write("jobs/trainc.yaml", Path("trainc.yaml").read_text())
    commit()
    for form in REVIEWS:
        done = review(form)
        assert (done.code, done.out) == (1, "")
        assert "error[runtime-not-found]" in done.err
