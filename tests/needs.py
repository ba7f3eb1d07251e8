"""What a test needs of the Python that runs it."""

import importlib.util

import pytest

needs_tensorflow = pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None,
                                      reason="the running Python has no TensorFlow")
