"""Values of --env are often secrets. Everybody on a machine can read the words of a process, so no process of muster keeps
them there, here or on a cluster, for as long as a job runs."""

import base64
import json
import os
import pathlib

import pytest

from conftest import LIMIT, read_until
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig

SECRET = f"xyzzy-that-nobody-may-see-{os.getpid()}"
FORMS = [["--env", f"TOKEN={SECRET}"], [f"--env=TOKEN={SECRET}"], ["-e", f"TOKEN={SECRET}"], [f"-eTOKEN={SECRET}"]]


def who_shows(word):
    """Command lines with the word in it, but for that of this process."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line:
                found.append((folder.name, line))
    return found


@pytest.mark.parametrize("form", FORMS)
def test_no_process_of_a_job_here_shows_it(muster, form):
    job = muster.start("run", "--name", "here", "-w", 1, *form, "--", "sh", "-c", "echo $TOKEN; sleep 1000")
    read_until(job.stdout, SECRET)
    assert who_shows(SECRET) == [] and who_shows("TOKEN=")
    muster("stop", "--grace", "0", "here", code=0)


def test_no_process_of_a_job_of_a_template_shows_a_parameter(muster, tmp_path):
    container = {"name": "tensorflow", "image": "i", "command": ["sh", "-c", "echo $TOKEN; sleep 1000"],
                 "env": [{"name": "TOKEN", "value": "${TOKEN}"}]}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "here"},
           "spec": {"tfReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [container]}}}}}}
    template = tmp_path / "template.json"
    template.write_text(json.dumps({"kind": "Template", "parameters": [{"name": "TOKEN"}], "objects": [job]}))
    running = muster.start("run", "-f", template, "-p", f"TOKEN={SECRET}")
    read_until(running.stdout, SECRET)
    assert who_shows(SECRET) == [] and who_shows("TOKEN=")
    muster("stop", "--grace", "0", "here", code=0)


def test_no_process_of_a_job_in_the_background_shows_it(muster):
    muster("run", "-d", "--name", "back", "-w", 1, *FORMS[0], "--", "sh", "-c", "echo $TOKEN; sleep 1000", code=0)
    read_until(muster.start("logs", "-f", "back").stdout, SECRET)
    assert who_shows(SECRET) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_detached", [False, True])
def test_no_process_that_watches_a_job_on_a_cluster_shows_it(muster, tmp_path, form, is_detached):
    with LivingKube(lambda labels: None) as kube:
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "config", kube.origin))
        call = ["run", "--on", "kubernetes", "--name", "there", "-w", 1, "--image", "i", *form, "--", "true"]
        if is_detached:
            muster(call[0], "-d", *call[1:], code=0)
        else:
            read_until(muster.start(*call).stdout, "line 19")
        assert who_shows(SECRET) == [] and who_shows("TOKEN=")
        [secret] = [body for (plural, _), body in kube.objects.items() if plural == "secrets"]
        assert any(word in str(secret) for word in (SECRET, base64.b64encode(SECRET.encode()).decode()))
        muster("delete", "there", code=0)
        assert kube.wait_until_empty(LIMIT) == []
