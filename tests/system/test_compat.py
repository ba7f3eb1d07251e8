"""Old programs by `muster compat NAME` and by a link of their name: what their command lines become, to the letter of
the old document but for the script's name, and how they end."""

import os
import re
import subprocess

import pytest

from conftest import BINARY, ROOT

VARIABLES = ("TF_DIST_GRPC_SERVER_URL", "TF_DIST_GRPC_PORT", "TF_DIST_SERVER_DOCKER_IMAGE", "TF_DIST_GCLOUD_PROJECT",
             "TF_DIST_GCLOUD_COMPUTE_ZONE", "TF_DIST_GCLOUD_KEY_FILE_DIR", "CONTAINER_CLUSTER")
SPEC = "worker|localhost:2222;foo:2222,ps|bar:2222;qux:2222"


@pytest.fixture(params=["compat", "link"])
def old(request, muster, tmp_path):
    """Calls an old program by one of the two ways: old("local_test", …)."""
    for variable in VARIABLES:
        muster.environment.pop(variable, None)

    def call_link(name, *arguments, code, env=None):
        link = tmp_path / f"{name}.sh"
        if not link.is_symlink():
            link.symlink_to(BINARY)
        done = subprocess.run([f"./{link.name}", *arguments], cwd=tmp_path, env={**muster.environment, **(env or {})},
                              capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        return done

    def call_compat(name, *arguments, **options):
        return muster("compat", name, *arguments, **options)

    return call_link if request.param == "link" else call_compat


@pytest.mark.parametrize("arguments, now", [
    ([], "check local --workers 2 --ps 2 --model mnist"),
    (["--model-name", "CENSUS_WIDENDEEP"], "check local --workers 2 --ps 2 --model census"),
    (["--sync-replicas"], "check local --workers 2 --ps 2 --model mnist --sync-replicas"),
    (["--num-workers", "4"], "check local --workers 4 --ps 2 --model mnist"),
    (["--num_workers", "4"], "check local --workers 4 --ps 2 --model mnist"),
    (["--setup-cluster-only"], "check local --workers 2 --ps 2 --setup-only"),
])
def test_a_local_test_is_a_check(old, arguments, now):
    done = old("local_test", "--dry-run", *arguments, code=0)
    assert done.stdout == f"muster {now}\n"
    assert done.stderr == ""


@pytest.mark.parametrize("arguments, now", [
    ([], "--model mnist"),
    (["--sync-replicas"], "--model mnist --sync-replicas"),
    (["--num-workers", "4"], "--workers 4 --model mnist"),
])
def test_a_remote_test_is_a_check_of_servers_that_exist(old, arguments, now):
    url = "grpc://11.22.33.44:2222"
    done = old("remote_test", "--dry-run", *arguments, code=0, env={"TF_DIST_GRPC_SERVER_URL": url})
    assert done.stdout == f"muster check remote --servers {url} {now}\n"


def test_an_old_server_is_a_server(old):
    done = old("grpc_tensorflow_server", "--dry-run", f"--cluster_spec={SPEC}", "--job_name=worker", "--task_id=0", code=0)
    assert done.stdout == f"muster server --cluster-spec '{SPEC}' --job-name worker --task-index 0\n"


def test_an_old_generator_writes_nothing_but_objects_to_standard_output(old):
    done = old("k8s_tensorflow", "--num_workers", "1", "--num_parameter_servers", "1", code=0)
    assert [line for line in done.stdout.splitlines() if line.startswith("kind: ")] == [
        "kind: ReplicationController", "kind: Service"] * 2
    assert done.stderr.startswith("muster: equivalent command: muster render --as k8s-tensorflow ")


def test_an_old_generator_refuses_in_its_own_words(old):
    done = old("k8s_tensorflow", "--num_parameter_servers", "0", code=1)
    assert (done.stdout, done.stderr) == ("", "--num_parameter_servers must be greater than 0; received 0\n")


def test_a_cluster_of_a_cloud_provider_is_that_of_the_kubeconfig(old):
    cloud = {"TF_DIST_GCLOUD_PROJECT": "tensorflow-testing", "TF_DIST_GCLOUD_COMPUTE_ZONE": "us-central1-f",
             "CONTAINER_CLUSTER": "test-cluster-1", "TF_DIST_GCLOUD_KEY_FILE_DIR": "/tmp/gcloud-secrets"}
    for arguments in [], ["--setup-cluster-only"]:
        done = old("remote_test", *arguments, "--dry-run", code=0, env={**cloud, "TF_DIST_SERVER_DOCKER_IMAGE": "a:1"})
        assert all(name in done.stderr for name in cloud)
        assert "does not create a cluster at a cloud provider" in done.stderr
        assert done.stdout.startswith("muster check remote --on kubernetes --image a:1 --workers 2 --ps 2")


def test_variables_without_meaning_are_told(old):
    done = old("local_test", "--dry-run", code=0, env={"TF_DIST_SERVER_DOCKER_IMAGE": "me/server"})
    assert "TF_DIST_SERVER_DOCKER_IMAGE: ignored" in done.stderr
    done = old("remote_test", "--dry-run", code=0,
               env={"TF_DIST_GRPC_SERVER_URL": "grpc://a:1", "CONTAINER_CLUSTER": "one"})
    assert done.stderr == "muster: CONTAINER_CLUSTER: no effect on existing servers\n"


def test_help_shows_the_old_options_and_what_they_became(old):
    text = old("local_test", "--help", code=0).stdout
    assert text.startswith("muster compat local_test: ")
    assert re.search(r"--num-workers N +now check --workers", text)
    assert "MNIST|CENSUS_WIDENDEEP" in text


def test_mistakes_are_those_of_the_old_program(old):
    done = old("local_test", "--num-worker", "3", "--model-name", "mnist", code=2)
    assert "muster compat local_test: --num-worker: no such option; did you mean --num-workers?" in done.stderr
    assert "'mnist' is not one of MNIST|CENSUS_WIDENDEEP" in done.stderr


def test_the_name_of_a_program_is_needed(muster):
    assert "local_test, remote_test, grpc_tensorflow_server, k8s_tensorflow, tensorflow_elastic, tf-spawner" in muster("compat", code=2).stderr
    assert "did you mean 'local_test'?" in muster("compat", "local_tests", code=2).stderr


@pytest.mark.parametrize("name", ["tf-spawner", "tf_spawner", "k8s_tensorflow", "k8s-tensorflow.py", "local_test.sh"])
def test_a_program_calls_itself_as_it_was_called(muster, name):
    text = muster("compat", name, "--help", code=0).stdout
    assert text.startswith(f"muster compat {name}: ") and f"Usage: muster compat {name} [OPTIONS]" in text
    assert f"muster compat {name}: --nothing: no such option" in muster("compat", name, "--nothing", code=2).stderr


def test_every_old_option_is_in_the_manual_page(muster):
    page = (ROOT / "docs" / "man" / "muster-compat.1").read_text().replace("_", "-")
    for name in "local_test", "remote_test", "grpc_tensorflow_server", "k8s_tensorflow", "tf_spawner":
        assert f".Ss {name}".replace("_", "-") in page
        text = muster("compat", name, "--help", code=0).stdout
        for option in re.findall(r"^ {6}--([\w-]+)", text, re.MULTILINE):
            assert f"Cm --{option}" in page or option in ("state-dir", "log"), option


def test_an_installation_has_a_link_for_each_name(muster, tmp_path):
    """Those of `make install`, from meson's own list of what it would install."""
    listed = subprocess.run(["meson", "introspect", "--installed", str(ROOT / "build")], capture_output=True, text=True,
                            check=False)
    if listed.returncode:
        pytest.skip("no meson, or no build folder of its own")
    for name in "local_test.sh", "remote_test.sh", "grpc_tensorflow_server.py", "k8s_tensorflow.py", "tf-spawner":
        assert f"/libexec/muster/{name}" in listed.stdout
        (tmp_path / name).symlink_to(BINARY)
        done = subprocess.run([tmp_path / name, "--help"], capture_output=True, text=True, check=True,
                              env=dict(os.environ))
        assert done.stdout.startswith(f"muster compat {name.split('.')[0]}: ")
    assert "/libexec/muster/torchrun" in listed.stdout  # tests/system/test_torchrun_letter.py


@pytest.mark.parametrize("arguments, now", [
    (["--standalone", "--rdzv_endpoint=localhost:5556", "start"], "orchestrator --listen 0.0.0.0:5556 --insecure"),
    (["--monitor_interval=5", "--address=localhost:5555", "--nnodes=1:2", "--rdzv_endpoint=localhost:5556", "mnist.py", "-x"],
     "launch --nnodes 1:2 --rdzv-endpoint localhost:5556 --rdzv-conf is_host=0 --max-restarts 3 --local-addr localhost "
     "--local-port 5555 --insecure mnist.py -x"),
    (["--address", "5555", "--rdzv_id", "x", "--max_restarts", "1", "-m", "package.train"],
     "launch --nnodes 1:1 --rdzv-endpoint localhost:29400 --rdzv-conf is_host=0 --max-restarts 1 --local-port 5555 "
     "--insecure --module package.train"),
    (["--address", "5555", "--max_restarts=-1", "train.py"],
     "launch --nnodes 1:1 --rdzv-endpoint localhost:29400 --rdzv-conf is_host=0 --max-restarts unlimited --local-port 5555 "
     "--insecure train.py"),
    (["--address", "here", "--no_python", "train"],
     "launch --nnodes 1:1 --rdzv-endpoint localhost:29400 --rdzv-conf is_host=0 --max-restarts 3 --local-addr here "
     "--insecure --no-python train"),
])
def test_an_elastic_launcher_is_an_orchestrator_or_an_agent(old, arguments, now):
    done = old("tensorflow_elastic", "--dry-run", *arguments, code=0)
    assert done.stdout == f"muster {now}\n"


def test_an_elastic_launcher_says_what_is_missing(old):
    assert "has no port" in old("tensorflow_elastic", "--standalone", "--rdzv_endpoint", "localhost", "start", code=2).stderr
    assert "missing script" in old("tensorflow_elastic", "--standalone", code=2).stderr
