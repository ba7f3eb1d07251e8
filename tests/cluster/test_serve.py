"""`muster serve` on a real Kubernetes: jobs that clients of ElasticDL's launcher ask for over HTTP."""

import concurrent.futures
import json
import os
import re
import shutil
import signal
import ssl
import sys
import time
import urllib.error
import urllib.request

import pytest

import images
import oci
from conftest import BINARY, LIMIT, ROOT, Muster, python_pod, until
from needs import needs_tensorflow
from test_image import NAME, image, image_file  # noqa: F401
from test_operator import crd  # noqa: F401
from test_real_node import needs_python_of_the_system
from test_run import wait_for_line


ANY_CERTIFICATE = ssl._create_unverified_context()


class Client:
    """What clients ask of a master."""

    def __init__(self, address, token=None):
        self.address = address
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self, path, method="GET"):
        request = urllib.request.Request(self.address + path, method=method, headers=self.headers)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT, context=ANY_CERTIFICATE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read().decode()

    def job(self, name):
        return json.loads(self.ask(f"/jobs/{name}")[1])

    def until_ended(self, name):
        def ended():
            states = {c["type"] for c in self.job(name).get("status", {}).get("conditions", []) if c["status"] == "True"}
            return states & {"Succeeded", "Failed"}
        return until(ended, bool)


class Master(Client):
    """`muster serve` on this machine."""

    def __init__(self, muster, *arguments, listen="127.0.0.1:0"):
        self.process = muster.start("serve", "--listen", listen, "--image", NAME, *arguments)
        line = wait_for_line(self.process.stderr, "are created at")
        super().__init__(re.search(r"https?://\S+(?=/create)", line)[0], muster.token())

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


def pod_file(folder, script, command=None, **files):
    """A Pod template with this machine's Python, in a folder of its own with this exec.py and other files."""
    files = {"exec.py": script, **{f"{name}.py": text for name, text in files.items()}}
    (folder / "task").mkdir()
    spec = python_pod("any")["spec"]
    spec["securityContext"] = {"runAsUser": 0}
    container, = spec["containers"]
    container["env"] = [{"name": "PATH", "value": f"{sys.prefix}/bin:/usr/bin:/bin"}]
    container.update(workingDir="/task")
    del container["command"]
    if command:
        container["command"] = command
    spec["volumes"] += [{"name": "task", "hostPath": {"path": str(folder / "task")}}, {"name": "own", "emptyDir": {}}]
    container["volumeMounts"].append({"name": "own", "mountPath": "/task"})
    for name, text in files.items():
        (folder / "task" / name).write_text(text)
        container["volumeMounts"].append({"name": "task", "mountPath": f"/task/{name}", "subPath": name, "readOnly": True})
    path = folder / "pod.yaml"
    path.write_text(json.dumps({"spec": spec}))
    return path


@pytest.fixture
def serve(muster, namespace, image, crd):  # noqa: F811
    started = []

    def start(*arguments, **options):
        started.append(Master(muster, *arguments, **options))
        return started[-1]

    yield start
    for master in started:
        master.end()


def nothing_is_left(namespace):
    until(lambda: [(made["kind"], made["metadata"]["name"]) for made in namespace.list("pods,services,secrets,tfjobs")],
          lambda left: not left)


SAY = """
import json, os, sys
config = json.loads(os.environ["TF_CONFIG"])
print(config["task"]["type"], config["task"]["index"], "of", os.environ["NUM_WORKERS"], len(config["cluster"]["worker"]))
"""
CREATE = "/create?strategy=AllReduce&n_ps=0&img=localhost/host:test&name=test"


@needs_python_of_the_system
def test_a_job_of_the_old_request_runs_and_ends(serve, namespace, tmp_path):
    master = serve("--pod-file", pod_file(tmp_path, SAY))
    query = f"{CREATE}&n_worker=3&server=muster"
    assert master.ask(query) == (200, "OK\n")
    assert master.ask(query)[0] == 409
    assert master.until_ended("test") == {"Succeeded"}, json.dumps(master.job("test")["status"], indent=1)
    assert [namespace.kubectl("logs", f"test-worker-{i}").splitlines()[1:] for i in range(3)] == [[f"worker {i} of 3 3"] for i in range(3)]
    labels = json.loads(namespace.kubectl("get", "pod", "test-worker-0", "-o", "json"))["metadata"]["labels"]
    assert (labels["type"], labels["app"]) == ("worker", "test-0")
    assert json.loads(master.ask("/jobs")[1])["jobs"][0]["state"] == "Succeeded"
    assert master.ask("/jobs/test", "DELETE") == (200, "OK\n")
    assert master.ask("/jobs/test")[0] == 404


@needs_python_of_the_system
def test_a_job_of_the_same_name_may_follow_at_once(serve, namespace, tmp_path):
    """While the kubelet is still busy with the Pods of the one before, and gives new ones what it knows under the names of theirs."""
    master = serve("--pod-file", pod_file(tmp_path, SAY))
    for _ in range(2):
        assert master.ask(f"{CREATE}&n_worker=4&server=muster") == (200, "OK\n")
        assert master.until_ended("test") == {"Succeeded"}, json.dumps(master.job("test")["status"], indent=1)
        assert master.ask("/jobs/test", "DELETE") == (200, "OK\n")
    nothing_is_left(namespace)


MANY = """
import json, os, sys, time
name = "-".join(str(word) for word in json.loads(os.environ["TF_CONFIG"])["task"].values())
for number in range(30000):
    print(name, number, "x" * 60)
print("no line feed", end="")
"""


@pytest.mark.sanitize
@needs_python_of_the_system
def test_a_caller_that_reads_slowly_gets_each_line_of_each_pod_once(serve, namespace, tmp_path):
    """Several times what the master holds for a caller. A busy containerd 1.6 itself loses the last lines of a container that ends."""
    master = serve("--pod-file", pod_file(tmp_path, MANY))
    assert master.ask(f"{CREATE}&n_worker=3&server=muster")[0] == 200
    request = urllib.request.Request(f"{master.address}/jobs/test/log?follow=true", headers=master.headers)
    with urllib.request.urlopen(request, timeout=LIMIT) as log:
        assert master.until_ended("test") == {"Succeeded"}
        lines = log.read().decode().splitlines()
    for index in range(3):
        mine = [line for line in lines if line.startswith(f"worker-{index} | ")]
        assert mine == [f"worker-{index} | {line}" for line in namespace.kubectl("logs", f"test-worker-{index}").splitlines()]
        assert mine[1:20000] == [f"worker-{index} | worker-{index} {number} {'x' * 60}" for number in range(19999)]
    assert master.ask("/jobs/test/log?role=worker&index=2&tail=2")[1].splitlines() == mine[-2:]
    last = re.escape(mine[-1].removeprefix("worker-2 | "))
    assert re.fullmatch(rf"worker-2 \| 20\S+Z {last}\n", master.ask("/jobs/test/log?index=2&tail=1&timestamps=true")[1])
    for query, sentence in (("follow=yes", "follow: 'yes' is neither"), ("since=now", "since"), ("index=-1", "index: "), ("a=b", "a: unknown")):
        status, text = master.ask(f"/jobs/test/log?{query}")
        assert status == 400 and text.startswith(sentence), text
    assert master.ask("/jobs/other/log")[0] == 404


@pytest.mark.sanitize
@needs_python_of_the_system
def test_a_client_prints_each_line_once_over_a_master_that_is_killed(serve, muster, tmp_path):
    script = MANY.replace("range(30000)", "range(40)").replace("    print(", "    time.sleep(0.1); print(").replace("'x' * 60)", "'x', flush=True)")
    file = pod_file(tmp_path, script)
    master = serve("--pod-file", file)
    output = tmp_path / "output"
    client = muster.start("compat", "elasticdl-client", "--master", master.address, "--strategy", "AllReduce", "--worker-num", 2,
                          "--image", "localhost/host:test", "--task", "test", stdout=output.open("w"))
    until(output.read_text, lambda said: "worker-0 5 " in said)
    master.end()
    serve("--pod-file", file, listen=master.address.removeprefix("http://"))
    assert client.wait(LIMIT) == 0, client.stderr.read()
    numbers = [int(number) for number in re.findall(r"worker-0 \| worker-0 (\d+)", output.read_text())]
    assert numbers == list(range(40))


@needs_python_of_the_system
def test_a_script_that_fails_fails_the_job(serve, tmp_path):
    master = serve("--pod-file", pod_file(tmp_path, "raise SystemExit(3)"))
    assert master.ask(f"{CREATE}&n_worker=1&server=muster")[0] == 200
    assert master.until_ended("test") == {"Failed"}
    assert master.job("test")["status"]["failure"]["exitCode"] == 3


@pytest.mark.sanitize
def test_a_wrong_request_makes_nothing(serve, namespace):
    master = serve()
    for query, sentence in (("", "strategy: missing (expected AllReduce or ParameterServer)"),
                            ("strategy=AllReduce&n_worker=1e9&img=a", "n_worker: "), ("strategy=%zz", "strategy: unknown strategy"), ("strategy", "the query cannot be read"),
                            ("strategy=AllReduce&n_worker=1&n_worker=1&img=a", "n_worker: is there twice"),
                            ("strategy=AllReduce&n_worker=a%0Ab%1B", "n_worker: 'a b?' is not"),
                            ("&".join(f"n{i}=1" for i in range(100)), "n0: unknown parameter")):
        status, text = master.ask(f"/create?{query}")
        assert status == 400 and text.startswith(sentence) and text.count("\n") == 1, text
    assert master.ask("/jobs/Not-A-Name", "DELETE")[0] == 404
    assert json.loads(master.ask("/jobs")[1]) == {"jobs": []}
    nothing_is_left(namespace)


@pytest.mark.sanitize
def test_a_master_makes_a_certificate_that_clients_know_by_its_pin(serve, muster, namespace, tmp_path):
    def pin_of(master):
        return re.search(r"--pin (sha256//\S+)", wait_for_line(master.process.stderr, "--pin"))[1]

    def create(master, pin, task, code):
        return muster("compat", "elasticdl-client", "--master", master.address, "--strategy", "AllReduce", "--image", "none", "--detach",
                      "--task", task, *(("--pin", pin) if pin else ()), code=code)

    (tmp_path / "tls").mkdir()
    (tmp_path / "other").mkdir()
    master, other = serve("--tls-dir", tmp_path / "tls"), serve("--tls-dir", tmp_path / "other")
    pin, wrong = pin_of(master), pin_of(other)
    assert pin != wrong and (tmp_path / "tls" / "tls.key").stat().st_mode & 0o777 == 0o600
    assert "its key is not the pinned one" in create(master, wrong, "test", 4).stderr
    assert "cannot verify the certificate" in create(master, None, "test", 4).stderr
    assert namespace.list("tfjobs") == []
    assert create(master, pin, "test", 0).stdout == "test\n"
    other.end()
    assert pin_of(serve("--tls-dir", tmp_path / "other")) == wrong, "a certificate that is there is used"
    (tmp_path / "tls" / "tls.key").unlink()
    assert "tls.crt' has no" in muster("serve", "--tls-dir", tmp_path / "tls", code=2).stderr


def test_a_client_that_creates_jobs_in_a_loop_is_told_to_wait(serve):
    master = serve()
    path = "/create?strategy=AllReduce&n_worker=1&img=none&name=test"
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = [master.ask(path)] + list(pool.map(master.ask, [path] * 600))
    statuses = [status for status, _ in answers]
    assert statuses[0] == 200 and set(statuses[1:]) == {409, 429}, statuses
    assert statuses.count(409) >= 199
    assert until(lambda: master.ask(path), lambda answer: answer[0] != 429)[0] == 409


OLD_SERVER = """
import http.server, json, os, subprocess
config = {}
class Old(http.server.BaseHTTPRequestHandler):
    def answer(self, status):
        self.send_response(status); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"OK")
    def do_POST(self):
        config.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(200 if self.path == "/config" else 404)
    def do_GET(self):
        if self.path != "/run":
            return self.answer(404)
        environment = dict(os.environ, NUM_WORKERS=str(config["NUM_WORKERS"]), TF_CONFIG=json.dumps(config["TF_CONFIG"]))
        subprocess.run(["python", "exec.py"], env=environment)
        self.answer(200)
    def log_message(self, *_): pass
http.server.HTTPServer(("", 7896), Old).serve_forever()
"""


@needs_python_of_the_system
def test_an_image_with_the_old_server_runs_once(serve, namespace, tmp_path):
    file = pod_file(tmp_path, SAY, command=["python", "-u", "server.py"], server=OLD_SERVER)
    master = serve("--pod-file", file)
    assert master.ask(f"{CREATE}&n_worker=2")[0] == 200
    said = [f"worker {index} of 2 2\n" for index in range(2)]

    def logs():
        return [namespace.cluster.try_kubectl("-n", namespace.name, "logs", f"test-worker-{index}").stdout for index in range(2)]

    until(logs, lambda seen: seen == said)
    master.end()
    master = serve("--pod-file", file)
    until(lambda: master.job("test")["status"], lambda status: status["replicaStatuses"]["Worker"].get("active") == 2)
    assert logs() == said, "the next master finds the Pods marked"


@needs_python_of_the_system
@pytest.mark.parametrize("script, code", [
    ("raise SystemExit(3)", 3),
    (OLD_SERVER.replace("config.update", "os._exit(4); config.update"), 4),
    (OLD_SERVER.replace("self.answer(200 if self.path", "os._exit(5) if self.path == '/config' else self.answer(200 if self.path"), 5),
    (OLD_SERVER.replace("environment = dict", "os._exit(6); environment = dict"), 6),
], ids=["before the configuration", "during it", "after it", "before the script"])
def test_a_pod_that_dies_before_its_script_has_begun_fails_the_job(serve, tmp_path, script, code):
    master = serve("--pod-file", pod_file(tmp_path, SAY, command=["python", "-u", "server.py"], server=script))
    assert master.ask(f"{CREATE}&n_worker=1")[0] == 200
    assert master.until_ended("test") == {"Failed"}
    assert master.job("test")["status"]["failure"]["exitCode"] == code


STUMBLE = """
        seen[self.path] = seen.get(self.path, 0) + 1
        if seen[self.path] == 1 and self.path != "/run":
            return self.connection.close()
        if seen[self.path] == 2 and self.path != "/run":
            return self.send_error(500)
        if seen[self.path] == 3 and self.path == "/status":
            self.send_response(200); self.end_headers()
            return self.wfile.write(b"[" * (1 << 20))
"""


@pytest.mark.sanitize
@needs_python_of_the_system
def test_a_server_that_fails_and_lies_is_asked_again(serve, namespace, tmp_path):
    """It closes connections, answers 500, and says a megabyte of brackets."""
    server = OLD_SERVER.replace("config = {}", "config, seen = {}, {}")
    server = server.replace("def do_POST(self):", f"def do_POST(self):{STUMBLE}").replace("def do_GET(self):", f"def do_GET(self):{STUMBLE}", 1)
    master = serve("--pod-file", pod_file(tmp_path, SAY, command=["python", "-u", "server.py"], server=server))
    assert master.ask(f"{CREATE}&n_worker=1")[0] == 200
    assert "Pod 'test-worker-0' cannot be told to start its training: " in wait_for_line(master.process.stderr, "test-worker-0")
    until(lambda: namespace.cluster.try_kubectl("-n", namespace.name, "logs", "test-worker-0").stdout, lambda said: "worker 0 of 1 1\n" in said)


@needs_python_of_the_system
def test_a_master_that_is_killed_again_and_again_loses_nothing(serve, namespace, tmp_path):
    """Wherever the kills come: each script has run once, and the job ends right."""
    file = pod_file(tmp_path, SAY)
    master = serve("--pod-file", file)
    assert master.ask(f"{CREATE}&n_worker=4&server=muster")[0] == 200
    for pause in range(12):
        time.sleep(0.02 * pause)  # so that the kills come at other places each time
        master.end()
        master = serve("--pod-file", file)
    assert master.until_ended("test") == {"Succeeded"}, json.dumps(master.job("test")["status"], indent=1)
    for index in range(4):
        assert namespace.kubectl("logs", f"test-worker-{index}").count("worker ") == 1
    assert master.ask("/jobs/test", "DELETE")[0] == 200
    nothing_is_left(namespace)


def training_image(folder, name, script):
    """What the user builds: exec.py in the working directory. Python comes from this machine, by the Pod template of the master."""
    path = folder / f"{name}.tar"
    entries = [*(oci.folder(each) for each in (*images.EMPTY, "usr", "task")), oci.folder("tmp", 0o1777),
               *(oci.link(each, f"usr/{each}") for each in ("bin", "lib", "lib64", "sbin")), oci.file("task/exec.py", script.read_bytes())]
    environment = [f"PATH={sys.prefix}/bin:/usr/bin:/bin"]
    oci.write(path, f"docker.io/library/{name}:latest", [entries], {"Entrypoint": [], "Env": environment, "WorkingDir": "/task"})
    return path


def overlay(folder, namespace):
    """deploy/serve as an administrator adapts it: another namespace and image, a Pod template for all jobs, this cluster's node."""
    shutil.copytree(ROOT / "deploy" / "serve", folder)
    template = python_pod("any")["spec"]
    container, = template["containers"]
    del container["command"], container["image"], container["imagePullPolicy"]
    template["securityContext"] = {"runAsUser": 0}
    (folder / "pod.yaml").write_text(json.dumps({"spec": template}))
    kustomization = (folder / "kustomization.yaml").read_text()
    kustomization = kustomization.replace("namespace: muster-serve", f"namespace: {namespace.name}")
    kustomization = kustomization.replace("newName: muster, newTag: latest", "newName: localhost/muster, newTag: test")
    (folder / "kustomization.yaml").write_text(kustomization + """
configMapGenerator:
- {name: muster-serve-pod, files: [pod.yaml]}
patches:
- patch: |-
    - {op: add, path: /spec/template/spec/nodeSelector, value: {type: real}}
    - {op: add, path: /spec/template/spec/volumes/-, value: {name: pod, configMap: {name: muster-serve-pod}}}
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: pod, mountPath: /pod}}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --pod-file}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: /pod/pod.yaml}
  target: {kind: Deployment}
- patch: |-  # python_pod has hostPath volumes
    - {op: replace, path: /metadata/labels/pod-security.kubernetes.io~1enforce, value: privileged}
  target: {kind: Namespace}
""")
    return folder


@pytest.fixture
def deployed(muster, namespace, image, crd, tmp_path):  # noqa: F811
    """By the commands of docs/serve.md; gives the address of the master. There is no proxy for Services on this cluster."""
    muster("serve", "--make-token", tmp_path / "token", code=0)
    token = (tmp_path / "token").read_text()
    namespace.kubectl("apply", "-k", overlay(tmp_path / "serve", namespace))
    namespace.kubectl("create", "secret", "generic", "muster-serve", f"--from-file=token={tmp_path / 'token'}")
    namespace.kubectl("rollout", "status", "deployment/muster-serve", f"--timeout={LIMIT}s")
    pod, = namespace.list("pods", "app.kubernetes.io/name=muster-serve")
    yield Client(f"https://{pod['status']['podIP']}:7897", token.strip())
    lines = namespace.kubectl("logs", "deployment/muster-serve")
    assert "cannot" not in lines and "forbidden" not in lines, lines
    namespace.kubectl("delete", "service", "muster-serve")  # its port is the cluster's


def old_client(muster, folder):
    """A link named client.py, which is what the document calls."""
    (folder / "client.py").symlink_to(BINARY)
    client = Muster(folder, [folder / "client.py"])
    client.environment = muster.environment
    return client


def delete(master, namespace):
    assert master.ask("/jobs/test", "DELETE") == (200, "OK\n")
    until(lambda: [made["metadata"]["name"] for made in namespace.list("pods,services,secrets,tfjobs")],
          lambda names: not [name for name in names if name.startswith("test")])


def test_the_deployment_needs_its_token_and_no_other_rights(deployed, cluster, muster, namespace, tmp_path):
    (tmp_path / "say.py").write_text(SAY)
    cluster.load(training_image(tmp_path, "say", tmp_path / "say.py"))
    client = old_client(muster, tmp_path)
    command = ("--master", deployed.address, "--strategy", "ParameterServer", "--ps-num", 1, "--worker-num", 2, "--image", "say", "--task", "test")
    assert "cannot verify the certificate" in client(*command, code=4).stderr
    assert namespace.list("tfjobs") == []
    for path in ("/jobs", "/metrics", "/jobs/test"):
        assert Client(deployed.address).ask(path)[0] == Client(deployed.address, "0" * 64).ask(path)[0] == 401
    assert Client(deployed.address).ask("/readyz") == (200, "ok\n")
    client.environment["MUSTER_TOKEN_FILE"] = str(tmp_path / "token")
    assert client(*command, code=0).stderr.splitlines()[-1] == "muster: job test succeeded"
    assert "worker 1 of 2 2" in namespace.kubectl("logs", "test-worker-1")
    assert re.search(r"^training_operator_jobs_successful_total\{.*\} 1$", deployed.ask("/metrics")[1], re.MULTILINE)
    assert deployed.ask("/jobs/test", "DELETE") == (200, "OK\n")


@pytest.mark.long
@pytest.mark.disturbs
@needs_python_of_the_system
@needs_tensorflow
def test_the_steps_of_the_document_train_its_examples(deployed, cluster, muster, namespace, tmp_path):
    """Steps 3 to 5: a training image, the master, the client; nothing but the address and the namespace is of this cluster."""
    client = old_client(muster, tmp_path)
    client.environment["MUSTER_TOKEN_FILE"] = str(tmp_path / "token")
    for name, example, options, said in (
            ("allreduce", "allreduce_keras_example", "--strategy AllReduce --ps-num 0 --worker-num 4", r"4 workers, accuracy 0\.[89]\d"),
            ("ps", "parameter_server_example", "--strategy ParameterServer --ps-num 1 --worker-num 2", r"worker \d of 2: loss 0\.[0-4]\d+")):
        cluster.load(training_image(tmp_path, name, ROOT / "examples" / "elasticdl" / example / "exec.py"))
        done = client("--master", deployed.address, *options.split(), "--image", name, "--task", "test", code=0)
        assert done.stderr.splitlines()[-1] == "muster: job test succeeded"
        for index in range(int(options.split()[-1])):
            assert re.search(rf"^worker-{index} \| {said}", done.stdout, re.MULTILINE), done.stdout
        delete(deployed, namespace)
