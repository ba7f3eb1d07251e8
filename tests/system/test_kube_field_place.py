"""A field that the server does not know, which it names without file or line: both are said, with the column."""

import functools
import json

import pytest

from fake_kube import refuse
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig

POD = """\
kind: Pod
spec:
  containers:
  - name: tensorflow
    image: i
    fieldOfTomorrow: Always
"""
JOB = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: story}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: tensorflow
            image: i
            fieldOfTomorrow: Always
"""
FIELD = 'unknown field "spec.containers[0].fieldOfTomorrow"'


@pytest.fixture
def kube(muster, tmp_path):
    with LivingKube() as server:
        server.trouble = judge
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", server.origin))
        yield server


def judge(exchange):
    """As a real server judges a Pod, in its words."""
    if exchange.method != "POST" or not exchange.path.endswith("/pods") or "fieldOfTomorrow" not in exchange.body.decode():
        return False
    if exchange.query.get("fieldValidation") == "Strict":
        message = f'Pod in version "v1" cannot be handled as a Pod: strict decoding error: {FIELD}'
        return refuse(400, reason="BadRequest", message=message)(exchange)
    warning = "Warning: 299 - " + json.dumps(FIELD)
    exchange.answer = functools.partial(lambda answer, *what: answer(*what, warning), exchange.answer)
    return False


@pytest.fixture(params=["job", "template"])
def call(request, muster):
    """The words that name the file, and the place there."""
    if request.param == "job":
        (muster.folder / "job.yaml").write_text(JOB)
        return ["-f", "job.yaml"], "job.yaml:13:30"
    (muster.folder / "pod.yaml").write_text(POD)
    return ["--name", "story", "--pod-template", "pod.yaml", "--", "true"], "pod.yaml:6:22"


@pytest.mark.usefixtures("kube")
def test_a_job_that_is_made_names_it_in_the_warning(muster, call):
    words, place = call
    told = muster("run", "--on", "kubernetes", *words, code=0).stderr
    assert told.count(f"muster: Warning: {FIELD} ({place})\n") == 1


@pytest.mark.usefixtures("kube")
def test_a_rehearsal_names_it(muster, call):
    words, place = call
    told = muster("run", "--on", "kubernetes", "--dry-run=server", *words, code=2).stderr
    assert f"strict decoding error: {FIELD} ({place})" in told
