"""Small OCI images for the real node, made without docker:

localhost/busybox:test  a shell and its tools, all from one static program
localhost/host:test     an empty root whose /bin and /lib point into /usr: with the host's /usr mounted there, a Pod runs
                        the host's Python, TensorFlow and muster without an image of 2 GB
localhost/pause:test    what holds a Pod's namespaces; the runtime's own, never named in a Pod
"""

import gzip
import hashlib
import io
import json
import platform
import subprocess
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
EMPTY = ["dev", "etc", "proc", "root", "sys", "tmp", "run"]
KIND = "application/vnd.oci.image"


def make(busybox, folder):
    """Makes all of them; gives their files."""
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    shell = [_folder(name) for name in ["bin", *EMPTY]] + [_program("bin/busybox", busybox)]
    shell += [_link("bin/" + name, "busybox") for name in applets if name != "busybox"]
    host = [_folder(name) for name in ["usr", *EMPTY]]
    host += [_link(name, "usr/" + name) for name in ["bin", "lib", "lib64", "sbin"]]
    return [
        _write(folder, "busybox", shell, []),
        _write(folder, "host", host, []),
        _write(folder, "pause", shell, ["tail", "-f", "/dev/null"]),
    ]


def _entry(name, kind, mode=0o755):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = kind, mode
    return entry


def _folder(name):
    return _entry(name, tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755), b""


def _link(name, target):
    entry = _entry(name, tarfile.SYMTYPE)
    entry.linkname = target
    return entry, b""


def _file(name, content, mode=0o644):
    entry = _entry(name, tarfile.REGTYPE, mode)
    entry.size = len(content)
    return entry, content


def _program(name, path):
    return _file(name, path.read_bytes(), 0o755)


def _tar(entries):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _write(folder, name, entries, entrypoint):
    """One image of one layer, as an OCI layout in a tar (the image specification's image-layout.md)."""
    blobs = {}

    def blob(kind, content):
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"{KIND}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def document(kind, **fields):
        return blob(kind, json.dumps(fields).encode())

    layer = _tar(entries)
    config = document(
        "config.v1+json",
        architecture=ARCHITECTURES[platform.machine()],
        os="linux",
        config={"Entrypoint": entrypoint, "Env": ["PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
        rootfs={"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
    )
    packed = blob("layer.v1.tar+gzip", gzip.compress(layer, mtime=0))
    manifest = document(
        "manifest.v1+json", schemaVersion=2, mediaType=f"{KIND}.manifest.v1+json", config=config, layers=[packed]
    )
    manifest["annotations"] = {"io.containerd.image.name": f"localhost/{name}:test"}
    index = json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode()
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": index, **blobs}
    path = folder / f"{name}.tar"
    path.write_bytes(_tar(_file(*file) for file in files.items()))
    return path
