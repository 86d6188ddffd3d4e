"""The passes: one small file a stage, in the order of `trainc.pipeline.STAGES`."""
