"""The command line: chooses the model, and turns every ending into an exit code.

0: this worker trained to its end (and, where it is worker 0, the result is within its bound). 1: not; the last event says
why when the cause is known. 2: wrong use.
"""

import argparse
import importlib
import os
import re
import sys

from muster_check.events import Fault, tell

MODELS = {name: f"muster_check.{name}" for name in ("census", "mnist", "mwms", "ps2")}


def read_worker_number():
    """Which worker this is; muster tells each of its processes."""
    text = os.environ.get("WORKER_NUMBER", "0")
    return int(text) if text.isdecimal() else 0


def positive(text):
    number = int(text)
    if not 0 < number <= 1_000_000_000:
        raise argparse.ArgumentTypeError("has to be at least 1")
    return number


def targets(text):
    """A list of servers: grpc://host:2222,grpc://other:2222. A missing grpc:// is put before."""
    found = [target if "://" in target else f"grpc://{target}" for target in text.split(",") if target]
    for target in found or [""]:
        if not re.fullmatch(r"grpc://(\[[^]]+]|[^:/]+):\d{1,5}", target):
            raise argparse.ArgumentTypeError(f"'{target}' is not like grpc://host:2222")
    return found


def read_arguments():
    parser = argparse.ArgumentParser(prog="check.pyz", description="Trains a small model to try distributed TensorFlow.")
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("--sync-replicas", action="store_true", help="each step applies the average of all workers")
    parser.add_argument("--steps", type=positive, help="global steps (default: what the model is known to need)")
    parser.add_argument("--batch-size", type=positive, default=100)
    parser.add_argument("--data-dir", help="read the model's real data from here")
    parser.add_argument("--servers", type=targets, default=[], help="of the cluster: grpc://host:port,…")
    parser.add_argument("--workers", type=positive, default=1)
    parser.add_argument("--ps", type=int, default=0)
    parser.add_argument("--container", default="muster-check", help="where the servers keep this run's variables")
    parser.add_argument("--timeout", type=positive, default=60, help="seconds to wait for another task (default 60)")
    parser.add_argument("--verbose", action="store_true", help="tracebacks, and what TensorFlow has to say")
    arguments = parser.parse_args()
    arguments.worker = read_worker_number()
    return arguments


def main():
    arguments = read_arguments()
    try:
        return importlib.import_module(MODELS[arguments.model]).run(arguments)
    except Fault as fault:
        if arguments.verbose:
            raise
        tell("error", step=fault.step, message=str(fault))
        return 1


if __name__ == "__main__":
    sys.exit(main())
