"""The figures of `muster check`, start to report. Nobody else does this, so there are no peers.

Skipped (None) where the running Python has no TensorFlow.
"""

import importlib.util
import os
import subprocess
import sys
import time

from measure import state_folder


def measure_check(launcher, *options):
    """Seconds from exec to the end of a check that passes."""
    if launcher.name != "muster" or not importlib.util.find_spec("tensorflow"):
        return None
    begin = time.monotonic()
    subprocess.run([launcher.program, "check", *options], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "XDG_STATE_HOME": state_folder(), "VIRTUAL_ENV": sys.prefix})
    return time.monotonic() - begin
