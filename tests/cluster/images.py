"""Small images for the real node:

localhost/busybox:test  a shell and its tools, all from one static program
localhost/debian:test   what Debian's own images have: its coreutils, dash, bash, GNU tar and gzip, of this machine
localhost/host:test     an empty root whose /bin and /lib point into /usr: with the host's /usr mounted there, a Pod
                        runs the host's Python, TensorFlow and muster without an image of 2 GB
localhost/pause:test    what holds a Pod's namespaces; the runtime's own, never named in a Pod
"""

import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import oci

DEBIAN = """basename bash cat chmod cp cut date dash dd df dirname du echo env false find grep gzip head hostname id
ln ls md5sum mkdir mkfifo mktemp mv nohup printf pwd readlink realpath rm rmdir sed seq sha256sum sleep sort stat stty
tail tar tee test timeout touch tr true tty uname wc whoami xargs yes""".split()
EMPTY = ["dev", "etc", "proc", "root", "run", "sys"]


def make(busybox, folder):
    """Makes all of them; gives their files."""
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    root = [oci.folder(name) for name in EMPTY] + [oci.folder("tmp", 0o1777)]
    shell = [*root, oci.folder("bin"), oci.file("bin/busybox", busybox.read_bytes(), 0o755)]
    shell += [oci.link(f"bin/{name}", "busybox") for name in applets if name != "busybox"]
    host = [*root, oci.folder("usr")] + [oci.link(name, f"usr/{name}") for name in ("bin", "lib", "lib64", "sbin")]
    images = {"busybox": (shell, []), "debian": ([*root, *_debian()], []), "host": (host, []),
              "pause": (shell, ["tail", "-f", "/dev/null"])}
    return [_write(folder, name, *image) for name, image in images.items()]


def _debian():
    """Programs of this machine where Debian has them, and the libraries that they name."""
    programs = [f"/usr/bin/{name}" for name in DEBIAN]
    named = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    libraries = sorted({word for word in named.split() if word.startswith("/") and not word.endswith(":")})
    files = [*programs, *(library if library.startswith("/usr/") else f"/usr{library}" for library in libraries)]
    folders = {str(folder) for path in files for folder in list(pathlib.Path(path).parents)[:-1]}
    return [*(oci.folder(name.lstrip("/")) for name in sorted(folders)),
            *(oci.link(name, f"usr/{name}") for name in ("bin", "lib", "lib64", "sbin")),
            *(oci.file(path.lstrip("/"), pathlib.Path(path).read_bytes(), 0o755) for path in files),
            oci.link("usr/bin/sh", "dash")]


def _write(folder, name, entries, entrypoint):
    path = folder / f"{name}.tar"
    search = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    oci.write(path, f"localhost/{name}:test", [entries], {"Entrypoint": entrypoint, "Env": [search]})
    return path
