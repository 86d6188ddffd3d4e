"""Legacy kinds: the training jobs of other operators, each as a TrainJob with a runtime of its own.

Reads    a job that the schema of its kind has admitted; later the plan that the stages make of it.
Returns  the `Framework` of a kind. Its front end returns the TrainJob and the runtime that create the same pods, with
         the moves that lead back to the job's fields, and the losses; `apply` adds the variables of the operator.

A kind's row in `base.kinds` names its framework and the module of this package that has it. Kinds of Training Operator
are rows, too: an `OperatorKind`, in `simple_kinds` or in a module of its own. The others share `own_runtime`. A JobSet
of the paths is lowered in the same way, by `plain_jobset`.

**A legacy kind**. `<kind>` is the kind in lower case; MxJob is `mlkubejob`, and Volcano's Job `volcanojob`. Choose the
model by the shape of the spec, whatever operator runs it: a map of roles to replicas and a template
(`spec.<name>ReplicaSpecs`) is an `OperatorKind`. Copy from `JAXJOB` in `legacy/simple_kinds.py` for one role, from
`XGBOOSTJOB` there for a lead and workers. For any other shape, and for its own SSH keys or files, copy from
`legacy/mpijob.py`.
1. Add an `OperatorKind` with the key `<kind>` to `legacy/simple_kinds.py` and to `FRAMEWORKS` there. It has the
   roles, the names and `variables`, a function that yields the variables of a group of pods. A list of host names has
   the order of the operator: name its roles (`pods.hosts(WORKER)`), because `pods.roles` has another order. A role
   that `variables` names without a condition needs an error in `rules` if the job lacks it (`xgboost_rules`). A rule,
   a loss or a setting of this kind alone is a function, too; a kind with long functions has a module of its own.
2. Add a `Kind` to `base/kinds.py`, with the framework, its module and the folder of its schema, and to `LEGACY`
   there; add its name to `legacy.kinds` in `schemas/trainc/Settings.json`. Add a release of Training Operator to
   `OPERATOR_KINDS` in `scripts/make_schemas.py`, whose kinds share one pod template, and that of another operator to
   `RELEASES`. Put the YAML of the CRDs from the release's repository into `CRDS_DIR/<release>/`, and run `python
   scripts/make_schemas.py CRDS_DIR`, which leaves the schemas of other releases as they are.
3. Write golden cases `legacy-<case>`, each with a `trainc.yaml` that has `legacy: {kinds: [<Kind>]}`, and
   `tests/unit/test_<kind>.py` (copy from `test_jaxjob.py`; for another API group, pass `version` to `job`). Each
   field needs a move or a loss: `tests/unit/test_legacy_losses.py` finds missing ones. Add its recordings to
   `tests/conformance/data/legacy`, and the kind to `tests/conformance/test_legacy_jobs.py`; a kind without them is an
   exception in `tests/contracts/recipes.py`, as `mlkubejob` is. Describe it in `docs/legacy.md`, with a row for each
   of its losses. Add it to the kinds in `tests/unit/test_kinds.py`; if Kueue manages it, to `LEGACY_INTEGRATIONS` in
   `base/kueue_releases.py` and to `docs/kueue.md`; if `trainc migrate` can replace it, a job to `tests/migration`.
"""
