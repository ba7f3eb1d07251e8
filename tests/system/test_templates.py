"""Templates with parameters, as `oc process` takes them: `render` and `run` with -f and -p."""

import json
import re

import pytest

TEMPLATE = """\
apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: tensorflow
labels:
  template: ${JOB_NAME}
parameters:
- name: JOB_NAME
  description: Name of the job
  required: true
- name: WORKERS
  value: "1"
- name: PASSWORD
  generate: expression
  from: "[a-zA-Z0-9]{12}"
objects:
- apiVersion: v1
  kind: Service
  metadata:
    name: ${JOB_NAME}-board
    namespace: mine
  spec:
    ports:
    - port: 6006
- apiVersion: kubeflow.org/v1
  kind: TFJob
  metadata:
    name: ${JOB_NAME}
  spec:
    tfReplicaSpecs:
      Worker:
        replicas: ${{WORKERS}}
        template:
          spec:
            containers:
            - name: tensorflow
              image: registry.example/${JOB_NAME}:1
              command: [sh, -c, "echo ${PASSWORD}"]
"""


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "template.yaml"
    path.write_text(TEMPLATE)
    return path


def test_the_objects_of_a_template_are_printed_as_kubectl_takes_them(muster, template):
    arguments = ["render", "-f", "template.yaml", "--param", "JOB_NAME=mine", "-p", "WORKERS=2", "-pPASSWORD=a b"]
    done = muster(*arguments, code=0)
    service, job = done.stdout.split("---\n")
    assert done.stderr == ""
    assert service == ("apiVersion: v1\nkind: Service\nmetadata:\n  name: mine-board\n  labels:\n    template: mine\n"
                       "spec:\n  ports:\n  - port: 6006\n")
    assert "replicas: 2\n" in job and "image: registry.example/mine:1\n" in job and "- echo a b\n" in job
    listed = json.loads(muster(*arguments, "-o", "json", code=0).stdout)
    assert listed["kind"] == "List" and [item["kind"] for item in listed["items"]] == ["Service", "TFJob"]
    assert muster("render", "-f", "-", code=0, input=done.stdout).stdout == done.stdout


def test_what_is_generated_differs_each_time(muster, template):
    made = {re.search("echo (.*)", muster("render", "-f", "template.yaml", "-p", "JOB_NAME=a", code=0).stdout).group(1)
            for _ in range(2)}
    assert len(made) == 2 and all(re.fullmatch("[a-zA-Z0-9]{12}", word) for word in made)


def test_its_job_runs_and_flags_change_it(muster, template):
    done = muster("run", "-f", "template.yaml", "-p", "JOB_NAME=mine", "-p", "WORKERS=2", "-p", "PASSWORD=secret", code=0)
    assert sorted(done.stdout.splitlines()) == ["worker-0 | secret", "worker-1 | secret"]
    assert "muster: template.yaml: using only the TFJob, without Service 'mine-board'\n" in done.stderr
    done = muster("run", "-f", "template.yaml", "-p", "JOB_NAME=mine", "--name", "other", "--max-restarts", "3", "--dry-run",
                  code=0)
    assert "  name: other\n" in done.stdout and "backoffLimit: 3" in done.stdout


def test_parameters_come_from_files_too_and_those_of_the_call_win(muster, template, tmp_path):
    (tmp_path / "values").write_text("# of the team\nJOB_NAME=filed\n\n  PASSWORD=a=b\r\nWORKERS=7\n")
    text = muster("render", "-f", "template.yaml", "--param-file", "values", "-p", "WORKERS=3", code=0).stdout
    assert "name: filed\n" in text and "- echo a=b\n" in text and "replicas: 3\n" in text


def test_parameters_are_listed(muster, template):
    assert muster("render", "--parameters", "-f", "template.yaml", code=0).stdout == (
        "NAME       DESCRIPTION       GENERATOR    VALUE\n"
        "JOB_NAME   Name of the job   -            -\n"
        "WORKERS    -                 -            1\n"
        "PASSWORD   -                 expression   [a-zA-Z0-9]{12}\n")


def test_faults_are_told_at_once_with_their_places(muster, template):
    template.write_text(TEMPLATE.replace("required", "requird").replace("${{WORKERS}}", "${{WOKERS}}"))
    assert muster("render", "-f", "template.yaml", "-p", "NAME=1", code=2).stderr == (
        "template.yaml: unknown parameter NAME\n"
        "template.yaml:10:12: parameters[0].requird: unknown field; did you mean \"required\"?\n"
        "template.yaml:32:19: objects[1].spec.tfReplicaSpecs.Worker.replicas: Invalid value: unknown parameter WOKERS; "
        "did you mean WORKERS?\n")
    template.write_text(TEMPLATE)
    assert muster("render", "-f", "template.yaml", code=2).stderr == (
        "template.yaml:8:3: parameters[0]: Required value: give parameter JOB_NAME one (-p JOB_NAME=VALUE): Name of the job\n")


def test_faults_of_the_job_have_the_places_of_the_template(muster, template):
    done = muster("run", "-f", "template.yaml", "-p", "JOB_NAME=Big", "-p", "WORKERS=two", code=2)
    assert "template.yaml:28:11: metadata.name: Invalid value: \"Big\"" in done.stderr
    assert ("template.yaml:32:19: spec.tfReplicaSpecs[Worker].replicas: Invalid value: \"two\": expected a whole number\n"
            in done.stderr)


def test_variables_of_a_shell_stay_and_are_named(muster, template):
    template.write_text(TEMPLATE.replace("${PASSWORD}", "${HOME} ${HOME} ${WORKER}"))
    done = muster("render", "-f", "template.yaml", "-p", "JOB_NAME=a", code=0)
    assert "- echo ${HOME} ${HOME} ${WORKER}\n" in done.stdout
    place = "template.yaml:38:33: objects[1].spec.tfReplicaSpecs.Worker.template.spec.containers[0].command[2]: "
    assert done.stderr == (f"{place}${{HOME}} is not a parameter, and is left as it is\n"
                           f"{place}${{WORKER}} is not a parameter, and is left as it is; did you mean WORKERS?\n")


OLDER = """\
apiVersion: v1
kind: Template
parameters:
- {name: JOB_NAME, required: true}
- {name: WORKERS, value: "1"}
objects:
- apiVersion: kubeflow.org/v1alpha1
  kind: TFJob
  metadata:
    name: ${JOB_NAME}
  spec:
    replicaSpecs:
    - tfReplicaType: MASTER
      template: &template
        spec:
          restartPolicy: OnFailure
          containers:
          - {name: tensorflow, image: i, command: [sh, -c, "echo $ROLE"]}
    - tfReplicaType: WORKER
      replicas: ${{WORKERS}}
      template: *template
"""


def test_a_template_of_the_first_tfjob_runs(muster):
    done = muster("run", "-f", "-", "-p", "JOB_NAME=first", "-p", "WORKERS=2", code=0, input=OLDER)
    assert "master-0 | " in done.stdout.splitlines()  # with its end the workers are stopped, whether they have printed or not
    assert "job first succeeded: 1 master, 2 workers" in done.stderr
    assert "job 'first' has an older version and was converted to kubeflow.org/v1: apiVersion was kubeflow.org/v1alpha1; " in done.stderr
    done = muster("render", "-f", "-", "-p", "JOB_NAME=first", "-p", "WORKERS=two", code=2, input=OLDER)
    assert done.stderr == ("standard input:20:17: spec.replicaSpecs[1].replicas: Invalid value: \"two\": "
                           "expected a whole number\n")


def test_a_template_without_a_job_is_rendered_and_not_run(muster, template):
    template.write_text(TEMPLATE.split("- apiVersion: kubeflow")[0])
    arguments = ["-f", "template.yaml", "-p", "JOB_NAME=a"]
    assert muster("render", *arguments, code=0).stdout.startswith("apiVersion: v1\nkind: Service\n")
    assert muster("run", *arguments, code=2).stderr == (
        "muster: template.yaml: none of its 1 objects is a TFJob (expected one)\n")


@pytest.mark.parametrize("arguments, sentence", [
    (["render", "-p", "A=1", "--", "true"], "--param: needs -f with a Template, whose parameter it sets"),
    (["render", "-f", "job.yaml", "-p", "A=1"], "--param: needs a Template: job.yaml is not one"),
    (["run", "-f", "job.yaml", "--param-file", "values"], "--param-file: needs a Template: job.yaml is not one"),
    (["render", "-f", "template.yaml", "-p", "A"], "--param: 'A': expected NAME=VALUE"),
    (["render", "-f", "template.yaml", "-p", "=A"], "--param: '=A': expected NAME=VALUE"),
    (["render", "-f", "template.yaml", "-p", "A=caf\udce9"],
     "--param: A: its value is not valid UTF-8 (a job can only contain UTF-8 text)"),
    (["render", "-f", "template.yaml", "--param-file", "values"], "--param-file: values:2: 'B': expected NAME=VALUE"),
    (["render", "-f", "template.yaml", "--param-file", "none"], "--param-file: none: no such file"),
    (["render", "-f", "twice.yaml"], "twice.yaml: contains 2 Templates (expected one)"),
    (["render", "--parameters", "-f", "job.yaml"], "job.yaml: not a Template"),
    (["render", "--parameters"], "--parameters: needs -f with a Template"),
])
def test_each_mistake_has_a_sentence(muster, template, tmp_path, arguments, sentence):
    (tmp_path / "job.yaml").write_text("kind: TFJob\n")
    (tmp_path / "values").write_text("A=1\nB\n")
    (tmp_path / "twice.yaml").write_text(TEMPLATE + "---\n" + TEMPLATE)
    done = muster(*arguments, code=2)
    assert done.stderr == f"muster: {sentence}\n"
    assert done.stdout == ""
