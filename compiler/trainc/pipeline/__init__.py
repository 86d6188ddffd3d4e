"""The stages from a TrainJob to its objects: `stages` lists them in order, and `plan` is the value they pass on."""
