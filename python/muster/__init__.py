"""The program muster, as `pip install muster-run` brings it: `python -m muster` runs it, and which() says where it is."""

import importlib.metadata as _metadata
import os as _os

__all__ = ["__version__", "which"]

_DISTRIBUTION = _metadata.distribution("muster-run")
__version__ = _DISTRIBUTION.version


def which():
    """The path of the program that belongs to this package."""
    for file in _DISTRIBUTION.files or []:
        if file.name == "muster" and file.parent.name == "bin":
            return _os.path.realpath(file.locate())
    raise FileNotFoundError("the installation of muster-run has no program muster; install it again")
