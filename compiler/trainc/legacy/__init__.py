"""Legacy kinds: the training jobs of other operators, each as a TrainJob with a runtime of its own.

Reads    a job that the schema of its kind has admitted; later the plan that the stages make of it.
Returns  the `Framework` of a kind. Its front end returns the TrainJob and the runtime that create the same pods, with
         the moves that lead back to the job's fields, and the losses; `apply` adds the variables of the operator.

A kind's row in `base.kinds` names its framework and the module of this package that has it. Kinds of Training Operator
are rows, too: an `OperatorKind`, in `simple_kinds` or in a module of its own. The others share `own_runtime`. A JobSet
of the paths is lowered in the same way, by `plain_jobset`.

**A legacy kind**. `<kind>` is the kind in lower case; MxJob is `mlkubejob`, and Volcano's Job `volcanojob`. Copy
from `JAXJOB` in `legacy/simple_kinds.py`; for a kind of another operator than Training Operator, copy from
`legacy/mpijob.py`.
1. Add an `OperatorKind` with the key `<kind>` to `legacy/simple_kinds.py` and to `FRAMEWORKS` there. It has the roles,
   the names and `variables`, a function that yields the variables of a group of pods. A list of host names has the
   order of the operator: name its roles (`pods.hosts(WORKER)`), because `pods.roles` has another order. A rule, a loss
   or a setting of this kind alone is a function, too; a kind with long functions has a module of its own.
2. Add a `Kind` to `base/kinds.py`, with the framework, its module and the folder of its schema, and to `LEGACY` there;
   add its name to `legacy.kinds` in `schemas/trainc/Settings.json`. Add it to `OPERATOR_KINDS`, or its release to
   `RELEASES`, in `scripts/make_schemas.py`, put the CRD at `CRDS_DIR/<release>/<Kind>.json`, with those of the other
   releases, and run `python scripts/make_schemas.py CRDS_DIR`.
3. Write golden cases `legacy-<case>`, each with a `trainc.yaml` that has `legacy: {kinds: [<Kind>]}`, and
   `tests/unit/test_<kind>.py` (copy from `test_jaxjob.py`). Each field needs a move or a loss:
   `tests/unit/test_legacy_losses.py` finds missing ones. Add its recordings to `tests/conformance/data/legacy`, and
   the kind to `tests/conformance/test_legacy_jobs.py`; a kind without them is an exception in
   `tests/contracts/recipes.py`, as `mlkubejob` is. Describe it in `docs/legacy.md`, with a row for each of its losses.
"""
