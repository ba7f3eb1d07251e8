"""torchrun, also that of PyTorch 1.13 under Python 3.11.

There the members of a flag enum that are zero or composed are no longer found by iteration, so
`--tee 3` and even the default of `--redirects` end in an AttributeError.
"""

from torch.distributed.elastic.multiprocessing.api import Std
from torch.distributed.run import main

Std.from_str = classmethod(lambda cls, text: Std(int(text)))

if __name__ == "__main__":
    main()
