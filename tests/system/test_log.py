"""MUSTER_LOG: what muster does, and why, where a person or a bug report finds it."""

import re

from conftest import LIMIT, read_until
from http_server import make_certificate, tls_context
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig

SECRET = "xyzzy-that-no-log-may-have"


def log_of(muster):
    path, = muster.state.glob("muster/jobs/*/muster.log")
    return path.read_text()


def test_decisions_and_ends_are_told_on_the_terminal_and_in_the_jobs_log(muster):
    done = muster("run", "--name", "job", "-w", 1, "--", "sh", "-c", "exit 7", code=7, env={"MUSTER_LOG": "info"})
    assert "muster: info: job 'job': start worker-0, attempt 0\n" in done.stderr
    assert re.search(r"^muster: info: worker-0 \(process \d+\) ended: code 7, signal 0$", done.stderr, re.MULTILINE)
    assert "muster: debug: " not in done.stderr
    assert "info Supervisor: job 'job': start worker-0, attempt 0\n" in log_of(muster)


def test_without_it_nothing_is_told(muster):
    done = muster("run", "--name", "job", "-w", 1, "--", "true", code=0)
    assert "info" not in done.stderr and "info" not in log_of(muster)


def test_of_a_job_in_the_background_the_jobs_log_has_it(muster):
    muster("run", "-d", "-v", "--name", "job", "-w", 1, "--", "true", code=0)
    muster("wait", "job", code=0)
    assert "debug Supervisor: job 'job': status written as version 2\n" in log_of(muster)


def test_a_word_that_is_no_level_is_refused(muster):
    assert "MUSTER_LOG: 'loud' is not one of warning|info|debug" in muster("ps", code=2, env={"MUSTER_LOG": "loud"}).stderr


def test_calls_to_a_cluster_are_told_with_their_times_and_without_secrets(muster, tmp_path):
    certificate = make_certificate(tmp_path)
    with LivingKube(lambda labels: 0, tls=tls_context(*certificate)) as kube:
        config = write_kubeconfig(tmp_path / "config", kube.origin)
        config.write_text(config.read_text().replace('"user": {}', f'"user": {{"token": "{SECRET}"}}').replace(
            '"cluster": {', f'"cluster": {{"certificate-authority": "{certificate[0]}", '))
        done = muster("run", "--on", "kubernetes", "--name", "there", "-w", 1, "--image", "i", "--env", f"TOKEN={SECRET}", "-v",
                      "--", "true", code=0, env={"KUBECONFIG": str(config)}, limit=LIMIT)
    assert re.search(r"debug: create configmaps/ada/there\.job: 201 after \d+ ms, in \d+ tries$", done.stderr, re.MULTILINE)
    assert kube.server.exchanges[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in done.stderr + log_of(muster)


def test_a_command_tells_on_stderr(muster, tmp_path):
    with LivingKube(lambda labels: 0) as kube:
        config = write_kubeconfig(tmp_path / "config", kube.origin)
        listing = muster.start("ps", "--on", "kubernetes", "-v", env={"KUBECONFIG": str(config)})
        read_until(listing.stderr, "debug: list configmaps/ada: 200 after ")
        assert listing.wait(LIMIT) == 0
