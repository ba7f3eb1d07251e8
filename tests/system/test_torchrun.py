"""What a script that was written for torchrun finds under `muster run`."""

import json

import pytest

pytestmark = pytest.mark.unsanitized

VARIABLES = {
    "RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1",
    "ROLE_NAME": "worker", "ROLE_RANK": "1", "ROLE_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
    "TORCHELASTIC_RUN_ID": "digits", "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "3",
    "TORCHELASTIC_USE_AGENT_STORE": "False", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
}


@pytest.fixture(autouse=True)
def a_shell_that_sets_none(muster):
    for name in VARIABLES:
        muster.environment.pop(name, None)


def test_a_worker_finds_the_variables_of_torchrun(muster):
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    done = muster("run", "--name", "digits", "-w", 2, "--max-restarts", 3, "--", "python3", "-c", program, code=0)
    line = next(line for line in done.stdout.splitlines() if line.startswith("worker-1 | "))
    found = json.loads(line.removeprefix("worker-1 | "))
    assert {name: found.get(name) for name in VARIABLES} == VARIABLES


def test_restarts_are_counted(muster):
    script = 'echo "$TORCHELASTIC_RESTART_COUNT of $TORCHELASTIC_MAX_RESTARTS"; test $TORCHELASTIC_RESTART_COUNT = 1'
    done = muster("run", "--max-restarts", 1, "--", "sh", "-c", script, code=0)
    assert [line.removeprefix("worker-0 | ") for line in done.stdout.splitlines()] == ["0 of 1", "1 of 1"]


@pytest.mark.parametrize("arguments", [[], ["-w", 2]])
def test_a_value_of_the_shell_is_kept(muster, arguments):
    done = muster("run", *arguments, "--", "sh", "-c", "echo $TORCH_NCCL_ASYNC_ERROR_HANDLING", code=0,
                  env={"TORCH_NCCL_ASYNC_ERROR_HANDLING": "3"})
    assert {line.split(" | ")[1] for line in done.stdout.splitlines()} == {"3"}


def test_each_attempt_has_an_error_file_of_its_own(muster):
    """It lies with the logs, and goes with them."""
    script = 'echo "$TORCHELASTIC_ERROR_FILE"; echo {} > "$TORCHELASTIC_ERROR_FILE"'
    done = muster("run", "--name", "digits", "-w", 2, "--", "sh", "-c", script, code=0)
    files = {line.split(" | ")[1] for line in done.stdout.splitlines()}
    folder = muster.state / "muster" / "jobs"
    assert len(files) == 2 and files == {str(path) for path in folder.glob("*/*.error.json")}
    muster("logs", "digits", code=0)
    muster("delete", "digits", code=0)
    assert not list(folder.glob("*/*.error.json"))


@pytest.mark.parametrize("flag", ["-m", "--module"])
def test_a_module_is_run(muster, tmp_path, flag):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "train.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    done = muster("run", "-w", 2, flag, "package.train", "--epochs", 3, code=0, cwd=tmp_path)
    assert sorted(done.stdout.splitlines()) == [f"worker-{index} | __main__ ['--epochs', '3']" for index in range(2)]
    assert "muster: job train-" in done.stderr
