"""The template of examples/: its job trains under real TensorFlow, and its page has the newest model by itself."""

import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from conftest import ROOT, read_line
from needs import needs_tensorflow

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]

TEMPLATE = ROOT / "examples" / "template"
LIMIT = 900  # half a minute where nothing else runs
PYTHON = {"VIRTUAL_ENV": sys.prefix, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"}


class Page:
    """The web server of a folder of models, asked as the page asks it."""

    def __init__(self, folder):
        self.process = subprocess.Popen([sys.executable, TEMPLATE / "web.py", "--model-dir", folder, "--host", "127.0.0.1",
                                         "--port", "0"], stdout=subprocess.PIPE)

    def ask(self, path, question=None):
        body = None if question is None else json.dumps(question).encode()
        try:
            with urllib.request.urlopen(self.address + path, body, timeout=LIMIT) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            return json.loads(refused.read())["error"]

    def model(self):
        return json.loads(self.ask("/model"))["model"]

    def until_it_listens(self):
        self.address = f"http://127.0.0.1:{read_line(self.process.stdout, LIMIT).split()[-1]}"

    def is_right(self):
        picked = json.loads(self.ask("/digit"))
        return json.loads(self.ask("/predict", picked["pixels"]))["digit"] == picked["digit"]


@pytest.fixture
def page(tmp_path):
    page = Page(tmp_path / "models" / "export")
    page.until_it_listens()
    yield page
    page.process.kill()
    page.process.communicate()


@pytest.mark.long
def test_the_page_has_a_new_model_by_itself(muster, page, tmp_path):
    assert "<title>Digits</title>" in page.ask("/")
    assert page.model() is None and page.ask("/predict", [0] * 64) == "there is no model yet"
    assert page.ask("/predict", [0] * 63) == "64 pixels are expected"
    train = ["run", "-f", TEMPLATE / "template.yaml", "--param", "JOB_NAME=training-distributed-user1", "--param",
             "IMAGE_NAME=training-user1", "--param", "BUCKET=user1", "--param", "WORKERS=1"]
    done = muster(*train, "-p", "EPOCHS=5", "-p", f"FOLDER={tmp_path}/models", code=0, env=PYTHON, cwd=ROOT, limit=LIMIT)
    assert "without PersistentVolumeClaim 'user1', Deployment 'user1-web', Service 'user1-web'" in done.stderr
    exported, = (line.split()[-1] for line in done.stdout.splitlines() if "exported" in line)
    assert list((tmp_path / "models" / "logs" / "training-distributed-user1").glob("events.out.tfevents.*"))

    assert page.model() == os.path.basename(exported)
    assert sum(page.is_right() for _ in range(50)) >= 25  # by chance it would be five
    newer = os.path.join(os.path.dirname(exported), f"{int(page.model().split('.')[0]) + 1}.keras")
    shutil.copy(exported, f"{newer}.part")
    assert page.model() == os.path.basename(exported)
    os.rename(f"{newer}.part", newer)
    assert page.model() == os.path.basename(newer)
    with open(os.path.join(os.path.dirname(exported), f"{int(page.model().split('.')[0]) + 1}.keras"), "w") as broken:
        broken.write("half a model")
    assert page.model() == os.path.basename(newer) and json.loads(page.ask("/predict", [0] * 64))["model"] == os.path.basename(newer)


def test_the_objects_are_those_of_the_workshop(muster):
    done = muster("render", "-f", TEMPLATE / "template.yaml", "-p", "JOB_NAME=first", "-p", "BUCKET=user1", "-o", "json", code=0)
    items = json.loads(done.stdout)["items"]
    assert [(item["kind"], item["metadata"]["name"]) for item in items] == [
        ("PersistentVolumeClaim", "user1"), ("TFJob", "first"), ("Deployment", "user1-web"), ("Service", "user1-web"),
        ("Deployment", "user1-tensorboard"), ("Service", "user1-tensorboard")]
    assert items[1]["spec"]["tfReplicaSpecs"].keys() == {"Chief", "Worker", "PS"}
    assert done.stderr == ""
