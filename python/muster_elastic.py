"""Saves at a step that all workers agree upon, when one of them is asked to end. Optional: copy it beside your script.

    training = muster_elastic.Training()  # after the framework knows its workers
    for step in range(first_step, last_step):
        train()
        if (step + 1) % 100 == 0 or training.must_end():
            save(step + 1)
            training.saved(step + 1)  # exits if a worker was asked to end

PyTorch and JAX are found by themselves; for TensorFlow, pass the tf.distribute strategy. Works without muster, too.
"""

import os
import signal
import sys


class Training:
    def __init__(self, strategy=None):
        self.strategy = strategy
        self.was_asked = self.is_ending = False
        self.stop_file = os.environ.get("MUSTER_STOP_FILE")  # for a library that takes SIGTERM for itself later
        for number in (signal.SIGTERM, signal.SIGINT):  # muster passes on Ctrl-C as SIGINT
            signal.signal(number, self._on_signal)

    def _on_signal(self, number, frame):
        self.was_asked = True

    def must_end(self):
        """Whether a worker was asked to end: the same on all workers, which all have to call it at the same steps."""
        was_asked = self.was_asked or bool(self.stop_file and os.path.exists(self.stop_file))
        self.is_ending = self._is_any(was_asked)
        return self.is_ending

    def saved(self, step):
        """Reports the step of a checkpoint to muster, and exits if a worker was asked to end."""
        path = os.environ.get("MUSTER_PROGRESS_FILE")
        if path:
            with open(path, "w") as file:
                file.write(str(step))
        if self.is_ending:
            sys.exit(128 + signal.SIGTERM)  # 143: saved, and to be started again

    def _is_any(self, flag):
        torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
        if self.strategy:
            import tensorflow as tf
            return bool(self.strategy.reduce("SUM", tf.constant(float(flag)), axis=None) > 0)
        if torch and torch.distributed.is_available() and torch.distributed.is_initialized():
            device = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
            flags = torch.tensor(int(flag), device=device)
            torch.distributed.all_reduce(flags)
            return bool(flags > 0)
        if jax and jax.process_count() > 1:
            from jax.experimental import multihost_utils
            return bool(multihost_utils.process_allgather(flag).any())
        return flag
