"""What a machine can do to a call: no home, a full disk, a reader that leaves, a terminal."""

import contextlib
import os
import pty
import subprocess

import pytest

from conftest import BINARY, LIMIT, read_line, read_until


UNTIL_IT_MAY_GO = "until [ -e go ]; do sleep 0.1; done"


def test_a_state_folder_that_cannot_be_made_has_a_sentence(muster, tmp_path):
    (tmp_path / "file").write_text("")
    unusable = ("--state-dir", tmp_path / "file" / "state")
    for arguments, code in ((["ps"], 1), (["run", "--", "true"], 125), (["wait", "job"], 125)):
        done = muster(arguments[0], *unusable, *arguments[1:], code=code)
        assert str(tmp_path / "file") in done.stderr
        assert len(done.stderr.splitlines()) == 1


FILE_WITHOUT_PROGRAMS = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: noprog}
spec:
  tfReplicaSpecs:
    WORKER:
      template:
        spec:
          containers:
          - name: tensorflow
            command: [no-such-program]
    PS:
      template:
        spec:
          containers:
          - name: tensorflow
            command: [sh]
            workingDir: /no/such/folder
    Chief:
      template: {spec: {containers: [{name: tensorflow, image: brings-its-own}]}}
"""


def test_what_cannot_run_here_is_told_at_its_place_in_the_file(muster, tmp_path):
    file = tmp_path / "job.yaml"
    file.write_text(FILE_WITHOUT_PROGRAMS)
    done = muster("run", "-f", file, code=2)
    lines = done.stderr.splitlines()
    assert [line.split(":")[1] for line in lines] == ["11", "18", "20"], done.stderr
    assert "[Worker]" in lines[0] and "no-such-program" in lines[0]
    assert "[PS]" in lines[1] and "/no/such/folder" in lines[1]
    assert "[Chief]" in lines[2] and "command" in lines[2]


def test_a_program_that_is_missing_is_told_once_and_without_a_document(muster):
    done = muster("run", "-w", "2", "--ps", "1", "--", "no-such-program", code=2)
    assert done.stderr == "muster: program 'no-such-program' not found in PATH\n"


def test_the_state_folder_can_be_named_in_three_ways(muster, tmp_path):
    muster("run", "--name", "by-flag", "--state-dir", tmp_path / "a", "--", "true", code=0)
    muster("run", "--name", "by-variable", "--", "true", code=0, env={"MUSTER_STATE_DIR": tmp_path / "b"})
    muster("run", "--name", "by-home", "--", "true", code=0, env={"XDG_STATE_HOME": None})
    for folder, name in (("a", "by-flag"), ("b", "by-variable"), (".local/state/muster", "by-home")):
        assert muster("ps", "-a", "-o", "name", "--state-dir", tmp_path / folder).stdout == f"local/{name}\n"


def test_a_full_disk_behind_stdout_is_told(muster):
    with open("/dev/full", "w") as full:
        done = muster("ps", code=1, stdout=full)
    assert done.stderr == "muster: standard output: No space left on device\n"


def test_a_job_goes_on_and_keeps_its_code_when_its_lines_cannot_be_shown(muster):
    with open("/dev/full", "w") as full:
        done = muster("run", "--name", "job", "--", "sh", "-c", "echo one; echo two; exit 3", code=3, stdout=full)
    assert done.stderr.count("muster: cannot print the output of the job any more: No space left on device\n") == 1
    assert muster("logs", "job", "--prefix=false", code=0).stdout == "one\ntwo\n"


def test_lines_that_can_no_longer_be_shown_are_told_while_the_job_runs(muster):
    with open("/dev/full", "w") as full:
        process = muster.start("run", "--name", "job", "--", "sh", "-c", "echo one; " + UNTIL_IT_MAY_GO, stdout=full)
        assert "cannot print the output of the job any more" in read_until(process.stderr, "cannot print")[-1]
    (muster.folder / "go").touch()
    assert process.wait(timeout=LIMIT) == 0


def test_logs_that_are_followed_into_a_full_disk_end(muster):
    muster.detach("--name", "job", "--", "sh", "-c", "echo one; " + UNTIL_IT_MAY_GO)
    with open("/dev/full", "w") as full:
        done = muster("logs", "-f", "job", code=1, stdout=full)
    assert done.stderr == "muster: cannot write the output: No space left on device\n"
    (muster.folder / "go").touch()


def test_a_job_that_cannot_be_printed_is_told_and_does_not_count_as_done(muster):
    for command, code in (("exit 0", 125), ("exit 3", 3)):
        with open("/dev/full", "w") as full:
            done = muster("run", "-o", "json", "--", "sh", "-c", command, code=code, stdout=full)
        assert "muster: the job could not be written to standard output: No space left on device\n" in done.stderr


# A namespace of mounts in which only the command runs: /proc is what was below it, a folder without anything.
WITHOUT_PROC = ["unshare", "--mount", "sh", "-c", 'umount -l /proc && exec "$0" "$@"']


@pytest.mark.skipif(subprocess.run([*WITHOUT_PROC, "true"], check=False, capture_output=True).returncode != 0,
                    reason="taking /proc away needs root")
def test_without_proc_it_is_named(muster):
    muster.detach("--name", "here", "--", "sleep", "1000")

    def without_proc(*arguments):
        return subprocess.run([*WITHOUT_PROC, BINARY, *arguments], cwd=muster.folder, env=muster.environment,
                              capture_output=True, text=True, timeout=LIMIT, check=False)

    # A line of its own: AddressSanitizer misses /proc, too, and says so.
    sentence = "muster: /proc is not mounted, but muster needs it to see processes; to mount it: mount -t proc proc /proc"
    for arguments in (["run", "--", "true"], ["run", "-d", "--", "true"], ["stop", "here"], ["wait", "here"]):
        assert sentence in without_proc(*arguments).stderr.splitlines(), arguments
    assert "mount -t proc proc /proc" in without_proc("doctor").stdout
    # A job that cannot be seen is not one that was lost.
    assert "Running" in without_proc("ps").stdout
    assert "Running" in muster("ps", code=0).stdout


def test_a_reader_that_left_is_no_mistake(muster):
    reader, writer = os.pipe()
    os.close(reader)
    done = muster("help", code=0, stdout=writer)
    os.close(writer)
    assert done.stderr == ""


def test_watching_ends_when_its_reader_leaves(muster):
    muster.detach("--name", "job", "--max-restarts", "-1", "--", "sh", "-c", "exit 1")
    watching = muster.start("status", "-w", "job")
    read_line(watching.stdout)
    watching.stdout.close()
    assert watching.wait(timeout=LIMIT) == 0


def test_a_watched_status_is_a_line_for_each_change_in_a_pipe(muster):
    muster.detach("--name", "job", "--max-restarts", "1", "--", "sh", "-c", UNTIL_IT_MAY_GO + "; exit 4")
    watching = muster.start("status", "-w", "job")
    first = read_line(watching.stdout)
    (muster.folder / "go").touch()
    lines = (first + watching.communicate(timeout=LIMIT)[0]).splitlines()
    assert watching.returncode == 0
    assert lines[-1].startswith("Failed  running 0/1  restarts 1  worker-0 exited with code 4")
    assert len(lines) == len(set(lines)) > 1


def test_a_watched_status_redraws_a_terminal(muster):
    muster.detach("--name", "job", "--", "sh", "-c", UNTIL_IT_MAY_GO)
    terminal, end = pty.openpty()
    watching = subprocess.Popen([BINARY, "status", "-w", "job"], stdin=end, stdout=end, stderr=end,
                                env=muster.environment)
    os.close(end)
    shown = read_terminal(terminal, until="State:      Running")
    (muster.folder / "go").touch()
    screens = (shown + read_terminal(terminal)).split("\x1b[H")
    os.close(terminal)
    assert watching.wait(timeout=LIMIT) == 0
    assert len(screens) > 2
    assert "State:      Running" in screens[1] and "State:      Succeeded" in screens[-1]


def read_terminal(terminal, until=None):
    """All that is written to a terminal until it contains this, or until nobody has it open any more."""
    text = b""
    with contextlib.suppress(OSError):
        while not until or until.encode() not in text:
            text += os.read(terminal, 65536)
    return text.decode()
