"""`muster serve`: what it says of its jobs, however many there are."""

import contextlib
import http.client
import json
import re
import sys
import threading

import pytest

from conftest import LIMIT, ROOT, read_until

sys.path.insert(0, str(ROOT / "tests" / "fake_kube"))

from fake_kube import refuse  # noqa: E402
from living_kube import LivingKube  # noqa: E402
from test_jobs_elsewhere import write_kubeconfig  # noqa: E402

pytestmark = pytest.mark.sanitize


@contextlib.contextmanager
def serving(muster, kube):
    """Gives a function that asks a master before this cluster."""
    muster.environment["KUBECONFIG"] = str(write_kubeconfig(muster.folder / "kubeconfig", kube.origin))
    muster("serve", "--make-token", "token", code=0)
    token = (muster.folder / "token").read_text().strip()
    serve = muster.start("serve", "--listen", "127.0.0.1:0", "--image", "localhost/muster", "--token-file", "token.hash")
    port = int(re.search(r":(\d+)/create", read_until(serve.stderr, "are created at")[-1])[1])

    def begin(path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        return connection

    def get(path):
        answer = begin(path).getresponse()
        return answer.status, answer.read().decode()

    get.begin = begin
    yield get
    serve.kill()
    serve.wait()


def put_job(kube, name, *conditions, padding=0):
    kube.put("tfjobs", name, {
        "apiVersion": "kubeflow.org/v1", "kind": "TFJob",
        "metadata": {"uid": f"00000000-0000-4000-8000-0000{name[-2:].rjust(8, '0')}", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"runPolicy": {"managedBy": "another"}, "padding": "x" * padding},
        "status": {"conditions": [{"type": word, "status": "True"} for word in conditions]}})


def lists(kube):
    return [query for _, path, query in kube.requests() if path.endswith("/tfjobs") and "limit" in query]


def test_a_list_of_more_than_one_answer_may_have_is_whole(muster):
    with LivingKube() as kube:
        for number in range(20):
            put_job(kube, f"job-{number:02}", "Created", "Running", padding=1000000)
        with serving(muster, kube) as get:
            status, body = get("/jobs")
    assert status == 200, body
    assert json.loads(body) == {"jobs": [{"name": f"job-{number:02}", "state": "Running", "creationTimestamp": "2026-01-01T00:00:00Z"}
                                         for number in range(20)]}


def test_a_list_that_the_cluster_drops_meanwhile_begins_again(muster):
    def drop_second_page(exchange):
        if "continue" not in exchange.query or dropped:
            return False
        dropped.append(exchange)
        return refuse(410, reason="Expired")(exchange)

    dropped = []
    with LivingKube() as kube:
        for number in range(150):
            put_job(kube, f"job-{number:03}")
        with serving(muster, kube) as get:
            kube.trouble = drop_second_page
            status, body = get("/jobs")
            kube.trouble = lambda exchange: "limit" in exchange.query and refuse(410, reason="Expired")(exchange)
            assert get("/jobs")[0] == 503
        assert len(lists(kube)) == 2 + 2 + 5
    assert status == 200 and [job["name"] for job in json.loads(body)["jobs"]] == [f"job-{number:03}" for number in range(150)]


def test_a_list_that_no_client_waits_for_is_not_read_further(muster):
    def hold_second_page(exchange):
        if "continue" not in exchange.query:
            return False
        begun.set()
        exchange.wait_for_the_end()
        ended.set()
        return True

    begun, ended = threading.Event(), threading.Event()
    with LivingKube() as kube:
        for number in range(150):
            put_job(kube, f"job-{number:03}")
        with serving(muster, kube) as get:
            kube.trouble = hold_second_page
            connection = get.begin("/jobs")
            assert begun.wait(LIMIT)
            connection.close()
            assert ended.wait(LIMIT)
            assert get("/healthz")[0] == 200


def test_a_master_without_jobs_has_an_empty_list(muster):
    with LivingKube() as kube, serving(muster, kube) as get:
        assert get("/jobs") == (200, '{"jobs": []}\n')
