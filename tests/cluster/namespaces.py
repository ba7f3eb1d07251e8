"""Linux namespaces, as far as the test cluster needs them: processes, mounts and a network of its own.

Python gets os.setns and os.unshare in 3.12; Debian 12 has 3.11, so the C library is called.
"""

import ctypes
import os
import signal

NEW_MOUNTS = 0x00020000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000

NOT_ALLOWED = "a cluster of namespaces and containers needs root, and root needs CAP_SYS_ADMIN"

_MS_BIND = 4096
_MS_PRIVATE_ALL = (1 << 18) | 16384
_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name, *arguments):
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def leave(which):
    """Leaves the namespaces of the parent for new ones. New process ids count for children that come after."""
    _call("unshare", which)


def are_allowed():
    """Whether this process may have namespaces, as a child of it finds out."""
    child = os.fork()
    if child == 0:
        try:
            leave(NEW_MOUNTS | NEW_PIDS | NEW_NETWORK)
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def join_network(pid):
    """The network of process `pid`, for this thread and all that it starts from now on."""
    fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call("setns", fd, NEW_NETWORK)
    finally:
        os.close(fd)


def die_with_parent():
    """The kernel ends this process when its parent ends, however that happens."""
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def keep_mounts_private():
    """Nothing that is mounted from now on is seen outside, and the other way round."""
    _call("mount", None, b"/", None, _MS_PRIVATE_ALL, None)


def mount(kind, target, options=""):
    _call("mount", b"muster-cluster", os.fsencode(target), kind.encode(), 0, options.encode())


def bind(source, target):
    _call("mount", os.fsencode(source), os.fsencode(target), None, _MS_BIND, None)
