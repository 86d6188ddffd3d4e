"""The passes: one file per stage of `trainc.pipeline.stages.STAGES`."""
