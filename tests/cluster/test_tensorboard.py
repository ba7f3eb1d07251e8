"""`muster tensorboard` of a job in Pods: the event files here grow as those in the Pod do, in place.

The stub in TensorBoard's place is `tail -f` of one event file, which like TensorBoard keeps it open: what it shows has
been added to that very file.
"""

import os
import pathlib
import signal

import pytest

from conftest import LIMIT, few
from test_fetch import files_of
from test_run import BUSYBOX, DEBIAN, wait_for_line

FILE = "events.out.tfevents.1"


@pytest.fixture
def viewer(muster):
    """Puts the stub into PATH, and gives a function that starts the command; without the file the stub only waits."""
    (muster.folder / "bin").mkdir()
    stub = muster.folder / "bin" / "tensorboard"
    stub.write_text(f'#!/bin/sh\necho "folder $2"\n[ -e "$2/train/{FILE}" ] || exec sleep 1000000\n'
                    f'exec tail -n +1 -f "$2/train/{FILE}"\n')
    stub.chmod(0o755)
    (muster.folder / "tmp").mkdir()
    muster.environment.update(PATH=f"{muster.folder / 'bin'}:{os.environ['PATH']}", TMPDIR=str(muster.folder / "tmp"))

    def start(*arguments):
        return muster.start("tensorboard", "--interval", "1s", *arguments)
    return start


@pytest.fixture(params=few([BUSYBOX, DEBIAN]), ids=["busybox", "debian"])
def in_pod(muster, namespace, request):
    """A job of one worker that has written an event; gives what runs a shell script in its Pod."""
    script = f"mkdir -p /logs/train /logs/model; echo first > /logs/train/{FILE}; echo up; exec sleep 1000000"
    running = muster.start("run", "--on", "kubernetes", "--name", "curves", "--grace", "0s", *request.param, "--fetch",
                           "worker-0:/logs", "--", "sh", "-c", script)
    wait_for_line(running.stdout, "up")

    def run(text):
        namespace.kubectl("exec", "curves-worker-0", "-c", "tensorflow", "--", "sh", "-c", text)
    yield run
    running.terminate()
    running.communicate(timeout=LIMIT)


def end(viewing):
    viewing.send_signal(signal.SIGINT)
    assert viewing.wait(LIMIT) == 0


def test_an_open_event_file_grows_as_that_in_the_pod_does(muster, in_pod, viewer, namespace):
    in_pod("echo weights > /logs/model/ckpt; mkdir -p /logs/plugins/profile; echo p > /logs/plugins/profile/p.pb")
    viewing = viewer("curves")
    folder = pathlib.Path(wait_for_line(viewing.stderr, "folder").split()[1])
    assert viewing.stdout.readline().startswith("http://127.0.0.1:60")
    wait_for_line(viewing.stderr, "first")
    in_pod(f"echo second >> /logs/train/{FILE}")
    wait_for_line(viewing.stderr, "second")
    in_pod("mkdir /logs/evaluate; echo more > '/logs/evaluate/a b.tfevents.2'; echo end >> /logs/plugins/profile/p.pb")
    in_pod(f"yes 0123456789 | head -c 3000000 >> /logs/train/{FILE}; echo; echo third >> /logs/train/{FILE}")
    wait_for_line(viewing.stderr, "third")
    in_pod(f"echo last >> /logs/train/{FILE}")  # it comes in a round behind that of all before
    wait_for_line(viewing.stderr, "last")
    assert files_of(folder).keys() == {f"train/{FILE}", "evaluate/a b.tfevents.2", "plugins/profile/p.pb"}
    assert files_of(folder)["plugins/profile/p.pb"] == "p\nend\n"
    there = namespace.kubectl("exec", "curves-worker-0", "-c", "tensorflow", "--", "cat", f"/logs/train/{FILE}")
    assert len(there) > 3000000 and files_of(folder)[f"train/{FILE}"] == there
    assert folder.stat().st_mode & 0o777 == 0o700
    end(viewing)
    assert list((muster.folder / "tmp").iterdir()) == []


def test_the_folder_may_come_later_and_the_pod_may_go(muster, in_pod, viewer, namespace):
    viewing = viewer("curves", "--logdir", "/late")
    wait_for_line(viewing.stderr, "directory '/late' does not exist yet in worker-0 of job 'curves'")
    end(viewing)
    viewing = viewer("curves", "--logdir", "/logs", "--role", "worker", "--index", "0")
    wait_for_line(viewing.stderr, "first")
    namespace.kubectl("delete", "pod", "curves-worker-0", "--force", "--grace-period=0")
    wait_for_line(viewing.stderr, "worker-0: cannot fetch new data: ")
    end(viewing)


def test_a_replica_that_is_not_there_is_a_sentence(muster, in_pod, viewer):
    viewing = viewer("curves", "--logdir", "/logs", "--index", "3")
    said = viewing.communicate(timeout=LIMIT)[1]
    assert viewing.returncode == 1, said
    assert "replica worker-3 of job 'curves' not found" in said
    muster("tensorboard", "curves", "--interval", "10ms", code=2)
    assert list((muster.folder / "tmp").iterdir()) == []
