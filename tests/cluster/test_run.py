"""`muster run --on kubernetes`: a job is Pods, its lines come back, and nothing is left of it."""

import base64
import hashlib
import json
import os
import re
import signal
import threading

import pytest

from conftest import LIMIT, ROOT, few, python_pod
from needs import needs_tensorflow
from test_real_node import needs_python_of_the_system

BUSYBOX = ["--image", "localhost/busybox:test", "--node-selector", "type=real"]
DEBIAN = ["--image", "localhost/debian:test", "--node-selector", "type=real"]


def left_of(namespace):
    """What is there of muster's."""
    listed = namespace.list("pods,services,networkpolicies,configmaps,leases", "app.kubernetes.io/managed-by=muster")
    return [item["metadata"]["name"] for item in listed]


def run(muster, *arguments, **options):
    return muster("run", "--on", "kubernetes", *arguments, **options)


def run_in_background(muster, *arguments):
    return muster.start("run", "--on", "kubernetes", *arguments)


def wait_for_line(stream, wanted):
    """Reads until a line has what is wanted; gives that line."""
    seen = []

    def read():
        for line in stream:
            seen.append(line)
            if wanted in line:
                return

    # A buffered stream cannot be asked whether a line is there; the test's end ends who writes, and this with it.
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(LIMIT)
    assert seen and wanted in seen[-1], f"no line has {wanted!r}: {''.join(seen)}"
    return seen[-1]


def write_job(tmp_path, name, template, workers=2, policy="Never"):
    """A TFJob of this template; gives the file."""
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name},
        "spec": {"tfReplicaSpecs": {"Worker": {"replicas": workers, "restartPolicy": policy, "template": template}},
                 "successPolicy": "AllWorkers"},
    }
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job))
    return path


def simulated_job(tmp_path, workers=2, policy="Never", **simulate):
    """A TFJob whose Pods end by themselves as it is told."""
    annotations = {f"simulate/{key.replace('_', '-')}": str(value) for key, value in simulate.items()}
    template = {
        "metadata": {"annotations": annotations},
        "spec": {
            "containers": [{"name": "tensorflow", "image": "registry.test/model:1"}],
            "nodeSelector": {"type": "simulated"},
            "tolerations": [{"operator": "Exists"}],
        },
    }
    return write_job(tmp_path, "simulated", template, workers, policy)


@pytest.mark.sanitize
def test_lines_of_all_pods_come_back_and_nothing_is_left(muster, namespace):
    done = run(muster, "--name", "talk", "-w", 2, *BUSYBOX, "--", "sh", "-c", "echo I am $HOSTNAME; echo bye", code=0)
    assert sorted(done.stdout.splitlines()) == [
        "worker-0 | I am talk-worker-0", "worker-0 | bye", "worker-1 | I am talk-worker-1", "worker-1 | bye"]
    assert "job talk succeeded: 2 workers" in done.stderr
    assert left_of(namespace) == []


def test_what_ended_on_a_cluster_is_remembered_here(muster):
    run(muster, "--name", "talk", *BUSYBOX, "--", "echo", "hello", code=0)
    assert muster("logs", "talk", code=0).stdout == "worker-0 | hello\n"
    replica = muster.job("talk")["status"]["replicas"][0]
    assert (replica["state"], replica["pod"], replica["node"]) == ("Succeeded", "talk-worker-0", "real")
    table = next(part for part in muster("status", "talk", code=0).stdout.split("\n\n") if part.startswith("REPLICA"))
    heading, row = table.splitlines()
    assert heading.split() == ["REPLICA", "STATE", "ATTEMPT", "RESTARTS", "NODE", "EXIT", "AGE", "REASON"]
    assert row.split()[4] == "real"
    run(muster, "--name", "talk", *BUSYBOX, "--", "echo", "again", code=0)
    assert muster("logs", "talk", code=0).stdout == "worker-0 | again\n"


def test_a_script_of_this_machine_runs_in_pods(muster, namespace):
    script = muster.folder / "hello.sh"
    script.write_text("#!/bin/sh\necho rank $RANK of $WORLD_SIZE: $*\n")
    script.chmod(0o755)
    done = run(muster, "-w", 2, *BUSYBOX, "./hello.sh", "--epochs", 3, code=0)
    assert sorted(done.stdout.splitlines()) == [
        "worker-0 | rank 0 of 2: --epochs 3", "worker-1 | rank 1 of 2: --epochs 3"]
    assert left_of(namespace) == []


def as_user(tmp_path, number):
    """What makes Pods of this user; 1000 is the one that they have anyway."""
    spec = {"securityContext": {"runAsUser": number}, "containers": [{"name": "tensorflow"}]}
    (tmp_path / "pod.json").write_text(json.dumps({"spec": spec}))
    return ["--pod-template", tmp_path / "pod.json"] if number != 1000 else []


@pytest.mark.parametrize("image, user", few([(BUSYBOX, 1000), (DEBIAN, 0), (BUSYBOX, 0), (DEBIAN, 1000)], 2))
def test_a_folder_of_this_machine_is_where_the_script_runs(muster, namespace, tmp_path, image, user):
    project = muster.folder / "project"
    (project / "models").mkdir(parents=True)
    (project / "models" / "train.sh").write_text("#!/bin/sh\npwd; cat data; echo x > made; ls; ./link\n")
    (project / "models" / "train.sh").chmod(0o755)
    (project / "data").write_text("data of mine\n")
    (project / "noise").write_bytes(os.urandom(1_500_000))
    (project / "say.sh").write_text("#!/bin/sh\nmd5sum < noise\n")
    (project / "say.sh").chmod(0o755)
    (project / "link").symlink_to("say.sh")
    done = run(muster, *image, *as_user(tmp_path, user), "--sync", project, project / "models" / "train.sh", code=0)
    digest = hashlib.md5((project / "noise").read_bytes()).hexdigest()
    assert [line.removeprefix("worker-0 | ") for line in done.stdout.splitlines()] == [
        "/muster/work", "data of mine", "data", "link", "made", "models", "noise", "say.sh", f"{digest}  -"]
    assert left_of(namespace) == []


def test_why_a_folder_cannot_be_unpacked_is_in_the_words_of_tar(muster, namespace, tmp_path):
    """Here because of a volume that nobody may write to."""
    volume = {"name": "muster-work", "configMap": {"name": "kube-root-ca.crt"}}
    mount = {"name": "muster-work", "mountPath": "/muster/work", "readOnly": True}
    container = {"name": "tensorflow", "workingDir": "/muster/work", "volumeMounts": [mount]}
    (tmp_path / "pod.json").write_text(json.dumps({"spec": {"volumes": [volume], "containers": [container]}}))
    (tmp_path / "train.sh").write_text("#!/bin/sh\n")
    done = run(muster, *DEBIAN, "--pod-template", tmp_path / "pod.json", "--sync", tmp_path, tmp_path / "train.sh")
    assert done.returncode != 0
    assert "init container 'muster-folder' exited with code 2: tar: " in done.stderr
    assert "Cannot open" in done.stderr, done.stderr


@pytest.mark.sanitize
def test_a_failure_starts_the_whole_job_again_and_gives_its_code(muster, namespace):
    """Worker 0 fails when all have started, as the first failure ends what the others do."""
    script = "echo started; until [ -e /tmp/end ]; do sleep 0.1; done; exit 3"
    job = run_in_background(muster, "--name", "again", "-w", 2, "--max-restarts", 1, "--grace", "0s", *BUSYBOX, "--",
                            "sh", "-c", script)
    for _ in range(2):
        lines = [wait_for_line(job.stdout, "started") for _ in range(2)]
        assert sorted(lines) == ["worker-0 | started\n", "worker-1 | started\n"]
        namespace.end_by("again-worker-0", "touch", "/tmp/end")
    assert job.stdout.read() == ""
    assert job.wait(timeout=LIMIT) == 3
    told = job.stderr.read()
    assert "restarting the whole job (restart 1 of 1)" in told
    assert "exited with code 3" in told and "last output   | started" in told
    assert left_of(namespace) == []


def test_a_program_that_the_image_lacks_is_named(muster, namespace):
    done = run(muster, *BUSYBOX, "--", "/no/such/program", code=127)
    assert "worker-0 could not be started" in done.stderr and "/no/such/program: no such file" in done.stderr
    assert left_of(namespace) == []


def test_what_pod_security_warns_of_is_said_once(muster, namespace, tmp_path):
    """Each Pod is warned of."""
    namespace.secure_pods("warn", "restricted")
    template = {"spec": {"hostIPC": True, "nodeSelector": {"type": "real"}, "containers": [
        {"name": "tensorflow", "image": "localhost/busybox:test", "command": ["echo", "hello"]}]}}
    for dry in (["--dry-run=server"], []):
        told = run(muster, *dry, "-f", write_job(tmp_path, "warned", template), code=0).stderr
        assert told.count("muster: Warning: would violate PodSecurity") == 1 and "hostIPC=true" in told


def test_ctrl_c_leaves_pods_time_to_save(muster, namespace):
    job = run_in_background(muster, "--grace", "60s", *BUSYBOX, "--", "sh", "-c",
                            "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.1; done")
    assert job.stdout.readline() == "worker-0 | up\n"
    job.send_signal(signal.SIGINT)
    said, told = job.communicate(timeout=LIMIT)
    assert (job.returncode, said) == (130, "worker-0 | saved\n"), told
    assert left_of(namespace) == []


def test_a_pod_that_somebody_deletes_is_made_again(muster, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, policy="OnFailure"))
    for index in range(2):
        namespace.until_phase(f"simulated-worker-{index}", "Running")
    waiting = muster.start("wait", "simulated")
    namespace.kubectl("delete", "pod", "simulated-worker-1", "--wait=false")
    wait_for_line(job.stderr, "worker-1 was deleted by another client")
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "muster/attempt=1")
    found = namespace.list("pods", "muster/job=simulated")
    assert sorted((pod["metadata"]["name"], pod["metadata"]["labels"]["muster/attempt"]) for pod in found) == [
        ("simulated-worker-0", "0"), ("simulated-worker-1", "1")]
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=LIMIT) == 130
    assert waiting.communicate(timeout=LIMIT) == ("", "") and waiting.returncode == 130
    assert left_of(namespace) == []


@pytest.mark.parametrize("end, told", [
    ({"end": "OOMKilled", "exit_code": 137}, "ran out of memory and was killed (OOMKilled)"),
    ({"exit_code": 5}, "exited with code 5"),
])
def test_how_a_pod_ended_is_said(muster, namespace, tmp_path, end, told):
    done = run(muster, "-f", simulated_job(tmp_path, workers=1, run_for="100ms", **end), code=end["exit_code"])
    assert told in done.stderr
    assert left_of(namespace) == []


def test_what_a_pod_waits_for_is_said(muster, namespace):
    job = run_in_background(muster, "--image", "registry.test/model:1", "--node-selector", "type=nowhere", "--", "true")
    line = wait_for_line(job.stderr, "Unschedulable")
    assert "worker-0 cannot be scheduled (Unschedulable): 0/5 nodes are available" in line
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=LIMIT) == 130
    assert left_of(namespace) == []


def test_a_job_of_that_name_is_left_alone(muster, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=1))
    namespace.wait("pod/simulated-worker-0", "create")
    refused = run(muster, "-f", simulated_job(tmp_path, workers=1), code=2)
    assert f"job 'simulated' already exists in namespace '{namespace.name}'" in refused.stderr
    assert f"muster stop kubernetes/{namespace.name}/simulated" in refused.stderr
    assert sorted(left_of(namespace)) == [
        "simulated", "simulated-worker-0", "simulated.job", "simulated.job", "simulated.network"]
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=LIMIT) == 130


def test_a_job_whose_record_somebody_deletes_ends(muster, namespace, tmp_path):
    job = run_in_background(muster, "-f", simulated_job(tmp_path, workers=1))
    namespace.wait("pod/simulated-worker-0", "create")
    namespace.kubectl("delete", "configmap", "simulated.job")
    assert job.wait(timeout=LIMIT) == 125
    assert "ConfigMap 'simulated.job' was deleted, and the cluster deleted the Pods with it" in job.stderr.read()
    assert left_of(namespace) == []


def rights(api_group, resources, *verbs):
    return {"apiGroups": [api_group], "resources": [resources], "verbs": list(verbs)}


# As in muster-run(1).
RIGHTS = [
    rights("", "configmaps", "create", "get", "list", "watch", "patch", "delete"),
    rights("", "pods", "create", "get", "list", "watch", "delete"),
    rights("", "services", "create", "get", "list", "watch"),
    rights("networking.k8s.io", "networkpolicies", "create", "list", "watch"),
    rights("", "pods/log", "get"),
    rights("", "secrets", "create"),
    rights("coordination.k8s.io", "leases", "create", "get", "patch", "delete"),
]


@pytest.fixture
def as_account(muster, namespace, tmp_path):
    """Logs muster in as the namespace's own account, which has no rights of itself."""
    muster.environment["KUBECONFIG"] = str(namespace.write_account_kubeconfig(tmp_path / "account"))
    return muster


def give_rights(namespace, rules):
    """To the namespace's own account, by the Role `given`."""
    api = "rbac.authorization.k8s.io"
    namespace.create(
        {"apiVersion": f"{api}/v1", "kind": "Role", "metadata": {"name": "given"}, "rules": rules},
        {"apiVersion": f"{api}/v1", "kind": "RoleBinding", "metadata": {"name": "given"},
         "roleRef": {"apiGroup": api, "kind": "Role", "name": "given"},
         "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace.name}]})
    namespace.until_account_may(rules[0]["verbs"][0], rules[0]["resources"][0])


def test_it_takes_no_more_rights_than_its_manual_says(as_account, namespace):
    give_rights(namespace, RIGHTS)
    done = run(as_account, "-w", 2, "--max-restarts", 1, "--env", "CODE=3", *BUSYBOX, "--", "sh", "-c", "exit $CODE",
               code=3)
    assert "exited with code 3" in done.stderr and "forbidden" not in done.stderr
    assert left_of(namespace) == []


def test_variables_of_the_command_line_are_in_a_secret_alone(muster, namespace):
    file = muster.folder / "variables"
    file.write_text("TOKEN=s3cr$(RANK)et\nCOLOUR=blue\n")
    job = run_in_background(muster, "--name", "hush", "--env-file", file, "--env", "COLOUR=red", "--grace", "1s",
                            *BUSYBOX, "--", "sh", "-c", "echo $TOKEN $COLOUR; sleep 1000")
    assert job.stdout.readline() == "worker-0 | s3cr$(RANK)et red\n"
    secret = namespace.get("secret", "hush.env")
    assert {key: base64.b64decode(value).decode() for key, value in secret["data"].items()} == {
        "TOKEN": "s3cr$(RANK)et", "COLOUR": "red"}
    assert secret["metadata"]["ownerReferences"][0]["name"] == "hush.job"
    shown = [namespace.kubectl("get", "pods,configmaps,leases,services", "-o", "yaml"),
             muster("status", "hush", "-o", "json", code=0).stdout]
    assert all("hush" in text and "s3cr" not in text for text in shown)
    job.send_signal(signal.SIGINT)
    assert job.wait(timeout=LIMIT) == 130
    # The one before may still be about to go.
    again = run(muster, "--name", "hush", "--env", "TOKEN=other", *BUSYBOX, "--", "sh", "-c", "echo $TOKEN", code=0)
    assert again.stdout == "worker-0 | other\n"
    namespace.wait("secret/hush.env", "delete")


@pytest.mark.long
def test_variables_beside_a_file_are_in_a_secret_too(muster, namespace, tmp_path):
    template = {"spec": {"nodeSelector": {"type": "real"}, "containers": [{
        "name": "tensorflow", "image": "localhost/busybox:test", "imagePullPolicy": "Never",
        "command": ["sh", "-c", "echo $COLOUR $(GREETING)"], "env": [{"name": "COLOUR", "value": "blue"}]}]}}
    done = run(muster, "-f", write_job(tmp_path, "filed", template, workers=1), "-e", "COLOUR=red", "-e", "GREETING=hi",
               code=0)
    assert done.stdout == "worker-0 | red hi\n"


def test_a_right_that_is_missing_is_named(as_account, namespace):
    done = run(as_account, *BUSYBOX, "--", "true", code=3)
    assert "configmaps" in done.stderr and "create" in done.stderr
    assert left_of(namespace) == []


def test_a_cluster_that_does_not_answer_is_one_sentence(muster, tmp_path):
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "nowhere",
        "clusters": [{"name": "nowhere", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "nobody", "user": {}}],
        "contexts": [{"name": "nowhere", "context": {"cluster": "nowhere", "user": "nobody"}}],
    }
    path = tmp_path / "nowhere"
    path.write_text(json.dumps(config))
    done = run(muster, "--kubeconfig", path, *BUSYBOX, "--", "true", code=3)
    assert done.stderr.startswith("muster: ") and len(done.stderr.splitlines()) == 1


def test_a_context_that_is_not_there_is_wrong_use(muster):
    done = run(muster, "--context", "elsewhere", *BUSYBOX, "--", "true", code=2)
    assert "elsewhere" in done.stderr and len(done.stderr.splitlines()) == 1


@needs_tensorflow
@needs_python_of_the_system
@pytest.mark.long
def test_two_workers_train_in_step(muster, namespace, tmp_path):
    spec = python_pod("digits", ROOT / "examples" / "digits" / "train.py", "--epochs", "2")["spec"]
    spec["securityContext"] = {"runAsUser": 0}  # the Python of the tests may be root's alone
    done = run(muster, "-f", write_job(tmp_path, "digits", {"spec": spec}), code=0)
    losses = [re.findall(rf"^worker-{index} \| (epoch .*)", done.stdout, re.MULTILINE) for index in range(2)]
    assert losses[0] == losses[1] and len(losses[0]) == 2, done.stdout
    assert left_of(namespace) == []
