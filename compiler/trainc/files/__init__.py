"""The files of a run: the inputs below a root, the excluded files, and the output folder."""
