#!/usr/bin/python3
"""Checks how the folders of src/ stand on one another: who may include whom, circles, outside libraries, long functions.

- A folder includes only itself and what its line in MAY_INCLUDE names; that is always a lower one.
- Inside one folder the headers have no circle, and neither have the modules (a .c with its .h).
- Every include of ours names the folder; each outside library is included by the few files in LIBRARIES.
- Who uses a function or constant of the operating system includes its header, or a header of ours does: other versions of glibc give
  less by accident.
- The pure sources (src/*/meson.build) include no header of the operating system that does input or output.
- No function is longer than LONGEST_FUNCTION lines, and no folder has more files than MOST_FILES.
- Each folder has a README.md of 3 to 8 lines.
- The files and functions of the walks in docs/ARCHITECTURE.md exist, at most MOST_FILES_OF_A_WALK files in each.

Prints one line for each fault, `file:line: sentence`, and ends with 1 when there is any.
"""

import pathlib
import re
import sys

# From the lowest to the highest. A folder that its line names and that it never includes is a fault, too.
MAY_INCLUDE = {
    "base": "",
    "spec": "base",
    "io": "base",
    "status": "base spec",
    "http": "base io",
    "archive": "base io",
    "store": "base io",
    "tensorflow": "base spec io",
    "command": "base spec io",
    "rendezvous": "base spec status",
    "logs": "base spec io status",
    "reconcile": "base spec status rendezvous",
    "kube": "base spec io status http reconcile",
    "jobs": "base spec io status store logs rendezvous reconcile",
    "pods": "base io archive kube",
    "console": "base spec io status http logs reconcile jobs",
    "elastic": "base spec io status http store rendezvous jobs",
    "check": "base spec io status tensorflow jobs console",
    "supervise": "base spec io http jobs console",
    "local": "base spec io status store logs reconcile jobs elastic supervise",
    "cluster": "base spec io status store logs reconcile kube jobs pods supervise",
    "doctor": "base spec io store tensorflow kube local",
    "operator": "base spec io status http reconcile kube jobs console supervise cluster",
    "serve": "base spec io status http kube jobs cluster operator",
    "cli": "base spec io status http archive tensorflow command rendezvous logs reconcile kube jobs pods console elastic check supervise local cluster doctor operator serve",
    "compat": "base spec io status http command reconcile kube jobs cluster cli",
}

# Header of an outside library (its beginning) -> the one file that may include it, or the parts of
# one module.
LIBRARIES = {
    "archive": ["archive/library.h"],
    "archive_entry": ["archive/library.h"],
    "jansson": ["base/json.c"],
    "yaml": ["base/yaml.c"],
    "event": ["io/loop.c", "http/asker.c", "http/framing.c", "http/query.c", "http/refusal.c", "http/server.c", "http/tls.c"],
    "openssl": ["http/certificate.c", "http/tls.c"],
    "curl": ["http/pool.h", "http/setup.h"],
    "wslay": ["http/websocket.c"],
    "sqlite3": ["store/database.c"],
}

# All that the pure sources may include from outside; what is not here does input or output, reads a clock, or has not been
# thought about.
PURE_HEADERS = {
    "assert.h", "ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "signal.h",
    "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",
    "string.h", "strings.h", "time.h",
}

# A process without memory says so and ends, from wherever it is.
EXCEPTIONS = {("base/mem.c", "unistd.h"), ("rendezvous/world.c", "arpa/inet.h")}

# Functions that headers of this glibc declare besides their own, and those of an older one do not.
FUNCTIONS = {
    "unistd.h": "_exit access alarm chdir close dup2 execv fork fsync ftruncate getcwd getegid geteuid getgid getpgid getpid getppid "
                "getsid getuid isatty lseek pipe2 pread pwrite read readlink rmdir setpgid setsid symlink sysconf unlink usleep write",
    "signal.h": "kill sigaction sigemptyset sigfillset sigprocmask",
    "fcntl.h": "fcntl open openat",
    "sys/stat.h": "chmod fstat lstat mkdir stat umask",
    "sys/wait.h": "waitid waitpid",
    "poll.h": "poll",
    "sys/resource.h": "getrlimit setpriority setrlimit",
}
CONSTANTS = {
    "unistd.h": r"STD(?:IN|OUT|ERR)_FILENO|[FRWX]_OK",
    "signal.h": r"SIG[A-Z]+[12]?",
    "fcntl.h": r"O_[A-Z]+",
    "sys/stat.h": r"S_I[A-Z]+",
    "sys/wait.h": r"WNOHANG|WNOWAIT|CLD_[A-Z]+",
    "poll.h": r"POLL[A-Z]+",
    "sys/resource.h": r"PRIO_PROCESS|RLIMIT_[A-Z]+",
}
CALLS = {header: re.compile(rf"(?<![\w.>])(?:({'|'.join(names.split())})\s*\(|({CONSTANTS[header]})\b)")
         for header, names in FUNCTIONS.items()}
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)

LONGEST_FUNCTION = 60
MOST_FILES = 100
LARGER = {"cli": 110}  # a file for each command
SHORTEST_README, LONGEST_README = 3, 8
MOST_FILES_OF_A_WALK = 12
MAP = pathlib.Path("docs/ARCHITECTURE.md")

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


class Source:
    """One file below src/ with its includes: (line, name) of ours, and of everybody else's."""

    def __init__(self, root, path, pure):
        self.path = path
        self.name = str(path.relative_to(root))
        self.folder = self.name.split("/")[0]
        self.module = self.name.rsplit(".", 1)[0]
        self.is_pure = self.module in pure or f"{self.folder}/" in pure
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.ours, self.outside = [], []
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match and match.group(1):
                self.ours.append((number, match.group(1)))
            elif match:
                self.outside.append((number, match.group(2)))


def pure_of(root):
    """The modules that a meson.build counts as pure ("check/judge"), and the folders in which all are ("spec/")."""
    pure = set()
    for path in sorted(root.glob("*/meson.build")):
        lists = re.findall(r"^(\w+) \+?= files\((.*?)\)", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        names = {kind: re.findall(r"'([^']+)\.c'", body) for kind, body in lists}
        folder = path.parent.name
        pure |= {f"{folder}/{name}" for name in names.get("pure_sources", ())}
        if list(names) == ["pure_sources"]:
            pure.add(f"{folder}/")
    return pure


def check_includes(root, source):
    allowed = {source.folder, *MAY_INCLUDE[source.folder].split()}
    for line, included in source.ours:
        folder = included.split("/")[0]
        if "/" not in included:
            yield line, f'"{included}" does not name its folder'
        elif not (root / included).exists():
            yield line, f'"{included}" does not exist'
        elif folder not in allowed:
            yield line, f'"{included}": {source.folder}/ may not know {folder}/'


def check_table(sources):
    """The lines of MAY_INCLUDE: downward, and no more than there is."""
    place, below = "tools/check_floors.py", set()
    used = {(source.folder, included.split("/")[0]) for source in sources for _, included in source.ours}
    for folder, names in MAY_INCLUDE.items():
        for name in names.split():
            if name not in below:
                yield f"{place}:1: {folder}/ may include {name}/, which is not below it"
            elif (folder, name) not in used:
                yield f"{place}:1: {folder}/ may include {name}/, and never does"
        below.add(folder)


def check_folders(root, sources):
    for folder in sorted({source.folder for source in sources}):
        place = root / folder
        files = sum(source.folder == folder for source in sources)
        readme = place / "README.md"
        lines = len(readme.read_text(encoding="utf-8").splitlines()) if readme.exists() else 0
        if folder not in MAY_INCLUDE:
            yield f"{place}:1: the folder {folder}/ has no line in MAY_INCLUDE"
        if files > LARGER.get(folder, MOST_FILES):
            yield f"{place}:1: {files} files are too many for one folder"
        if not SHORTEST_README <= lines <= LONGEST_README:
            yield f"{readme}:1: {SHORTEST_README} to {LONGEST_README} lines say what the folder is; there are {lines}"


def library_of(header):
    stem = re.split(r"[/.2]", header)[0]
    return stem if stem in LIBRARIES else None


def check_outside(source):
    for line, header in source.outside:
        library = library_of(header)
        if library:
            if source.name not in LIBRARIES[library]:
                yield line, f"<{header}> is included by {' and '.join(LIBRARIES[library])} alone"
        elif source.is_pure and header not in PURE_HEADERS and (source.name, header) not in EXCEPTIONS:
            yield line, f"<{header}> has no place in {source.name}, which does no input or output"


def headers_of(source, by_name, known):
    """The headers of the operating system that a file has, by those of ours, too."""
    if source.name not in known:
        known[source.name] = {header for _, header in source.outside}
        for _, included in source.ours:
            if included in by_name:
                known[source.name] |= headers_of(by_name[included], by_name, known)
    return known[source.name]


def check_calls(sources):
    by_name, known = {source.name: source for source in sources}, {}
    for source in sources:
        code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), "\n".join(source.lines))
        for header, calls in CALLS.items():
            match = calls.search(code)
            if match and source.path.suffix == ".c" and header not in headers_of(source, by_name, known):
                line = code.count("\n", 0, match.start()) + 1
                yield f"{source.path}:{line}: {match.group(1) or match.group(2)} needs <{header}>"


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


def check_walks(sources):
    """The walks of the map are short, and their files and functions exist."""
    by_name = {source.name: "\n".join(source.lines) for source in sources}
    code = "\n".join(by_name.values())
    walks = re.findall(r"^## (Walk \d.*?)\n(.*?)(?=^## )", MAP.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    if not walks:
        yield f"{MAP}:1: there is no walk"
    for title, text in walks:
        files = set(re.findall(r"`([a-z]+/[a-z0-9_]+\.[ch])`", text))
        functions = set(re.findall(r"`([a-z0-9_]+)\(\)`", text))
        for name in sorted(files - by_name.keys()):
            yield f"{MAP}:1: '{name}' of '{title}' does not exist"
        for name in sorted(name for name in functions if not re.search(rf"\b{name}\(", code)):
            yield f"{MAP}:1: the function '{name}' of '{title}' does not exist"
        if len(files) > MOST_FILES_OF_A_WALK:
            yield f"{MAP}:1: '{title}' enters {len(files)} files, more than {MOST_FILES_OF_A_WALK}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    pure = pure_of(root)
    sources = [Source(root, path, pure) for path in sorted(root.rglob("*.[ch]"))]
    faults = [*check_folders(root, sources), *check_table(sources), *check_circles(sources), *check_walks(sources),
              *check_calls(sources)]
    for source in sources:
        if source.folder in MAY_INCLUDE:
            for check in (check_includes(root, source), check_outside(source), check_functions(source)):
                faults += [f"{source.path}:{line}: {sentence}" for line, sentence in check]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
