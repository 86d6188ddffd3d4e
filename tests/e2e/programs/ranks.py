"""An MPI rank: print its host, and the sum of all ranks."""

import json
import os
import socket
import time

import mpi4py

if "OMPI_COMM_WORLD_RANK" in os.environ:
    # Debian's libmpi.so can be that of MPICH.
    os.environ["MPI4PY_MPIABI"] = "openmpi"

# With only TCP, Debian's MPICH 4.0 hangs in MPI_Finalize; use a barrier at the end instead.
mpi4py.rc.finalize = "OMPI_COMM_WORLD_RANK" in os.environ

from mpi4py import MPI  # noqa: E402

world = MPI.COMM_WORLD
proof = {
    "rank": world.Get_rank(),
    "world": world.Get_size(),
    "host": socket.gethostname(),
    "sum": world.allreduce(world.Get_rank() + 1),
}
# Gather one line per rank, because the launcher mixes lines that ranks print at the same time.
for one in world.gather(proof) or ():
    print("PROOF " + json.dumps(one), flush=True)
world.Barrier()
if not mpi4py.rc.finalize:
    # A rank that exits closes its connections, and a rank that is still in the barrier exits 1 then.
    time.sleep(1)
