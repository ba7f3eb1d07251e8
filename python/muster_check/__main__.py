"""The command line: chooses the model, and turns every ending into an exit code.

0: this worker trained to its end and, where it is worker 0, the result is below its bound. 1: not so; the last event
says why when the cause is known. 2: wrong use.
"""

import argparse
import importlib
import os
import re
import sys
import traceback

from muster_check import membership, watch
from muster_check.events import Fault, tell


def run_on_servers(arguments):
    """A client of servers that exist."""
    return importlib.import_module(f"muster_check.{arguments.model}").run(arguments)


def run_as_member(arguments):
    """A member of a cluster that TF_CONFIG describes and that the members are themselves."""
    member = membership.read()

    def work(happened):
        return told(lambda: importlib.import_module(f"muster_check.{arguments.model}").run(arguments, member, happened))

    return watch.run(arguments.timeout, member.others(), work)


def run_with_torch(arguments):
    """One of the processes of PyTorch, which find each other."""
    return importlib.import_module("muster_check.pytorch").run(arguments)


LARGEST = 1_000_000_000
MODELS = {"census": run_on_servers, "mnist": run_on_servers, "mwms": run_as_member, "ps2": run_as_member,
          "torch": run_with_torch}


def read_worker_number():
    """Which worker this is; muster tells each of its processes."""
    text = os.environ.get("WORKER_NUMBER", "0")
    return int(text) if text.isdecimal() else 0


def number(text, least):
    if not text.isdecimal() or not least <= int(text) <= LARGEST:
        raise argparse.ArgumentTypeError(f"'{text}' is not within {least}..{LARGEST}")
    return int(text)


def positive(text):
    return number(text, 1)


def count(text):
    return number(text, 0)


def container(text):
    if not re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_./-]*", text):  # as TensorFlow has it
        raise argparse.ArgumentTypeError(f"'{text}' is no name of a container")
    return text


def targets(text):
    """A list of servers: grpc://host:2222,grpc://other:2222. A missing grpc:// is put before."""
    found = [target if "://" in target else f"grpc://{target}" for target in text.split(",") if target]
    for target in found or [""]:
        if not re.fullmatch(r"grpc://(\[[^]]+]|[^:/]+):\d{1,5}", target):
            raise argparse.ArgumentTypeError(f"'{target}' is not like grpc://host:2222")
    return found


def read_arguments():
    parser = argparse.ArgumentParser(prog="check.pyz", description="Trains a model to try distributed TensorFlow.")
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("--sync-replicas", action="store_true", help="each step applies the average of all workers")
    parser.add_argument("--steps", type=positive, help="global steps (default: what the model is known to need)")
    parser.add_argument("--batch-size", type=positive, default=100)
    parser.add_argument("--data-dir", help="read the model's real data from here")
    parser.add_argument("--servers", type=targets, default=[], help="of the cluster: grpc://host:port,…")
    parser.add_argument("--workers", type=positive, default=1)
    parser.add_argument("--ps", type=count, default=0)
    parser.add_argument("--container", type=container, default="muster-check",
                        help="where the servers keep this run's variables")
    parser.add_argument("--timeout", type=positive, default=60, help="seconds to wait for another task (default 60)")
    parser.add_argument("--no-training", action="store_true", help="torch: only test what training needs")
    parser.add_argument("--verbose", action="store_true", help="tracebacks, and what TensorFlow has to say")
    arguments = parser.parse_args()
    if MODELS[arguments.model] is run_on_servers and not arguments.servers:
        parser.error(f"{arguments.model} needs --servers")
    arguments.worker = read_worker_number()
    if arguments.worker >= arguments.workers and MODELS[arguments.model] is run_on_servers:
        parser.error(f"worker-{arguments.worker} is none of {arguments.workers}: --workers says how many there are")
    return arguments


def described(error):
    if isinstance(error, Fault):
        return {"step": error.step, "message": str(error)}
    return {"step": "training", "message": f"{sys.executable} cannot use {'PyTorch' if 'torch' in sys.argv else 'TensorFlow'}: {error}"}


def told(work):
    """The exit code of `work`; what it complains of is told."""
    try:
        return work()
    except (Fault, ImportError) as error:
        tell("error", **described(error))
        if "--verbose" in sys.argv:
            traceback.print_exc()
        return 1


def main():
    arguments = read_arguments()
    return told(lambda: MODELS[arguments.model](arguments))


if __name__ == "__main__":
    sys.exit(main())
