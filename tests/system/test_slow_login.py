"""A program of the kubeconfig that logs in (an exec plug-in) and takes its time."""

import json

from conftest import LIMIT, read_line
from http_server import make_certificate, tls_context
from living_kube import LivingKube
from test_jobs_elsewhere import write_kubeconfig


def test_a_program_that_takes_its_time_to_log_in_is_named(muster, tmp_path):
    plugin = tmp_path / "slow-login"
    answer = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": "t"}}
    plugin.write_text(f"#!/bin/sh\nuntil test -e $0.gate; do sleep 0.1; done\necho '{json.dumps(answer)}'\n")
    plugin.chmod(0o755)
    certificate, key = make_certificate(tmp_path)
    with LivingKube(tls=tls_context(certificate, key)) as kube:
        path = write_kubeconfig(tmp_path / "config", kube.origin)
        config = json.loads(path.read_text())
        config["clusters"][0]["cluster"]["certificate-authority"] = str(certificate)
        config["users"][0]["user"] = {"exec": {"apiVersion": answer["apiVersion"], "command": str(plugin), "interactiveMode": "Never"}}
        path.write_text(json.dumps(config))
        asking = muster.start("ps", "--on", "kubernetes", "--kubeconfig", path)
        said = read_line(asking.stderr)
        (tmp_path / "slow-login.gate").touch()
        assert said == (f"muster: Warning: waiting for login plug-in '{plugin}' of user 'ada', which has not answered "
                        "for 5 s\n")
        assert asking.wait(LIMIT) == 0
