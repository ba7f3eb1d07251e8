"""Golden files of rendered objects. An object stands there as it differs from the one before it that is most like it."""

import difflib
import os

from conftest import ROOT

FOLDER = ROOT / "tests" / "golden" / "kubernetes"
FEWEST = 3  # lines that are the same in a row, for which their number is enough


def difference(matcher):
    before, lines = matcher.a, matcher.b
    for tag, old_begin, old_end, begin, end in matcher.get_opcodes():
        if tag == "equal" and end - begin >= FEWEST:
            yield f"# {end - begin} lines as before"
        elif tag == "delete":
            yield from (f"# without {line}" for line in before[old_begin:old_end])
        else:
            yield from lines[begin:end]


def differences(text, before=""):
    """The documents of a text; they may also be like those of the text before."""
    known = {}
    told = []
    for number, document in enumerate([*before.split("---\n"), *text.split("---\n")]):
        lines = document.splitlines()
        kind = next((line for line in lines if line.startswith("kind: ")), "")
        alike = known.setdefault(kind, [])
        if number > before.count("---\n"):
            matchers = [difflib.SequenceMatcher(None, one, lines, autojunk=False) for one in [[], *alike]]
            best = max(matchers, key=difflib.SequenceMatcher.ratio)
            told.append("\n".join(difference(best)) + "\n")
        alike.append(lines)
    return "---\n".join(told)


def compare(name, text, before=""):
    golden = FOLDER / f"{name}.yaml"
    told = differences(text, before)
    if os.environ.get("MUSTER_WRITE_GOLDEN"):
        golden.write_text(told)
    assert told == golden.read_text()
