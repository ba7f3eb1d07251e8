"""What is simulated looks to a client as the real thing does."""

from conftest import LIMIT, headless_service, named, simulated_pod, terminated


def container_of(found):
    return found["status"]["containerStatuses"][0]


def test_every_node_is_ready(cluster):
    nodes = ["node/real", *(f"node/simulated-{n}" for n in range(4))]
    assert sorted(cluster.kubectl("get", "nodes", "-o", "name").split()) == nodes
    # One that was slow to tell of itself counts as silent until it does.
    cluster.kubectl("wait", "--for=condition=Ready", f"--timeout={LIMIT}s", *nodes)


def test_a_pod_runs_until_it_is_deleted(namespace):
    namespace.create(simulated_pod("lasting"))
    found = namespace.until_phase("lasting", "Running")
    assert container_of(found)["ready"] and found["status"]["podIP"]
    namespace.kubectl("delete", "pod", "lasting")
    namespace.kubectl("get", "pod", "lasting", code=1)


def test_a_pod_ends_with_the_code_that_it_was_told(namespace):
    namespace.create(simulated_pod("good", run_for="100ms"), simulated_pod("bad", run_for="100ms", exit_code=3))
    assert terminated(namespace.until_phase("good", "Succeeded"))["reason"] == "Completed"
    assert terminated(namespace.until_phase("bad", "Failed"))["exitCode"] == 3


def test_a_container_without_memory_is_killed(namespace):
    namespace.create(simulated_pod("greedy", run_for="100ms", exit_code=137, end="OOMKilled"))
    end = terminated(namespace.until_phase("greedy", "Failed"))
    assert (end["exitCode"], end["reason"]) == (137, "OOMKilled")


def test_a_pod_is_evicted(namespace):
    namespace.create(simulated_pod("moved", run_for="100ms", end="Evicted"))
    found = namespace.until_phase("moved", "Failed")
    assert found["status"]["reason"] == "Evicted"
    assert terminated(found)["exitCode"] == 137


def test_an_image_cannot_be_had(namespace):
    namespace.create(simulated_pod("imageless", waiting="ImagePullBackOff"))
    namespace.wait("pod/imageless",
                   "jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff")
    assert namespace.get("pod", "imageless")["status"]["phase"] == "Pending"


def test_a_pod_that_no_node_takes_says_why(namespace):
    homeless = simulated_pod("homeless")
    homeless["spec"]["nodeSelector"]["type"] = "nowhere"
    namespace.create(homeless)
    namespace.wait("pod/homeless", "jsonpath={.status.conditions[0].reason}=Unschedulable")
    assert "0/5 nodes are available" in namespace.get("pod", "homeless")["status"]["conditions"][0]["message"]


def test_a_deleted_pod_may_take_its_time(namespace):
    namespace.create(simulated_pod("slow", deletion_delay="1h"))
    namespace.until_phase("slow", "Running")
    namespace.kubectl("delete", "pod", "slow", "--wait=false")
    assert namespace.get("pod", "slow")["metadata"]["deletionTimestamp"]
    namespace.kubectl("delete", "pod", "slow", "--force", "--grace-period=0")
    namespace.wait("pod/slow", "delete")


def test_what_a_deleted_owner_owned_is_deleted_by_the_cluster(namespace):
    """Garbage collection is real: the owner of everything of a job relies on it."""
    namespace.kubectl("create", "configmap", "owner")
    owner = namespace.get("configmap", "owner")["metadata"]
    owned = [named(simulated_pod("owned"), "names"), headless_service("names")]
    for made in owned:
        made["metadata"]["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}]
    namespace.create(*owned)
    namespace.kubectl("delete", "configmap", "owner")
    namespace.wait("pod/owned", "delete")
    namespace.wait("service/names", "delete")
