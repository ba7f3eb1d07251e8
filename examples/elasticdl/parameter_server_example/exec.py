"""Parameter servers: they hold the variables, and each worker trains on its own, as fast as it can.

NUM_WORKERS and TF_CONFIG are in the environment, as ElasticDL's launcher sets them. A parameter server never ends by
itself: the launcher stops it when all workers have ended.
"""

import json
import os
import time

import numpy as np
import tensorflow.compat.v1 as tf

STEPS, BATCH = 300, 64
WEIGHTS = np.array([[2.0], [-3.4], [0.7]], "float32")


def batch(random):
    x = random.normal(size=(BATCH, len(WEIGHTS))).astype("float32")
    return x, x @ WEIGHTS + 4.2


def train(server, cluster, index):
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        x, y = tf.placeholder(tf.float32, [None, len(WEIGHTS)]), tf.placeholder(tf.float32, [None, 1])
        weights = tf.get_variable("weights", [len(WEIGHTS), 1])
        bias = tf.get_variable("bias", [1])
        loss = tf.reduce_mean(tf.square(x @ weights + bias - y))
        training = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=step)
        start, waiting = tf.global_variables_initializer(), tf.report_uninitialized_variables()
    random, last = np.random.default_rng(index), None
    # A worker speaks to the parameter servers alone: it need not wait for others, which may have ended.
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
    with tf.Session(server.target, config=config) as session:
        if index == 0:
            session.run(start)
        while session.run(waiting).size:
            time.sleep(0.2)
        for _ in range(STEPS):
            _, last = session.run([training, loss], dict(zip((x, y), batch(random))))
    print(f"worker {index} of {os.environ['NUM_WORKERS']}: loss {last:.4f}", flush=True)


def main():
    tf.disable_eager_execution()
    config = json.loads(os.environ["TF_CONFIG"])
    cluster, task = tf.train.ClusterSpec(config["cluster"]), config["task"]
    server = tf.train.Server(cluster, job_name=task["type"], task_index=task["index"])
    if task["type"] == "ps":
        server.join()
    train(server, cluster, task["index"])


if __name__ == "__main__":
    main()
