"""Lets `muster stacks` ask this process where it is, and gives way to the sitecustomize of this Python.

Python imports a module of this name at its start (https://docs.python.org/3/library/site.html). faulthandler writes the
stacks of all threads into the file when the signal comes, also while the main thread is in a function written in C.
"""

import os
import sys

try:
    import _signal  # signal would import enum, which takes longer than all of this
    import faulthandler
    faulthandler.register(_signal.SIGURG, open(os.environ["MUSTER_STACKS_FILE"], "ab", 0))
except Exception:  # it trains all the same
    pass

sys.path[:] = [folder for folder in sys.path if folder != os.path.dirname(__file__)]
sys.modules.pop(__name__, None)
import sitecustomize  # where there is none, Python ignores the error as it would have without us
