"""Placing: what the stages report about compiled objects, as diagnostics at source lines.

A stage reports violations and lint findings at fields of the JobSet; here each gets the line of the TrainJob, patch or
runtime that caused it. Loaded when there is something to report.
"""
