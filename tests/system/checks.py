"""What the tests of `muster check` share: a Python whose models are shell scripts, and reading reports."""

import json
import time

from conftest import LIMIT, read_until, replicas

# --timeout where a step is to be given up, long enough for a slow machine to come to that step and for the test to do
# what nobody gets over; and where none is to be.
GIVEN_UP = "30s"
LONG = "10m"

# What a good worker of mnist prints.
GOOD_MODEL = """
say() { echo "{\\"muster\\":$1}"; }
say '"data","name":"a shell script","source":"made","examples":7'
say '"training-begins","worker":'$WORKER_NUMBER
say '"step","worker":'$WORKER_NUMBER',"step":500,"of":500,"loss":0.31'
say '"training-ends","worker":'$WORKER_NUMBER',"seconds":0.1'
[ $WORKER_NUMBER != 0 ] || say '"result","crossEntropy":0.21,"before":2.31,"bound":0.8'
"""

# One that trains until somebody ends it.
ENDLESS_MODEL = """
echo '{"muster":"training-begins","worker":'$WORKER_NUMBER'}'
echo '{"muster":"step","worker":'$WORKER_NUMBER',"step":3,"of":500,"loss":2.25}'
exec sleep 1000
"""


def tag_of(folder):
    """What all processes that come from a check of this test have in their environment."""
    return f"CHECK_TEST_TAG={folder}"


def says_where(packages, version="3.11"):
    """The begin of a shell script that is a Python: muster asks it for its version and its packages."""
    return (f'#!/bin/sh\ncase "$*" in *"muster asks"*)'
            f' printf "muster asks: {version}\\n%s\\n" "{packages}"; exit;; esac\n')


def make_python(folder, library, script):
    """Makes a virtual environment that has the library, and whose Python is a shell that runs the script. Gives the
    environment of a check that uses it. A library that lies in a package of TensorFlow comes with all of that."""
    packages = folder / "venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    if (library.parent / "__init__.py").exists():
        (packages / "tensorflow").symlink_to(library.parent)
    else:
        (packages / "tensorflow").mkdir()
        (packages / "tensorflow" / "__init__.py").write_text("")
        (packages / "tensorflow" / library.name).symlink_to(library)
    (folder / "model.sh").write_text(script)
    programs = folder / "venv" / "bin"
    programs.mkdir()
    for name in ("python", "python3"):
        (programs / name).write_text(says_where(packages) + f'exec sh {folder}/model.sh "$@"\n')
        (programs / name).chmod(0o755)
    return environment_of(folder, folder / "venv")


def environment_of(folder, virtual_env):
    name, value = tag_of(folder).split("=")
    return {"VIRTUAL_ENV": str(virtual_env), "TF_DIST_GRPC_SERVER_URL": None, name: value}


def report_of(done):
    return json.loads(done.stdout)


def states_of(report):
    return {step["name"]: step["state"] for step in report["steps"]}


def jobs_of(muster):
    return [name.removeprefix("local/") for name in muster("ps", "-a", "-o", "name", code=0).stdout.split()]


def wait_for_job(muster, ending):
    """Until a job of a check is there whose name ends so ("": the servers'); gives its name."""
    over = time.monotonic() + LIMIT
    while time.monotonic() < over:
        for name in jobs_of(muster):
            if name.startswith("check-") and name.count("-") == 1 + ending.count("-") and name.endswith(ending):
                return name
        time.sleep(0.05)  # asking costs what is waited for
    raise AssertionError(f"no job of a check ends with '{ending}': {jobs_of(muster)}")


def wait_for_step(muster):
    """Until a worker of a check has told of a step; gives the name of the servers' job."""
    model = wait_for_job(muster, "-mnist")
    log = muster.start("logs", "-f", model)
    read_until(log.stdout, '"step": ')
    return model.removesuffix("-mnist")


def begin_training(muster, environment, *options):
    """A check with two endless workers and two parameter servers; gives the process and the name of the servers' job
    when the workers run."""
    process = muster.start("check", "-o", "json", *options, env=environment)
    read_until(process.stderr, "  session ")
    model = wait_for_job(muster, "-mnist")
    muster.until_running(model, 2)
    return process, model.removesuffix("-mnist")


def pid_of(muster, job, name):
    """The process of a replica, as its job knows it."""
    return next(r["pid"] for r in replicas(muster.job(job)) if f"{r['role']}-{r['index']}" == name)
