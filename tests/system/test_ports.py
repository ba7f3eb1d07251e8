"""Ports of jobs whose supervisors know nothing of each other."""

import json
import subprocess

from conftest import LIMIT, read_line
from networks import machines_of

SAYS = ("--no-prefix", "--", "sh", "-c", "echo $TF_CONFIG; exec sleep 1000")


def test_jobs_of_several_state_directories_share_no_port(muster, tmp_path):
    """On a machine with twelve ports for jobs, each of which needs three."""
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    with machines_of(muster, hosts) as make:
        machine = make()
        subprocess.run([*machine.inside, "sh", "-c", "echo 10012 65535 > /proc/sys/net/ipv4/ip_local_port_range"], check=True)
        jobs = [machine.start("run", "-w", 2, "--state-dir", tmp_path / f"state{i}", *SAYS, text=True) for i in range(4)]
        ports = set()
        for job in jobs:
            ports.update(json.loads(read_line(job.stdout))["cluster"]["worker"])
        assert len(ports) == 8
        late = machine.start("run", "-w", 2, "--state-dir", tmp_path / "late", *SAYS, text=True)
        assert read_line(late.stderr) == "muster: only 0 of 3 ports are free between 10000 and 10011\n"
        # Those of a job that is killed are free again.
        jobs[0].kill()
        jobs[0].wait()
        assert len(ports & set(json.loads(read_line(late.stdout))["cluster"]["worker"])) >= 1
        for job in (*jobs[1:], late):
            job.terminate()
            assert job.wait(LIMIT) == 143
