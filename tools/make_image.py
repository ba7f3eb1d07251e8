#!/usr/bin/python3
"""Makes an OCI image of muster from a build: its programs, the libraries that they load, and nothing else. No docker.

    make_image.py BUILD IMAGE.tar [NAME]

There is no shell in it and no package manager; it runs as a user without rights. The licences of what is in it are
in it. NAME is localhost/muster:VERSION unless said otherwise. The same build makes the same image, byte for byte.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import oci

USER = 65532  # "nonroot", as distroless images have it
HOME = "/home/muster"
AUTHORITIES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")
ETC = {
    "/etc/group": f"root:x:0:\nmuster:x:{USER}:\n",
    "/etc/nsswitch.conf": "hosts: files dns\n",
    "/etc/passwd": f"root:x:0:0:root:/root:/sbin/nologin\nmuster:x:{USER}:{USER}:muster:{HOME}:/sbin/nologin\n",
}


def output_of(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def install(build, folder):
    """The programs that `make install` puts in place, by their paths. The module for archives is left out, which would
    bring 15 MB of libraries along for `cp` and its like: those are for people, not for Pods. So are the links of older
    names, which lead to a muster of this machine where one is installed."""
    output_of("meson", "install", "-C", build, "--no-rebuild", "--strip", env={**os.environ, "DESTDIR": folder})
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file() and not path.is_symlink())
    programs = [path for path in files if path.stat().st_mode & 0o100 and path.suffix != ".so"]
    return {f"/{path.relative_to(folder)}": path for path in programs}


OPENED = ["libtre.so.5"]  # libraries that the programs open when they need them


def opened_libraries():
    known = output_of("/sbin/ldconfig", "-p")
    return [re.search(rf"{re.escape(name)} .*=> (\S+)", known)[1] for name in OPENED]


def libraries_of(programs):
    """Paths of all that the loader loads for them, the loader too; nothing for the one that serves Pods of any image."""
    said = output_of("ldd", *(str(path) for path in programs if path.name != "muster-static"))
    missing = re.findall(r"(\S+) => not found", said)
    if missing:
        sys.exit(f"make_image: not found: {', '.join(missing)}")
    found = re.findall(r"(/\S+) \(0x", said) + opened_libraries()
    return sorted({pathlib.Path(path) for path in found})


def package_of(path):
    """The Debian package of a file; None when it is of none. Packages know it with or without /usr before it."""
    real = path.resolve()
    known = [str(real), str(real).removeprefix("/usr")]
    asking = ["dpkg-query", "--search", *known]
    said = subprocess.run(asking, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return said.stdout.split(":")[0] or None


def licences_of(libraries):
    packages = {package_of(path) for path in libraries} - {None}
    return [pathlib.Path("/usr/share/doc", package, "copyright") for package in packages]


def read(path):
    """What a file is in the image: its content and whether it may be executed, not who owned it here."""
    return path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644


def entries_of(files):
    """Files by their paths in the image, below the folders that they need. /lib is a link to /usr/lib, and so on."""
    made = {}
    for name, (content, mode) in sorted(files.items()):
        path = pathlib.PurePosixPath(re.sub(r"^/(lib|lib64)/", r"/usr/\1/", name)).relative_to("/")
        for parent in reversed(path.parents[:-1]):
            made.setdefault(str(parent), oci.folder(str(parent)))
        made[str(path)] = oci.file(str(path), content, mode)
    return list(made.values())


def base_layer(libraries):
    """What changes when Debian changes: libraries, authorities, who the user is."""
    taken = [*libraries, *licences_of(libraries), AUTHORITIES]
    files = {str(path): read(path) for path in taken if path.exists()}
    files |= {name: (text.encode(), 0o644) for name, text in ETC.items()}
    root = [oci.link("lib", "usr/lib"), oci.link("lib64", "usr/lib64"), oci.folder("tmp", 0o1777)]
    return [*entries_of(files), *root, oci.folder("home"), oci.folder(HOME[1:], 0o700, USER)]


def main():
    build, image, *name = sys.argv[1:]
    version = json.loads(output_of("meson", "introspect", build, "--projectinfo"))["version"]
    root = pathlib.Path(__file__).resolve().parents[1]
    with oci.scratch() as folder:
        programs = install(build, folder)
        base = base_layer(libraries_of(programs.values()))
        own = programs | {"/usr/share/doc/muster/LICENSE": root / "LICENSE"}
        layers = [base, entries_of({name: read(path) for name, path in own.items()})]
    config = {
        "User": str(USER),
        "WorkingDir": HOME,
        "Env": ["PATH=/usr/local/bin:/usr/bin", f"HOME={HOME}"],
        "Entrypoint": ["muster"],
        "Labels": {"org.opencontainers.image.title": "muster", "org.opencontainers.image.version": version},
    }
    oci.write(pathlib.Path(image), name[0] if name else f"localhost/muster:{version}", layers, config)


main()
