#!/usr/bin/python3
"""Checks that the library of pure sources needs nothing from outside but what is on the list.

    check_symbols.py build/src/libpure.a tools/allowed_symbols.txt

The pure sources (src/*/meson.build) do no input or output and read no clock. What the compiler cannot promise, the
linker's view can: each symbol that the library leaves undefined must be on the list. The list
holds shell patterns, one a line, and comments after '#'. `!PATTERN` takes away from what other
lines allow; `FILE PATTERN` allows it to one file alone.
"""

import subprocess
import sys
from fnmatch import fnmatchcase


def symbols(library, selection):
    """(symbol, source file) of each symbol that nm prints under this selection."""
    printed = subprocess.run(["nm", "-A", "-P", selection, library],
                             check=True, capture_output=True, text=True).stdout
    for line in printed.splitlines():
        if ": " in line:
            place, rest = line.split(": ", 1)
            member = place.rsplit("/", 1)[-1].rstrip("]").removesuffix(".o")
            yield rest.split()[0], member.replace("_", "/", 1)


class Allowed:
    """What the list says."""

    def __init__(self, path):
        self.patterns, self.forbidden = [], []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                words = line.split("#")[0].split()
                if words and words[-1].startswith("!"):
                    self.forbidden.append(words[-1][1:])
                elif words:
                    self.patterns.append((words[0] if len(words) == 2 else "*", words[-1]))

    def has(self, symbol, file):
        if any(fnmatchcase(symbol, pattern) for pattern in self.forbidden):
            return False
        return any(fnmatchcase(file, files) and fnmatchcase(symbol, pattern)
                   for files, pattern in self.patterns)


def main():
    library, path = sys.argv[1:]
    allowed = Allowed(path)
    defined = {symbol for symbol, _ in symbols(library, "--defined-only")}
    faults = [(file, symbol) for symbol, file in sorted(set(symbols(library, "--undefined-only")))
              if symbol not in defined and not allowed.has(symbol, file)]
    for file, symbol in faults:
        print(f"src/{file}: needs '{symbol}', which {path} does not allow")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
