"""The token of a user: servers ask for it, and the commands of that user send it, without an option."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import pytest

from agents import Machines, ask, start_orchestrator
from conftest import BINARY, LIMIT, read_line, read_until
from networks import machines_of
from servers import free_port
from test_elasticdl_client import client, master  # noqa: F401 (a fixture)

AT_ONCE = ("--rdzv-conf", "last_call_timeout=0")
SERVER, OTHER = "10.98.0.1", "10.98.0.2"
# A process of another user: prints what it receives.
STRANGER = """
import os, socket, sys
os.setuid(54321)
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listens", flush=True)
while True:
    connection = server.accept()[0]
    print(connection.recv(65536), flush=True)
    connection.close()
"""


@pytest.fixture
def machines(muster):
    return Machines(muster, free_port())


@pytest.fixture
def elsewhere(muster):
    """The environment of another user, or of a machine with another home directory."""
    return {"XDG_CONFIG_HOME": muster.folder / "elsewhere"}


def path_of(muster):
    return muster.folder / "config" / "muster" / "token"


def test_a_user_needs_no_option_and_others_are_kept_out(machines, muster, elsewhere):
    start_orchestrator(machines)
    for name in ("one", "two"):
        machines.launch(name, *AT_ONCE)
    machines.until_world(1, 2)
    assert machines.status().startswith("digits: running, 2 machines")
    for command in (("status", "--rdzv-endpoint", machines.endpoint, "digits"), ("ps", "--rdzv-endpoint", machines.endpoint),
                    ("drain", "--rdzv-endpoint", machines.endpoint, "digits", "127.0.0.1")):
        said = muster(*command, env=elsewhere, code=4).stderr
        assert "the server needs its token: copy the token of the server's user (~/.config/muster/token there) to " \
               f"'{elsewhere['XDG_CONFIG_HOME']}/muster/token', or use the same --rdzv-token-file on all machines" in said
        assert not elsewhere["XDG_CONFIG_HOME"].exists(), "who only asks has no use for a new token"
    for name in ("one", "two"):
        machines.tell(name, 0)
    for name in ("one", "two"):
        machines.ends(name, 0)


def test_it_is_a_file_of_this_user_alone(machines, muster):
    start_orchestrator(machines, umask=0)
    token = path_of(muster)
    assert re.fullmatch(r"[0-9a-f]{64}\n", token.read_text())
    assert (token.stat().st_mode & 0o777, token.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_servers_that_start_at_once_have_one(muster):
    servers = [muster.start("orchestrator", "--listen", f"127.0.0.1:{free_port()}") for _ in range(8)]
    for server in servers:
        port = int(read_line(server.stderr).rsplit(":", 1)[1])
        assert ask(Machines(muster, port), "/v1/jobs")[0] == 200
    assert [path.name for path in path_of(muster).parent.iterdir()] == ["token"]


def test_a_directory_that_others_may_change_is_refused(machines, muster):
    path_of(muster).parent.mkdir(parents=True)
    path_of(muster).parent.chmod(0o777)
    said = muster("orchestrator", "--listen", machines.endpoint, code=4).stderr
    assert "the token of this user (--insecure: use none): " in said and "is writable by other users" in said
    assert not path_of(muster).exists()
    path_of(muster).parent.chmod(0o700)
    path_of(muster).write_text("too short\n")
    assert "token: must have at least 16 characters" in muster("orchestrator", "--listen", machines.endpoint, code=2).stderr


def test_a_hash_is_no_token_and_an_end_of_line_of_windows_is_not_part_of_it(machines, muster):
    path_of(muster).parent.mkdir(parents=True)
    path_of(muster).write_text("sha256:" + "0" * 64 + "\n")
    said = muster("orchestrator", "--listen", machines.endpoint, code=2).stderr
    assert f"{path_of(muster)} has the hash of a token, which only servers take: give the token itself" in said
    assert said == muster("ps", "--rdzv-endpoint", machines.endpoint, code=2).stderr
    path_of(muster).write_bytes(b"0123456789abcdef\r\n")
    path_of(muster).chmod(0o600)
    start_orchestrator(machines)
    muster("ps", "--rdzv-endpoint", machines.endpoint, code=0)


def test_a_place_where_others_could_put_another_token_is_refused(machines, muster):
    config = path_of(muster).parent.parent
    config.mkdir(exist_ok=True)
    config.chmod(0o777)
    said = muster("orchestrator", "--listen", machines.endpoint, code=4).stderr
    assert f"'{config}' is writable by other users (mode 777), who could replace what is in it" in said and "XDG_CONFIG_HOME" in said
    assert not path_of(muster).exists()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("strace"), reason="only root has processes of two users, and strace delays one")
def test_a_directory_that_another_user_makes_just_in_time_is_refused(machines, muster, tmp_path):
    shared, folder = tmp_path / "shared", tmp_path / "shared" / "muster"
    shared.mkdir()
    shared.chmod(0o1777)
    process = subprocess.Popen(["strace", "-o", "/dev/null", "-e", "inject=mkdir:delay_enter=2000000:when=1", BINARY, "orchestrator",
                                "--listen", machines.endpoint], env=dict(os.environ, XDG_CONFIG_HOME=str(shared)),
                               stderr=subprocess.PIPE, text=True)
    muster.started.append(process)
    folder.mkdir(mode=0o700)
    os.chown(folder, 54321, 54321)
    assert f"'{folder}' belongs to user 54321" in process.communicate(timeout=LIMIT)[1]


def test_no_output_and_no_other_file_has_it(machines, muster):
    """Also not with -v, and no process of the job is told it."""
    server = start_orchestrator(machines, "-v")
    done = muster("launch", "-v", "--nnodes", "1:2", "--rdzv-endpoint", machines.endpoint, *AT_ONCE, "--no-python",
                  "sh", "-c", "env; ls -l /proc/self/fd; cat /proc/$PPID/cmdline", code=0)
    shown = muster("ps", "-v", "--rdzv-endpoint", machines.endpoint, code=0)
    server.terminate()
    texts = [done.stdout, done.stderr, shown.stdout, shown.stderr, *server.communicate(timeout=LIMIT)]
    assert "WORLD_SIZE=1" in done.stdout + done.stderr
    assert not [text for text in texts if muster.token() in text]
    files = [path for path in muster.folder.rglob("*") if path.is_file() and muster.token().encode() in path.read_bytes()]
    assert files == [path_of(muster)]


@pytest.mark.skipif(os.geteuid() != 0, reason="runs as another user")
def test_no_other_process_of_its_user_reads_the_memory_that_has_it(machines):
    """The kernel lets none, and writes no core, if a process may not be dumped."""
    user = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, 54321, 54321)
        shutil.copy(BINARY, folder)
        with subprocess.Popen([*user, f"{folder}/muster", "orchestrator", "--listen", machines.endpoint], stderr=subprocess.PIPE,
                              env={"PATH": os.environ["PATH"], "HOME": folder, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")},
                              text=True) as process:
            try:
                assert read_line(process.stderr).startswith("muster: elastic jobs connect to ")
                assert subprocess.run([*user, "cat", f"/proc/{process.pid}/environ"], capture_output=True, check=False).returncode
            finally:
                process.kill()


def test_insecure_asks_for_none(machines, muster, elsewhere):
    start_orchestrator(machines, "--insecure")
    assert not path_of(muster).exists()
    muster("status", "--rdzv-endpoint", machines.endpoint, env=elsewhere, code=0)
    machines.launch("one", *AT_ONCE, "--insecure", nnodes="1")
    machines.until_world(1, 1)
    machines.tell("one", 0)
    machines.ends("one", 0)
    assert not path_of(muster).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has processes of two users")
def test_a_stranger_who_has_the_port_is_told_nothing(machines, muster, master):  # noqa: F811
    muster("launch", "--nnodes", "1:2", "--rdzv-endpoint", machines.endpoint, *AT_ONCE, "--no-python", "true", code=0)
    token = muster.token()
    process = subprocess.Popen([sys.executable, "-c", STRANGER, "127.0.0.1", str(machines.port)], stdout=subprocess.PIPE, text=True)
    muster.started.append(process)
    assert read_line(process.stdout) == "listens\n"
    sentence = f"the token was not sent{{}}: the program on port {machines.port} of 127.0.0.1 belongs to user 54321"
    assert sentence.format("") in muster("status", "--rdzv-endpoint", machines.endpoint, code=4).stderr
    machines.launch("one", *AT_ONCE)
    assert sentence.format("") in machines.ends("one", 3)
    if subprocess.run(["unshare", "-U", "true"], check=False).returncode == 0:  # where both users have the number 65534
        said = subprocess.run(["unshare", "-U", BINARY, "ps", "--rdzv-endpoint", machines.endpoint], capture_output=True, text=True,
                              env=muster.environment, timeout=LIMIT, check=False).stderr
        assert sentence.format("").replace("54321", "65534") in said
    master.url = f"http://127.0.0.1:{machines.port}"
    assert sentence.format(f" to {master.url}") in client(muster, master, code=4).stderr
    process.kill()
    said = process.communicate(timeout=LIMIT)[0]
    assert token not in said and "HTTP" not in said


def test_a_master_of_this_user_is_sent_the_token(muster, master):  # noqa: F811
    client(muster, master, "--detach", code=0)
    muster("orchestrator", "--listen", "127.0.0.1:1:1")  # makes none: the address is wrong
    assert [token for _, token in master.asked] == [None] and muster.token() is None
    server = muster.start("orchestrator", "--listen", "127.0.0.1:0")
    read_line(server.stderr)
    client(muster, master, "--detach", code=0)
    assert [token for _, token in master.asked] == [None, f"Bearer {muster.token()}"]


def test_a_client_that_speaks_tls_to_a_server_without_it_is_answered(machines):
    start_orchestrator(machines, "--insecure")
    with contextlib.closing(socket.create_connection(("127.0.0.1", machines.port))) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


@pytest.fixture
def network(muster, tmp_path):
    """Two machines that have one home directory."""
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    with machines_of(muster, hosts) as make:
        server, other = make(), make()
        server.ip("link add port0 type veth peer name far0")
        server.ip(f"link set far0 name port0 netns {other.keeper.pid}")
        for machine, address in ((server, SERVER), (other, OTHER)):
            machine.ip(f"addr add {address}/24 dev port0")
            machine.ip("link set port0 up")
        yield server, other


def launch(machine, name, *options, **how):
    return machine.start("launch", "--name", name, "--nnodes", 2, "--rdzv-endpoint", SERVER, *AT_ONCE, *options, "--no-python",
                         "sh", "-c", "echo runs", text=True, stderr=subprocess.STDOUT, **how)


def ends(process, code, said):
    assert said in process.communicate(timeout=LIMIT)[0]
    assert process.returncode == code


def test_on_other_addresses_the_same_command_uses_tls(network, muster, elsewhere):
    server, other = network
    first = launch(server, "first")
    assert "joined job 'none'" in read_line(first.stdout)
    refused = launch(other, "refused", env={"XDG_CONFIG_HOME": str(elsewhere["XDG_CONFIG_HOME"])})
    ends(refused, 3, "its key is not the pinned one; copy the token of the server's user (~/.config/muster/token there) to ")
    open_one = launch(other, "open", "--insecure")
    read_until(open_one.stdout, "it closed the connection without a response, as a server with TLS does")
    open_one.kill()
    second = launch(other, "second")
    for process in (first, second):
        ends(process, 0, "runs")


def test_a_client_needs_the_word_insecure_as_the_server_does(network):
    server, other = network
    first = launch(server, "first", "--insecure")
    assert "joined job 'none'" in read_line(first.stdout)
    second = launch(other, "second")
    read_until(second.stdout, "it does not speak TLS; perhaps its address begins with http://, or it was started with --insecure")
    second.kill()
    third = launch(other, "third", "--insecure")
    for process in (first, third):
        ends(process, 0, "runs")


def test_the_token_of_a_master_is_not_sent_in_clear(network, muster):
    server, other = network
    (muster.folder / "shared").write_text("0123456789abcdef" * 4)
    (muster.folder / "shared").chmod(0o600)
    process = subprocess.Popen([*server.inside, sys.executable, "-c", STRANGER, SERVER, "7897"], stdout=subprocess.PIPE, text=True)
    muster.started.append(process)
    assert read_line(process.stdout) == "listens\n"
    asking = other.start("compat", "elasticdl-client", "--master", f"http://{SERVER}:7897", "--strategy", "AllReduce", "--image", "a",
                         "--token-file", muster.folder / "shared", text=True, stderr=subprocess.STDOUT)
    ends(asking, 4, f"the token was not sent to http://{SERVER}:7897: {SERVER} is an address of another machine, which needs TLS")
    process.kill()
    assert "HTTP" not in process.communicate(timeout=LIMIT)[0]


def test_no_proxy_passes_a_token_on_in_clear(muster, master):  # noqa: F811
    """Also not one of this user on this machine: it would send the token to another machine."""
    (muster.folder / "shared").write_text("0123456789abcdef" * 4)
    (muster.folder / "shared").chmod(0o600)
    proxy, master.url = master.url, "http://127.0.0.1.invalid:7897"
    for variable in ("http_proxy", "all_proxy", "ALL_PROXY"):
        client(muster, master, "--token-file", muster.folder / "shared", env={variable: proxy}, code=3)
    assert master.asked == []


def test_an_orchestrator_on_another_address_has_the_key_of_the_token(network, muster):
    server, other = network
    process = server.start("orchestrator", "--listen", f"{SERVER}:29400", text=True)
    assert read_line(process.stderr) == f"muster: elastic jobs connect to {SERVER}:29400, over TLS with the key of the token\n"
    agents = [launch(machine, name) for machine, name in ((server, "first"), (other, "second"))]
    for agent in agents:
        ends(agent, 0, "runs")
    status = other.start("status", "--rdzv-endpoint", SERVER, "none", text=True, stderr=subprocess.STDOUT)
    ends(status, 0, "none: succeeded")
