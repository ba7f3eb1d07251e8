"""How long a training step takes on the CPU, by who starts the workers and with how many threads each."""

import importlib.util
import os
import re
import sys

from launchers import Muster, Torchrun
from measure import launched, session

FOLDER = os.path.dirname(os.path.abspath(__file__))


class AllCores(Muster):
    """Each worker with as many threads as there are cores, which is what libraries do unless told."""

    name = "a thread for each core"

    def start(self, count, command, folder):
        return ["env", f"OMP_NUM_THREADS={len(os.sched_getaffinity(0))}", *super().start(count, command, folder)]


def torch_launchers(muster):
    torchrun = Torchrun()
    return [Muster(muster), AllCores(muster), torchrun] if torchrun.is_here() else []


def tensorflow_launchers(muster):
    return [Muster(muster), AllCores(muster)] if importlib.util.find_spec("tensorflow") else []


def measure_step(launcher, python, script, workers):
    """Milliseconds, as the median step of worker 0 took."""
    with session() as (folder, stamps):
        command = [python, "-u", os.path.join(FOLDER, script)]
        with launched(launcher.start(workers, command, folder), folder, stamps) as job:
            job.wait()
            with open(job.output, encoding="utf-8") as output:
                said = output.read()
            found = re.search(r"([\d.]+) ms a step", said)
            if not found:
                raise RuntimeError(f"{launcher.name}: no step was told:\n{said}")
            return float(found.group(1))


def measure_torch(launcher, workers):
    return measure_step(launcher, Torchrun.python, "torch_steps.py", workers)


def measure_tensorflow(launcher, workers):
    return measure_step(launcher, sys.executable, "tensorflow_steps.py", workers)
