"""How the programs come into the cache, without building any: that is what a cluster of the other tests shows."""

import collections
import threading

import programs
import pytest


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(programs.time, "sleep", lambda seconds: None)
    return tmp_path / "muster"


@pytest.fixture
def builds(monkeypatch):
    """The folders that were built."""
    made = []

    def build(folder, say):
        made.append(folder)
        folder.mkdir()

    monkeypatch.setattr(programs, "_build_into", build)
    return made


def build():
    return programs.build(lambda said: None)


def test_what_is_missing_is_built_once(cache, builds):
    assert build() == build() == programs.folder()
    assert builds == [programs.folder()]


def test_what_somebody_removed_is_built_again(cache, builds):
    build().rmdir()
    build()
    assert len(builds) == 2


def test_of_two_that_build_at_once_one_does_it(cache, builds):
    both = [threading.Thread(target=build) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert len(builds) == 1


def test_what_an_interrupted_build_left_is_removed(cache, builds):
    left = cache / f"{programs.folder().name}.build-killed"
    (left / "bin").mkdir(parents=True)
    build()
    assert not left.exists()


def test_other_versions_have_another_folder(cache, monkeypatch):
    before = programs.folder()
    monkeypatch.setattr(programs, "KUBERNETES", "v9.9.9")
    assert programs.folder() != before


def test_a_build_that_fails_leaves_nothing_that_counts(cache, monkeypatch):
    def fail(*_):
        raise programs.Trouble("no network")

    monkeypatch.setattr(programs, "_need_room", lambda where: None)
    monkeypatch.setattr(programs, "_take_from_debian", fail)
    with pytest.raises(programs.Trouble, match="no network"):
        build()
    assert not programs.folder().exists()
    assert not list(cache.glob("*.build-*"))


def leave_room(monkeypatch, gigabytes):
    usage = collections.namedtuple("Usage", "free")(gigabytes << 30)
    monkeypatch.setattr(programs.shutil, "disk_usage", lambda folder: usage)


def test_without_room_nothing_is_started(cache, monkeypatch):
    leave_room(monkeypatch, 1)
    with pytest.raises(programs.Trouble, match="needs 9 GB .* has 1"):
        build()


def test_without_memory_nothing_is_started(cache, monkeypatch):
    leave_room(monkeypatch, 100)
    monkeypatch.setattr(programs, "_free_memory", lambda: 3 << 30)
    with pytest.raises(programs.Trouble, match="needs 8 GB of memory .* 3 are free"):
        build()


def test_the_memory_of_a_container_counts(tmp_path, monkeypatch):
    limit, used = tmp_path / "max", tmp_path / "current"
    monkeypatch.setattr(programs, "CGROUP_MEMORY", [(limit, used), (tmp_path / "missing", used)])
    used.write_text("1000\n")
    limit.write_text("5000\n")
    assert programs._free_memory() == 4000
    limit.write_text("max\n")
    assert programs._free_memory() > 5000


def test_what_is_not_installed_is_told(tmp_path):
    with pytest.raises(programs.Trouble, match="'no-such-program', which a build needs, is not installed here"):
        programs.run(["no-such-program"], tmp_path)


def failing(times):
    """A command that fails so many times in its folder, and then prints how often it was run."""
    script = 'echo >>runs; [ $(wc -l <runs) -gt "$0" ] || { echo no answer >&2; exit 1; }; wc -l <runs'
    return ["sh", "-c", script, str(times)]


def test_a_download_is_tried_again(cache, tmp_path):
    assert programs._run_again_and_again(failing(2), tmp_path) == "3\n"


def test_a_download_that_never_works_says_what_and_why(cache, tmp_path):
    with pytest.raises(programs.Trouble, match="'sh -c .*ended with code 1:\nno answer"):
        programs._run_again_and_again(failing(99), tmp_path)
