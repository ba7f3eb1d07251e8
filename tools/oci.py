#!/usr/bin/python3
"""Reads and writes images as the OCI image specification has them, without docker: layouts (image-layout.md).

    oci.py unpack IMAGE.tar FOLDER    what a container of it would see, when no layer takes away what another has

A layout is a folder, or a tar of it. What is written is a tar; the same entries make the same bytes anywhere: times are
0, owners are numbers, nothing says when or where.
"""

import copy
import gzip
import hashlib
import io
import json
import pathlib
import platform
import signal
import sys
import tarfile
import tempfile

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


def scratch():
    """A temporary folder, in a `with`, that is gone behind it, also when TERM ends the program."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    return tempfile.TemporaryDirectory()


class Unreadable(Exception):
    """A sentence for people."""


class Layout:
    """An image that somebody else made, for reading: one of a layout, the one for this machine where there are more."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self._archive = None if self.path.is_dir() else self._open()
        self.manifest = self._manifest_of(self._json("index.json"))
        self.config = self._json(_blob_name(self.manifest["config"]))

    def _open(self):
        try:
            return tarfile.open(self.path)
        except OSError as error:
            raise Unreadable(f"{self.path}: {error.strerror}") from error
        except tarfile.TarError as error:
            raise Unreadable(f"{self.path}: neither a tar nor a folder") from error

    def unpack(self, folder):
        for layer in self.manifest["layers"]:
            with self.open(_blob_name(layer)) as file, tarfile.open(fileobj=file, mode="r:*") as archive:
                archive.extractall(folder)

    def open(self, name):
        """A file of the layout, to be read; in a tar names may begin with "./"."""
        for spelling in (name, f"./{name}"):
            try:
                return self._archive.extractfile(spelling) if self._archive else open(self.path / spelling, "rb")
            except (OSError, KeyError):
                continue
        raise Unreadable(f"{self.path}: {name} is missing: this is no OCI image (docker writes them since version 25)")

    def _json(self, name):
        with self.open(name) as file:
            return json.load(file)

    def _manifest_of(self, index):
        """Below an index there may be an index of its own for several machines."""
        while "manifests" in index:
            index = self._json(_blob_name(_of_this_machine(index["manifests"], self.path)))
        return index


def _blob_name(descriptor):
    algorithm, digest = descriptor["digest"].split(":")
    return f"blobs/{algorithm}/{digest}"


def _of_this_machine(manifests, path):
    wanted = {"os": "linux", "architecture": ARCHITECTURES[platform.machine()]}
    for one in manifests:
        if wanted.items() <= one.get("platform", wanted).items():
            return one
    raise Unreadable(f"{path}: it has no image for {wanted['architecture']}")


def _as_oci(descriptor):
    """Docker calls the same things by other names."""
    kinds = {"application/vnd.docker.container.image.v1+json": f"{KIND}.config.v1+json",
             "application/vnd.docker.image.rootfs.diff.tar.gzip": f"{KIND}.layer.v1.tar+gzip",
             "application/vnd.docker.image.rootfs.diff.tar": f"{KIND}.layer.v1.tar"}
    return {**descriptor, "mediaType": kinds.get(descriptor["mediaType"], descriptor["mediaType"])}


def _diff_id(layer):
    return "sha256:" + hashlib.sha256(layer).hexdigest()


def _write_layout(path, name, manifest, blobs, base=None, taken=()):
    """Blobs of our own, and those that are `taken` from the base, which may be too large for memory."""
    # containerd takes the first of these for the name, podman and skopeo the second.
    manifest["annotations"] = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
    index = json.dumps({"schemaVersion": 2, "manifests": [manifest]}).encode()
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": index, **blobs}
    with tarfile.open(path, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for each in files.items():
            entry, content = file(*each)
            archive.addfile(entry, io.BytesIO(content))
        for descriptor in taken:
            entry = _entry(_blob_name(descriptor), tarfile.REGTYPE, 0o644)
            entry.size = descriptor["size"]
            with base.open(entry.name) as content:
                archive.addfile(entry, content)


def write(path, name, layers, config):
    """An image `name` ("localhost/muster:1") of layers, each a list of entries, with the `config` of a container."""
    blobs = _Blobs()
    plain = [_tar(layer) for layer in layers]
    described = blobs.add_document(
        "config.v1+json",
        architecture=ARCHITECTURES[platform.machine()],
        os="linux",
        config=config,
        rootfs={"type": "layers", "diff_ids": [_diff_id(layer) for layer in plain]},
    )
    packed = [blobs.add("layer.v1.tar+gzip", gzip.compress(layer, mtime=0)) for layer in plain]
    manifest = blobs.add_document(
        "manifest.v1+json", schemaVersion=2, mediaType=f"{KIND}.manifest.v1+json", config=described, layers=packed)
    _write_layout(path, name, manifest, blobs)


def extend(base, path, name, entries, config):
    """The image `base`, a Layout, with one layer more; `config` goes over that of its containers."""
    blobs = _Blobs()
    layer = _tar(entries)
    changed = copy.deepcopy(base.config)
    changed["config"] = {**(changed.get("config") or {}), **config}
    changed["rootfs"]["diff_ids"].append(_diff_id(layer))
    if "history" in changed:
        changed["history"].append({"created_by": "muster: make server-image"})
    described = blobs.add_document("config.v1+json", **changed)
    taken = [_as_oci(each) for each in base.manifest["layers"]]
    packed = blobs.add("layer.v1.tar+gzip", gzip.compress(layer, mtime=0))
    manifest = blobs.add_document("manifest.v1+json", schemaVersion=2, mediaType=f"{KIND}.manifest.v1+json",
                                  config=described, layers=[*taken, packed])
    # Two layers of the same content are one blob.
    once = {each["digest"]: each for each in taken}
    _write_layout(path, name, manifest, blobs, base, once.values())


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "unpack":
        sys.exit("oci.py unpack IMAGE.tar FOLDER")
    Layout(sys.argv[2]).unpack(sys.argv[3])
