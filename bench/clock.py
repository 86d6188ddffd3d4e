"""Run commands and measure them, in a separate small process.

Reads    one command per line of standard input, its words separated by tabs; the command's output goes to /dev/null.
Returns  one line per command: the exit status, wall seconds, processor seconds including children, and the peak of
         resident memory in KiB.
Linux counts the memory of the parent process in the child's peak, because the child is a copy of it until exec. So the
measuring process must not hold the benchmark's parsed objects.
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
