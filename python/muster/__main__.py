import os
import sys

import muster

os.execv(muster.which(), ["muster", *sys.argv[1:]])
