#!/usr/bin/python3
"""Writes the table of src/status/advice.h from its text: make_advice.py C_FILE TEXT."""

import json
import pathlib
import sys


def rows_of(text, name):
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split(" | ")
        if len(fields) != 3 or not all(fields) or not line.isascii():
            sys.exit(f"{name}:{number}: expected WORDS | SEEN WITH | ADVICE, in ASCII")
        yield fields


def main():
    c_file, source = map(pathlib.Path, sys.argv[1:])
    rows = ["\t{" + ", ".join(map(json.dumps, fields)) + "}," for fields in rows_of(source.read_text(), source)]
    c_file.write_text("\n".join([
        "/* Made by tools/make_advice.py. */",
        '#include "status/advice.h"',
        "",
        "const struct advice_row advice_rows[] = {",
        *rows,
        "};",
        f"const size_t advice_row_count = {len(rows)};",
        "",
    ]))


if __name__ == "__main__":
    main()
