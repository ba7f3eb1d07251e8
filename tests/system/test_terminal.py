"""What stands on a real terminal's screen (tmux's): not which bytes were sent, but what a person sees of them."""

import os
import pty
import re
import shlex
import subprocess
import time

import pytest

from conftest import BINARY, LIMIT
from test_logs import make_gates

pytestmark = pytest.mark.unsanitized

# A bar of Keras, which is wider than the terminals here.
BAR = r"printf '\r%d/40 [==================>..........] - ETA: 3s - loss: 0.1234' "


class Tmux:
    """A terminal with a server of its own; the programs in it have the environment of a muster."""

    def __init__(self, muster):
        self.socket = muster.folder / "tmux"
        self.muster = muster

    def __call__(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *map(str, arguments)], check=True,
                              cwd=self.muster.folder, env=self.muster.environment, text=True,
                              capture_output=True, timeout=LIMIT).stdout

    def show(self, columns, rows, *arguments):
        """Runs a muster below the row of a prompt on a screen of this size, which stays when it has ended."""
        self("new-session", "-d", "-x", columns, "-y", rows, f"echo '#'; {shlex.join([BINARY, *arguments])}; read wait")

    def rows(self, *options):
        """What is on the screen below the prompt; -S - for what has left it at the top, too."""
        rows = self("capture-pane", "-p", *options).rstrip("\n").split("\n")
        return rows[rows[0] in ("#", ""):]

    def until(self, condition):
        """Waits until the rows of the screen fulfil `condition`; gives them."""
        deadline = time.monotonic() + LIMIT
        while not condition(rows := self.rows()):
            assert time.monotonic() < deadline, "\n".join(rows)
            time.sleep(0.05)
        return rows


@pytest.fixture
def tmux(muster):
    terminal = Tmux(muster)
    yield terminal
    if terminal.socket.exists():
        terminal("kill-server")


def find(rows, pattern):
    return re.findall(pattern, "\n".join(rows), re.MULTILINE)


def until_it_counts_on(tmux, pattern):
    """Waits until the pattern is on the screen, and then until it stands there with another number."""
    first = find(tmux.until(lambda rows: find(rows, pattern)), pattern)
    tmux.until(lambda rows: find(rows, pattern) not in ([], first))


def last_row(text):
    return lambda rows: bool(rows) and rows[-1].endswith(text)


def test_a_bar_is_cut_where_the_terminal_ends_and_is_seen_to_be_cut(muster, tmux):
    (gate, _) = make_gates(muster.folder)
    tmux.show(24, 10, "run", "-w", "1", "--", "sh", "-c", f"echo hello; {BAR} 20; cat {gate}")
    assert tmux.until(lambda rows: len(rows) == 2) == ["worker-0 | hello", "worker-0 | 20/40 [=====…"]
    gate.write_text("")
    assert tmux.until(lambda rows: "succeeded" in "".join(rows))[1:3] == ["worker-0 | 20/40 [======", "============>..........]"]


@pytest.mark.parametrize("columns", [20, 90])
def test_bars_leave_nothing_behind_when_the_terminal_gets_another_width(muster, tmux, columns):
    gates = make_gates(muster.folder)
    tmux.show(50, 10, "run", "-w", "2", "--", "sh", "-c",
              f"echo hello; {BAR} 20; cat {gates[0]}; {BAR} 30; cat {gates[1]}")
    tmux.until(lambda rows: "".join(rows).count("20/40") == 2)
    tmux("resize-window", "-x", columns)
    gates[0].write_text("")
    rows = tmux.until(lambda rows: "".join(rows).count("30/40") == 2)
    bars = [f"worker-{i} | 30/40 [==================>..........] - ETA: 3s - loss: 0.1234" for i in (0, 1)]
    shown = [bar if len(bar) <= columns else bar[:columns - 1] + "…" for bar in bars]
    assert [row for row in rows if not row.endswith("hello")] == shown  # tmux may have scrolled those
    gates[1].write_text("")


def test_bars_that_have_no_room_are_counted(muster, tmux):
    (gate, _) = make_gates(muster.folder)
    tmux.show(60, 6, "run", "-w", "5", "--", "sh", "-c", f"{BAR} 20; cat {gate}")
    rows = tmux.until(lambda rows: find(rows, r"^\(2 more replicas\)$"))
    assert len(find(rows, "20/40")) == 3
    gate.write_text("")


def test_a_job_that_was_put_in_the_background_draws_nothing_over_the_prompt(muster, tmux):
    gates = make_gates(muster.folder)
    script = rf"{BAR} 20; cat {gates[0]}; printf 'a line\n\r30/40 [==]'; cat {gates[1]}"
    tmux("new-session", "-d", "-x", 500, "-y", 20, "bash --norc --noprofile -i")
    tmux("send-keys", shlex.join([BINARY, "run", "--", "sh", "-c", script]), "Enter")
    tmux.until(lambda rows: find(rows, r"^worker-0 \| 20/40"))
    tmux("send-keys", "C-z")
    tmux.until(lambda rows: find(rows, r"^\[1\]\+ +Stopped"))
    tmux("send-keys", "clear; bg", "Enter")
    tmux.until(lambda rows: find(rows, r"^\[1\]\+ .*&$") and not find(rows, "Stopped"))
    gates[0].write_text("")  # read by a process that runs again
    rows = tmux.until(lambda rows: find(rows, "a line$"))
    assert not find(rows, r"\b30/40 ")  # which came with that line
    gates[1].write_text("")
    tmux.until(lambda rows: find(rows, "succeeded"))


def test_what_is_typed_goes_to_one_replica_while_the_job_has_the_terminal(muster, tmux):
    (gate, _) = make_gates(muster.folder)
    asks = f"while printf 'next? ' && read line; do echo got $line; done; echo the end; cat {gate}"
    tmux("new-session", "-d", "-x", 500, "-y", 30, "bash --norc --noprofile -i")
    tmux("send-keys", shlex.join([BINARY, "run", "-w", "2", "--stdin", "worker-1", "--", "sh", "-c",
                                  f"if [ $MUSTER_INDEX = 1 ]; then {asks}; else cat {gate}; fi"]), "Enter")
    tmux.until(last_row("worker-1 | next?"))
    tmux("send-keys", "one", "Enter")
    tmux.until(lambda rows: find(rows, r"^worker-1 \| next\? got one$") and rows[-1] == "worker-1 | next?")
    tmux("send-keys", "C-z")
    tmux.until(lambda rows: find(rows, r"^\[1\]\+ +Stopped"))
    tmux("send-keys", "bg", "Enter")
    tmux.until(lambda rows: find(rows, r"^\[1\]\+ .*&$"))
    tmux("send-keys", "echo for the $((1 + 1))nd shell", "Enter")
    tmux.until(lambda rows: find(rows, "^for the 2nd shell$"))
    tmux("send-keys", "clear; fg", "Enter")
    tmux.until(lambda rows: find(rows, rf"^{re.escape(str(BINARY))} run .*"))
    tmux("send-keys", "three", "Enter")
    tmux.until(lambda rows: find(rows, "got three$"))
    assert find(tmux.rows(), "^worker-1 .* got (.*)$") == ["three"]
    tmux("send-keys", "C-d")
    tmux.until(lambda rows: find(rows, "the end$"))
    tmux("send-keys", "C-c")
    tmux.until(lambda rows: find(rows, "^muster: job .* stopped"))


def test_a_start_that_takes_its_time_is_seen(muster, tmux):
    (gate, _) = make_gates(muster.folder)
    tmux.show(80, 10, "run", "-w", "2", "--", "sh", "-c", f"cat {gate}; echo first; cat {gate}")
    until_it_counts_on(tmux, r"muster: 2 of 2 running, nothing printed yet \((\d+)s\)")
    with open(gate, "w"):
        pass
    tmux.until(lambda rows: sorted(rows) == ["worker-0 | first", "worker-1 | first"])


def test_lines_that_stand_above_the_report_are_not_shown_again(muster, tmux):
    tmux.show(100, 20, "run", "--name", "job", "--", "sh", "-c", "echo 'ValueError: no'; exit 3")
    rows = tmux.until(lambda rows: find(rows, "full log +muster logs"))
    assert rows[0] == "worker-0 | ValueError: no" and find(rows, "error +ValueError: no")
    assert not find(rows, "last output") and "last output" in muster("status", "job", code=0).stdout


def test_lines_with_others_between_them_are_shown_again(muster, tmux):
    (gate, _) = make_gates(muster.folder)
    script = (f"if [ $MUSTER_INDEX = 0 ]; then trap 'echo stops; exit' TERM; echo > {gate}; sleep 1000 & wait; "
              f"else cat {gate}; echo fails; exit 3; fi")
    tmux.show(100, 20, "run", "--name", "job", "-w", "2", "--", "sh", "-c", script)
    rows = tmux.until(lambda rows: find(rows, "full log +muster logs"))
    assert find(rows, r"worker-0 \| stops") and find(rows, r"last output +\| *\n +\| fails")


def test_the_times_of_a_watched_status_go_on(muster, tmux):
    name = muster.detach("-w", "2", "--", "sleep", "1000")
    tmux.show(90, 40, "status", "-w", name)
    until_it_counts_on(tmux, r"Started: .*\((\d+)s ago\)")
    muster("stop", "--grace", "0", name, code=0)
    rows = tmux.until(lambda rows: "Failure:" in rows)
    assert rows[0] == f"Name:       {name}" and rows[-1] == "the job was stopped"


def test_a_watched_status_is_cut_to_the_rows_that_there_are_until_the_end(muster, tmux):
    name = muster.detach("-w", "20", "--", "sleep", "1000")
    tmux.show(90, 12, "status", "-w", name)
    rows = tmux.until(last_row("..."))
    assert rows[0] == f"Name:       {name}" and len(rows) == 11
    muster("stop", "--grace", "0", name, code=0)
    tmux.until(last_row("the job was stopped"))
    everything = "\n".join(tmux.rows("-S", "-"))
    assert "worker-19" in everything and everything.count("Name:") == 1


def until_shown(terminal, wanted, shown=b""):
    """Reads a terminal until it shows this; what it was told until then."""
    while wanted not in shown:
        shown += os.read(terminal, 65536)
        assert len(shown) < 10_000, "it draws the same again and again"
    return shown


def test_a_terminal_of_another_user_shows_the_same(muster):
    """As after `su - somebody`: it cannot be opened again. Without a user of this name space nobody has rights over it."""
    (gate, _) = make_gates(muster.folder)
    ours, terminal = pty.openpty()
    os.fchmod(terminal, 0)
    command = ["unshare", "--user", BINARY, "run", "-w", "1", "--", "sh", "-c", f"cat {gate}; echo hello"]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=muster.folder,
                          env={**muster.environment, "TERM": "xterm"}) as run:
        os.close(terminal)
        try:
            shown = until_shown(ours, b"nothing printed yet (2s)")
            gate.write_text("")
            assert b"hello\r\n" in until_shown(ours, b"succeeded", shown)
            assert run.wait(LIMIT) == 0
        finally:
            run.kill()
            os.close(ours)
