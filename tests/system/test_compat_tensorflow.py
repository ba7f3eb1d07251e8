"""Old command lines with real servers, as scripts call them: through links of the old names."""

import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import BINARY, LIMIT, read_until
from needs import needs_tensorflow
from servers import free_port

pytestmark = [pytest.mark.unsanitized, needs_tensorflow]


@pytest.fixture
def old(muster, tmp_path):
    """The folder of the links and the environment of a call; what a test leaves is ended with it."""
    for name in "local_test.sh", "remote_test.sh", "grpc_tensorflow_server":
        (tmp_path / name).symlink_to(BINARY)
    muster.environment.update(VIRTUAL_ENV=sys.prefix, PATH=f"{sys.prefix}/bin:{os.environ['PATH']}")
    muster.environment.pop("TF_DIST_GRPC_SERVER_URL", None)

    def call(name, *arguments, **env):
        return subprocess.run([f"./{name}", *arguments], cwd=tmp_path, env={**muster.environment, **env},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False)

    return call


def test_a_local_test_trains_and_passes(old, muster):
    done = old("local_test.sh", "--num_workers", "1", "--num_parameter_servers", "1", "--model_name", "CENSUS_WIDENDEEP")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "muster: equivalent command: muster check local --workers 1 --ps 1 --model census\n" in done.stderr
    assert re.search(r"^  training +ok ", done.stdout, re.MULTILINE)
    assert muster("ps", "-a", "-o", "name", code=0).stdout == ""


@pytest.mark.long
def test_servers_that_were_set_up_are_tested_by_the_remote_test(old, muster):
    done = old("local_test.sh", "--setup-cluster-only", "--num-workers", "2", "--num-parameter-servers", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    url = re.search(r"worker-0 +(grpc://\S+)", done.stdout).group(1)
    (name,) = muster("ps", "-o", "name", code=0).stdout.split()

    done = old("remote_test.sh", "--num-workers", "2", TF_DIST_GRPC_SERVER_URL=url)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"muster: equivalent command: muster check remote --servers {url} --workers 2 --model mnist\n" in done.stderr
    assert "passed in " in done.stdout
    assert muster("ps", "-o", "name", code=0).stdout.split() == [name]  # which it has not ended


def test_an_old_server_serves_until_it_is_told_to_end(muster, tmp_path, old):
    port = free_port()
    process = subprocess.Popen(["./grpc_tensorflow_server", f"--cluster_spec=worker|localhost:{port};foo:2222",
                                "--job_name=worker", "--task_id=0"], cwd=tmp_path, env=muster.environment,
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    muster.started.append(process)
    read_until(process.stderr, "worker-0 is serving at ")
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=LIMIT) == 0
