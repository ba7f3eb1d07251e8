"""`muster cp`: files and folders come out of Pods and go into them as they are, and kubectl sees the same."""

import os
import tarfile

import pytest

from conftest import LIMIT, few
from test_run import BUSYBOX, DEBIAN, give_rights, rights

STAMP = 1_600_000_000
both_images = pytest.mark.parametrize("image", few([BUSYBOX, DEBIAN]), ids=["busybox", "debian"])


@pytest.fixture
def job(muster, namespace):
    """Makes a job of one worker on the real node that runs until the test ends."""
    started = []

    def start(*arguments, name="keep", beginning="true", image=BUSYBOX):
        running = muster.start("run", "--on", "kubernetes", "--name", name, "--grace", "0s", *image, *arguments, "--",
                               "/bin/sh", "-c", f"{beginning}; echo up; exec sleep 1000000")
        started.append(running)
        assert running.stdout.readline() == "worker-0 | up\n", running.stderr.read()
        return f"{name}:worker-0"

    yield start
    for running in started:
        running.terminate()
    for running in started:
        running.communicate(timeout=LIMIT)


def in_pod(namespace, *command, pod="keep-worker-0"):
    return namespace.kubectl("exec", pod, "--", *command)


def make_tree(folder):
    """Every kind of thing that a copy keeps; gives the folder."""
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "bytes.bin").write_bytes(bytes(range(256)) * 4096)
    (folder / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "deep" / "run.sh").chmod(0o755)
    (folder / "deep" / "er" / ("long-" * 30 + "name")).write_text("long")
    (folder / "naïve name with spaces").write_text("ü")
    (folder / "two\nlines").write_text("")
    (folder / "secret").write_text("s")
    (folder / "secret").chmod(0o600)
    (folder / "link").symlink_to("deep/run.sh")
    for path in sorted(folder.rglob("*"), reverse=True):
        os.utime(path, (STAMP, STAMP), follow_symlinks=False)
    os.utime(folder, (STAMP, STAMP))
    return folder


def shape(folder):
    """What there is below a folder: kind, mode, time and contents of each."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        contents = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        time = None if path.is_symlink() else status.st_mtime
        found[str(path.relative_to(folder))] = (oct(status.st_mode), time, contents)
    return found


@pytest.mark.sanitize
@both_images
def test_a_folder_goes_in_and_comes_out_as_it_was(job, muster, tmp_path, image):
    place = job(image=image)
    tree = make_tree(tmp_path / "tree")
    muster("cp", tree, f"{place}:/tmp", code=0)
    done = muster("cp", f"{place}:/tmp/tree", tmp_path / "back", code=0)
    assert (done.stdout, done.stderr) == ("", "")
    assert shape(tmp_path / "back") == shape(tree)
    assert (tmp_path / "back").stat().st_mtime == STAMP


def test_kubectl_copies_the_same(job, muster, namespace, tmp_path):
    place = job()
    tree = make_tree(tmp_path / "tree")
    (tree / "link").unlink()  # kubectl leaves links out
    (tree / "two\nlines").unlink()
    muster("cp", tree, f"{place}:/tmp/ours", code=0)
    namespace.kubectl("cp", tree, "keep-worker-0:/tmp/theirs")
    listed = [in_pod(namespace, "sh", "-c", f"cd /tmp/{name} && find . -type f -print0 | sort -z | xargs -0 md5sum")
              for name in ("ours", "theirs")]
    assert listed[0] == listed[1] and "bytes.bin" in listed[0]
    muster("cp", f"{place}:/tmp/theirs", tmp_path / "ours", code=0)
    namespace.kubectl("cp", "keep-worker-0:/tmp/theirs", tmp_path / "theirs")
    contents = [{name: entry[2] for name, entry in shape(tmp_path / side).items()} for side in ("ours", "theirs")]
    assert contents[0] == contents[1]


@both_images
def test_places_follow_the_rules_of_cp(job, muster, namespace, tmp_path, image):
    place = job(beginning="mkdir -p /tmp/models; echo 1 > /tmp/models/one; ln -s models /tmp/latest", image=image)
    here = tmp_path / "here"
    here.mkdir()
    muster("cp", f"{place}:/tmp/models/one", here, code=0)
    muster("cp", f"{place}:/tmp/models/one", here / "two", code=0)
    muster("cp", f"{place}:/tmp/models", here, code=0)
    muster("cp", f"{place}:/tmp/models/.", here / "contents", code=0)
    muster("cp", f"{place}:/tmp/latest", here / "followed", code=0)
    assert sorted(str(path.relative_to(here)) for path in here.rglob("*") if path.is_file()) == [
        "contents/one", "followed/one", "models/one", "one", "two"]
    (here / "models" / "kept").write_text("mine")
    (here / "models" / "one").write_text("old")
    muster("cp", f"{place}:/tmp/models", here, code=0)
    assert (here / "models" / "one").read_text() == "1\n" and (here / "models" / "kept").read_text() == "mine"
    muster("cp", f"{here}/models/.", f"{place}:/tmp/models", code=0)
    muster("cp", here / "two", f"{place}:/tmp/models/three", code=0)
    assert in_pod(namespace, "ls", "-A", "/tmp/models").split() == ["kept", "one", "three"]
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []
    assert in_pod(namespace, "sh", "-c", "ls -d /tmp/.m* || true").strip() == ""


@both_images
def test_the_contents_of_a_folder_go_into_one_of_another_user(job, muster, namespace, tmp_path, image):
    """A volume is root's, and so is the folder that it lies in."""
    place = job("--fetch", "worker-0:/models", beginning="mkdir -p /models/deep/er && echo old > /models/deep/er/one",
                image=image)
    tree = tmp_path / "upl"
    (tree / "deep" / "er").mkdir(parents=True)
    (tree / "deep" / "er" / "one").write_text("new")
    (tree / "deep" / "two").write_text("2")
    (tree / ".hidden").write_text("h")
    (tree / "link").symlink_to("deep/two")
    for number in range(250):
        (tree / f"file {number}").write_text(str(number))
    muster("cp", "upl/.", f"{place}:/models", code=0, cwd=tmp_path)
    found = in_pod(namespace, "sh", "-c", "cd /models && find . ! -type d | sort && cat deep/er/one link 'file 249'")
    names = [".hidden", "deep/er/one", "deep/two", "link", *(f"file {number}" for number in range(250))]
    assert found == "".join(f"./{name}\n" for name in sorted(names)) + "new2249"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").mkdir()
    muster("cp", f"{place}:/models/.", "out", code=0, cwd=tmp_path)
    assert (tmp_path / "out" / "deep" / "er" / "one").read_text() == "new"
    muster("cp", "upl/deep/", f"{place}:/models/new/", code=0, cwd=tmp_path)
    assert in_pod(namespace, "cat", "/models/new/two") == "2", "as cp -r does with a name that is new"
    muster("cp", "upl/deep/", f"{place}:/models/new/", code=0, cwd=tmp_path)
    assert in_pod(namespace, "cat", "/models/new/deep/two") == "2", "and with a folder that is there"


REFUSED = [
    ("PLACE:/no/such", "there", "'/no/such' not found in the container", 1),
    ("PLACE:/dev/null", "there", "'/dev/null' is not a file or directory", 1),
    ("PLACE:/etc/passwd", "no/folder/there", "directory 'no/folder' not found", 1),
    ("file", "PLACE:/no/folder/there", "directory '/no/folder' not found in the container", 1),
    ("file", "PLACE:/tmp/none/", "directory '/tmp/none/' not found in the container", 1),
    ("file", "PLACE:/tmp/full", "'/tmp/full/file' is a directory in the container", 1),
    ("tree", "PLACE:/tmp/plain", "'/tmp/plain' already exists and is not a directory", 1),
    ("file", "PLACE:/etc", "cannot write into directory '/etc' in the container", 1),
    ("nothing", "PLACE:/tmp", "'nothing' not found", 1),
    ("PLACE:/tmp/plain", "none/", "directory 'none' not found", 1),
    ("pair", "PLACE:/tmp/pair", "", 1),
    ("keep:worker-7:/tmp", "there", "replica worker-7 of job 'keep' not found in namespace", 1),
    ("file", "other", "neither 'file' nor 'other' is a path in a job (expected JOB:ROLE-INDEX:PATH)", 2),
]


@both_images
def test_what_cannot_be_copied_is_one_sentence_and_leaves_nothing(job, muster, namespace, tmp_path, image):
    place = job(beginning="mkdir -p /tmp/full/file; touch /tmp/plain; mkdir -p /tmp/pair/pair/both",
                image=image)
    (tmp_path / "pair").mkdir()
    (tmp_path / "pair" / "both").write_text("a file, and a folder there")
    (tmp_path / "file").write_text("f")
    (tmp_path / "tree").mkdir()
    before = sorted(tmp_path.iterdir())
    for source, destination, said, code in REFUSED:
        done = muster("cp", source.replace("PLACE", place), destination.replace("PLACE", place), code=code)
        assert said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert in_pod(namespace, "sh", "-c", "ls -d /tmp/.m* /tmp/*/.m* /tmp/*/*/.m* || true").strip() == ""


@both_images
def test_what_a_folder_cannot_have_here_is_left_out_and_the_rest_comes(job, muster, tmp_path, image):
    place = job(beginning="mkdir -p /tmp/models/deep; cd /tmp/models; echo 1 > deep/one; mkfifo pipe; "
                          "ln -s /tmp/models/deep latest; ln -s /etc/passwd users; ln -s deep inside", image=image)
    done = muster("cp", f"{place}:/tmp/models", "out", code=0, cwd=tmp_path)
    for said in ["'pipe' (not a file, directory or link)",
                 "'users' (a link to '/etc/passwd', which is outside the directory)",
                 "'latest' (a link to '/tmp/models/deep', which is outside the directory)"]:
        assert said in done.stderr, done.stderr
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*")) == [
        "deep", "deep/one", "inside"]


def test_what_gnu_tar_cannot_read_is_told_and_the_rest_comes(job, muster, tmp_path):
    place = job(beginning="mkdir -p /tmp/models; cd /tmp/models; echo 1 > one; echo 2 > secret; chmod 0 secret",
                image=DEBIAN)
    done = muster("cp", f"{place}:/tmp/models", "out", code=0, cwd=tmp_path)
    assert "./secret: Warning: Cannot open: Permission denied" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["one"]


def pack(path, *entries):
    with tarfile.open(path, "w") as made:
        for each in entries:
            made.addfile(each)
    return path


def entry(name, kind=tarfile.REGTYPE, target="", size=0):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size, made.mode = kind, target, size, 0o755
    return made


HOSTILE = [
    ([entry("/tmp/muster-was-here")], "it is outside the directory"),
    ([entry("./../muster-was-here")], "it is outside the directory"),
    ([entry("./a", tarfile.LNKTYPE, "/etc/passwd")], "a link to a file outside"),
    ([entry("./a", size=1 << 60)], "too large"),
]
LEFT_OUT = [
    ([entry("./a", tarfile.SYMTYPE, "/tmp"), entry("./a/muster-was-here")],
     "left out: 'a' (a link to '/tmp', which is outside the directory)", ["a", "muster-was-here"]),
    ([entry("./two\nlines", tarfile.FIFOTYPE), entry("./b")],
     "left out: 'two lines' (not a file, directory or link)", ["b"]),
    ([entry("./c", tarfile.CHRTYPE), entry("./b")],
     "left out: 'c' (not a file, directory or link)", ["b"]),
]


# Of a job: `sh` is looked for in a folder that may be written.
OWN_SHELL = ["-e", "PATH=/tmp/bin"]
MAKE_SHELL = "mkdir -p /tmp/bin; ln -s /bin/sh /tmp/bin/sh"


def put_shell(muster, namespace, place, tmp_path, text):
    """Takes the place of the container's shell."""
    (tmp_path / "shell").write_text(f"#!/bin/busybox sh\n{text}\n")
    (tmp_path / "shell").chmod(0o755)
    muster("cp", tmp_path / "shell", f"{place}:/tmp/bin", code=0)
    in_pod(namespace, "/bin/mv", "/tmp/bin/shell", "/tmp/bin/sh")


def test_a_hostile_container_reaches_nothing(job, muster, namespace, tmp_path):
    place = job(*OWN_SHELL, beginning=MAKE_SHELL)
    folder = tmp_path / "in"
    folder.mkdir()
    for number, (entries, *_) in enumerate([*HOSTILE, *LEFT_OUT]):
        muster("cp", pack(tmp_path / f"{number}.tar", *entries), f"{place}:/tmp", code=0)
    put_shell(muster, namespace, place, tmp_path, "echo folder; exec /bin/cat /tmp/hostile.tar")
    for number, (_, said) in enumerate(HOSTILE):
        in_pod(namespace, "/bin/ln", "-sf", f"{number}.tar", "/tmp/hostile.tar")
        done = muster("cp", f"{place}:/tmp/models", folder / "here")
        assert done.returncode in (1, 4) and said in done.stderr, done.stderr
        assert list(folder.iterdir()) == []
    for number, (_, said, names) in enumerate(LEFT_OUT, len(HOSTILE)):
        in_pod(namespace, "/bin/ln", "-sf", f"{number}.tar", "/tmp/hostile.tar")
        done = muster("cp", f"{place}:/tmp/models", folder / str(number), code=0)
        assert said in done.stderr, done.stderr
        assert sorted(path.name for path in (folder / str(number)).rglob("*")) == names
    assert not os.path.exists("/tmp/muster-was-here")


def test_a_container_without_tar_says_so(job, muster, namespace, tmp_path):
    place = job(*OWN_SHELL, beginning=MAKE_SHELL)
    put_shell(muster, namespace, place, tmp_path, """[ "$1" = -c ] || exit
shift
exec /bin/sh -c "command() { return 1; }; $1" "$@" """)
    for ends in [(f"{place}:/etc/passwd", "there"), (tmp_path / "shell", f"{place}:/tmp")]:
        done = muster("cp", *ends, code=1)
        assert "the container has no tar, which copying needs" in done.stderr
    in_pod(namespace, "/bin/rm", "/tmp/bin/sh")
    done = muster("cp", f"{place}:/etc/passwd", "there", code=4)
    assert "sh" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


# As in muster-cp(1).
RIGHTS = [rights("", "pods", "get"), rights("", "pods/exec", "get", "create")]


def test_it_takes_no_more_rights_than_its_manual_says(job, muster, namespace, tmp_path):
    place = job(beginning="echo 1 > /tmp/one")
    path = namespace.write_account_kubeconfig(tmp_path / "account")
    done = muster("cp", "--kubeconfig", path, f"{place}:/tmp/one", "one", code=4)
    assert "pods" in done.stderr and "get" in done.stderr, "the right that is missing is named"
    give_rights(namespace, RIGHTS)
    muster("cp", "--kubeconfig", path, f"{place}:/tmp/one", "one", code=0)
    muster("cp", "--kubeconfig", path, "one", f"{place}:/tmp/two", code=0)
    assert in_pod(namespace, "cat", "/tmp/two") == "1\n"


def test_a_replica_that_ended_says_so(muster, namespace, tmp_path):
    namespace.create({"apiVersion": "v1", "kind": "Pod",
                      "metadata": {"name": "over-worker-0", "labels": {
                          "app.kubernetes.io/managed-by": "muster", "muster/job": "over"}},
                      "spec": {"restartPolicy": "Never", "nodeSelector": {"type": "real"}, "containers": [
                          {"name": "tensorflow", "image": "localhost/busybox:test", "command": ["true"]}]}})
    namespace.until_phase("over-worker-0", "Succeeded")
    done = muster("cp", "over:worker-0:/tmp", tmp_path / "there", code=1)
    assert "worker-0 of job 'over' has ended" in done.stderr


def test_files_of_a_job_of_this_machine_are_here(muster):
    running = muster.start("run", "--name", "here", "--", "sh", "-c", "echo up; exec sleep 1000000")
    assert running.stdout.readline() == "worker-0 | up\n"
    done = muster("cp", "here:worker-0:/tmp/x", ".", code=4)
    assert "job 'here' is local; copy its files with: cp -r /tmp/x ." in done.stderr
    running.terminate()
    running.communicate(timeout=LIMIT)
    assert muster("cp", "here:worker-0:/tmp/x", ".", code=4).stderr == done.stderr, "also when it has finished"
