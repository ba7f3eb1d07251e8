"""Calls to an API server through kube/api: which are made again, which are not, and how errors read. The server is a fake one."""

import json
import pathlib
import subprocess

import pytest

from conftest import BINARY, LIMIT
from fake_kube import FakeKube, cut, cut_after_doing, refuse
from http_server import HttpServer
from living_kube import LivingKube

ASK = pathlib.Path(BINARY).parent / "tests" / "fake_kube" / "kube_ask"
INVALID, NOT_FOUND, EXISTS, CONFLICT, UNREACHABLE, REFUSED = -1, -2, -3, -4, -6, -7
POD = {"metadata": {"name": "worker-0", "labels": {"muster/job": "digits"}}}


def ask(server, *arguments):
    done = subprocess.run([ASK, server, "--namespace", "ada", *map(str, arguments)], capture_output=True, text=True,
                          timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def create(server, body=POD):
    return ask(server, "--body", json.dumps(body), "create", "/v1/pods")


@pytest.fixture
def kube():
    with FakeKube() as server:
        yield server


def test_an_object_is_created_read_and_deleted(kube):
    [created] = create(kube.origin)
    assert (created["code"], created["object"]["metadata"]["uid"]) == (201, "uid-worker-0")
    [read] = ask(kube.origin, "get", "/v1/pods", "worker-0")
    assert read["object"] == created["object"]
    [deleted] = ask(kube.origin, "delete", "/v1/pods", "worker-0")
    assert deleted["code"] == 200
    [gone] = ask(kube.origin, "get", "/v1/pods", "worker-0")
    assert gone == {"code": 404, "reason": "NotFound", "errorCode": NOT_FOUND,
                    "error": "cannot get pods 'worker-0' in namespace 'ada': pods \"worker-0\" not found"}
    assert kube.server.exchanges[0].headers["user-agent"].startswith("muster/")
    assert kube.server.exchanges[0].headers["content-type"] == "application/json"


def test_an_object_that_exists_already_is_told(kube):
    create(kube.origin)
    [again] = create(kube.origin)
    assert (again["code"], again["reason"], again["errorCode"]) == (409, "AlreadyExists", EXISTS)
    assert len(kube.requests()) == 2


def test_a_server_that_asks_to_wait_gets_its_wish(kube):
    kube.faults += [refuse(429, "Retry-After: 0"), refuse(429, "Retry-After: 0")]
    [created] = create(kube.origin)
    assert created["code"] == 201
    assert [method for method, _, _ in kube.requests()] == ["POST"] * 3


def test_a_server_that_fails_is_asked_three_times(kube):
    kube.faults += [refuse(500)] * 3
    [failed] = ask(kube.origin, "list", "/v1/pods")
    assert (failed["code"], failed["errorCode"]) == (500, UNREACHABLE)
    assert len(kube.requests()) == 3


def test_a_create_whose_answer_was_lost_is_found_and_not_done_twice(kube):
    kube.faults.append(cut_after_doing)
    [created] = create(kube.origin)
    assert created["object"]["metadata"]["uid"] == "uid-worker-0"
    assert [method for method, _, _ in kube.requests()] == ["POST", "GET"]


def test_a_create_that_did_not_arrive_is_made_again_after_a_look(kube):
    kube.faults.append(cut)
    [created] = create(kube.origin)
    assert created["code"] == 201
    assert [method for method, _, _ in kube.requests()] == ["POST", "GET", "POST"]


def test_a_create_whose_last_answer_was_lost_is_found_too(kube):
    kube.faults += [refuse(500), lambda _: False] * 2 + [cut_after_doing]
    [created] = create(kube.origin)
    assert created["object"]["metadata"]["uid"] == "uid-worker-0"
    assert [method for method, _, _ in kube.requests()] == ["POST", "GET"] * 3


def test_a_create_that_is_lost_three_times_is_given_up(kube):
    kube.faults += [cut, lambda _: False] * 3
    [lost] = create(kube.origin)
    assert lost["error"] == f"cannot create pods 'worker-0' in namespace 'ada': it was lost 3 times on the way to {kube.origin}"
    assert lost["errorCode"] == UNREACHABLE
    assert [method for method, _, _ in kube.requests()] == ["POST", "GET"] * 3


def test_a_create_that_fails_three_times_says_why(kube):
    kube.faults += [cut, lambda _: False] + [refuse(500, message="failed calling webhook"), lambda _: False] * 2
    [failed] = create(kube.origin)
    assert failed["error"] == "cannot create pods 'worker-0' in namespace 'ada': failed calling webhook"
    assert failed["errorCode"] == UNREACHABLE
    assert [method for method, _, _ in kube.requests()] == ["POST", "GET"] * 3


def test_what_somebody_else_made_meanwhile_is_not_ours(kube):
    kube.put("pods", "worker-0", {"metadata": {"labels": {"muster/job": "another"}}})
    kube.faults.append(cut)
    [found] = create(kube.origin)
    assert (found["reason"], found["errorCode"]) == ("AlreadyExists", EXISTS)


def test_a_create_that_arrives_late_is_found_and_not_done_twice(kube):
    """The first is lost and not there when it is looked for; the second finds that it came all the same."""
    def arrive(exchange):
        kube.put("pods", "worker-0", POD)
        return False

    kube.faults += [cut, lambda _: False, arrive]
    [created] = create(kube.origin)
    assert created["code"] == 200
    assert [method for method, _, _ in kube.requests()] == ["POST", "GET", "POST", "GET"]


def test_what_a_lost_delete_has_deleted_was_deleted(kube):
    kube.put("pods", "worker-0")
    kube.faults.append(cut_after_doing)
    [deleted] = ask(kube.origin, "delete", "/v1/pods", "worker-0")
    assert deleted == {"code": 200, "reason": ""}
    assert [method for method, _, _ in kube.requests()] == ["DELETE", "DELETE"]


def patch(kube, **data):
    """At the version that the object has now."""
    version = kube.objects["configmaps", "digits"]["metadata"]["resourceVersion"]
    body = {"metadata": {"resourceVersion": version}, "data": data}
    return ask(kube.origin, "--body", json.dumps(body), "patch", "/v1/configmaps", "digits")


@pytest.fixture
def living():
    with LivingKube() as server:
        server.put("configmaps", "digits", {"data": {"a": "1"}})
        yield server


def test_a_patch_whose_answer_was_lost_is_found_and_no_conflict(living):
    living.faults.append(cut_after_doing)
    [patched] = patch(living, a="2", b=None)
    assert patched["object"]["data"] == {"a": "2"}
    assert [method for method, _, _ in living.requests()] == ["PATCH", "PATCH", "GET"]


def test_a_patch_that_was_lost_after_another_change_is_a_conflict(living):
    def change_and_cut(exchange):
        living.put("configmaps", "digits", {"data": {"a": "3"}})
        return cut(exchange)

    living.faults.append(change_and_cut)
    [refused] = patch(living, a="2")
    assert (refused["reason"], refused["errorCode"]) == ("Conflict", CONFLICT)
    assert refused["error"] == "cannot patch configmaps 'digits' in namespace 'ada': another client changed it"


def test_a_server_that_asks_to_wait_and_then_fails_is_asked_three_times_more(kube):
    kube.faults += [refuse(429, "Retry-After: 0")] * 2 + [refuse(500)] * 2
    [got] = ask(kube.origin, "list", "/v1/pods")
    assert got["code"] == 200


def test_a_question_whose_answer_was_lost_is_asked_again():
    def answer(exchange):
        cut(exchange) if len(server.exchanges) == 1 else exchange.answer(201, {"status": {"allowed": True}})

    with HttpServer(answer) as server:
        [got] = ask(server.origin, "--body", "{}", "create", "authorization.k8s.io/v1/selfsubjectaccessreviews")
    assert got["object"] == {"status": {"allowed": True}}


@pytest.mark.parametrize("body", ["", '{"kind": "St'])
def test_a_refusal_counts_though_the_server_closed_the_connection_behind_its_head(body):
    def refuse_and_close(exchange):
        exchange.head(401, "Content-Length: 129")
        exchange.write(body)
        exchange.close()

    with HttpServer(refuse_and_close) as server:
        [got] = ask(server.origin, "--body", json.dumps(POD), "create", "/v1/pods")
        assert (got["code"], got["errorCode"], len(server.exchanges)) == (401, REFUSED, 1)
    assert "the token or client certificate is invalid or has expired" in got["error"]


@pytest.mark.parametrize("permits, sent", [(0, 0), (1, 0), (2, 1)])
def test_what_is_permitted_no_more_when_it_could_be_sent_is_not_sent(kube, permits, sent):
    """Each call asks twice: when it is started, and when its connection stands."""
    [answer] = ask(kube.origin, "--permits", permits, "--body", json.dumps(POD), "create", "/v1/pods")
    assert len(kube.requests()) == sent
    if not sent:
        assert (answer["code"], answer["errorCode"]) == (0, REFUSED)
        assert answer["error"] == "this muster does not hold the job's Lease, so it does not change pods 'worker-0'"


def test_what_the_server_judged_is_not_asked_again(kube):
    kube.faults.append(refuse(422, reason="Invalid", message="spec: wrong"))
    [refused] = create(kube.origin)
    assert refused["errorCode"] == INVALID
    assert "spec: wrong" in refused["error"]
    assert len(kube.requests()) == 1


def test_a_token_that_is_refused_is_renewed_once(kube):
    kube.tokens = ["second"]
    [read] = ask(kube.origin, "--token", "first", "--token", "second", "list", "/v1/pods")
    assert read["code"] == 200
    [refused] = ask(kube.origin, "--token", "first", "--token", "third", "--token", "second", "list", "/v1/pods")
    assert (refused["code"], refused["errorCode"]) == (401, REFUSED)
    assert "the token or client certificate is invalid or has expired" in refused["error"]
    assert "third" not in refused["error"]


def test_a_token_that_has_ended_is_renewed_before_it_is_used(kube):
    kube.tokens = ["second"]
    got = ask(kube.origin, "--token", "first", "--token", "second", "--expired", "--times", "5", "list", "/v1/pods")
    assert [line["code"] for line in got] == [200] * 5
    assert len(kube.requests()) == 5


def test_calls_that_are_refused_together_renew_the_token_together(kube):
    kube.tokens = ["second"]
    got = ask(kube.origin, "--token", "first", "--token", "second", "--token", "third", "--times", "20", "list",
              "/v1/pods")
    assert [line["code"] for line in got] == [200] * 20


def test_a_renewal_that_fails_is_the_answer(kube):
    kube.tokens = []
    got = ask(kube.origin, "--token", "first", "--times", "3", "list", "/v1/pods")
    assert [line["error"] for line in got] == ["there is no other token"] * 3


def test_warnings_are_told_once():
    def answer(exchange):
        exchange.answer(200, {}, 'Warning: 299 - "use v2"', 'Warning: 299 - "and \\"soon\\""')

    with HttpServer(answer) as server:
        got = ask(server.origin, "--times", "3", "list", "/v1/pods")
    assert [line["warning"] for line in got if "warning" in line] == ["use v2", 'and "soon"']


def test_a_missing_right_names_the_rule(kube):
    kube.faults.append(refuse(403, reason="Forbidden", message='leases is forbidden: User "eve" cannot list resource '
                              '"leases" in API group "coordination.k8s.io" in the namespace "ada"'))
    [refused] = ask(kube.origin, "list", "coordination.k8s.io/v1/leases")
    assert refused["error"].endswith('; add this rule to a Role there: {apiGroups: ["coordination.k8s.io"], resources: '
                                     '["leases"], verbs: ["list"]}')
    assert refused["errorCode"] == REFUSED


def test_a_server_that_is_not_there_is_told_at_once():
    with HttpServer(cut) as server:
        origin = server.origin
    [got] = ask(origin, "list", "/v1/pods")
    assert (got["code"], got["errorCode"]) == (0, UNREACHABLE)
    assert got["error"] == f"cannot reach {origin}: connection refused"


@pytest.mark.parametrize("body", ["{", "[1, 2", "<html>hello</html>"])
def test_an_answer_that_is_no_json_is_told(body):
    with HttpServer(lambda exchange: exchange.answer(200, body)) as server:
        [got] = ask(server.origin, "list", "/v1/pods")
    assert got["errorCode"] == INVALID
    assert got["error"].startswith(f"cannot understand {server.origin}: ")


def test_a_stream_comes_as_it_is_and_what_fails_first_is_an_error(kube):
    kube.faults.append(refuse(429, "Retry-After: 0"))
    kube.put("pods", "worker-0")
    got = ask(kube.origin, "--stream", "get", "/v1/pods", "worker-0")
    assert json.loads("".join(line["bytes"] for line in got[:-1]))["metadata"]["name"] == "worker-0"
    assert got[-1]["code"] == 200
    [missing] = ask(kube.origin, "--stream", "get", "/v1/pods", "worker-1")
    assert missing["errorCode"] == NOT_FOUND
