"""muster is logged in where kubectl is."""


def test_muster_finds_the_cluster_and_the_namespace_of_its_kubeconfig(muster, namespace):
    said = muster("doctor").stdout
    line = next(line for line in said.splitlines() if " kubernetes " in line)
    assert line.split()[0] == "ok"
    assert "https://127.0.0.1:443" in line and namespace.name in line
