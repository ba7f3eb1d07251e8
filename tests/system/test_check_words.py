"""tools/check_words.py finds what writes to a stream, makes a command, joins a path or searches a program in a place that is not on its list."""

import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.unsanitized

NEW = {
    "stream": ['\tprintf("hello\\n");', '\tfputs(name, stderr);', '\tfile_write_all(STDOUT_FILENO, name, 1, NULL);',
               '\twrite(2, name, 1);', '\tstart.output_fd = STDERR_FILENO;', '\tif (isatty(STDOUT_FILENO) && puts(name))'],
    "command": ['\toutput_say("end it: muster stop %s", name);', '\terr_set(err, ERR_IO, "deleted (kubectl delete "\n\t\t"node %s)", name);',
                '\ttext_add(text, "muster logs ");', '\ttext_addf(text, "kubectl delete " KIND " -n %s", name);',
                '\ttext_addf(text, "\'muster %s\' is meant", name);', '\ttext_addf(text, "echo \'127.0.1.1 %s\' | sudo tee -a /etc/hosts", name);',
                '\terr_set(err, ERR_IO, "curl -X DELETE %s/jobs", name);', '\toutput_say("copy it: cp -r %s .", name);'],
    "program": ['\texecvp(name, arguments);', '\texeclp("a", "a", NULL);', '\tif (system(name))', '\tFILE *file = popen(name, "r");',
                '\tposix_spawnp(&pid, name, NULL, NULL, arguments, environ);'],
    "path": ['\tchar *path = mem_format("%s/%s", folder, name);', '\tsnprintf(path, 9, "/dev/%.*s", 3, name);'],
}
FINE = ['\tfail_by_system(name);', '\texecve(path, arguments, environment);', '\t/* muster stop %s, "%s/%s", stderr */', '\toutput_say("muster begins anew: %s", name);',
        '\tif (isatty(STDERR_FILENO))', '\ttext_add(text, "stderr and printf(");', '\ttext_addf(text, "http://%s/%s", host, name);',
        '\ttext_addf(text, "muster: %s", name);', '\toutput_say("muster stop ends \'%s\'", name);', "\tif (byte == '\"') /* \"%s/%s\" */"]


@pytest.fixture
def check(tmp_path):
    def run(lines, allowed=""):
        (tmp_path / "src/cli").mkdir(parents=True, exist_ok=True)
        for command in ("stop", "logs"):
            (tmp_path / f"src/cli/cmd_{command}.c").touch()
        (tmp_path / "src/cli/new.c").write_text("#include <stdio.h>\n\nstatic void tell(const char *name,\n\t\t const char *other)\n"
                                                "{\n" + "\n".join(lines) + "\n}\n")
        (tmp_path / "allowed.txt").write_text(allowed)
        done = subprocess.run([sys.executable, ROOT / "tools/check_words.py", "src", "allowed.txt"], cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        assert done.returncode == bool(done.stdout) and not done.stderr, done
        return done.stdout
    return run


@pytest.mark.parametrize("kind, line", [(kind, line) for kind, lines in NEW.items() for line in lines])
def test_what_is_new_is_a_fault(check, kind, line):
    said = check([line])
    assert said.startswith(f"src/cli/new.c:6: {kind} '") and said.endswith(" of cli/new.c:tell is not on the list\n")
    assert said.count("\n") == 1
    assert check([line], f"# why\n{kind} cli/new.c:tell 1 because\n") == ""


def test_what_writes_nothing_and_shows_nothing_is_none(check):
    assert check(FINE) == ""


def test_a_row_that_is_not_true_any_more_is_a_fault(check):
    path = NEW["path"][0]
    assert "allowed.txt:1: path cli/new.c:*: 2 are allowed, and there are 1\n  src/cli/new.c:6: %s/%s" in check([path], "path cli/new.c:* 2 because\n")
    assert "1 are allowed, and there are 2" in check([path, path], "path cli/new.c:tell 1 because\n")
    assert "1 are allowed, and there are 0" in check([], "stream cli/gone.c:tell 1 because\n")


def test_a_row_without_a_reason_is_a_fault(check):
    assert check([NEW["path"][0]], "path cli/new.c:tell 1\n") == "allowed.txt:1: write KIND FILE:FUNCTION COUNT REASON\n"
