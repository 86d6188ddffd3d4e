"""The releases of Trainer: their literals, their page, each behaviour's case, and runs for several releases."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from conformance import test_trainer
from conformance.recordings import DATA, UNVALIDATED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from manifests import cluster_runtime, replicated_job, train_job
from running import run

import trainc
from trainc.base.behaviours import BEHAVIOURS, Behaviour
from trainc.base.releases import (
    DEFAULT_RELEASE,
    IDENTITY,
    RELEASES,
    V2_1,
    V2_2,
    V2_3,
    V2_4,
    TrainerRelease,
    find_release,
    release_fault,
)
from trainc.compilation.run import Options
from trainc.kubernetes.structural import load
from trainc.review import review_notes as upgrades
from trainc.review.sides import Side, SideSpec

ROOT = Path(__file__).parents[2]
COMPILER = ROOT / "compiler" / "trainc"
PAGE = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
STEPS = [
    pytest.param(behaviour, old, new, id=f"{old.name}-{behaviour.field}")
    for old, new in pairwise(RELEASES)
    for behaviour in BEHAVIOURS
    if getattr(old, behaviour.field) != getattr(new, behaviour.field)
]
"""Each behaviour of each release that the next release changes."""


@pytest.mark.parametrize(("old", "new"), [*pairwise(RELEASES)], ids=lambda release: release.name)
def test_a_sentence_changes_with_its_value(old: TrainerRelease, new: TrainerRelease) -> None:
    changed = {each.field for each in BEHAVIOURS if getattr(old, each.field) != getattr(new, each.field)}
    assert {each.field for each in BEHAVIOURS if each.sentence(old) != each.sentence(new)} == changed
    assert {each.field for each in BEHAVIOURS if new.name in each.sentences} | {"runtimes"} == changed


def test_every_field_of_a_release_is_a_behaviour() -> None:
    assert [behaviour.field for behaviour in BEHAVIOURS if behaviour.field in IDENTITY] == []
    assert {behaviour.field for behaviour in BEHAVIOURS} | {*IDENTITY} == {*TrainerRelease._fields}
    assert len({behaviour.link for behaviour in BEHAVIOURS}) == len(BEHAVIOURS)


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.field)
def test_the_page_has_a_section(behaviour: Behaviour) -> None:
    section = PAGE.partition(f"\n### {behaviour.title}\n")[2].partition("\n### ")[0]
    assert f"Behavior `{behaviour.field}`; source: " in section


def test_the_tables_of_the_page_are_generated() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/make_releases.py", "--check"], cwd=ROOT, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_each_behaviour_has_its_evidence() -> None:
    kinds = {release.evidence(behaviour.field) for release in RELEASES for behaviour in BEHAVIOURS}
    assert all(re.fullmatch(r"code|notes|source of \d{4}-\d\d-\d\d|assumed as in v\d\.\d", kind) for kind in kinds)
    for release in RELEASES:
        assert release.announced <= {behaviour.field for behaviour in BEHAVIOURS}


def test_the_page_has_no_other_section() -> None:
    _, _, differences = PAGE.partition("\n## Differences\n")
    assert re.findall(r"^### (.*)$", differences, re.MULTILINE) == [behaviour.title for behaviour in BEHAVIOURS]


OF_RELEASES = {"base/releases.py", "base/kueue_releases.py"}
"""The modules that may name releases."""


def test_no_other_module_asks_for_a_version() -> None:
    names = [str(path.relative_to(COMPILER)) for path in sorted(COMPILER.rglob("*.py"))]
    assert {name: found for name in names if name not in OF_RELEASES and (found := versions_in(name))} == {}


def versions_in(module: str) -> list[str]:
    """Return the releases that a module imports or compares."""
    text = (COMPILER / module).read_text(encoding="utf-8")
    if "release" not in text and not re.search(r"2\.[0-9]", text):
        return []
    tree = ast.parse(text)
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "trainc.base.releases"
        for alias in node.names
    ]
    compared = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    return [name for name in imported if re.fullmatch(r"V\d+_\d+", name)] + [
        text for text in compared if re.search(r"release\.(name|tag)\b|[\"']2\.[0-9]", text)
    ]


@pytest.mark.parametrize("name", [release.name for release in RELEASES])
def test_a_release_is_found_by_its_name(name: str) -> None:
    assert find_release(name, DEFAULT_RELEASE).name == name
    assert release_fault(name) is None


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("2.5", "use 2.1, 2.2, 2.3 or 2.4 (from its release notes and its source of 2026-08-21)"),
        ("2.10", "use 2.1, 2.2, 2.3 or 2.4 (from its release notes and its source of 2026-08-21)"),
        ("2.0", "trainc reads documents of Trainer v2.0 for 2.3 and translates them"),
        ("v2", "without v and without a patch release"),
        ("2.2.1", "without v and without a patch release"),
        ("", "use 2.1, 2.2, 2.3 or 2.4 (from its release notes and its source of 2026-08-21)"),
    ],
)
def test_other_names_are_faults(name: str, help: str) -> None:
    fault = release_fault(name)
    assert fault is not None
    assert help in fault[1]


# Mutations: each behaviour, set to the next release's value, makes a case fail.

RECORDED = {
    "2.1-crds": "extra/jax-without-trainer",
    "2.1-dialect": "labels/over-runtime",
    "2.1-coordinator_label": "extra/coordinator-long",
    "2.1-runtimes": "extra/qlora-off",
    "2.1-gang_resources": "gang/volcano",
    "2.1-torch_rules": "torch/reserved-env-nnodes",
    "2.1-torchtune_nodes": "torchtune/llama32-3b-nproc1",
    "2.2-crds": "jobset/failure-policy-restartjob",
    "2.2-rules": "initializers/bad-uri",
    "2.2-runtimes": "extra/qlora-off",
    "2.2-webhook_label": "jobset/replicas-skipped-webhook",
    "2.2-unknown_job": "patches/unknown-job",
    "2.2-resources": "random/r002-torch",
    "2.2-resources_without_policy": "plain/no-policy",
    "2.2-gang_resources": "podgroup/cosched-mpi",
    "2.2-mpi_variables": "mpi/reserved",
    "2.2-ssh_modes": "mpi/command",
    "2.2-hostfile": "extra/mpi-node-replicas",
    "2.2-initializer_mount": "initializers/missing-mount",
    "2.2-torchtune_lora": "torchtune/llama33-70b-lora-multinode",
    "2.2-torchtune_arguments": "torchtune/managed-args",
    "2.2-qlora": "extra/qlora-on",
    "2.2-flux_shared_memory": "flux/lammps-gpu",
    "2.2-flux_command": "flux/runtime-command",
    "2.2-flux_processes": "flux/nproc-zero",
}
"""The recorded case that shows a behaviour: area and name, of the release."""


def team_job(runtime: str, **spec: Any) -> dict[str, Any]:
    return train_job(name="t", runtime=runtime, metadata={"namespace": "ml"}, **spec)


def team_runtime(policy: dict[str, Any], *, name: str = "node", trainer: bool = True) -> dict[str, Any]:
    """Return the runtime `team` with one job."""
    job = replicated_job(name, {"image": "acme/train:1"}, trainer=trainer)
    return cluster_runtime(job, name="team", mlPolicy=policy)


def compiled_for(release: TrainerRelease, *documents: dict[str, Any]) -> trainc.Result:
    """Return documents compiled for a release; unknown fields are dropped."""
    options = Options(settings=UNVALIDATED._replace(release=release))
    return trainc.compile(text=yaml.safe_dump_all(documents), options=options)


def ids(release: TrainerRelease, *documents: dict[str, Any]) -> set[str]:
    """Return the ids of the errors and warnings."""
    return {found.id for found in compiled_for(release, *documents).diagnostics if found.severity != "note"}


def notes(old: TrainerRelease, new: TrainerRelease, *documents: dict[str, Any]) -> str:
    """Return the notes about an upgrade."""
    sides = [
        Side(SideSpec(release.title, (".",)), "compiled", (), (), UNVALIDATED._replace(release=release))
        for release in (old, new)
    ]
    return "\n".join(found.message for found in upgrades.upgrade_notes(*sides))


ELASTIC = {"torch": {"elasticPolicy": {"minNodes": 1, "maxNodes": 2}}}
CLAIMS: dict[str, Any] = {"spec": {"replicatedJobs": [], "volumeClaimPolicies": []}}
RULES = [{"name": "a", "action": "RestartJob"}]
RESTART: dict[str, Any] = {"spec": {"replicatedJobs": [], "failurePolicy": {"rules": RULES}}}
MPI = team_runtime({"mpi": {}}, name="node", trainer=False)
OWN: dict[str, tuple[str, Callable[[TrainerRelease], Any]]] = {
    "2.1-rules": (
        "v2.1.0, manifests/base/crds/trainer.kubeflow.org_trainingruntimes.yaml:612: numNodes with elasticPolicy",
        lambda release: "one-ml-policy" in ids(release, team_runtime({"numNodes": 2, **ELASTIC})),
    ),
    "2.1-jobset": (
        "jobset v0.10.1, api/jobset/v1alpha2/jobset_types.go:97: JobSetSpec has no volumeClaimPolicies",
        lambda release: bool(load("JobSet", release.jobset).admit(CLAIMS).unknown),
    ),
    "2.1-unusable_runtimes": (
        "v2.1.0, pkg/apis/trainer/v1alpha1/trainingruntime_types.go:189: MLPolicySource has torch and mpi",
        lambda release: "runtime-not-found" in ids(release, team_job("jax-distributed-shm")),
    ),
    "2.1-elastic_policy": (
        "v2.1.0, pkg/runtime/framework/plugins/torch/torch.go:97: EnforceMLPolicy reads no elasticPolicy",
        lambda release: "elastic-policy-unread" in ids(release, team_runtime(ELASTIC)),
    ),
    "2.1-immutable": (
        "v2.2.1, pkg/apis/trainer/v1alpha1/trainjob_types.go:109: XValidation self == oldSelf",
        lambda release: "are immutable" in notes(release, V2_2),
    ),
    "2.1-patches_change": (
        "v2.2.1, pkg/runtime/framework/plugins/jobset/jobset.go:181: checkRuntimePatchesImmutability",
        lambda release: "patches can change" in notes(release, V2_2),
    ),
    "2.2-older_dialects": (
        "v2.2.1, pkg/apis/trainer/v1alpha1/trainjob_types.go:102: TrainJobSpec has no podTemplateOverrides",
        lambda release: "unknown-field" in ids(release, team_job("torch-distributed", podTemplateOverrides=[])),
    ),
    "2.2-jobset": (
        "jobset v0.11.1, api/jobset/v1alpha2/jobset_types.go:409: no action RestartJob",
        lambda release: bool(load("JobSet", release.jobset).admit(RESTART).violations),
    ),
    "2.2-jax_trainer": (
        "v2.2.1, pkg/runtime/framework/plugins/jax/jax.go:65: FindPodSetByAncestor is not checked for nil",
        lambda release: (
            "jax-trainer-missing" in ids(release, team_runtime({"jax": {}}, trainer=False), team_job("team"))
        ),
    ),
    "2.2-managed_by": (
        "v2.3.0, pkg/controller/trainjob_controller.go:89: Reconcile returns for another manager",
        lambda release: (
            "managed-by-other" in ids(release, team_job("torch-distributed", managedBy="kueue.x-k8s.io/multikueue"))
        ),
    ),
    "2.2-runtime_read": (
        "v2.3.0, pkg/runtime/core/snapshot.go:41: getRuntimeSnapshot",
        lambda release: "keeps the runtime of its creation" in notes(release, V2_3),
    ),
    "2.2-runtime_deletion": (
        "v2.2.1, pkg/controller/clustertrainingruntime_controller.go:85: the finalizer",
        lambda release: "in use can be deleted" in notes(release, V2_3),
    ),
    "2.1-removed_jobset": (
        "v2.2.1, pkg/controller/trainjob_controller.go:122: no objects are created for a finished TrainJob",
        lambda release: "a failed JobSet that its time to live removes" in notes(release, V2_2),
    ),
    "2.3-removed_jobset": (
        "development branch of 2026-08-21: the condition Failed is not removed, kubeflow/trainer#3891",
        lambda release: "removes is not created again" in notes(release, V2_4),
    ),
    "2.3-rules": (
        "release notes of v2.4.0, kubeflow/trainer#3809",
        lambda release: "minimum-count" in ids(release, team_job("torch-distributed", trainer={"numProcPerNode": 0})),
    ),
    "2.3-runtimes": (
        "release notes of v2.4.0: the tag",
        lambda release: ":v2.3.0" in str(compiled_for(release, team_job("xgboost-distributed")).objects),
    ),
    "2.3-job_names": (
        "release notes of v2.4.0, kubeflow/trainer#4394",
        lambda release: "runtime-job-name" in ids(release, team_runtime({"torch": {}}, name="nodes-of-the-training")),
    ),
    "2.3-optimization_jobs": (
        "development branch of 2026-08-21, manifests/base/crds/trainer.kubeflow.org_optimizationjobs.yaml",
        lambda release: "unserved-kind" in ids(release, {**team_job("team"), "kind": "OptimizationJob"}),
    ),
    "2.3-mpi_image": (
        "release notes of v2.4.0, kubeflow/trainer#4301",
        lambda release: (
            "acme/own:1" in str(compiled_for(release, MPI, team_job("team", trainer={"image": "acme/own:1"})).objects)
        ),
    ),
    "2.3-mpi_variables": (
        "release notes of v2.4.0, kubeflow/trainer#4029",
        lambda release: (
            "reserved-env" in ids(release, MPI, team_job("team", trainer={"env": [{"name": "PRTE_MCA_plm_ssh_args"}]}))
        ),
    ),
    "2.3-flux_processes": (
        "development branch of 2026-08-21: the plugin flux has no check of its own",
        lambda release: (
            "flux-process-count"
            in ids(release, team_runtime({"flux": {}}), team_job("team", trainer={"numProcPerNode": 0}))
        ),
    ),
    "2.3-mpi_resume": (
        "release notes of v2.4.0, kubeflow/trainer#4029",
        lambda release: "do not resume" in notes(release, V2_4),
    ),
}
"""The cases of behaviours that no recorded answer shows: the line of the source, and what the release answers."""


def test_every_behaviour_has_a_case() -> None:
    assert {*RECORDED} | {*OWN} == {str(step.id) for step in STEPS}
    assert {*RECORDED}.isdisjoint(OWN)


@pytest.mark.parametrize(("behaviour", "old", "new"), STEPS)
def test_a_mutation_is_noticed(
    behaviour: Behaviour, old: TrainerRelease, new: TrainerRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutated = old._replace(**{behaviour.field: getattr(new, behaviour.field)})
    key = f"{old.name}-{behaviour.field}"
    if key in OWN:
        answers = OWN[key][1]
        assert answers(old) != answers(mutated)
        return
    case = DATA / "targets" / old.tag / f"{RECORDED[key]}.yaml"
    test_trainer.compare(case)
    monkeypatch.setattr(test_trainer, "release_of", lambda _: mutated)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_trainer.compare(case)


# Runs for several releases in one process.

INTERLEAVED = [
    *((DATA / "targets" / "v2.2.1" / f"{name}.yaml") for name in ("plain/no-policy", "mpi/command", "flux/nproc-zero")),
    *((DATA / "targets" / "v2.1.0" / f"{name}.yaml") for name in ("labels/over-runtime", "gang/volcano")),
    ROOT / "golden" / "llm-finetune-4x8" / "input.yaml",
]
RUNS = [(path, release) for path in INTERLEAVED for release in RELEASES]
_ALONE: dict[int, Any] = {}


def answer(path: Path, release: TrainerRelease) -> Any:
    """Return the objects and the diagnostics of a run."""
    found = trainc.compile([str(path)], options=Options(settings=UNVALIDATED._replace(release=release)))
    return trainc.render(found.objects), [str(diagnostic) for diagnostic in found.diagnostics]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, len(RUNS) - 1), min_size=2, max_size=8))
def test_interleaved_releases_give_what_each_gives_alone(order: list[int]) -> None:
    for index in order:
        found = answer(*RUNS[index])
        assert _ALONE.setdefault(index, found) == found


def test_releases_differ() -> None:
    answers = {release.name: answer(INTERLEAVED[1], release) for release in RELEASES}
    assert len({text for text, _ in answers.values()}) > 1


def test_a_number_is_read_as_it_is_written(empty_folder: Path) -> None:
    (empty_folder / "job.yaml").write_text(yaml.safe_dump(team_job("xgboost-distributed")))
    (empty_folder / "trainc.yaml").write_text("trainerVersion: 2.2\n")
    assert ":v2.2.1" in str(trainc.compile().objects)
    (empty_folder / "trainc.yaml").write_text("trainerVersion: 2.20\n")
    (found,) = trainc.compile().diagnostics
    assert found.message == '"2.20" is not a release of Trainer that trainc compiles for'


def test_the_argument_of_compile(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(team_job("xgboost-distributed")))
    assert ":v2.2.1" in str(trainc.compile(tmp_path, trainer_version="2.2").objects)
    with pytest.raises(ValueError, match="trainer_version"):
        trainc.compile(tmp_path, trainer_version="2.5")


PATCHED = team_job("team", runtimePatches=[{"manager": "example.com/a", "trainingRuntimeSpec": {"template": {}}}])


def test_a_newer_document_is_refused_or_pruned() -> None:
    documents = (team_runtime({"torch": {}}), PATCHED)
    strict = trainc.compile(text=yaml.safe_dump_all(documents), trainer_version="2.1")
    (error,) = (found for found in strict.diagnostics if found.severity == "error")
    assert error.help == "Trainer v2.1 drops runtimePatches: write podTemplateOverrides, or set trainerVersion"
    pruned = compiled_for(V2_1, *documents)
    assert [found.message for found in pruned.diagnostics if found.id == "unknown-field"] == [
        "unknown field spec.runtimePatches in TrainJob; it is dropped"
    ]
    assert pruned.objects


def test_an_older_document_is_translated_since_2_3() -> None:
    older = team_job(
        "team", podTemplateOverrides=[{"targetJobs": [{"name": "node"}], "spec": {"nodeSelector": {"a": "b"}}}]
    )
    texts = {
        release.name: str(compiled_for(release, team_runtime({"torch": {}}), older).objects) for release in RELEASES
    }
    assert {name for name, text in texts.items() if "'nodeSelector': {'a': 'b'}" in text} == {"2.1", "2.3", "2.4"}


def test_a_trainjob_without_spec_is_no_v2_1_job() -> None:
    document = {key: value for key, value in team_job("team").items() if key != "spec"}
    assert compiled_for(V2_1, team_runtime({"torch": {}}), document).failed


def test_the_runtimes_of_trainc_are_those_that_a_release_admits() -> None:
    own = sorted((ROOT / "runtimes").glob("*.yaml"))
    for release in RELEASES:
        options = Options(settings=UNVALIDATED._replace(release=release, field_validation="strict"))
        rejected = {path.stem for path in own if trainc.compile([str(path)], options=options).failed}
        assert rejected == release.unusable_runtimes


@pytest.mark.parametrize("path", sorted((ROOT / "runtimes").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_runtime_of_trainc_states_its_oldest_release(path: Path) -> None:
    oldest = next(release for release in RELEASES if path.stem not in release.unusable_runtimes)
    assert f"# Works with Trainer v{oldest.name} and later.\n" in path.read_text()


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_the_installed_runtimes_have_the_tag(release: TrainerRelease) -> None:
    folder = ROOT / "runtimes" / release.runtimes
    texts = "".join(path.read_text() for path in folder.iterdir())
    assert set(re.findall(r"ghcr\.io/kubeflow/trainer/[a-z-]+(?::(\S+))?", texts)) == {release.tag}
    assert len([*folder.iterdir()]) == (7 if release is V2_1 else 9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('trainerVersion: "2.0"', '"2.0" is not a release of Trainer', id="an old one"),
        pytest.param("trainerVersion: v2", '"v2" is not a release of Trainer', id="a major one"),
        pytest.param("trainerVersion: [2.2]", '"" is not a release of Trainer', id="a list"),
        pytest.param("environments: {a: {trainerVersion: 2.9}}", '"2.9" is not a release', id="in an environment"),
        pytest.param(
            "trainerVersion: 2.2\nenvironments: {a: {namespace: x}, b: {namespace: z, trainerVersion: 2.3}}",
            "the environments a and b of one cluster have different values of trainerVersion: 2.2 and 2.3",
            id="one cluster",
        ),
        pytest.param(
            "environments: {a: {cluster: x, trainerVersion: 2.1}, b: {cluster: x}}",
            'the environments a and b of cluster "x" have different values of trainerVersion: 2.1 and 2.3',
            id="one named cluster",
        ),
    ],
)
def test_a_wrong_setting(text: str, message: str, empty_folder: Path) -> None:
    (empty_folder / "trainc.yaml").write_text(f"{text}\n")
    (empty_folder / "job.yaml").write_text(yaml.safe_dump(team_job("plain")))
    (found,) = (each for each in json.loads(run("validate", "--format", "json").out) if each["severity"] == "error")
    assert found["id"] == "cluster-version"
    assert found["message"].startswith(message)


def test_clusters_may_have_different_releases(empty_folder: Path) -> None:
    (empty_folder / "trainc.yaml").write_text(
        "environments: {a: {cluster: x, trainerVersion: 2.1}, b: {cluster: z, trainerVersion: 2.2}}\n"
    )
    (empty_folder / "job.yaml").write_text(yaml.safe_dump(team_job("deepspeed-distributed")))
    assert run("build", "-o", "out").code == 0
    assert ":v2.1.0" in (empty_folder / "out" / "a" / "ml" / "t.yaml").read_text()
    assert ":v2.2.1" in (empty_folder / "out" / "b" / "ml" / "t.yaml").read_text()


def test_upgrade_refuses_a_release_without_patches(empty_folder: Path) -> None:
    older = team_job("plain", podTemplateOverrides=[])
    (empty_folder / "job.yaml").write_text(yaml.safe_dump(older))
    done = run("upgrade", "--diff", "--trainer-version", "2.1")
    assert done.code == 1
    assert "Trainer v2.1 has no runtimePatches: its clusters drop what an upgrade writes" in done.err
    assert run("upgrade", "--diff", "--trainer-version", "2.2").code == 0


@pytest.mark.parametrize("words", [("2.5..2.3",), ("2.2..2.9",), ("2.2...2.3",), ("latest",)])
def test_a_wrong_range(words: tuple[str, ...]) -> None:
    assert run("diff", "--trainer-version", *words).code == 2


def test_a_range_needs_one_tree(empty_folder: Path) -> None:
    assert "give only paths" in run("diff", "--trainer-version", "2.2..", "main").err
    (empty_folder / "job.yaml").write_text(yaml.safe_dump(team_job("xgboost-distributed")))
    done = run("diff", "--trainer-version", "2.2..", "job.yaml")
    assert done.out.startswith("Trainer v2.2 -> Trainer v2.4\n1 to change")


@pytest.mark.parametrize("form", ["text", "markdown", "json", "html"])
def test_every_format_links_the_behavior(form: str, empty_folder: Path) -> None:
    (empty_folder / "job.yaml").write_text(yaml.safe_dump(team_job("deepspeed-distributed", trainer={"numNodes": 2})))
    done = run("diff", "--trainer-version", "2.2..2.3", "job.yaml", "--format", form)
    assert done.code == 0
    assert "docs/releases.md#modes-of-ssh-keys" in done.out


def test_a_runtime_of_a_later_release_is_not_exported() -> None:
    done = run("runtimes", "export", "jax-distributed", "--trainer-version", "2.1")
    assert (done.code, done.err.splitlines()[-1]) == (2, 'Error: Runtime "jax-distributed" exists since Trainer v2.2.')
