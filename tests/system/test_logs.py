"""What people see of a job: lines, progress bars, followed logs, slow readers, long lines, noise.

Terminals are pseudo terminals that the test reads.
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import BINARY, LIMIT, conditions, read_until, replicas
from processes import parent_of


def sh(script):
    return "--", "sh", "-c", script


def log_of(muster, name, replica="worker-0", attempt=0):
    for entry in replicas(muster.job(name)):
        if f"{entry['role']}-{entry['index']}" == replica:
            folder = os.path.dirname(entry["log"])
            return os.path.join(folder, f"{replica}.{attempt}.log")
    raise AssertionError(f"no {replica}")


def make_gates(folder):
    """Two named pipes that a worker waits at, one after the other. One for both would be open for the second wait
    already while its first writer closes it."""
    gates = [folder / "gate-0", folder / "gate-1"]
    for gate in gates:
        os.mkfifo(gate)
    return gates


class Terminal:
    """A pseudo terminal, and a muster on it."""

    def __init__(self, muster, *arguments, env=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        environment = {**muster.environment, "TERM": "xterm", "NO_COLOR": "", **(env or {})}
        self.process = subprocess.Popen([BINARY, *arguments], env=environment, stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True)
        muster.started.append(self.process)
        os.close(slave)
        self.shown = ""

    def until(self, wanted):
        """Reads until the pattern is shown; gives what was shown from there on to the next call."""
        deadline = time.monotonic() + LIMIT
        while not (found := re.search(wanted, self.shown)):
            assert time.monotonic() < deadline, self.shown
            try:
                self.shown += os.read(self.master, 65536).decode(errors="replace")
            except OSError:
                assert re.search(wanted, self.shown), self.shown
        self.shown = self.shown[found.end():]
        return found

    def rest(self):
        try:
            while data := os.read(self.master, 65536):
                self.shown += data.decode(errors="replace")
        except OSError:
            pass
        return self.shown


def test_lines_of_all_replicas_have_aligned_names(muster):
    done = muster("run", "-w", "11", *sh('echo "I am $WORKER_NUMBER"'), code=0)
    assert sorted(done.stdout.splitlines()) == sorted(f"worker-{i:<2} | I am {i}" for i in range(11))
    assert re.fullmatch(r"muster: job \S+ succeeded: 11 workers in \S+\n", done.stderr)


def test_output_is_kept_byte_for_byte_and_shown_line_by_line(muster):
    muster("run", "-q", "-w", "1", "--name", "noise", *sh(r"printf 'a\000b\377\r\n10%%\r20%%\r\nno end'"), code=0)
    with open(log_of(muster, "noise"), "rb") as log:
        assert log.read() == b"a\0b\xff\r\n10%\r20%\r\nno end"
    shown = subprocess.run([BINARY, "logs", "noise"], env=muster.environment, capture_output=True, timeout=LIMIT)
    assert shown.stdout == b"worker-0 | a\0b\xff\nworker-0 | 20%\nworker-0 | no end\n"


def test_a_worker_that_closes_its_output_goes_on(muster):
    done = muster("run", "-w", "2", *sh("echo before; exec >&- 2>&-; [ $WORKER_NUMBER = 1 ] || { : >ready; exit 0; }; "
                                        "until [ -e ready ]; do sleep 0.1; done; exit 5"), code=5)
    assert done.stdout.count("| before") == 2


def test_a_very_long_line_is_kept_whole_and_shown_in_pieces(muster):
    size = 200_000_000
    muster("run", "-q", "-w", "1", "--name", "long", *sh(f"head -c {size} /dev/zero; echo; echo after"), code=0)
    assert os.path.getsize(log_of(muster, "long")) == size + len("\nafter\n")
    assert muster("logs", "--tail", "1", "long", code=0).stdout == "worker-0 | after\n"
    logs = muster.start("logs", "long", text=False)
    first, *further, last = (line.rstrip(b"\n") for line in logs.stdout)
    assert first.startswith(b"worker-0 | \0") and last == b"worker-0 | after"
    assert all(line.startswith(b"worker-0 + \0") for line in further)
    assert sum(len(line) - len("worker-0 | ") for line in [first, *further]) == size


def test_filters_choose_lines(muster):
    muster("run", "-w", "3", "--max-restarts", "1", "--name", "job",
           *sh("echo one; echo two $MUSTER_ATTEMPT; echo three; : >there-$WORKER_NUMBER-$MUSTER_ATTEMPT; "
               "[ $WORKER_NUMBER = 1 ] || exec sleep 1000; for other in 0 2; do "
               "until [ -e there-$other-$MUSTER_ATTEMPT ]; do sleep 0.1; done; done; exit 1"), code=1)
    assert muster("logs", "--index", "1", "--attempt", "0", "--no-prefix", "job", code=0).stdout == "one\ntwo 0\nthree\n"
    assert muster("logs", "--tail", "2", "--role", "worker", "--index", "2", "job", code=0).stdout == (
        "worker-2 | two 1\nworker-2 | three\n")
    assert muster("logs", "--previous", "--index", "0", "--grep", "^t.o", "job", code=0).stdout == "worker-0 | two 0\n"
    assert muster("logs", "--since", "1h", "--grep", "one", "job", code=0).stdout.count("one") == 6
    assert muster("logs", "--since", "2000-01-01T00:00:00Z", "--tail", "0", "job", code=0).stdout == ""
    stamped = muster("logs", "--timestamps", "--index", "0", "--tail", "1", "job", code=0).stdout
    assert re.fullmatch(r"worker-0 \| \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z three\n", stamped)


def test_what_is_not_there_is_said(muster):
    muster("run", "-w", "2", "--name", "job", *sh("echo line"), code=0)
    for options, sentence in [
        (["--index", "7"], "job 'job' has no log of any role-7: it has worker-0..1"),
        (["--role", "ps"], "job 'job' has no log of ps: it has worker-0..1"),
        (["--attempt", "3", "--role", "worker", "--index", "0"], "no log of attempt 3 of worker-0"),
        (["--previous"], "none of these replicas was started more than once"),
        (["--grep", "nothing like it"], "no line matches 'nothing like it'"),
    ]:
        done = muster("logs", *options, "job", code=1)
        assert sentence in done.stderr and done.stdout == ""
    assert "1: write a replica as ROLE-INDEX (worker-0), or use --index 1" in muster("logs", "job", "1", code=2).stderr
    assert "worker: write a replica as ROLE-INDEX (worker-0), or use --role worker" in muster("logs", "job", "worker", code=2).stderr
    assert "not a regular expression" in muster("logs", "--grep", "(", "job", code=2).stderr
    assert "would make the search too slow" in muster("logs", "--grep", "(a{1,255}){1,255}b", "job", code=2).stderr
    assert "not a duration (10m) or a time" in muster("logs", "--since", "yesterday", "job", code=2).stderr


def test_no_expression_takes_for_ever_or_all_memory(muster):
    """Lines that make a state for each of their bytes, of machines that remember every state, and go back and forth
    for ever, of those that try each way."""
    muster("run", "--name", "job", "--", "python3", "-c",
           "import random; random.seed(1); print(''.join(random.choices('ab', k=60000))); print('a' * 60000)", code=0)
    for expression in ("[ab]*a[ab]{100}c", "(a|b)*a(a|b){60}c", "((((a*)*)*)*)*c", "(a|aa)+c", "(a?){60}a{60}c"):
        done = muster("logs", "--grep", expression, "job", code=1)
        assert "no line matches" in done.stderr
    done = muster("logs", "--grep", "[ab]*a[ab]{100}$", "--tail", "1", "--prefix=false", "job", code=0)
    assert set("".join(done.stdout.split())) == {"a"}


def test_follow_goes_across_restarts_and_ends_with_the_job(muster, tmp_path):
    gates = make_gates(tmp_path)
    name = muster.detach("-w", "1", "--max-restarts", "1",
                         *sh(f"echo attempt $MUSTER_ATTEMPT; read go <{tmp_path}/gate-$MUSTER_ATTEMPT; exit $go"))
    follow = muster.start("logs", "-f", name, stderr=subprocess.STDOUT)
    read_until(follow.stdout, "worker-0 | attempt 0")
    gates[0].write_text("3\n")
    lines = read_until(follow.stdout, "worker-0 | attempt 1")
    assert "muster: worker-0 starts attempt 1\n" in lines
    gates[1].write_text("0\n")
    assert follow.stdout.read() == ""
    assert follow.wait(LIMIT) == 0


def test_follow_ends_when_the_supervisor_is_killed(muster):
    name = muster.detach("-w", "1", *sh("echo started; exec sleep 1000"))
    follow = muster.start("logs", "-f", name)
    read_until(follow.stdout, "started")
    os.kill(parent_of(replicas(muster.job(name))[0]["pid"]), signal.SIGKILL)
    assert follow.wait(LIMIT) == 0


def test_follow_stops_when_nobody_reads(muster):
    name = muster.detach("-w", "1", *sh("echo started; exec sleep 1000"))
    follow = muster.start("logs", "-f", name)
    read_until(follow.stdout, "started")
    follow.stdout.close()
    assert follow.wait(LIMIT) == 0


def test_a_reader_that_does_not_read_holds_nobody_up(muster, tmp_path):
    done = tmp_path / "done"
    process = muster.start("run", "-w", "2", "--name", "job",
                           *sh(f"yes 'a line of output' | head -100000; echo >{done}-$WORKER_NUMBER"))
    output = "".join(read_until(process.stdout, "a line of output"))
    muster.until("job", lambda job: all(r["state"] == "Succeeded" for r in replicas(job)))
    assert os.path.exists(f"{done}-0") and os.path.exists(f"{done}-1")
    assert process.poll() is None  # it waits for its reader, as every program does
    output += process.stdout.read()
    assert output.count("worker-0 | a line of output\n") == 100000
    assert output.count("worker-1 | a line of output\n") == 100000
    assert process.wait(LIMIT) == 0


def test_a_reader_that_never_reads_again_is_left_by_an_interrupt(muster):
    process = muster.start("run", "-w", "1", "--name", "job", *sh("yes | head -1000000"))
    read_until(process.stdout, "y")
    muster("wait", "job", code=0)
    process.terminate()
    assert process.wait(LIMIT) == 0


def test_such_a_reader_is_also_left_by_an_interrupt_before_the_last_replica_has_ended(muster, tmp_path):
    """The job has ended with its worker; its parameter server is still being stopped."""
    process = muster.start("run", "-w", "1", "--ps", "1", "--name", "job", *sh(
        f"cd {tmp_path}; case $MUSTER_ROLE in ps) trap 'until [ -e go ]; do sleep 0.01; done; exit' TERM; touch ready; while :; do sleep 0.01; done;; esac; "
        "until [ -e ready ]; do sleep 0.01; done; yes | head -1000000"))
    read_until(process.stdout, "y")
    muster.until("job", lambda job: "Succeeded" in conditions(job))
    process.terminate()
    (tmp_path / "go").touch()
    assert process.wait(LIMIT) == 0


def test_a_reader_that_leaves_does_not_end_the_job(muster, tmp_path):
    os.mkfifo(tmp_path / "gate")
    process = muster.start("run", "-w", "1", "--name", "job",
                           *sh(f"echo one; read go <{tmp_path}/gate; yes | head -100000"))
    read_until(process.stdout, "one")
    process.stdout.close()
    (tmp_path / "gate").write_text("go\n")
    assert process.wait(LIMIT) == 0
    assert "succeeded" in process.stderr.read()


def test_a_bar_is_one_row_that_is_drawn_in_place(muster, tmp_path):
    gates = make_gates(tmp_path)
    terminal = Terminal(muster, "run", "-w", "1",
                        *sh(fr"printf 'epoch 1\n 10%%\r 20%%\r'; read go <{gates[0]}; printf ' 30%%\r'; "
                            fr"read go <{gates[1]}; printf '100%%\n\033[2Jdone\n'"))
    terminal.until(r"worker-0 \|\S* epoch 1\r\n")
    terminal.until(r"worker-0 \|\S*  20%")
    gates[0].write_text("\n")
    terminal.until(r"\r\x1b\[J[^\n]*worker-0 \|\S*  30%")
    gates[1].write_text("\n")
    terminal.until(r"\r\x1b\[J[^\n]*worker-0 \|\S* 100%\r\n")
    terminal.until(r"worker-0 \|\S* done\r\n")
    assert re.search(r"muster: job \S+ succeeded: 1 worker in", terminal.rest())
    assert terminal.process.wait(LIMIT) == 0


# Frames of two rows, as rich draws them: a first one, then gates, then one with a line above it, then the last.
FRAMES = (r"up='\r\033[2K\033[1A\033[2K'; printf '\033[?25lone 10%%\ntwo 10%%'; read go <{0}; "
          r"printf ${{up}}'said\none 20%%\ntwo 20%%'; read go <{1}; printf ${{up}}'one 90%%\ntwo 90%%\n\033[?25hdone\n'")


def test_rows_that_are_drawn_again_are_rows_at_the_bottom(muster, tmp_path):
    gates = make_gates(tmp_path)
    terminal = Terminal(muster, "run", "-w", "1", "--name", "job", *sh(FRAMES.format(*gates)))
    terminal.until(r"worker-0 \|\S* one 10%\r\n\S*worker-0 \|\S* two 10%")
    gates[0].write_text("\n")
    terminal.until(r"worker-0 \|\S* said\r\n\S*worker-0 \|\S* one 20%\r\n\S*worker-0 \|\S* two 20%")
    gates[1].write_text("\n")
    terminal.until(r"worker-0 \|\S* one 90%\r\n\S*worker-0 \|\S* two 90%\r\n\S*worker-0 \|\S* done\r\n")
    assert terminal.process.wait(LIMIT) == 0
    lines = ["said", "one 90%", "two 90%", "done"]
    for n in range(1, 5):
        tail = muster("logs", "--no-prefix", "--tail", str(n), "job", code=0).stdout.splitlines()
        assert tail == lines[-n:]
    assert muster("logs", "--no-prefix", "job", code=0).stdout.splitlines() == lines


def test_a_process_may_have_a_terminal_as_wide_as_ours_beside_its_name(muster):
    terminal = Terminal(muster, "run", "--tty", "-w", "1", "--name", "job", *sh(
        'test -t 1 && test -t 2 && stty size <&1; while [ "$(stty size <&2)" = "24 89" ]; do sleep 0.01; done; '
        'stty size <&1; echo "$COLUMNS."'))
    terminal.until(r"worker-0 \|\S* 24 89\r\n")
    termios.tcsetwinsize(terminal.master, (30, 50))
    terminal.process.send_signal(signal.SIGWINCH)
    terminal.until(r"worker-0 \|\S* 30 39\r\n\S*worker-0 \|\S* \.\r\n")
    assert terminal.process.wait(LIMIT) == 0
    with open(log_of(muster, "job"), "rb") as log:
        assert log.read() == b"24 89\n30 39\n.\n"


def test_terminals_lose_nothing_and_need_no_terminal_of_ours(muster):
    done = muster("run", "--tty", "-w", "2", *sh("stty size <&1; seq 100000; echo end >&2"), code=0)
    lines = ["24 69", *map(str, range(1, 100001)), "end"]
    for index in range(2):
        assert [line.split(" | ", 1)[1] for line in done.stdout.splitlines() if line.startswith(f"worker-{index}")] == lines
    assert "a terminal has both streams" in muster("run", "--tty", "--separate-stderr", "--", "true", code=2).stderr
    assert "--tty: not available with --on kubernetes" in muster("run", "--on", "kubernetes", "--tty", "--", "true", code=2).stderr


def test_a_program_is_told_that_its_rows_appear_on_a_terminal(muster):
    seen = sh('echo "<$TTY_COMPATIBLE $COLUMNS>"')
    for env, options, expected in [
        ({}, [], f"1 {100 - len('worker-0 | ')}"),
        ({}, ["--no-prefix"], "1 100"),
        ({"TTY_COMPATIBLE": "0", "COLUMNS": "33"}, [], "0 33"),
        ({"TERM": "dumb"}, [], " "),
        ({"JPY_PARENT_PID": "7"}, [], " "),
    ]:
        terminal = Terminal(muster, "run", "-w", "1", *options, *seen, env=env)
        assert re.search(f"<{expected}>", terminal.rest())
        assert terminal.process.wait(LIMIT) == 0
    assert "< >" in muster("run", "-w", "1", *seen, code=0).stdout


def test_names_have_colours_on_a_terminal_only_when_they_are_wanted(muster):
    for env, options, is_colored in [
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({}, ["--color", "never"], False),
    ]:
        terminal = Terminal(muster, "run", *options, "-w", "1", *sh("echo line"), env=env)
        shown = terminal.rest()
        assert bool(re.search(r"\x1b\[\d+mworker-0 \|\x1b\[0m line", shown)) == is_colored, shown
        assert ("worker-0 | line" in shown) != is_colored
        assert terminal.process.wait(LIMIT) == 0
    assert "\x1b[" in muster("run", "--color", "always", "-w", "1", *sh("echo line"), code=0).stdout


def test_many_lines_are_complete_and_in_order(muster):
    count = 20000
    shown = muster("run", "-w", "4", *sh(f"seq 1 {count}"), code=0).stdout.splitlines()
    expected = [str(i) for i in range(1, count + 1)]
    for index in range(4):
        assert [line[11:] for line in shown if line.startswith(f"worker-{index} | ")] == expected
    assert len(shown) == 4 * count


@pytest.mark.parametrize("script, because", [
    ("raise ExceptionGroup('several', [ValueError('no'), KeyError('x')])", "ValueError: no"),
    ("import argparse; parser = argparse.ArgumentParser(prog='train.py'); parser.add_argument('--data', required=True); "
     "parser.parse_args()", "train.py: error: the following arguments are required: --data"),
    ("import traceback\n"  # as torch does once there is a process group
     "try: int('x')\n"
     "except ValueError: print(*(f'[rank0]: {line}' for line in traceback.format_exc().splitlines()), sep='\\n')\n"
     "raise SystemExit(1)", "ValueError: invalid literal for int() with base 10: 'x'"),
    ("print('\\x1b[1;35mValueError\\x1b[0m: no'); raise SystemExit(1)", "ValueError: no"),
], ids=["group", "argparse", "ranks", "colors"])
def test_why_a_program_failed_is_found_in_what_it_printed(muster, script, because):
    done = muster("run", "--", "python3", "-c", script)
    assert f"  error         {because}\n" in done.stderr


def test_a_traceback_is_named_in_one_line(muster):
    done = muster("run", "-w", "2", "--name", "job", "--", "python3", "-c",
                  "import os\nif os.environ['WORKER_NUMBER'] == '1': raise ValueError('shapes do not match')\n"
                  "import time; time.sleep(60)", code=1)
    assert re.search(r"^muster: job job failed after \S+: worker-1 exited with code 1 after \S+ \(attempt 0\)$",
                     done.stderr, re.MULTILINE)
    assert "  error         ValueError: shapes do not match\n" in done.stderr
    assert "  consequences  worker-0 was stopped by muster\n" in done.stderr
    assert "  full log      muster logs job --role worker --index 1 --attempt 0\n" in done.stderr
