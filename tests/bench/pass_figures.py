"""What a decision costs in a large job, with its status as it is written. Nobody else decides so, so there are no peers."""

import json
import subprocess


def measure_pass(launcher, replicas):
    """Milliseconds of processor time of a pass that finds one change: the median of all replicas' starts."""
    if launcher.name != "muster":
        return None
    done = subprocess.run(["build/tests/bench/bench_passes", str(replicas)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["median (us)"] / 1000
