"""launch with the variables of Kubeflow Trainer's torch runtime (pkg/runtime/framework/plugins/torch), as docs/kubeflow-trainer.md has it."""

import os
import re
import secrets

import pytest

from conftest import LIMIT, ROOT
from networks import machines_of

PLACE = 'echo "place $RANK $WORLD_SIZE $LOCAL_RANK $GROUP_RANK $MASTER_ADDR $MASTER_PORT $GLOO_SOCKET_IFNAME"'


def trainer(rank, **others):
    """What the operator gives the Pods of a TrainJob `digits` with two nodes."""
    return {"PET_NNODES": "2", "PET_NPROC_PER_NODE": "2", "PET_NODE_RANK": str(rank), "PET_MASTER_ADDR": "digits-node-0-0.digits",
            "PET_MASTER_PORT": "29500", **others}


@pytest.fixture
def pods(muster):
    """Two machines that know each other by the names of Pods; nothing of a home directory is shared."""
    hosts = muster.folder / "hosts"
    hosts.write_text("127.0.0.1 localhost\n10.98.7.1 digits-node-0-0.digits\n10.98.7.2 digits-node-0-1.digits\n")
    with machines_of(muster, hosts) as make:
        made = [make(), make()]
        made[0].ip(f"link add eth0 type veth peer name eth0 netns {made[1].keeper.pid}")
        for number, machine in enumerate(made, 1):
            machine.ip(f"addr add 10.98.7.{number}/24 dev eth0")
            machine.ip("link set eth0 up")
        yield made


def variables_of_page():
    """The variables that the runtime of the page sets."""
    text = (ROOT / "docs" / "kubeflow-trainer.md").read_text()
    return dict(re.findall(r"\{name: ([A-Z_]+), value: (\S+)\}", text))


def test_the_pods_of_a_train_job_meet(muster, pods):
    """They do not know their own names, for which gloo would take loopback; a value of the user stays."""
    token = muster.folder / "token"
    token.write_text(secrets.token_hex(32))
    token.chmod(0o600)
    assert set(variables_of_page()) == {"PET_RDZV_TOKEN_FILE", "MUSTER_STATE_DIR"}
    started = [pod.start("launch", "--no-python", "sh", "-c", PLACE, env=trainer(
        rank, PET_RDZV_TOKEN_FILE=str(token), MUSTER_STATE_DIR=str(muster.folder / f"state-{rank}"),
        **({"GLOO_SOCKET_IFNAME": "own"} if rank else {})))
        for rank, pod in reversed(list(enumerate(pods)))]
    said = [process.communicate(timeout=LIMIT) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    places = sorted(line[line.index("place"):] for out, _ in said for line in out.decode().splitlines() if "place" in line)
    address = "digits-node-0-0.digits 29500"
    assert places == [f"place {rank} 4 {rank % 2} {rank // 2} {address} {('eth0', 'own')[rank // 2]}" for rank in range(4)]


def test_without_a_token_the_pods_say_what_is_missing(muster, pods):
    for rank, pod in enumerate(pods):
        with pod.start("launch", "--no-python", "true", env=trainer(rank, PET_RDZV_TOKEN_FILE="/token/token",
                                                                   MUSTER_STATE_DIR=os.fspath(muster.folder / "state"))) as process:
            _, trouble = process.communicate(timeout=LIMIT)
        assert process.returncode == 2 and b"/token/token" in trouble
