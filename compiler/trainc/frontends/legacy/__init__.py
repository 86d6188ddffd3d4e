"""Legacy kinds: training jobs of Training Operator v1, one module for each kind.

Reads    a job that the schema of its kind has admitted.
Returns  the TrainJob and the runtime that create the same pods, with the moves that lead back to the job's fields, and
         the losses. The framework of the same name in `pipeline/frameworks/` adds the variables.

**A legacy kind**. `<kind>` is the kind in lower case; MxJob is `mlkubejob`, and Volcano's Job `volcanojob`. Copy
from `frontends/legacy/jaxjob.py`, which shows what the kinds of Training Operator share; for a kind of another
operator, copy from `frontends/legacy/mpijob.py`.
1. Write `frontends/legacy/<kind>.py` with `SCHEMA`, `OLDER`, `LOSSES`, `violations` and `lower`, which returns
   moves and losses for all fields: `tests/unit/test_legacy_losses.py` finds missing ones. Add a row with its module
   to `base/kinds.py`, and the kind to `LEGACY` there, and to `legacy.kinds` in `schemas/trainc/Settings.json`. Add
   it to `OPERATOR_KINDS`, or its release to `RELEASES`, in `scripts/make_schemas.py` and generate its schema.
2. Write `pipeline/frameworks/<kind>.py`, which adds the variables. It gets counts, ports and the layout as the
   settings of the runtime, and host names from the plan. `TRAITS.family` is the public framework, with whose policy
   `trainc migrate` tries to replace the jobs. Add `<kind>` to `LEGACY` in `pipeline/frameworks/__init__.py`.
3. Write `tests/unit/test_<kind>.py` and golden cases `legacy-<case>`. Add its recordings to
   `tests/conformance/data/legacy`, and the kind to `tests/conformance/test_legacy_jobs.py`. Describe it in
   `docs/legacy.md`, with a row for each of its losses.
"""
