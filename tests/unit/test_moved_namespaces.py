"""Which namespaces move depends on the settings only, and no environment writes or deletes an object of another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import two_environments
import yaml
from batches import examples
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from running import run

from trainc.compilation import compile_paths, duplicates
from trainc.compilation.environment_runs import EnvironmentRun, runs, selected
from trainc.compilation.run import BUILD, Options, start
from trainc.compilation.shared_objects import WrittenObject, shared_objects, written_objects
from trainc.diagnostics import Diagnostic
from trainc.emit.yaml import render

Tree = dict[str, Any]
Id = tuple[str, str, str]

GENERATED = examples(
    int(os.environ.get("EXAMPLES", "60")),
    derandomize="EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
    database=None,
)


class PruningTool:
    """A tool that applies the objects of an environment and deletes its others, as Argo CD and Flux do."""

    def __init__(self) -> None:
        self.live: dict[Id, str] = {}
        """The objects of the cluster, each with the environment that applied it last."""
        self.deleted: list[tuple[str, Id]] = []

    def apply(self, environment: str, objects: list[Tree]) -> None:
        """Apply the objects of an environment, and prune."""
        applied = {_id(tree) for tree in objects}
        for id, owner in list(self.live.items()):
            if owner == environment and id not in applied:
                del self.live[id]
                self.deleted.append((environment, id))
        self.live |= dict.fromkeys(applied, environment)


def _id(tree: Tree) -> Id:
    return tree["kind"], tree["metadata"].get("namespace", ""), tree["metadata"]["name"]


@pytest.mark.parametrize("remove", ["delete", "exclude"])
def test_nothing_of_another_environment_is_pruned(empty_folder: Path, remove: str) -> None:
    two_environments.write_teams(empty_folder, "nlp", "vis")
    tool = PruningTool()
    for environment, objects in two_environments.rendered(empty_folder).items():
        tool.apply(environment, objects)
    everything = dict(tool.live)
    if remove == "delete":
        (empty_folder / "nlp-job.yaml").unlink()
    else:
        two_environments.exclude_job(empty_folder, "nlp")
    for environment, objects in two_environments.rendered(empty_folder).items():
        tool.apply(environment, objects)
    gone = [("dev", ("JobSet", "nlp-dev", "train")), ("prod", ("JobSet", "nlp", "train"))]
    assert tool.deleted == (gone if remove == "delete" else gone[:1])
    assert tool.live == {id: owner for id, owner in everything.items() if (owner, id) not in tool.deleted}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", 'error[shared-object]: the environments dev and prod write the same PersistentVolumeClaim "nlp/data"'),
        ("shared: [{kind: PersistentVolumeClaim}]", ""),
        ("cluster: a", "error[shared-object]"),
    ],
)
def test_a_copied_document_that_two_environments_write(empty_folder: Path, more: str, expected: str) -> None:
    two_environments.write_teams(empty_folder, "nlp")
    (empty_folder / "nlp-job.yaml").unlink()
    claim = two_environments.OBJECTS.format(team="nlp").split("---\n")[1]
    (empty_folder / "nlp.yaml").write_text(claim)
    (empty_folder / "trainc.yaml").write_text(f"passthrough: true\n{more}\nenvironments: {{dev: {{}}, prod: {{}}}}\n")
    done = run("validate")
    assert done.code == bool(expected)
    assert expected in done.out
    assert ("nlp.yaml:3:18: the PersistentVolumeClaim in both environments" in done.out) == bool(expected)
    assert ("error[shared-object]" in run("build", "-o", "rendered").err) == bool(expected)


def test_a_shared_object_with_two_contents(empty_folder: Path) -> None:
    two_environments.write_teams(empty_folder, "nlp")
    for name, value in (("a", "1"), ("b", "true")):
        text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: ca, namespace: nlp}}\ndata: {{key: {value}}}\n"
        (empty_folder / f"{name}.yaml").write_text(text)
    (empty_folder / "trainc.yaml").write_text(
        "passthrough: true\nshared: [{kind: ConfigMap}]\n"
        "environments: {dev: {namespaceSuffix: -dev, exclude: [a.yaml]}, prod: {exclude: [b.yaml]}}\n"
    )
    out = run("validate").out
    assert 'write the same ConfigMap "nlp/ca", which `shared` names, but not the same content\n' in out
    assert "b.yaml:3:18: the ConfigMap in dev\n" in out
    assert "a.yaml:3:18: the ConfigMap in prod\n" in out


@pytest.mark.parametrize("with_job", [False, True])
@pytest.mark.parametrize(
    "document",
    [
        "kind: ConfigMap\nmetadata: {name: a, namespace: LONG}\n",
        "kind: Namespace\nmetadata: {name: LONG}\n",
        "kind: Pod\nmetadata: {name: a, namespace: ml}\nspec: {affinity: {podAffinity: {"
        "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaces: [LONG]}]}}}\n",
    ],
)
def test_a_suffix_makes_the_namespace_of_a_copied_document_too_long(
    empty_folder: Path, document: str, with_job: bool
) -> None:
    for length, errors in ((59, 0), (60, 1)):
        team = "n" * length
        (empty_folder / "other.yaml").write_text(f"apiVersion: v1\n{document.replace('LONG', team)}")
        if with_job:
            (empty_folder / "job.yaml").write_text(two_environments.JOB.format(team=team))
        (empty_folder / "trainc.yaml").write_text(two_environments.SETTINGS)
        for done in (run("validate"), run("build")):
            assert (done.code, (done.out + done.err).count("error[invalid-namespace]")) == (errors, errors)


TEAMS = ("nlp", "vis", "platform")
CLUSTER_SCOPED = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {team}}}
spec: {{namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {team}}}}}}}
"""
moves: st.SearchStrategy[Tree] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"namespaceSuffix": st.sampled_from(["-a", "-b"])}),
    st.fixed_dictionaries({"namespacePrefix": st.sampled_from(["a-", "b-"])}),
    st.fixed_dictionaries(
        {"namespace": st.dictionaries(st.sampled_from(TEAMS), st.sampled_from([*TEAMS, "x", "y"]), min_size=1)}
    ),
)
files = [f"{team}-{part}.yaml" for team in TEAMS for part in ("job", "objects", "queue")]
environments = st.builds(
    lambda moved, rest: moved | {key: value for key, value in rest.items() if value is not None},
    moves,
    st.fixed_dictionaries(
        {
            "cluster": st.sampled_from([None, None, "lab"]),
            "exclude": st.lists(st.sampled_from(files), max_size=3, unique=True),
            "passthrough": st.sampled_from([True, True, ["*-objects.yaml"], False]),
        }
    ),
)
shared = st.lists(
    st.sampled_from([{"namespace": "platform"}, {"kind": "ClusterQueue"}, {"kind": "RoleBinding", "name": "run"}]),
    max_size=2,
    unique_by=str,
)
projects = st.fixed_dictionaries(
    {
        "shared": shared,
        "environments": st.lists(environments, min_size=2, max_size=4).map(
            lambda listed: {f"e{number}": each for number, each in enumerate(listed)}
        ),
    }
)


def runs_without(project: Tree, removed: set[str]) -> tuple[EnvironmentRun, ...]:
    """Return the runs of a generated project in the current folder without some of its files."""
    Path("trainc.yaml").write_text(yaml.safe_dump(project))
    for name in files:
        team, part = name.removesuffix(".yaml").split("-")
        texts = {"job": two_environments.JOB, "objects": two_environments.OBJECTS, "queue": CLUSTER_SCOPED}
        Path(name).unlink(missing_ok=True)
        if name not in removed:
            Path(name).write_text(texts[part].format(team=team))
    options = start(Options(), BUILD).with_project(["."])
    chosen = selected(options)
    assert not isinstance(chosen, Diagnostic)
    return runs([chosen], lambda each: compile_paths(["."], each))


def written(compiled_runs: tuple[EnvironmentRun, ...]) -> Iterator[WrittenObject]:
    """Yield the objects of all environments."""
    for each in compiled_runs:
        yield from written_objects(each)


def namespaces(compiled_runs: tuple[EnvironmentRun, ...]) -> dict[tuple[str, str, str, str], str]:
    """Return the rendered namespace of each object, by environment, file, kind and name in the file."""
    return {
        (each.writer.name, each.document.file, each.id.kind, each.document.unedited["metadata"]["name"]): (
            each.id.namespace or each.id.name
        )
        for each in written(compiled_runs)
    }


@pytest.fixture(scope="module")
def in_folder() -> Callable[[Callable[[], None]], None]:
    """Return a function that calls another in an empty repository."""

    def call(test: Callable[[], None]) -> None:
        with TemporaryDirectory() as folder, chdir(folder):
            Path(".git").mkdir()
            test()

    return call


@GENERATED
@given(projects, st.sets(st.sampled_from([name for name in files if "job" in name])))
def test_what_moves_does_not_depend_on_the_jobs(
    in_folder: Callable[[Callable[[], None]], None], project: Tree, removed: set[str]
) -> None:
    def test() -> None:
        whole, rest = namespaces(runs_without(project, set())), namespaces(runs_without(project, removed))
        # A removed job may have been an error: a duplicate in its new namespace.
        assert {key: rest[key] for key in rest.keys() & whole.keys()} == {
            key: value for key, value in whole.items() if key[1] not in removed
        }

    in_folder(test)


@GENERATED
@given(projects)
def test_no_object_has_two_contents_in_a_cluster(
    in_folder: Callable[[Callable[[], None]], None], project: Tree
) -> None:
    def test() -> None:
        found = runs_without(project, set())
        assume(not any(list(duplicates(each.result, each.result.copied)) or each.result.failed for each in found))
        contents: dict[tuple[str, Id], set[str]] = {}
        named: dict[tuple[str, Id], set[bool]] = {}
        writers: dict[tuple[str, Id], set[str]] = {}
        for each in written(found):
            key = each.writer.cluster, _id(each.tree)
            contents.setdefault(key, set()).add(render([each.tree]))
            writers.setdefault(key, set()).add(each.writer.name)
            named.setdefault(key, set()).add(each.is_shared)
        conflicts = [
            key for key, names in writers.items() if len(names) > 1 and (len(contents[key]) > 1 or named[key] != {True})
        ]
        assert bool(list(shared_objects(written(found)))) == bool(conflicts)

    in_folder(test)
