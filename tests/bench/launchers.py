"""The launchers that are compared: how each of them starts N copies of one command.

Every one is asked for what it does best: the peers keep their quickest settings, and each that is
not installed is left out.
"""

import os
import shlex
import shutil
import subprocess


class Launcher:
    """One way to start `count` workers."""

    name = ""
    restarts = False  # can start all workers again when one is lost
    merges_lines = False  # prints the lines of all workers, marked by worker

    def is_here(self):
        return shutil.which(self.name) is not None

    def start(self, count, command, folder):
        """The argument list that starts `count` times `command`; `folder` is for its files."""
        raise NotImplementedError

    def start_restarting(self, count, command, folder):
        raise NotImplementedError

    def start_logging(self, count, command, folder):
        """Like start, with merged and marked lines on stdout."""
        return self.start(count, command, folder)


class Muster(Launcher):
    name = "muster"
    restarts = True
    merges_lines = True

    def __init__(self, program):
        self.program = program

    def is_here(self):
        return os.access(self.program, os.X_OK)

    def start(self, count, command, folder):
        return [self.program, "run", "-w", str(count), "--", *command]

    def start_restarting(self, count, command, folder):
        return [self.program, "run", "-w", str(count), "--max-restarts", "1", "--", *command]


class MusterBefore(Muster):
    """An earlier build, as a peer."""

    name = "before"

    def is_here(self):
        return bool(self.program) and super().is_here()


class TwoStreams(Muster):
    """Each worker writes to stdout and stderr at once."""

    def __init__(self, program, name, *options):
        super().__init__(program)
        self.name, self.options = name, options

    def start_logging(self, count, command, folder):
        both = ["sh", "-c", '"$@" & "$@" >&2; wait', "sh", *command]
        return [self.program, "run", "-w", str(count), *self.options, "--", *both]


def streams_apart_and_together(muster):
    return [TwoStreams(muster, "muster", "--separate-stderr"), TwoStreams(muster, "together")]


class Bash(Launcher):
    name = "bash"

    def start(self, count, command, folder):
        return ["bash", "-c", f"for ((i = 0; i < {count}; i++)); do {shlex.join(command)} & done; wait"]


class Parallel(Launcher):
    name = "parallel"
    merges_lines = True

    def start(self, count, command, folder):
        # -N0: the numbers only count the jobs.
        return ["parallel", "--will-cite", "-j", str(count), "-N0", shlex.join(command), ":::",
                *map(str, range(count))]

    def start_logging(self, count, command, folder):
        argv = self.start(count, command, folder)
        return argv[:1] + ["--line-buffer", "--tag"] + argv[1:]


class Honcho(Launcher):
    name = "honcho"
    merges_lines = True

    def start(self, count, command, folder):
        path = os.path.join(folder, "Procfile")
        with open(path, "w", encoding="utf-8") as procfile:
            procfile.writelines(f"worker{i}: exec {shlex.join(command)}\n" for i in range(count))
        return ["honcho", "-f", path, "start"]


class OpenMpi(Launcher):
    name = "mpirun"
    merges_lines = True

    def start(self, count, command, folder):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                "-n", str(count), *command]

    def start_logging(self, count, command, folder):
        argv = self.start(count, command, folder)
        return argv[:1] + ["--tag-output"] + argv[1:]


class Torchrun(Launcher):
    name = "torchrun"
    restarts = True
    merges_lines = True
    python = os.environ.get("BENCH_TORCH", "")  # script/bench --peers makes it

    def is_here(self):
        return os.access(self.python, os.X_OK) and subprocess.run(
            [self.python, "-c", "import torch.distributed.run"], capture_output=True, check=False).returncode == 0

    def start(self, count, command, folder, *options):
        return [self.python, "-m", "torch.distributed.run", "--standalone", *options,
                "--nproc-per-node", str(count), "--no-python", *command]

    def start_restarting(self, count, command, folder):
        return self.start(count, command, folder, "--max-restarts", "1")

    def start_logging(self, count, command, folder):
        return self.start(count, command, folder, "--tee", "3", "--log-dir",
                          os.path.join(folder, "torchrun"))


def all_launchers(muster, before=None):
    launchers = [Muster(muster), MusterBefore(before), Bash(), Parallel(), OpenMpi(), Honcho(), Torchrun()]
    return [launcher for launcher in launchers if launcher.is_here()]
