"""Legacy kinds: the training jobs of other operators, each as a TrainJob with a runtime of its own.

Reads    a job that the schema of its kind has admitted; later the plan that the stages make of it.
Returns  the `Framework` of a kind. Its front end returns the TrainJob and the runtime that create the same pods, with
         the moves that lead back to the job's fields, and the losses; `apply` adds the variables of the operator.

A kind's row in `base.kinds` names its framework and the module of this package that has it. Kinds of Training Operator
are rows, too: an `OperatorKind`, in `simple_kinds` or in a module of its own. The others share `own_runtime`.
"""
