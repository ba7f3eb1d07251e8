#!/usr/bin/python3
"""Puts `muster server` on an image that has TensorFlow. No docker is needed for that.

    make_server_image.py BUILD BASE IMAGE.tar [NAME]

BASE is an OCI image, a layout's folder or a tar of it (skopeo copy … oci-archive:FILE, docker save -o FILE since version
25, `make image`), else a name in a registry, which skopeo, podman or docker fetch if one of them is there. IMAGE.tar is
BASE with one layer more, and a server as its entry point. What is in BUILD is a muster that brings its libraries, all but
the C library, which has to be glibc 2.34 or later in BASE. NAME is localhost/muster-server:VERSION unless said otherwise.
The same build and the same base make the same image, byte for byte.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import oci

PROGRAM = "usr/local/bin/muster"
DEFAULT_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def fetches(name, file):
    """Calls that bring an image of a registry into a file, as each of the programs does it."""
    return {
        "skopeo": [["skopeo", "copy", f"docker://{name}", f"oci-archive:{file}"]],
        "podman": [["podman", "pull", name], ["podman", "save", "--format", "oci-archive", "-o", file, name]],
        "docker": [["docker", "pull", name], ["docker", "save", "-o", file, name]],
    }


def fetch(name, folder):
    """The file of an image that some registry has."""
    if not name[0].isalnum():
        raise oci.Unreadable(f"{name}: no such file or folder")
    file = pathlib.Path(folder, "base.tar")
    for program, calls in fetches(name, file).items():
        if not shutil.which(program):
            continue
        if all(subprocess.run(call, stdout=sys.stderr).returncode == 0 for call in calls):
            return file
        raise oci.Unreadable(f"{program} cannot bring {name}: what it said is above")
    raise oci.Unreadable(f"{name}: no such file, and neither skopeo nor podman nor docker is here to fetch an image")


def program_of(build):
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, pathlib.Path(build, "muster")], check=True)
        return pathlib.Path(stripped.name).read_bytes()


def entries_of(build):
    """Folders that BASE has keep what is in them."""
    root = pathlib.Path(__file__).resolve().parents[1]
    licence = "usr/local/share/doc/muster/LICENSE"
    parents = {str(path) for name in (PROGRAM, licence) for path in pathlib.PurePosixPath(name).parents[:-1]}
    return [*map(oci.folder, sorted(parents)), oci.file(PROGRAM, program_of(build), 0o755),
            oci.file(licence, (root / "LICENSE").read_bytes())]


def main():
    build, given, image, *name = sys.argv[1:]
    project = ["meson", "introspect", build, "--projectinfo"]
    version = json.loads(subprocess.run(project, check=True, stdout=subprocess.PIPE).stdout)["version"]
    with oci.scratch() as folder:
        base = oci.Layout(given if pathlib.Path(given).exists() else fetch(given, folder))
        environment = (base.config.get("config") or {}).get("Env") or [DEFAULT_PATH]
        config = {"Env": environment, "Entrypoint": [f"/{PROGRAM}", "server"], "Cmd": None}
        oci.extend(base, image, name[0] if name else f"localhost/muster-server:{version}", entries_of(build), config)
    print(image)


try:
    main()
except oci.Unreadable as error:
    sys.exit(f"make_server_image: {error}")
