"""`compat tf-spawner`: the objects of the old tool, by its options, its files and its document's five-minute tour."""

import re

import pytest

import golden
import kubectl

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: PODNAME
  labels:
    app: APPNAME
    training_attempt: ATTEMPT
spec:
  containers:
  - name: tensorflow
    resources:
      limits: {nvidia.com/gpu: 1}
    env:
    volumeMounts:
    - {name: script, mountPath: /script}
    command: [python, /script/training-script.py]
  volumes:
  - name: script
    configMap: {name: script}
  restartPolicy: Never
"""

SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: NAME
  labels: {training_attempt: ATTEMPT, made: beside}
spec:
  ports:
  - {port: PORT, targetPort: TARGET_PORT, protocol: TCP}
  selector: {app: RUN_SELECTOR}
"""

CASES = {
    "tf-spawner": ["examples/mnist.py"],
    "tf-spawner-all": ["-w", "3", "-n", "research", "-p", "2222", "-c", "examples/entrypoint.sh", "--pod-file",
                       "gpu/pod-gpu.yaml", "-t", "mine", "-e", "examples/envfile.example", "-i",
                       "tensorflow/tensorflow:2.1.0-gpu-py3", "examples/mnist.py"],
}


@pytest.fixture
def spawner(muster, tmp_path):
    for name, text in {
        "examples/mnist.py": "print('hello')\n",
        "examples/entrypoint.sh": "# first\npip install pandas\n\npython /script/training-script.py\n",
        "examples/envfile.example": "S3_ENDPOINT=\nAWS_LOG_LEVEL=3\n\n# secret\nS3_SECRET_KEY=a=b$c\n",
        "gpu/pod-gpu.yaml": POD,
        "gpu/service.yaml": SERVICE,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return lambda *arguments, code=0: muster("compat", "tf-spawner", "--dry-run", *arguments, code=code)


@pytest.mark.parametrize("name", CASES)
def test_objects_are_those_of_the_golden_file(spawner, name):
    done = spawner(*CASES[name])
    golden.compare(name, done.stdout)
    assert re.fullmatch(r"muster: objects with the label training_attempt=(tf-spawner|mine)\n", done.stderr)


@kubectl.needed
@pytest.mark.parametrize("name", CASES)
def test_kubectl_reads_the_objects(spawner, name):
    objects = kubectl.read(spawner(*CASES[name]).stdout)
    workers = 3 if name.endswith("all") else 2
    assert [item["metadata"]["name"] for item in objects] == [
        "script", *(f"worker{i}" for i in range(workers)), *(f"worker{i}" for i in range(workers))]
    services = [item for item in objects if item["kind"] == "Service"]
    pods = [item for item in objects if item["kind"] == "Pod"]
    for service, pod in zip(services, pods, strict=True):
        assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()


def test_a_random_tag_is_another_one_each_time(spawner):
    tags = {re.search(r"training_attempt=([0-9a-f]{8})\n", spawner("-r", "-t", "mine", "examples/mnist.py").stderr)[1]
            for _ in range(2)}
    assert len(tags) == 2


def test_templates_of_the_folder_are_read_without_being_named(spawner, tmp_path):
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "service.yaml").write_text(SERVICE)
    text = spawner("examples/mnist.py").stdout
    assert text.count("nvidia.com/gpu: 1\n") == 2
    assert text.count("made: beside\n") == 2


def test_a_label_behind_delete_is_the_tag(spawner):
    command = "kubectl delete{} services,configmaps,pods -l training_attempt={}\n"
    assert spawner("-d").stdout == command.format("", "tf-spawner")
    assert spawner("-d", "RUN_LABEL").stdout == command.format("", "RUN_LABEL")
    assert spawner("-d", "-t", "run_name", "-n", "lab").stdout == command.format(" -n lab", "run_name")


@pytest.mark.parametrize("arguments", [["examples/mnist.py"], ["-d"]])
def test_a_cluster_that_is_not_there_is_one_sentence(muster, spawner, arguments):
    """The program that speaks to clusters takes over, and says so itself."""
    done = muster("compat", "tf-spawner", "--kubeconfig", "none", *arguments, code=2, input="y\n")
    assert re.fullmatch(r"muster: .*none.*\n", done.stderr) and not done.stdout


@pytest.mark.parametrize("arguments, sentence", [
    ([], "no script specified"),
    (["none.py"], "none.py: no such file"),
    (["--pod-file", "none.yaml", "examples/mnist.py"], "none.yaml: no such file"),
    (["--pod-file", "examples/mnist.py", "examples/mnist.py"], "the template of a Pod has no spec.containers[0]"),
    (["-t", "no tag", "examples/mnist.py"], "'no tag' is not a tag"),
    (["-n", "No", "examples/mnist.py"], "'No' is not a valid name of a namespace"),
    (["-w", "0", "examples/mnist.py"], "-w: '0'"),
    (["binary"], "binary: not a text in UTF-8"),
])
def test_what_is_wrong_is_told_and_nothing_printed(spawner, tmp_path, arguments, sentence):
    (tmp_path / "binary").write_bytes(b"\0")
    done = spawner(*arguments, code=2)
    assert done.stdout == ""
    assert sentence in done.stderr
