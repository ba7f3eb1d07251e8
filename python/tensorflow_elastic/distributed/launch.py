"""python -m tensorflow_elastic.distributed.launch: `muster compat tensorflow_elastic`, with this Python for the script."""

import os
import shutil
import sys


def main():
    muster = os.environ.get("MUSTER_BINARY") or shutil.which("muster")
    if not muster:
        sys.exit("tensorflow_elastic: muster is not in PATH; its README says how it is installed")
    os.environ.setdefault("PYTHON_EXEC", sys.executable)
    os.execv(muster, [muster, "compat", "tensorflow_elastic", *sys.argv[1:]])


if __name__ == "__main__":
    main()
