"""Each process contributes its number plus one to a sum over all devices of all processes."""

import json
import os
import socket

import jax
import jax.numpy as jnp

jax.distributed.initialize(
    coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
    num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
    process_id=int(os.environ["JAX_PROCESS_ID"]),
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
