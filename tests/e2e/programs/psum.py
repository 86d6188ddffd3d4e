"""Each process contributes its number plus one to a sum over all devices of all processes."""

import json
import os
import socket

import jax
import jax.numpy as jnp

PREFIX = "JAX_" if "JAX_PROCESS_ID" in os.environ else ""
"""A JAXJob has the variables of a TrainJob without the prefix, and the port in one of its own."""

address = os.environ[f"{PREFIX}COORDINATOR_ADDRESS"]
print(f"connects to {address}", flush=True)
jax.distributed.initialize(
    coordinator_address=address if PREFIX else f"{address}:{os.environ['COORDINATOR_PORT']}",
    num_processes=int(os.environ[f"{PREFIX}NUM_PROCESSES"]),
    process_id=int(os.environ[f"{PREFIX}PROCESS_ID"]),
)
total = jax.pmap(lambda value: jax.lax.psum(value, "all"), axis_name="all")(jnp.array([jax.process_index() + 1.0]))
proof = {
    "process": jax.process_index(),
    "processes": jax.process_count(),
    "devices": jax.device_count(),
    "host": socket.gethostname(),
    "sum": float(total[0]),
}
print("PROOF " + json.dumps(proof), flush=True)
