"""Pinning: the runtimes of a cluster as files in a repository, for `trainc runtimes pull` and `import`.

Reads    the answer of kubectl, or a saved answer or rendered chart.
Returns  one clean file per runtime, and the changes to a folder. `kubectl` is the only module of trainc that starts
         kubectl; only these two commands and `trainc diff` load this package.
"""
