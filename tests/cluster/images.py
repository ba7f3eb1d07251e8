"""Small images for the real node:

localhost/busybox:test  a shell and its tools, all from one static program
localhost/host:test     an empty root whose /bin and /lib point into /usr: with the host's /usr mounted there, a Pod
                        runs the host's Python, TensorFlow and muster without an image of 2 GB
localhost/pause:test    what holds a Pod's namespaces; the runtime's own, never named in a Pod
"""

import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import oci

EMPTY = ["dev", "etc", "proc", "root", "run", "sys"]


def make(busybox, folder):
    """Makes all of them; gives their files."""
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    root = [oci.folder(name) for name in EMPTY] + [oci.folder("tmp", 0o1777)]
    shell = [*root, oci.folder("bin"), oci.file("bin/busybox", busybox.read_bytes(), 0o755)]
    shell += [oci.link(f"bin/{name}", "busybox") for name in applets if name != "busybox"]
    host = [*root, oci.folder("usr")] + [oci.link(name, f"usr/{name}") for name in ("bin", "lib", "lib64", "sbin")]
    images = {"busybox": (shell, []), "host": (host, []), "pause": (shell, ["tail", "-f", "/dev/null"])}
    return [_write(folder, name, *image) for name, image in images.items()]


def _write(folder, name, entries, entrypoint):
    path = folder / f"{name}.tar"
    search = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    oci.write(path, f"localhost/{name}:test", [entries], {"Entrypoint": entrypoint, "Env": [search]})
    return path
