"""Kueue: can its queues ever admit the compiled JobSets?

The package is imported only if the given paths have objects of Kueue, or priority classes.

Reads    the compiled TrainJobs, and the documents of other kinds in the given paths.
Returns  diagnostics: invalid queues, JobSets that are never admitted, references to objects that do not exist.
Source   Kueue v0.19 with its default settings.
"""
