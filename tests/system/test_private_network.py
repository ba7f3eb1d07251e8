"""`muster run --private-network`: the replicas of a job reach each other, and nobody else reaches them. As the user of the
tests and, where that is root, as one who needs a user namespace besides."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

from conftest import BINARY, LIMIT, Muster, read_line, replicas
from processes import inner_of, processes_with, wait_until, wait_until_none_has, wait_until_process_is_gone

NOBODY, STRANGER = 65534, 65533
WAITS = "while :; do sleep 1000; done"

# Listens as TensorFlow does, on all addresses, and says "hello" to everybody.
SERVER = """
import json, os, socket
task = json.loads(os.environ["TF_CONFIG"])
port = int(task["cluster"]["worker"][task["task"]["index"]].rpartition(":")[2])
with socket.create_server(("0.0.0.0", port)) as server:
    print("serves", port, flush=True)
    while True:
        caller, _ = server.accept()
        with caller:
            caller.sendall(b"hello")
"""
CLIENT = """
import socket, sys
try:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as connection:
        print(connection.recv(5).decode())
except ConnectionRefusedError:
    print("refused")
"""
# Worker 0 serves; worker 1 calls it by its address until it answers, and says what it said.
PAIR = SERVER.replace("port = ", """
if task["task"]["index"] == 1:
    host, _, number = task["cluster"]["worker"][0].rpartition(":")
    while True:
        try:
            print(socket.create_connection((host, int(number))).recv(5).decode(), flush=True)
            os._exit(0)
        except OSError:
            pass
port = """)


def as_user(uid):
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]


def can_be_had(*before):
    return not subprocess.run([*before, "unshare", "--net", "--map-current-user", "true"], capture_output=True, check=False,
                              timeout=LIMIT).returncode


@pytest.fixture(params=["own user", "another user"])
def muster(request, tmp_path):
    """The program, and where it may be had a second time as another user, with a folder that is his."""
    if request.param == "own user":
        if not can_be_had():
            pytest.skip("no network namespace can be had here")
        program = Muster(tmp_path)
        yield program
        program.end()
        return
    if os.getuid() != 0 or not can_be_had(*as_user(NOBODY)):
        pytest.skip("no other user with a network namespace can be had here")
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        shutil.copy(BINARY, folder / "muster")
        for path in (folder, folder / "muster"):
            os.chown(path, NOBODY, NOBODY)
            path.chmod(0o755)
        program = Muster(folder, [*as_user(NOBODY), folder / "muster"])
        yield program
        program.end()


def call(port, *before):
    """What a client says that begins outside of the job."""
    return subprocess.run([*before, "python3", "-c", CLIENT, str(port)], capture_output=True, text=True, check=True,
                          timeout=LIMIT).stdout.strip()


def start_server(muster, *options):
    """A job that serves; gives its port."""
    run = muster.start("run", "--name", "job", *options, "--", "python3", "-c", SERVER)
    words = read_line(run.stdout).split()
    assert words[:2] == ["worker-0", "|"] and words[2] == "serves"
    return int(words[3])


def test_nobody_outside_reaches_a_server_of_the_job(muster):
    port = start_server(muster, "--private-network")
    assert call(port) == "refused"
    if os.getuid() == 0:
        assert call(port, *as_user(STRANGER)) == "refused"


def test_without_it_everybody_does(muster):
    """What the other tests rely on."""
    port = start_server(muster)
    assert call(port) == "hello"
    if os.getuid() == 0:
        assert call(port, *as_user(STRANGER)) == "hello"


def test_replicas_reach_each_other_by_the_addresses_that_they_are_told(muster):
    run = muster.start("run", "--private-network", "-w", 2, "--", "python3", "-c", PAIR)
    said = {read_line(run.stdout).split(" | ")[-1].split()[0] for _ in range(2)}
    assert said == {"serves", "hello"}


def test_a_restarted_replica_has_the_same_network(muster):
    muster("run", "--private-network", "--max-restarts", 1, "--", "sh", "-c",
           "readlink /proc/self/ns/net >> seen; [ $(wc -l < seen) = 2 ]", code=0)
    first, second = (muster.folder / "seen").read_text().split()
    assert first == second != os.readlink("/proc/self/ns/net")


def test_exec_is_in_the_network_of_its_replica(muster):
    port = start_server(muster, "--private-network")
    done = muster("exec", "job", "--", "python3", "-c", CLIENT, port, code=0)
    assert done.stdout == "hello\n"
    done = muster("exec", "job", "--", "sh", "-c", "id -u; pwd", code=0)
    assert done.stdout.splitlines() == [str(os.stat(muster.folder).st_uid), str(muster.folder)]


def test_a_background_job_keeps_it_and_so_does_one_that_is_resumed(muster):
    name = muster.detach("--private-network", "--", "sh", "-c", WAITS)
    for is_resumed in (False, True):
        if is_resumed:
            muster("resume", name, code=0)
        (replica,) = replicas(muster.until_running(name, 1))
        assert os.readlink(f"/proc/{replica['pid']}/ns/net") != os.readlink("/proc/self/ns/net")
        assert muster.job(name)["metadata"]["annotations"]["muster/private-network"] == "true"
        muster("stop", "--grace", 0, name)
        muster("wait", name)


def test_what_is_left_of_a_killed_muster_is_found_and_ended(muster):
    """It is in a user namespace, into which the next muster looks from outside."""
    run = muster.start("run", "--private-network", "--name", "job", "--", "sh", "-c",
                       f"setsid sh -c '{WAITS}' & echo so; {WAITS}")
    read_line(run.stdout)
    (replica,) = replicas(muster.until_running("job", 1))
    mark = f"MUSTER_JOB_UID={muster.job('job')['metadata']['uid']}"
    wait_until(lambda: len(processes_with(mark)) >= 3)
    inner = inner_of(run)
    for pid, number in ((run.pid, signal.SIGSTOP), (inner, signal.SIGKILL), (run.pid, signal.SIGKILL)):
        os.kill(pid, number)
    run.wait(LIMIT)
    assert wait_until_process_is_gone(inner) and wait_until_process_is_gone(replica["pid"])
    assert processes_with(mark)
    assert muster.job("job")["status"]["failure"]["reason"] == "SupervisorLost"
    wait_until_none_has(mark)


def test_the_metrics_stay_where_everybody_reads_them(muster):
    run = muster.start("run", "--private-network", "--metrics-listen", "127.0.0.1:0", "--", "sh", "-c", WAITS)
    address = read_line(run.stderr).split()[-1]
    done = subprocess.run(["python3", "-c", f"import urllib.request as u; print(u.urlopen('{address}/healthz').status)"],
                          capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stdout == "200\n"


def test_interfaces_that_a_shell_names_are_replaced_unless_the_job_says_so(muster):
    shell = {"NCCL_SOCKET_IFNAME": "eth0", "GLOO_SOCKET_IFNAME": "eth0"}
    command = ["--", "sh", "-c", "echo $NCCL_SOCKET_IFNAME $GLOO_SOCKET_IFNAME"]
    assert muster("run", "--private-network", *command, code=0, env=shell).stdout == "worker-0 | lo lo\n"
    done = muster("run", "--private-network", "--env", "NCCL_SOCKET_IFNAME=lo0", *command, code=0, env=shell)
    assert done.stdout == "worker-0 | lo0 lo\n"
    assert muster("run", *command, code=0, env=shell).stdout == "worker-0 | eth0 eth0\n"


def test_the_status_says_what_the_addresses_are_of(muster):
    start_server(muster, "--private-network")
    assert "\nNetwork:    private (reach it with 'muster exec job')\n" in muster("status", "job", code=0).stdout


def test_the_doctor_knows_whether_it_can_be_had(muster):
    rows = json.loads(muster("doctor", "-o", "json").stdout)["rows"]
    assert [row["found"] for row in rows if row["name"] == "private net"] == ["available: muster run --private-network"]


def test_a_port_of_it_is_not_forwarded_and_the_sentence_says_what_to_do(muster):
    start_server(muster, "--private-network")
    done = muster("port-forward", "job", "2222", code=4)
    assert done.stderr == ("muster: job 'job' runs in a private network; reach it from inside: "
                           "muster exec job worker-0 -- COMMAND\n")


def test_the_choice_is_in_the_document_and_is_taken_back_there(muster):
    command = ["--", "true"]
    written = muster("run", "--private-network", "--dry-run", "-o", "json", *command, code=0).stdout
    assert json.loads(written)["metadata"]["annotations"] == {"muster/private-network": "true"}
    done = muster("run", "-f", "-", "--no-private-network", "--dry-run", "-o", "json", code=0, input=written)
    assert "muster/private-network" not in json.loads(done.stdout)["metadata"].get("annotations", {})
    document = json.loads(written)
    document["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["command"] = [
        "readlink", "/proc/self/ns/net"]
    done = muster("run", "-f", "-", code=0, input=json.dumps(document))
    assert done.stdout.split()[-1] != os.readlink("/proc/self/ns/net")
    document["metadata"]["annotations"]["muster/private-network"] = "yes"
    done = muster("run", "-f", "-", code=2, input=json.dumps(document))
    assert 'metadata.annotations[muster/private-network]: Unsupported value: "yes"' in done.stderr


def test_addresses_of_other_machines_do_not_go_with_it(muster):
    def run(address):
        config = json.dumps({"cluster": {"worker": ["127.0.0.1:2222", address]}, "task": {"type": "worker", "index": 0}})
        return muster("run", "--private-network", "--env", f"TF_CONFIG={config}", "--", "true")

    assert "TF_CONFIG names 127.evil:2222" in run("127.evil:2222").stderr  # a name, whatever it begins with
    done = run("10.0.0.2:2222")
    assert done.returncode == 2
    assert done.stderr.startswith("muster: TF_CONFIG names 10.0.0.2:2222, which a private network cannot reach; ")
    assert run("localhost:2223").returncode == 0


def test_on_a_cluster_it_has_no_meaning(muster):
    beside = pathlib.Path(muster.program[-1]).with_name("muster-kubernetes")
    if not beside.exists():
        shutil.copy(BINARY + "-kubernetes", beside)
    written = muster("run", "--private-network", "--dry-run", "--", "true", code=0).stdout
    for words in (["--private-network", "--image", "i", "--", "true"], ["-f", "-", "--image", "i"]):
        done = muster("run", "--on", "kubernetes", "--dry-run", *words, input=written)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == ("muster: --private-network: not available with --on kubernetes; there, a NetworkPolicy "
                               "admits only the job's own Pods\n")


# Where it cannot be had. A user namespace has limits of its own on what is made below it.

REFUSES = """
echo 0 > /proc/sys/user/max_%s_namespaces
setpriv --bounding-set -all --inh-caps -all "$0" "$@"
"""


@pytest.mark.parametrize("kind, sentence", [
    ("user", "user namespaces are disabled on this machine; to enable them: sysctl -w user.max_user_namespaces=10000"),
    ("net", "network namespaces are disabled on this machine; to enable them: sysctl -w user.max_net_namespaces=10000")])
@pytest.mark.parametrize("is_background", [False, True])
def test_where_it_cannot_be_had_nothing_is_started_and_why_is_told(muster, kind, sentence, is_background):
    inside = ["unshare", "--user", "--map-root-user", "sh", "-c", REFUSES % kind]
    if subprocess.run([*muster.program[:-1], *inside, "true"], capture_output=True, check=False, timeout=LIMIT).returncode:
        pytest.skip("no user namespace with limits of its own can be had here")
    program = muster.program
    muster.program = [*program[:-1], *inside, program[-1]]
    done = muster("run", *(["-d"] if is_background else []), "--name", "job", "--private-network", "--", "touch", "started")
    check = muster("check", "--private-network")
    found = json.loads(muster("doctor", "-o", "json").stdout)["rows"]
    muster.program = program
    assert f"none: {sentence}" in [row["found"] for row in found]
    assert (done.returncode, done.stdout) == (125, "")
    assert (check.returncode, check.stdout) == (3, "")
    assert done.stderr == check.stderr == f"muster: cannot create a private network: {sentence}\n"
    assert not (muster.folder / "started").exists()
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""
