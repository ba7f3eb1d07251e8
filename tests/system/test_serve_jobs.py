"""`muster serve`: what it says of its jobs, however many there are."""

import contextlib
import http.client
import json
import re
import threading

from conftest import LIMIT, read_until
from fake_kube import NAMESPACE, refuse
from living_kube import LivingKube
from processes import wait_until
from test_jobs_elsewhere import write_kubeconfig


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

    get.begin, get.url = begin, f"http://127.0.0.1:{port}"
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


class WithoutImages(LivingKube):
    """No Pod starts, for a reason."""

    reason = "ErrImagePull"

    def _create(self, exchange, plural):
        body = exchange.json()
        body["metadata"].setdefault("namespace", NAMESPACE)
        exchange.body = json.dumps(body)
        super()._create(exchange, plural)

    def _run(self, name, uid):
        self._change("pods", name, uid, lambda pod: pod["status"].update(containerStatuses=[
            self._container(pod, {"waiting": {"reason": self.reason, "message": "manifest unknown"}})]))

    def set_reason(self, reason):
        self.reason = reason
        for index in range(2):
            name = f"test-worker-{index}"
            self._later(self._run, name, self.objects["pods", name]["metadata"]["uid"])


def test_a_client_is_told_why_its_job_waits(muster):
    with WithoutImages() as kube, serving(muster, kube) as get:
        def waiting():
            return json.loads(get("/jobs/test")[1])["status"].get("waiting", {})

        client = muster.start("compat", "elasticdl-client", "--master", get.url, "--token-file", "token", "--strategy", "AllReduce",
                              "--worker-num", "2", "--image", "nowhere/image", "--task", "test")
        said = read_until(client.stderr, "manifest unknown")[-1].replace("(and 1 more) ", "")  # the second Pod may have followed
        assert re.fullmatch(r"muster: job test: Created, 0 of 2 running: waiting for worker-0 and 1 more; worker-[01] cannot pull "
                            r"its image \(ErrImagePull\): manifest unknown\n", said), said
        sentence = "worker-0 (and 1 more) cannot pull its image (ErrImagePull): manifest unknown"
        wait_until(lambda: waiting() == {"reason": "ErrImagePull", "message": sentence})
        assert f"\n  {sentence}\n" in muster("status", f"kubernetes/{NAMESPACE}/test", code=0).stdout
        kube.set_reason("ImagePullBackOff")
        wait_until(lambda: "worker-0 (and 1 more) cannot pull its image (ImagePullBackOff)" in waiting().get("message", ""))
        kube.set_reason("CreateContainerConfigError")
        said = [line for line in read_until(client.stderr, "CreateContainerConfigError") if "job test: " in line]
        assert len(said) == 1, "an image that cannot be pulled is told once"
        kube.set_reason("ContainerCreating")
        wait_until(lambda: waiting() == {})
        client.kill()
        client.wait()


def test_a_master_without_jobs_has_an_empty_list(muster):
    with LivingKube() as kube, serving(muster, kube) as get:
        assert get("/jobs") == (200, '{"jobs": []}\n')
