"""The small programs of tests/fake_kube that speak to a server and print lines until their input ends."""

import pathlib
import subprocess

from conftest import BINARY, LIMIT, read_line

FOLDER = pathlib.Path(BINARY).parent / "tests" / "fake_kube"


class KubeTool:
    def __init__(self, name, *arguments, **options):
        self.process = subprocess.Popen([FOLDER / name, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)

    def tell(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def line(self):
        return read_line(self.process.stdout)

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(LIMIT)
        self.process.stdout.close()
        return code
