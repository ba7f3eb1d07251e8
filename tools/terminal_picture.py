#!/usr/bin/python3
"""Types commands into a real terminal (tmux) and makes an SVG of what it shows afterwards.

    terminal_picture.py [--columns N] [--rows N] OUT.svg COMMAND…

Each command is typed at a prompt when the one before it has ended. Needs tmux.
"""

import argparse
import html
import os
import re
import shutil
import subprocess
import tempfile

COLORS = ["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9",
          "#7f8aa0", "#ff7b86", "#b5e08f", "#ffd68a", "#82c4ff", "#dd9bf0", "#79d7e0", "#ffffff"]
FOREGROUND, BACKGROUND = "#d8dee9", "#1e222a"
CHARACTER, LINE, MARGIN = 8.4, 18, 16
ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def capture(columns, rows, commands):
    """The lines of the terminal after the commands, with their colour codes."""
    folder = tempfile.mkdtemp()
    tmux = ["tmux", "-S", os.path.join(folder, "socket"), "-f", "/dev/null"]
    # The prompt tells when a command has ended; nothing of that is seen.
    environment = {**os.environ, "PS1": r"\[\e[1m\]$\[\e[0m\] ",
                   "PROMPT_COMMAND": " ".join(tmux) + " wait-for -S prompt"}
    try:
        subprocess.run([*tmux, "new-session", "-d", "-x", str(columns), "-y", str(rows),
                        "bash", "--norc", "--noprofile"], env=environment, check=True)
        subprocess.run([*tmux, "wait-for", "prompt"], check=True)
        for command in commands:
            subprocess.run([*tmux, "send-keys", command, "Enter"], check=True)
            subprocess.run([*tmux, "wait-for", "prompt"], check=True)
        shown = subprocess.run([*tmux, "capture-pane", "-e", "-p"], check=True,
                               capture_output=True, text=True).stdout
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
        shutil.rmtree(folder)
    return shown.rstrip().splitlines()


class Style:
    """The state that colour codes change."""

    def __init__(self):
        self.color, self.is_bold, self.is_dim = None, False, False

    def apply(self, codes):
        numbers = [int(code or 0) for code in codes.split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.__init__()
            elif number == 1:
                self.is_bold = True
            elif number == 2:
                self.is_dim = True
            elif number == 39:
                self.color = None
            elif 30 <= number <= 37:
                self.color = COLORS[number - 30]
            elif 90 <= number <= 97:
                self.color = COLORS[number - 90 + 8]
            elif number == 38 and numbers[:1] == [5]:
                self.color = COLORS[numbers[1] % 16]
                del numbers[:2]

    def attributes(self):
        said = f' fill="{self.color}"' if self.color else ""
        said += ' font-weight="bold"' if self.is_bold else ""
        return said + (' opacity="0.65"' if self.is_dim else "")


def render_line(line, row, style):
    column, parts = 0, []
    for index, piece in enumerate(ESCAPE.split(line)):
        if index % 2:
            style.apply(piece)
        elif piece:
            x = MARGIN + column * CHARACTER
            parts.append(f'<text x="{x:.1f}" y="{MARGIN + LINE * (row + 0.75):.1f}" '
                         f'textLength="{len(piece) * CHARACTER:.1f}"{style.attributes()}>'
                         f"{html.escape(piece)}</text>")
            column += len(piece)
    return "".join(parts)


def render(lines, columns):
    style = Style()
    width, height = 2 * MARGIN + columns * CHARACTER, 2 * MARGIN + len(lines) * LINE
    body = "\n".join(render_line(line, row, style) for row, line in enumerate(lines))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'font-family="ui-monospace, Menlo, DejaVu Sans Mono, monospace" font-size="14" '
            f'fill="{FOREGROUND}" xml:space="preserve">\n'
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>\n{body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("picture")
    parser.add_argument("commands", nargs="+")
    arguments = parser.parse_args()
    lines = capture(arguments.columns, arguments.rows, arguments.commands)
    with open(arguments.picture, "w", encoding="utf-8") as picture:
        picture.write(render(lines, arguments.columns))


if __name__ == "__main__":
    main()
