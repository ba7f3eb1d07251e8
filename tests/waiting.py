"""Waiting for what tells nobody when it comes, in the tests of clusters."""

import time

LIMIT = 600  # seconds, only there so that a test that hangs ends


def until(ask, is_enough, limit=LIMIT):
    """Asks again and again; gives the answer that is enough."""
    end = time.monotonic() + limit
    while not is_enough(answer := ask()):
        assert time.monotonic() < end, f"still {answer!r}"
        time.sleep(0.1)
    return answer
