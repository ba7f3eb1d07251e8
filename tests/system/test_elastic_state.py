"""What the server of elastic jobs has on its disk: torn, taken from a backup, or not written, because the disk was full."""

import os
import shutil

import pytest

from agents import Machines, start_orchestrator
from conftest import read_until
from disks import SmallDisk, needs_mount
from processes import wait_until
from servers import free_port

AT_ONCE = ("--rdzv-conf", "last_call_timeout=0,is_host=0", "--max-restarts", 5)


class Server:
    def __init__(self, muster, folder, enter=()):
        self.machines = Machines(muster, free_port())
        self.folder = folder
        self.enter = enter
        self.start()

    def start(self, host="127.0.0.1"):
        self.process = start_orchestrator(self.machines, "--state-dir", self.folder, host=host, before=self.enter)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    @property
    def database(self):
        return next(self.folder.glob("**/*.db"))

    def back_up(self, kept):
        return shutil.copytree(self.database.parent, kept)

    def put_back(self, kept):
        folder = self.database.parent
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)


@pytest.fixture
def server(muster):
    return Server(muster, muster.folder / "server")


@pytest.fixture
def small(muster):
    """A disk that can be full, and a server whose state is on it."""
    with SmallDisk(muster.folder / "disk", "1m") as disk:
        yield disk, Server(muster, disk.folder, disk.enter)


def begin_with_two(machines):
    for name in ("one", "two"):
        machines.launch(name, *AT_ONCE)
    machines.until_world(1, 2)


def take_in_third(machines):
    """In a world whose number is not known: what the server has lost may lead to one more."""
    machines.launch("three", *AT_ONCE)
    wait_until(lambda: [line.size for line in machines.lines(machines.newest())] == [3] * 3)


def end_well(machines, *names):
    for name in names:
        machines.tell(name, 0)
    for name in names:
        machines.ends(name, 0)


def test_a_torn_database_is_told_and_the_processes_run_on(muster, server):
    machines = server.machines
    begin_with_two(machines)
    server.kill()
    kept = server.back_up(muster.folder / "kept")
    with open(server.database, "r+b") as file:
        file.write(os.urandom(5000))
    done = muster("orchestrator", "--listen", machines.endpoint, "--state-dir", server.folder)
    assert done.returncode == 1 and str(server.database) in done.stderr, done
    server.put_back(kept)
    server.start()
    machines.launch("three", *AT_ONCE)
    assert {line.pid for line in machines.lines(1)} and machines.until_world(2, 3)
    end_well(machines, "one", "two", "three")


def test_a_server_with_an_old_backup_goes_on_with_the_newer_world(muster, server):
    machines = server.machines
    begin_with_two(machines)
    server.kill()
    kept = server.back_up(muster.folder / "kept")
    server.start()
    machines.tell("two", 1)
    machines.until_world(2, 2)
    server.kill()
    server.put_back(kept)
    server.start()
    take_in_third(machines)
    worlds = machines.description()["worlds"]
    assert worlds[0]["generation"] == 1 and all(world["generation"] > 2 for world in worlds[1:]) and worlds[1]["reason"] == "forgotten"
    assert "the server was restarted with an older state" in machines.status()
    end_well(machines, "one", "two", "three")


@needs_mount
def test_a_job_goes_on_when_the_disk_of_its_server_is_full(small):
    disk, server = small
    machines = server.machines
    begin_with_two(machines)
    disk.fill()
    machines.tell("two", 1)
    machines.until_world(2, 2)
    read_until(server.process.stderr, "its state could not be saved: ")
    server.kill()
    disk.empty()
    server.start()
    take_in_third(machines)
    end_well(machines, "one", "two", "three")


@needs_mount
def test_a_job_that_began_on_a_full_disk_is_saved_when_there_is_room(small):
    disk, server = small
    machines = server.machines
    disk.fill()
    begin_with_two(machines)
    read_until(server.process.stderr, "its state could not be saved: ")
    disk.empty()
    read_until(server.process.stderr, "the state of job 'digits' is saved again")
    server.kill()
    server.start()
    job = machines.description()
    assert (job["generation"], [member["order"] for member in job["members"]]) == (1, ["run"] * 2)
    end_well(machines, "one", "two")
    assert machines.newest() == 1
