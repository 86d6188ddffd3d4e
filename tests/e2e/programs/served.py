"""Training with parameter servers: the chief has the workers add to a variable, which a parameter server keeps."""

import json
import socket

import tensorflow as tf

STEPS = 20

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
proof = {
    "type": resolver.task_type,
    "index": resolver.task_id,
    "host": socket.gethostname(),
    "cluster": resolver.cluster_spec().as_dict(),
}
if resolver.task_type == "chief":
    print("connects", flush=True)
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weight = tf.Variable(0.0)

    @tf.function
    def step(value: tf.Tensor) -> tf.Tensor:
        """Add to the weight."""
        return weight.assign_add(value)

    for _ in range(STEPS):
        coordinator.schedule(step, args=(tf.constant(1.0),))
    coordinator.join()
    devices = [weight.device]
    for index in range(resolver.cluster_spec().num_tasks("worker")):
        with tf.device(f"/job:worker/replica:0/task:{index}"):
            devices.append(tf.square(weight).device)
    proof |= {"weight": float(weight.read_value()), "devices": devices}
    print("PROOF " + json.dumps(proof), flush=True)
else:
    server = tf.distribute.Server(
        resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id, protocol="grpc"
    )
    print("PROOF " + json.dumps(proof), flush=True)
    server.join()
