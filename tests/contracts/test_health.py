"""The health check of JobSets, in a Lua interpreter with only Argo CD's functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from lupa.lua51 import LuaRuntime

ARGOCD = Path(__file__).parents[2] / "integrations" / "argocd"
SCRIPT = (ARGOCD / "health.lua").read_text()
BARE = """
debug.getmetatable("").__index = nil
for _, name in ipairs({"string", "math", "io", "debug", "coroutine", "python", "os"}) do
  _G[name] = nil
end
"""
"""Argo CD provides `package`, the base functions, `table`, and three functions of `os` that no health check needs."""


def health(jobset: dict[str, Any]) -> tuple[str, str]:
    """Return the state and message that Argo CD shows."""
    lua = LuaRuntime(register_eval=False, register_builtins=False, unpack_returned_tuples=True)
    lua.execute(BARE)
    lua.globals().obj = lua.table_from(jobset, recursive=True)
    found = lua.execute(SCRIPT)
    return found.status, found.message


def jobset(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    jobs = [{"name": "launcher", "replicas": 1}, {"name": "node", "replicas": 2}]
    made: dict[str, Any] = {"metadata": {"name": "a"}, "spec": {"replicatedJobs": jobs} | spec}
    return made if status is None else made | {"status": status}


def condition(type: str, message: str = "", *, status: str = "True") -> dict[str, str]:
    return {"type": type, "status": status, "reason": "R", "message": message, "lastTransitionTime": "now"}


def counts(name: str, **counted: Any) -> dict[str, Any]:
    return {"name": name, "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0} | counted


def with_conditions(*conditions: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"restarts": 0, "conditions": list(conditions), "replicatedJobsStatus": [counts("node")]} | more


SUSPENDED = ("Suspended", "spec.suspend is true: the JobSet waits for Kueue or a user to resume it")
WAITING = ("Progressing", "waiting for the JobSet controller")
LIMITED = {"failurePolicy": {"maxRestarts": 3}}
CASES = [
    pytest.param(jobset(), WAITING, id="new"),
    pytest.param(jobset({}), WAITING, id="an empty status"),
    pytest.param(jobset({"restarts": 0}, suspend=False), WAITING, id="nothing counted"),
    pytest.param(jobset(suspend=True), SUSPENDED, id="suspended from the start"),
    pytest.param(
        jobset(with_conditions(condition("Suspended", "jobset is suspended")), suspend=True), SUSPENDED, id="suspended"
    ),
    pytest.param(
        jobset(with_conditions(condition("Suspended", "jobset is resumed", status="False")), suspend=True),
        SUSPENDED,
        id="about to be suspended",
    ),
    pytest.param(
        jobset(with_conditions(condition("Suspended", "jobset is suspended")), suspend=False),
        ("Progressing", "launcher 0/1 ready, node 0/2 ready"),
        id="about to resume",
    ),
    pytest.param(
        jobset(
            {"restarts": 0, "replicatedJobsStatus": [counts("node", ready=1, active=2), counts("launcher", ready=1)]}
        ),
        ("Progressing", "launcher 1/1 ready, node 1/2 ready"),
        id="starting",
    ),
    pytest.param(
        jobset({"restarts": 0, "replicatedJobsStatus": [counts("launcher", succeeded=1), counts("node", failed=1)]}),
        ("Progressing", "launcher succeeded, node 0/2 ready and 1 failed"),
        id="one has succeeded, one has failed and its policy is to come",
    ),
    pytest.param(
        jobset(with_conditions(condition("RestartingJobSet", "applying (first failed job: a-node-0)"), restarts=1)),
        ("Progressing", "applying (first failed job: a-node-0), 1 restart"),
        id="restarting",
    ),
    pytest.param(
        jobset(
            with_conditions(
                condition("RestartingJobSet", "all jobs are ready", status="False"),
                restarts=2,
                restartsCountTowardsMax=1,
                replicatedJobsStatus=[counts("node", ready=2, jobRestarts=[0, 4], jobRestartsCountTowardsMax=[0, 1])],
            ),
            **LIMITED,
        ),
        ("Progressing", "launcher 0/1 ready, node 2/2 ready, 6 restarts (2 of 3 that count)"),
        id="restarted, all together and one alone",
    ),
    pytest.param(
        jobset(with_conditions(condition("Completed", "jobset completed successfully"), terminalState="Completed")),
        ("Healthy", "jobset completed successfully"),
        id="completed",
    ),
    pytest.param(
        jobset({"restarts": 1, "terminalState": "Completed"}, suspend=True),
        ("Healthy", "jobset completed successfully, 1 restart"),
        id="completed, by its terminal state alone",
    ),
    pytest.param(
        jobset(
            with_conditions(
                condition(
                    "Failed", "jobset failed due to reaching max number of restarts (first failed job: a-node-0)"
                ),
                restarts=3,
                restartsCountTowardsMax=3,
                terminalState="Failed",
            ),
            **LIMITED,
        ),
        (
            "Degraded",
            "jobset failed due to reaching max number of restarts (first failed job: a-node-0), "
            "3 restarts (3 of 3 that count)",
        ),
        id="failed",
    ),
    pytest.param(jobset({"terminalState": "Failed"}), ("Degraded", "jobset failed"), id="failed, by its state alone"),
    pytest.param(
        jobset(with_conditions(condition("Failed", status="False"), condition("Completed", status="False"))),
        ("Progressing", "launcher 0/1 ready, node 0/2 ready"),
        id="conditions that are false",
    ),
]


@pytest.mark.parametrize(("jobset", "expected"), CASES)
def test_the_health_of(jobset: dict[str, Any], expected: tuple[str, str]) -> None:
    assert health(jobset) == expected


def test_the_interpreter_has_only_argo_cds_functions() -> None:
    lua = LuaRuntime(register_eval=False, register_builtins=False)
    lua.execute(BARE)
    assert lua.eval("string == nil and io == nil and debug == nil and python == nil and math == nil and table ~= nil")
    assert lua.eval("not pcall(function() return ('a'):rep(2) end)")


def test_the_settings_contain_the_script() -> None:
    settings = yaml.safe_load((ARGOCD / "argocd-cm.yaml").read_text())
    assert settings["metadata"]["name"] == "argocd-cm"
    assert settings["data"] == {"resource.customizations.health.jobset.x-k8s.io_JobSet": SCRIPT}
