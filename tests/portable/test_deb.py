"""`script/deb`: packages that install, upgrade and go, in a small Debian 12."""

import pathlib
import shutil

import pytest

from conftest import ROOT, System, root_of, run


def package(name):
    found, = (ROOT / "build-deb").glob(f"{name}_*_amd64.deb")
    return found


@pytest.fixture
def system(tmp_path):
    """A copy, so that what is installed in it goes with the test."""
    root = tmp_path / "root"
    run("cp", "-a", root_of("bookworm"), root)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    for name in ("muster", "muster-kubernetes"):
        shutil.copy(package(name), root / "tmp" / f"{name}.deb")
    system = System(root, "/tmp")
    system.run("apt-get -qq update")
    return system


def install(system, *packages):
    system.run(f"DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends {' '.join(packages)}")


def files(system):
    return {path for folder in ("usr/bin", "usr/libexec", "usr/share/muster") for path in (system.root / folder).glob("**/*muster*")}


def test_they_install_upgrade_and_go(system):
    install(system, "./muster.deb")
    said, _ = system.run("muster run -w 2 -- echo hello")
    assert sorted(said.splitlines()) == ["worker-0 | hello", "worker-1 | hello"]
    _, trouble = system.run("muster run --on kubernetes -- true", code=125)
    assert "install muster with Kubernetes support" in trouble
    install(system, "./muster-kubernetes.deb")
    _, trouble = system.run("muster run --on kubernetes -- true", code=3)
    assert "no kubeconfig found" in trouble

    newer = pathlib.Path(system.root, "tmp/newer")
    newer.mkdir()
    for name in ("muster", "muster-kubernetes"):
        run("dpkg-deb", "--raw-extract", package(name), newer / name)
        control = newer / name / "DEBIAN/control"
        control.write_text(control.read_text().replace("0.1.0", "0.1.0+1"))
        run("dpkg-deb", "--build", newer / name, system.root / "tmp" / f"{name}-newer.deb")
    install(system, "./muster-newer.deb", "./muster-kubernetes-newer.deb")
    said, _ = system.run("dpkg-query --show --showformat '${Version}' muster; muster run -- echo again")
    assert said == "0.1.0+1worker-0 | again\n"

    system.run("apt-get -qq purge --yes muster muster-kubernetes")
    assert files(system) == set()
    assert (system.root / "tmp/.local/state/muster").is_dir()
