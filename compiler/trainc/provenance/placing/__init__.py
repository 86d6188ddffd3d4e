"""Placing: turn what the stages report about compiled objects into diagnostics at source lines.

The stages report violations and lint findings at fields of the JobSet. This package finds the line of the TrainJob,
patch or runtime that caused each one. It is imported only if there is something to report.
"""
