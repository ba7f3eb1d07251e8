"""What the tests of `muster server` share: libraries that are no TensorFlow, and ports."""

import pathlib
import random
import socket
import subprocess


STUB = pathlib.Path(__file__).with_name("stub_tensorflow.c")


def make_stub(folder, *definitions):
    """Compiles tests/system/stub_tensorflow.c with these definitions; gives its path."""
    folder.mkdir(exist_ok=True)
    library = folder / "libtensorflow_cc.so.2"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, *(f"-D{d}" for d in definitions), STUB], check=True)
    return library


def free_port():
    """A port that nobody has, outside the range from which the kernel hands out ports by itself."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(10000, max(lowest, 11000))
        with socket.socket() as listening:
            try:
                listening.bind(("", port))
            except OSError:
                continue
            return port
