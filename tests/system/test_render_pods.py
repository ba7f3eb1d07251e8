"""`render --as pods` and `--as k8s-tensorflow`: the objects that a cluster would be given, word for word in
tests/golden/kubernetes/ (golden.py), and as kubectl reads them where it was built.

`MUSTER_WRITE_GOLDEN=1` writes the golden files anew."""

import json
import re

import pytest

import golden
import kubectl

TEMPLATE = """\
apiVersion: v1
kind: Pod
metadata:
  name: of-the-team
  labels: {team: vision}
spec:
  schedulerName: patient
  containers:
  - name: main
    image: registry.example/train:1
    command: [sleep, infinity]
    env:
    - {name: DATA, value: /data}
    volumeMounts:
    - {name: scratch, mountPath: /scratch}
  - name: watch
    image: registry.example/watch:1
  volumes:
  - name: scratch
    emptyDir: {}
"""

JOB = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: filed
  namespace: research
spec:
  runPolicy:
    gracePeriodSeconds: 60
  tfReplicaSpecs:
    PS:
      template:
        spec:
          securityContext: {runAsUser: 0}
          containers:
          - name: tensorflow
            image: registry.example/train:1
            ports: [{name: tfjob-port, containerPort: 2345}]
    Master:
      template:
        metadata:
          annotations: {note: one}
        spec:
          containers:
          - name: tensorflow
            image: registry.example/train:1
            args: [--lead, $(MUSTER_ROLE)]
"""

SHAPED = ["--image", "registry.example/train:2", "-n", "research", "--cpu", "500m", "--memory", "2Gi", "--gpu", "1",
          "--node-selector", "disk=ssd", "--toleration", "gpu=yes:NoSchedule", "--volume", "models:/models",
          "--volume", "data:/data:ro", "--service-account", "trainer", "--image-pull-secret", "registry", "--priority",
          "high"]

CASES = {
    "script": ["--as", "pods", "--name", "digits", "-w", "2", "train.py", "--epochs", "3"],
    "roles": ["--as", "pods", "--name", "digits", "--chief", "--ps", "1", "--evaluator", "--grace", "1m",
              "-e", "A=$(B)", "--", "train", "$$"],
    "shaped": ["--as", "pods", "--name", "digits", "-w", "1", "--ps", "1", "--ps-server", *SHAPED, "./train.sh"],
    "template": ["--as", "pods", "--name", "digits", "--pod-template", "pod.yaml", "train.py"],
    "fetch": ["--as", "pods", "--name", "digits", "-w", "2", "--volume", "models:/models", "--fetch", "worker-0:/logs",
              "--fetch", "worker-0:/models/final:.", "train.py"],
    "file": ["--as", "pods", "-f", "job.yaml"],
    "k8s-tensorflow": ["--as", "k8s-tensorflow", "-w", "2", "--ps", "1"],
    "k8s-tensorflow-with-lb": ["--as", "k8s-tensorflow", "-w", "1", "--ps", "2", "--image", "tensorflow/tf_grpc_server",
                               "--grpc-port", "3333", "--request-load-balancer"],
    "k8s-tensorflow-with-prefix": ["--as", "k8s-tensorflow", "-w", "1", "--ps", "1", "--name", "mine", "-e", "A=$(B)",
                                   "--image", "me/server"],
}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "train.py").write_text("print('hello')\n")
    (tmp_path / "train.sh").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "train.sh").chmod(0o755)
    (tmp_path / "pod.yaml").write_text(TEMPLATE)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def objects_of(muster, *arguments):
    rendered = json.loads(muster("render", "-o", "json", *arguments, code=0).stdout)
    assert (rendered["apiVersion"], rendered["kind"]) == ("v1", "List")
    return rendered["items"]


def pods_of(muster, *arguments):
    return [item for item in objects_of(muster, "--as", "pods", *arguments) if item["kind"] == "Pod"]


WHOLE = ["script", "file", "k8s-tensorflow", "k8s-tensorflow-with-lb", "k8s-tensorflow-with-prefix"]


def particular(text):
    """Without what is the same in every job: its Service and NetworkPolicy, and further Pods of a role."""
    return "---\n".join(one for one in text.split("---\n")
                        if "kind: Service\n" not in one and "kind: NetworkPolicy\n" not in one
                        and not re.search(r'muster/index: "[1-9]', one))


@pytest.mark.parametrize("name", CASES)
def test_objects_are_those_of_the_golden_file(muster, files, name):
    text = muster("render", *CASES[name], code=0).stdout
    if name in WHOLE:
        golden.compare(name, text)
    else:
        golden.compare(name, particular(text), muster("render", *CASES["script"], code=0).stdout)


@kubectl.needed
@pytest.mark.parametrize("name", CASES)
def test_kubectl_reads_every_field_as_it_is_meant(muster, files, name):
    """The YAML against the JSON: an unknown field, or one of another type, does not come back from kubectl."""
    text = muster("render", *CASES[name], code=0).stdout
    assert kubectl.read(text) == [kubectl.without_empty(item) for item in objects_of(muster, *CASES[name])]


def test_a_tfjob_for_kubernetes_is_a_file_of_the_same_pods(muster, files):
    """What is printed can be run again: flags and files are one model."""
    arguments = ["--name", "digits", "-w", "2", *SHAPED, "--pod-template", "pod.yaml", "train.py"]
    (files / "made.yaml").write_text(muster("render", "--on", "kubernetes", *arguments, code=0).stdout)
    assert pods_of(muster, "-f", "made.yaml") == pods_of(muster, *arguments)


def test_flags_shape_the_pods_of_a_file(muster, files):
    pods = pods_of(muster, "-f", "job.yaml", "--image", "other:1", "--namespace", "lab", "--pod-template", "pod.yaml")
    assert [pod["metadata"]["namespace"] for pod in pods] == ["lab", "lab"]
    for pod in pods:
        assert [c["image"] for c in pod["spec"]["containers"]] == ["other:1", "registry.example/watch:1"]
        assert pod["spec"]["schedulerName"] == "patient"
    assert pods[0]["spec"]["containers"][0]["args"] == ["--lead", "$(MUSTER_ROLE)"]


@kubectl.needed
@pytest.mark.parametrize("script", ["", "   \n", "\ttab\n  lead\r\ntrail  \n---\n# c: d\n\xe4\u2028x\n\n\nend", "- a\n\x1b[0m\n"])
def test_a_script_arrives_as_it_is(muster, files, script):
    (files / "odd.py").write_bytes(script.encode())
    text = muster("render", "--as", "pods", "--name", "digits", "odd.py", code=0).stdout
    arrived = [item["data"] for item in kubectl.read(text) if item["metadata"]["name"].startswith("digits.files-0-")]
    assert arrived == [{"odd.py": script}]


def test_a_binary_script_travels_as_bytes(muster, files):
    (files / "model.pyz").write_bytes(b"PK\x00\xff")
    maps = [item for item in objects_of(muster, "--as", "pods", "model.pyz") if "binaryData" in item]
    assert [item["binaryData"] for item in maps] == [{"model.pyz": "UEsA/w=="}]


def test_a_module_of_the_image_is_run(muster, files):
    [pod] = pods_of(muster, "--module", "package.train", "--epochs", 3)
    assert pod["spec"]["containers"][0]["command"] == ["python3", "-u", "-m", "package.train", "--epochs", "3"]


def test_a_program_of_the_image_is_looked_for_nowhere_here(muster, files):
    for arguments in ["there-is-no-such-program", "-v"], ["--", "/opt/there/is/none", "-v"]:
        command = pods_of(muster, *arguments)[0]["spec"]["containers"][0]["command"]
        assert command == [word for word in arguments if word != "--"]


@pytest.mark.parametrize("arguments, sentence", [
    (["--cpu", "two", "train.py"], "--cpu: 'two' is not a quantity"),
    (["--memory", "4GB", "train.py"], "--memory: '4GB' is not a quantity; did you mean '4G'?"),
    (["--gpu", "many", "train.py"], "--gpu: 'many'"),
    (["--namespace", "A", "train.py"], "--namespace: 'A' is not a valid namespace name"),
    (["--volume", "/here:/there", "train.py"], "--volume: '/here:/there' is not a volume (expected CLAIM:/PATH"),
    (["--toleration", "a:Never", "train.py"], "--toleration: 'a:Never' is not a toleration"),
    (["--node-selector", "ssd", "train.py"], "--node-selector: 'ssd' is not a label"),
    (["--pod-template", "none.yaml", "train.py"], "--pod-template: none.yaml: no such file"),
    (["--pod-template", "train.py", "train.py"], "--pod-template: train.py: "),
    (["--pod-template", "two.yaml", "train.py"], "--pod-template: two.yaml: contains 2 documents (expected one Pod)"),
    (["none.py"], "none.py: no such file"),
    (["./none.sh"], "./none.sh: no such file; to run a program of the image, write -- PROGRAM ARGS"),
    (["large.py"], "large.py has 1000001 bytes, but a ConfigMap holds at most 1000000"),
    (["--name", "a" * 60, "train.py"], "has at most 63 characters, so that 54 are left for the job"),
])
def test_what_no_cluster_would_take_is_told(muster, files, arguments, sentence):
    (files / "two.yaml").write_text("a: 1\n---\na: 2\n")
    (files / "large.py").write_text("#" * 1000001)
    done = muster("render", "--as", "pods", *arguments, code=2)
    assert done.stdout == ""
    assert sentence in done.stderr


def test_a_file_has_to_name_its_images(muster, files):
    (files / "job.yaml").write_text(JOB.replace("            image: registry.example/train:1\n", "", 1))
    done = muster("render", "--as", "pods", "-f", "job.yaml", code=2)
    assert "spec.tfReplicaSpecs[PS].template.spec.containers[0].image: Required value" in done.stderr
    assert pods_of(muster, "-f", "job.yaml", "--image", "a:1")


def test_servers_have_no_job(muster, files):
    assert "cannot be used with --as k8s-tensorflow" in muster("render", "--as", "k8s-tensorflow", "train.py", code=2).stderr
    assert "no server would run" in muster("render", "--as", "k8s-tensorflow", "-w", "0", code=2).stderr
    for prefix in "Mine", "0", "a" * 60:
        assert "cannot begin" in muster("render", "--as", "k8s-tensorflow", "--name", prefix, code=2).stderr


def test_options_of_pods_mean_nothing_to_processes(muster, files):
    done = muster("run", "--image", "a:1", "--memory", "1Gi", "--", "true", code=0)
    assert "ignored on this machine: image\n" in done.stderr
