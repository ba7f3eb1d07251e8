"""The image that `make server-image` makes, and clusters of it as `compat k8s_tensorflow` writes them down.

Its base here has nothing in it: Python and TensorFlow come from this machine, by host paths. Services of the old
generator have a cluster IP, which nothing answers on a node without a proxy, so that they are made headless.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tarfile

import pytest

import images
import programs
from conftest import LIMIT, ROOT, real_pod
from test_real_node import needs_python_of_the_system

NAME = "localhost/muster-server:test"
needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="the running Python has no TensorFlow")


def make(base, image):
    """`make server-image`, which leaves the image in the build folder; one at a time of all who run tests there."""
    build = pathlib.Path(os.environ.get("MUSTER_BINARY", ROOT / "build" / "muster")).parent
    with open(build / "server-image.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-C", ROOT, "server-image", f"BUILD={build}", f"BASE={base}", f"IMAGE={NAME}"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        (build / "muster-server-image.tar").rename(image)
    return image


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    made = images.make(programs.folder() / "busybox", tmp_path_factory.mktemp("base"))
    return next(path for path in made if path.name == "host.tar")


@pytest.fixture(scope="module")
def image_file(base, tmp_path_factory):
    return make(base, tmp_path_factory.mktemp("image") / "server.tar")


@pytest.fixture
def image(cluster, image_file):
    cluster.load(image_file)
    return image_file


def with_python(spec):
    """Folders of this machine below those of the image, which has /usr/local/bin for itself; on the node that runs."""
    folders = {"bin": "/usr/bin", "lib": "/usr/lib", "lib64": "/usr/lib64", "python": str(pathlib.Path(sys.prefix).parent)}
    spec["nodeSelector"] = {"type": "real"}
    spec["volumes"] = [{"name": key, "hostPath": {"path": path}} for key, path in folders.items()]
    container = spec["containers"][0]
    container["imagePullPolicy"] = "Never"
    container["volumeMounts"] = [{"name": key, "mountPath": path, "readOnly": True} for key, path in folders.items()]
    container["env"] = [{"name": "VIRTUAL_ENV", "value": sys.prefix}]
    return spec


def read_index(path):
    with tarfile.open(path) as archive:
        return json.load(archive.extractfile("index.json"))["manifests"][0]


def read_blob(path, descriptor):
    with tarfile.open(path) as archive:
        return json.load(archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/")))


@pytest.mark.long
def test_it_is_its_base_and_one_layer_the_same_every_time(image, base, tmp_path):
    manifests = [read_blob(path, read_index(path)) for path in (base, image)]
    layers = [manifest["layers"] for manifest in manifests]
    assert layers[1][:-1] == layers[0]
    configs = [read_blob(path, manifest["config"]) for path, manifest in zip((base, image), manifests, strict=True)]
    assert configs[1]["rootfs"]["diff_ids"][:-1] == configs[0]["rootfs"]["diff_ids"]
    assert configs[1]["config"]["Env"] == configs[0]["config"]["Env"]
    assert image.read_bytes() == make(base, tmp_path / "again.tar").read_bytes()


@pytest.mark.long
def test_a_folder_is_a_base_too(base, tmp_path):
    (tmp_path / "layout").mkdir()
    subprocess.run(["tar", "-x", "-C", tmp_path / "layout", "-f", base], check=True)
    assert make(tmp_path / "layout", tmp_path / "one.tar").read_bytes() == make(base, tmp_path / "two.tar").read_bytes()


def write_blob(layout, content):
    digest = hashlib.sha256(content).hexdigest()
    (layout / "blobs" / "sha256" / digest).write_bytes(content)
    return {"digest": f"sha256:{digest}", "size": len(content)}


@pytest.mark.long
def test_an_image_for_several_machines_in_the_words_of_docker_is_a_base_too(base, tmp_path):
    """As `docker save` writes what a registry had: an index in the index, and types of docker's own."""
    layout = tmp_path / "layout"
    layout.mkdir()
    subprocess.run(["tar", "-x", "-C", layout, "-f", base], check=True)
    manifest = read_blob(base, read_index(base))
    kind = "application/vnd.docker"
    manifest["config"]["mediaType"] = f"{kind}.container.image.v1+json"
    manifest["layers"][0]["mediaType"] = f"{kind}.image.rootfs.diff.tar.gzip"
    machines = [{**write_blob(layout, json.dumps(content).encode()), "mediaType": f"{kind}.distribution.manifest.v2+json",
                 "platform": {"os": "linux", "architecture": name}}
                for name, content in [("s390x", {}), ("amd64", manifest), ("arm64", manifest)]]
    index = write_blob(layout, json.dumps({"manifests": machines}).encode())
    (layout / "index.json").write_text(json.dumps({"manifests": [{**index, "mediaType": "an index"}]}))
    assert make(layout, tmp_path / "one.tar").read_bytes() == make(base, tmp_path / "two.tar").read_bytes()


def test_what_is_no_image_is_one_sentence(tmp_path):
    (tmp_path / "no.tar").write_text("no image")
    for given, sentence in [("no.tar", "neither a tar"), ("none.tar", "no such file")]:
        done = subprocess.run([ROOT / "tools" / "make_server_image.py", ROOT / "build", tmp_path / given, "out"],
                              capture_output=True, text=True)
        assert done.returncode == 1 and sentence in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.long
def test_its_muster_needs_no_library_of_the_base(image, namespace):
    """All that the base has of this machine is the C library and its loader."""
    made = real_pod("version", "muster", "version", image=NAME)
    with_python(made["spec"])
    namespace.create(made)
    namespace.until_phase("version", "Succeeded")
    assert namespace.kubectl("logs", "version").startswith("muster ")


# As the document of the old generator has it, with the image that there is.
GENERATOR = ["--num_workers", "2", "--num_parameter_servers", "1", "--grpc_port", "2222", "--request_load_balancer",
             "true", "--docker_image", NAME]


@pytest.fixture
def generated(muster):
    """The objects that the old command line prints, by a link of the old name."""
    (muster.folder / "k8s_tensorflow.py").symlink_to(ROOT / "build" / "muster")
    done = subprocess.run(["./k8s_tensorflow.py", *GENERATOR], cwd=muster.folder, env=muster.environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kubectl_create_takes_what_the_old_generator_printed(generated, namespace):
    created = namespace.kubectl("create", "-f", "-", input=generated).splitlines()
    assert len(created) == 6 and "replicationcontroller/tf-worker0 created" in created
    assert namespace.get("service", "tf-worker1")["spec"]["type"] == "LoadBalancer"
    namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", "tf-ps=0")
    namespace.kubectl("delete", "-f", "-", input=generated)


def fit(generated, namespace):
    """The same objects for this node: see above."""
    printed = namespace.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", input=generated)
    objects = json.loads(f"[{printed.strip()}]".replace("\n}\n{", "\n},\n{"))  # it prints one after the other
    for item in objects:
        if item["kind"] == "Service":
            item["spec"].update(type="ClusterIP", clusterIP="None")
        else:
            with_python(item["spec"]["template"]["spec"])["terminationGracePeriodSeconds"] = 1
    return objects


def until_it_serves(namespace, label):
    reading = subprocess.Popen(["kubectl", "--namespace", namespace.name, "logs", "-f", "-l", label], text=True,
                               env=namespace.cluster.environment, stdout=subprocess.PIPE)
    lines = []
    for line in reading.stdout:
        lines.append(line)
        if "is serving at" in line:
            break
    else:
        pytest.fail(f"it ended: {lines}")
    reading.kill()
    reading.wait()


@pytest.fixture
def servers(image, generated, namespace):
    """The cluster of the old command line, where every server serves; the address of worker 0."""
    namespace.create(*fit(generated, namespace))
    for label in ("tf-worker=0", "tf-worker=1", "tf-ps=0"):
        namespace.kubectl("wait", "--for=create", f"--timeout={LIMIT}s", "pod", "-l", label)
        namespace.kubectl("wait", "--for=condition=Ready", f"--timeout={LIMIT}s", "pod", "-l", label)
        until_it_serves(namespace, label)
    address = namespace.list("pods", "tf-worker=0")[0]["status"]["podIP"]
    yield f"grpc://{address}:2222"
    namespace.kubectl("delete", "replicationcontrollers", "--all")


@pytest.mark.long
@needs_tensorflow
@needs_python_of_the_system
def test_servers_of_the_old_generator_serve_and_a_model_trains_on_them(servers, muster):
    muster.environment["VIRTUAL_ENV"] = sys.prefix
    report = json.loads(muster("check", "remote", "--servers", servers, "-o", "json", code=0).stdout)
    assert {server["task"] for server in report["devices"]} == {"worker-0", "worker-1", "ps-0"}
    assert report["result"] == "passed" and report["training"]["step"] >= 500
    trained = muster("compat", "remote_test", env={"TF_DIST_GRPC_SERVER_URL": servers}, code=0)
    assert "passed" in trained.stdout
