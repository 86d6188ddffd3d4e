"""Inputs that multiply two of their parts, such as labels and TrainJobs: a few hundred kilobytes of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from string import ascii_lowercase

from manifests import job_text

HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\n"
Files = Iterator[tuple[str, str]]
"""Paths and texts of files."""


def small_job(name: str, runtime: str = "torch-distributed") -> str:
    return "---\n" + job_text(f"name: {name}", f"name: {runtime}", "image: 'a/b:1'")


def jobs(count: int, runtime: str = "torch-distributed") -> tuple[str, str]:
    return "jobs.yaml", "".join(small_job(f"a{index}", runtime) for index in range(count))


def settings(text: str) -> tuple[str, str]:
    return "trainc.yaml", text


def mapping(count: int) -> str:
    return f"{{{', '.join(f'a{index}: b' for index in range(count))}}}"


def runtime_text(annotations: int = 0, containers: int = 1, name: str = "r") -> str:
    listed = ", ".join(f"{{name: {'node' if not i else f'c{i}'}, image: 'a/b:1'}}" for i in range(containers))
    pod = f"{{template: {{spec: {{template: {{spec: {{containers: [{listed}]}}}}}}}}}}"
    part = pod.replace("{template", "{name: node, template", 1)
    template = f"{{metadata: {{annotations: {mapping(annotations)}}}, spec: {{replicatedJobs: [{part}]}}}}"
    return f"---\n{HEAD}kind: ClusterTrainingRuntime\nmetadata: {{name: {name}}}\nspec: {{template: {template}}}\n"


def keys(count: int) -> Iterable[str]:
    return islice(map("".join, product(ascii_lowercase, repeat=2)), count)


def many_terms() -> Files:
    terms = ",".join(f"!{key}" for key in keys(249))
    yield jobs(400)
    patch = f"- target: {{labelSelector: '{terms}'}}\n  patch: {{spec: {{suspend: true}}}}\n"
    yield settings(f"patches:\n{patch * 1000}")


def labels() -> Files:
    yield jobs(300)
    yield settings(f"labels: {mapping(20_000)}\n")


def labels_of_environments() -> Files:
    yield jobs(1)
    yield settings(f"labels: {mapping(20_000)}\nenvironments: {{{', '.join(f'e{i}: {{}}' for i in range(90))}}}\n")


def annotations_of_a_runtime() -> Files:
    yield "runtime.yaml", runtime_text(annotations=20_000)
    yield jobs(300, "r")


def jobs_of_one_name() -> Files:
    yield "jobs.yaml", small_job("a") * 3000


def namesakes() -> Files:
    yield "runtimes.yaml", "".join(runtime_text(annotations=index % 2) for index in range(1000))
    yield jobs(1000, "r")


def manifests_of_environments() -> Files:
    yield jobs(1500)
    yield settings(f"environments: {{{', '.join(f'e{i}: {{namespace: n{i}}}' for i in range(100))}}}\n")


def config_map(name: str, text: str, aliases: int) -> str:
    quoted = text.replace("\n", "\\n")
    data = "".join(f"  b{index}: *x\n" for index in range(aliases))
    return f'---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  a: &x "{quoted}"\n{data}'


def a_large_text() -> Files:
    large = f"{HEAD}kind: ClusterTrainingRuntime\nspec: [{', '.join(['{a: b}'] * 20_000)}]\n"
    yield jobs(1)
    yield "config-map.yaml", config_map("c", large, 1000)


def many_texts() -> Files:
    small = f"{HEAD}kind: ClusterTrainingRuntime\nmetadata: {{name: r}}\nspec: {{x: {'y' * 850}}}\n"
    yield jobs(1)
    yield "config-maps.yaml", "".join(config_map(f"c{index}", small, 1000) for index in range(20))


def a_long_name() -> Files:
    yield f"{'a' * 240}.yaml", small_job("a")
    yield settings(f'exclude: ["{"[]a]*" * 6}b"]\n')


def nested_folders() -> Files:
    folders = "/".join(["a" * 40] * 80)
    for index in range(300):
        yield f"{folders}/{index}.yaml", small_job(f"a{index}")
    yield settings("exclude:\n" + "".join(f"- '**/a*/**/b{index}'\n" for index in range(250)))


LISTING = "# Written by trainc; it lists the files that trainc may prune.\n"


def a_large_listing() -> Files:
    yield jobs(1)
    yield ".trainc-outputs", LISTING + "a.yaml\n" * (29 * 2**20 // 7)
    yield ".trainc-runtimes", '{\n  "runtimes": {' + '"a.yaml": "sha256:0",' * (29 * 2**20 // 21)


def many_listings() -> Files:
    yield jobs(1)
    names = "".join(f"{'f' * 40}{index}.yaml\n" for index in range(400))
    for outer, inner in product(range(40), range(40)):
        yield f"d{outer}/d{inner}/.trainc-outputs", LISTING + names
        yield f"d{outer}/d{inner}/.trainc-runtimes", '{\n  "runtimes": {' + names
