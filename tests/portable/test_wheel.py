"""`pip install`: what a wheel holds, and that it runs where it is installed."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import pytest

from conftest import Installed, ROOT, System, root_of, run, wheel_of

MOST_BYTES = 15_000_000
OF_GLIBC = {"libanl.so.1", "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"}
NEWEST_GLIBC = (2, 28)
OLDEST_PYTHON = (3, 8)
MACHINES = ("x86_64", "aarch64")
SUITES = ("bullseye", "bookworm", "trixie")
OLDER_NAMES = {"torchrun": "muster launch", "local_test": "muster compat local_test", "tf-spawner": "muster compat tf-spawner"}


def pythons():
    """The Pythons of this machine, one of each version."""
    found = {}
    places = [*pathlib.Path("/usr/bin").glob("python3.[0-9]*[0-9]"), *pathlib.Path.home().glob(".pyenv/versions/*/bin/python3"), sys.executable]
    for path in places:
        said = subprocess.run([path, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False)
        version = tuple(map(int, said.stdout.split())) if said.returncode == 0 else ()
        if version >= OLDEST_PYTHON:
            found.setdefault(version, str(path))
    return list(found.values())


@pytest.fixture
def installed(wheel, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "own")
    (tmp_path / "home").mkdir()
    muster = Installed(tmp_path / "own", tmp_path / "home")
    muster.run("pip", "install", "--quiet", "--no-index", "--no-compile", wheel)
    return muster


def needs_of(program):
    said, _ = run("readelf", "--dynamic", "--version-info", "--wide", program)
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"Name: GLIBC_([0-9.]+)", said)}
    return libraries, max(versions)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_wheel_is_small_and_brings_all_but_the_c_library(machine, tmp_path):
    wheel = wheel_of(machine)
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    programs = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    brought = {path.name for path in programs}
    assert {"muster", "muster-kubernetes"} < brought
    for program in programs:
        libraries, newest = needs_of(program)
        assert libraries <= OF_GLIBC | brought, program
        assert newest <= NEWEST_GLIBC, program


@pytest.mark.parametrize("python", pythons())
def test_it_runs_in_the_environment_of_each_python(wheel, python, tmp_path):
    run(python, "-m", "venv", tmp_path / "own")
    muster = Installed(tmp_path / "own", tmp_path)
    muster.run("pip", "install", "--quiet", "--no-index", wheel)
    said, _ = muster.run("muster", "run", "-w", "2", "--", "python", "-c", "import os; print(os.environ['RANK'])")
    assert sorted(said.splitlines()) == ["worker-0 | 0", "worker-1 | 1"]
    version, _ = muster.run("python", "-m", "muster", "version")
    said, _ = muster.run("python", "-c", "import muster, muster_elastic; print(muster.__version__, muster.which()); print(muster.__all__)")
    assert version == f"muster {said.split()[0]}\n"
    assert said.split()[1] == str(tmp_path / "own/bin/muster")
    assert said.splitlines()[1] == "['__version__', 'which']"


def test_a_module_runs_with_the_exit_code_and_the_arguments_of_the_program(installed):
    _, trouble = installed.run("python", "-m", "muster", "run", "--", "sh", "-c", "exit 3", code=3)
    assert "exited with code 3" in trouble


def test_all_parts_are_found(installed):
    own = installed.folder
    _, trouble = installed.run("muster", "run", "--on", "kubernetes", "--", "true", code=3)
    assert "no kubeconfig found" in trouble
    installed.run("muster", "run", "--", "echo", "found it")
    said, _ = installed.run("muster", "logs", "--grep", "^found")
    assert said.endswith("found it\n")
    for name, program in OLDER_NAMES.items():
        said, _ = installed.run(own / "libexec/muster" / name, "--help")
        assert said.startswith(f"{program}:")
    for page in (ROOT / "docs/man").iterdir():
        assert (own / "share/man" / f"man{page.suffix[1:]}" / page.name).is_file()
    for shell, name in (("bash-completion/completions", "muster"), ("fish/vendor_completions.d", "muster.fish"), ("zsh/site-functions", "_muster")):
        assert (own / "share" / shell / name).is_file()


def test_two_environments_have_two_programs(installed, wheel, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "other")
    other = Installed(tmp_path / "other", tmp_path / "home")
    other.run("pip", "install", "--quiet", "--no-index", wheel)
    other.run("muster", "run", "--name", "shared", "--", "true")
    said, _ = installed.run("muster", "ps", "-a", "-o", "name")
    assert said == "local/shared\n"
    other.run("pip", "uninstall", "--quiet", "--yes", "muster-run")
    installed.run("muster", "status", "shared")


@pytest.mark.parametrize("tool", ("pipx", "uvx"))
def test_tools_that_make_an_environment_themselves_run_it(tool, wheel, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "own")
    muster = Installed(tmp_path / "own", tmp_path)
    muster.run("pip", "install", "--quiet", tool.replace("uvx", "uv"))
    if tool == "pipx":
        muster.run("pipx", "install", "--quiet", wheel)
        words = [tmp_path / ".local/bin/muster"]
    else:
        words = ["uvx", "--offline", "--from", wheel, "muster"]
    said, _ = muster.run(*words, "run", "--", "echo", "hello")
    assert said == "worker-0 | hello\n"
    _, trouble = muster.run(*words, "run", "--on", "kubernetes", "--", "true", code=3)
    assert "no kubeconfig found" in trouble


def test_uninstalling_leaves_only_jobs(installed):
    def files():
        return {path for path in installed.folder.rglob("*") if "__pycache__" not in path.parts}

    installed.run("muster", "run", "--name", "kept", "--", "true")
    installed.run("python", "-m", "muster", "version")
    with_muster = files()
    installed.run("pip", "uninstall", "--quiet", "--yes", "muster-run")
    left = {path for path in files() if path.is_file() and "muster" in path.name}
    assert not left
    assert len(files()) < len(with_muster)
    assert list((pathlib.Path(installed.environment["HOME"]) / ".local/state/muster").iterdir())


@pytest.fixture(params=SUITES)
def system(request):
    root = root_of(request.param)
    folder = tempfile.mkdtemp(dir=root / "tmp")
    yield System(root, "/" + str(pathlib.Path(folder).relative_to(root)))
    shutil.rmtree(folder)


def five_lines():
    """Those with which README begins."""
    section = (ROOT / "README.md").read_text().partition("## In five lines\n\n")[2]
    lines = [line.strip() for line in section.partition("\n\n")[0].splitlines()]
    assert len(lines) == 5 and lines[0] == "pip install muster-run"
    return lines[1:]


def test_it_runs_on_debians(system, wheel):
    shutil.copy(wheel, f"{system.root}{system.folder}")
    system.run("python3 -m venv own; own/bin/pip install --quiet --no-index *.whl")
    two, failing, away, end = (f". own/bin/activate; {line}" for line in five_lines())
    said, _ = system.run(two)
    assert sorted(said.splitlines()) == ["worker-0 | rank 0 of 2", "worker-1 | rank 1 of 2"]
    _, trouble = system.run(failing, code=1)
    assert "worker-0 exited with code 1" in trouble and "ZeroDivisionError" in trouble.splitlines()[1]
    said, _ = system.run(f"{away}; {end}")
    assert re.search("^nap +Running +worker=2 ", said, re.MULTILINE) and "State:      Stopped" in said
    _, trouble = system.run("own/bin/muster run -w 2 -- sh -c 'test $RANK = 0 || exit 7; sleep 600'", code=7)
    assert "worker-1 exited with code 7" in trouble
    assert "worker-0 was stopped by muster" in trouble
    _, trouble = system.run("own/bin/muster run --on kubernetes -- true", code=3)
    assert "no kubeconfig found" in trouble


def test_it_runs_on_another_processor(tmp_path):
    """Under qemu, with the C library of the packages; its children are programs of this machine."""
    with zipfile.ZipFile(wheel_of("aarch64")) as archive:
        archive.extractall(tmp_path)
    libexec = next(tmp_path.glob("*.data/data/libexec"))
    (tmp_path / "bin").mkdir()
    shutil.copy(next(tmp_path.glob("*.data/scripts/muster")), tmp_path / "bin")
    shutil.copytree(libexec, tmp_path / "libexec")
    for program in (tmp_path / "bin/muster", tmp_path / "libexec/muster/muster-kubernetes"):
        program.chmod(0o755)
    emulated = ("qemu-aarch64-static", "-L", ROOT / "build-portable/aarch64/system")
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    said, _ = run(*emulated, tmp_path / "bin/muster", "run", "-w", "2", "--", "echo", "hello", env=environment)
    assert sorted(said.splitlines()) == ["worker-0 | hello", "worker-1 | hello"]
    _, trouble = run(*emulated, tmp_path / "libexec/muster/muster-kubernetes", "run", "--on", "kubernetes", "--", "true", env=environment, code=3)
    assert "no kubeconfig found" in trouble
