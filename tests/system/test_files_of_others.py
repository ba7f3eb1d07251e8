"""Files as people have them: made by word processors, by Windows, by kubectl, for other versions and for other programs."""

import re

import pytest

CONTAINER = "{name: tensorflow, image: i, command: [echo, hi]}"
JOB = ("apiVersion: kubeflow.org/v1\n"
       "kind: TFJob\n"
       "metadata: {name: job}\n"
       "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [%s]}}}}}\n" % CONTAINER)


def run(muster, folder, text, code=None):
    (folder / "job.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return muster("run", "-f", "job.yaml", cwd=folder, code=code)


@pytest.mark.parametrize("kind, version", [("List", "v1"), ("TFJobList", "kubeflow.org/v1")])
def test_a_list_as_kubectl_prints_it_is_run(muster, tmp_path, kind, version):
    item = "- " + JOB.replace("\n", "\n  ").rstrip()
    done = run(muster, tmp_path, f"apiVersion: {version}\nkind: {kind}\nitems:\n{item}\nmetadata: {{resourceVersion: ''}}\n", 0)
    assert "worker-0 | hi\n" in done.stdout


def test_the_oldest_tfjob_runs(muster, tmp_path):
    done = run(muster, tmp_path, "apiVersion: tensorflow.org/v1alpha1\nkind: TfJob\nmetadata: {name: old}\nspec:\n  replicaSpecs:\n"
               "  - {tfReplicaType: MASTER, template: {spec: {containers: [%s], restartPolicy: Never}}}\n" % CONTAINER, 0)
    assert "master-0 | hi\n" in done.stdout
    assert "was converted to kubeflow.org/v1: apiVersion was tensorflow.org/v1alpha1" in done.stderr


@pytest.mark.parametrize("text, said", [
    (JOB.replace("command:", "comand:"), "containers[0].comand: unknown field; did you mean \"command\"?"),
    (JOB.replace("command:", "workdir: /tmp, command:"), "workdir: unknown field; did you mean \"workingDir\"?"),
    (JOB.replace("{template", "{replicas: 1, replicas: 2, template"), "duplicate key 'replicas' (first at line 4, column 34)"),
    (JOB.replace("metadata", "metadata\u200b"), "the key 'metadata<U+200B>' has U+200B (zero width space)"),
    (JOB.replace("name: job", "name: job\u00a0"), "Invalid value: \"job<U+00A0>\": should match"),
    (JOB.replace("echo, hi", "\u201cecho\u201d, hi"), "\u201cecho\u201d is in typographic quotes"),
    (JOB.encode("utf-16"), "encoded in UTF-16 (expected UTF-8); convert it: iconv -f UTF-16 -t UTF-8"),
    (JOB.replace("name: job", "name: {{ .Release.Name }}"), "render it first (for example: helm template CHART | muster run -f -)"),
    (JOB.replace("name: job", "name: $NAME"), "fill it in first (for example: envsubst < FILE | muster run -f -)"),
    (JOB.replace("kind: TFJob", "kind: PyTorchJob"), "rename spec.pytorchReplicaSpecs to spec.tfReplicaSpecs"),
], ids=["misspelled", "word of docker", "twice", "invisible key", "invisible end", "quotes", "utf-16", "helm", "envsubst", "pytorch"])
def test_what_is_wrong_with_a_file_is_named_and_nothing_runs(muster, tmp_path, text, said):
    done = run(muster, tmp_path, text, 2)
    assert said in done.stderr and "job.yaml" in done.stderr
    assert not set(done.stderr) & {"\u200b", "\u00a0"} and done.stdout == ""


def test_a_pod_template_is_read_as_strictly(muster, tmp_path):
    (tmp_path / "pod.yaml").write_text("kind: Pod\nspec:\n  restartpolicy: Never\n  containers: [{name: a, workdir: /tmp}]\n")
    done = muster("render", "--as", "pods", "--pod-template", "pod.yaml", "--", "true", cwd=tmp_path, code=2)
    assert done.stderr == ('muster: --pod-template: pod.yaml:3:18: spec.restartpolicy: unknown field; did you mean "restartPolicy"?\n'
                           'muster: pod.yaml:4:35: spec.containers[0].workdir: unknown field; did you mean "workingDir"?\n')


def test_all_faults_of_a_pod_template_are_told(muster, tmp_path):
    container = "{name: a, image: i, " + ", ".join(f"{field}: x" for field in
                                                   ["workdir", "comand", "resouces", "volumemounts", "environment", "lifecyle"]) + "}"
    (tmp_path / "pod.yaml").write_text(f"kind: Pod\nspec: {{containers: [{container}]}}\n")
    done = muster("render", "--as", "pods", "--pod-template", "pod.yaml", "--", "true", cwd=tmp_path, code=2)
    assert done.stderr.count("unknown field; did you mean ") == 6 and done.stderr.endswith('did you mean "lifecycle"?\n')


def test_a_field_that_kubernetes_does_not_know_is_said_to_be_ignored(muster, tmp_path):
    done = run(muster, tmp_path, JOB.replace("command:", "fieldOfTomorrow: 1, command:"), 0)
    assert done.stderr.startswith("muster: ignored on this machine: image, fieldOfTomorrow (unknown field)\n")


def test_a_job_file_may_begin_with_a_byte_order_mark(muster, tmp_path):
    assert "worker-0 | hi\n" in run(muster, tmp_path, JOB.encode("utf-8-sig").replace(b"\n", b"\r\n"), 0).stdout


def variables_of(muster, tmp_path, lines, code=0):
    """What a process gets of an --env-file, or what muster says."""
    (tmp_path / "env").write_text("\n".join(lines) + "\n")
    done = muster("run", "--no-prefix", "--env-file", "env", "--", "env", cwd=tmp_path, code=code)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line) if code == 0 else done.stderr


def test_an_env_file_is_read_as_dotenv_reads_it(muster, tmp_path):
    """The values are those of python-dotenv 1.1, but that muster replaces no $NAME, and NONE is empty as in a shell."""
    seen = variables_of(muster, tmp_path, [
        "export EXPORTED=1", 'QUOTED="a b"', "SINGLE='a \\n b'", 'ESCAPED="a\\n\\"b\\" \\d"', "COMMENTED=a b # c", 'BOTH="a # b" # c',
        "HASH=a#b", "EMPTY=", "SPACED=  x  ", "URL=postgres://u:p@h/d?x='1'", "DOLLAR=$HOME", "NONE= # c",
        "BLANKS = 1", "APOSTROPHE='it\\'s'"])
    assert {name: seen[name] for name in ("BLANKS", "APOSTROPHE", "EXPORTED", "QUOTED", "SINGLE", "COMMENTED", "BOTH", "HASH", "EMPTY", "SPACED", "URL", "DOLLAR", "NONE")} == {
        "EXPORTED": "1", "QUOTED": "a b", "SINGLE": "a \\n b", "COMMENTED": "a b", "BOTH": "a # b", "HASH": "a#b", "EMPTY": "", "SPACED": "x",
        "URL": "postgres://u:p@h/d?x='1'", "DOLLAR": "$HOME", "NONE": "", "BLANKS": "1", "APOSTROPHE": "it's"}
    assert seen["ESCAPED"] == "a"  # and a second line: "b" \d


def test_all_faults_of_an_env_file_are_told(muster, tmp_path):
    assert variables_of(muster, tmp_path, ['A="x', "B='y' z", "1C=z"], code=2).splitlines() == [
        'muster: --env-file: env:1: A: the quote " is not closed on its line',
        "muster: --env-file: env:2: B: unexpected text after the closing quote '",
        "muster: --env-file: env:3: '1C' is not a valid variable name",
    ]


def test_an_env_file_of_windows_is_read(muster, tmp_path):
    (tmp_path / "env").write_bytes("DATA=/data\r\nEPOCHS=3\r\n".encode("utf-8-sig"))
    done = muster("run", "--env-file", "env", "--", "sh", "-c", 'echo "[$DATA] [$EPOCHS]"', cwd=tmp_path, code=0)
    assert "worker-0 | [/data] [3]\n" in done.stdout


@pytest.mark.parametrize(("text", "said"), [
    ("services:\n  a: {image: x}\n", "expected a TFJob, and this is a compose file; to run its command: muster run -w N -- COMMAND"),
    ("web: python x.py\nworker: python y.py\n",
     "expected a TFJob, and this is a Procfile; start each of its processes with muster run -- COMMAND"),
    ("name: x\nnum_nodes: 2\nrun: |\n  python x.py\n",
     "expected a TFJob, and this is a task of SkyPilot; to run its command: muster run -w N -- COMMAND"),
    ("#!/bin/sh\n#SBATCH -N 2\nsrun python x.py\n", "expected a TFJob object; to run a script: muster run -- sh FILE"),
    ("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n",
     'kind: Unsupported value: "TrainJob": supported values: "TFJob"; to run its command: muster run -w N -- COMMAND '
     "(with --on kubernetes --image IMAGE: in Pods)"),
])
def test_a_file_of_another_tool_is_called_by_its_name(muster, tmp_path, text, said):
    (tmp_path / "file").write_text(text)
    assert re.fullmatch(rf"(muster: )?file:\d+:\d+: {re.escape(said)}\n", muster("run", "-f", "file", cwd=tmp_path, code=2).stderr)
