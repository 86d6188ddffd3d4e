"""A rank of MPI: where it runs, and the sum of all ranks' numbers."""

import json
import os
import socket

import mpi4py

# Debian's MPICH 4.0 over TCP alone does not come back from MPI_Finalize; a barrier at the end does as well.
mpi4py.rc.finalize = "OMPI_COMM_WORLD_RANK" in os.environ

from mpi4py import MPI  # noqa: E402

world = MPI.COMM_WORLD
proof = {
    "rank": world.Get_rank(),
    "world": world.Get_size(),
    "host": socket.gethostname(),
    "sum": world.allreduce(world.Get_rank() + 1),
}
# One line from each, gathered: the lines of ranks that print at once are mixed by the launcher.
for one in world.gather(proof) or ():
    print("PROOF " + json.dumps(one), flush=True)
world.Barrier()
