"""The passes: one file per stage of `trainc.pipeline.STAGES`."""
