"""What the tests of `muster server` share: libraries that are no TensorFlow, and ports."""

import os
import pathlib
import random
import socket
import subprocess

STUB = pathlib.Path(__file__).with_name("stub_tensorflow.c")
PARTS = 8
given_ports = {}


def make_stub(folder, *definitions):
    """Compiles tests/system/stub_tensorflow.c with these definitions; gives its path."""
    folder.mkdir(exist_ok=True)
    library = folder / "libtensorflow_cc.so.2"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, *(f"-D{d}" for d in definitions), STUB], check=True)
    return library


def own_ports():
    """Those of this process, outside the range from which the kernel hands out ports by itself: each process of tests
    has a part of them, so that no two give the same one between asking for it and using it."""
    lowest = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return range(10000, max(lowest, 20000))[number % PARTS::PARTS]


def free_port():
    """A port that nobody has and that was not given before; no muster takes it for a job (src/io/port.h)."""
    while True:
        port = random.choice(own_ports())
        if port in given_ports:
            continue
        reserved = socket.socket(socket.AF_UNIX)
        with socket.socket() as listening:
            try:
                listening.bind(("", port))
                reserved.bind(f"\0muster-port-{port}")
            except OSError:
                reserved.close()
                continue
        given_ports[port] = reserved
        return port
