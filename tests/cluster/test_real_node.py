"""The real node runs Pods as a node of any cluster does: with logs, names, exec, and real TensorFlow."""

import json
import re
import subprocess
import sys

import node
import programs
import pytest

from conftest import ROOT, SCRIPT, headless_service, named, python_pod, real_pod, terminated
from needs import needs_tensorflow

needs_python_of_the_system = pytest.mark.skipif(
    sys.base_prefix != "/usr", reason="the running Python does not come from /usr, which Pods are given")


def test_a_pod_runs_and_its_lines_come(namespace):
    namespace.create(real_pod("speaking", "sh", "-c", "echo one; echo two; exit 3"))
    assert terminated(namespace.until_phase("speaking", "Failed"))["exitCode"] == 3
    assert namespace.kubectl("logs", "speaking") == "one\ntwo\n"


def test_a_command_runs_in_a_pod(namespace):
    namespace.create(real_pod("open", "sleep", "3600"))
    namespace.until_phase("open", "Running")
    assert namespace.kubectl("exec", "open", "--", "hostname") == "open\n"
    namespace.kubectl("exec", "open", "--", "sh", "-c", "exit 7", code=7)


def test_a_container_that_takes_too_much_memory_is_killed(namespace):
    greedy = real_pod("greedy", "sh", "-c", "dd if=/dev/zero of=/dev/null bs=256M count=1")
    greedy["spec"]["containers"][0]["resources"] = {"limits": {"memory": "32Mi"}}
    namespace.create(greedy)
    end = terminated(namespace.until_phase("greedy", "Failed"))
    assert (end["exitCode"], end["reason"]) == (137, "OOMKilled")


def test_pods_that_come_do_not_change_the_way_of_others(cluster, namespace):
    """Their gateway keeps its hardware address, whatever those of its ports are."""
    for number in range(3):
        namespace.create(real_pod(f"neighbour-{number}", "sleep", "3600"))
        namespace.until_phase(f"neighbour-{number}", "Running")
    asking = [SCRIPT, "exec", programs.folder() / "busybox", "ip", "link", "show", node.BRIDGE]
    said = subprocess.run(asking, check=True, env=cluster.environment, stdout=subprocess.PIPE, text=True).stdout
    assert f"link/ether {node.BRIDGE_ADDRESS} " in said


@needs_python_of_the_system
def test_a_pod_finds_another_by_its_name(namespace):
    """The C library asks, as it does for TensorFlow; until the name is known, as in every cluster."""
    asking = ("import socket, time\n"
              "while True:\n"
              "    try:\n"
              "        print(socket.create_connection(('answering.pair', 1234)).recv(100))\n"
              "        break\n"
              "    except OSError:\n"
              "        time.sleep(0.1)\n")
    namespace.create(headless_service("pair"),
                     named(real_pod("answering", "sh", "-c", "echo hello | nc -l -p 1234"), "pair"),
                     named(python_pod("asking", "-c", asking), "pair"))
    namespace.until_phase("asking", "Succeeded")
    assert namespace.kubectl("logs", "asking") == "b'hello\\n'\n"


@needs_python_of_the_system
def test_a_pod_reaches_the_api_server_with_its_account(namespace):
    """By the address, authority and token that every Pod is given; this account may see nothing, and is told so."""
    asking = ("import os, ssl, urllib.error, urllib.request\n"
              "folder = '/var/run/secrets/kubernetes.io/serviceaccount/'\n"
              "trust = ssl.create_default_context(cafile=folder + 'ca.crt')\n"
              "login = {'Authorization': 'Bearer ' + open(folder + 'token').read()}\n"
              "server = 'https://{KUBERNETES_SERVICE_HOST}:{KUBERNETES_SERVICE_PORT}'.format_map(os.environ)\n"
              "pods = urllib.request.Request(server + '/api/v1/pods', headers=login)\n"
              "try:\n"
              "    urllib.request.urlopen(pods, context=trust)\n"
              "except urllib.error.HTTPError as answer:\n"
              "    print(answer.read().decode())\n")
    namespace.create(python_pod("inside", "-c", asking))
    namespace.until_phase("inside", "Succeeded")
    assert f"system:serviceaccount:{namespace.name}:default" in namespace.kubectl("logs", "inside")


@pytest.mark.long
@needs_tensorflow
@needs_python_of_the_system
def test_two_workers_train_in_step(namespace):
    replicas = ["worker-0", "worker-1"]
    addresses = [f"{name}.digits.{namespace.name}.svc:2222" for name in replicas]
    namespace.create(headless_service("digits"), *(
        named(python_pod(name, ROOT / "examples" / "digits" / "train.py", "--epochs", "2", environment={
            "TF_CONFIG": json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}})
        }), "digits") for index, name in enumerate(replicas)))
    for name in replicas:
        namespace.until_phase(name, "Succeeded")
    said = [namespace.kubectl("logs", name) for name in replicas]
    losses = [re.findall(r"^epoch .*", text, re.MULTILINE) for text in said]
    assert losses[0] == losses[1] and len(losses[0]) == 2, said
