"""`compat tf-spawner` on a real cluster: the tour of the old tool's document, its questions, its names, and its end.

The command lines are those of the document, by a link called tf-spawner; kubectl looks at what they made. The node has
no images of a registry and no proxy for Services, so that the templates name what it has, and Services are headless.
"""

import json
import re
import select
import subprocess
import sys

import pytest

from conftest import LIMIT, ROOT, few, python_pod, real_pod
from needs import needs_tensorflow
from test_real_node import needs_python_of_the_system

KINDS = "pods,services,configmaps"
TAGGED = "training_attempt"


class Spawner:
    """A checkout of the old tool: the program, its templates and its examples, in a folder of a user who is logged in."""

    def __init__(self, muster, namespace):
        self.muster, self.namespace, self.folder = muster, namespace, muster.folder
        (self.folder / "tf-spawner").symlink_to(ROOT / "build" / "muster")
        (self.folder / "examples").mkdir()
        script = "echo script of $HOSTNAME: $WORKER_NUMBER of $TOT_WORKERS, $GREETING, $TF_CONFIG\nsleep 3600\n"
        self.write("examples/mnist.py", script)
        self.write_templates(real_pod("PODNAME", "sh", "/script/training-script.py"))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def write_templates(self, pod, service="service.yaml", pods="pod.yaml"):
        """JSON is YAML. Metadata and env are placeholders, as in the old tool's own."""
        container = pod["spec"]["containers"][0]
        container["volumeMounts"] = [*container.get("volumeMounts", []), {"name": "script", "mountPath": "/script"}]
        pod["spec"].setdefault("volumes", []).append({"name": "script", "configMap": {"name": "script"}})
        pod["metadata"] = {"name": "PODNAME", "labels": {"app": "APPNAME", TAGGED: "ATTEMPT"}}
        self.write(pods, json.dumps(pod))
        self.write(service, json.dumps({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "NAME", "labels": {TAGGED: "ATTEMPT"}},
            "spec": {"clusterIP": "None", "ports": [{"port": "PORT", "targetPort": "TARGET_PORT", "protocol": "TCP"}],
                     "selector": {"app": "RUN_SELECTOR"}}}))

    def __call__(self, *arguments, answer="", code=0):
        """A line of the document, as a shell in that folder runs it."""
        done = subprocess.run(["./tf-spawner", *arguments], cwd=self.folder, env=self.muster.environment, input=answer,
                              capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def names(self, selector=TAGGED):
        found = self.namespace.list(KINDS, selector)
        return sorted(f"{item['kind']} {item['metadata']['name']}" for item in found)


@pytest.fixture
def spawner(muster, namespace):
    return Spawner(muster, namespace)


IMAGE = ["-i", "localhost/busybox:test"]
TWO = ["ConfigMap script", "Pod worker0", "Pod worker1", "Service worker0", "Service worker1"]


def test_the_tour_of_the_old_document(spawner, namespace):
    assert spawner(*IMAGE, "examples/mnist.py").stdout == "generated with label training_attempt=tf-spawner\n"
    for index in range(2):
        namespace.until_phase(f"worker{index}", "Running")
    assert re.findall(r"^worker\d", namespace.kubectl("get", "pods"), re.MULTILINE) == ["worker0", "worker1"]
    follow = subprocess.Popen(
        ["kubectl", "--namespace", namespace.name, "logs", "-f", "worker0"], stdout=subprocess.PIPE, text=True,
        env=namespace.cluster.environment)
    assert select.select([follow.stdout], [], [], LIMIT)[0]
    line = follow.stdout.readline()
    follow.kill()
    follow.wait()
    assert line.startswith("script of worker0: 0 of 2, , ")
    assert json.loads(line.split(", ", 2)[2]) == {
        "cluster": {"worker": ["worker0:1999", "worker1:1999"]}, "task": {"type": "worker", "index": 0}}
    assert spawner.names("training_attempt=tf-spawner") == TWO
    done = spawner("-d", answer="y\n")
    question, *removed = done.stdout.splitlines()
    assert question == "This will delete the resources tagged with: tf-spawner. Confirm with y/[n]"
    assert sorted(removed) == ["removing 'script' config map", "removing 'worker0' pod", "removing 'worker0' service",
                               "removing 'worker1' pod", "removing 'worker1' service"]
    assert spawner.names() == []


@pytest.mark.long
def test_every_option_at_once(spawner, namespace):
    (spawner.folder / "gpu").mkdir()
    spawner.write_templates(real_pod("PODNAME", "replaced"), "gpu/service.yaml", "gpu/pod-gpu.yaml")
    spawner.write("examples/envfile.example", "S3_ENDPOINT=\n\n# greeting\nGREETING=hello=$(HOSTNAME)\n")
    spawner.write("examples/entrypoint.sh", "for i in 1 2; do\n  echo install $i  # no pip here\ndone\n"
                                            "sh /script/training-script.py\n")
    spawner.write("pod.yaml", "no: template")
    call = ["-w", "3", "-n", namespace.name, "-p", "2222", "-c", "examples/entrypoint.sh", "--pod-file",
            "gpu/pod-gpu.yaml", "-t", "mine", "-e", "examples/envfile.example", *IMAGE, "examples/mnist.py"]
    spawner(*call)
    assert len(spawner.names("training_attempt=mine")) == 7
    # What kubectl would make of the objects that are printed is what is there.
    namespace.kubectl("diff", "-f", "-", input=spawner("--dry-run", *call).stdout)
    assert namespace.get("service", "worker2")["spec"]["ports"][0]["port"] == 2222
    spawner("-d", "mine", answer="y\n")
    assert spawner.names() == []


def test_a_training_of_the_same_tag_is_left_alone(spawner):
    spawner(*IMAGE, "examples/mnist.py")
    done = spawner(*IMAGE, "examples/mnist.py", code=4)
    assert done.stdout == "muster compat tf-spawner -d -t tf-spawner\n"
    assert "a job with label tf-spawner exists already" in done.stderr
    assert spawner.names() == TWO


def test_names_that_another_tag_has_are_explained(spawner):
    spawner(*IMAGE, "-t", "first", "examples/mnist.py")
    done = spawner(*IMAGE, "-r", "examples/mnist.py", code=1)
    assert "'first'; delete it (muster compat tf-spawner -d -t first)" in done.stderr
    assert spawner.names("training_attempt=first") == spawner.names() == TWO


def test_what_was_made_goes_when_one_cannot_be_made(spawner, namespace):
    namespace.create(real_pod("worker1", "sleep", "3600"))
    done = spawner(*IMAGE, "examples/mnist.py", code=1)
    assert "deployment failed, cleaning up" in done.stderr and "'worker1'" in done.stderr
    namespace.kubectl("wait", "--for=delete", f"--timeout={LIMIT}s", "pod/worker0")
    assert spawner.names() == []
    assert namespace.list("pods")[0]["metadata"]["name"] == "worker1"


@pytest.mark.parametrize("answer", few(["\n", "n\n", "", "yes\n"]))
def test_nothing_but_y_is_a_yes(spawner, answer):
    spawner(*IMAGE, "-w", "1", "examples/mnist.py")
    assert "removing" not in spawner("-d", answer=answer).stdout
    assert len(spawner.names()) == 3


def test_a_name_is_free_again_when_its_deletion_is_told(spawner):
    for _ in range(2):
        spawner(*IMAGE, "examples/mnist.py")
        spawner("-d", "-t", "tf-spawner", answer="y\n")
    assert spawner.names() == []


def test_a_cluster_that_is_not_there_is_one_sentence(spawner):
    for arguments in [["examples/mnist.py"], ["-d"]]:
        done = spawner("--context", "elsewhere", *arguments, answer="y\n", code=2)
        assert "elsewhere" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.long
@needs_tensorflow
@needs_python_of_the_system
def test_two_workers_train_in_step(spawner, namespace):
    spawner.write_templates(python_pod("PODNAME"))
    spawner.write("examples/entrypoint.sh", "# a loop, and a line that is none\n\nfor step in 1 2; do\n  echo begins\n"
                                            f"done\n{sys.prefix}/bin/python /script/training-script.py --epochs 2\n")
    spawner.write("examples/mnist.py", (ROOT / "examples" / "digits" / "train.py").read_text())
    spawner("-i", "localhost/host:test", "-c", "examples/entrypoint.sh", "examples/mnist.py")
    losses = []
    for index in range(2):
        namespace.until_phase(f"worker{index}", "Succeeded")
        lines = namespace.kubectl("logs", f"worker{index}").splitlines()
        assert lines.count("begins") == 2
        losses.append([line for line in lines if re.match("epoch ", line)])
    assert losses[0] == losses[1] and len(losses[0]) == 2
    spawner("-d", answer="y\n")
    assert spawner.names() == []
