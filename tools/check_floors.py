#!/usr/bin/python3
"""Checks the floors of src/: who may include whom, circles, outside libraries, long functions.

- A file includes its own folder and lower floors: never upward, never sideways.
- Inside one folder the headers have no circle, and neither have the modules (a .c with its .h).
- Every include of ours names the folder; each outside library is included by one file alone.
- base/ and core/ include no header of the operating system that does input or output.
- No function is longer than LONGEST_FUNCTION lines.
- The files of the reading order in docs/ARCHITECTURE.md are there, and include MOST_HEADERS headers of ours at most.

Prints one line for each fault, `file:line: sentence`, and ends with 1 when there is any.
"""

import pathlib
import re
import sys

FLOORS = {
    "base": 0,
    "core": 1,
    "io": 2,
    "kube": 3,
    "store": 3,
    "tf": 3,
    "engine": 4,
    "serve": 5,
    "cli": 6,
    "compat": 7,
}

# Header of an outside library (its beginning) -> the one file that may include it, or the parts of
# one module.
LIBRARIES = {
    "archive": ["io/archive_library.h"],
    "archive_entry": ["io/archive_library.h"],
    "jansson": ["base/json.c"],
    "yaml": ["base/yaml.c"],
    "event": ["io/loop.c", "io/http_asker.c", "io/http_query.c", "io/http_refusal.c", "io/http_server.c", "io/http_tls.c"],
    "openssl": ["io/certificate.c", "io/http_tls.c", "io/token.c"],
    "curl": ["io/http_failure.h", "io/http_pool.h", "io/http_setup.h", "io/http_target.c"],
    "wslay": ["io/websocket_frames.c"],
    "sqlite3": ["store/database.c"],
}

# All that base/ and core/ may include from outside; what is not here does input or output, reads a
# clock, or has not been thought about.
PURE_HEADERS = {
    "assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "signal.h",
    "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",
    "string.h", "strings.h", "time.h",
}

# A process without memory says so and ends, from wherever it is.
EXCEPTIONS = {("base/mem.c", "unistd.h")}

LONGEST_FUNCTION = 60
MOST_HEADERS = 60
MAP = pathlib.Path("docs/ARCHITECTURE.md")

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


class Source:
    """One file below src/ with its includes: (line, name) of ours, and of everybody else's."""

    def __init__(self, root, path):
        self.path = path
        self.name = str(path.relative_to(root))
        self.folder = self.name.split("/")[0]
        self.module = self.name.rsplit(".", 1)[0]
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.ours, self.outside = [], []
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match and match.group(1):
                self.ours.append((number, match.group(1)))
            elif match:
                self.outside.append((number, match.group(2)))


def check_includes(root, source):
    for line, included in source.ours:
        folder = included.split("/")[0]
        if "/" not in included:
            yield line, f'"{included}" does not name its folder'
        elif folder not in FLOORS:
            yield line, f'"{included}" is on no floor'
        elif not (root / included).exists():
            yield line, f'"{included}" does not exist'
        elif FLOORS[folder] > FLOORS[source.folder]:
            yield line, f'"{included}" is upward: {source.folder}/ may not know {folder}/'
        elif folder != source.folder and FLOORS[folder] == FLOORS[source.folder]:
            yield line, f'"{included}" is sideways: {source.folder}/ may not know {folder}/'


def library_of(header):
    stem = re.split(r"[/.2]", header)[0]
    return stem if stem in LIBRARIES else None


def check_outside(source):
    for line, header in source.outside:
        library = library_of(header)
        if library:
            if source.name not in LIBRARIES[library]:
                yield line, f"<{header}> is included by {' and '.join(LIBRARIES[library])} alone"
        elif (FLOORS[source.folder] <= FLOORS["core"] and header not in PURE_HEADERS
              and (source.name, header) not in EXCEPTIONS):
            yield line, f"<{header}> has no place in {source.folder}/, which does no input or output"


def check_functions(source):
    """Relies on the house form: a function's braces stand in the first column."""
    opened, title = 0, ""
    for number, line in enumerate(source.lines, 1):
        if line == "{":
            opened = number
        elif line.startswith("}") and opened:
            if number - opened > LONGEST_FUNCTION:
                yield opened, f"{number - opened} lines are too many for one function: {title}"
            opened = 0
        elif line and not line[0].isspace() and not opened:
            title = line


def find_circle(edges):
    """The first circle in a graph {node: {node: …}} as a list of nodes, or None."""
    done, trail = set(), []

    def visit(node):
        if node in trail:
            return trail[trail.index(node):] + [node]
        if node in done:
            return None
        trail.append(node)
        for following in sorted(edges.get(node, ())):
            circle = visit(following)
            if circle:
                return circle
        trail.pop()
        done.add(node)
        return None

    for node in sorted(edges):
        circle = visit(node)
        if circle:
            return circle
    return None


def check_circles(sources):
    """Circles between the modules of one folder, a .c and its .h counted as one."""
    edges, place = {}, {}
    for source in sources:
        for line, included in source.ours:
            module = included.rsplit(".", 1)[0]
            if included.split("/")[0] == source.folder and module != source.module:
                edges.setdefault(source.module, set()).add(module)
                place.setdefault((source.module, module), f"{source.path}:{line}")
    circle = find_circle(edges)
    if circle:
        yield f"{place[(circle[0], circle[1])]}: a circle of includes: {' -> '.join(circle)}"


def check_reading_order(sources):
    order = re.search(r"^Read in this order: (.*?)\n\n", MAP.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names = re.findall(r"`([^`]+)`", order.group(1)) if order else []
    by_name = {source.name: source for source in sources}
    headers = {included for name in names if name in by_name for _, included in by_name[name].ours}
    if not names:
        yield f"{MAP}:1: no reading order was found"
    for name in sorted(set(names) - set(by_name)):
        yield f"{MAP}:1: '{name}' of the reading order does not exist"
    if len(headers) > MOST_HEADERS:
        yield f"{MAP}:1: the reading order takes {len(headers)} headers, more than {MOST_HEADERS}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    sources = [Source(root, path) for path in sorted(root.rglob("*.[ch]"))]
    faults = [*check_circles(sources), *check_reading_order(sources)]
    for source in sources:
        if source.folder not in FLOORS:
            faults.append(f"{source.path}:1: the folder {source.folder}/ is on no floor")
            continue
        for check in (check_includes(root, source), check_outside(source), check_functions(source)):
            faults += [f"{source.path}:{line}: {sentence}" for line, sentence in check]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
