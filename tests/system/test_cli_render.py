"""What flags and files become: `render`, which starts nothing, and the faults of bad files."""

import json
import re

import pytest

JOB = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: filed
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: tensorflow
            image: unused
            command: [sh, -c, exit 0]
            env:
            - {name: FIRST, value: "1"}
"""


@pytest.fixture
def job_file(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    return path


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("print('hello')\n")
    return path


def rendered(muster, *arguments, **options):
    return json.loads(muster("render", "-o", "json", *arguments, code=0, **options).stdout)


def role(job, title):
    return job["spec"]["tfReplicaSpecs"][title]


def container(job, title):
    return role(job, title)["template"]["spec"]["containers"][0]


def test_a_script_becomes_a_job_that_can_be_read_again(muster, script):
    text = muster("render", "-w", "2", "--max-restarts", "3", "train.py", "--epochs", "3", code=0).stdout
    assert muster("render", "-f", "-", code=0, input=text).stdout == text


def test_a_script_runs_unbuffered_with_its_own_options(muster, script):
    job = rendered(muster, "-w", "2", "train.py", "-w", "--help", env={"VIRTUAL_ENV": None})
    assert container(job, "Worker")["command"] == ["python3", "-u", "train.py", "-w", "--help"]


def test_a_script_runs_under_the_active_virtual_environment(muster, script, tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    job = rendered(muster, "train.py", env={"VIRTUAL_ENV": tmp_path / "venv"})
    assert container(job, "Worker")["command"][0] == str(python)


def test_a_job_is_named_after_its_script(muster, script):
    assert re.fullmatch(r"train-[bcdfghjklmnpqrstvwxz2456789]{5}", rendered(muster, "train.py")["metadata"]["name"])


def test_a_generated_name_leaves_room_for_the_names_of_replicas(muster, tmp_path):
    (tmp_path / ("X_" * 60 + ".py")).write_text("")
    name = rendered(muster, "X_" * 60 + ".py")["metadata"]["name"]
    assert len(f"{name}-evaluator-0") <= 63


def test_roles_come_from_flags(muster):
    job = rendered(muster, "-w3", "--ps=2", "--chief", "--evaluator", "--", "true")
    assert {title: spec["replicas"] for title, spec in job["spec"]["tfReplicaSpecs"].items()} == {
        "Chief": 1, "Worker": 3, "PS": 2, "Evaluator": 1}
    assert job["spec"]["runPolicy"]["restartScope"] == "worker"


def test_the_policy_comes_from_flags_and_the_environment(muster):
    job = rendered(muster, "--timeout", "90s", "--", "true", env={"MUSTER_MAX_RESTARTS": 4, "MUSTER_GRACE": "1m"})
    policy = job["spec"]["runPolicy"]
    assert (policy["activeDeadlineSeconds"], policy["backoffLimit"], policy["gracePeriodSeconds"]) == (90, 4, 60)
    assert role(job, "Worker")["restartPolicy"] == "OnFailure"


def test_variables_come_from_files_and_flags_in_order(muster, tmp_path):
    (tmp_path / "vars").write_text("# of the team\n\nA=1\r\n  B= two words \nC='x'\n")
    job = rendered(muster, "--env-file", "vars", "-e", "A=$(B)", "--env=D=", "--", "true")
    assert container(job, "Worker")["env"] == [
        {"name": "A", "value": "1"}, {"name": "B", "value": "two words"}, {"name": "C", "value": "x"},
        {"name": "A", "value": "$$(B)"}, {"name": "D", "value": ""}]


def test_flags_change_a_file(muster, job_file):
    job = rendered(muster, "-f", "job.yaml", "--name", "other", "-e", "SECOND=2", "--max-restarts", "2",
                   "--restart-scope", "job", "--timeout", "1h", "--grace", "5s")
    assert job["metadata"]["name"] == "other"
    assert [entry["name"] for entry in container(job, "Worker")["env"]] == ["FIRST", "SECOND"]
    assert role(job, "Worker")["restartPolicy"] == "OnFailure"
    assert job["spec"]["runPolicy"] == {"backoffLimit": 2, "restartScope": "job", "activeDeadlineSeconds": 3600,
                                        "gracePeriodSeconds": 5}


def test_a_file_without_flags_stays_as_it_is(muster, job_file):
    job = rendered(muster, "-f", "job.yaml")
    assert "runPolicy" not in job["spec"] or "backoffLimit" not in job["spec"]["runPolicy"]
    assert role(job, "Worker").get("restartPolicy", "Never") == "Never"


def test_what_belonged_to_a_job_that_ran_is_left_out(muster):
    job = json.loads(muster("render", "-o", "json", "--name", "again", "--", "true", code=0).stdout)
    job["metadata"].update(uid="u", resourceVersion="7", annotations={"muster/stop": "stopped", "kept": "yes"})
    job["status"] = {"conditions": []}
    again = json.loads(muster("render", "-o", "json", "-f", "-", code=0, input=json.dumps(job)).stdout)
    assert again["metadata"] == {"name": "again", "annotations": {"kept": "yes"}}
    assert "status" not in again


def test_a_name_can_be_generated_for_a_file(muster):
    text = JOB.replace("name: filed", "generateName: filed-")
    job = json.loads(muster("render", "-o", "json", "-f", "-", code=0, input=text).stdout)
    assert re.fullmatch(r"filed-.{5}", job["metadata"]["name"])


OTHER = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n"


def test_a_file_of_several_documents_is_printed_whole(muster):
    done = muster("render", "-f", "-", "--timeout", "1h", code=0, input=OTHER + "---\n" + JOB + "---\n" + OTHER + "---\n" + JOB)
    assert done.stderr == ""
    config, first, _, second = done.stdout.split("---\n")
    assert config == OTHER
    assert first == second and "activeDeadlineSeconds: 3600" in first
    items = rendered(muster, "-f", "-", input=OTHER + "---\n" + JOB)["items"]
    assert [item["kind"] for item in items] == ["ConfigMap", "TFJob"]


def test_faults_of_all_jobs_of_a_file_are_told(muster):
    bad = JOB.replace("replicas: 2", "replicas: -1")
    done = muster("render", "-f", "-", code=2, input=bad + "---\n" + OTHER + "---\n" + bad)
    assert [line.split(":")[1] for line in done.stderr.splitlines()] == ["8", "30"]
    done = muster("render", "-f", "-", "--name", "one", code=2, input=JOB + "---\n" + JOB)
    assert done.stderr == "muster: --name: needs a single TFJob; standard input has 2\n"


def test_the_objects_of_a_list_are_its_documents(muster):
    items = "apiVersion: v1\nkind: List\nitems:\n- " + OTHER.replace("\n", "\n  ") + "\n- " + JOB.replace("\n", "\n  ")
    assert muster("render", "-f", "-", code=0, input=items).stdout.startswith(OTHER + "---\n")
    done = muster("run", "-f", "-", "--dry-run", code=2, input=items.replace("replicas: 2", "replicas: -1"))
    assert "standard input:16:19: spec.tfReplicaSpecs[Worker].replicas" in done.stderr


def test_one_job_among_other_documents_is_run(muster):
    done = muster("run", "-f", "-", "--dry-run", code=0, input="kind: ConfigMap\n---\n" + JOB + "---\n" + OTHER)
    assert "name: filed" in done.stdout
    assert "muster: standard input: using only the TFJob, without ConfigMap, ConfigMap 'other'\n" in done.stderr
    done = muster("run", "-f", "-", code=2, input=JOB + "---\n" + JOB)
    assert done.stderr == ("muster: standard input: contains 2 TFJobs (expected one); "
                           "put each TFJob into its own file\n")


def test_an_older_form_becomes_v1_and_what_changed_is_said(muster):
    older = (JOB.replace("kubeflow.org/v1", "kubeflow.org/v1alpha1").replace("tfReplicaSpecs:\n    Worker:\n      ",
                                                                            "replicaSpecs:\n    - tfReplicaType: WORKER\n      "))
    done = muster("render", "-f", "-", code=0, input=older)
    assert "apiVersion: kubeflow.org/v1\n" in done.stdout and "    Worker:\n" in done.stdout
    assert done.stderr == ("muster: standard input: job 'filed' has an older version and was converted to kubeflow.org/v1: apiVersion was "
                           "kubeflow.org/v1alpha1; spec.replicaSpecs is spec.tfReplicaSpecs; "
                           "spec.runPolicy.cleanPodPolicy is Running, the old default\n")
    assert muster("render", "-f", "-", code=0, input=done.stdout).stderr == ""
    assert "job 'filed' has an older version" in muster("run", "-f", "-", code=0, input=older).stderr


def test_the_local_tf_config_is_dense_with_the_evaluator_outside(muster):
    done = muster("render", "--as", "tf-config", "-o", "json", "-w", "2", "--evaluator", "--", "true", code=0)
    configs = json.loads(done.stdout)
    assert list(configs) == ["evaluator-0", "worker-0", "worker-1"]
    for name, config in configs.items():
        assert list(config["cluster"]) == ["worker"]
        assert len(set(config["cluster"]["worker"])) == 2
        kind, index = name.rsplit("-", 1)
        assert config["task"] == {"type": kind, "index": int(index)}


def test_the_tf_config_of_one_replica_is_the_value_of_the_variable(muster):
    lines = muster("render", "--as", "tf-config", "-w", "2", "--", "true", code=0).stdout.splitlines()
    one = muster("render", "--as", "tf-config", "--index", "1", "-w", "2", "--", "true", code=0).stdout
    assert lines[1] == "worker-1: " + one.rstrip("\n")


def test_the_tf_config_of_a_pod_is_kubeflows(muster, job_file):
    done = muster("render", "--as", "tf-config", "--on", "kubernetes", "--role", "worker", "-f", "job.yaml", code=0)
    assert done.stdout == (
        '{"cluster":{"worker":["filed-worker-0.default.svc:2222","filed-worker-1.default.svc:2222"]},'
        '"task":{"type":"worker","index":0},"environment":"cloud"}\n')


def test_every_fault_of_a_file_is_told_with_its_place(muster, tmp_path):
    (tmp_path / "bad.yaml").write_text(JOB.replace("filed", "Bad_Name").replace("replicas: 2", "replicas: -1"))
    done = muster("render", "-f", "bad.yaml", code=2)
    places = [line.split(": ")[0] for line in done.stderr.splitlines()]
    assert done.stdout == ""
    assert "bad.yaml:4:9: metadata.name: Invalid value" in done.stderr
    assert "bad.yaml:8:17: spec.tfReplicaSpecs[Worker].replicas: Invalid value: -1" in done.stderr
    assert all(re.fullmatch(r"bad\.yaml:\d+:\d+", place) for place in places)


@pytest.mark.parametrize("arguments, sentence", [
    ([], "nothing to run; give SCRIPT.py, -m MODULE, -- PROGRAM, or -f job.yaml"),
    (["none.py"], "none.py: no such file"),
    (["program"], "'program' is not in PATH; did you mean ./program?"),
    (["none"], "'none': not a script (expected a .py or .pyz file); to run a program, write -- PROGRAM ARGS"),
    (["-f", "none.yaml"], "none.yaml: no such file"),
    (["-f", "job.yaml", "-w", "2"], "--workers: cannot be used with -f; set the replicas in the file"),
    (["-f", "job.yaml", "train.py"], "'train.py': cannot be used with -f; set the command in the file"),
    (["-f", "."], ".: Is a directory"),
    (["-w", "0", "--", "true"], "--workers 0: no replica would train; add --chief"),
    (["-f", "job.yaml", "-m"], "'--module': cannot be used with -f; set the command in the file"),
    (["-f", "job.yaml", "--ps-server"], "--ps-server: cannot be used with -f; set the replicas in the file"),
    (["--ps-server", "--", "true"], "--ps-server: needs parameter servers; add --ps N"),
    (["--worker-server", "--ps", "1", "--", "true"],
     "--worker-server: no replica would run the script; add --chief"),
    (["--env", "A B", "--", "true"], "--env: 'A B' is not a valid variable name"),
    (["--env-file", "vars", "--", "true"], "--env-file: vars:2: '1B' is not a valid variable name"),
    (["--env", "A=caf\udce9", "--", "true"], "--env: A: its value is not valid UTF-8 (a job can only contain UTF-8 text)"),
    (["--", "echo", "caf\udce9"], "argument 'caf\ufffd': not valid UTF-8 (a job can only contain UTF-8 text)"),
    (["--as", "tf-config", "--role", "ps", "-f", "job.yaml"], "job.yaml has no replica ps-0"),
])
def test_each_mistake_has_a_sentence(muster, job_file, script, tmp_path, arguments, sentence):
    (tmp_path / "vars").write_text("A=1\n1B=2\n")
    (tmp_path / "program").touch(0o700)
    done = muster("render", *arguments, code=2)
    assert done.stderr == f"muster: {sentence}\n"
    assert done.stdout == ""


@pytest.mark.parametrize("text, sentence", [
    ("", "standard input: empty (expected a TFJob)"),
    ("a: 1\n---\nb: 2\n", "standard input: none of its 2 documents is a TFJob (expected one)"),
    ("{", "standard input: line "),
])
def test_a_stream_that_is_no_job_has_a_sentence(muster, text, sentence):
    done = muster("render", "-f", "-", code=2, input=text)
    assert done.stderr.startswith(f"muster: {sentence}")


def test_nothing_is_remembered(muster, script):
    muster("render", "train.py", code=0)
    assert not muster.state.exists()


def namespaces_of_pods(muster, *arguments, **options):
    """Of all that is made, and of the addresses in TF_CONFIG."""
    text = muster("render", "--as", "pods", "-w", 2, "--name", "here", *arguments, "--", "true", code=0, **options).stdout
    return set(re.findall(r"^  namespace: (.*)$", text, re.MULTILINE)) | set(re.findall(r"\.here\.([a-z]+)\.svc", text))


def test_pods_are_in_the_namespace_where_a_run_would_make_them(muster, tmp_path):
    context = {"cluster": "it", "namespace": "research"}
    config = {"clusters": [{"name": "it", "cluster": {"server": "https://it.invalid"}}], "current-context": "mine",
              "contexts": [{"name": "mine", "context": context}, {"name": "other", "context": {"cluster": "it"}}]}
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    there = {"env": {"KUBECONFIG": tmp_path / "kubeconfig"}}
    assert namespaces_of_pods(muster, **there) == {"research"}
    assert namespaces_of_pods(muster, "--kubeconfig", tmp_path / "kubeconfig") == {"research"}
    assert namespaces_of_pods(muster, "--context", "other", **there) == {"default"}
    assert namespaces_of_pods(muster, "-n", "said", **there) == {"said"}
    assert namespaces_of_pods(muster, env={"KUBECONFIG": tmp_path / "none"}) == {"default"}
    done = muster("render", "--as", "pods", "--context", "third", "--", "true", code=2, **there)
    assert "context 'third' not found in the kubeconfig" in done.stderr
