"""A process that mpirun starts: print its rank, its host, and variables of its environment."""

import json
import os
import socket
import sys

proof = {"rank": int(os.environ["OMPI_COMM_WORLD_RANK"]), "host": socket.gethostname()}
# One write per line, because processes of several hosts share the launcher's output.
os.write(1, f"PROOF {json.dumps(proof | {name: os.environ.get(name) for name in sys.argv[1:]})}\n".encode())
