"""Proxies: gRPC would send what goes to this machine through them, and nothing would come back."""

NONE = dict.fromkeys(("http_proxy", "https_proxy", "no_proxy", "grpc_proxy", "no_grpc_proxy"))


def exceptions_of(muster, **variables):
    """no_grpc_proxy as a replica finds it."""
    script = 'echo "${no_grpc_proxy-not set}"'
    output = muster("run", "-w", "1", "--", "sh", "-c", script, code=0, env={**NONE, **variables}).stdout
    return output.split("|", 1)[1].strip()


def test_where_there_is_a_proxy_replicas_are_told_that_this_machine_is_none_of_its_business(muster):
    assert exceptions_of(muster, http_proxy="http://proxy:3128") == "localhost,127.0.0.1"
    assert exceptions_of(muster, https_proxy="http://proxy:3128", no_proxy="corp") == "corp,localhost,127.0.0.1"


def test_nothing_is_set_without_a_proxy_or_where_somebody_has_decided(muster):
    assert exceptions_of(muster) == "not set"
    assert exceptions_of(muster, http_proxy="http://proxy:3128", grpc_proxy="http://other:1") == "not set"
    assert exceptions_of(muster, http_proxy="http://proxy:3128", no_grpc_proxy="corp") == "corp"
