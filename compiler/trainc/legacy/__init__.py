"""Legacy kinds: training jobs of Training Operator v1, one module for each kind.

Reads    a job that the schema of its kind has admitted.
Returns  the TrainJob and the runtime that create the same pods, with the moves that lead back to the job's fields, and
         the losses. The framework of the same name in `pipeline/frameworks/` adds the variables.
"""
