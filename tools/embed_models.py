#!/usr/bin/python3
"""Packs the models of `muster check` into one Python zip, and the zip into a C file.

    embed_models.py ZIP C_FILE PYTHON_FILE…

The files become the package `muster_check`, which `python ZIP` runs. The same files make the same
zip anywhere: sorted, with one fixed time and mode. Its name at run time holds a hash of its bytes.
"""

import hashlib
import pathlib
import sys
import zipfile

from embed_files import lines_of

PACKAGE = "muster_check"
START = f"""import runpy

runpy.run_module("{PACKAGE}", run_name="__main__", alter_sys=True)
"""
EARLIEST_TIME = (1980, 1, 1, 0, 0, 0)  # that a zip can hold


def add(archive, name, content):
    entry = zipfile.ZipInfo(name, EARLIEST_TIME)
    entry.create_system = 3  # Unix: the mode below counts
    entry.external_attr = 0o100644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content, compresslevel=9)


def pack(path, sources):
    with zipfile.ZipFile(path, "w") as archive:
        add(archive, "__main__.py", START)
        for source in sorted(sources, key=lambda source: source.name):
            add(archive, f"{PACKAGE}/{source.name}", source.read_bytes())


def write_c_file(path, content):
    digest = hashlib.sha256(content).hexdigest()
    path.write_text("\n".join([
        "/* Made by tools/embed_models.py. */",
        '#include "check/jobs.h"',
        "",
        "const unsigned char check_models_bytes[] = {",
        *lines_of(content),
        "};",
        "const size_t check_models_size = sizeof(check_models_bytes);",
        f'const char check_models_hash[] = "{digest[:16]}";',
        "",
    ]))


def main():
    archive, c_file, *sources = map(pathlib.Path, sys.argv[1:])
    pack(archive, sources)
    write_c_file(c_file, archive.read_bytes())


if __name__ == "__main__":
    main()
