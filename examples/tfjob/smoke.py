"""Tests a cluster: every replica multiplies matrices on every device of all replicas.

    muster run --chief -w 1 --ps 1 examples/tfjob/smoke.py

The chief exits with 0 after all replicas have reported success. Needs only TensorFlow.
"""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # before TensorFlow is imported

import numpy as np
import tensorflow as tf

import servers

SIZE = 200
PATIENCE = 60  # seconds


def run(session, *arguments):
    """A server that could not reach another one, which was not up yet, refuses for some seconds to try again."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return session.run(*arguments)
        except tf.errors.UnavailableError:
            if time.monotonic() > end:
                raise
            time.sleep(1)


def use(session, device):
    """Whole numbers of this size are exact in the formats of all devices. Being fed, they are multiplied on the device."""
    left, right = np.random.default_rng(1).integers(0, 8, (2, SIZE, SIZE)).astype(np.float32)
    with tf.device(device):
        inputs = [tf.compat.v1.placeholder(tf.float32, (SIZE, SIZE)) for _ in range(2)]
        product = tf.matmul(*inputs)
    if not np.array_equal(run(session, product, dict(zip(inputs, (left, right)))), left @ right):
        sys.exit(f"{device}: the product is wrong")
    print(f"{device}: the product is right", flush=True)


def main():
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    cluster = resolver.cluster_spec()
    n_replicas = sum(cluster.num_tasks(job) for job in cluster.jobs)
    server = servers.start(resolver)
    with tf.Graph().as_default(), tf.compat.v1.Session(server.target) as session:
        devices = [device.name for device in session.list_devices()  # waits for all replicas
                   if device.device_type in ("CPU", "GPU")]
        for device in devices:
            use(session, device)
        with tf.device("/job:chief/task:0"):
            reports = tf.queue.FIFOQueue(n_replicas, tf.string, shapes=(), shared_name="reports")
        run(session, reports.enqueue(f"{resolver.task_type}-{resolver.task_id} has used {len(devices)} devices"))
        if resolver.task_type == "chief":
            report = reports.dequeue()
            for _ in range(n_replicas):
                print(run(session, report).decode(), flush=True)
            return
    servers.serve(server)  # others may not have used the devices of this replica yet


if __name__ == "__main__":
    main()
