"""`muster server` with libraries that are no TensorFlow: what it says, how it ends, what it finds."""

import json
import os
import pathlib
import signal
import socket

import pytest

from checks import says_where
from conftest import LIMIT, read_line, read_until
from processes import inner_of, wait_until_process_is_gone
from servers import free_port, make_stub


@pytest.fixture(scope="session")
def stub(tmp_path_factory):
    """A library whose servers serve."""
    return make_stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def spec():
    return f"worker|localhost:{free_port()};localhost:1,ps|127.0.0.1:2"


@pytest.fixture
def serve(muster, spec, stub):
    """Starts worker 0; gives the process when it serves."""

    def start(*options, library=stub, **more):
        server = muster.start("server", "--cluster-spec", spec, "--job-name", "worker", "--libtensorflow", library,
                              *options, **more)
        read_until(server.stderr, "is serving at")
        warning = read_line(server.stderr)
        assert "listens on all addresses without authentication: any client that can reach the port" in warning
        return server

    return start


def refused(muster, code, *arguments, **options):
    """What the server says, which ends with this code and prints nothing."""
    done = muster("server", *arguments, code=code, **options)
    assert done.stdout == ""
    return done.stderr


def failed_with(muster, spec, library, code=1, **options):
    return refused(muster, code, "--cluster-spec", spec, "--job-name", "worker", "--libtensorflow", library, **options)


# Which server.

def test_every_fault_of_the_spec_is_told_with_its_column(muster):
    said = refused(muster, 2, "--cluster-spec", "Worker|a:1;b,ps|c:1;,ps|a:1", "--job-name", "worker")
    assert said == (
        "--cluster-spec:1:1: job name 'Worker': expected a letter from a to z, then such letters and digits\n"
        "--cluster-spec:1:13: 'b': missing port (expected HOST:PORT)\n"
        "--cluster-spec:1:21: task 1 of job 'ps' is empty: expected HOST:PORT\n"
        "--cluster-spec:1:22: job 'ps' is listed twice; put all its tasks into one list\n"
        "--cluster-spec:1:25: 'a:1' is already the address of Worker-0\n")


def test_an_empty_spec_and_an_empty_name_are_faults(muster):
    assert "--cluster-spec:1:1: empty" in refused(muster, 2, "--cluster-spec=", "--job-name", "worker")
    assert "missing --job-name" in refused(muster, 2, "--cluster-spec", "a|b:1", "--job-name=")
    assert "missing --job-name" in refused(muster, 2, "--cluster-spec", "a|b:1")
    assert "missing --cluster-spec" in refused(muster, 2, "--job-name", "worker")


def test_without_flags_and_environment_it_asks_which_server(muster):
    said = refused(muster, 2)
    assert "--cluster-spec" in said and "TF_CONFIG" in said


def test_an_unknown_job_is_told_with_those_that_there_are(muster):
    assert refused(muster, 2, "--cluster-spec", "worker|a:1,ps|b:1", "--job-name", "chief") == (
        "muster: the cluster has no job 'chief'; it has worker, ps\n")


def test_an_index_out_of_range_is_told_with_the_range(muster):
    assert refused(muster, 2, "--cluster-spec", "worker|a:1;b:1", "--job-name", "worker", "--task-index", "2") == (
        "muster: job 'worker' has no task 2; it has tasks 0 to 1\n")
    assert "-1" in refused(muster, 2, "--cluster-spec", "worker|a:1", "--job-name", "worker", "--task_id", "-1")


def test_a_fraction_of_memory_is_above_nothing_and_up_to_all(muster):
    for fraction in ("0", "1.5", "-1", "much"):
        said = refused(muster, 2, "--cluster-spec", "a|b:1", "--job-name", "a", f"--gpu-memory-fraction={fraction}")
        assert f"--gpu-memory-fraction: '{fraction}'" in said


def test_a_tf_config_that_is_wrong_names_its_fields(muster):
    config = {"cluster": {"worker": ["a:1", "b"]}, "task": {"type": "worker", "index": 0}}
    assert refused(muster, 2, env={"TF_CONFIG": json.dumps(config)}) == (
        "TF_CONFIG: cluster.worker[1]: 'b': missing port (expected HOST:PORT)\n")


@pytest.mark.parametrize("flags", [
    ["--cluster_spec", "SPEC", "--job_name", "worker", "--task_id", "0"],
    ["--cluster_spec=SPEC", "--job_name=worker", "--task_id=0", "--gpu_memory_fraction=0.5"],
    ["--cluster-spec=SPEC", "--job-name=worker", "--task-id=0", "--protocol=grpc"],
])
def test_the_old_spellings_mean_the_same(muster, spec, stub, flags):
    server = muster.start("server", *(flag.replace("SPEC", spec) for flag in flags), "--libtensorflow", stub)
    assert read_line(server.stderr) == "muster: worker-0 is serving at grpc://stub:1 (TensorFlow 2.99.0)\n"


def test_tf_config_says_which_server_and_flags_take_its_place(muster, stub):
    config = {"cluster": {"worker": {"3": f"localhost:{free_port()}"}}, "task": {"type": "worker", "index": 3}}
    env = {"TF_CONFIG": json.dumps(config), "MUSTER_LIBTENSORFLOW": stub}
    server = muster.start("server", env=env)
    assert "worker-3 is serving" in read_line(server.stderr)
    other = muster.start("server", "--cluster-spec", f"ps|localhost:{free_port()}", "--job-name", "ps", env=env)
    assert "ps-0 is serving" in read_line(other.stderr)


# How it serves and ends.

@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_code_0(serve, number):
    server = serve()
    server.send_signal(number)
    assert server.wait(LIMIT) == 0


def test_it_prints_an_event_for_programs(serve, stub):
    server = serve("-o", "json")
    event = json.loads(read_line(server.stdout))
    assert event.pop("seconds") > 0
    assert event == {"muster": "serving", "task": "worker-0", "target": "grpc://stub:1", "version": "2.99.0",
                     "library": str(stub)}
    server.terminate()
    assert server.wait(LIMIT) == 0
    assert server.stdout.read() == ""


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_a_service_manager_hears_when_it_serves_and_when_it_stops(serve, tmp_path, kind):
    name = str(tmp_path / "notify") if kind == "path" else f"@muster-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name.replace("@", "\0"))
        manager.settimeout(LIMIT)
        server = serve(env={"NOTIFY_SOCKET": name})
        server.terminate()
        assert server.wait(LIMIT) == 0
        heard = [manager.recv(1000).decode() for _ in range(5)]
    assert heard == ["STATUS=loading TensorFlow", "STATUS=creating the server", "STATUS=serving", "READY=1",
                     "STOPPING=1"]


def test_term_ends_it_even_while_the_library_hangs(muster, spec, tmp_path):
    library = make_stub(tmp_path / "hangs", "STUB_HANGS_LOADING")
    server = muster.start("server", "--cluster-spec", spec, "--job-name", "worker", "--libtensorflow", library, "--verbose")
    read_until(server.stderr, "the stub hangs")
    server.terminate()
    assert server.wait(LIMIT) == 0


def test_nothing_is_left_when_the_outer_process_is_killed(serve):
    server = serve()
    inner = inner_of(server)
    server.kill()
    server.wait()
    assert wait_until_process_is_gone(inner)


def test_a_signal_to_its_group_is_one_to_both_processes(serve):
    server = serve()
    assert os.getpgid(inner_of(server)) == os.getpgid(server.pid)


def test_an_inner_process_that_is_killed_is_told(serve):
    server = serve()
    os.kill(inner_of(server), signal.SIGKILL)
    assert "the server was killed while serving" in read_line(server.stderr)
    assert server.wait(LIMIT) == 1


def test_an_abort_while_it_serves_is_explained(serve):
    server = serve()
    os.kill(inner_of(server), signal.SIGABRT)
    assert "TensorFlow aborted while serving (SIGABRT, Aborted)" in read_line(server.stderr)
    assert server.wait(LIMIT) == 1


def test_a_host_of_another_machine_is_a_warning(muster, stub):
    server = muster.start("server", "--cluster-spec", f"worker|192.0.2.1:{free_port()}", "--job-name", "worker",
                          "--libtensorflow", stub)
    assert "is serving at" in read_line(server.stderr)
    assert "host '192.0.2.1' is not this machine" in read_line(server.stderr)


def test_a_port_in_use_is_told_before_tensorflow_shares_it(muster, stub):
    with socket.create_server(("", 0)) as other:
        port = other.getsockname()[1]
        said = failed_with(muster, f"worker|localhost:{port}", stub)
    assert said.startswith(f"muster: port {port} of worker-0 is in use on this machine")


def said_when_the_port_becomes_free(muster, stub, name):
    """What a server says first that waits for its port, which is given back as soon as it says that it waits."""
    with socket.create_server(("", 0)) as other, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(name))
        manager.settimeout(LIMIT)
        port = other.getsockname()[1]
        server = muster.start("server", "--cluster-spec", f"worker|localhost:{port}", "--job-name", "worker",
                              "--libtensorflow", stub, env={"NOTIFY_SOCKET": name})
        assert manager.recv(1000) == b"STATUS=waiting for the port"
        other.close()
        return read_line(server.stderr)


def test_a_port_that_becomes_free_is_waited_for(muster, stub, tmp_path):
    """Not for long: a test that the machine has kept from giving it back for seconds tries once more."""
    for attempt in range(10):
        said = said_when_the_port_becomes_free(muster, stub, tmp_path / f"notify-{attempt}")
        if "is serving at" in said:
            return
        assert "is in use on this machine" in said
    pytest.fail("no server has waited for its port")


# The library.

def test_without_any_library_it_says_where_it_looked_and_what_to_install(muster, tmp_path, spec):
    if any(list(pathlib.Path(f"/usr/{folder}").glob("libtensorflow*.so.2"))
           for folder in ("lib", "lib64", "local/lib", "local/lib64", "lib/x86_64-linux-gnu")):
        pytest.skip("this machine's own library folders have TensorFlow")
    said = refused(muster, 3, "--cluster-spec", spec, "--job-name", "worker",
                   env={"PATH": tmp_path, "VIRTUAL_ENV": None, "LD_LIBRARY_PATH": None})
    assert said.splitlines()[:2] == ["virtual environment: none active", "python3: not found in PATH"]
    assert said.splitlines()[-1].startswith("muster: TensorFlow not found; install it (pip install tensorflow-cpu")


def test_the_library_is_named_where_it_matters(muster, tmp_path, spec, stub):
    packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    (packages / "tensorflow").mkdir(parents=True)
    (packages / "tensorflow" / stub.name).symlink_to(stub)
    (packages / "tensorflow_cpu-2.99.0.dist-info").mkdir()
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "venv" / "bin" / "python3").write_text(says_where(packages))
    (tmp_path / "venv" / "bin" / "python3").chmod(0o755)
    server = muster.start("server", "--cluster-spec", spec, "--job-name", "worker", "--verbose",
                          env={"VIRTUAL_ENV": tmp_path / "venv"})
    assert read_line(server.stderr) == (
        f"muster: library {packages}/tensorflow/{stub.name}, tensorflow-cpu 2.99.0 (virtual environment)\n")
    assert read_line(server.stderr) == "the stub greets everybody\n"
    assert "is serving at" in read_line(server.stderr)


@pytest.mark.parametrize("job, options, visible, expected", [
    ("ps", [], None, ""), ("worker", [], None, "unset"), ("ps", ["--gpu-memory-fraction", "0.5"], None, "unset"),
    ("ps", [], "1", "1")])
def test_a_parameter_server_takes_no_gpu_unless_told(muster, stub, job, options, visible, expected):
    spec = f"worker|localhost:{free_port()},ps|localhost:{free_port()}"
    server = muster.start("server", "--cluster-spec", spec, "--job-name", job, "--verbose", "--libtensorflow", stub, *options,
                          env={"STUB_TELLS_GPUS": "1", "CUDA_VISIBLE_DEVICES": visible})
    assert read_until(server.stderr, "the stub sees")[-1] == f"the stub sees [{expected}]\n"


def test_a_tensorflow_too_old_is_told_with_the_version_that_is_needed(muster, tmp_path, spec):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("")
    (tmp_path / "tensorflow-2.11.1.dist-info").mkdir()
    assert failed_with(muster, spec, tmp_path, 3).endswith(
        f"TensorFlow 2.11.1 in {tmp_path} has no libtensorflow_cc: 2.12 or later is needed\n")
    library = make_stub(tmp_path / "old", 'STUB_VERSION="2.11.1"')
    assert failed_with(muster, spec, library).endswith(
        f"muster: TensorFlow 2.11.1 in '{library}' is too old: 2.12 or later is needed\n")


def test_a_file_that_is_no_library_gets_its_sentence(muster, tmp_path, spec):
    text = tmp_path / "libtensorflow_cc.so.2"
    text.write_text("no library at all\n")
    assert failed_with(muster, spec, text) == f"muster: '{text}' is not a library (not an ELF file)\n"
    text.write_text("")
    assert "is not a library (not an ELF file)" in failed_with(muster, spec, text)
    assert failed_with(muster, spec, tmp_path / "nowhere", 3) == (
        f"muster: --libtensorflow: '{tmp_path}/nowhere' not found\n")


def test_a_library_for_another_machine_gets_its_sentence(muster, tmp_path, spec, stub):
    library = tmp_path / "libtensorflow_cc.so.2"
    header = bytearray(stub.read_bytes())
    header[18:20] = (0x15).to_bytes(2, "little")  # e_machine: PowerPC
    library.write_bytes(header)
    assert failed_with(muster, spec, library) == f"muster: '{library}' is a library for another kind of machine\n"


def test_a_program_is_no_shared_library(muster, tmp_path, spec, stub):
    library = tmp_path / "libtensorflow_cc.so.2"
    header = bytearray(stub.read_bytes())
    header[16:18] = (2).to_bytes(2, "little")  # e_type: ET_EXEC
    library.write_bytes(header)
    assert failed_with(muster, spec, library) == f"muster: '{library}' is not a shared library\n"


def test_a_library_that_is_cut_off_gets_the_loaders_words(muster, tmp_path, spec, stub):
    library = tmp_path / "libtensorflow_cc.so.2"
    library.write_bytes(stub.read_bytes()[:100])
    assert failed_with(muster, spec, library).startswith(f"muster: cannot load TensorFlow's library: {library}: ")


def test_a_library_of_somebody_else_is_not_tensorflows(muster, tmp_path, spec):
    library = make_stub(tmp_path / "other", "TF_Version=Other_Version")
    assert failed_with(muster, spec, library).endswith(
        f"muster: '{library}' is not TensorFlow's C library (libtensorflow_cc.so.2): it has no TF_Version\n")


def test_functions_that_are_missing_are_named(muster, tmp_path, spec):
    library = make_stub(tmp_path / "without", "STUB_WITHOUT_SERVER")
    assert failed_with(muster, spec, library).endswith(
        f"muster: TensorFlow 2.99.0 in '{library}' has no TF_NewServer, TF_ServerStart\n")


def test_a_library_without_such_a_server_gets_its_sentence(muster, tmp_path, spec):
    library = make_stub(tmp_path / "without", "STUB_CODE=5")
    assert failed_with(muster, spec, library).endswith(
        f"muster: TensorFlow 2.99.0 in '{library}' has no server for protocol 'grpc'\n")


def test_what_tensorflow_refuses_is_told_in_its_words(muster, tmp_path, spec):
    library = make_stub(tmp_path / "refuses", "STUB_CODE=3")
    assert failed_with(muster, spec, library) == "muster: TensorFlow cannot create the server: the stub says no\n"


@pytest.mark.parametrize("definition, sentence", [
    ("STUB_ABORTS_LOADING", "TensorFlow aborted while loading TensorFlow (SIGABRT, Aborted)"),
    ("STUB_ABORTS", "TensorFlow aborted while creating the server (SIGABRT, Aborted)"),
    ("STUB_CRASHES", "TensorFlow aborted while creating the server (SIGSEGV, Segmentation fault)"),
])
def test_a_crash_of_the_library_is_explained_with_what_it_was_doing(muster, tmp_path, spec, definition, sentence):
    library = make_stub(tmp_path / "crashes", definition)
    # The sanitizer would tell of a memory fault itself, and abort.
    env = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"}
    said = failed_with(muster, spec, library, env=env)
    assert sentence in said
    assert str(library) in said
    if definition != "STUB_CRASHES":
        assert said.index("Check failed: the stub") < said.index(sentence)


def test_a_library_that_ends_the_process_in_good_order_is_a_failure_too(muster, tmp_path, spec):
    library = make_stub(tmp_path / "exits", "STUB_EXITS")
    assert failed_with(muster, spec, library) == (
        f"muster: TensorFlow ended the process (exit code 0); the library is '{library}'\n")


def test_the_librarys_chatter_is_shown_only_when_asked_for(muster, spec, stub, serve):
    server = serve("--verbose")
    server.terminate()
    server.wait(LIMIT)
    silent = muster.start("server", "--cluster-spec", spec, "--job-name", "worker", "--libtensorflow", stub)
    assert read_line(silent.stderr) == "muster: worker-0 is serving at grpc://stub:1 (TensorFlow 2.99.0)\n"
    assert read_line(silent.stderr).startswith("muster: warning: this server listens on all addresses")
    silent.terminate()
    assert silent.communicate(timeout=LIMIT)[1] == ""
