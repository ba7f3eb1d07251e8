"""Signals to muster that its job's processes get: SIGUSR1 and SIGUSR2, and for `launch` those that torchrun hands on."""

import os
import re
import signal
import subprocess

import pytest

NOTES = """
import os, signal, sys, time
def note(number, frame):
    print(signal.Signals(number).name, "noted", flush=True)
    if os.environ.get("ENDS_AT", "") in ("", signal.Signals(number).name):
        sys.exit(0)
for name in ("SIGUSR1", "SIGUSR2", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT"):
    signal.signal(getattr(signal, name), note)
print("ready", flush=True)
time.sleep(300)
"""


def begin(muster, *command, ends_at="", script=NOTES, environment=()):
    """Starts two processes, and waits until they are ready."""
    (muster.folder / "notes.py").write_text(script)
    process = muster.start(*command, "--name", "noted", "notes.py", stderr=subprocess.STDOUT, stdout=subprocess.PIPE,
                           env={"ENDS_AT": ends_at, **dict(environment)})
    said = [process.stdout.readline() for _ in range(2)]
    assert all("ready" in line for line in said), said
    return process


def finish(process):
    said, _ = process.communicate(timeout=60)
    return [line.split("| ")[-1] for line in said.splitlines()]


LAUNCH = ("launch", "--nproc-per-node", 2)
RUN = ("run", "-w", 2)


@pytest.mark.parametrize("command", [LAUNCH, RUN])
@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
def test_a_user_signal_reaches_every_process_and_ends_nothing(muster, command, number):
    process = begin(muster, *command, ends_at="SIGTERM")
    process.send_signal(number)
    said = [process.stdout.readline() for _ in range(3)]
    assert sum(f"{number.name} noted" in line for line in said) == 2, said
    assert f"muster: {number.name} was passed on to 2 processes\n" in said
    process.send_signal(signal.SIGTERM)
    assert finish(process).count("SIGTERM noted") == 2
    assert process.returncode == 143


def test_a_process_without_a_handler_does_not_get_it(muster):
    """A shell around the script, a worker of a data loader: they would only be killed."""
    script = NOTES.replace('print("ready", flush=True)\ntime', 'import subprocess\nchild = subprocess.Popen(["sleep", "300"])\n'
                           'print("ready", flush=True)\ntime').replace("sys.exit(0)", "print('child lost', child.poll() == -signal.SIGUSR1); sys.exit(0)")
    process = begin(muster, "run", "-w", 2, script=script, ends_at="SIGTERM")
    process.send_signal(signal.SIGUSR1)
    [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGTERM)
    assert finish(process).count("child lost False") == 2


def test_a_signal_that_nobody_handles_has_no_effect(muster):
    process = begin(muster, "run", "-w", 2, script="import time; print('ready', flush=True); time.sleep(300)")
    process.send_signal(signal.SIGUSR1)
    assert process.stdout.readline() == "muster: SIGUSR1 has no effect: no process of the job handles it\n"
    assert muster("stop", "noted").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGINT])
def test_the_processes_of_launch_get_the_signal_itself(muster, number):
    process = begin(muster, *LAUNCH)
    process.send_signal(number)
    assert finish(process).count(f"{number.name} noted") == 2
    assert process.returncode == 128 + number


def test_when_a_terminal_closes_the_processes_of_a_run_may_save(muster):
    process = begin(muster, *RUN)
    process.send_signal(signal.SIGHUP)
    assert finish(process).count("SIGTERM noted") == 2
    assert process.returncode == 129


@pytest.mark.parametrize("options,environment,number", [
    (("--signals-to-handle", "SIGTERM,SIGUSR1"), {}, signal.SIGUSR1),
    ((), {"PET_SIGNALS_TO_HANDLE": "SIGUSR2"}, signal.SIGUSR2),
])
def test_a_user_signal_that_is_to_be_handled_stops_the_job(muster, options, environment, number):
    process = begin(muster, *LAUNCH, *options, environment=environment)
    process.send_signal(number)
    assert finish(process).count(f"{number.name} noted") == 2
    assert process.returncode == 128 + number


STAYS = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\ntime.sleep(300)"


@pytest.mark.parametrize("options,environment", [
    (("--shutdown-timeout", "1"), {}),
    (("--shutdown-timeout", "1"), {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "200"}),
    ((), {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "1"}),
    ((), {"PET_SHUTDOWN_TIMEOUT": "1"}),
])
def test_the_grace_period_is_in_seconds(muster, options, environment):
    process = begin(muster, *LAUNCH, *options, script=STAYS, environment=environment)
    process.send_signal(signal.SIGTERM)
    took = re.search(r" ended after (\d+)s: ", " ".join(finish(process)))
    assert int(took[1]) < 30, "the default"
    assert process.returncode == 143


@pytest.mark.parametrize("options,said", [
    (("--signals-to-handle", "SIGNONE"), "--signals-to-handle: unknown signal 'SIGNONE'"),
    (("--signals-to-handle", "SIGKILL"), "--signals-to-handle: SIGKILL cannot be handled"),
    (("--shutdown-timeout", "soon"), "--shutdown-timeout: "),
])
def test_what_cannot_be(muster, options, said):
    assert said in muster(*LAUNCH, *options, "nothing.py", code=2).stderr


@pytest.mark.parametrize("command", [LAUNCH, RUN])
def test_a_signal_that_a_process_sends_counts_where_those_of_keys_are_ignored(muster, command):
    """A shell gives them up for what it starts with `&`."""
    (muster.folder / "notes.py").write_text(NOTES)
    process = muster.start(*command, "--name", "noted", "notes.py", stderr=subprocess.STDOUT, stdout=subprocess.PIPE,
                           before=["sh", "-c", "trap '' INT QUIT; exec \"$@\"", "sh"])
    said = [process.stdout.readline() for _ in range(2)]
    assert all("ready" in line for line in said), said
    process.send_signal(signal.SIGINT)
    assert finish(process).count("SIGINT noted") == 2
    assert process.returncode == 130


SAVES = """
import os, signal, sys, time
def save(number, frame):
    time.sleep(float(os.environ["TAKES"]))
    print("saved", flush=True)
    sys.exit(0)
if os.environ["RANK"] == "1":
    open("survivor").read()
    sys.exit("no data")
signal.signal(signal.SIGTERM, save)
open("survivor", "w").close()
signal.pause()
"""


TORCH = "try:\n    import torch\nexcept ImportError:\n    pass\n"
HAS_TORCH = """import mmap
with open("libtorch_cpu.so", "wb+") as library:
    library.write(b"0" * 4096)
    library.flush()
    loaded = mmap.mmap(library.fileno(), 0, prot=mmap.PROT_READ)
"""


@pytest.mark.parametrize("command, imports, has_saved", [
    (("launch", "--nproc-per-node", 2, "--shutdown-timeout", 60), "", True), (("launch", "--nproc-per-node", 2), TORCH, True),
    (("launch", "--nproc-per-node", 2), "", False), (("run", "-w", 2), TORCH, True), (("run", "-w", 2), HAS_TORCH, True),
    (("run", "-w", 2, "--", "./start.sh"), HAS_TORCH, True), (("run", "-w", 2), "", False)])
def test_who_survives_a_failure_may_save(muster, command, imports, has_saved):
    """As under torchrun; but TensorFlow and JAX would delay a restart by all of the grace period."""
    (muster.folder / "saves.py").write_text(imports + SAVES)
    os.mkfifo(muster.folder / "survivor")
    takes = "1.5" if has_saved else "300"  # longer than a second
    (muster.folder / "start.sh").write_text("#!/bin/sh\npython3 -u saves.py\nexit $?\n")
    (muster.folder / "start.sh").chmod(0o755)
    done = muster(*command, "saves.py", code=1, env={"TAKES": takes})
    assert ("worker-0 | saved" in done.stdout) == has_saved
    assert ("worker-0 was killed by muster, 1s after the stop signal" in done.stderr) == (not has_saved)
