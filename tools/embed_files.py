#!/usr/bin/python3
"""Writes files into a C file, as one text with a line "---" between them.

    embed_files.py C_FILE HEADER NAME FILE…

HEADER declares `const char NAME[]`, which ends with a zero, and `const size_t NAME_size`, without it.
"""

import pathlib
import sys

BYTES_A_LINE = 20


def lines_of(content):
    """Numbers, with commas."""
    for start in range(0, len(content), BYTES_A_LINE):
        yield "\t" + " ".join(f"{byte}," for byte in content[start:start + BYTES_A_LINE])


def main():
    c_file, header, name, *sources = sys.argv[1:]
    content = b"---\n".join(pathlib.Path(source).read_bytes() for source in sources)
    pathlib.Path(c_file).write_text("\n".join([
        "/* Made by tools/embed_files.py. */",
        f'#include "{header}"',
        "",
        f"const char {name}[] = {{",
        *lines_of(content + b"\0"),
        "};",
        f"const size_t {name}_size = sizeof({name}) - 1;",
        "",
    ]))


if __name__ == "__main__":
    main()
