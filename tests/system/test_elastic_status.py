"""`muster status --rdzv-endpoint`: an elastic job across its machines."""

import http.server
import json
import re
import threading

import pytest

from agents import Machines, ask, start_orchestrator
from conftest import LIMIT, read_line
from servers import free_port

AT_ONCE = ("--rdzv-conf", "last_call_timeout=0")


@pytest.fixture
def machines(muster):
    return Machines(muster, free_port())


def status(machines, *arguments, code=0):
    return machines.muster("status", "--rdzv-endpoint", machines.endpoint, *arguments, code=code)


def table(lines):
    return [re.split(r" {3,}", line) for line in lines]


def end_all(machines, *names):
    for name in names:
        machines.tell(name, 0)
    return [machines.ends(name, 0) for name in names]


def test_the_whole_story_of_a_job_is_told_by_one_command(machines):
    start_orchestrator(machines)
    for name in ("one", "two"):
        machines.launch(name, *AT_ONCE)
    machines.until_world(1, 2)
    machines.launch("three", *AT_ONCE)
    lost = f"127.0.0.1 (machine {machines.until_world(2, 3)['two'].rank}) was lost"
    machines.kill("two")
    machines.until_world(3, 2)
    head, members, worlds, cause = (part.splitlines() for part in status(machines, "digits").stdout.split("\n\n"))
    assert head == ["digits: running, 2 machines (2 to 3), world 3, 0 restarts"]
    assert [row[:4] for row in table(members)] == [
        ["RANK", "MACHINE", "STATE", "PROCESSES"], ["0", "127.0.0.1", "training", "1"], ["1", "127.0.0.1", "training", "1"]]
    rows = table(worlds)
    assert rows[0] == ["WORLD", "STARTED", "LASTED", "MACHINES", "REASON"]
    assert [(row[0], *row[3:]) for row in rows[1:]] == [
        ("1", "2", "enough machines have joined"), ("2", "3", "more machines have joined"), ("3", "2", lost)]
    assert cause == ["Cause of the last restart:", lost]
    told = end_all(machines, "one", "three")
    assert status(machines, "digits").stdout.startswith("digits: succeeded, world 3, 0 restarts\n\nWORLD")
    assert all(f"muster: {lost}\n" in said for said in told)
    for name, sizes in (("one", "2, 3, 2"), ("three", "3, 2")):
        shown = machines.muster("status", name, code=0).stdout
        assert f"\nMachines:   {sizes} (in the worlds so far, the newest last)\n" in shown


def test_all_jobs_of_a_server_are_listed(machines):
    start_orchestrator(machines)
    assert table(status(machines).stdout.splitlines()) == [["JOB", "STATE", "MACHINES", "WORLD", "RESTARTS", "AGE"]]
    machines.launch("one", *AT_ONCE, nnodes="1")
    machines.until_world(1, 1)
    assert table(status(machines).stdout.splitlines())[1][:5] == ["digits", "running", "1", "1", "0"]
    given, asked = json.loads(status(machines, "digits", "-o", "json").stdout), ask(machines, "/v1/jobs/digits")[1]
    assert {**given, "now": None} == {**asked, "now": None}
    end_all(machines, "one")


def test_a_job_is_followed_to_its_end(machines):
    """Over a server that is killed and started again."""
    server = start_orchestrator(machines)
    machines.launch("one", *AT_ONCE, nnodes="1:2")
    machines.until_world(1, 1)
    following = machines.muster.start("status", "-w", "--rdzv-endpoint", machines.endpoint, "digits")
    assert read_line(following.stdout) == "digits: running, 1 machine (1 to 2), world 1, 0 restarts\n"
    server.kill()
    server.wait()
    assert read_line(following.stderr).endswith("; muster tries again\n")
    start_orchestrator(machines)
    machines.launch("two", *AT_ONCE, nnodes="1:2")
    machines.until_world(2, 2)
    assert read_line(following.stdout) == "digits: running, 2 machines (1 to 2), world 2, 0 restarts\n"
    end_all(machines, "one", "two")
    assert following.communicate(timeout=LIMIT)[0].splitlines()[-1] == "digits: succeeded, world 2, 0 restarts"
    assert following.returncode == 0


def test_over_tls_with_a_token_it_is_the_same(machines, muster):
    muster("orchestrator", "--make-token", muster.folder / "token", code=0)
    (muster.folder / "tls").mkdir()
    server = muster.start("orchestrator", "--listen", machines.endpoint, "--tls-dir", muster.folder / "tls", "--token-file",
                          muster.folder / "token.hash")
    read_line(server.stderr)
    pin = read_line(server.stderr).split()[-1]
    trust = ("--rdzv-pin", pin, "--rdzv-token-file", muster.folder / "token")
    assert status(machines, *trust).stdout.startswith("JOB")
    assert "the server needs its token: copy the token of the server's user" in status(machines, "--rdzv-pin", pin, code=4).stderr
    assert machines.endpoint in status(machines, "--rdzv-pin", "sha256//" + "A" * 43 + "=", code=4).stderr
    machines.endpoint = f"https://{machines.endpoint}"
    assert "cannot verify the certificate" in status(machines, code=4).stderr


def test_what_is_not_there_is_told(machines):
    assert f"cannot reach 127.0.0.1 port {machines.port}" in status(machines, "digits", code=3).stderr
    start_orchestrator(machines)
    assert "the server has no elastic job 'digits'" in status(machines, "digits", code=1).stderr
    assert "takes one job only" in status(machines, "a", "b", code=2).stderr
    assert "'a/b' is not the id of a job" in status(machines, "a/b", code=2).stderr
    assert "--watch: follows one job" in status(machines, "-w", code=2).stderr


def test_texts_of_a_server_move_no_cursor_and_begin_no_line(machines):
    evil = "a\x1b[2J\r\nmuster: b\x9b\x7f"

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"name": evil, "phase": evil, "members": [{"id": evil, "host": evil}],
                                         "worlds": [{"reason": evil, "failure": evil}]}).encode())

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", machines.port), Server) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        shown = status(machines, "digits").stdout
        thread.join(LIMIT)
    assert "muster: b" in shown and not re.search(r"[^\n -~]", shown.replace("\ufffd", ""))
    assert not [line for line in shown.splitlines() if line.startswith("muster:")]


def test_a_reader_is_answered_when_something_has_changed(machines):
    start_orchestrator(machines)
    machines.launch("one", *AT_ONCE, nnodes="1:2")
    machines.until_world(1, 1)
    read = f"/v1/jobs/{machines.job}"
    known = ask(machines, read)[1]
    assert known["revision"] > 0
    # While nothing happens, it is answered after a second, with the same.
    again = ask(machines, f"{read}?after={known['revision']}")[1]
    assert again["revision"] == known["revision"]
    asked = machines.connect()
    while again["generation"] == 1:
        asked.request("GET", f"{read}?after={again['revision']}")
        if len(machines.agents) == 1:
            machines.launch("two", *AT_ONCE, nnodes="1:2")
        again = json.loads(asked.getresponse().read())
    assert again["revision"] > known["revision"] and len(again["members"]) == 2
    assert ask(machines, f"{read}?after=x") == (400, {"error": "after: must be the revision of an earlier response"})
    machines.until_world(2, 2)
    end_all(machines, "one", "two")


def test_a_server_answers_its_readers_before_it_ends(machines):
    server = start_orchestrator(machines)
    machines.launch("one", *AT_ONCE, nnodes="1:2")
    machines.until_world(1, 1)
    watch = machines.muster.start("status", "-w", "--rdzv-endpoint", machines.endpoint, machines.job)
    assert read_line(watch.stdout).startswith("digits: running, 1 machine ")
    server.terminate()
    assert server.wait(LIMIT) == 0
    assert "muster tries again" in read_line(watch.stderr)
    start_orchestrator(machines)
    end_all(machines, "one")
    assert watch.wait(LIMIT) == 0
    assert watch.stdout.read().splitlines()[-1] == "digits: succeeded, world 1, 0 restarts"


def test_ps_lists_the_jobs_of_a_server(machines):
    start_orchestrator(machines)
    machines.launch("one", *AT_ONCE, nnodes="1:2")
    machines.until_world(1, 1)
    shown = machines.muster("ps", "--rdzv-endpoint", machines.endpoint, code=0).stdout
    assert table(shown.splitlines())[1][:5] == ["digits", "running", "1", "1", "0"]
    end_all(machines, "one")
