"""`--sync`: which files of a folder travel with a job, as `render --as pods` shows them; no cluster is needed."""

import base64
import gzip
import io
import json
import os
import subprocess
import tarfile

import pytest

from conftest import LIMIT

WORK = "/muster/work"


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "project"
    (made / "models").mkdir(parents=True)
    (made / "models" / "train.py").write_text("print('hello')\n")
    (made / "run.sh").write_text("#!/bin/sh\n")
    (made / "run.sh").chmod(0o755)
    (made / "link").symlink_to("run.sh")
    return made


def git(folder, *words):
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *identity, "-C", folder, *words], check=True, capture_output=True, timeout=LIMIT)


def render(muster, *arguments, code=0, **options):
    return muster("render", "--as", "pods", "--name", "digits", "-o", "json", *arguments, code=code, **options)


def parts_of(done):
    """The parts of the packed folder, in the order of their names."""
    parts = {}
    for item in json.loads(done.stdout)["items"]:
        parts.update(item.get("binaryData", {}) if item["kind"] == "ConfigMap" else {})
    return [base64.b64decode(parts[name]) for name in sorted(parts)]


def packed(done):
    """What travels, by name."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(b"".join(parts_of(done))))) as tar:
        return {member.name: member for member in tar}


def pod_of(done):
    return next(item for item in json.loads(done.stdout)["items"] if item["kind"] == "Pod")


def test_a_folder_travels_whole_with_modes_times_and_links(muster, folder):
    os.utime(folder / "run.sh", (1_600_000_000, 1_600_000_000))
    done = render(muster, "--sync", folder, folder / "models" / "train.py")
    found = packed(done)
    assert sorted(found) == ["./link", "./models", "./models/train.py", "./run.sh"]
    assert found["./run.sh"].mode == 0o755 and found["./run.sh"].mtime == 1_600_000_000
    assert found["./link"].issym() and found["./link"].linkname == "run.sh"
    assert {(member.uid, member.gid) for member in found.values()} == {(0, 0)}
    assert render(muster, "--sync", folder, folder / "models" / "train.py").stdout == done.stdout


def test_the_script_runs_in_the_copy(muster, folder):
    pod = pod_of(render(muster, "--sync", ".", "models/train.py", "--epochs", "3", cwd=folder))
    container = pod["spec"]["containers"][0]
    assert container["command"] == ["python3", "-u", "./models/train.py", "--epochs", "3"]
    assert container["workingDir"] == WORK
    assert [init["name"] for init in pod["spec"]["initContainers"]] == ["muster-folder"]
    container = pod_of(render(muster, "--sync", "..", "./run.sh", cwd=folder))["spec"]["containers"][0]
    assert container["command"] == ["./project/run.sh"]
    container = pod_of(render(muster, "--sync", ".", "--", "make", "all", cwd=folder))["spec"]["containers"][0]
    assert container["command"] == ["make", "all"] and container["workingDir"] == WORK


def test_git_says_what_stays_here(muster, folder):
    git(folder, "init", "-q")
    for name in ["data.bin", "kept.bin", "new.py", "with space", "gone.py"]:
        (folder / name).write_text(name)
    (folder / "venv" / "lib").mkdir(parents=True)
    (folder / "venv" / "lib" / "large").write_text("large")
    (folder / "models" / "cache").mkdir()
    (folder / "models" / "cache" / "c").write_text("c")
    (folder / "models" / ".gitignore").write_text("cache\n")
    (folder / ".gitignore").write_text("*.bin\n!kept.bin\nvenv/\n")
    git(folder, "add", "models/train.py", "gone.py", ".gitignore")
    (folder / "gone.py").unlink()
    found = packed(render(muster, "--sync", ".", "models/train.py", cwd=folder))
    assert sorted(found) == ["./.gitignore", "./kept.bin", "./link", "./models", "./models/.gitignore",
                             "./models/train.py", "./new.py", "./run.sh", "./with space"]
    inner = packed(render(muster, "--sync", "models", "models/train.py", cwd=folder))
    assert sorted(inner) == ["./.gitignore", "./train.py"], "a folder of a checkout, with the rules above it"


def settings_of_a_stranger(folder, *settings):
    """A repository whose settings name programs; each that is run leaves a file."""
    git(folder, "init", "-q")
    (folder / "models" / "other.py").write_text("other\n")
    git(folder, "add", ".")
    for name, value in settings:
        git(folder, "config", name, value)


def test_monitor_and_hooks_of_the_folder_are_not_run(muster, folder, tmp_path):
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ["monitor", "post-index-change"]:
        (trap / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/{name}-ran'\n")
        (trap / name).chmod(0o755)
    settings_of_a_stranger(folder, ("core.fsmonitor", trap / "monitor"), ("core.hooksPath", trap),
                           ("core.untrackedCache", "true"))
    git(folder, "ls-files", "-o")
    assert (tmp_path / "monitor-ran").exists(), "git alone runs it"
    (tmp_path / "monitor-ran").unlink()
    assert "./models/other.py" in packed(render(muster, "--sync", ".", "models/train.py", cwd=folder))
    assert not list(tmp_path.glob("*-ran"))


def test_nothing_is_fetched_for_the_folder(muster, folder, tmp_path):
    """A tree that git needs is missing, and the repository says which program fetches it."""
    (folder / "left").mkdir()
    (folder / "left" / "out.py").write_text("out\n")
    settings_of_a_stranger(folder)
    git(folder, "commit", "-q", "-m", "all")
    git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "models")
    tree = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD:left"], check=True, capture_output=True,
                          text=True, timeout=LIMIT).stdout.strip()
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    for name, value in [("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "origin"),
                        ("remote.origin.promisor", "true"), ("protocol.ext.allow", "always"),
                        ("remote.origin.url", f"ext::touch {tmp_path}/fetch-ran")]:
        git(folder, "config", name, value)
    subprocess.run(["git", "-C", folder, "ls-files"], capture_output=True, check=False, timeout=LIMIT)
    assert (tmp_path / "fetch-ran").exists(), "git alone runs it"
    (tmp_path / "fetch-ran").unlink()
    muster("render", "--as", "pods", "--sync", ".", "models/train.py", cwd=folder)
    assert not (tmp_path / "fetch-ran").exists()


def test_git_is_asked_about_the_folder_whatever_the_environment_names(muster, folder, tmp_path):
    git(folder, "init", "-q")
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "-q")
    (folder / ".gitignore").write_text("*.bin\n")
    (folder / "data.bin").write_text("data")
    env = {"GIT_DIR": tmp_path / "other" / ".git", "GIT_WORK_TREE": tmp_path / "other"}
    found = packed(render(muster, "--sync", ".", "models/train.py", cwd=folder, env=env))
    assert "./models/train.py" in found and "./data.bin" not in found


@pytest.mark.parametrize("path", [":{}", "{}:", "/nowhere::{}"])
def test_git_and_python_of_the_folder_itself_are_not_run(muster, folder, tmp_path, path):
    git(folder, "init", "-q")
    for name in ["git", "python3"]:
        (folder / name).write_text(f"#!/bin/sh\ntouch '{tmp_path}/{name}-ran'\n")
        (folder / name).chmod(0o755)
    env = {"PATH": path.format(os.environ["PATH"]), "VIRTUAL_ENV": None}
    assert "./git" in packed(render(muster, "--sync", ".", "models/train.py", cwd=folder, env=env))
    done = muster("run", "models/train.py", cwd=folder, env=env, code=0)
    assert "hello" in done.stdout
    assert not list(tmp_path.glob("*-ran"))
    alone = muster("run", "models/train.py", cwd=folder, env={"PATH": ":/nowhere", "VIRTUAL_ENV": None})
    assert alone.returncode != 0 and "python3 not found in PATH" in alone.stderr


def test_a_script_that_git_leaves_out_is_told_before_anything_starts(muster, folder):
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("models/\n")
    done = render(muster, "--sync", ".", "models/train.py", cwd=folder, code=2)
    assert "'models/train.py' is ignored by git and would not be copied" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and done.stdout == ""


def test_a_script_that_no_configmap_holds_travels_with_sync(muster, folder):
    (folder / "large.py").write_text("# " + "-" * 1_000_001 + "\n")
    done = render(muster, "large.py", cwd=folder, code=2)
    assert "large.py has 1000004 bytes" in done.stderr and "use --sync DIR" in done.stderr
    assert "./large.py" in packed(render(muster, "--sync", ".", "large.py", cwd=folder))


def test_a_gitignore_that_nobody_can_read_is_an_error(muster, folder):
    (folder / ".gitignore").write_text("data\n")
    done = render(muster, "--sync", ".", "models/train.py", cwd=folder, code=2)
    assert "has a .gitignore but is not in a git repository" in done.stderr and "git init" in done.stderr


def test_a_large_folder_is_cut_into_parts(muster, folder):
    (folder / "noise").write_bytes(os.urandom(2_500_000))
    parts = parts_of(render(muster, "--sync", ".", "models/train.py", cwd=folder))
    assert [len(part) for part in parts[:-1]] == [1_000_000] * 2 and len(parts) == 3


@pytest.mark.parametrize("write, largest", [
    (lambda path: path.write_bytes(os.urandom(9_000_000)), "9.0 MB"),
    (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 70_000_000), "70.0 MB"),
])
def test_a_folder_that_is_too_large_names_what_is_the_largest(muster, folder, write, largest):
    (folder / "data").mkdir()
    write(folder / "data" / "train.tfrecord")
    done = render(muster, "--sync", ".", "models/train.py", cwd=folder, code=2)
    assert f"its largest entry is 'data' ({largest})" in done.stderr
    assert "limits: 64 MB, 8 MB packed" in done.stderr


@pytest.mark.parametrize("arguments, said", [
    (["--sync", "nowhere", "models/train.py"], "'nowhere' not found"),
    (["--sync", "run.sh", "models/train.py"], "'run.sh' is not a directory"),
    (["--sync", "models", "./run.sh"], "./run.sh: not inside the --sync directory models"),
    (["--sync", ".", "no-such.py"], "cannot read 'no-such.py'"),
    (["--sync", "."], "nothing to run"),
])
def test_what_cannot_travel_is_one_sentence(muster, folder, arguments, said):
    done = render(muster, *arguments, cwd=folder, code=2)
    assert said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_on_this_machine_the_folder_is_there(muster, folder):
    done = muster("run", "--sync", ".", "models/train.py", cwd=folder, code=2)
    assert "--sync: needs --on kubernetes" in done.stderr
    (folder / "job.json").write_text("{}")
    done = muster("run", "--on", "kubernetes", "--sync", ".", "-f", "job.json", cwd=folder, code=2)
    assert "--sync: cannot be used with -f" in done.stderr
