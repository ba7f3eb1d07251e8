"""TensorFlow, imported without its noise and without Keras.

`import tensorflow` loads Keras, and with it scikit-learn where that is installed, for those who will use it; it goes on
without when they cannot be imported. No model here uses Keras: that saves a third of the time of the import.
"""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "0" if "--verbose" in sys.argv else "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # it announces itself otherwise
os.environ.setdefault("grpc_proxy", "")  # gRPC would send all of it through the proxy of http_proxy, servers here included

HIDDEN = [name for name in ("keras", "sklearn") if name not in sys.modules]

sys.modules.update(dict.fromkeys(HIDDEN))
try:
    import tensorflow as tf
finally:
    for name in HIDDEN:
        del sys.modules[name]

from tensorflow.python.eager import context  # its barriers have no public name

v1 = tf.compat.v1
tf.get_logger().setLevel("ERROR")
