#!/usr/bin/python3
"""Checks that what may reach a terminal, a shell or a folder is made in known places, and programs are searched in one.

    check_words.py [src [tools/allowed_words.txt]]

Four kinds of places are known by their looks:

- stream: a call that writes to a stream or a descriptor, and each mention of stdout or stderr, which may be handed on.
  What a command says goes through command/output.h instead, which leaves control characters out.
- command: a text with `muster COMMAND`, `kubectl` or the like and a %s in it, or that ends there. Words of outside are
  added by base/names.h, or were checked where they were read.
- path: a text with "/%s" and no blank in it. A name of outside is checked before it names a file.
- program: a call that searches a program in PATH, or starts a shell. For these calls, an empty element of PATH is the current
  folder; io/child.h skips it.

Each is on the list, with how many of them the function has and why they are safe:

    KIND FILE:FUNCTION COUNT REASON

FILE:FUNCTION may be a shell pattern. What is not on the list is a fault, and so is a row that counts more or fewer than
there are. Prints one line for each, and ends with 1 when there is any.
"""

import collections
import pathlib
import re
import sys
from fnmatch import fnmatchcase

TEXT = r'"(?:\\.|[^"\\\n])*"'
TEXTS = re.compile(rf"{TEXT}(?:\s*(?:[A-Za-z_]\w*\s*)?{TEXT})*")  # as the compiler joins them: "a " MACRO "b"
NO_CODE = re.compile(rf"(?P<text>{TEXT})|/\*.*?\*/|//[^\n]*|#[ \t]*include[^\n]*|'(?:\\.|[^'\\])+'", re.DOTALL)
TITLE = re.compile(r"\w.*?(\w+)\(")

STREAM = re.compile(r"\b(?:v?printf|puts|putchar|perror|psignal)(?=\()|\b(?:v?dprintf|writev?|file_write_all)\([12],"
                    r"|\b(?:stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b")
QUESTION = re.compile(r"\b(?:isatty|terminal_\w+|time_zone_offset_on)\($")  # what is asked of a stream writes nothing
PROGRAM = re.compile(r"\b(?:execvpe?|execlp|posix_spawnp|system|popen)(?=\()")
VALUE = r"%[-0-9]*(?:\.\*)?s"
PATH = re.compile(rf"/{VALUE}")
# Up to where the command's quotes or its sentence end.
COMMAND = r"\b(?:muster (?:{}|%s)(?=[ '%]|$)|kubectl\b|pip install\b|(?:kill|chmod|chown|rm) -|(?:curl|tee|iconv|ssh|scp|mv|cp|mkdir) [-/%'$]|echo ['%])[^'`);\n]*"

ROW = re.compile(r"(stream|command|path|program) +(\S+:\S+) +(\d+) +\S")

Hit = collections.namedtuple("Hit", "kind place where what")


class Row:
    """One of the list."""

    def __init__(self, match, where):
        self.kind, self.place, self.count, self.where, self.hits = match[1], match[2], int(match[3]), where, []


def without(match):
    """As much room, and nothing in it."""
    return re.sub(r"[^\n]", " ", match.group())


def functions_of(lines):
    """The function that each line is of; relies on the house form: its braces stand in the first column."""
    title = name = "-"
    for line in lines:
        if line == "{":
            name = title
        elif TITLE.match(line):
            title = TITLE.match(line).group(1)
        yield name
        if line.startswith("}"):
            name = "-"


def find(code, command):
    """(kind, position, what was found)"""
    bare = TEXTS.sub(without, code)
    for match in STREAM.finditer(bare):
        if not QUESTION.search(bare, 0, match.start()):
            yield "stream", match.start(), match.group()
    for match in PROGRAM.finditer(bare):
        yield "program", match.start(), match.group()
    for match in TEXTS.finditer(code):
        text = "".join(part[1:-1] if part[0] == '"' else "?" for part in re.findall(rf"{TEXT}|\w+", match.group()))
        text = text.replace("\\n", "\n")
        if any(re.search(VALUE, shown.group()) or (shown.end() == len(text) and text[-1] == " ") for shown in command.finditer(text)):
            yield "command", match.start(), text.strip()
        if PATH.search(text) and "://" not in text and not re.search(r"\s", text.strip()):
            yield "path", match.start(), text.strip()


def hits_of(root):
    commands = "|".join(path.stem.removeprefix("cmd_").replace("_", "-") for path in sorted(root.glob("cli/cmd_*.c")))
    for path in sorted(root.rglob("*.[ch]")):
        code = NO_CODE.sub(lambda match: match["text"] or without(match), path.read_text(encoding="utf-8"))
        functions = list(functions_of(code.split("\n")))
        for kind, position, what in find(code, re.compile(COMMAND.format(commands))):
            line = code.count("\n", 0, position)
            yield Hit(kind, f"{path.relative_to(root)}:{functions[line]}", f"{path}:{line + 1}", what)


def faults_of(hits, rows):
    for hit in hits:
        row = next((row for row in rows if row.kind == hit.kind and fnmatchcase(hit.place, row.place)), None)
        if row:
            row.hits.append(hit)
        else:
            yield f"{hit.where}: {hit.kind} '{hit.what}' of {hit.place} is not on the list"
    for row in rows:
        if len(row.hits) != row.count:
            yield (f"{row.where}: {row.kind} {row.place}: {row.count} are allowed, and there are {len(row.hits)}"
                   + "".join(f"\n  {hit.where}: {hit.what}" for hit in row.hits))


def read_list(path):
    """Its rows, and a fault for each line that is none."""
    rows, faults = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = ROW.match(line)
        if match:
            rows.append(Row(match, f"{path}:{number}"))
        elif line and line[0] != "#":
            faults.append(f"{path}:{number}: write KIND FILE:FUNCTION COUNT REASON")
    return rows, faults


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src")
    allowed = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "tools/allowed_words.txt")
    rows, faults = read_list(allowed)
    faults = faults or list(faults_of(hits_of(root), rows))
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
