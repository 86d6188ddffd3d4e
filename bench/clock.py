"""Runs commands and says what each took: a process of its own, which stays small.

Reads    a command a line on standard input, its words separated by tabs; the output of the command goes to /dev/null.
Returns  a line each: the exit status, wall seconds, processor seconds of it and its children, and the peak of its
         resident memory in KiB.
Linux counts the memory of the process that starts another as a peak of the new one, too (it is that process until it
executes something else). So nothing may be measured from a process that holds a thousand parsed objects.
"""

from __future__ import annotations

import os
import sys
import time

QUIET = [
    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
]

for line in sys.stdin:
    command = line.rstrip("\n").split("\t")
    started = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=QUIET)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    print(code, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, flush=True)
