"""A small disk that can be full: a tmpfs in a mount namespace of its own, which only the test sees."""

import errno
import os
import shutil
import subprocess

import pytest


def can_mount():
    if not shutil.which("unshare"):
        return False
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(not can_mount(), reason="mounting a small disk needs root")


class SmallDisk:
    """Lives as long as the `with` block. What is to see it is started with `enter` before its command."""

    def __init__(self, folder, size):
        self.folder = folder
        self.size = size

    def __enter__(self):
        self.folder.mkdir()
        script = 'mount -t tmpfs -o size="$1" none "$2" && echo mounted && exec cat'
        self.holder = subprocess.Popen(["unshare", "--mount", "sh", "-c", script, "sh", self.size, self.folder],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.holder.stdout.readline() == "mounted\n"
        self.enter = ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", "--"]
        return self

    def __exit__(self, *_):
        self.holder.communicate()

    @property
    def ballast(self):
        return f"/proc/{self.holder.pid}/root{self.folder}/ballast"

    def fill(self):
        with open(self.ballast, "wb", buffering=0) as file:
            try:
                while file.write(b"0" * 4096):
                    pass
            except OSError as failure:
                assert failure.errno == errno.ENOSPC

    def empty(self):
        os.unlink(self.ballast)
