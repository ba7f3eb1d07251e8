"""What the training scripts of step_figures.py have in common: they take steps, and one worker prints how long."""

import statistics
import time

STEPS = 200
FIRST_STEPS = 20  # not counted


def take(step, is_told):
    times = []
    for _ in range(FIRST_STEPS + STEPS):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    if is_told:
        print(f"{1000 * statistics.median(times[FIRST_STEPS:]):.3f} ms a step", flush=True)
