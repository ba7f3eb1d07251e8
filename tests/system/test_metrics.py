"""`muster run --metrics-listen`: what a program that watches over jobs reads of one."""

import contextlib
import http.client
import re
import signal
import socket
import time

import pytest

from conftest import LIMIT, read_line, read_until
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig

TOLD = re.compile(r"muster: metrics of job '(.+)': (?:http://(.+):(\d+)|unix:(.+))\n")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LIMIT)
        self.sock.connect(str(self.path))


def connection_to(line):
    """To the address that muster tells."""
    told = TOLD.fullmatch(line)
    assert told, line
    _, host, port, path = told.groups()
    return UnixConnection(path) if path else http.client.HTTPConnection(host.strip("[]"), int(port), timeout=LIMIT)


def ask(connection, path="/metrics", method="GET", **headers):
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def numbers(text):
    """Sample -> number; and each has its HELP and TYPE above it."""
    found, named = {}, set()
    for line in text.splitlines():
        if line.startswith("# "):
            named.add(tuple(line.split()[1:3]))
            continue
        sample, number = line.rsplit(" ", 1)
        name = re.sub(r"(_bucket|_sum|_count)$", "", sample.split("{")[0])
        assert {("HELP", name), ("TYPE", name)} <= named, line
        found[re.sub('namespace="[a-z]+",', "", sample)] = float(number)
    return found


def replicas_of(text, job, role="worker"):
    """State -> count, but for zeros."""
    wanted = re.compile(rf'muster_job_replicas{{job="{job}",role="{role}",state="(\w+)"}}')
    return {match[1]: int(number) for sample, number in numbers(text).items()
            if (match := wanted.fullmatch(sample)) and number}


@pytest.mark.parametrize("address", [":0", "localhost:0", "127.0.0.1:0", "unix:here"])
def test_a_job_in_the_foreground(muster, address):
    job = muster.start("run", "--metrics-listen", address, "--name", "story", "-w", 2, "--max-restarts", 1, "--", "sh", "-c",
                       '[ "$WORKER_NUMBER" = 1 ] && [ ! -e failed ] && touch failed && exit 3; echo runs; sleep 1000')
    connection = connection_to(read_line(job.stderr))
    read_until(job.stdout, "worker-1 | runs")
    muster.until("story", lambda shown: shown["status"].get("restarts") == 1)
    muster.until_running("story", 2)
    status, text = ask(connection)
    assert status == 200
    assert replicas_of(text, "story") == {"Running": 2}
    assert numbers(text)['muster_job_restarts_total{job="story"}'] == 1
    assert numbers(text)['muster_pass_seconds_count{job="story"}'] > 0
    assert ask(connection, "/healthz") == (200, "ok\n")
    assert ask(connection, "/healthz", "HEAD") == (200, "")
    assert ask(connection, "/metrics?x=1", "POST")[0] == 405
    assert ask(connection, "/")[0] == 404
    job.send_signal(signal.SIGQUIT)
    assert job.wait(LIMIT) == 130
    assert not (muster.folder / "here").exists()


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:0"])
def test_a_page_in_a_browser_reads_nothing_of_a_loopback_address(muster, address):
    """Its name may lead here (DNS rebinding), but it has that name; a page of another site says so."""
    job = muster.start("run", "--metrics-listen", address, "--name", "story", "--", "sleep", 1000)
    connection = connection_to(read_line(job.stderr))
    port = connection.port
    for host in (f"localhost:{port}", "LocalHost", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost:1", "127.9.9.9"):
        assert ask(connection, Host=host)[0] == 200, host
    for host in (f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example", "127.1", "", "evil@localhost",
                 "10.0.0.1", "0.0.0.0", f"0.0.0.0:{port}", "[::]", f"[::ffff:127.0.0.1]:{port}", "[::ffff:7f00:1]", "[fe80::1]"):
        assert ask(connection, Host=host)[0] == 421, host
    for host in (f"evil.example:{port}", "[::ffff:127.0.0.1]"):
        assert ask(connection, f"http://{host}/metrics", Host="localhost")[0] == 421
    assert ask(connection, Host="localhost:1", Origin="http://localhost:1")[0] == 200
    for origin in ("http://evil.example", "null", "http://localhost:2", "http://localhost:1.evil.example", ""):
        assert ask(connection, Host="localhost:1", Origin=origin)[0] == 403, origin
    for site, status in (("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403), ("", 403)):
        assert ask(connection, **{"Host": "localhost:1", "Sec-Fetch-Site": site})[0] == status, site


@pytest.mark.parametrize("address", ["0.0.0.0:0", "unix:here"])
def test_where_others_name_the_address_any_name_will_do(muster, address):
    """A Service of a cluster, a proxy: nobody here knows their names. A page of another site is refused all the same."""
    job = muster.start("run", "--metrics-listen", address, "--name", "story", "--", "sleep", 1000)
    connection = connection_to(read_line(job.stderr))
    assert ask(connection, Host="metrics.team.svc:9090")[0] == 200
    assert ask(connection, Host="metrics.team.svc:9090", Origin="http://evil.example")[0] == 403


def test_a_job_in_the_background_and_its_end(muster):
    started = muster("run", "-d", "--metrics-listen", "[::1]:0", "--name", "story", "-w", 3, "--", "sleep", 1000, code=0)
    assert started.stdout == "story\n"
    connection = connection_to(started.stderr.splitlines(keepends=True)[0])
    muster.until_running("story", 3)
    assert replicas_of(ask(connection)[1], "story") == {"Running": 3}
    muster("stop", "--grace", 0, "story", code=0)
    muster("wait", "story")
    with contextlib.suppress(OSError):
        while True:  # until nobody listens any more: its supervisor ends a moment after the job
            connection.close()
            ask(connection)


def test_a_socket_of_a_job_in_the_background_is_for_its_user_and_goes_with_it(muster):
    muster.detach("--metrics-listen", "unix:here", "--name", "story", "--", "sleep", 1000)
    assert (muster.folder / "here").stat().st_mode & 0o777 == 0o600
    assert ask(UnixConnection(muster.folder / "here"), "/healthz") == (200, "ok\n")
    muster("stop", "--grace", 0, "story", code=0)
    muster("wait", "story")
    while (muster.folder / "here").exists():  # its supervisor ends a moment after the job
        time.sleep(0.01)


def test_an_address_that_is_taken_starts_nothing(muster, closed_port):
    port = closed_port()
    refused = muster("run", "--metrics-listen", f":{port}", "--", "touch", "started", code=125)
    assert refused.stderr == f"muster: --metrics-listen: port {port} of 127.0.0.1 is already in use on this machine\n"
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(str(muster.folder / "here"))
        taken.listen()
        refused = muster("run", "-d", "--metrics-listen", "unix:here", "--", "touch", "started", code=125)
    assert refused.stderr == "muster: --metrics-listen: 'here' already exists\n"
    assert not (muster.folder / "started").exists()
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


def test_a_socket_that_a_killed_muster_left_is_replaced_and_a_file_is_not(muster):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(muster.folder / "here"))
    muster("run", "--metrics-listen", "unix:here", "--", "true", code=0)
    assert not (muster.folder / "here").exists()
    (muster.folder / "here").write_text("mine")
    muster("run", "--metrics-listen", "unix:here", "--", "true", code=125)
    assert (muster.folder / "here").read_text() == "mine"


def test_a_job_that_cannot_be_started_leaves_no_socket(muster):
    muster.detach("--name", "story", "--", "sleep", 1000)
    for detached in ([], ["-d"]):
        muster("run", *detached, "--metrics-listen", "unix:here", "--name", "story", "--", "true", code=2)
        assert not (muster.folder / "here").exists()


@pytest.mark.parametrize("address", ["", "9090", "host.example:1", ":65536", ":-1", "unix:", "unix:" + "x" * 108, "::1:80"])
def test_what_is_no_address_is_refused(muster, address):
    refused = muster("run", "--metrics-listen", address, "--", "touch", "started", code=2)
    assert refused.stderr.startswith("muster: --metrics-listen")
    assert len(refused.stderr.splitlines()) == 1
    assert not (muster.folder / "started").exists()


@pytest.mark.parametrize("detached", [False, True])
def test_a_job_on_a_cluster(muster, tmp_path, detached):
    with LivingKube(lambda labels: None) as kube:  # Pods run on
        muster.environment["KUBECONFIG"] = str(write_kubeconfig(tmp_path / "kubeconfig", kube.origin))
        arguments = ["--metrics-listen", ":0", "--on", "kubernetes", "--name", "story", "-w", 2, "--image", "i", "--", "true"]
        job = muster.start("run", *(["-d"] if detached else []), *arguments)
        connection = connection_to(read_until(job.stderr, "metrics of job")[-1])
        if detached:
            assert job.wait(LIMIT) == 0
        else:
            read_until(job.stdout, "worker-1 | line 0")
        while replicas_of((text := ask(connection)[1]), "story") != {"Running": 2}:
            pass  # the Pods are on their way
        assert numbers(text)['muster_pass_seconds_count{job="story"}'] > 0
        assert ask(connection, "/healthz") == (200, "ok\n")
        muster("stop", "--grace", 0, "story", code=0)
        assert kube.wait_until_empty(LIMIT) == []
        with pytest.raises(OSError):  # its supervisor is gone, before its cluster goes
            while True:
                connection.close()
                ask(connection)
