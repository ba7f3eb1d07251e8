"""Tokens and TLS of elastic jobs: who may join, read and stop them."""

import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import ssl

import pytest

from agents import Machines, start_orchestrator
from conftest import LIMIT, read_line, read_until
from disks import needs_mount
from processes import inner_of, processes_with, wait_until
from servers import free_port
from test_elastic import call_of
from test_elastic_planned import begin, end_all, send_all

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a directory to another user")
CLIENT_CALL = ("--master", "http://127.0.0.1:1", "--strategy", "AllReduce", "--worker-num", "1", "--image", "a", "--task", "test")
AT_ONCE = ("--rdzv-conf", "last_call_timeout=0")


@pytest.fixture
def machines(muster):
    return Machines(muster, free_port())


@pytest.fixture
def token(muster):
    """In the file `token`; a server has its hash, in `token.hash`."""
    muster("orchestrator", "--make-token", muster.folder / "token", code=0)
    token = (muster.folder / "token").read_text()
    (muster.folder / "other").write_text("0" * 64)
    (muster.folder / "other").chmod(0o600)
    assert token.strip() not in (muster.folder / "token.hash").read_text()
    return token.strip()


def ask(machines, token, method="GET", path="/v1/jobs", context=None):
    connection = (http.client.HTTPSConnection("127.0.0.1", machines.port, timeout=LIMIT, context=context) if context
                  else http.client.HTTPConnection("127.0.0.1", machines.port, timeout=LIMIT))
    connection.request(method, path, "{}" if method == "POST" else None, {"Authorization": f"Bearer {token}"} if token else {})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_who_does_not_know_the_token_reads_nothing_and_joins_nothing(machines, token):
    start_orchestrator(machines, "--token-file", machines.muster.folder / "token.hash")
    for given in (None, "0" * 64, token[:-1], token + "0"):
        for method, path in (("GET", "/v1/jobs"), ("GET", "/v1/jobs/digits"), ("POST", "/v1/jobs/digits/members/a"), ("GET", "/else")):
            assert ask(machines, given, method, path) == (401, {"error": "missing or wrong bearer token"})
    machines.launch("without", *AT_ONCE)
    machines.launch("wrong", *AT_ONCE, "--rdzv-token-file", machines.muster.folder / "other")
    machines.launch("insecure", *AT_ONCE, "--insecure")
    assert "the job's server has another token: copy the token of the server's user" in machines.ends("without", 3)
    assert "the job's server has another token: give that of the server: --rdzv-token-file" in machines.ends("wrong", 3)
    assert "the job's server needs its token: do not use --insecure" in machines.ends("insecure", 3)
    assert ask(machines, token) == (200, {"jobs": []}) and not machines.lines()


def test_without_the_token_a_body_is_not_read(machines, token):
    """The answer comes before the body, which is dropped when it comes."""
    start_orchestrator(machines, "--token-file", machines.muster.folder / "token.hash")
    connection = http.client.HTTPConnection("127.0.0.1", machines.port, timeout=LIMIT)
    connection.putrequest("POST", "/v1/jobs/digits/members/a")
    connection.putheader("Content-Length", "90000")
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())) == (401, {"error": "missing or wrong bearer token"})
    connection.sock.sendall(b"GET /v1/jobs/x HTTP/1.1\r\n\r\n".ljust(90000, b"\n"))
    connection.request("GET", "/v1/jobs", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())) == (200, {"jobs": []})


def test_a_browser_changes_nothing(machines, browser_header):
    start_orchestrator(machines)
    for path in ("/v1/jobs/digits/members/a", "/v1/jobs/digits/drain"):
        connection = machines.connect()
        connection.request("POST", path, "{}", browser_header | {"Host": "localhost"})
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())) == (403, {"error": "requests of browsers are rejected"})
    assert ask(machines, machines.muster.token()) == (200, {"jobs": []})


def test_who_knows_the_token_trains(machines, token):
    start_orchestrator(machines, "--token-file", machines.muster.folder / "token.hash")
    for name in ("one", "two"):
        machines.launch(name, *AT_ONCE, "--rdzv-token-file", machines.muster.folder / "token")
    machines.until_world(1, 2)
    for name in ("one", "two"):
        machines.tell(name, 0)
    for name in ("one", "two"):
        machines.ends(name, 0)
    assert [job["name"] for job in ask(machines, token)[1]["jobs"]] == ["digits"]


def test_an_agent_that_is_the_server_asks_for_the_token_as_well(machines, token):
    machines.launch("one", *AT_ONCE, "--rdzv-token-file", machines.muster.folder / "token")
    wait_until(lambda: is_asking(machines))
    machines.launch("stranger", *AT_ONCE)
    assert "the job's server has another token" in machines.ends("stranger", 3)
    assert ask(machines, None)[0] == 401
    machines.launch("two", *AT_ONCE, "--rdzv-token-file", machines.muster.folder / "token")
    machines.until_world(1, 2)
    for name in ("one", "two"):
        machines.tell(name, 0)
    for name in ("one", "two"):
        machines.ends(name, 0)


def is_asking(machines):
    try:
        return ask(machines, None)[0] == 401
    except OSError:
        return False


def start_with_tls(machines, *options):
    """Gives the process and its pin."""
    process = machines.muster.start("orchestrator", "--listen", machines.endpoint, "--tls-dir", machines.muster.folder / "tls", *options)
    assert read_line(process.stderr) == f"muster: elastic jobs connect to https://{machines.endpoint}\n"
    return process, re.search(r"--rdzv-pin (sha256//\S+)", read_line(process.stderr))[1]


def test_over_tls_the_server_is_known_by_its_pin(machines, token):
    options = ("--token-file", machines.muster.folder / "token.hash")
    server, pin = start_with_tls(machines, *options)
    agents = (*AT_ONCE, "--max-restarts", 1, "--rdzv-pin", pin, "--rdzv-token-file", machines.muster.folder / "token")
    for name in ("one", "two"):
        machines.launch(name, *agents)
    machines.until_world(1, 2)
    server.kill()
    server.wait()
    assert start_with_tls(machines, *options)[1] == pin
    machines.launch("three", *agents)
    machines.until_world(2, 3)
    machines.kill("two")
    machines.until_world(3, 2)
    context = ssl.create_default_context(cafile=machines.muster.folder / "tls" / "tls.crt")
    context.check_hostname = False
    assert ask(machines, token, path="/v1/jobs/digits", context=context)[1]["generation"] == 3
    for name in ("one", "three"):
        machines.tell(name, 0)
    for name in ("one", "three"):
        machines.ends(name, 0)


def test_all_agents_with_the_token_have_the_key_of_the_server(machines, token):
    """Without an orchestrator: no pin, no certificate in a file."""
    trust = ("--rdzv-tls", "--rdzv-token-file", machines.muster.folder / "token")
    machines.launch("one", *AT_ONCE, *trust)
    assert "joined job 'digits'" in read_line(machines.agents["one"].stderr)
    with pytest.raises(http.client.HTTPException):
        ask(machines, token)
    status = ("status", "--rdzv-endpoint", machines.endpoint, "digits")
    assert "it closed the connection without a response, as a server with TLS does" in machines.muster(*status, *trust[1:], code=3).stderr
    machines.launch("stranger", *AT_ONCE, *trust[:2], machines.muster.folder / "other")
    assert "its key is not the pinned one; give that of the server: --rdzv-token-file" in machines.ends("stranger", 3)
    machines.launch("two", *AT_ONCE, *trust)
    machines.until_world(1, 2)
    assert machines.muster(*status, *trust, code=0).stdout.startswith("digits: running, 2 machines")
    for name in ("one", "two"):
        machines.tell(name, 0)
    for name in ("one", "two"):
        machines.ends(name, 0)


def test_a_server_with_another_key_is_told_nothing(machines):
    (machines.muster.folder / "tls").mkdir()
    start_with_tls(machines)
    machines.launch("pinned", "--rdzv-pin", "sha256//" + "A" * 43 + "=")
    assert f"https://{machines.endpoint}" in machines.ends("pinned", 3)
    machines.endpoint = f"https://{machines.endpoint}"
    machines.launch("unpinned")
    assert "cannot verify the certificate" in machines.ends("unpinned", 3)
    assert not machines.lines()


# The files of a server and its clients.

def mode_of(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("command", ["orchestrator", "serve"])
@pytest.mark.parametrize("name", ["mine", "mine.hash"])
def test_a_new_token_and_its_hash_are_files_of_this_user_alone(muster, command, name):
    done = muster(command, "--make-token", name, code=0)
    token = (muster.folder / "mine").read_text()
    assert re.fullmatch(r"[0-9a-f]{64}\n", token) and token.strip() not in done.stdout + done.stderr
    assert (muster.folder / "mine.hash").read_text() == f"sha256:{hashlib.sha256(token.strip().encode()).hexdigest()}"
    assert mode_of(muster.folder / "mine") == mode_of(muster.folder / "mine.hash") == 0o600
    assert "the token for clients is in 'mine', its hash for --token-file in 'mine.hash'" in done.stderr


@pytest.mark.parametrize("there", ["token", "token.hash"])
def test_a_new_token_replaces_no_file(muster, there):
    (muster.folder / there).write_text("old")
    for name in ("token", "token.hash"):
        assert f"'{there}' exists, and clients may have its token" in muster("orchestrator", "--make-token", name, code=1).stderr
    assert [(path.name, path.read_text()) for path in muster.folder.iterdir() if path.is_file()] == [(there, "old")]


def test_a_file_that_the_shell_created_for_the_token_is_for_this_user_alone(muster):
    """`--make-token token.hash > token`: others may have opened the file before muster began."""
    with open(muster.folder / "token", "w+", encoding="ascii") as opened:
        (muster.folder / "token").chmod(0o644)
        muster("orchestrator", "--make-token", "token.hash", code=0, stdout=opened)
        assert opened.read() == ""
    assert mode_of(muster.folder / "token") == 0o600 and len((muster.folder / "token").read_text()) == 65


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620], ids=oct)
def test_a_token_file_that_is_open_to_others_is_named(muster, token, mode):
    (muster.folder / "token").chmod(mode)
    warning = f"warning: 'token' is open to other users (mode {mode:o}): chmod go= it"
    ask = ("--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--rdzv-token-file", "token")
    for call in (["ps", *ask], ["ps", *ask, "--rdzv-tls"], ["compat", "elasticdl-client", "--token-file", "token", *CLIENT_CALL],
                 ["orchestrator", "--listen", "0.0.0.0:0", "--token-file", "token", "--tls-dir", "token"],
                 ["pod-server", "--secret-file", "token", "--listen", "x"]):
        assert muster(*call).stderr.count(warning) == 1, call
    (muster.folder / "token.hash").chmod(mode)
    assert "warning" not in muster("orchestrator", "--listen", "0.0.0.0:0", "--token-file", "token.hash").stderr
    (muster.folder / "token").chmod(0o600)
    assert "warning" not in muster("ps", *ask).stderr


def start_server(muster, before=()):
    """With tls/; gives all that it says until it listens, the pin at the end."""
    process = muster.start("orchestrator", "--listen", f"127.0.0.1:{free_port()}", "--tls-dir", muster.folder / "tls", before=before)
    return "".join(read_until(process.stderr, "--rdzv-pin "))


def pin_in(said):
    return re.search(r"--rdzv-pin (sha256//\S+)", said)[1]


def test_servers_that_start_at_once_on_one_directory_have_one_key(muster):
    for name in range(5):
        (muster.folder / "tls").mkdir()
        servers = [muster.start("orchestrator", "--listen", f"127.0.0.1:{free_port()}", "--tls-dir", muster.folder / "tls") for _ in range(8)]
        assert len({pin_in("".join(read_until(server.stderr, "--rdzv-pin "))) for server in servers}) == 1
        assert sorted(path.name for path in (muster.folder / "tls").iterdir()) == ["tls.crt", "tls.key"]
        (muster.folder / "tls").rename(muster.folder / f"tls-{name}")


def test_a_key_that_a_killed_server_left_without_its_certificate_is_used(muster):
    pin = pin_in(start_server(muster))
    (muster.folder / "tls" / "tls.crt").unlink()
    assert pin_in(start_server(muster)) == pin
    (muster.folder / "tls" / "tls.crt").unlink()
    (muster.folder / "tls" / "tls.key").write_text("no key")
    said = muster("orchestrator", "--tls-dir", muster.folder / "tls", code=2).stderr
    assert "tls.key' has no certificate next to it, and no key" in said
    assert (muster.folder / "tls" / "tls.key").read_text() == "no key"


def test_a_directory_of_tls_that_others_may_change_is_refused(muster):
    tls = muster.folder / "tls"
    start_server(muster)
    for mode in (0o777, 0o720, 0o1777):
        tls.chmod(mode)
        assert f"--tls-dir: '{tls}' is writable by other users" in muster("orchestrator", "--tls-dir", tls, code=4).stderr
    tls.chmod(0o755)
    start_server(muster)
    (muster.folder / "open").mkdir()
    (muster.folder / "open").chmod(0o777)
    said = muster("orchestrator", "--tls-dir", muster.folder / "open" / "tls", code=4).stderr
    assert f"--tls-dir: '{muster.folder}/open' is writable by other users" in said


@needs_root
def test_a_directory_of_tls_of_another_user_is_refused(muster):
    tls = muster.folder / "tls"
    tls.mkdir()
    os.chown(tls, 65534, 65534)
    said = muster("orchestrator", "--tls-dir", tls, code=4).stderr
    assert f"--tls-dir: '{tls}' belongs to user 65534" in said and "choose a directory of your own" in said
    assert not list(tls.iterdir())


def test_a_key_that_is_open_to_others_is_named(muster):
    assert "warning" not in start_server(muster)
    for mode in (0o644, 0o640, 0o604):
        (muster.folder / "tls" / "tls.key").chmod(mode)
        assert f"warning: '{muster.folder}/tls/tls.key' is open to other users (mode {mode:o})" in start_server(muster)


@needs_mount
def test_a_secret_that_kubernetes_mounted_is_fine(muster):
    """It is root's and read-only, and its modes say nothing: 1777 for the folder, 0644 for the files."""
    start_server(muster)
    tls = muster.folder / "tls"
    mounts = f"mount --bind {tls} {tls} && chmod 1777 {tls} && chmod 644 {tls}/* && mount -o remount,ro,bind {tls}"
    said = start_server(muster, before=["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh"])
    assert "warning" not in said


def test_mistakes_of_tokens_and_pins_are_told(machines, muster, token):
    launch = ("launch", "--nnodes", 2, "--rdzv-endpoint", machines.endpoint)
    assert "has the hash of a token, which only servers take: give the token itself" in muster(
        *launch, "--rdzv-token-file", muster.folder / "token.hash", "x.py", code=2).stderr
    assert "--rdzv-token-file: " in muster(*launch, "--rdzv-token-file", muster.folder / "none", "x.py", code=2).stderr
    assert "--rdzv-pin: 'abc' is not a pin (expected sha256//" in muster(*launch, "--rdzv-pin", "abc", "x.py", code=2).stderr
    assert "TLS needs a token: do not use --insecure" in muster(*launch, "--rdzv-tls", "--insecure", "x.py", code=2).stderr
    tls = (*launch, "--rdzv-tls", "--rdzv-token-file")
    assert "--rdzv-tls: cannot be used with --rdzv-pin" in muster(*tls, muster.folder / "token", "--rdzv-pin", "sha256//A", "x.py", code=2).stderr
    (muster.folder / "short").write_text("a password of 16")
    assert "--rdzv-token-file: the token must have at least 32 characters" in muster(*tls, muster.folder / "short", "x.py", code=2).stderr
    assert "token.hash' has only the hash of the token, from which no key for TLS can be made" in muster(
        "orchestrator", "--listen", "0.0.0.0:0", "--token-file", muster.folder / "token.hash", code=2).stderr
    assert "short: the token must have at least 32 characters" in muster(
        "orchestrator", "--listen", "0.0.0.0:0", "--token-file", muster.folder / "short", code=2).stderr


def test_no_member_speaks_for_another(machines):
    """Each has a key from its first call on, also after its server was started again."""
    own, other = ("00000000-0000-4000-8000-00000000000%d" % i for i in (1, 2))
    folder = machines.muster.folder / "server"

    def call(**changes):
        connection = machines.connect()
        connection.request("POST", f"/v1/jobs/{machines.job}/members/ghost", json.dumps(call_of(**changes)))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    for _ in range(2):
        server = start_orchestrator(machines, "--lease", "600s", "--state-dir", folder)
        assert call(key=own)[0] == 200
        for strange in ({}, {"key": other}, {"hasLeft": True}, {"key": other, "activity": "succeeded", "generation": 1}):
            status, said = call(**strange)
            assert (status, "'ghost' is the id of another agent" in said) == (403, True)
        assert call(key="x")[0] == 400
        assert machines.description()["members"][0]["order"] == "run"
        assert own not in json.dumps(machines.description())
        server.kill()
        server.wait()
    start_orchestrator(machines, "--state-dir", folder)
    assert call(key=own, hasLeft=True)[0] == 200
    assert not machines.description()["members"]


def test_an_agent_whose_id_was_taken_joins_under_a_new_one(machines):
    """A server that lost its state knows no keys: whoever has the token may come first with the id of another."""
    server = start_orchestrator(machines, "--lease", "600s", "--state-dir", machines.muster.folder / "state")
    begin(machines, "one", "two")
    two = machines.description()["members"][1]["id"]
    frozen = processes_with(f"AGENT={machines.agent_word('two')}")
    send_all(frozen, signal.SIGSTOP)
    server.kill()
    server.wait()
    start_orchestrator(machines, "--lease", "600s", "--state-dir", machines.muster.folder / "empty")

    def steal(**changes):
        thief = machines.connect()
        call = call_of(key="00000000-0000-4000-8000-000000000001", maxNoProgress=3, **changes)
        thief.request("POST", f"/v1/jobs/{machines.job}/members/{two}", json.dumps(call))
        assert thief.getresponse().status == 200

    steal()
    send_all(frozen, signal.SIGCONT)
    read_until(machines.agents["two"].stderr, f"'{two}' is the id of another agent; it joins again as a new one")
    machines.until_world(3, 3, strangers=1)
    steal(hasLeft=True)
    assert set(machines.until_world(4, 2)) == {"one", "two"}
    end_all(machines, "one", "two")


def test_no_member_reports_a_failure_of_another(machines):
    """The server names the machine by what it knows of the member, in the sentence and in what is shown of it."""
    start_orchestrator(machines)

    def call(member, **changes):
        connection = machines.connect()
        connection.request("POST", f"/v1/jobs/{machines.job}/members/{member}", json.dumps(call_of(min=2, max=2, maxRestarts=3, **changes)))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()

    for member in ("honest", "liar"):
        call(member)
    rank = {member["id"]: member["rank"] for member in machines.description()["members"]}
    name, own = (f"127.0.0.1 (machine {rank[member]})" for member in ("honest", "liar"))
    failure = {"role": "worker", "index": 0, "attempt": 1, "exitCode": 1, "reason": "ExitCode", "machine": name, "machineJob": "train",
               "message": f"worker-0 on {name} exited with code 1", "time": "2026-11-28T16:23:03.155Z"}
    call("liar", world=1, generation=1, activity="failed", failure=failure)
    described = machines.description()
    assert described["worlds"][0]["failure"] == f"worker-0 on {own} exited with code 1"
    assert described["failure"]["machine"] == own


def test_no_job_takes_the_uid_of_another(machines):
    """Else only the first of them could be stored."""
    folder = machines.muster.folder / "server"
    server = start_orchestrator(machines, "--state-dir", folder)
    given, names = "00000000-0000-4000-8000-000000000001", ["one", "two", "three"]
    uids = []
    for name in names:
        connection = machines.connect()
        connection.request("POST", f"/v1/jobs/{name}/members/m", json.dumps(call_of(uid=given)))
        uids.append(json.loads(connection.getresponse().read())["uid"])
    assert uids[0] == given and len(set(uids)) == 3
    server.kill()
    assert "could not be saved" not in server.communicate()[1]
    start_orchestrator(machines, "--state-dir", folder)
    connection = machines.connect()
    connection.request("GET", "/v1/jobs")
    assert [job["name"] for job in json.loads(connection.getresponse().read())["jobs"]] == names


def test_a_machine_alone_has_a_server_for_itself(muster):
    """Another user of the machine finds its port, and is told nothing."""
    process = muster.start("launch", "--standalone", "--no-python", "sh", "-c", "echo runs; exec sleep 1000")
    assert "runs" in read_line(process.stdout)
    assert {status_at(muster, port) for port in listening_ports(inner_of(process))} == {401, None}


def status_at(muster, port):
    """None: it is no server, but the port where the agent says its id."""
    try:
        return ask(Machines(muster, port), None)[0]
    except (OSError, http.client.HTTPException):
        return None


def listening_ports(pid):
    """Of 127.0.0.1, of this process: all users see them."""
    sockets = {os.readlink(fd) for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()}
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[1].split(":")[1], 16) for row in rows
            if row[3] == "0A" and row[1].startswith("0100007F") and f"socket:[{row[9]}]" in sockets]
