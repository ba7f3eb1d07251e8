"""The TensorFlow server of a process, for parameter_server.py and smoke.py."""

import os
import signal
import time

import tensorflow as tf


def start(resolver):
    cluster = resolver.cluster_spec()
    n_tasks = sum(cluster.num_tasks(job) for job in cluster.jobs)
    # The default, one thread per core, is too few on small machines: each of them may be waiting for another task.
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=max(os.cpu_count(), n_tasks + 1))
    return tf.distribute.Server(cluster, job_name=resolver.task_type, task_index=resolver.task_id, protocol="grpc",
                                config=config)


def serve(server):
    """Until SIGTERM. server.join() would miss it: the kernel drops signals that the first process of a container does not
    handle, and Python runs no handler during join()."""
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(128 + number))
    while True:
        time.sleep(1)
