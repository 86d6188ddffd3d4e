"""The stages from a TrainJob to its objects: `stages` lists them in order, and `plan` is the value they pass on.

**A stage**. Copy from `pipeline/passes/deliver.py`. Write `pipeline/passes/<name>.py` with a function of that name,
and add it to `STAGES` in `pipeline/stages.py`.
"""
