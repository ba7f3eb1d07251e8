"""Writes images as the OCI image specification has them, without docker: a layout in a tar (image-layout.md).

The same entries make the same bytes anywhere: times are 0, owners are numbers, nothing says when or where.
"""

import gzip
import hashlib
import io
import json
import platform
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
KIND = "application/vnd.oci.image"


def _entry(name, kind, mode, owner=0):
    made = tarfile.TarInfo(name)
    made.type, made.mode, made.uid, made.gid = kind, mode, owner, owner
    return made


def folder(name, mode=0o755, owner=0):
    return _entry(name, tarfile.DIRTYPE, mode, owner), b""


def link(name, target):
    made = _entry(name, tarfile.SYMTYPE, 0o777)
    made.linkname = target
    return made, b""


def file(name, content, mode=0o644):
    made = _entry(name, tarfile.REGTYPE, mode)
    made.size = len(content)
    return made, content


def _tar(entries):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


class _Blobs(dict):
    """The files of a layout by their names, which are their hashes."""

    def add(self, kind, content):
        """Gives the descriptor of what was added."""
        digest = hashlib.sha256(content).hexdigest()
        self[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"{KIND}.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def add_document(self, kind, **fields):
        return self.add(kind, json.dumps(fields).encode())


def write(path, name, layers, config):
    """An image `name` ("localhost/muster:1") of layers, each a list of entries, with the `config` of a container."""
    blobs = _Blobs()
    plain = [_tar(layer) for layer in layers]
    described = blobs.add_document(
        "config.v1+json",
        architecture=ARCHITECTURES[platform.machine()],
        os="linux",
        config=config,
        rootfs={"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in plain]},
    )
    packed = [blobs.add("layer.v1.tar+gzip", gzip.compress(layer, mtime=0)) for layer in plain]
    manifest = blobs.add_document(
        "manifest.v1+json", schemaVersion=2, mediaType=f"{KIND}.manifest.v1+json", config=described, layers=packed)
    # containerd takes the first of these for the name, podman and skopeo the second.
    manifest["annotations"] = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
    index = json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode()
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": index, **blobs}
    path.write_bytes(_tar(file(*each) for each in files.items()))
