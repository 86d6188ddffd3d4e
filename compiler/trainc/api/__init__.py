"""The package as programs use it: values and functions that `trainc` exports (docs/python.md).

Each module is a subject: compiling and checking, results, sessions, fixes, positions, and what the commands show.
"""
