"""`run --fetch`: folders of Pods come here when their job ends, however it ends, and then nothing is left of it."""

import signal

import pytest

from conftest import LIMIT, few
from test_attach import until_gone
from test_run import BUSYBOX, DEBIAN, left_of, wait_for_line

WRITE = "mkdir -p /models/deep && echo weights > /models/deep/w && echo 1 > /models/step"


def run(muster, *arguments, **options):
    return muster("run", "--on", "kubernetes", "--name", "keep", *BUSYBOX, *arguments, **options)


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def sh(script):
    return ["--", "sh", "-c", script]


@pytest.mark.sanitize
def test_a_folder_comes_when_the_job_has_succeeded(muster, namespace, tmp_path):
    done = run(muster, "-w", 2, "--fetch", f"worker-0:/models:{tmp_path / 'out'}", *sh(WRITE), code=0)
    assert files_of(tmp_path / "out") == {"deep/w": "weights\n", "step": "1\n"}
    assert f"fetched worker-0:/models: 2 files, 10 bytes, to {tmp_path / 'out'}" in done.stderr
    assert "job keep succeeded: 2 workers" in done.stderr
    assert left_of(namespace) == []


def test_a_folder_comes_when_the_job_has_failed(muster, namespace, tmp_path):
    done = run(muster, "--fetch", "worker-0:/models:out", *sh(WRITE + "; exit 3"), code=3, cwd=tmp_path)
    assert files_of(tmp_path / "out")["step"] == "1\n", done.stderr
    assert left_of(namespace) == []


@pytest.mark.long
def test_a_folder_comes_of_a_process_that_was_killed(muster, namespace, tmp_path):
    script = WRITE + "; dd if=/dev/zero of=/dev/null bs=256M count=1"
    done = run(muster, "--memory", "32Mi", "--fetch", f"worker-0:/models:{tmp_path / 'out'}", *sh(script), code=137)
    assert "OOMKilled" in done.stderr or "memory" in done.stderr
    assert files_of(tmp_path / "out")["deep/w"] == "weights\n"


@pytest.mark.long
def test_a_survivor_of_a_failure_is_fetched_as_it_stands(muster, namespace, tmp_path):
    """Worker 1 fails while worker 0, which has written its files by then, hears no TERM."""
    script = (f'trap "" TERM; {WRITE}; echo up; '
              '[ $WORKER_NUMBER = 1 ] && until [ -e /models/end ]; do sleep 0.1; done && exit 5; '
              'while :; do sleep 1; done')
    running = muster.start("run", "--on", "kubernetes", "--name", "keep", *BUSYBOX, "-w", "2", "--fetch",
                           f"worker-0:/models:{tmp_path / 'out'}", *sh(script))
    for _ in range(2):
        wait_for_line(running.stdout, "up")
    namespace.end_by("keep-worker-1", "touch", "/models/end")
    _, said = running.communicate(timeout=LIMIT)
    assert running.returncode == 5, said
    assert files_of(tmp_path / "out").keys() == {"deep/w", "step"}, said
    assert left_of(namespace) == []


@pytest.mark.long
def test_two_folders_without_a_place_lie_in_one_of_their_pods_name(muster, namespace, tmp_path):
    script = WRITE + "; mkdir -p /logs/train; echo $WORKER_NUMBER > /logs/train/events"
    run(muster, "-w", 2, "--fetch", "worker-0:/models", "--fetch", "worker-1:/logs/.", *sh(script), code=0,
        cwd=tmp_path)
    assert files_of(tmp_path / "keep-worker-0") == {"models/deep/w": "weights\n", "models/step": "1\n"}
    assert files_of(tmp_path / "keep-worker-1") == {"train/events": "1\n"}


def test_what_cannot_be_fetched_is_a_sentence_and_a_code(muster, namespace, tmp_path):
    done = run(muster, "--fetch", f"worker-0:/models:{tmp_path / 'a' / '..' / 'out'}", *sh("true"), code=2)
    assert f"the parent directory of '{tmp_path / 'a' / '..' / 'out'}' does not exist" in done.stderr
    done = run(muster, "--fetch", "worker-0:/logs:logs", *sh("true"), code=125, cwd=tmp_path)
    assert "worker-0:/logs was not fetched: the directory has no files" in done.stderr
    assert not (tmp_path / "logs").exists()
    assert left_of(namespace) == [], "there is nothing to keep a Pod for"
    done = run(muster, "--fetch", "worker-0:/logs:logs", *sh("exit 3"), code=3, cwd=tmp_path)
    assert "worker-0:/logs was not fetched: the directory has no files" in done.stderr


def fail_to_fetch(muster, namespace, tmp_path):
    """A file is in the way of the folder; the Pod, and what is in it, stay."""
    (tmp_path / "out").write_text("in the way")
    done = run(muster, "-w", 2, "--env", "TOKEN=xyzzy", "--fetch", "worker-0:/models:out", *sh(WRITE), code=125, cwd=tmp_path)
    assert "worker-0:/models was not fetched: " in done.stderr and "in the way" not in done.stderr
    namespace.wait("secret/keep.env", "delete")  # nothing is started again
    assert "job keep succeeded" in done.stderr
    assert namespace.get("pod", "keep-worker-0")["metadata"].get("deletionTimestamp") is None
    assert "State:      Succeeded" in muster("status", "keep", code=0).stdout
    job = f"kubernetes/{namespace.name}/keep"
    for way in [f"'muster attach {job}' tries again and deletes them",
                f"'muster cp {job}:worker-0:/models DEST' copies by hand", f"'muster delete {job}' discards them"]:
        assert way in done.stderr, done.stderr
    return job


def test_a_pod_whose_folder_did_not_come_stays_until_it_was_fetched(muster, namespace, tmp_path):
    job = fail_to_fetch(muster, namespace, tmp_path)
    muster("cp", f"{job}:worker-0:/models", tmp_path / "by-hand", code=0)
    assert files_of(tmp_path / "by-hand") == {"deep/w": "weights\n", "step": "1\n"}
    muster("attach", job, code=0, cwd=tmp_path)
    assert files_of(tmp_path / "keep-worker-0") == {"models/deep/w": "weights\n", "models/step": "1\n"}
    assert left_of(namespace) == []


def test_a_pod_whose_folder_did_not_come_goes_when_a_person_gives_it_up(muster, namespace, tmp_path):
    job = fail_to_fetch(muster, namespace, tmp_path)
    muster("delete", job, code=0)
    until_gone(namespace, "keep")


def test_a_process_that_outlives_its_time_stays_when_its_folder_did_not_come(muster, namespace, tmp_path):
    (tmp_path / "out").write_text("in the way")
    running = muster.start("run", "--on", "kubernetes", "--name", "keep", *BUSYBOX, "--grace", "0s", "--fetch",
                           "worker-0:/models:out", *sh(f'trap "" TERM; {WRITE}; echo up; while :; do sleep 1; done'),
                           cwd=tmp_path)
    wait_for_line(running.stdout, "up")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=LIMIT)
    assert running.returncode != 0 and "keeping the Pods of --fetch" in said, said
    muster("attach", f"kubernetes/{namespace.name}/keep", cwd=tmp_path)
    assert files_of(tmp_path / "keep-worker-0").keys() == {"models/deep/w", "models/step"}
    assert left_of(namespace) == []


@pytest.mark.parametrize("image", few([BUSYBOX, DEBIAN]), ids=["busybox", "debian"])
def test_what_cannot_be_here_is_left_out_and_the_rest_is_saved(muster, namespace, tmp_path, image):
    script = f"{WRITE}; cd /models; mkfifo pipe; ln -s /models/deep latest; ln -s /etc/passwd users"
    done = muster("run", "--on", "kubernetes", "--name", "keep", *image, "--fetch", "worker-0:/models:out", *sh(script),
                  code=0, cwd=tmp_path)
    assert "fetched worker-0:/models: 2 files, " in done.stderr and "; left out: '" in done.stderr
    for name in ("pipe", "latest", "users"):
        assert f"'{name}' (" in done.stderr
    assert files_of(tmp_path / "out") == {"deep/w": "weights\n", "step": "1\n"}
    assert left_of(namespace) == []


def test_an_interrupted_job_saves_and_is_fetched(muster, namespace, tmp_path):
    script = ('trap "echo last > /models/step; exit 0" TERM; mkdir -p /models; echo up; '
              'while :; do sleep 1 & wait $!; done')
    running = muster.start("run", "--on", "kubernetes", "--name", "keep", *BUSYBOX, "-w", "2", "--fetch",
                           f"worker-0:/models:{tmp_path / 'out'}", *sh(script))
    for _ in range(2):
        wait_for_line(running.stdout, "up")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=LIMIT)
    assert running.returncode == 130, said
    assert files_of(tmp_path / "out") == {"step": "last\n"}, said
    assert left_of(namespace) == []


def test_a_second_interrupt_gives_it_up(muster, namespace, tmp_path):
    running = muster.start("run", "--on", "kubernetes", "--name", "keep", *BUSYBOX, "--fetch",
                           f"worker-0:/models:{tmp_path / 'out'}",
                           *sh("trap 'echo told' TERM; echo up; while :; do sleep 1 & wait $!; done"))
    wait_for_line(running.stdout, "up")
    running.send_signal(signal.SIGINT)
    wait_for_line(running.stdout, "told")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=LIMIT)
    assert running.returncode == 130 and "1 directory was not fetched (canceled)" in said
    assert not (tmp_path / "out").exists()
    assert left_of(namespace) == []


@pytest.mark.long
def test_a_job_in_the_background_brings_its_folder(muster, namespace, tmp_path):
    run(muster, "-d", "--fetch", "worker-0:/models:out", *sh(WRITE), code=0, cwd=tmp_path)
    muster("wait", "keep", code=0, cwd="/")
    until_gone(namespace, "keep")
    assert files_of(tmp_path / "out").keys() == {"deep/w", "step"}
    assert left_of(namespace) == []


def test_whoever_takes_a_job_over_gets_its_folders(muster, namespace, tmp_path):
    """A muster that is killed leaves the Pod, and what is in it, to the next one."""
    running = muster.start("run", "--on", "kubernetes", "--name", "keep", *BUSYBOX, "--fetch",
                           f"worker-0:/models:{tmp_path / 'out'}",
                           *sh(WRITE + "; echo up; until [ -e /models/end ]; do sleep 1; done"))
    wait_for_line(running.stdout, "up")
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=LIMIT)
    muster("fetch", "keep", tmp_path, code=0)
    assert files_of(tmp_path / "keep-worker-0") == {"models/deep/w": "weights\n", "models/step": "1\n"}
    namespace.end_by("keep-worker-0", "touch", "/models/end")
    namespace.kubectl("wait", "pod/keep-worker-0", f"--timeout={LIMIT}s",
                      "--for=jsonpath={.status.containerStatuses[?(@.name=='tensorflow')].state.terminated.exitCode}=0")
    work = tmp_path / "work"
    work.mkdir()
    muster("cp", "keep:worker-0:/models/step", work, code=0)
    assert (work / "step").read_text() == "1\n"
    muster("attach", "keep", code=0, cwd=work)
    assert "models/end" in files_of(work / "keep-worker-0")
    assert not (tmp_path / "out").exists()
    assert left_of(namespace) == []


def test_a_pod_that_was_deleted_cannot_be_fetched(muster, namespace, tmp_path):
    running = muster.start("run", "--on", "kubernetes", "--name", "keep", *BUSYBOX, "--grace", "0s", "--fetch",
                           f"worker-0:/models:{tmp_path / 'out'}", *sh("echo up; sleep 100000"))
    wait_for_line(running.stdout, "up")
    namespace.kubectl("delete", "pod", "keep-worker-0", "--force", "--grace-period=0")
    _, said = running.communicate(timeout=LIMIT)
    assert running.returncode not in (0, 125), said
    assert "worker-0:/models was not fetched: Pod 'keep-worker-0' no longer exists" in said
    assert left_of(namespace) == []


@pytest.mark.long
def test_a_pod_that_ends_before_it_was_seen_to_run_keeps_nothing(muster, namespace, tmp_path):
    """Both fail at once; of whichever comes second only its beginning is known then, and it is deleted, its keeper too."""
    for _ in range(5):
        done = run(muster, "-w", 2, "--fetch", f"worker-0:/models:{tmp_path / 'a'}", "--fetch",
                   f"worker-1:/models:{tmp_path / 'b'}", *sh(WRITE + "; exit 3"), code=3)
        assert "keeping the Pods of --fetch" not in done.stderr
        assert left_of(namespace) == []
