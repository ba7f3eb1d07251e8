"""Command lines that muster prints of a job on a cluster: each can be run as it stands, although neither the namespace nor
the context nor the kubeconfig of the job is the one that a call without options means."""

import re
import subprocess

import pytest

from conftest import BINARY, LIMIT, read_line, read_until
from living_kube import LivingKube
from test_jobs_elsewhere import LONG_AGO, put_job, put_lease, write_kubeconfig

WORD = r"(?:'[^']*'|[\w%+./:=@-]+)"  # as shell_word_add writes it
COMMAND_LINE = re.compile(rf"muster (?:logs|attach|delete|stop|ps|status|wait)(?: {WORD})+")


@pytest.fixture
def kube():
    with LivingKube(lambda labels: None) as server:  # Pods run on
        yield server


@pytest.fixture
def far(muster, kube, tmp_path):
    """The options that lead to the cluster; without them another one is meant, which does not answer."""
    muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "near", "http://127.0.0.1:1"))
    folder = tmp_path / "a folder; of mine"
    folder.mkdir()
    return ["--namespace", "bob", "--context", "far", "--kubeconfig", str(write_kubeconfig(folder / "far", kube.origin))]


def hints(text):
    """Each command line once; `kubernetes/…` stands in all that are about a job."""
    found = list(dict.fromkeys(COMMAND_LINE.findall(text)))
    assert found, text
    return found


def follow(muster, line, code=0):
    """As a person does who copies it into a shell."""
    shell = subprocess.run(["bash", "-c", f'muster() {{ "{BINARY}" "$@"; }}\n{line}'], env=muster.environment, cwd=muster.folder,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
    assert shell.returncode == code, f"{line}: {shell.returncode}\n{shell.stdout}\n{shell.stderr}"
    return shell.stdout


def run(muster, far, *arguments, **options):
    return muster("run", "--on", "kubernetes", "--name", "story", "-w", 1, "--image", "i", *far, *arguments, "--", "true", **options)


def test_what_run_prints_can_be_run_as_it_stands_before_and_after_the_end(muster, kube, far):
    detached = run(muster, far, "-d", code=0)
    [logs] = hints(detached.stderr)
    [stop] = hints(run(muster, far, code=2).stderr)
    assert stop.startswith("muster stop kubernetes/bob/story")
    following = subprocess.Popen(["bash", "-c", f'muster() {{ "{BINARY}" "$@"; }}\n{logs}'], env=muster.environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    read_until(following.stdout, "line 19")
    assert "line 19" in follow(muster, logs.replace(" -f ", " "))
    kube.plan = lambda labels: 3
    kube.end_pods()
    following.communicate(timeout=LIMIT)
    assert kube.wait_until_empty(LIMIT) == []
    assert "line 19" in follow(muster, logs)
    [after] = hints(muster("status", "story", code=0).stdout)
    assert "line 19" in follow(muster, after)
    follow(muster, stop)
    muster("delete", "story", code=0)
    assert muster("ps", "-a", "--no-headers", code=0).stdout == ""


def test_the_block_of_a_failure_names_its_logs(muster, kube, far):
    kube.plan = lambda labels: 3
    [line] = hints(run(muster, far, code=3).stderr)
    assert line.startswith("muster logs kubernetes/bob/story ") and "line 19" in follow(muster, line)


def test_what_is_printed_of_a_job_that_nobody_watches(muster, kube, far):
    put_job(kube, namespace="bob")
    put_lease(kube, renewed=LONG_AGO)
    said = [muster(*call, "digits", *far, code=code) for call, code in ((["status"], 0), (["stop"], 4))]
    waiting = muster.start("wait", "digits", *far)
    lines = hints(said[0].stdout + said[1].stderr + read_line(waiting.stderr))
    attach, delete = lines
    assert attach.startswith("muster attach kubernetes/bob/digits") and delete.startswith("muster delete kubernetes/bob/digits")
    follow(muster, attach.replace("attach", "attach -d"))
    follow(muster, delete)
    waiting.wait(LIMIT)


def test_a_list_that_is_named_is_that_of_the_cluster(muster, kube, far):
    [line] = hints(muster("status", "digts", *far, code=1).stderr)
    follow(muster, line)


def test_a_state_folder_of_the_call_is_in_its_hints(muster, tmp_path):
    [line] = hints(muster("run", "-d", "--state-dir", tmp_path / "my state", "--name", "here", "--", "true", code=0).stderr)
    follow(muster, line)
    follow(muster, line.replace("logs -f", "delete"))
