"""The benchmark's inputs are the same on every machine, and its peers produce the same objects.

No test depends on a measured time.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import imports
import inputs
import instructions
import peers
import pytest
import stages
import works
from purposes import internal
from racing import Clock, Contestant, Lap, Result, race
from run import main, verdict

from trainc import compile
from trainc.pipeline.stages import STAGES

NAMES = inputs.runtime_names(20)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    once, again = (
        inputs.file_of_jobs(tmp_path / name, inputs.jobs(50, NAMES)).read_bytes() for name in ("once", "again")
    )
    assert once == again


def test_a_smaller_set_is_the_start_of_a_larger_one() -> None:
    assert inputs.jobs(100, NAMES[:1])[:10] == inputs.jobs(10, NAMES[:1])


def test_the_inputs_compile_without_diagnostics(tmp_path: Path) -> None:
    runtimes = inputs.folder_of_runtimes(tmp_path / "runtimes", NAMES)
    jobs = inputs.folder_of_jobs(tmp_path / "jobs", inputs.jobs(60, [inputs.BUILT_IN, *NAMES]))
    result = internal(compile([str(jobs), str(runtimes)]))
    assert (result.diagnostics, len(result.jobs), len(result.checked)) == ((), 60, 80)


@pytest.mark.slow
@pytest.mark.parametrize("key", works.WORKS)
def test_a_work_is_done_by_its_contestants(key: str, tmp_path: Path) -> None:
    """Creating a workload compares the objects with those of the installed peers."""
    work = works.WORKS[key].make(tmp_path, min(works.WORKS[key].size, 20))
    with Clock() as clock:
        results = race(clock, 1, work.contestants)
    assert all(len(result.laps) == 1 and result.peak > 1 for result in results)
    assert {contestant.name for contestant in work.contestants} >= named(key) - absent()


def named(key: str) -> set[str]:
    """Return the contestants that a goal compares."""
    return {name for goal in works.GOALS for work, name in filter(None, (goal.measured, goal.reference)) if work == key}


def absent() -> set[str]:
    tools = {works.KUBECTL: ["kubectl"], works.HELM: ["helm", "kubeconform"]}
    return {name for name, needed in tools.items() if None in map(shutil.which, needed)}


@pytest.mark.parametrize("goal", works.GOALS, ids=lambda goal: goal.what)
def test_a_goal_is_about_works_that_are_there(goal: works.Goal) -> None:
    assert {work for work, _ in filter(None, (goal.measured, goal.reference))} <= works.WORKS.keys()


def test_a_command_that_fails_has_no_time() -> None:
    with Clock() as clock, pytest.raises(SystemExit, match="failing failed"):
        clock.lap(Contestant("failing", ["false"]))


def test_the_peak_is_not_that_of_the_process_that_asks() -> None:
    ballast = b"x" * (200 << 20)
    with Clock() as clock:
        assert clock.lap(Contestant("true", ["true"])).kib < len(ballast) >> 11


def result_of(*cpu: float, kib: int = 1024) -> Result:
    """Return runs with these processor seconds and one second of wall time each."""
    return Result(Contestant("", []), [Lap(1, each, kib) for each in cpu])


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        pytest.param(result_of(1, 2, 3), result_of(2, 4, 6), "| 0.50 | 0.50 | 1.00 | 1 of 1 | yes |", id="half of it"),
        pytest.param(result_of(5), result_of(4), "| 1.25 | 1.25 | 1.00 | 1 of 1 | yes |", id="just enough"),
        pytest.param(result_of(6), result_of(4), "| 1.50 | 1.50 | 1.00 | 1 of 1 | no |", id="too much"),
        pytest.param(None, result_of(4), "not measured", id="nobody ran it"),
    ],
)
def test_a_verdict(ours: Result | None, theirs: Result, said: str) -> None:
    goal = works.Goal("", "", 1.25, ("one", "a"), ("one", "b"))
    results = {("one", "a"): ours, ("one", "b"): theirs}
    assert said in verdict(goal, {key: result for key, result in results.items() if result is not None})


def test_a_verdict_of_memory() -> None:
    goal = works.Goal("", "", 1.5, ("one", "a"), ("one", "b"), memory=True)
    results = {("one", "a"): result_of(9, kib=3000), ("one", "b"): result_of(1, kib=1000)}
    assert "| 3.00 |  |  | 3 of 1 | no |" in verdict(goal, results)


@pytest.mark.parametrize(
    ("at_most", "said"),
    [
        pytest.param(1, "| seconds | 1.00 | 1.00 |  |  | 1 | yes |", id="just enough"),
        pytest.param(0.9, "| seconds | 0.90 | 1.00 |  |  | 1 | no |", id="too much"),
    ],
)
def test_a_verdict_in_seconds(at_most: float, said: str) -> None:
    """Wall time counts, which is one second; processor time does not."""
    goal = works.Goal("", "seconds", at_most, ("one", "a"))
    assert said in verdict(goal, {("one", "a"): result_of(0.1, 3, 4)})
    assert "not measured" in verdict(goal, {})


def test_the_limits_in_seconds() -> None:
    limits = {goal.measured: goal.at_most for goal in works.GOALS if goal.reference is None}
    assert limits == {("field", works.EXPLAIN): 0.3, ("errors", works.ERRORS): 2.0}


def test_the_limits_on_processor_time_beside_kubectl() -> None:
    limits = {
        goal.measured: goal.at_most
        for goal in works.GOALS
        if goal.reference and goal.reference[1] == works.KUBECTL and not goal.memory
    }
    assert limits == {
        ("one", works.OURS): 1.0,
        ("hundred", works.OURS): 0.20,
        ("thousand", works.OURS): 0.10,
        ("runtimes", works.OURS): 0.12,
        ("foreign", works.OURS): 0.35,
    }


@pytest.mark.slow
def test_the_page_of_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has the printed text: the machine, the limits, and a table for each workload."""
    page = tmp_path / "results.md"
    monkeypatch.setattr("sys.argv", ["run.py", "--only", "one", "--runs", "1", "--write", str(page)])
    main()
    text = page.read_text()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["# Results", "### One TrainJob on a built-in runtime, cold: 1 runs"]
    assert all(goal.what in text for goal in works.GOALS)
    assert "| trainc build | " in text


JOBSET = {"kind": "JobSet", "metadata": {"name": "a", "namespace": "b"}, "spec": {"replicas": 1}}


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        pytest.param([], "on one side only", id="an object is missing"),
        pytest.param([JOBSET | {"spec": {"replicas": 2}}], "/spec/replicas", id="another value"),
        pytest.param([JOBSET | {"spec": {"replicas": True}}], "/spec/replicas", id="another type"),
        pytest.param([JOBSET | {"spec": {}}], "/spec/replicas", id="a field is missing"),
    ],
)
def test_a_peer_that_gives_something_else_ends_the_run(theirs: list[dict[str, Any]], said: str) -> None:
    key = ("JobSet", "b", "a")
    with pytest.raises(SystemExit, match=said):
        peers.same_objects({key: JOBSET}, dict.fromkeys([key], theirs[0]) if theirs else {}, "kustomize")


def test_a_command_that_warns_is_no_input() -> None:
    with pytest.raises(SystemExit, match="beware"):
        peers.printed(["sh", "-c", "echo beware >&2"])


def test_the_modules_of_a_start_are_seen(tmp_path: Path) -> None:
    file = inputs.file_of_jobs(tmp_path / "job.yaml", inputs.jobs(1))
    seen = imports.imported(["-c", imports.SEEN, peers.TRAINC, "build", str(file)])
    assert {"trainc.cli.build", "trainc.pipeline.stages", "yaml._yaml"} <= seen.keys()


def test_the_stages_of_a_job_have_a_cost_each(tmp_path: Path) -> None:
    runtimes = inputs.folder_of_runtimes(tmp_path / "runtimes", NAMES[:2])
    folder = inputs.folder_of_jobs(tmp_path / "jobs", inputs.jobs(4, NAMES[:2]))
    spent = stages.costs(folder, runtimes)
    assert [stage.__name__ for stage in STAGES] == list(spent)[2:-2]
    assert all(seconds > 0 for seconds in spent.values())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind on the PATH")
def test_the_limits_of_a_project_are_about_the_same_jobs(tmp_path: Path) -> None:
    one, three, check, patched, before = instructions.limits(tmp_path, 30, peers.TRAINC)
    assert before.reference == one.reference == patched.reference
    plain, in_one, with_patches = (
        peers.objects(peers.printed(command)) for command in (one.reference, one.measured, patched.measured)
    )
    assert len(in_one) == len(plain) == len(with_patches) == 30
    assert with_patches != plain
    assert {namespace for _, namespace, _ in in_one} == {"training"}
    for command in (three.reference, three.measured, check.reference, check.measured):
        subprocess.run(command, check=True, capture_output=True)
    counts = [len(list((tmp_path / folder).rglob("*.yaml"))) for folder in ("one", "all")]
    assert counts == [30, 90]


def test_the_limit_of_unused_runtimes(tmp_path: Path) -> None:
    limit = instructions.runtimes_limit(tmp_path, 3)
    done = subprocess.run(limit.measured, check=True, capture_output=True, text=True)
    assert done.stdout == "no problems found: 0 TrainJobs, 3 runtimes, checked with stand-in TrainJobs\n"
    subprocess.run(limit.reference, check=True, capture_output=True)
    assert len(list((tmp_path / "jobs").rglob("*.yaml"))) == 3


def test_the_rows_of_a_project(tmp_path: Path) -> None:
    counts = {"measured": 30, "reference": 20}
    limit = instructions.Limit("a", "b", 1.1, ["measured"], ["reference"])
    heading, _, row = "\n".join(instructions.table([limit], lambda command, _: counts[command[0]], tmp_path)).split(
        "\n"
    )
    assert heading == "| work | compared with | limit | ratio | reached |"
    assert row == "| a | b | 1.10 | 1.500 | no |"


@pytest.mark.slow
def test_instructions_are_counted(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    assert instructions.by_callgrind(["-I", "-S", "-c", "pass"], profile) > 1_000_000
    assert len(instructions.functions(profile, 5)) == 5


def test_another_revision_is_run_by_its_own_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "trainc"
    script.write_text("#!/opt/other/bin/python3\n")
    assert instructions.interpreter(str(script)) == "/opt/other/bin/python3"
    assert instructions.interpreter("-c") == sys.executable
