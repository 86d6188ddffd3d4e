"""The rules of the CRD OptimizationJob (x-kubernetes-validations), one function each.

Reads    an object as its schema admitted it, faults included. A rule ignores values of another type than it expects.
Returns  violations. The rules of its template are those of TrainJobs (`cel`).
Source   the CRD of kubeflow/trainer, development branch of 2026-08-21 (8c0f5059).
"""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Any, Final

from trainc.base.declarations import Declaration
from trainc.base.fixes import removal
from trainc.base.kinds import EACH
from trainc.base.trainjob_dialects import TrainJobForm
from trainc.kubernetes.violations import Violation, listed
from trainc.pipeline.checks.cel import CelRule, managed_by, processes_below_one, storage_uri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kubernetes.trees import Path, Tree

SEARCH_SPACE: Final = Declaration("search-space", ("schema",))
PARALLEL_TRIALS: Final = Declaration("parallel-trials", ("schema",))
TRIAL_NAME: Final = Declaration("trial-name", ("schema",), fix="unsafe")

ALGORITHMS: Final = ("random", "grid")
SPACES: Final = ("uniform", "logUniform", "categorical")
TEMPLATE: Final = ("spec", "trainJobTemplate")


def parallel_trials(spec: Any, path: Path) -> Iterator[Violation]:
    """Require at most as many parallel trials as trials."""
    total, parallel = (_field(spec, key) for key in ("numTrials", "parallelTrials"))
    if type(total) is int and type(parallel) is int and parallel > total:
        yield Violation.at(
            (*path, "parallelTrials"),
            PARALLEL_TRIALS,
            f"parallelTrials must be at most numTrials, {total}, not {parallel}",
            f"use {total} or less, or set numTrials to {parallel} or more",
        )


def grid_of_choices(spec: Any, path: Path) -> Iterator[Violation]:
    """Require choices for all parameters of a grid search."""
    parameters = _field(spec, "parameters")
    if not isinstance(parameters, list) or _field(_field(spec, "searchAlgorithm"), "grid") is None:
        return
    for index, parameter in enumerate(parameters):
        space = _field(parameter, "searchSpace")
        if not isinstance(space, dict) or "categorical" in space:
            continue
        if other := next((key for key in SPACES if key in space), ""):
            message = f"a grid search requires categorical for each parameter, not {other}"
            help = "list the values in categorical.choices, or use searchAlgorithm: {random: {}}"
            yield Violation.at(
                (*path, "parameters", index, "searchSpace", other), SEARCH_SPACE, message, help, key=True
            )


def one_algorithm(algorithm: Any, path: Path) -> Iterator[Violation]:
    """Require one algorithm."""
    yield from _one_of(algorithm, path, ALGORITHMS, "searchAlgorithm")


def one_space(space: Any, path: Path) -> Iterator[Violation]:
    """Require one search space."""
    yield from _one_of(space, path, SPACES, "searchSpace")


def ordered_range(space: Any, path: Path) -> Iterator[Violation]:
    """Require a minimum below the maximum, both in the range of a double."""
    least, most = (_number(_field(space, key)) for key in ("min", "max"))
    for key, number in (("min", least), ("max", most)):
        if number is not None and isinf(number):
            message = f"{key} {space[key]} is beyond the range of a double"
            yield Violation.at((*path, key), SEARCH_SPACE, message, "use a number below 1.8e308")
            return
    if least is not None and most is not None and not least < most:
        message = f"min must be less than max, {space['max']}, not {space['min']}"
        yield Violation.at((*path, "min"), SEARCH_SPACE, message, "set a smaller min, or a greater max")


def positive_range(space: Any, path: Path) -> Iterator[Violation]:
    """Require a minimum above zero, of which there is a logarithm."""
    least = _number(_field(space, "min"))
    if least is not None and not least > 0:
        message = f"min of logUniform must be greater than 0, not {space['min']}"
        yield Violation.at((*path, "min"), SEARCH_SPACE, message, "set a min above 0, or use uniform")


def no_name(metadata: Any, path: Path) -> Iterator[Violation]:
    """Reject a name and a namespace: the controller names the trials, in the namespace of the OptimizationJob."""
    for key in ("name", "namespace"):
        if isinstance(metadata, dict) and key in metadata:
            there = (*path, key)
            what = "names the trials" if key == "name" else "creates the trials in its own namespace"
            message = f"trainJobTemplate.metadata must not have a {key}: the OptimizationJob {what}"
            yield Violation.at(there, TRIAL_NAME, message, removal(there), key=True)


def _rule(at: tuple[str, ...], check: Any, digest: str) -> CelRule:
    return CelRule(at, frozenset({digest}), check)


_SPACE: Final = ("spec", "parameters", EACH, "searchSpace")
_DATA: Final = (*TEMPLATE, "spec", "initializer")
RULES: Final = (
    _rule(("spec",), parallel_trials, "6579b6821db4"),
    _rule(("spec",), grid_of_choices, "2d7f7cdee12c"),
    _rule(_SPACE, one_space, "f9e9682e6664"),
    _rule((*_SPACE, "logUniform"), positive_range, "8043232e4170"),
    _rule((*_SPACE, "logUniform"), ordered_range, "bb09e296e91c"),
    _rule((*_SPACE, "uniform"), ordered_range, "bb09e296e91c"),
    _rule(("spec", "searchAlgorithm"), one_algorithm, "77dccae743dd"),
    _rule((*TEMPLATE, "metadata"), no_name, "c1f351d8e0e9"),
    _rule((*_DATA, "dataset", "storageUri"), storage_uri, "8f8719b24ce8"),
    _rule((*_DATA, "model", "storageUri"), storage_uri, "8f8719b24ce8"),
    _rule((*TEMPLATE, "spec", "managedBy"), managed_by, "fd68d6fb21f5"),
    _rule((*TEMPLATE, *TrainJobForm.PROCESSES), processes_below_one, "db79007bd8f7"),
)
"""The rules, in the order of the schema."""


def _field(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _number(text: Any) -> float | None:
    """Return the number of a bound; None if its pattern rejects it."""
    try:
        return float(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _one_of(value: Tree, path: Path, keys: tuple[str, ...], word: str) -> Iterator[Violation]:
    """Require one of some keys."""
    found = [key for key in keys if key in value] if isinstance(value, dict) else [""]
    if len(found) > 1:
        message = f"{word} must have one of {listed(keys, 'or')}, not {listed(found)}"
        yield Violation.at((*path, found[1]), SEARCH_SPACE, message, f"keep {listed(found, 'or')}", key=True)
    elif not found:
        yield Violation.at(path, SEARCH_SPACE, f"{word} must have one of {listed(keys, 'or')}", "add one of them")
