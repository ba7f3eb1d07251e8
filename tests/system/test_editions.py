"""Two programs of one tree: muster, which starts quickly, and muster-kubernetes beside it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from conftest import BINARY, LIMIT, read_line

KUBERNETES = pathlib.Path(BINARY).with_name("muster-kubernetes")
# The compiler's own and those of the sanitizers come besides.
LEAN = {"libevent_core-2.1.so.7", "libevent_extra-2.1.so.7", "libjansson.so.4", "libyaml-0.so.2", "libsqlite3.so.0"}
SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt|libgcc_s|libasan|libubsan|ld-linux\S*)\.so\.\d+")


def libraries_of(program):
    """The libraries that a program names itself."""
    shown = subprocess.run(["readelf", "-d", program], check=True, capture_output=True, text=True, timeout=LIMIT)
    names = set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", shown.stdout))
    return {name for name in names if not SYSTEM.fullmatch(name)}


def test_muster_loads_four_libraries_and_no_more():
    assert libraries_of(BINARY) == LEAN


def test_the_other_program_has_what_clusters_need_besides():
    assert libraries_of(KUBERNETES) == LEAN | {"libcrypto.so.3", "libcurl.so.4", "libevent_openssl-2.1.so.7", "libssl.so.3", "libwslay.so.1"}


def test_both_have_the_same_commands_and_the_other_one_names_its_libraries(muster):
    def said_by(program, *arguments):
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True,
                              env=muster.environment, timeout=LIMIT).stdout

    assert said_by(KUBERNETES, "help") == said_by(BINARY, "help")
    version = said_by(BINARY, "version")
    assert said_by(KUBERNETES, "version").startswith(version)
    assert "libcurl/" not in version
    assert re.search(r"libcurl/\d+\.\d+\.\d+ .*SSL", said_by(KUBERNETES, "version"))


@pytest.fixture
def shared_folder():
    """One that other users may enter."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield pathlib.Path(made)


STRANGER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


@pytest.mark.skipif(os.getuid() != 0, reason="runs as another user")
@pytest.mark.parametrize("program", [BINARY, KUBERNETES], ids=["muster", "muster-kubernetes"])
@pytest.mark.parametrize("give", [
    ["chmod", "4755"], ["chown", "65533:65533", "chmod", "2755"], ["setcap", "cap_net_raw+ep"]], ids=lambda give: give[0])
def test_it_does_not_run_with_rights_that_its_caller_lacks(shared_folder, program, give):
    """Its caller sets the environment, and so what it loads."""
    def run():
        return subprocess.run([*STRANGER, copy, "version"], capture_output=True, text=True, check=False, timeout=LIMIT)

    if os.environ.get("ASAN_OPTIONS"):
        pytest.skip("the address sanitizer reads its options and its memory as a debugger, which the kernel refuses")
    if os.statvfs(shared_folder).f_flag & os.ST_NOSUID:
        pytest.skip("programs get no rights there")
    copy = shared_folder / "muster"
    shutil.copy(program, copy)
    copy.chmod(0o755)
    assert run().returncode == 0
    for words in [give[i:i + 2] for i in range(0, len(give), 2)]:
        if subprocess.run([*words, copy], capture_output=True, check=False, timeout=LIMIT).returncode:
            pytest.skip(f"{words[0]} does not work here")
    done = run()
    assert done.returncode == 125 and done.stdout == ""
    assert "must not be installed setuid, setgid or with file capabilities" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="runs as another user")
def test_what_logs_in_is_read_by_no_process_of_its_user_and_leaves_no_core(shared_folder):
    """The kernel gives both only of a process that may be dumped; a program that it started may be."""
    def may_read(pid):
        return not subprocess.run([*STRANGER, "cat", f"/proc/{pid}/environ"], capture_output=True, check=False,
                                  timeout=LIMIT).returncode

    (shared_folder / "program").write_text("#!/bin/sh\necho $$ >&2\nexec sleep 1000000\n")
    (shared_folder / "program").chmod(0o755)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./program", "interactiveMode": "Never"}
    (shared_folder / "config").write_text(json.dumps({
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": plugin}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x"}))
    shutil.copy(KUBERNETES, shared_folder / "muster-kubernetes")
    (shared_folder / "home").mkdir()
    os.chown(shared_folder / "home", 65534, 65534)
    environment = {"PATH": os.environ["PATH"], "HOME": str(shared_folder / "home"),
                   "KUBECONFIG": str(shared_folder / "config")}
    with subprocess.Popen([*STRANGER, shared_folder / "muster-kubernetes", "ps", "--on", "kubernetes"],
                          env=environment, stderr=subprocess.PIPE) as asking:
        try:
            started = int(read_line(asking.stderr))
            assert may_read(started) and not may_read(asking.pid)
            assert set(os.listdir(f"/proc/{started}/fd")) - {"10"} == {"0", "1", "2"}  # 10: of the shell, until it is "sleep"
        finally:
            asking.kill()


@pytest.mark.skipif(os.getuid() != 0, reason="runs as another user")
@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the address sanitizer reads its memory as a debugger, which the kernel refuses")
def test_without_a_home_that_can_be_written_jobs_are_in_the_temporary_directory(shared_folder):
    """As with docker run --user, or a home that is read-only."""
    shutil.copy(BINARY, shared_folder / "muster")
    (shared_folder / "muster").chmod(0o755)
    (shared_folder / "home").mkdir(mode=0o555)
    (shared_folder / "tmp").mkdir()
    (shared_folder / "tmp").chmod(0o1777)
    folder = shared_folder / "tmp/muster-65534"

    def run(home, *arguments):
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(shared_folder / "tmp")}
        return subprocess.run([*STRANGER, shared_folder / "muster", *arguments], cwd=shared_folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=LIMIT)

    for home, name in ((shared_folder / "home", "one"), ("/nonexistent", "two")):
        done = run(home, "run", "--name", name, "--", "echo", "hello")
        assert (done.returncode, done.stdout) == (0, "worker-0 | hello\n"), done.stderr
        assert done.stderr.startswith(f"muster: jobs and logs are in '{folder}', because '{home}/.local/state/muster' cannot be created; "
                                      "to choose another directory, set MUSTER_STATE_DIR\n")
    assert run("/nonexistent", "ps", "-a", "-o", "name").stdout == "local/one\nlocal/two\n"
    assert (folder.stat().st_mode & 0o777, folder.stat().st_uid) == (0o700, 65534)
    shutil.rmtree(folder)
    folder.mkdir()
    os.chown(folder, 65533, 65533)
    folder.chmod(0o777)
    assert f"'{folder}'" in (said := run("/nonexistent", "run", "--", "true").stderr) and "who could change its contents" in said
