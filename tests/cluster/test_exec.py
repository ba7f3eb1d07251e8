"""`muster exec` on the real node: what a command there sees, and a shell at a real terminal."""

import json
import os
import pty
import select
import signal
import termios

import pytest

from conftest import LIMIT, few
from test_run import BUSYBOX, DEBIAN, give_rights, rights, wait_for_line


@pytest.fixture
def job(muster, namespace):
    """Makes a job of two workers on the real node that runs until the test ends."""
    started = []

    def start(image=BUSYBOX):
        running = muster.start("run", "--on", "kubernetes", "--name", "keep", "-w", "2", "--grace", "0s", *image, "--",
                               "/bin/sh", "-c", "echo up; exec sleep 1000000")
        started.append(running)
        for _ in range(2):
            wait_for_line(running.stdout, "up")

    yield start
    for running in started:
        running.terminate()
        running.communicate(timeout=LIMIT)


@pytest.mark.parametrize("image", few([BUSYBOX, DEBIAN]), ids=["busybox", "debian"])
def test_a_command_sees_what_kubectl_exec_shows(job, muster, namespace, image):
    job(image)
    script = 'echo "$TF_CONFIG"; pwd; id -u; cat'
    done = muster("exec", "keep", "worker-1", "--", "sh", "-c", script, input="in\n", code=0)
    assert done.stdout == namespace.kubectl("exec", "-i", "keep-worker-1", "--", "sh", "-c", script, input="in\n")
    assert json.loads(done.stdout.splitlines()[0])["task"] == {"type": "worker", "index": 1}
    muster("exec", "keep", "--", "sh", "-c", "exit 42", code=42)
    much = "line of a file\n" * 200_000
    assert muster("exec", "keep", "--", "cat", input=much, code=0).stdout == much
    done = muster("exec", "keep", "--", "no-such-program", code=126)
    assert "no-such-program" in done.stderr and len(done.stderr.splitlines()) == 1
    done = muster("exec", "keep", "worker-2", "--", "true", code=125)
    assert "job 'keep' has no worker-2" in done.stderr


class Shell:
    """A shell in the Pod, at a terminal of this machine."""

    def __init__(self, muster, rows, columns):
        self.ours, self.its = pty.openpty()
        termios.tcsetwinsize(self.its, (rows, columns))
        self.before = termios.tcgetattr(self.its)
        self.process = muster.start("exec", "keep", "--", "sh", stdin=self.its, stdout=self.its)

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def until(self, wanted):
        seen = ""
        while wanted not in seen:
            assert select.select([self.ours], [], [], LIMIT)[0], f"nothing came behind {seen!r}"
            seen += os.read(self.ours, 4096).decode()
        return seen

    def wait_for_size(self, rows, columns):
        """muster sends the size before any input, but a runtime sets it in a thread of its own."""
        self.type(f"until [ \"$(stty size)\" = '{rows} {columns}' ]; do sleep 0.1; done; echo si''zed\r")
        self.until("sized\r\n")


@pytest.mark.parametrize("image", few([BUSYBOX, DEBIAN]), ids=["busybox", "debian"])
def test_a_shell_has_the_terminal_its_size_and_ctrl_c(job, muster, image):
    job(image)
    shell = Shell(muster, rows=33, columns=99)
    shell.wait_for_size(33, 99)
    shell.type("tty\r")
    shell.until("/dev/pts/")
    termios.tcsetwinsize(shell.its, (20, 70))
    shell.process.send_signal(signal.SIGWINCH)
    shell.wait_for_size(20, 70)
    # In a shell of its own: busybox's interactive one loses a Ctrl-C that comes while it starts a command.
    shell.type("""sh -c 'trap "echo int\\"\\"errupted; exit 7" INT; echo rea""dy; while :; do sleep 0.1; done'; exit $?\r""")
    shell.until("ready\r\n")
    shell.type("\x03")
    shell.until("interrupted\r\n")
    assert shell.process.wait(timeout=LIMIT) == 7
    assert termios.tcgetattr(shell.its) == shell.before
    os.close(shell.ours)
    os.close(shell.its)


# As in muster-exec(1).
RIGHTS = [rights("", "configmaps", "get", "list", "watch"), rights("", "pods", "get", "list", "watch"),
          rights("", "pods/exec", "get", "create")]


def test_it_takes_no_more_rights_than_its_manual_says(job, muster, namespace, tmp_path):
    job()
    path = namespace.write_account_kubeconfig(tmp_path / "account")
    give_rights(namespace, RIGHTS)
    assert muster("exec", "--kubeconfig", path, "keep", "--", "echo", "here", code=0).stdout == "here\n"
