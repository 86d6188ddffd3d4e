"""Legacy kinds: the training jobs of other operators, each as a TrainJob with a runtime of its own.

Reads    a job that the schema of its kind has admitted; later the plan that the stages make of it.
Returns  the `Framework` of a kind. Its front end returns the TrainJob and the runtime that create the same pods, with
         the moves that lead back to the job's fields, and the losses; `apply` adds the variables of the operator.

A kind's row in `base.kinds` names its framework and the module of this package that has it. Kinds of Training Operator
are rows, too: an `OperatorKind`, in `simple_kinds` or in a module of its own. The others share `own_runtime`. A JobSet
of the paths is lowered in the same way, by `plain_jobset`.

**A legacy kind**. `<kind>` is the kind in lower case; MxJob is `mlkubejob`, and Volcano's Job `volcanojob`. Choose the
model by the behaviour of the operator: an `OperatorKind` is run as Training Operator runs its kinds. A map of roles has
replicas and a template (`spec.<name>ReplicaSpecs`), the pods get the labels `training.kubeflow.org/*`, a main container
with a fixed name gets a port, and `runPolicy` and the `restartPolicy` of a role apply. Copy from `JAXJOB` in
`legacy/simple_kinds.py` for one role, from `XGBOOSTJOB` there for a lead and workers. For another behaviour or shape,
copy from `legacy/mlkubejob.py`; for SSH keys or files of its own, from `legacy/mpijob.py`.
1. Add an `OperatorKind` with the key `<kind>` to `legacy/simple_kinds.py` and to `FRAMEWORKS` there. It has the
   roles, the names and `variables`, a function that yields the variables of a group of pods. A list of host names has
   the order of the operator: name its roles (`pods.hosts(WORKER)`), because `pods.roles` has another order. A role
   that `variables` names without a condition needs an error in `rules` if the job lacks it (`xgboost_rules`). A rule,
   a loss or a setting of this kind alone is a function, too; a kind with long functions has a module of its own.
   Add the variable with the address of the rendezvous to `ADDRESSES` in `pipeline/training.py`, and its beginning to
   `READERS` there: lint rules tell by it that pods train together.
2. Add a `Kind` to `base/kinds.py`, with the framework, its module and the folder of its schema, and to `LEGACY`
   there. In `schemas/trainc/Settings.json`, add its name to `legacy.kinds`, and its kind to those of a patch's target.
   Add a release of Training Operator to `OPERATOR_KINDS` in `scripts/make_schemas.py`, whose kinds share one pod
   template, and that of another operator to `RELEASES`. Put the YAML of the CRDs from the release's repository into
   `CRDS_DIR/<release>/`, and run `python scripts/make_schemas.py CRDS_DIR`, which leaves the schemas of other releases
   as they are. For an operator whose CRD has no schema, write one by hand with a `$ref` to a pod template, as
   `schemas/mxnet-operator-1beta1/MxJob.json`.
3. Tests: write golden cases `legacy-<case>`, each with a `trainc.yaml` that has `legacy: {kinds: [<Kind>]}`
   (`make golden CASE=legacy-<case>`), and `tests/unit/test_<kind>.py` (copy from `test_jaxjob.py`; for another API
   group, pass `version` to `job`). Each field needs a move or a loss: `tests/unit/test_legacy_losses.py` finds missing
   ones. Add it to `V1` in `tests/unit/test_kinds.py`. Add its recordings to `tests/conformance/data/legacy`, and the
   kind to `tests/conformance/test_legacy_jobs.py`; a kind without them is an exception of `RECORDINGS` in
   `tests/contracts/recipes.py`. If `trainc migrate` can replace it, write a job to
   `tests/migration/<case>/input.yaml`, and run `pytest --snapshot-update tests/migration`.
4. Docs: add it to the table in `docs/legacy.md`, with a row for each loss that only this kind has, and describe it in
   `docs/legacy-other.md`. If Kueue manages it, add it to `LEGACY_INTEGRATIONS` in `base/kueue_releases.py` and to
   `docs/kueue.md`.
"""
