#!/usr/bin/python3
"""Writes scripts into a C file: embed_scripts.py C_FILE HEADER SCRIPT…

HEADER declares `const char NAME_script[]` for each: NAME.sh, of which lines of comment are left out because it is sent over
the network each time, or muster.NAME.
"""

import json
import pathlib
import sys


def text_of(script):
    lines = script.read_text().splitlines()
    if script.suffix == ".sh":
        lines = [line for line in lines if line and not line.lstrip().startswith("#")]
    rows = "\n".join("\t" + json.dumps(line + "\n") for line in lines)
    name = script.stem if script.suffix == ".sh" else script.suffix[1:]
    return f"const char {name}_script[] =\n{rows};\n"


def main():
    c_file, header, *scripts = sys.argv[1:]
    pathlib.Path(c_file).write_text(f'/* Made by tools/embed_scripts.py. */\n#include "{header}"\n\n' +
                                    "\n".join(text_of(pathlib.Path(script)) for script in scripts))


if __name__ == "__main__":
    main()
