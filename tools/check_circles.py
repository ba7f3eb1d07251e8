#!/usr/bin/env python3
"""Circles of calls: check_circles.py LIBRARY...

A file of src/ that calls another, which calls the first, can be read by nobody alone, whatever its headers say. Who calls
whom is taken from the symbols of the object files.
"""

import collections
import re
import subprocess
import sys


def calls_of(libraries):
    """{file: {the files that define what it lacks}}"""
    defined, lacks = {}, collections.defaultdict(set)
    for library in libraries:
        table = subprocess.run(["nm", "-A", "--format=posix", library], capture_output=True, text=True, check=True).stdout
        for member, symbol, kind in re.findall(r"\[(.*?)\]: (\S+) (\w)", table):
            if kind == "U":
                lacks[member].add(symbol)
            elif kind.isupper():
                defined[symbol] = member
    return {member: {defined[symbol] for symbol in symbols if symbol in defined} - {member}
            for member, symbols in lacks.items()}


def circles_of(graph):
    """Sets of files of which each reaches each other (Tarjan)."""
    order, lowest, stack, circles = {}, {}, [], []

    def visit(node):
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                circles.append(circle)

    for node in graph:
        if node not in order:
            visit(node)
    return circles


def name_of(member):
    """"kube/job_pod" of ".../kube_job_pod.c.o", as meson calls the object of src/kube/job_pod.c."""
    return re.sub(r"^(?:.*/)?(?:src_)?([a-z]+)_(.*)\.c\.o$", r"\1/\2", member)


def main(libraries):
    found = {" ".join(sorted(name_of(member) for member in circle)) for circle in circles_of(calls_of(libraries))}
    for circle in sorted(found):
        print(f"check_circles: these files call each other in a circle: {circle}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
