"""One step of MultiWorkerMirroredStrategy, which averages the gradients of the workers' own data."""

import json
import socket

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
resolver = strategy.cluster_resolver
with strategy.scope():
    weight = tf.Variable(0.0)


@tf.function
def step(value: tf.Tensor) -> tf.Tensor:
    """Return the weight after one step against the mean gradient of `(weight - value)^2`, 2 * (0 - value)."""

    def replica(own: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = (weight - own) ** 2
        (gradient,) = tape.gradient(loss, [weight])
        mean = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, gradient)
        weight.assign_sub(0.5 * mean)
        return weight.read_value()

    return strategy.run(replica, args=(value,))


# The workers' values are 1 and 3, so only their mean is 2.
after = step(tf.constant(1.0 + 2.0 * resolver.task_id))
proof = {
    "type": resolver.task_type,
    "index": resolver.task_id,
    "replicas": strategy.num_replicas_in_sync,
    "host": socket.gethostname(),
    "weight": float(strategy.experimental_local_results(after)[0]),
}
print("PROOF " + json.dumps(proof), flush=True)
