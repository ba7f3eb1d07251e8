"""Tab in the real shells: bash, zsh and fish complete command lines of muster as muster itself says."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import termios

import pytest

from conftest import BINARY, LIMIT

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
# Shows the command line as the shell has completed it, and asks the program itself for the rest.
SHOW = {
    "bash": 'muster() { if [ "$1" = completion ]; then command muster "$@"; else echo "RAN<$*>"; fi; }\n',
    "zsh": 'muster() { if [ "$1" = completion ]; then command muster "$@"; else print -r -- "RAN<$*>"; fi; }\n',
    "fish": 'function muster; if test "$argv[1]" = completion; command muster $argv; else; echo "RAN<$argv>"; end; end\n',
}
SOURCE = {
    "bash": "source <(muster completion bash)\n",
    "zsh": "autoload -U compinit; compinit -u -D; source <(muster completion zsh)\n",
    "fish": "muster completion fish | source\n",
}


@pytest.fixture
def jobs(muster):
    """Two jobs that have ended and one that runs; `muster` is in PATH."""
    folder = muster.folder / "bin"
    folder.mkdir()
    (folder / "muster").symlink_to(BINARY)
    muster.environment["PATH"] = f"{folder}:{muster.environment['PATH']}"
    muster("run", "-q", "--name", "first", "-w", 2, "--", "true", code=0)
    muster("run", "-q", "--name", "second", "--", "true", code=0)
    muster.until_running(muster.detach("--name", "third", "-w", 2, "--ps", 1, "--", "sleep", "1000"), 3)
    (muster.folder / "training_script.py").touch()
    return muster


def words(muster, *line):
    """Each word that fits, with its meaning."""
    lines = muster("completion", "words", *line, code=0).stdout.splitlines()
    return dict((line.split("\t") + [""])[:2] for line in lines)


def test_commands_and_options_come_out_of_the_tables(muster):
    commands = re.findall(r"^  ([\w-]+) {2,}\S", muster("help", code=0).stdout, re.MULTILINE)
    assert list(words(muster, "")) == commands
    assert words(muster, "statu") == {"status": "show a job's state, its replicas, and why it failed"}
    for command in commands:
        shown = re.findall(r"^  (?:-\w, |    )--([\w-]+)", muster("help", command, code=0).stdout, re.MULTILINE)
        offered = {re.sub("^--(no-)?", "", word) for word in words(muster, command, "--")}
        assert {name.removeprefix("no-") for name in shown} == offered, command


@pytest.mark.parametrize("line, expected", [
    (["run", "--on", ""], ["local", "kubernetes"]),
    (["run", "--on=k"], ["--on=kubernetes"]),
    (["status", "-o", ""], ["json", "yaml", "wide", "name"]),
    (["ps", "-ao", "w"], ["wide"]),
    (["logs", "--tail", ""], ["all"]),
    (["help", "resu"], ["resume"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["check", ""], ["local", "remote"]),
    (["compat", "tf"], ["tf-spawner"]),
    (["compat", "tf-spawner", "--del"], ["--delete"]),
    (["run", ""], [":files"]), (["run", "-f", ""], [":files"]), (["run", "--", "ls", "-"], [":files"]),
    (["run", "train.py", "--on", ""], [":files"]),
    (["nothing", ""], []), (["version", ""], []), (["run", "--name", ""], []),
    (["logs", "first", ""], ["worker-0", "worker-1", "third", "second"]),
    (["logs", "first", "worker-0", "w"], ["worker-1"]),
    (["status", ""], ["third", "second", "first"]), (["status", "s"], ["second"]), (["status", "third", "t"], []),
    (["stop", ""], ["third"]), (["wait", ""], ["third"]), (["delete", "second", ""], ["third", "first"]),
    (["scale", "third", ""], ["ps=", "worker="]),
    (["exec", "third", "p"], ["ps-0"]), (["port-forward", "third", "worker-"], ["worker-0", "worker-1"]),
    (["cp", "t"], ["third:", ":files"]),
    (["logs", "--role", ""], []),
    (["logs", "third", "--role", ""], ["ps", "worker"]),
])
def test_what_may_stand_at_the_end_of_a_line(jobs, line, expected):
    assert sorted(words(jobs, *line)) == sorted(expected)
    assert list(words(jobs, "status", "")) == ["third", "second", "first"]


def test_the_store_of_the_line_is_asked(jobs):
    assert list(words(jobs, "status", "--state-dir", jobs.folder / "none", "")) == []
    assert not (jobs.folder / "none").exists()
    jobs("run", "-q", "--state-dir", jobs.folder / "other", "--name", "elsewhere", "--", "true", code=0)
    assert list(words(jobs, "status", "--state-dir", jobs.folder / "other", "")) == ["elsewhere"]


def test_no_cluster_is_asked(jobs, tmp_path):
    """A login that hangs would hang the shell."""
    config = tmp_path / "kubeconfig"
    config.write_text("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"
                      "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: a, user: {exec: "
                      "{apiVersion: client.authentication.k8s.io/v1, command: sleep, args: ['1000'], interactiveMode: Never}}}]\n")
    jobs.environment["KUBECONFIG"] = str(config)
    assert list(words(jobs, "logs", "-n", "research", "")) == ["third", "second", "first"]


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, muster, name):
        self.terminal, end = pty.openpty()
        environment = {**muster.environment, "TERM": "xterm", "fish_features": "no-query-term", "INPUTRC": "/dev/null"}
        self.process = subprocess.Popen(SHELLS[name], stdin=end, stdout=end, stderr=end, env=environment, cwd=muster.folder,
                                        start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(end)
        self.type(SOURCE[name])
        self.type(SHOW[name])
        self.type("echo REA''DY\n")
        self.read_until("READY")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, wanted):
        shown = ""
        while not re.search(wanted, shown):
            assert select.select([self.terminal], [], [], LIMIT)[0], f"nothing came behind {shown!r}"
            shown += os.read(self.terminal, 65536).decode(errors="replace")
        return re.search(wanted, shown)

    def completed(self, line):
        """The arguments of the command that stands there after each Tab of the line."""
        self.type(f"{line}\n")
        return self.read_until(r"RAN<([^>$*\n]*)>")[1]

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_completes(jobs, name):
    assert shutil.which(name), f"{name} is missing: script/install-packages test"
    shell = Shell(jobs, name)
    try:
        for typed, expected in [
            ("muster statu\t", "status"),
            ("muster run --on kube\t", "run --on kubernetes"),
            ("muster run --on=kube\t", "run --on=kubernetes"),
            ("muster logs --timest\t", "logs --timestamps"),
            ("muster logs sec\t", "logs second"),
            ("muster sto\tthi\t", "stop third"),
            ("muster exec third ps\t", "exec third ps-0"),
            ("muster scale third work\t3", "scale third worker=3"),
            ("muster run training_s\t", "run training_script.py"),
        ]:
            assert shell.completed(typed).split() == expected.split(), typed
    finally:
        shell.end()


def test_fish_shows_what_a_word_means(jobs):
    done = subprocess.run(["fish", "--no-config", "-c", f"{SOURCE['fish']} complete -C 'muster sta'"], env=jobs.environment,
                          capture_output=True, text=True, timeout=LIMIT, check=True)
    assert "status\tshow a job's state, its replicas, and why it failed\n" in done.stdout


def test_another_shell_is_refused(muster):
    for call in ["completion"], ["completion", "tcsh"]:
        assert "missing shell (expected bash, zsh or fish)" in muster(*call, code=2).stderr


def test_an_installation_has_them_where_shells_look(muster):
    said = subprocess.run(["meson", "introspect", "--installed", pathlib.Path(BINARY).parent], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    installed = {place: pathlib.Path(file) for file, place in json.loads(said).items()}
    for shell, end in [("bash", "/bash-completion/completions/muster"), ("zsh", "/zsh/site-functions/_muster"),
                       ("fish", "/fish/vendor_completions.d/muster.fish")]:
        file, = (file for place, file in installed.items() if place.endswith(end))
        assert file.read_text() == muster("completion", shell, code=0).stdout
