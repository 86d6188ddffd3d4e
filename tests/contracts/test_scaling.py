"""Work grows linearly with the input: twice the input takes at most a little more than twice the steps.

A step is a call of a function, of Python or of C, and each iteration of a generator. Unlike time, their number is the
same on every machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import committing
import multiplied
import pytest
import yaml
from files import write_files
from manifests import job_text
from purposes import internal
from running import run

from trainc import compile
from trainc.compilation.run import READ, Options, start
from trainc.explain import accounts
from trainc.explain import text as explain_text
from trainc.kubernetes.trees import forget
from trainc.masking.document_secrets import secrets
from trainc.masking.masked_values import masked
from trainc.pods import count, jobs_of
from trainc.reports import text
from trainc.review import compare
from trainc.review.changes import changes
from trainc.review.commits import commit, commit_files
from trainc.review.formats import text as review_text
from trainc.review.sides import SideSpec
from trainc.rewriting.upgrade import upgrade
from trainc.source.file_diffs import unified_diff

pytestmark = pytest.mark.slow
SMALL = 40
GROWTH = 2.2
"""The maximum growth for twice the input; a quadratic part of an eighth of the steps is above it."""

REVIEWED = 2.5
"""The maximum steps of a review of TrainJobs with two edits each, compared with the builds of both sides. The review
reruns the stages twice for each TrainJob, and reads the changed files again for objects of other kinds."""

ENVIRONMENTS = 3.3
"""The maximum steps of a run with three environments, compared with a run of one of them."""

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
RUNTIME = (
    f"{HEAD}kind: ClusterTrainingRuntime\nmetadata: {{name: r}}\nspec:\n  template:\n    spec:\n      replicatedJobs:\n"
)
PART = (
    "      - {{name: j{0}, template: {{spec: {{template: {{spec: "
    "{{containers: [{{name: node, image: a/b:1}}]}}}}}}}}}}\n"
)

JOBSET = (
    "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: j}}\nspec: {{replicatedJobs: [{{name: node, "
    "template: {{spec: {{template: {{spec: {{containers: [{}]}}}}}}}}}}]}}\n"
)


def numbered_job(index: int, runtime: str) -> str:
    return f"---\n{job_text(f'name: t{index}', f'name: {runtime}')}"


def items(count: int, value: str) -> dict[str, Any]:
    return {"env": [{"name": f"A{index}", "value": value} for index in range(count)]}


def changed_items(size: int, _: Path) -> object:
    return changes(items(size, "1"), items(size, "2"))


def moved_items(size: int, _: Path) -> object:
    return changes(items(size, "1"), {"env": items(size, "1")["env"][::-1]})


def masked_words(size: int, _: Path) -> object:
    return masked({"args": [f"a{index}" for index in range(size)]})


def secrets_of_words(size: int, _: Path) -> object:
    text = "args:\n" + "".join(f"- a{index}\n" for index in range(size))
    return secrets(text, 0, len(text), parsed=True)


def trainjobs(size: int, file: Path) -> object:
    file.write_text("".join(numbered_job(index, "torch-distributed") for index in range(size)))
    return compile([str(file)]).manifests()


def replicated_jobs(size: int, file: Path) -> object:
    file.write_text(RUNTIME + "".join(PART.format(index) for index in range(size)) + numbered_job(0, "r"))
    return compile([str(file)]).manifests()


def files(size: int, file: Path) -> object:
    folder = file.parent / f"files-{size}"
    folder.mkdir(exist_ok=True)
    for index in range(size):
        (folder / f"{index}.yaml").write_text(numbered_job(index, "torch-distributed"))
    return compile([str(folder)])


def files_of_a_commit(size: int, file: Path) -> object:
    folder = file.parent / f"commit-{size}"
    files(size, folder)
    committing.git("init", "--quiet", at=file.parent)
    committing.commit(at=file.parent)
    found = list(commit_files.read(commit("HEAD", folder=str(file.parent)), [str(file.parent / f"files-{size}")]))
    assert len(found) == size
    return found


def merged_volumes(size: int, file: Path) -> object:
    volumes = ", ".join(f"{{name: v{index}, emptyDir: {{}}}}" for index in range(size))
    template = f"template: {{spec: {{template: {{spec: {{volumes: [{volumes}]}}}}}}}}"
    patch = (
        f"{{manager: a/b, trainingRuntimeSpec: {{template: {{spec: {{replicatedJobs: [{{name: j0, {template}}}]}}}}}}}}"
    )
    text = RUNTIME + PART.format(0).replace("containers", f"volumes: [{volumes}], containers")
    file.write_text(text + numbered_job(0, "r").replace("}}\n", f"}}, runtimePatches: [{patch}]}}\n"))
    found = compile([str(file)])
    assert not found.failed, found.diagnostics
    return found


def wrong_variables(size: int, file: Path) -> object:
    variables = ", ".join(f"{{name: A{index}, value: {index}}}" for index in range(size))
    file.write_text(numbered_job(0, "torch-distributed").replace("}}\n", f"}}, trainer: {{env: [{variables}]}}}}\n"))
    found = compile([str(file)]).diagnostics
    assert len(found) == size
    return text.render(found, summary="", color=False)


def diagnostics(size: int, file: Path) -> object:
    file.write_text("".join(numbered_job(index, f"missing-{index}") for index in range(size)))
    return text.render(compile([str(file)]).diagnostics, summary="", color=False)


def explained_jobs(size: int, file: Path) -> object:
    file.write_text("".join(numbered_job(index, "torch-distributed") for index in range(size)))
    return explained(file)


def explained_replicated_jobs(size: int, file: Path) -> object:
    """Each job has its own count, image and resources, so that its fields have causes of their own."""
    own = PART.replace("template:", "replicas: {0}, template:", 1).replace("a/b:1", "a/b:{0}")
    file.write_text(RUNTIME + "".join(own.format(index) for index in range(size)) + numbered_job(0, "r"))
    return explained(file)


def explained_variables(size: int, file: Path) -> object:
    variables = ", ".join(f"{{name: A{index}, value: {index}x}}" for index in range(size))
    file.write_text(numbered_job(0, "torch-distributed").replace("}}\n", f"}}, trainer: {{env: [{variables}]}}}}\n"))
    return explained(file)


def explained(file: Path) -> str:
    return "".join(explain_text.render(accounts(internal(compile([str(file)])).jobs), color=False, selected=False))


def reviewed_items(size: int, file: Path) -> object:
    return reviewed(size, file, lambda index: f"{{name: A{index}, value: b}}")


def reviewed_order(size: int, file: Path) -> object:
    return reviewed(size, file, lambda index: f"{{name: A{size - 1 - index}, value: a}}")


def reviewed(size: int, file: Path, edited: Callable[[int], str]) -> str:
    """Return a review of a rendered JobSet with many variables, each of them edited."""
    sides = []
    for name, item in (("old", lambda index: f"{{name: A{index}, value: a}}"), ("new", edited)):
        side = file.with_name(f"{name}.yaml")
        container = f"{{name: node, image: a/b:1, env: [{', '.join(map(item, range(size)))}]}}"
        side.write_text(JOBSET.format(container))
        sides.append(SideSpec(name, (str(side),)))
    return review_text.render(compare(sides[0], sides[1], start(Options(no_config=True), READ)), color=False)


def reviewed_jobs(size: int, file: Path) -> object:
    """Each TrainJob has two edits, and experiments find the effects of each."""
    sides = []
    for name, nodes, image in (("old", 2, "a/b:1"), ("new", 3, "a/b:2")):
        side = file.with_name(f"{name}.yaml")
        trainer = f"}}, trainer: {{numNodes: {nodes}, image: {image}}}}}\n"
        side.write_text(
            "".join(numbered_job(index, "torch-distributed").replace("}}\n", trainer) for index in range(size))
        )
        sides.append(SideSpec(name, (str(side),)))
    return review_text.render(compare(sides[0], sides[1], start(Options(no_config=True), READ)), color=False)


def pods(size: int, file: Path) -> object:
    file.write_text(
        RUNTIME + PART.format(0).replace("template:", f"replicas: {size}, template:", 1) + numbered_job(0, "r")
    )
    jobset = compile([str(file)]).jobs[0].objects[0]
    assert count(jobset, None, None) == size
    return [pod for one in jobs_of(jobset, {}) for pod in one.pods()]


OLD = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t%d}
spec:
  runtimeRef: {name: torch-distributed}
  podTemplateOverrides:
  - targetJobs: [{name: node}]
    spec: {nodeSelector: {a: b}}
"""


def upgraded_documents(size: int, file: Path) -> object:
    file.write_text("---\n".join(OLD % index for index in range(size)))
    return upgraded(file)


def upgraded_items(size: int, file: Path) -> object:
    items = ("- " + (OLD % index).rstrip().replace("\n", "\n  ") + "\n" for index in range(size))
    file.write_text("apiVersion: v1\nkind: List\nitems:\n" + "".join(items))
    return upgraded(file)


def upgraded_json(size: int, file: Path) -> object:
    jobs = [yaml.safe_load(OLD % index) for index in range(size)]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": jobs}, indent=2))
    return upgraded(file)


def upgraded(file: Path) -> object:
    (new,), diagnostics = upgrade([str(file)])
    assert diagnostics == []
    return list(unified_diff(new.old, new.new, "a", "b"))


def steps(work: Callable[[int, Path], object], size: int, file: Path) -> int:
    """Return the number of steps of some work."""
    forget()
    taken = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal taken
        taken += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work(size, file)
    finally:
        sys.setprofile(None)
    return taken


def validated(size: int, file: Path, files: Iterable[tuple[str, str]]) -> object:
    """Validate some files, which may have warnings but no errors."""
    folder = file.parent / f"of-{size}"
    write_files(files, folder)
    done = run("validate", str(folder))
    assert done.code == 0, done.out
    return done


def labels_of_settings(size: int, file: Path) -> object:
    labels = f"labels: {multiplied.mapping(10 * size)}\n"
    return validated(size, file, [multiplied.jobs(5), multiplied.settings(labels)])


def labelled_jobs(size: int, file: Path) -> object:
    return validated(size, file, [multiplied.jobs(size), multiplied.settings(f"labels: {multiplied.mapping(30)}\n")])


def patches(count: int, terms: int) -> tuple[str, str]:
    selector = ",".join(f"!{key}" for key in multiplied.keys(terms))
    patch = f"- target: {{labelSelector: '{selector}'}}\n  patch: {{spec: {{suspend: true}}}}\n"
    return multiplied.settings(f"patches:\n{patch * count}")


def terms_of_targets(size: int, file: Path) -> object:
    return validated(size, file, [multiplied.jobs(3), patches(3, size)])


def patches_of_settings(size: int, file: Path) -> object:
    return validated(size, file, [multiplied.jobs(3), patches(size, 3)])


def patched_jobs(size: int, file: Path) -> object:
    return validated(size, file, [multiplied.jobs(size), patches(3, 3)])


def annotations_of_a_runtime(size: int, file: Path) -> object:
    return validated(size, file, [("r.yaml", multiplied.runtime_text(10 * size)), multiplied.jobs(3, "r")])


def jobs_of_a_runtime(size: int, file: Path) -> object:
    return validated(size, file, [("r.yaml", multiplied.runtime_text(100)), multiplied.jobs(size, "r")])


def environments(size: int, file: Path) -> object:
    names = ", ".join(f"e{index}: {{namespace: n{index}}}" for index in range(size // 2 + 1))
    text = f"labels: {multiplied.mapping(10)}\nenvironments: {{{names}}}\n"
    return validated(size, file, [multiplied.jobs(2), multiplied.settings(text)])


def aliases_of_a_text(size: int, file: Path) -> object:
    text = multiplied.runtime_text().removeprefix("---\n").replace('"', "'")
    return validated(size, file, [("c.yaml", multiplied.config_map("c", text, size)), multiplied.jobs(1)])


def patterns(size: int, file: Path) -> object:
    lines = "".join(f"- '**/a*/**/b{index}'\n" for index in range(size))
    return validated(size, file, [multiplied.jobs(1), multiplied.settings(f"exclude:\n{lines}")])


def excluding_folders(size: int, file: Path) -> object:
    files = [(f"a{index}/jobs.yaml", multiplied.small_job(f"j{index}")) for index in range(size)]
    return validated(size, file, [*files, multiplied.settings("exclude: ['**/a*/**/b*']\n")])


WORKS = [
    labels_of_settings,
    labelled_jobs,
    terms_of_targets,
    patches_of_settings,
    patched_jobs,
    annotations_of_a_runtime,
    jobs_of_a_runtime,
    environments,
    aliases_of_a_text,
    patterns,
    excluding_folders,
    changed_items,
    moved_items,
    masked_words,
    secrets_of_words,
    reviewed_items,
    reviewed_order,
    reviewed_jobs,
    trainjobs,
    replicated_jobs,
    explained_jobs,
    explained_replicated_jobs,
    explained_variables,
    files,
    files_of_a_commit,
    merged_volumes,
    wrong_variables,
    diagnostics,
    pods,
    upgraded_documents,
    upgraded_items,
    upgraded_json,
]


@pytest.mark.parametrize("work", WORKS)
def test_twice_the_input(work: Callable[[int, Path], object], tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    work(1, file)  # imports, schemas
    import_module("trainc.kubernetes.documents.blocks")  # which only a longer text needs
    base, small, large = (steps(work, size, file) for size in (1, SMALL, 2 * SMALL))
    assert (large - base) <= GROWTH * (small - base)


def test_a_review_of_trainjobs_with_two_edits_each(tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"

    def write(size: int) -> None:
        for file, trainer in ((old, "{numNodes: 2, image: a/b:1}"), (new, "{numNodes: 4, image: a/b:2}")):
            file.write_text(
                "".join(f"{numbered_job(i, 'torch-distributed')[:-2]}, trainer: {trainer}}}\n" for i in range(size))
            )

    def builds(size: int, _: Path) -> object:
        return [compile([str(file)]).manifests() for file in (old, new)]

    def review(size: int, _: Path) -> object:
        return review_text.render(
            compare(SideSpec("old", (str(old),)), SideSpec("new", (str(new),)), start(Options(), READ)), color=False
        )

    def measured(work: Callable[[int, Path], object]) -> int:
        counts = []
        for size in (1, 1, SMALL):  # the first run imports modules
            write(size)
            counts.append(steps(work, size, tmp_path))
        return counts[2] - counts[1]

    assert measured(review) <= REVIEWED * measured(builds)


@pytest.mark.parametrize("command", [["build"], ["build", "--check"], ["diff", "HEAD"]], ids=["build", "check", "diff"])
def test_three_environments(command: list[str], empty_folder: Path) -> None:
    committing.git("init", "--quiet")
    write = Path("jobs.yaml").write_text
    environments = "".join(f"  {name}: {{namespace: ns-{name}}}\n" for name in "abc")
    Path("trainc.yaml").write_text(f"sources: [jobs.yaml]\noutput: rendered\nenvironments:\n{environments}")
    text = "".join(numbered_job(index, "torch-distributed") for index in range(SMALL))
    write(text)
    committing.commit()
    assert run("build").code == 0
    if command != ["build", "--check"]:
        write(text.replace("torch-distributed}}", "torch-distributed}, trainer: {numNodes: 2}}"))

    def work(options: list[str]) -> int:
        return steps(lambda size, file: run(*command, *options), SMALL, empty_folder)

    work(["--env", "a"])  # the first run imports modules
    one, three = work(["--env", "a"]), work([])
    assert 2 * one < three <= ENVIRONMENTS * one


def test_a_quadratic_function_is_found(tmp_path: Path) -> None:
    def quadratic(size: int, _: Path) -> object:
        return [abs(i) for i in range(size) for _ in range(size)]

    assert steps(quadratic, 2 * SMALL, tmp_path) > GROWTH * steps(quadratic, SMALL, tmp_path)
